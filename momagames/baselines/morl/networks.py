"""Networks of trained policies as plain arrays, evaluated with NumPy: a stored policy plays without its library.

The arrays of a network are named "NETWORK/LAYER/weight" and "bias", and "gain" and "shift" of a layer normalization.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.moppo.kernels import dense
from momagames.kernels.jit import compile_entry_point

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.floating[Any]]
NORM_EPSILON = 1e-5  # of PyTorch's LayerNorm


def extract_layers(name: str, *modules: Any) -> Arrays:
    """Return the arrays of the linear layers and layer normalizations in PyTorch modules, in their order."""
    import torch

    arrays: Arrays = {}
    count = -1
    for layer in (layer for module in modules for layer in module.modules()):
        if isinstance(layer, torch.nn.Linear):
            count += 1
            arrays |= {f"{name}/{count}/weight": _to_numpy(layer.weight), f"{name}/{count}/bias": _to_numpy(layer.bias)}
        elif isinstance(layer, torch.nn.LayerNorm):
            arrays |= {f"{name}/{count}/gain": _to_numpy(layer.weight), f"{name}/{count}/shift": _to_numpy(layer.bias)}
    return arrays


def _to_numpy(parameter: Any) -> NDArray[np.float32]:
    array: NDArray[np.float32] = parameter.detach().cpu().numpy().astype(np.float32)
    return array


def relu(values: Floats) -> Floats:
    return np.maximum(values, 0)


def sigmoid(values: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-np.clip(values, -80, 80)))
    return result


def softmax(logits: Floats) -> Floats:
    """Return the probabilities of each row."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return result


@dataclass(frozen=True)
class Network:
    """A multilayer perceptron.

    layers             weight float32[n, m], bias, and gain and shift of a normalization or None
    activation         after each layer but the last one
    last_activation    after the last layer, or None
    """

    layers: tuple[tuple[Floats, Floats, Floats | None, Floats | None], ...]
    activation: Callable[[Floats], Floats]
    last_activation: Callable[[Floats], Floats] | None = None

    def __call__(self, values: Floats) -> Floats:
        """Return the outputs [r, m] for inputs float32[r, n]; those of a row do not depend on the other rows."""
        for number, (weight, bias, gain, shift) in enumerate(self.layers):
            if values.shape[1] != len(weight):
                raise ValueError(f"{values.shape[1]} inputs for {len(weight)}")
            inputs, values = np.ascontiguousarray(values, np.float32), np.empty((len(values), len(bias)), np.float32)
            multiply_rows(inputs, weight, bias, values)
            if gain is not None and shift is not None:
                centered = values - values.mean(axis=-1, keepdims=True)
                values = centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + NORM_EPSILON) * gain + shift
            activation = self.activation if number + 1 < len(self.layers) else self.last_activation
            values = activation(values) if activation else values
        return values

    @property
    def inputs(self) -> int:
        return int(self.layers[0][0].shape[0])

    @property
    def outputs(self) -> int:
        return int(self.layers[-1][0].shape[1])


def read_network(
    name: str,
    arrays: Mapping[str, NDArray[Any]],
    activation: Callable[[Floats], Floats],
    last_activation: Callable[[Floats], Floats] | None = None,
) -> Network:
    """Return the network of this name in the arrays of a policy. Raises KeyError if there is none, ValueError for shapes."""
    count = sum(key.startswith(f"{name}/") and key.endswith("/weight") for key in arrays)
    layers = [
        (
            np.ascontiguousarray(arrays[f"{name}/{i}/weight"].T, np.float32),
            np.ascontiguousarray(arrays[f"{name}/{i}/bias"], np.float32), arrays.get(f"{name}/{i}/gain"),
            arrays.get(f"{name}/{i}/shift"),
        )
        for i in range(max(count, 1))
    ]  # fmt: skip
    for number, (weight, *rows) in enumerate(layers):
        if weight.ndim != 2 or any(row is not None and row.shape != weight.shape[1:] for row in rows):
            raise ValueError(f"layer {number} of {name!r} has a matrix of shape {weight.shape[::-1]} and other rows")
    return Network(tuple(layers), activation, last_activation)


def multiply_rows(inputs: Any, weights: Any, biases: Any, out: Any) -> None:
    """Write inputs [r, n] @ weights [n, m] + biases [m], each row in the same way, whatever their number."""
    for row in range(inputs.shape[0]):
        dense(inputs[row], weights, biases, out[row])  # type: ignore[no-untyped-call]


multiply_rows = compile_entry_point(multiply_rows, "morl.multiply_rows")
