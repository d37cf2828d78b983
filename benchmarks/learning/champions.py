"""Train the policies that come with the package (`policy("champion", game)`), and write them with their results.

python -m benchmarks.learning.champions                       # list them
python -m benchmarks.learning.champions samegame              # train one, and replace its file in the package
python -m benchmarks.learning.champions samegame --out new.npz --budget 1e6

The results are those of separate episodes, side by side with policies without training. They are stored in the file, and the
pages of the games print them. Training is reproducible on the same machine with the same number of threads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import momagames
from momagames.baselines.base import first_agents
from momagames.baselines.candidates.grpo import Grpo
from momagames.baselines.checkpoint import load_checkpoint, save_checkpoint
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.network_policy import NetworkPolicy
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.search.beam_estimate import BeamEstimate
from momagames.baselines.trainer import TrainedPolicies, TrainerMethod, list_weights
from momagames.benchmark import load_suite
from momagames.benchmark.choices import Opponent
from momagames.benchmark.suites import Experiment, PoliciesExperiment
from momagames.benchmark.training import Training, describe_state
from momagames.benchmark.training_comparison import format_sets, play_with_baselines
from momagames.contract import Game
from momagames.contract.titles import join_words, list_changed_parameters

SEED = 0  # of training
EPISODES, EPISODES_SEED = 100, 2000  # of the results


@dataclass(frozen=True)
class Champion:
    """A training.

    games      that it serves and is trained on in turn; results are those of each
    weights    of the only policy; None: all weights
    opponents  of the training, by name, and together of the results
    data       what it was trained on
    limits     what it cannot do

    A network that is trained for other objectives than those of the game by default plays for these in every game:
    objectives    its objectives by name, in the order of the weights; rewards are not scaled
    params        further parameters of the games in training
    sparring      opponents of the training instead, and one by one of the results
    """

    file: str
    games: Callable[[], Sequence[Game]]
    method: TrainerMethod
    budget: int
    data: str
    limits: str
    weights: tuple[float, ...] | None = None
    opponents: tuple[str, ...] = ()
    objectives: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    sparring: tuple[Opponent, ...] = ()


def make_pommerman(
    name: str, budget: int, ent_coef: float = 0.01, limits: str = "", kills: float = 0.5, **params: Any
) -> Champion:
    """Return the training for winning, and for kills with a weight, in a game of MO-Pommerman, with further parameters.

    Opponents that blow themselves up teach to survive, careful ones to kill, and earlier versions to do neither by habit
    """
    game = momagames.spec(f"mo-pommerman-{name}-v0")
    method = Moppo(**{**Moppo.default_options(game), "bc_fraction": 0.03, "opponent_pool_size": 1, "ent_coef": ent_coef})
    return Champion(
        f"momagames.games.pommerman:champion-{name}.npz", lambda: [game], method, budget,
        "Random boards; in turn against each of these opponents and an earlier version of itself.",
        "Winning alone: weights do not change its play. It samples its actions; with greedy=True it ties more often. It was "
        f"trained on boards of the default size.{limits}",
        (1.0, kills), (), ("outcome", "kills"), params,
        tuple(Opponent.with_default_options(name, game) for name in ("simple", "safe:simple")),
    )  # fmt: skip


def make_breakthrough(size: int, budget: int, file: str = "champion.npz") -> Champion:
    """Return the training for winning on square boards of MO-Breakthrough."""
    board = f"boards of {size}x{size} cells"
    return Champion(
        f"momagames.games.breakthrough:{file}",
        lambda: [momagames.spec("mo-breakthrough-v0", board_width=size, board_height=size)], Ntuple(), budget,
        f"Play against itself on {board}.",
        f"{board.capitalize()} with the default objectives, for winning alone: other weights do not change its play.",
        (1.0, 0.0, 0.0, 0.0), ("random", "greedy"),
    )  # fmt: skip


@cache
def load_track() -> Mapping[str, Experiment]:
    """Return the experiments of the main track by name; read once, as a suite opens the files of its champions."""
    return {one.name: one for one in load_suite("policies").experiments}


def make_trader(
    file: str, experiment: str, games: Sequence[Game], budget: int, limits: str, starts: str = "Random starts"
) -> Champion:
    """Return the training for all weights in settings of the suite, with the options and opponents that it has there."""
    chosen = load_track()[experiment]
    names, ids = [one.name for one in games[0].objectives], [f"`{game.id}`" for game in games]
    method = next(one.make_method(games[0]) for one in chosen.methods if one.name == Moppo.name)
    assert isinstance(chosen, PoliciesExperiment)
    assert isinstance(method, Moppo)
    against = f", against {join_words([one.label for one in chosen.opponents])}" if chosen.opponents else ""
    return Champion(
        file, lambda: games, method, budget,
        f"{starts} of {join_words(ids)}{against}.",
        f"The objectives {', '.join(names)} alone, for all weights. {limits}",
        sparring=chosen.opponents,
    )  # fmt: skip


TRADES = ("win", "captures", "losses")
GOALS = ("goals", "move", "score")
ROBOTS = ("mo-robotmail-v0", "mo-robotmail-2-v0", "mo-robotmail-4-v0", "mo-robotmail-6-v0", "mo-robotmail-12-v0")
ROBOT_OPPONENTS = ("nearest", "astar", "energy_saver")


def make_robotmail(file: str, budget: int, objectives: tuple[str, ...], limits: str, **options: Any) -> Champion:
    """Return the training of MO-RoboticMail for some objectives."""
    games = [momagames.spec(id, objectives=objectives) for id in ROBOTS]
    method = Moppo(**{**Moppo.default_options(games[0]), **options})
    return Champion(
        f"momagames.games.robotmail:{file}", lambda: games, method, budget,
        "Random starts on the default layout with 2, 4, 6 and 12 robots in turn, against copies of itself and the scripted "
        "policies of the game.",
        f"The objectives {', '.join(objectives)} alone. {limits} Other layouts and numbers of robots are played, too, but "
        "were not trained on. It sees neither the mails on green cells nor the deliveries of other players.",
        opponents=ROBOT_OPPONENTS,
    )  # fmt: skip


CHAMPIONS = {
    "samegame": Champion(
        "momagames.games.samegame:champion.npz", lambda: [momagames.spec("mo-samegame-v0")],
        Grpo(**Grpo.default_options(momagames.spec("mo-samegame-v0"))), 100_000_000,
        "Random boards of 15x15 cells with 5 colors.",
        "One agent and rewards by color. Other boards and numbers of colors are played, too, but were not trained on. Beam "
        "search on a single instance finds better fronts.",
    ),
    "samegame-linear": Champion(
        "momagames.games.samegame:champion-linear.npz", lambda: [momagames.spec("mo-samegame-v0")],
        BeamEstimate(episodes=4, width=64), 150_000_000, "Random boards of 15x15 cells with 5 colors.",
        'One agent and rewards by color. It is the estimate of "beam", better than the heuristics, and was not trained to '
        "play.",
    ),
    "breakthrough": make_breakthrough(8, 1_000_000_000),
    "breakthrough-6x6": make_breakthrough(6, 500_000_000, "champion-6x6.npz"),
    "breakthrough-5x5": make_breakthrough(5, 200_000_000, "champion-5x5.npz"),
    "breakthrough-trades": make_trader(
        "momagames.games.breakthrough:champion-trades.npz", "winning against captures and losses",
        [momagames.spec("mo-breakthrough-v0", objectives=TRADES)], 8_000_000, "On boards of 8x8 cells.", starts="Games",
    ),
    "breakthrough-trades-6x6": make_trader(
        "momagames.games.breakthrough:champion-trades-6x6.npz", "winning against captures and losses",
        [momagames.spec("mo-breakthrough-v0", board_width=6, board_height=6, objectives=TRADES)], 8_000_000,
        "On boards of 6x6 cells.", starts="Games",
    ),
    "connect4": Champion(
        "momagames.games.connect4:champion.npz", lambda: [momagames.spec("mo-connect4-v0")], Ntuple(), 200_000_000,
        "Play against itself on the default board.",
        "The default board and objectives, for winning alone: other weights do not change its play. `alphabeta`, which looks "
        "six moves ahead, is stronger.",
        (1.0, *[0.0] * (len(momagames.spec("mo-connect4-v0").objectives) - 1)), ("random", "greedy", "alphabeta"),
    ),
    "connect4-columns": make_trader(
        "momagames.games.connect4:champion-columns.npz", "columns against a search",
        [momagames.spec(
            "mo-connect4-v0", board_width=5, board_height=4, objectives=("column_0", "column_2", "column_4")
        )], 4_000_000, "On boards of 5x4 cells: it does not play to win.", starts="Games",
    ),
    "item-gathering": make_trader(
        "momagames.games.item_gathering:champion.npz", "two gatherers in four corners",
        [momagames.spec("mo-item-gathering-v0", initial_map="corners", num_timesteps=9, reward_mode="team")], 12_000_000,
        "The map `corners` with nine steps, where it knows plans. It samples its actions.", starts="Games",
    ),
    "ingenious": make_trader(
        "momagames.games.ingenious:champion.npz", "colors of hexagons against another",
        [momagames.spec("mo-ingenious-v0", num_colors=3, rack_size=3, board_size=4, fully_observable=True)], 12_000_000,
        "Boards of side 4, three colors, open racks of three tiles.",
    ),
    "tileblast": Champion(
        "momagames.games.tileblast:champion.npz",
        lambda: [momagames.spec("mo-tileblast-v0", level=level) for level in range(1, 13)], Grpo(), 40_000_000,
        "Random boards of all twelve levels of the package.",
        "The default objectives, for completing the level alone: other weights were not trained for.",
        (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    ),
    "tileblast-goals": Champion(
        "momagames.games.tileblast:champion-goals.npz",
        lambda: [momagames.spec("mo-tileblast-v0", level=level, objectives=GOALS) for level in range(1, 13)], Grpo(),
        40_000_000, "Random boards of all twelve levels of the package.",
        f"The objectives {', '.join(GOALS)} alone. Other levels are played, too, but were not trained on.",
    ),
    "pommerman-duel": make_pommerman("duel", 16_000_000),
    "pommerman-ffa": make_pommerman("ffa", 32_000_000, kills=1.0, dead="leave"),
    "pommerman-team": make_pommerman("team", 16_000_000),
    "pommerman-radio": make_pommerman(
        "radio", 16_000_000, ent_coef=0.003, limits=" It hardly ever says a word, and random words change little.",
    ),
    "pommerman-trades": make_trader(
        "momagames.games.pommerman:champion-trades.npz", "one agent against hardened agents",
        [momagames.spec(f"mo-pommerman-{name}-v0", objectives=("kicks", "bombs"), max_steps=200) for name in ("duel", "ffa")],
        4_000_000,
        "Games of 200 steps: it does not play to win.",
    ),
    "robotmail-trades": make_trader(
        "momagames.games.robotmail:champion-trades.npz", "one robot against another",
        [momagames.spec(id, objectives=("delivery", "energy", "blocked")) for id in ROBOTS[1:3]], 8_000_000,
        "Two and four robots on the default layout.",
    ),
    "robotmail": make_robotmail(
        "champion.npz", 16_000_000, ("delivery", "pickup", "dock", "step_cost"),
        "With two or four robots it delivers only 2 to 3 % more mails than `energy_saver`.", divisions=2, gamma=0.997,
    ),
    "robotmail-energy": make_robotmail(
        "champion-energy.npz", 32_000_000, ("delivery", "energy"),
        "With two robots, none of its policies dominates one of the six variants of `energy_saver`.",
        divisions=20, concentration=0.5, gamma=0.997,
    ),
}  # fmt: skip


def train(champion: Champion, path: Path, budget: int, threads: int, episodes: int, command: str) -> None:
    """Train and write the checkpoint with its results, and the command that reproduces it."""
    played = champion.games()
    opponents = tuple(Opponent.with_default_options(name, played[0]) for name in champion.opponents)
    changed = {**champion.params, "objectives": champion.objectives} if champion.objectives else champion.params
    games = [momagames.spec(game.id, **{**game.params, **changed}) for game in played]
    seats = first_agents(games[0])
    training = Training(
        games[0], champion.method, SEED, budget, seats, champion.sparring or opponents, None, champion.weights,
        tuple(games[1:]), (1.0,) * len(champion.objectives) or None,
    )  # fmt: skip
    trainer = champion.method.make_trainer(training.make_setup(threads))
    started, cpu_started, printed_at = time.perf_counter(), time.process_time(), 0.0
    while not trainer.is_done:
        metrics = trainer.train_iteration()
        seconds = time.perf_counter() - started
        if seconds > printed_at + 10:
            printed_at = seconds
            returns = "".join(f", {name} {value:.3g}" for name, value in metrics.items() if name.startswith("return/"))
            print(f"{trainer.steps:,} steps, {trainer.decisions:,} decisions, {seconds:.0f} s{returns}", flush=True)
    times = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu_started}
    head, arrays, _ = describe_state(training, trainer, times)
    trained, weights = trainer.make_policies(), champion.weights
    if champion.objectives:
        assert isinstance(trained, NetworkPolicy)
        fixed = trained.fix_weights(list_weights(games[0], 1, weights)[0].tolist())
        arrays = {name: array.astype(np.float16) for name, array in fixed.items()}
        trained = champion.method.restore_policies(played[0], arrays)
        weights = tuple(float(k == 0) for k in range(len(played[0].objectives)))  # all are the same policy
    save_checkpoint(path, {**head, "trainer": {}}, arrays, {}, compressed=True)
    results = [
        measure(
            replace(
                training,
                game=game,
                other_games=(),
                return_scale=None,
                seats=training.list_seats(game),
                opponents=group,
                weights=weights,
            ),
            trained,
            episodes,
        )
        for game in played
        for group in ([(one,) for one in champion.sparring] if champion.sparring else [opponents])
    ]
    card = {
        "data": champion.data, "limits": champion.limits, "threads": threads, "results": results, "episodes": episodes,
        "episodes_seed": EPISODES_SEED, "command": command,
    }  # fmt: skip
    save_checkpoint(path, {**head, "trainer": {}, "card": card}, arrays, {}, compressed=True)


def measure(training: Training, trained: TrainedPolicies, episodes: int) -> dict[str, Any]:
    """Return the results in one game: its id, parameters that are not the default, opponents, and head and rows of a table."""
    game = training.game
    head, rows = format_sets(game, play_with_baselines(training, trained, episodes, EPISODES_SEED))
    changed = list_changed_parameters(game)
    print(f"{game.id} {changed}: {rows[0]}", flush=True)
    return {
        "game": game.id,
        "params": changed,
        "opponents": [one.label for one in training.opponents],
        "head": head,
        "rows": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=CHAMPIONS)
    parser.add_argument("--out", type=Path, help="file (that of the package)")
    parser.add_argument("--budget", type=float, help="environment steps")
    parser.add_argument("--threads", type=int, default=1, help="number of threads (1)")
    parser.add_argument("--episodes", type=int, default=EPISODES, help=f"episodes of each policy in the results ({EPISODES})")
    given = parser.parse_args()
    if given.name is None:
        for name, champion in CHAMPIONS.items():
            print(f"{name}: {champion.method.name}, {champion.budget:,} steps. {champion.data}")
        return
    champion = CHAMPIONS[given.name]
    package, _, file = champion.file.partition(":")
    path = given.out or Path(str(files(package) / file))
    changed = [
        f"--{option} {getattr(given, option):.0f}"
        for option in ("budget", "threads", "episodes")
        if getattr(given, option) != parser.get_default(option)
    ]
    command = " ".join(["python -m benchmarks.learning.champions", given.name, *changed])
    train(champion, path, int(given.budget or champion.budget), given.threads, given.episodes, command)
    print(f"{path}: {path.stat().st_size:,} bytes; {load_checkpoint(path).head['decisions']:,} decisions")


if __name__ == "__main__":
    main()
