"""Regret of bandits against exact fronts, and what crowds of drivers learn: the figures of docs/bandits.md.

python benchmarks/learning/bandits.py gems                          # MO-GemMining: regret of each learner
python benchmarks/learning/bandits.py gems --figure bandits.png     # and its growth as a picture
python benchmarks/learning/bandits.py routes                        # MO-RouteChoice: latency, equilibria and optimum
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

import momagames
from momagames.baselines.bandits.joint import JointLearner
from momagames.baselines.bandits.method import BanditGradient, BanditJoint, BanditMethod, BanditUcb, list_sizes
from momagames.baselines.bandits.pareto import MAX_JOINT_ACTIONS
from momagames.baselines.trainer import list_weights
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import format_weights
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.fronts import SearchLimits
from momagames.games.gem_mining.solver.fronts import TEAM
from momagames.games.route_choice.solver import count_agents

Floats = NDArray[np.float64]
BLOCK = 10_000  # joint actions that are evaluated at a time
LIMITS = SearchLimits(10**7, 4 << 30)
GEMS: dict[str, BanditMethod] = {
    "`bandit_joint`": BanditJoint(),
    "`bandit_joint`, exploration 1": BanditJoint(exploration=1.0),
    "`bandit_ucb`": BanditUcb(),
    "`bandit_ucb`, difference": BanditUcb(signal="difference"),
    "`bandit_gradient`": BanditGradient(),
    "`bandit_gradient`, difference": BanditGradient(signal="difference"),
}
SMALL: dict[str, BanditMethod] = {  # games with few joint actions
    **GEMS,
    "`bandit_joint`, pareto": BanditJoint(rule="pareto"),
}
ROUTES: dict[str, BanditMethod] = {
    f"{kind}, {signal}": make(signal=signal)  # type: ignore[call-arg]
    for kind, make in (("`bandit_ucb`", BanditUcb), ("`bandit_gradient`", BanditGradient))
    for signal in ("local", "global", "difference")
}


def find_start(game: Game) -> NDArray[Any]:
    return generate_starts(game, np.zeros(1, np.uint64))


def evaluate(game: Game, history: NDArray[np.int16]) -> Floats:
    """Return the rewards of joint actions int16[n, A] in a game without chance: float64[n, K], those of the first agent."""
    values = []
    for first in range(0, len(history), BLOCK):
        actions = history[first : first + BLOCK].astype(np.int64)[:, :, None]
        batch = Batch(game, len(actions), autoreset="disabled")
        batch.load(np.repeat(find_start(game), len(actions)))
        batch.step(actions)
        values.append(batch.returns[:, 0].copy())
    return np.concatenate(values)


def iterate_pulls(method: BanditMethod, game: Game, pulls: int, seed: int) -> Iterator[tuple[int, NDArray[np.int16]]]:
    """Yield the index of a weight vector of the lattice, and joint actions that were pulled for it, in order."""
    count = len(list_weights(game, method.divisions))
    trainer = method.make_trainer(TrainingSetup([game], pulls * count, seed))
    for row, learner in enumerate(trainer.learners):
        total = pulls * (count if isinstance(learner, JointLearner) else 1)
        for first in range(0, total, BLOCK * count):
            history = np.zeros((min(BLOCK * count, total - first), len(game.agents)), np.int16)
            learner.pull(len(history), history)
            if isinstance(learner, JointLearner):
                for one in range(count):
                    yield one, history[one::count]
            else:
                yield row, history


def measure_pareto_gaps(front: Floats, values: Floats) -> Floats:
    """Return by how much each vector, float64[n, K], has to grow in all objectives to be on the front: float64[n].

    Source: Drugan and Nowé, "Designing multi-objective multi-armed bandits algorithms: a study", IJCNN 2013.
    """
    gaps: Floats = (front - values[:, None]).min(axis=2).max(axis=1)
    return gaps.clip(0)


def measure_gems(game: Game, expected: Game, method: BanditMethod, pulls: int, seeds: int, divisions: int) -> Any:
    """Return the regret of each pull, float64[seeds, W, pulls], the same of the Pareto gap, and nanoseconds of a pull."""
    method = type(method)(**{**method.options(), "divisions": divisions})
    front = TEAM.solve(expected, find_start(expected)[0], 0, None, LIMITS).values
    lattice = list_weights(game, divisions)
    regrets, gaps = np.zeros((2, seeds, len(lattice), pulls))
    seconds = 0.0
    list(iterate_pulls(method, game, 1, 0))  # compiles
    for seed in range(seeds):
        done = np.zeros(len(lattice), np.int64)
        started = time.process_time()
        for row, history in iterate_pulls(method, game, pulls, seed):
            seconds += time.process_time() - started
            values, part = evaluate(expected, history), slice(done[row], done[row] + len(history))
            regrets[seed, row, part] = (front @ lattice[row]).max() - values @ lattice[row]
            gaps[seed, row, part] = measure_pareto_gaps(front, values)
            done[row] += len(history)
            started = time.process_time()
    return regrets, gaps, seconds / (seeds * len(lattice) * pulls) * 1e9


def format_interval(values: Floats) -> str:
    """Return the mean over seeds and its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():,.0f} ± {error:,.0f}"


