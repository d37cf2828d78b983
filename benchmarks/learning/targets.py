"""Targets of the trained methods: train with several seeds, and compare in episodes that chose nothing.

python -m benchmarks.learning.targets                               # list the targets and their learners
python -m benchmarks.learning.targets samegame --seeds 5            # train, or resume an interrupted training
python -m benchmarks.learning.targets samegame --learner moppo      # another learner of the target, for comparison
python -m benchmarks.learning.targets samegame --learner maskable_ppo     # as many CPU seconds as its own learner took
python -m benchmarks.learning.targets --archive                     # collect the reports of --out in results.json

Training directories are in --out (learning-targets/NAME-LEARNER-SEED), each with a report.json. Seeds start at 10: smaller ones
were used to choose options, unless the remark of a target says otherwise. The results are those of
benchmarks/learning/evaluations.py.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import momagames
from benchmarks.learning.baselines import LEVELS
from benchmarks.learning.evaluations import (
    AT_DEPTH,
    TRAINED_ESTIMATE,
    UCT,
    Evaluate,
    compare_deliveries,
    compare_in_pommerman,
    compare_on_board,
    compare_on_levels,
    compare_with_exact_fronts,
    compare_with_greedy,
    compare_with_solved_values,
)
from momagames.baselines.base import first_agents
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.baselines.candidates.grpo import Grpo
from momagames.baselines.learners import LEARNERS, find_learner
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.options import DEFAULT_OPTIONS
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.search.beam_estimate import BeamEstimate
from momagames.baselines.trainer import TrainerMethod
from momagames.benchmark import training as trainings
from momagames.benchmark.plan import Opponent
from momagames.benchmark.training import Training
from momagames.contract import Game

REPORT = "report.json"  # in a training directory
ARCHIVE = Path(__file__).with_name("results.json")
FIRST_SEED = 10
EVALUATIONS, EPISODES = 10, 16  # of the curves
MASKABLE_PPO = "maskable_ppo"

# of the rewards of MO-TileBlast: features are of all components, also of those without a weight
COMPONENTS = ("goals", "win", "step", "created", "used", "combo", "score")


@dataclass(frozen=True)
class Target:
    """Trainings and what they should reach.

    games       of the training, which differ in start positions only
    learners    name -> method and budget in environment steps; a bar is for the first one that has its result
    evaluate    see evaluations.py
    bars        result -> what it should be at least
    episodes    of the results
    weights     of the only policy; None: all weights
    opponents   in training, and in the evaluations of the curves
    scale       divisors of the returns, to which weights refer; none: chosen by the method
    units       of the hidden layers of MaskablePPO, for comparison; none: it cannot train here
    remark      comment for readers of the results
    """

    games: Callable[[], Sequence[Game]]
    learners: Mapping[str, tuple[TrainerMethod, int]]
    evaluate: Evaluate
    bars: Mapping[str, float]
    episodes: int = 100
    weights: tuple[float, ...] | None = None
    opponents: tuple[str, ...] = ()
    scale: tuple[float, ...] | None = None
    units: tuple[int, ...] = ()
    remark: str = ""

    def make_training(self, learner: str, seed: int, budget: int | None) -> Training:
        """Return the training of a learner; MaskablePPO is described by the first one."""
        first, *others = self.games()
        method, steps = self.learners.get(learner) or next(iter(self.learners.values()))
        opponents = tuple(Opponent.with_default_options(name, first) for name in self.opponents)
        return Training(
            first, method, seed, budget or steps, first_agents(first), opponents, None, self.weights, tuple(others), self.scale
        )


def make_moppo(**options: Any) -> Moppo:
    return Moppo(**{**DEFAULT_OPTIONS, **options})


def make_pommerman(
    name: str, budget: int, won: tuple[float, float], kills: float = 0.5, league: int = 0, **params: Any
) -> Target:
    """Return the target of winning against careless and careful agents, with parameters of the game in training.

    kills    weight of a kill in training, beside that of the outcome, 1
    league   size of the league of another learner, for comparison; 0: there is none
    """
    game = momagames.spec(f"mo-pommerman-{name}-v0", objectives=("outcome", "kills", "self_kill"), **params)
    options = {**Moppo.default_options(game), "bc_fraction": 0.03, "opponent_pool_size": 1}
    learners = {"moppo": (Moppo(**options), budget)}
    if league:
        learners["moppo_league"] = Moppo(**options | {"league_size": league}), budget
    return Target(
        lambda: [game], learners, compare_in_pommerman,
        {"won, simple": won[0], "won, safe:simple": won[1]}, 1000, (1.0, kills, 0.0), ("simple", "safe:simple"),
        (1.0, 1.0, 1.0), (256, 128),
        "Sampled play from every seat in turn against copies of an opponent: shares of games, and kills and deaths of enemies "
        f"in their own fire in a game. A kill has the weight {kills:g} in training. The budget was chosen on results of "
        "seed 10, which favors it.",
    )  # fmt: skip


def make_robotmail(robots: int, budget: int, chosen: str = "seed 10, which favors it") -> Target:
    """Return the target of delivering more than scripted robots, with less energy."""
    game = momagames.spec(f"mo-robotmail-{robots}-v0", objectives=("delivery", "energy"))
    options = {**Moppo.default_options(game), "divisions": 20, "concentration": 0.5, "gamma": 0.997}
    return Target(
        lambda: [game], {"moppo": (Moppo(**options), budget)}, compare_deliveries,
        {"deliveries over astar's": 1, "hypervolume over energy_saver's": 1, "share of energy_saver's points dominated": 1},
        200, opponents=("astar",), units=(128, 64),
        remark="Mean returns in the seats of each player against `astar`, with 201 weight vectors; `energy_saver` has six "
        f"variants. Budget, discount factor and number of weight vectors were chosen on results of {chosen}.",
    )  # fmt: skip


def make_samegame(**params: Any) -> Callable[[], Sequence[Game]]:
    return lambda: [momagames.spec("mo-samegame-v0", **params)]


def make_for_samegame(kind: type[TrainerMethod]) -> TrainerMethod:
    """Return a method with the options of `momagames train` for MO-SameGame."""
    return kind(**kind.default_options(momagames.spec("mo-samegame-v0")))


def make_small_breakthrough(width: int) -> Target:
    """Return the target of keeping the solved value of positions on a small board."""
    return Target(
        lambda: [momagames.spec("mo-breakthrough-v0", board_width=width, board_height=5, objectives=("win",))],
        {"ntuple": (Ntuple(), 100_000_000)}, compare_with_solved_values,
        {"kept, random play": 0.95, "kept, own play": 0.95}, 1000, weights=(1.0,), opponents=("greedy",),
        remark=f"Boards of {width}x5 cells, for winning alone: share of the won positions that stay won after the move, where "
        "some moves win and others lose, in games at random and in games of the policy with itself.",
    )  # fmt: skip


TARGETS = {
    "samegame": Target(
        make_samegame(),
        {
            "grpo": (make_for_samegame(Grpo), 80_000_000),
            "cross_entropy": (make_for_samegame(CrossEntropy), 80_000_000),
            "moppo": (make_moppo(channels=16, layers=1, update_epochs=2, num_minibatches=16, learning_rate=2e-3), 1_000_000),
        },
        compare_with_greedy, {"over greedy": 17, "over greedy(estimate=both)": 1.7}, units=(32,),
        remark="Random 15x15 boards with 5 colors, 70 weight vectors, 100 unseen instances: hypervolume of the mean returns "
        "over that of greedy policies.",
    ),
    **{
        f"samegame{size}": Target(
            make_samegame(board_width=size, board_height=size, num_colors=3),
            {
                "cross_entropy": (CrossEntropy(utility="log"), 10_000_000),
                "beam_estimate": (BeamEstimate(), 50_000_000),
                "grpo": (Grpo(), 30_000_000),
            },
            compare_with_exact_fronts, {"share of exact": 0.90, TRAINED_ESTIMATE: 0.90}, 50, units=(32,),
            remark=f"Random {size}x{size} boards with 3 colors: share of the exact hypervolume of 50 unseen instances that the "
            "policies reach, one episode for each of 66 weight vectors; the optimum is that of each instance. Policies that "
            "maximize a weighted sum cannot exceed the best play for each of the weights. Beam search has its steps on each "
            "instance, where the policies make a few thousand; `exact` solves one in seconds. Options of `beam_estimate` were "
            "chosen on other instances, after two earlier versions had been tried on these.",
        )
        for size in (7, 8)
    },
    "tileblast": Target(
        lambda: [momagames.spec("mo-tileblast-v0", level=level, objectives=COMPONENTS) for level in LEVELS],
        {
            "grpo": (Grpo(play_samples=8), 40_000_000),
            "cross_entropy": (CrossEntropy(play_samples=8), 16_000_000),
        },
        compare_on_levels, {"levels of training": 0.90, "unseen levels": 0.92},
        weights=tuple(float(name == "win") for name in COMPONENTS), units=(32,),
        remark="One policy for seven levels; share of completed levels there and on five others.",
    ),
    "breakthrough": Target(
        lambda: [momagames.spec("mo-breakthrough-v0", objectives=("win",))], {"ntuple": (Ntuple(), 1_000_000_000)},
        compare_on_board,
        {
            **{f"won against {opponent}{AT_DEPTH}": 1 for opponent in ("greedy", "uct(1000)", "uct(10000)")},
            "won against 1/5 of the training": 0.65,
        },
        1000, weights=(1.0,), opponents=("greedy",), units=(64, 64),
        remark="Boards of 8x8 cells, for winning alone. The policy looks one move ahead, or four in the results at depth 4, "
        "which was chosen for the bars because seeds 10 to 14 lost one of 100 games against uct(10000) at depth 3. "
        f"Each seed plays 1,000 games, but {', '.join(f'{games} against uct({n})' for n, games in UCT.items())}.",
    ),
    **{
        f"breakthrough-{width}x5": make_small_breakthrough(width) for width in (3, 4)
    },
    "pommerman-ffa": make_pommerman("ffa", 32_000_000, (0.92, 0.2), dead="leave"),
    "pommerman-duel": make_pommerman("duel", 16_000_000, (0.95, 0.55), kills=0.0),
    "pommerman-team": make_pommerman("team-full", 16_000_000, (0.92, 0.55), league=16),
    "robotmail-2": make_robotmail(2, 16_000_000),
    "robotmail-4": make_robotmail(4, 32_000_000, "seeds 10 to 12 with half the budget"),
    "robotmail-12": make_robotmail(12, 16_000_000),
}  # fmt: skip


def run_target(target: Target, learner: str, seed: int, directory: Path, given: argparse.Namespace) -> dict[str, float]:
    """Train and evaluate, and write a report to the directory."""
    training = target.make_training(learner, seed, given.budget)
    curve: list[tuple[int, float]] = []
    if learner == MASKABLE_PPO:
        from benchmarks.learning.maskable_ppo import train_maskable_ppo

        seconds = cpu_seconds = given.seconds or find_seconds(given.out, given.name, next(iter(target.learners)))
        trained, steps = train_maskable_ppo(training, seconds, target.units)
        decisions = steps
        directory.mkdir(parents=True, exist_ok=True)
    else:
        checkpoint = trainings.train(training, directory, EVALUATIONS, EPISODES, threads=given.threads)
        trained, curve = checkpoint.make_policies(), list(read_curve(directory, training))
        steps, decisions, seconds, cpu_seconds = (
            checkpoint.head[name] for name in ("steps", "decisions", "seconds", "cpu_seconds")
        )
    episodes = given.episodes or target.episodes
    results = {"decisions/s": decisions / seconds, **target.evaluate(training, trained, episodes)}
    head = training.describe()
    if learner == MASKABLE_PPO:
        head |= {"method": MASKABLE_PPO, "options": {"net_arch": target.units}}
    record = {
        "learner": learner, "head": head, "steps": steps, "decisions": decisions, "version": momagames.__version__,
        "minutes": seconds / 60, "CPU-minutes": cpu_seconds / 60, "load": os.getloadavg()[0], "threads": given.threads,
        "episodes": episodes, "results": results, "curve": curve,
    }  # fmt: skip
    (directory / REPORT).write_text(json.dumps(record))
    return {"CPU-minutes": cpu_seconds / 60, **results}


def find_seconds(out: Path, name: str, learner: str) -> float:
    """Return the mean CPU time of the trainings of a learner, by the reports in `out` or else by archived ones.

    Older reports have the time that passed instead, which is longer on a busy machine
    """
    reports = collect_reports(out, name, learner, load_archive())
    if not reports:
        raise SystemExit(f"no report of {name}-{learner} in {out}: train it first, or give --seconds")
    return 60 * float(sum(one.get("CPU-minutes", one["minutes"]) for one in reports)) / len(reports)


def read_curve(directory: Path, training: Training) -> Iterator[tuple[int, float]]:
    """Yield the steps and values of the evaluations: the hypervolume, or the weighted mean return for fixed weights."""
    for line in (directory / trainings.LOG).read_text().splitlines():
        metrics = json.loads(line)
        evaluation = metrics["evaluation"]
        if training.weights is None:
            yield metrics["steps"], evaluation["hypervolume"]
        else:
            (point,) = evaluation["points"].values()
            yield metrics["steps"], sum(weight * value for weight, value in zip(training.weights, point, strict=True))


def load_archive() -> dict[str, Any]:
    archived: dict[str, Any] = json.loads(ARCHIVE.read_text())
    return archived


def collect_reports(out: Path, name: str, learner: str, archived: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the reports of a learner by seed: those in `out`, and archived ones of other seeds of the same training."""
    found = [json.loads(path.read_text()) for path in out.glob(f"{name}-{learner}-[0-9]*/{REPORT}")]
    before = [one for one in archived.get(name, {"runs": []})["runs"] if one["learner"] == learner]
    if found:
        seeds, episodes = [one["head"]["seed"] for one in found], TARGETS[name].episodes  # older reports lack them
        same = [one for one in before if one.get("episodes", episodes) == found[0].get("episodes", episodes)]
        found += [one for one in same if are_seeds_of_one(one, found[0]) and one["head"]["seed"] not in seeds]
    return sorted(found or before, key=lambda one: int(one["head"]["seed"]))


