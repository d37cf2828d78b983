"""Scorers of candidate actions, trained by the cross-entropy method or by GRPO, on instances that chose nothing.

python -m benchmarks.learning.candidates                               # all parts, both methods
python -m benchmarks.learning.candidates samegame --methods grpo --budget 1e8 --seeds 0 1 2 --threads 2

Prints the decisions per second of training, updates included, and the results beside those of greedy policies, without and with
the estimate "both", or of "one_step_lookahead", on the same instances (see baselines.py).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

import momagames
from benchmarks.learning.baselines import FIRST_INSTANCE, LEVELS, play
from momagames.analysis.controllability import compute_controllability
from momagames.analysis.indicators import hypervolume
from momagames.baselines import batch_policy
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.baselines.candidates.grpo import Grpo
from momagames.baselines.candidates.trainer import CandidateTrainer
from momagames.baselines.exact import exact_front
from momagames.baselines.greedy import Greedy
from momagames.baselines.trainer import TrainingSetup, train_to_end
from momagames.baselines.weight_lattice import format_weights
from momagames.contract import Game
from momagames.engine.playouts import Estimate
from momagames.engine.policies import BatchPolicy, CompiledPolicy

METHODS: dict[str, type[CrossEntropy] | type[Grpo]] = {one.name: one for one in (CrossEntropy, Grpo)}
COMPONENTS = ("goals", "win", "step", "created", "used", "combo", "score")  # of the rewards of MO-TileBlast
GREEDY_ESTIMATES: tuple[Estimate, ...] = ("none", "both")
UNSEEN_LEVELS = (1, 5, 7, 9, 11)


def train(trainer: CandidateTrainer, name: str) -> None:
    """Train until the budget is used up; print decisions per second."""
    wall, cpu = time.perf_counter(), time.process_time()
    train_to_end(trainer)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{trainer.game.id}, {name}: {trainer.decisions:,} decisions, {trainer.steps:,} steps with look-ahead, {wall:.0f} s "
        f"({cpu:.0f} CPU s), {trainer.decisions / wall:,.0f} decisions/s",
        flush=True,
    )


def select_policies(trainer: CandidateTrainer) -> list[CompiledPolicy]:
    """Return the policies for the weights of the lattice."""
    return [trainer.make_policies().compile(format_weights(row), row.tolist(), greedy=True) for row in trainer.lattice]


def measure_volume(game: Game, policies: Sequence[BatchPolicy], episodes: int) -> tuple[float, NDArray[np.float64]]:
    """Return the hypervolume of the mean returns, and these, float64[policies, K]."""
    points = play(game, policies, episodes)[0].mean(axis=1)
    return hypervolume(points, game.reference_point).value, points


@cache
def measure_greedy(divisions: int, episodes: int) -> list[float]:
    """Return the hypervolumes of greedy policies on the default board, without and with the estimate "both"."""
    (game,) = make_samegame()
    return [measure_volume(game, Greedy(divisions, estimate).policies(game), episodes)[0] for estimate in GREEDY_ESTIMATES]


def compare_on_samegame(trainer: CandidateTrainer, name: str, divisions: int, episodes: int) -> None:
    """Print the hypervolume of the mean returns over the lattice of weights, over that of greedy policies."""
    game = trainer.game
    volume, points = measure_volume(game, select_policies(trainer), episodes)
    plain, both = measure_greedy(divisions, episodes)
    steering = ", ".join(f"{value:.2f}" for value in compute_controllability(trainer.lattice, points))
    print(
        f"{game.id}, {episodes} instances, {name}: {volume / plain:.2f} times the hypervolume of greedy, "
        f"{volume / both:.2f} times that of greedy(estimate=both); controllability {steering}",
        flush=True,
    )


@cache
def measure_exact_fronts(episodes: int) -> list[float]:
    """Return the hypervolume of the exact front of each instance of the small board."""
    (game,) = make_small_samegame()
    seeds = range(FIRST_INSTANCE, FIRST_INSTANCE + episodes)
    fronts = [exact_front(game, seed=seed, max_states=40_000_000, max_bytes=4 << 30).points for seed in seeds]
    return [hypervolume(points, game.reference_point).value for points in fronts]


def print_exact_share(game: Game, policies: Sequence[BatchPolicy], name: str, episodes: int) -> None:
    """Print the share of the exact front's hypervolume that the policies reach together, in the mean over instances."""
    returns, exact = play(game, policies, episodes)[0], measure_exact_fronts(episodes)
    shares = [hypervolume(returns[:, i], game.reference_point).value / volume for i, volume in enumerate(exact)]
    size = f"{game.params['board_width']}x{game.params['board_height']}"
    print(f"{game.id} {size}, {episodes} instances, {name}: {np.mean(shares):.3f} of the exact hypervolume", flush=True)


