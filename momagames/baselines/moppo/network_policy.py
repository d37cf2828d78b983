"""A trained network as a compiled policy. It needs no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.moppo.encoder import ObservationEncoder, make_egocentric_encoder, make_encoder
from momagames.baselines.moppo.kernels import make_network_kernel
from momagames.baselines.observation_layout import make_workspace
from momagames.baselines.safe import MAX_CAUTION
from momagames.baselines.weight_lattice import resolve_shares
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidParameter, invalid_value

SQUEEZE_CHANNELS = 4  # channels of each cell after the 1x1 convolution in front of the dense layers
MAX_OBJECTIVES = 32
MEMORY = np.dtype([("weights", "f8", (MAX_OBJECTIVES,)), ("greedy", "u1")])
# the arrays of a network, float32, in the order of the kernel's arguments
ARRAYS = (
    "conv_in", "conv_in_features", "conv_in_bias", "residual_convs", "residual_biases", "squeeze", "squeeze_bias", "fc1",
    "fc1_bias", "fc2", "fc2_bias", "actor_cells", "actor_trunk", "actor_trunk_bias", "actor", "actor_bias", "modulation",
)  # fmt: skip

DENSE = ("fc1", "fc1_bias", "fc2", "fc2_bias", "actor", "actor_bias")  # arrays of a network without a board
NDIMS = {"conv_in": 3, "residual_convs": 4} | {name: 1 for name in ARRAYS if name.endswith("_bias")}  # all others: 2


def count_features(game: Game, encoder: ObservationEncoder) -> int:
    """Return the number of vector features: scalars of the observation and agent id, or the egocentric view; and weights."""
    return encoder.features + len(game.objectives)


def count_fc1_inputs(game: Game, encoder: ObservationEncoder, channels: int) -> int:
    """Return the inputs of the first dense layer: squeezed cells, vector features, and all channels of the agent's cell."""
    return encoder.cells * SQUEEZE_CHANNELS + count_features(game, encoder) + channels * (encoder.agent_plane >= 0)


def count_fc1_outputs(encoder: ObservationEncoder, hidden: int) -> int:
    """Return the units of the first dense layer: twice as many behind an egocentric view, which no convolution has read."""
    return hidden * 2 if encoder.egocentric_size else hidden


def array_shapes(
    game: Game, encoder: ObservationEncoder, channels: int, hidden: int, layers: int
) -> dict[str, tuple[int, ...]]:
    """Return the arrays of a network of this size and their shapes."""
    features = count_features(game, encoder)
    shapes: dict[str, tuple[int, ...]] = {}
    if encoder.cells:
        shapes |= {"conv_in": (9, len(encoder.planes), channels), "conv_in_features": (features, channels)}
        shapes |= {"conv_in_bias": (channels,), "residual_convs": (layers, 9, channels, channels)}
        shapes |= {"residual_biases": (layers, channels)}
        shapes |= {"squeeze": (channels, SQUEEZE_CHANNELS), "squeeze_bias": (SQUEEZE_CHANNELS,)}
    fc1 = count_fc1_outputs(encoder, hidden)
    shapes |= {"fc1": (count_fc1_inputs(game, encoder, channels), fc1), "fc1_bias": (fc1,)}
    shapes |= {"fc2": (fc1, hidden), "fc2_bias": (hidden,)}
    if encoder.actions_per_cell:
        shapes |= {"actor_cells": (channels, channels), "actor_trunk": (hidden, channels), "actor_trunk_bias": (channels,)}
        return shapes | {"actor": (channels, encoder.actions_per_cell), "actor_bias": (encoder.actions_per_cell,)}
    return shapes | {"actor": (hidden, game.mask_size), "actor_bias": (game.mask_size,)}


def modulation_shape(game: Game, encoder: ObservationEncoder, hidden: int) -> tuple[int, int]:
    """Return the shape of the array with which the weights multiply the units of the dense layers, if there is one."""
    return len(game.objectives), count_fc1_outputs(encoder, hidden) + hidden


