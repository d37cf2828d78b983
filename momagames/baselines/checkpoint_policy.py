"""Policies from training checkpoints: those named by a path, and the champions, which come with the package of a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method
from momagames.baselines.checkpoint import Checkpoint, load_checkpoint
from momagames.baselines.policy_names import CHECKPOINT
from momagames.baselines.trainer import TrainedPolicies
from momagames.baselines.weight_lattice import (
    check_lattice_size,
    format_weights,
    resolve_shares,
    resolve_weights,
    simplex_lattice,
)
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import InvalidFile, InvalidParameter, invalid_value, one_of
from momagames.files.reading import check_files
from momagames.registry import format_id

CHAMPION = "champion"
MAX_POLICIES = 1000
Stored = TypeVar("Stored", bound=TrainedPolicies)


def make_checkpoint_factory(path: Path) -> PolicyFactory:
    """Return the policy of a checkpoint, with the options weights and greedy.

    weights    of the objectives; None: those of the training, or all equal if it was for all weights
    greedy     whether it plays the best action instead of sampling one; None: as the policies of the training do
    """

    def make(game: Game, weights: Sequence[float] | None = None, greedy: bool | None = None) -> CompiledPolicy:
        checkpoint = load_checkpoint(path)
        return _compile(checkpoint.make_policies(game), checkpoint, game, weights, greedy)

    return PolicyFactory(make, optional=("greedy",))


def list_champions(game: Game) -> list[Checkpoint]:
    """Return the trained policies that come with the package of the game. Raises InvalidFile."""
    places = (place.partition(":") for place in game.learning.champions)
    with check_files(None):  # files of packages are no files that another file names
        return [load_checkpoint(Path(str(files(package) / file))) for package, _, file in places]


@dataclass(frozen=True)
class Champion(Method):
    """The trained policy that comes with the package of the game, as a method: what training in advance reaches.

    divisions    of the simplex lattice of weights, with a policy for each vector; a champion that was trained for fixed
                 weights is one policy. The training is not part of a run's budget
    """

    name: ClassVar[str] = CHAMPION
    divisions: int = 4

    def policies(self, game: Game) -> tuple[CompiledPolicy, ...]:
        policies, checkpoint = find_champion(game)
        return _compile_lattice(policies, checkpoint, game, self.name, self.divisions)


@dataclass(frozen=True)
class Trained(Method):
    """The policies of a training of your own (`momagames train`) as a method. The training is not part of a run's budget.

    checkpoint   path of the checkpoint; a replay needs the file as well
    divisions    of the simplex lattice of weights, as of `Champion`
    """

    name: ClassVar[str] = "trained"
    file_option: ClassVar[str] = "checkpoint"
    checkpoint: str
    divisions: int = 4

    def policies(self, game: Game) -> tuple[CompiledPolicy, ...]:
        checkpoint = load_checkpoint(Path(self.checkpoint))
        return _compile_lattice(checkpoint.make_policies(game), checkpoint, game, self.name, self.divisions)


def make_champion(game: Game, weights: Sequence[float] | None = None, greedy: bool | None = None) -> CompiledPolicy:
    """Return the policy of `find_champion`; options as of `make_checkpoint_factory`."""
    policies, checkpoint = find_champion(game)
    return replace(_compile(policies, checkpoint, game, weights, greedy), label=CHAMPION)


def find_champion(game: Game) -> tuple[TrainedPolicies, Checkpoint]:
    """Return the first trained policies of the package that fit the game, and their file. Raises InvalidParameter."""
    champions = list_champions(game)
    for checkpoint in champions:
        try:
            return checkpoint.make_policies(game), checkpoint
        except InvalidFile:
            continue
    known = f"; there is one for {one_of(one.head['canonical'] for one in champions)}" if champions else ""
    raise InvalidParameter(f"{game.id}: no trained policy of the package fits {format_id(game.id, game.params)}{known}")


def load_stored_policies(game: Game, name: str, kind: type[Stored], option: str, learners: str) -> Stored:
    """Return the trained policies of a kind, of a champion of the game or of a checkpoint, for a search that uses them.

    name       "champion", or the path of a checkpoint
    option     of the search, for messages
    learners   methods whose trainings give this kind, for messages
    Raises     InvalidParameter if there are none that fit the game; InvalidFile if the file cannot be read
    """
    expected = f"{CHAMPION!r}, or the checkpoint ({CHECKPOINT}) of a training by {learners} for this game"
    if name == CHAMPION or name.endswith(CHECKPOINT):
        for checkpoint in list_champions(game) if name == CHAMPION else [load_checkpoint(Path(name))]:
            try:
                policies = checkpoint.make_policies(game)
            except InvalidFile:
                continue
            if isinstance(policies, kind):
                return policies
    raise InvalidParameter(f"{game.id}: {invalid_value(option, name, expected)}")


CHAMPION_POLICY = PolicyFactory(make_champion, optional=("weights", "greedy"))


def _compile_lattice(
    policies: TrainedPolicies, checkpoint: Checkpoint, game: Game, name: str, divisions: int
) -> tuple[CompiledPolicy, ...]:
    """Return a policy for each weight vector of the lattice, or one if the training was for fixed weights."""
    check_lattice_size(name, game, divisions, MAX_POLICIES)
    rows = [_find_weights(checkpoint, game)]
    if checkpoint.head.get("weights") is None and policies.reads_weights:
        rows = list(simplex_lattice(len(game.objectives), divisions))
    is_greedy = checkpoint.make_method().is_greedy
    return tuple(replace(policies.compile(format_weights(row), row.tolist(), is_greedy), arrays={}) for row in rows)


def _compile(
    policies: TrainedPolicies, checkpoint: Checkpoint, game: Game, weights: Sequence[float] | None, greedy: bool | None
) -> CompiledPolicy:
    place = str(checkpoint.path)
    row = _find_weights(checkpoint, game) if weights is None else resolve_shares(place, game, weights)
    is_greedy = checkpoint.make_method().is_greedy if greedy is None else greedy
    return replace(policies.compile("trained", row.tolist(), is_greedy), weights=(), arrays={})


def _find_weights(checkpoint: Checkpoint, game: Game) -> NDArray[np.float64]:
    """Return the weights of the training by the names of the objectives, divided by their sum; all equal without any."""
    trained_for = checkpoint.head.get("weights")
    names = [objective.name for objective in checkpoint.make_game().objectives]
    own = [objective.name for objective in game.objectives]
    if names != own and isinstance(trained_for, list):
        weight_of = dict(zip(names, trained_for, strict=False))
        trained_for = [weight_of.get(name, 0.0) for name in own]
    row = resolve_weights(str(checkpoint.path), game, trained_for)
    return row / row.sum() if row.sum() > 0 else row