@cache
def print_greedy_shares(divisions: int, episodes: int) -> None:
    (game,) = make_small_samegame()
    for estimate in GREEDY_ESTIMATES:
        print_exact_share(game, Greedy(divisions, estimate).policies(game), f"greedy(estimate={estimate})", episodes)


def compare_with_exact_fronts(trainer: CandidateTrainer, name: str, divisions: int, episodes: int) -> None:
    """Print shares of the exact hypervolume; those of greedy policies once."""
    print_greedy_shares(divisions, episodes)
    print_exact_share(trainer.game, select_policies(trainer), name, episodes)


def print_completion(name: str, title: str, levels: Sequence[int], policy: BatchPolicy | None, episodes: int) -> None:
    """Print the share of completed episodes in the mean over levels; policy: None for "one_step_lookahead"."""
    shares = []
    for game in make_levels(levels):
        player = policy or batch_policy("one_step_lookahead", game)
        shares.append(play(game, [player], episodes)[0][0, :, COMPONENTS.index("win")].mean())
    text = ", ".join(f"{share:.2f}" for share in shares)
    print(f"mo-tileblast-v0, {title}, {name}: {np.mean(shares):.3f} completed ({text})", flush=True)


@cache
def print_lookahead(title: str, levels: tuple[int, ...], episodes: int) -> None:
    print_completion("one_step_lookahead", title, levels, None, episodes)


def compare_on_tileblast(trainer: CandidateTrainer, name: str, divisions: int, episodes: int) -> None:
    """Print the share of completed episodes on the levels of training, and on others; that of the baseline once."""
    (own,) = select_policies(trainer)
    for title, levels in (("levels of training", LEVELS), ("unseen levels", UNSEEN_LEVELS)):
        print_lookahead(title, levels, episodes)
        print_completion(name, title, levels, own, episodes)


def make_samegame() -> Sequence[Game]:
    return [momagames.spec("mo-samegame-v0")]


def make_small_samegame() -> Sequence[Game]:
    return [momagames.spec("mo-samegame-v0", board_width=7, board_height=7, num_colors=3)]


def make_levels(levels: Sequence[int] = LEVELS) -> Sequence[Game]:
    return [momagames.spec("mo-tileblast-v0", level=level, objectives=COMPONENTS) for level in levels]


Compare = Callable[[CandidateTrainer, str, int, int], None]
# games of training, their only weights or None, comparison
PARTS: dict[str, tuple[Callable[[], Sequence[Game]], tuple[float, ...] | None, Compare]] = {
    "samegame": (make_samegame, None, compare_on_samegame),
    "samegame7": (make_small_samegame, None, compare_with_exact_fronts),
    "tileblast": (make_levels, tuple(float(name == "win") for name in COMPONENTS), compare_on_tileblast),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--budget", type=float, default=8e7, help="environment steps of a training (80 million)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, default=2, help="threads of a training (2)")
    parser.add_argument("--divisions", type=int, default=4, help="of the lattice of weights (4)")
    parser.add_argument("--samples", type=int, default=1, help="copies on which an action is tried (1)")
    parser.add_argument("--episodes", type=int, default=100, help="instances, or episodes of a level (100)")
    given = parser.parse_args()
    for part in given.parts or PARTS:
        make_games, weights, compare = PARTS[part]
        for name in given.methods:
            for seed in given.seeds:
                setup = TrainingSetup(make_games(), int(given.budget), seed, threads=given.threads, fixed_weights=weights)
                trainer = METHODS[name](divisions=given.divisions, samples=given.samples).make_trainer(setup)
                train(trainer, f"{name} seed {seed}")
                compare(trainer, f"{name} seed {seed}", given.divisions, given.episodes)


if __name__ == "__main__":
    main()
