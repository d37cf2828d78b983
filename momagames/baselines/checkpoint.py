"""Training checkpoints: an .npz file, read without pickle, with the policy and the state of training.

`head` (JSON as bytes) describes the training and its progress. `policy/NAME` are the arrays of the trained policies, which play
without PyTorch. `training/NAME` are the arrays of the training state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.baselines.learners import find_learner
from momagames.baselines.trainer import Arrays, TrainedPolicies, TrainerMethod
from momagames.contract import Game
from momagames.errors import InvalidFile, InvalidParameter
from momagames.files.npz_data import read_npz, write_npz
from momagames.files.reading import refuse_content
from momagames.plugins import Origin
from momagames.registry import format_id

SCHEMA = 1


@dataclass(frozen=True)
class Checkpoint:
    """Content of a checkpoint file.

    head       description of the training (see `benchmark.training.Training.describe`), steps, version, and the state of the
               trainer that is not an array
    policy     arrays of the trained policies
    training   arrays of the training state
    origin     of the names in the head
    """

    path: Path
    head: Mapping[str, Any]
    policy: Arrays
    training: Arrays
    origin: Origin

    def make_game(self) -> Game:
        """Return the game of the training. Raises UnknownId, InvalidParameter; InvalidFile for a head without a game."""
        return registry.make_stored_game(self.head.get("game"), self.head.get("params"), self.origin)

    @property
    def return_scale(self) -> NDArray[np.float64]:
        """float64[K], divisors of the returns, to which weights refer. Raises InvalidFile."""
        scale = np.array(self.head.get("return_scale"), np.float64)
        if scale.ndim != 1 or not (np.isfinite(scale) & (scale > 0)).all():
            raise InvalidFile(f"{self.path}: invalid return_scale={self.head.get('return_scale')!r}: expected positive numbers")
        return scale

    def make_method(self) -> TrainerMethod:
        """Return the method of the training, with its options. Raises InvalidFile."""
        try:  # no code that the file names is imported
            learner = find_learner(self.head["method"])
            return learner(**learner.drop_former_options(self.head["options"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{self.path}: not a training checkpoint: {error}") from None

    def make_policies(self, game: Game | None = None) -> TrainedPolicies:
        """Return the trained policies for the game of the training or a similar one. Raises InvalidFile if they do not fit."""
        trained = self.make_game()
        game = trained if game is None else game
        names, known = ([one.name for one in each.objectives] for each in (game, trained))
        try:
            with refuse_content(self.path, "a checkpoint of policies"):
                policies = self.make_method().restore_policies(game, self.policy)
            if len(names) == len(known) and names != known and policies.reads_weights:
                raise InvalidParameter(f"objectives {', '.join(names)}; expected {', '.join(known)}")
            return policies
        except InvalidParameter as error:
            given = format_id(game.id, game.params)
            raise InvalidFile(f"{self.path}: trained on {self.head.get('canonical')}, cannot play {given}: {error}") from None


def save_checkpoint(
    path: Path,
    head: Mapping[str, Any],
    policy: Mapping[str, NDArray[Any]],
    training: Mapping[str, NDArray[Any]],
    compressed: bool = False,
) -> None:
    """Write a checkpoint atomically. Raises InvalidFile if that fails."""
    arrays = {f"policy/{name}": array for name, array in policy.items()}
    arrays |= {f"training/{name}": _records_to_bytes(array) for name, array in training.items()}
    write_npz(path, SCHEMA, head, arrays, compressed)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint. Raises InvalidFile."""
    head, arrays = read_npz(path, SCHEMA, "training checkpoint")
    parts = {
        part: {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{part}/")}
        for part in ("policy", "training")
    }
    return Checkpoint(path, head, parts["policy"], parts["training"], Origin.of_file(path))


def _records_to_bytes(array: NDArray[Any]) -> NDArray[Any]:
    """Return records as uint8[..., itemsize], and other arrays unchanged."""
    flat = np.asarray(array, order="C")
    return flat.view(np.uint8).reshape(*array.shape, -1) if array.dtype.names else flat