def report_gems(arguments: argparse.Namespace) -> dict[str, Floats]:
    """Print a table of cumulative regrets for each weight vector; return their growth by learner, float64[pulls]."""
    params = {"num_agents": arguments.agents, "instance_seed": arguments.instance_seed}
    game, expected = (momagames.spec("mo-gem-mining-v0", **params, reward_mode=mode) for mode in ("sampled", "expected"))
    lattice = list_weights(game, arguments.divisions)
    names = [format_weights(row) for row in lattice]
    print(f"| {' | '.join(['learner', *names, 'Pareto', 'last tenth, per pull', 'ns per pull'])} |")
    print(f"|---|{'---:|' * (len(names) + 3)}")
    curves = {}
    methods = SMALL if prod(list_sizes(game)) <= MAX_JOINT_ACTIONS else GEMS
    for name, method in methods.items():
        regrets, gaps, cost = measure_gems(game, expected, method, arguments.pulls, arguments.seeds, arguments.divisions)
        cells = [format_interval(regrets[:, row].sum(axis=1)) for row in range(len(lattice))]
        cells.append(format_interval(gaps.mean(axis=1).sum(axis=1)))
        late = regrets[:, :, -max(1, arguments.pulls // 10) :].mean()
        print(f"| {' | '.join([name, *cells, f'{late:.3f}', f'{cost:,.0f}'])} |", flush=True)
        curves[name] = regrets.mean(axis=(0, 1)).cumsum()
    if arguments.figure:
        draw_curves(curves).savefig(arguments.figure)
    return curves


def draw_curves(curves: dict[str, Floats]) -> Any:
    """Return a figure of cumulative regrets, with logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), dpi=130, layout="constrained")
    axes = figure.add_subplot()
    for name, curve in curves.items():
        at = np.unique(np.geomspace(10, len(curve), 200).astype(int))
        axes.loglog(at, curve[at - 1], label=name.replace("`", ""))
    axes.set_xlabel("pulls for each weight vector")
    axes.set_ylabel("cumulative regret, weighted gems")
    axes.legend(frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def report_routes(arguments: argparse.Namespace) -> None:
    """Print the mean latency that drivers learn with all weight on it, beside equilibria and the optimum."""
    game = momagames.spec("mo-route-choice-v0", network=arguments.network, num_agents=arguments.agents)
    counted, weights = count_agents(game, find_start(game)[0]), (1.0, 0.0)
    equilibria, best = counted.list_equilibria(weights).means[:, 0], counted.find_best()[0]
    print(f"{arguments.network}, {arguments.agents} agents, {arguments.pulls:,} pulls, {arguments.seeds} seeds: latency as a "
          f"multiple of the best mean, equilibria {equilibria.max() / best:.3f} to {equilibria.min() / best:.3f}")  # fmt: skip
    print("| learner | last 100 pulls | policies | ns per choice |\n|---|---:|---:|---:|")

    def average(actions: NDArray[Any]) -> float:
        counts = np.bincount(actions, minlength=counted.options.shape[1])
        return float(counted.average(counts[None, None])[0, 0] / best)

    for name, method in ROUTES.items():
        method.train(TrainingSetup([game], 1, 0, fixed_weights=weights))  # compiles
        play, policies, seconds = np.zeros(arguments.seeds), np.zeros(arguments.seeds), time.process_time()
        for seed in range(arguments.seeds):
            trainer = method.make_trainer(TrainingSetup([game], arguments.pulls, seed, fixed_weights=weights))
            while not trainer.is_done:
                trainer.train_iteration()
            (policy,) = method.select_policies(game, trainer.make_policies(), weights)
            policies[seed] = average(policy.arrays["probabilities"].argmax(axis=1))
            history = np.zeros((100, len(game.agents)), np.int16)
            trainer.learners[0].pull(len(history), history)  # type: ignore[call-arg]
            play[seed] = np.mean([average(row) for row in history])
        cost = (time.process_time() - seconds) / (arguments.seeds * arguments.pulls * len(game.agents)) * 1e9
        print(f"| {name} | {play.mean():.3f} | {policies.mean():.3f} | {cost:,.0f} |", flush=True)


def read_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=COMMANDS)
    parser.add_argument("--agents", type=int, default=20)
    parser.add_argument("--pulls", type=int, default=20_000, help="for each weight vector")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--divisions", type=int, default=2, help="of the lattice of weights")
    parser.add_argument("--instance-seed", type=int, default=42)
    parser.add_argument("--network", default="Braess_1")
    parser.add_argument("--figure", help="file of a picture")
    return parser.parse_args(words)


COMMANDS: dict[str, Callable[[argparse.Namespace], Any]] = {"gems": report_gems, "routes": report_routes}
if __name__ == "__main__":
    given = read_arguments()
    COMMANDS[given.game](given)
