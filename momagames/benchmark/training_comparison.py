"""How trained policies stand against policies without training, in the same episodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from momagames.baselines import SAFE, method
from momagames.baselines.greedy import make_greedy_policy
from momagames.baselines.trainer import TrainedPolicies, list_weights
from momagames.benchmark.training import Training, measure_volume, play_episodes
from momagames.contract import Game
from momagames.engine.playouts import ESTIMATES
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidParameter


@dataclass(frozen=True)
class NamedFront:
    """A front of returns, points float64[n, K]."""

    name: str
    points: NDArray[np.float64]


@dataclass(frozen=True)
class PlayedSet:
    """The episodes of a set of policies.

    name       of the set
    returns    float64[n, E, K], means over games, opponents and seats: episode e has the same start position for all policies
    weights    float64[n, K], which the policies are conditioned on; None if they are not
    """

    name: str
    returns: NDArray[np.float64]
    weights: NDArray[np.float64] | None

    @property
    def points(self) -> NDArray[np.float64]:
        """float64[n, K], the mean returns."""
        return np.asarray(self.returns.mean(axis=1))


def play_with_baselines(
    training: Training, trained: TrainedPolicies, episodes: int, seed: int, threads: int = 1
) -> list[PlayedSet]:
    """Play `episodes` episodes of each policy in each game, against each opponent of the training and in each seat.

    The trained policies are first; then, where the method has the option `greedy`, the same policies with its other value; then
    greedy policies for the same weights, without and with each estimate of the future return that the game offers, its scripted
    policies, those with safe actions where it declares them, and random play.
    The start positions are drawn from `seed`, independently of training, unless all episodes have the same one.
    """
    returns: dict[str, list[NDArray[np.float64]]] = {}
    lattice = list_weights(training.game, training.options.lattice_divisions, training.weights)
    conditioned = set()
    for game in training.games:
        own = replace(training, game=game, other_games=(), seats=training.list_seats(game))
        greedy = list(_list_greedy(game, lattice))
        learned = list(_list_trained(own, trained))
        conditioned |= {name for name, _ in (*learned, *greedy)}
        for name, policies in (*learned, *greedy, *_list_scripted(game)):
            played = play_episodes(own, policies, episodes, seed, threads=threads)
            matches = played.reshape(len(policies), -1, episodes, played.shape[2])
            returns.setdefault(name, []).append(matches.mean(axis=1))
    return [
        PlayedSet(name, np.mean(games, axis=0), lattice if name in conditioned else None) for name, games in returns.items()
    ]


def format_sets(game: Game, sets: Sequence[PlayedSet | NamedFront]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table; it has the highest mean return of each set in each objective."""
    head = ["policies", "number", "hypervolume", *(f"best {objective.name}" for objective in game.objectives)]
    return head, [
        [name, str(len(points)), f"{measure_volume(game, points):.5g}", *(f"{value:.4g}" for value in points.max(axis=0))]
        for name, points in ((one.name, one.points) for one in sets)
    ]


def _list_trained(training: Training, trained: TrainedPolicies) -> Iterator[tuple[str, Sequence[BatchPolicy]]]:
    """Yield the name and the policies of a training: as its method plays them, and with the other value of `greedy`."""
    options = training.options
    yield options.name, training.select_policies(trained)
    if "greedy" in options.options():
        name = f"{options.name} ({'sampled' if options.is_greedy else 'greedy'})"
        yield name, options.select_policies(training.game, trained, training.weights, greedy=not options.is_greedy)


def _list_greedy(game: Game, lattice: NDArray[np.float64]) -> Iterator[tuple[str, Sequence[BatchPolicy]]]:
    """Yield the name and the policies, one for each weight vector of the lattice, of each greedy player of the game."""
    for estimate in ESTIMATES:
        name = "greedy" if estimate == "none" else f"greedy(estimate={estimate})"
        try:
            yield name, [make_greedy_policy(game, row.tolist(), estimate) for row in lattice]
        except InvalidParameter:  # not for this game
            continue


def _list_scripted(game: Game) -> Iterator[tuple[str, Sequence[BatchPolicy]]]:
    """Yield the name and the policies of each scripted player of the game, and of random play."""
    scripted = [*game.policies, "random"]
    for name in (*(f"{SAFE}{one}" for one in scripted if game.learning.clear_unsafe_actions), *scripted):
        yield name, method(name, game)().policies(game)
