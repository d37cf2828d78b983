"""Scorers of candidate actions, trained by the cross-entropy method or by GRPO, on instances that chose nothing.

python -m benchmarks.learning.candidates                               # all parts, both methods
python -m benchmarks.learning.candidates samegame --methods grpo --budget 1e8 --seeds 0 1 2 --threads 2

Prints the decisions per second of training, updates included, and the results beside those of the strongest policies without
learning (see baselines.py), on the same instances.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

import momagames
from benchmarks.learning.baselines import FIRST_INSTANCE, LEVELS, play
from momagames.analysis.controllability import compute_controllability
from momagames.analysis.indicators import hypervolume
from momagames.baselines import batch_policy
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.baselines.candidates.grpo import Grpo
from momagames.baselines.candidates.trainer import CandidateTrainer, TrainingSetup
from momagames.baselines.exact import exact_front
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy

METHODS: dict[str, type[CrossEntropy] | type[Grpo]] = {one.name: one for one in (CrossEntropy, Grpo)}
COMPONENTS = ("goals", "win", "step", "created", "used", "combo", "score")  # of the rewards of MO-TileBlast
MAX_STATES, MAX_BYTES = 40_000_000, 4 << 30  # of an exact front
UNSEEN_LEVELS = (1, 5, 7, 9, 11)


def train(trainer: CandidateTrainer, name: str) -> None:
    """Train until the budget is used up; print decisions per second."""
    wall, cpu = time.perf_counter(), time.process_time()
    trainer.train()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{trainer.game.id}, {name}: {trainer.moves:,} decisions, {trainer.steps:,} steps with the look-ahead, {wall:.0f} s "
        f"({cpu:.0f} CPU s), {trainer.moves / wall:,.0f} decisions/s",
        flush=True,
    )


def compare_on_samegame(trainer: CandidateTrainer, name: str, episodes: int) -> None:
    """Print the hypervolume of the mean returns over the lattice of weights, over that of greedy policies."""
    game = trainer.game
    points = play(game, trainer.policies(), episodes)[0].mean(axis=1)
    volumes = [hypervolume(points, game.reference_point).value]
    for estimate in ("none", "both"):
        policies = [batch_policy("greedy", game, weights=row, estimate=estimate) for row in trainer.lattice]
        volumes.append(hypervolume(play(game, policies, episodes)[0].mean(axis=1), game.reference_point).value)
    steering = ", ".join(f"{value:.2f}" for value in compute_controllability(trainer.lattice, points))
    print(
        f"{game.id}, {episodes} instances, {name}: {volumes[0] / volumes[1]:.2f} times the hypervolume of greedy, "
        f"{volumes[0] / volumes[2]:.2f} times that of greedy(estimate=both); controllability {steering}",
        flush=True,
    )


def compare_with_exact_fronts(trainer: CandidateTrainer, name: str, episodes: int) -> None:
    """Print the share of the exact front's hypervolume that the policies reach together, in the mean over instances."""
    game = trainer.game
    exact = [
        hypervolume(
            exact_front(game, seed=FIRST_INSTANCE + i, max_states=MAX_STATES, max_bytes=MAX_BYTES).points, game.reference_point
        ).value
        for i in range(episodes)
    ]
    players: dict[str, Sequence[BatchPolicy]] = {name: trainer.policies()}
    for estimate in ("none", "both"):
        players[f"greedy(estimate={estimate})"] = [
            batch_policy("greedy", game, weights=row, estimate=estimate) for row in trainer.lattice
        ]
    for label, policies in players.items():
        returns = play(game, policies, episodes)[0]
        shares = [hypervolume(returns[:, i], game.reference_point).value / volume for i, volume in enumerate(exact)]
        size = f"{game.params['board_width']}x{game.params['board_height']}"
        print(
            f"{game.id} {size}, {episodes} instances, {label}: {np.mean(shares):.3f} of the exact hypervolume",
            flush=True,
        )


def compare_on_tileblast(trainer: CandidateTrainer, name: str, episodes: int) -> None:
    """Print the share of completed episodes in the mean over the levels of training, and over others."""
    win = [one.name for one in trainer.game.objectives].index("win")
    (own,) = trainer.policies()
    for title, levels in (("levels of training", LEVELS), ("unseen levels", UNSEEN_LEVELS)):
        for label in (name, "one_step_lookahead"):
            shares = []
            for level in levels:
                game = momagames.spec(trainer.game.id, level=level, objectives=COMPONENTS)
                policy = own if label == name else batch_policy(label, game)
                shares.append(play(game, [policy], episodes)[0][0, :, win].mean())
            text = ", ".join(f"{share:.2f}" for share in shares)
            print(f"{game.id}, {title}, {label}: {np.mean(shares):.3f} completed ({text})", flush=True)


def make_samegame() -> Sequence[Game]:
    return [momagames.spec("mo-samegame-v0")]


def make_small_samegame() -> Sequence[Game]:
    return [momagames.spec("mo-samegame-v0", board_width=7, board_height=7, num_colors=3)]


def make_tileblast() -> Sequence[Game]:
    return [momagames.spec("mo-tileblast-v0", level=level, objectives=COMPONENTS) for level in LEVELS]


# games of training, their only weights or None, comparison
PARTS: dict[
    str, tuple[Callable[[], Sequence[Game]], tuple[float, ...] | None, Callable[[CandidateTrainer, str, int], None]]
] = {
    "samegame": (make_samegame, None, compare_on_samegame),
    "samegame7": (make_small_samegame, None, compare_with_exact_fronts),
    "tileblast": (make_tileblast, (0, 1, 0, 0, 0, 0, 0), compare_on_tileblast),
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
                compare(trainer, f"{name} seed {seed}", given.episodes)


if __name__ == "__main__":
    main()
