"""A checkpoint of training: an .npz file, read without pickle, with all that the next update depends on, and the policy.

`head` (JSON as bytes) says what was trained and how far; `policy/NAME` are the arrays of the network as the kernel takes them,
so that what was learned is played without PyTorch; `training/NAME` are those that training goes on from.
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
from momagames.baselines.npz_io import read_npz, write_npz
from momagames.contract import Game
from momagames.errors import InvalidFile, InvalidParameter
from momagames.registry import spelled

SCHEMA = 1
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Saved:
    """What a checkpoint holds.

    head       game (id), params, canonical, method, options, ours, opponents, seed, budget, steps, updates, version, and what
               the trainer keeps that is no array
    policy     arrays of the network, see `policy.shapes`
    training   arrays that training goes on from
    """

    path: Path
    head: Mapping[str, Any]
    policy: Arrays
    training: Arrays

    def game(self) -> Game:
        """The game that was trained on."""
        return registry.spec(self.head["game"], **self.head["params"])

    def network(self, game: Game | None = None) -> NetworkPolicy:
        """What was learned, for the game that it was trained on or one like it; InvalidFile if it does not fit."""
        game = self.game() if game is None else game
        try:
            return NetworkPolicy(game, self.policy)
        except InvalidParameter as error:
            ours = spelled(game.id, game.params)
            raise InvalidFile(f"{self.path}: trained on {self.head['canonical']}; it cannot play {ours}: {error}") from None


def save(path: Path, head: Mapping[str, Any], policy: Mapping[str, NDArray[Any]], training: Mapping[str, NDArray[Any]]) -> None:
    """Write a checkpoint, aside first. InvalidFile if that fails."""
    arrays = {f"policy/{name}": array for name, array in policy.items()}
    arrays |= {f"training/{name}": _plain(array) for name, array in training.items()}
    write_npz(path, SCHEMA, head, arrays)


def load(path: Path) -> Saved:
    """Read a checkpoint, or InvalidFile."""
    head, arrays = read_npz(path, SCHEMA, "checkpoint of training")
    parts = {
        part: {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{part}/")}
        for part in ("policy", "training")
    }
    return Saved(path, head, parts["policy"], parts["training"])


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Records as bytes, [N, itemsize], for files know only plain types."""
    flat = np.asarray(array, order="C")
    return flat.view(np.uint8).reshape(*array.shape, -1) if array.dtype.names else flat


def typed(array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """The opposite of what `save` does to records, for an array like another; InvalidFile if it is not."""
    found = np.array(array, order="C")
    if like.dtype.names and found.dtype == np.uint8 and found.size == like.nbytes:
        found = found.reshape(-1).view(like.dtype).reshape(like.shape)
    if found.shape != like.shape or found.dtype != like.dtype:
        raise InvalidFile(f"a checkpoint has {found.dtype}{list(found.shape)} where {like.dtype}{list(like.shape)} belongs")
    return found