def are_seeds_of_one(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two reports differ in their seeds only.

    What one of them lacks is newer: options count with their defaults, other entries are not compared.
    """
    heads = [{**one["head"], "version": one["version"], "results": list(one["results"])} for one in (first, second)]
    options = [add_newer_options(head.get("method", ""), head.pop("options", {})) for head in heads]
    return options[0] == options[1] and all(heads[0][k] == heads[1][k] for k in {*heads[0]} & {*heads[1]} if k != "seed")


def add_newer_options(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a learner with the defaults of those that came after its report."""
    newer = fields(find_learner(method)) if method in LEARNERS else ()
    return {**{one.name: one.default for one in newer if one.default is not MISSING}, **options}


def archive_reports(out: Path) -> None:
    """Collect the reports of all finished trainings in one file, beside those of other seeds and learners in the file."""
    archived, collected = load_archive(), {}
    for name, target in TARGETS.items():
        runs = [run for learner in (*target.learners, MASKABLE_PPO) for run in collect_reports(out, name, learner, archived)]
        if runs:
            collected[name] = {"remark": target.remark, "bars": dict(target.bars), "runs": runs}
    ARCHIVE.write_text(json.dumps(collected, separators=(",", ":")) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=sorted(TARGETS))
    parser.add_argument("--learner", help="learner of the target, or maskable_ppo (the target's first)")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds (1)")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help=f"first seed ({FIRST_SEED})")
    parser.add_argument("--budget", type=lambda text: int(float(text)), help="environment steps (those of the target)")
    parser.add_argument("--episodes", type=int, help="episodes of the results (those of the target)")
    parser.add_argument("--seconds", type=float, help="training time of MaskablePPO (mean of the target's first learner)")
    parser.add_argument("--out", type=Path, default=Path("learning-targets"))
    parser.add_argument("--threads", type=int, default=1, help="threads of a training (1)")
    parser.add_argument("--archive", action="store_true")
    given = parser.parse_args()
    if given.archive:
        archive_reports(given.out)
        return
    if given.name is None:
        for name, target in TARGETS.items():
            bars = ", ".join(f"{result} {value:g}" for result, value in target.bars.items())
            print(f"{name} ({', '.join(target.learners)}): {bars}")
        return
    target = TARGETS[given.name]
    learner = given.learner or next(iter(target.learners))
    allowed = [*target.learners, *([MASKABLE_PPO] if target.units else [])]
    if learner not in allowed:
        parser.error(f"--learner {learner}: expected one of {', '.join(allowed)}")
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        results = run_target(target, learner, seed, given.out / f"{given.name}-{learner}-{seed}", given)
        line = ", ".join(f"{name} {value:,.3f}" for name, value in results.items())
        print(f"{given.name}, {learner}, seed {seed}: {line} (load {os.getloadavg()[0]:.1f})", flush=True)


if __name__ == "__main__":
    main()
