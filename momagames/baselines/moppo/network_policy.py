"""A trained network as a compiled policy: it plays, is replayed and meets others without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.moppo.encoder import Sight, sight
from momagames.baselines.moppo.kernels import network_act
from momagames.baselines.observation_layout import room
from momagames.contract import Game
from momagames.engine.playouts import KERNEL
from momagames.engine.policies import Compiled, Member
from momagames.errors import InvalidParameter

SQUEEZED = 4  # channels of each cell that the trunk sees
MAX_GOALS = 32
MEMORY = np.dtype([("weights", "f8", (MAX_GOALS,)), ("greedy", "u1")])
# the arrays of a network, float32, in the order in which the kernel takes them
ARRAYS = (
    "first", "around", "first_bias", "convolutions", "biases", "squeeze", "squeeze_bias", "trunk", "trunk_bias", "second",
    "second_bias", "cell", "cell_trunk", "cell_trunk_bias", "head", "head_bias",
)  # fmt: skip

RANKS = {"first": 3, "convolutions": 4} | {name: 1 for name in ARRAYS if name.endswith("_bias")}  # all others: 2


def inputs(game: Game, seen: Sight) -> int:
    """Numbers that a network is told: those seen, which agent it plays if there are several, and the weights."""
    return len(seen.numbers) + told_apart(game) + len(game.objectives)


def trunk_inputs(game: Game, seen: Sight, channels: int) -> int:
    """What the trunk sees: some channels of each cell, all numbers, and all channels of the cell where the agent is."""
    return seen.cells * SQUEEZED + inputs(game, seen) + channels * (seen.spot >= 0)


def told_apart(game: Game) -> int:
    """Agents of which a network must know which it plays: all, or none if there is but one."""
    return len(game.agents) if len(game.agents) > 1 else 0


def shapes(game: Game, seen: Sight, channels: int, hidden: int, layers: int) -> dict[str, tuple[int, ...]]:
    """The arrays of a network of this size, with their shapes."""
    told = inputs(game, seen)
    found: dict[str, tuple[int, ...]] = {}
    if seen.cells:
        found |= {"first": (9, len(seen.planes), channels), "around": (told, channels), "first_bias": (channels,)}
        found |= {"convolutions": (layers, 9, channels, channels), "biases": (layers, channels)}
        found |= {"squeeze": (channels, SQUEEZED), "squeeze_bias": (SQUEEZED,)}
    found |= {"trunk": (trunk_inputs(game, seen, channels), hidden), "trunk_bias": (hidden,)}
    found |= {"second": (hidden, hidden), "second_bias": (hidden,)}
    if seen.by_cell:
        found |= {"cell": (channels, channels), "cell_trunk": (hidden, channels), "cell_trunk_bias": (channels,)}
        return found | {"head": (channels, seen.by_cell), "head_bias": (seen.by_cell,)}
    return found | {"head": (hidden, game.mask_size), "head_bias": (game.mask_size,)}


class NetworkPolicy:
    """A network that plays a game, for any weights.

    arrays    see `shapes`; InvalidParameter if they are not of this game
    """

    def __init__(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> None:
        if len(game.objectives) > MAX_GOALS:
            raise InvalidParameter(f"{game.id} has {len(game.objectives)} objectives; a network is told of at most {MAX_GOALS}")
        self.game, self.sight = game, sight(game)
        self.arrays = {name: arrays[name] for name in ARRAYS if name in arrays}
        self.channels, self.hidden, self.layers = self._check(arrays)

    def _check(self, arrays: Mapping[str, NDArray[Any]]) -> tuple[int, int, int]:
        """The size of the network, if all its arrays fit."""
        hidden = len(arrays["second"]) if "second" in arrays else 1
        layers, channels = arrays["biases"].shape if self.sight.cells and "biases" in arrays else (1, 1)
        needed = shapes(self.game, self.sight, channels, hidden, layers)
        given = {name: array.shape for name, array in arrays.items()}
        if given != needed or any(array.dtype != np.float32 or not np.isfinite(array).all() for array in arrays.values()):
            raise InvalidParameter(f"the arrays are no network for {self.game.id}: {given}; needed: finite float32 of {needed}")
        return channels, hidden, layers

    def kernel(self, weights: Sequence[float], greedy: bool) -> Compiled:
        """The policy for these weights, one for each objective. greedy: it takes the likeliest action, else it draws."""
        padded = (*map(float, weights), *(0.0,) * (MAX_GOALS - len(weights)))
        begins: tuple[tuple[str, int | tuple[float, ...]], ...] = (("weights", padded), ("greedy", int(greedy)))
        return Compiled("network", network_act(self.game), MEMORY, (self.game.rules_key,), begins, self._scratch)

    def member(self, label: str, weights: Sequence[float], greedy: bool) -> Member:
        """The same as it meets others and as it is stored."""
        kept = {**self.arrays, "weights": np.array(weights, np.float64), "greedy": np.array(greedy)}
        return Member(label, KERNEL, tuple(float(w) for w in weights), self.kernel(weights, greedy), kept)

    def _scratch(self, game: Game) -> tuple[Any, ...]:
        seen, told = self.sight, inputs(game, self.sight)
        shape = np.array([seen.rows, seen.columns, self.layers, seen.by_cell, told_apart(game), seen.spot], np.int64)
        net = tuple(self.arrays.get(name, np.zeros((0,) * RANKS.get(name, 2), np.float32)) for name in ARRAYS)

        def empty(*sizes: int) -> NDArray[np.float32]:
            return np.zeros(sizes, np.float32)

        cells, channels = seen.cells, self.channels
        boards = empty(cells, len(seen.planes))
        work = (
            boards, empty(told), empty(cells, channels), empty(cells, channels),
            empty(trunk_inputs(game, seen, channels)), empty(self.hidden), empty(self.hidden), empty(channels),
            empty(game.mask_size), boards.reshape(-1),
        )  # fmt: skip
        return seen.planes, seen.numbers, room(game), shape, net, work


def restored(game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> Member:
    """A member from what it is stored as; InvalidParameter if that does not fit the game."""
    net = {name: array for name, array in arrays.items() if name not in ("weights", "greedy")}
    weights = arrays.get("weights", np.zeros(0))
    if weights.shape != (len(game.objectives),) or not np.isfinite(weights).all() or "greedy" not in arrays:
        raise InvalidParameter(f"{label!r} has no weights for the {len(game.objectives)} objectives of {game.id}")
    return NetworkPolicy(game, net).member(label, weights.tolist(), bool(arrays["greedy"]))
