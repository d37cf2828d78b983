"""Training checkpoints: an .npz file, read without pickle, with the policy and the state of training.

`head` (JSON as bytes) describes the training and its progress. `policy/NAME` are the arrays of the network for the kernel,
which plays without PyTorch. `training/NAME` are the arrays of the training state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.baselines.moppo.network_policy import NetworkPolicy
from momagames.contract import Game
from momagames.errors import InvalidFile, InvalidParameter
from momagames.files.npz_data import read_npz, write_npz
from momagames.registry import format_id

SCHEMA = 1
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Checkpoint:
    """Content of a checkpoint file.

    head       description of the training (see `benchmark.training.Training.describe`), steps, version, and the state of the
               trainer that is not an array
    policy     arrays of the network, see `network_policy.array_shapes`
    training   arrays of the training state
    """

    path: Path
    head: Mapping[str, Any]
    policy: Arrays
    training: Arrays

    def make_game(self) -> Game:
        """Return the game of the training."""
        return registry.spec(self.head["game"], **self.head["params"])

    def make_policy(self, game: Game | None = None) -> NetworkPolicy:
        """Return the trained policy for the game of the training or a similar one. Raises InvalidFile if it does not fit."""
        game = self.make_game() if game is None else game
        try:
            return NetworkPolicy(game, self.policy)
        except InvalidParameter as error:
            given = format_id(game.id, game.params)
            raise InvalidFile(f"{self.path}: trained on {self.head['canonical']}, cannot play {given}: {error}") from None


def save_checkpoint(
    path: Path, head: Mapping[str, Any], policy: Mapping[str, NDArray[Any]], training: Mapping[str, NDArray[Any]]
) -> None:
    """Write a checkpoint atomically. Raises InvalidFile if that fails."""
    arrays = {f"policy/{name}": array for name, array in policy.items()}
    arrays |= {f"training/{name}": _records_to_bytes(array) for name, array in training.items()}
    write_npz(path, SCHEMA, head, arrays)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint. Raises InvalidFile."""
    head, arrays = read_npz(path, SCHEMA, "training checkpoint")
    parts = {
        part: {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{part}/")}
        for part in ("policy", "training")
    }
    return Checkpoint(path, head, parts["policy"], parts["training"])


def _records_to_bytes(array: NDArray[Any]) -> NDArray[Any]:
    """Return records as uint8[..., itemsize], and other arrays unchanged."""
    flat = np.asarray(array, order="C")
    return flat.view(np.uint8).reshape(*array.shape, -1) if array.dtype.names else flat


def restore_dtype(array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """Return a stored array with the dtype of another one, records included. Raises InvalidFile if it does not fit."""
    restored = np.array(array, order="C")
    if like.dtype.names and restored.dtype == np.uint8 and restored.size == like.nbytes:
        restored = restored.reshape(-1).view(like.dtype).reshape(like.shape)
    if restored.shape != like.shape or restored.dtype != like.dtype:
        raise InvalidFile(
            f"invalid array in a checkpoint: {restored.dtype}{list(restored.shape)}, expected {like.dtype}{list(like.shape)}"
        )
    return restored
