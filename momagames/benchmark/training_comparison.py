"""How trained policies stand against policies without training, in the same episodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from momagames.analysis.arrays import filter_dominated
from momagames.analysis.indicators import hypervolume
from momagames.baselines import SAFE, method
from momagames.baselines.greedy import make_greedy_policy
from momagames.baselines.trainer import TrainedPolicies, list_weights
from momagames.benchmark.training import Training, play_episodes
from momagames.contract import Game
from momagames.engine.playouts import ESTIMATES
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidParameter


@dataclass(frozen=True)
class Standing:
    """A set of policies.

    name           of the set
    points         float64[n, K], mean returns of its policies against the opponents of the training
    hypervolume    of these
    """

    name: str
    points: NDArray[np.float64]
    hypervolume: float


def compare_with_baselines(training: Training, trained: TrainedPolicies, episodes: int, seed: int) -> list[Standing]:
    """Play `episodes` episodes of each policy in each game, against each opponent of the training and in each seat.

    The trained policies are first; then greedy policies for the same weights, without and with each estimate of the future
    return that the game offers, its scripted policies, those with safe actions where it declares them, and random play.
    The start positions are drawn from `seed`, independently of training, unless all episodes have the same one.
    """
    points: dict[str, list[NDArray[np.float64]]] = {}
    for game in training.games:
        own = replace(training, game=game, other_games=(), seats=training.list_seats(game))
        for name, policies in ((own.options.name, own.select_policies(trained)), *_list_baselines(own)):
            points.setdefault(name, []).append(play_episodes(own, policies, episodes, seed).mean(axis=1))
    return [make_standing(training.game, name, np.mean(means, axis=0)) for name, means in points.items()]


def make_standing(game: Game, name: str, points: NDArray[np.float64]) -> Standing:
    """Return the standing of a set of policies with mean returns float64[n, K]."""
    return Standing(name, points, hypervolume(filter_dominated(points), game.reference_point).value)


def format_standings(game: Game, standings: Sequence[Standing]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table; it has the highest mean return of each set in each objective."""
    head = ["policies", "number", "hypervolume", *(f"best {objective.name}" for objective in game.objectives)]
    return head, [
        [one.name, str(len(one.points)), f"{one.hypervolume:.5g}", *(f"{value:.4g}" for value in one.points.max(axis=0))]
        for one in standings
    ]


def _list_baselines(training: Training) -> Iterator[tuple[str, Sequence[BatchPolicy]]]:
    """Yield the name and the policies of each player without training that can play the game."""
    game = training.game
    lattice = list_weights(game, training.options.lattice_divisions, training.weights)
    for estimate in ESTIMATES:
        name = "greedy" if estimate == "none" else f"greedy(estimate={estimate})"
        try:
            yield name, [make_greedy_policy(game, row.tolist(), estimate) for row in lattice]
        except InvalidParameter:  # not for this game
            continue
    scripted = [*game.policies, "random"]
    for name in (*(f"{SAFE}{one}" for one in scripted if game.learning.clear_unsafe_actions), *scripted):
        yield name, method(name, game)().policies(game)