class NetworkPolicy:
    """The policies of a network, one for each weight vector.

    arrays    see `array_shapes`; float32, or float16 where they are stored. see also `fix_weights`. "modulation", if it is
              there, has the factors of `modulation_shape`, and "caution" is the level on which unsafe actions are masked.
              Raises InvalidParameter if they do not fit the game

    reads_weights    whether play depends on the weights, which are fixed otherwise
    """

    def __init__(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> None:
        if len(game.objectives) > MAX_OBJECTIVES:
            raise InvalidParameter(
                f"{game.id} has {len(game.objectives)} objectives: expected at most {MAX_OBJECTIVES} for a network"
            )
        self.game, self.caution = game, check_caution(game, float(arrays.get("caution", 0)))
        arrays = {name: one.astype(np.float32) if one.dtype == np.float16 else one for name, one in arrays.items()}
        net = {name: array for name, array in arrays.items() if name != "caution"}
        hidden = net["fc2"].shape[-1] if "fc2" in net else 1
        is_egocentric = (
            game.learning.egocentric_view is not None and net.keys() - {"modulation"} == {*DENSE} and len(net["fc2"]) != hidden
        )
        self.encoder = make_egocentric_encoder(game) if is_egocentric else make_encoder(game)
        self.reads_weights = not (is_egocentric and len(net["fc1"]) == self.encoder.features)
        if not self.reads_weights:
            net["fc1"] = np.pad(net["fc1"], ((0, len(game.objectives)), (0, 0)))
        self.arrays = {name: (arrays | net)[name] for name in (*ARRAYS, "caution") if name in arrays}
        self.channels, self.hidden, self.layers = self._check(net, hidden)

    def _check(self, arrays: Mapping[str, NDArray[Any]], hidden: int) -> tuple[int, int, int]:
        """Return channels, hidden units and layers of the network if all its arrays fit the game."""
        layers, channels = arrays["residual_biases"].shape if self.encoder.cells and "residual_biases" in arrays else (1, 1)
        expected = array_shapes(self.game, self.encoder, channels, hidden, layers)
        if "modulation" in arrays:
            expected["modulation"] = modulation_shape(self.game, self.encoder, hidden)
        shapes = {name: array.shape for name, array in arrays.items()}
        if shapes != expected or any(array.dtype != np.float32 or not np.isfinite(array).all() for array in arrays.values()):
            raise InvalidParameter(f"not a network for {self.game.id}: {shapes}; expected finite float32 arrays {expected}")
        return channels, hidden, layers

    def fix_weights(self, weights: Sequence[float]) -> dict[str, NDArray[Any]]:
        """Return the arrays of a network that plays for these weights, whatever the game's objectives are.

        Weights are divided by their sum. The first layer has no inputs for weights. Raises InvalidParameter, also for a network
        that reads observations
        """
        features = self.encoder.features
        if not self.encoder.egocentric_size:
            raise InvalidParameter(f"{self.game.id}: a network without egocentric view has no weights to fix")
        row = resolve_shares("fixed weights", self.game, weights).astype(np.float32)
        arrays = {name: array for name, array in self.arrays.items() if name != "modulation"}
        arrays |= {"fc1": arrays["fc1"][:features], "fc1_bias": arrays["fc1_bias"] + row @ arrays["fc1"][features:]}
        if "modulation" in self.arrays:
            factors = 1 + (len(row) * row - 1) @ self.arrays["modulation"]
            units = len(arrays["fc1_bias"])
            for layer, own in (("fc1", factors[:units]), ("fc2", factors[units:])):
                arrays |= {layer: arrays[layer] * own, f"{layer}_bias": arrays[f"{layer}_bias"] * own}
        return {name: array.copy() for name, array in arrays.items()}

    def compile(self, label: str, weights: Sequence[float], greedy: bool) -> CompiledPolicy:
        """Return the compiled policy for these weights, one for each objective, with the arrays that are stored.

        greedy    play the most likely action instead of sampling one
        """
        encoder = self.encoder
        padded = (*map(float, weights), *(0.0,) * (MAX_OBJECTIVES - len(weights)))
        return CompiledPolicy(
            f"network{'.egocentric' * (encoder.egocentric_size > 0)}",
            make_network_kernel(self.game, encoder.egocentric_size > 0),
            MEMORY,
            (self.game.rules_key,),
            (("weights", padded), ("greedy", int(greedy))),
            self._make_scratch,
            label,
            weights=tuple(float(weight) for weight in weights),
            arrays={**self.arrays, "weights": np.array(weights, np.float64), "greedy": np.array(greedy)},
        )

    def _make_scratch(self, game: Game) -> tuple[Any, ...]:
        encoder, features = self.encoder, count_features(game, self.encoder)
        shape = np.array(
            [
                encoder.rows, encoder.columns, self.layers, encoder.actions_per_cell, encoder.agent_ids, encoder.agent_plane,
                encoder.view.cells if encoder.view else 0, encoder.egocentric_size,
            ],
            np.int64,
        )  # fmt: skip
        net = tuple(self.arrays.get(name, np.zeros((0,) * NDIMS.get(name, 2), np.float32)) for name in ARRAYS)

        def empty(*sizes: int) -> NDArray[np.float32]:
            return np.zeros(sizes, np.float32)

        cells, channels = encoder.cells, self.channels
        planes = empty(cells, len(encoder.planes))
        buffers = (
            planes, empty(features), empty(cells, channels), empty(cells, channels),
            empty(count_fc1_inputs(game, encoder, channels)), empty(count_fc1_outputs(encoder, self.hidden)),
            empty(self.hidden), empty(channels), empty(game.mask_size), planes.reshape(-1), empty(game.mask_size),
        )  # fmt: skip
        caution, safe = np.array([self.caution]), np.zeros(game.mask_size, np.int8)
        return encoder.planes, encoder.scalars, make_workspace(game), shape, net, buffers, caution, safe, encoder.actions


def check_caution(game: Game, caution: float) -> int:
    """Return the level on which unsafe actions are masked, if the game declares them. Raises InvalidParameter."""
    levels = range(MAX_CAUTION + 1) if game.learning.clear_unsafe_actions else range(1)
    if caution not in levels:
        expected = f"0..{MAX_CAUTION}" if len(levels) > 1 else "0: the game declares no safe actions"
        raise InvalidParameter(invalid_value(f"moppo: {game.id}: caution", caution, expected))
    return int(caution)


def restore_policy(game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
    """Return a policy from its stored arrays. Raises InvalidParameter if they do not fit the game."""
    net = {name: array for name, array in arrays.items() if name not in ("weights", "greedy")}
    weights = arrays.get("weights", np.zeros(0))
    if weights.shape != (len(game.objectives),) or not np.isfinite(weights).all() or "greedy" not in arrays:
        raise InvalidParameter(f"{label!r} has no weights for the {len(game.objectives)} objectives of {game.id}")
    return NetworkPolicy(game, net).compile(label, weights.tolist(), bool(arrays["greedy"]))
