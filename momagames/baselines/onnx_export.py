"""Trained policies as ONNX models, for programs without momagames.

Networks of moppo give `logits` float32[N, M] for the actions. A network that reads observations has the fields of the
observation as inputs, by name, and encodes them itself; one with an egocentric view has the view as the input `view`. Further
inputs are `weights` float32[N, K] of the objectives, and `agent` int64[N], the index of the agent that acts, where a network
tells agents apart. Scorers of grpo and cross_entropy give `scores` float64[N] for the features of N candidate actions,
`features` float64[N, F]; the weights of the objectives are among the features.

The model does not know the rules: illegal actions are left out by its caller, and so are unsafe ones (option `caution`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.policy import Scorer
from momagames.baselines.checkpoint import Checkpoint
from momagames.baselines.moppo.encoder import BIN, LINEAR, LOGARITHMIC, ONE_HOT, POSITION, ObservationEncoder
from momagames.baselines.moppo.kernels import compile_view_encoder
from momagames.baselines.moppo.network_policy import NetworkPolicy
from momagames.baselines.observation_layout import field_offsets
from momagames.contract import Game, State
from momagames.engine import loops
from momagames.errors import InvalidParameter, MissingExtra
from momagames.files.writing import write_file_atomically

OPSET = 17


def export_onnx(checkpoint: Checkpoint, path: Path) -> Any:
    """Write the policies of a training as an ONNX model, and return the model.

    Raises MissingExtra without the package onnx; InvalidParameter for policies that are no network and no scorer
    """
    try:
        import onnx
    except ImportError:
        raise MissingExtra('ONNX models need the package onnx: pip install "momagames[onnx]"') from None
    game, policies = checkpoint.make_game(), checkpoint.make_policies()
    if isinstance(policies, NetworkPolicy):
        graph = _build_network(_Graph(), game, policies)
    elif isinstance(policies, Scorer):
        graph = _build_scorer(_Graph(), policies)
    else:
        raise InvalidParameter(
            f"{checkpoint.path}: policies of {checkpoint.head['method']} are tables that a search reads: "
            "expected a training by moppo, grpo or cross_entropy"
        )
    model = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "policy", graph.inputs, graph.outputs, graph.constants),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        producer_name="momagames",
        ir_version=8,
    )
    onnx.helper.set_model_props(model, describe_model(checkpoint, game, policies))
    onnx.checker.check_model(model, full_check=True)
    write_file_atomically(path, model.SerializeToString())
    return model


def describe_model(checkpoint: Checkpoint, game: Game, policies: NetworkPolicy | Scorer) -> dict[str, str]:
    """Return the metadata of the model: game, method, objectives, parts of an action, and names of features, as JSON."""
    facts: dict[str, Any] = {
        "game": checkpoint.head["canonical"],
        "method": checkpoint.head["method"],
        "objectives": [one.name for one in game.objectives],
        "actions": list(game.actions),
    }
    if isinstance(policies, Scorer):
        facts["features"] = list(policies.policy.features.names)
    else:
        facts["caution"] = policies.caution
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in facts.items()}


def describe_values(model: Any) -> list[tuple[str, str, str, str]]:
    """Return name, "input" or "output", type and shape of each input and output of a model."""
    from onnx import helper

    rows = []
    for kind, values in (("input", model.graph.input), ("output", model.graph.output)):
        for value in values:
            tensor = value.type.tensor_type
            shape = ", ".join(axis.dim_param or str(axis.dim_value) for axis in tensor.shape.dim)
            rows.append((value.name, kind, str(helper.tensor_dtype_to_np_dtype(tensor.elem_type)), f"[{shape}]"))
    return rows


def make_inputs(
    policies: NetworkPolicy, game: Game, states: Sequence[State], agents: Sequence[int], weights: Sequence[float]
) -> dict[str, NDArray[Any]]:
    """Return the inputs of the model of a network for positions, and an agent in each, see the module."""
    encoder = policies.encoder
    row = np.array(weights, np.float32)
    inputs: dict[str, NDArray[Any]] = {"weights": np.repeat(row[None], len(states), axis=0)}
    if encoder.egocentric_size:
        return {"view": _write_views(game, encoder, states, agents), **inputs}
    rows = np.zeros((len(states), game.observation_bytes), np.uint8)
    mask, record = np.zeros(game.mask_size, np.int8), np.zeros(1, game.dtype)
    for i, (state, agent) in enumerate(zip(states, agents, strict=True)):
        record[0] = state
        loops.compile_episode_loops(game).observe(record, agent, rows[i], mask)
    fields = [game.observation_views(row) for row in rows]
    inputs |= {field.name: np.stack([one[field.name] for one in fields]) for field in game.fields}
    return {**inputs, "agent": np.array(agents, np.int64)} if encoder.agent_ids else inputs


def _write_views(
    game: Game, encoder: ObservationEncoder, states: Sequence[State], agents: Sequence[int]
) -> NDArray[np.float32]:
    """Return egocentric views, float32[N, F]."""
    encode, size = compile_view_encoder(game), encoder.features
    dense, no_weights = np.zeros(size, np.float32), np.zeros((1, 0), np.float32)
    starts, columns, values = np.zeros(2, np.int64), np.zeros(size, np.int32), np.zeros(size, np.float32)
    record, first, views = np.zeros(1, game.dtype), np.zeros(1, np.int64), np.zeros((len(states), size), np.float32)
    for i, (state, agent) in enumerate(zip(states, agents, strict=True)):
        record[0] = state
        encode(record, first, np.array([agent]), no_weights, 0, dense, starts, columns, values)
        views[i] = dense
    return views


class _Graph:
    """Nodes, constants, inputs and outputs of a graph under construction; values are named by strings."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def add(self, operator: str, *names: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        from onnx import helper

        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(names), [name], **attributes))
        return name

    def constant(self, values: Any, dtype: type = np.float32) -> str:
        """Add a constant and return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(np.asarray(values, dtype)), name))
        return name

    def input(self, name: str, dtype: Any, shape: Sequence[int]) -> str:
        """Declare an input with a batch axis in front and return its name."""
        from onnx import helper

        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), ["N", *shape]))
        return name

    def output(self, name: str, value: str, dtype: type, shape: Sequence[int]) -> None:
        """Declare a value as an output."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), ["N", *shape])
        )

    def cast(self, value: str, dtype: type) -> str:
        from onnx import helper

        return self.add("Cast", value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def reshape(self, value: str, *shape: int) -> str:
        """Reshape each entry of the batch."""
        return self.add("Reshape", value, self.constant([-1, *shape], np.int64))

    def dense(self, value: str, weights: Any, biases: Any) -> str:
        """Multiply the last axis with weights [inputs, outputs] and add biases."""
        return self.add("Add", self.add("MatMul", value, self.constant(weights)), self.constant(biases))


# ------------------------------------------------------------------------------------------------------------- networks


def _build_network(graph: _Graph, game: Game, policies: NetworkPolicy) -> _Graph:
    """Add the layers of `moppo.kernels.forward`."""
    net, encoder, objectives = policies.arrays, policies.encoder, len(game.objectives)
    planes = ""
    if encoder.egocentric_size:
        parts = [graph.input("view", np.float32, [encoder.features])]
    else:
        planes, parts = _encode_observation(graph, game, policies)
    features = graph.add("Concat", *parts, graph.input("weights", np.float32, [objectives]), axis=1)
    residual, inputs = "", features
    if encoder.cells:
        residual = _convolve(graph, policies, planes, features)
        by_cell = graph.add("Transpose", residual, perm=[0, 2, 3, 1])
        residual = graph.reshape(by_cell, encoder.cells, policies.channels)
        squeezed = graph.add("Relu", graph.dense(residual, net["squeeze"], net["squeeze_bias"]))
        parts = [graph.add("Flatten", squeezed), features]
        if encoder.agent_plane >= 0:
            marks = graph.add("Gather", planes, graph.constant([encoder.agent_plane], np.int64), axis=2)
            at_agent = graph.add("Mul", residual, marks)
            parts.append(graph.add("ReduceSum", at_agent, graph.constant([1], np.int64), keepdims=0))
        inputs = graph.add("Concat", *parts, axis=1)
    hidden = graph.add("Relu", graph.dense(inputs, net["fc1"], net["fc1_bias"]))
    trunk = graph.add("Relu", graph.dense(hidden, net["fc2"], net["fc2_bias"]))
    if encoder.actions_per_cell:
        shared = graph.dense(trunk, net["actor_trunk"], net["actor_trunk_bias"])
        spread = graph.add("Unsqueeze", shared, graph.constant([1], np.int64))
        cells = graph.add("Add", graph.add("MatMul", residual, graph.constant(net["actor_cells"])), spread)
        logits = graph.add("Flatten", graph.dense(graph.add("Relu", cells), net["actor"], net["actor_bias"]))
    else:
        logits = graph.dense(trunk, net["actor"], net["actor_bias"])
    graph.output("logits", logits, np.float32, [game.mask_size])
    return graph


def _convolve(graph: _Graph, policies: NetworkPolicy, planes: str, features: str) -> str:
    """Add the convolutions: planes [N, cells, P] and features to [N, C, rows, columns]."""
    net, encoder = policies.arrays, policies.encoder
    images = graph.reshape(planes, encoder.rows, encoder.columns, len(encoder.planes))
    images = graph.add("Transpose", images, perm=[0, 3, 1, 2])
    shared = graph.dense(features, net["conv_in_features"], net["conv_in_bias"])
    spread = graph.add("Unsqueeze", shared, graph.constant([2, 3], np.int64))
    residual = graph.add("Relu", graph.add("Add", _add_convolution(graph, images, net["conv_in"]), spread))
    for weights, biases in zip(net["residual_convs"], net["residual_biases"], strict=True):
        block = graph.add("Relu", _add_convolution(graph, residual, weights, biases))
        residual = graph.add("Add", residual, block)
    return residual


def _add_convolution(graph: _Graph, images: str, weights: NDArray[Any], biases: NDArray[Any] | None = None) -> str:
    """Add a zero-padded 3x3 convolution with weights [9, P, C]."""
    kernel = weights.reshape(3, 3, *weights.shape[1:]).transpose(3, 2, 0, 1)
    constants = [graph.constant(kernel)] + ([] if biases is None else [graph.constant(biases)])
    return graph.add("Conv", images, *constants, pads=[1, 1, 1, 1])


def _encode_observation(graph: _Graph, game: Game, policies: NetworkPolicy) -> tuple[str, list[str]]:
    """Add the encoding of observations, see `moppo.encoder`: planes [N, cells, P], and the scalar features."""
    encoder, length = policies.encoder, 0
    flat: list[str] = []
    starts: dict[tuple[int, int], int] = {}  # (dtype, offset in items) -> place
    for dtype, offset, field in field_offsets(game):
        value = graph.input(field.name, field.dtype, field.shape)
        if field.order:
            value = graph.add("Transpose", value, perm=[0, *(axis + 1 for axis in field.order)])
        size = int(np.prod(field.shape))
        flat.append(graph.cast(graph.reshape(value, size), np.float64))
        starts |= {(dtype, offset + i): length + i for i in range(size)}
        length += size
    values = graph.add("Concat", *flat, axis=1)
    planes = ""
    if encoder.cells:
        planes = graph.reshape(_encode(graph, values, starts, encoder.planes), encoder.cells, len(encoder.planes))
    parts = [_encode(graph, values, starts, encoder.scalars)] if len(encoder.scalars) else []
    if encoder.agent_ids:
        agent = graph.add("Unsqueeze", graph.input("agent", np.int64, []), graph.constant([1], np.int64))
        parts.append(graph.cast(graph.add("Equal", agent, graph.constant(np.arange(encoder.agent_ids), np.int64)), np.float32))
    return planes, parts


def _encode(graph: _Graph, values: str, starts: Mapping[tuple[int, int], int], table: NDArray[np.float64]) -> str:
    """Add the features of a table, cell by cell: float32[N, cells * features]."""
    cells = int(table[0, 2])
    kind, a, b = (np.tile(table[:, column], cells) for column in (4, 5, 6))
    where = np.zeros((2, cells, len(table)), np.int64)  # places of the value, and of the column of a position
    cell_of = np.repeat(np.arange(cells), len(table))
    for f, (dtype, offset, _, stride, transform, *_) in enumerate(table.astype(np.int64).tolist()):
        for cell in range(cells):
            is_position = transform == POSITION
            where[0, cell, f] = starts[dtype, offset + (0 if is_position else cell * stride)]
            where[1, cell, f] = starts[dtype, offset + is_position]
    value = graph.add("Gather", values, graph.constant(where[0].ravel(), np.int64), axis=1)
    column = graph.add("Gather", values, graph.constant(where[1].ravel(), np.int64), axis=1)
    shifted = graph.add("Sub", value, graph.constant(a, np.float64))
    distance = graph.add("Abs", shifted)
    factors = graph.constant(b, np.float64)
    position = graph.add("Add", graph.add("Mul", value, factors), column)
    # log(1 + value - a) as far as the value may be below a for other transforms
    logarithm = graph.add("Log", graph.add("Add", graph.add("Max", shifted, _add_number(graph, 0)), _add_number(graph, 1)))
    results: Mapping[int, Callable[[], str]] = {
        ONE_HOT: lambda: graph.cast(graph.add("Equal", value, graph.constant(a, np.float64)), np.float64),
        LINEAR: lambda: graph.add("Mul", shifted, factors),
        LOGARITHMIC: lambda: graph.add("Mul", logarithm, factors),
        POSITION: lambda: graph.cast(graph.add("Equal", position, graph.constant(cell_of, np.float64)), np.float64),
        BIN: lambda: graph.cast(graph.add("LessOrEqual", distance, factors), np.float64),
    }
    total = _add_number(graph, 0)
    for transform, make in results.items():
        if (kind == transform).any():
            total = graph.add("Add", total, graph.add("Mul", make(), graph.constant(kind == transform, np.float64)))
    return graph.cast(total, np.float32)


def _add_number(graph: _Graph, value: float) -> str:
    return graph.constant([[value]], np.float64)


# -------------------------------------------------------------------------------------------------------------- scorers


def _build_scorer(graph: _Graph, scorer: Scorer) -> _Graph:
    """Add the sum of `candidates.kernels.score_candidate`."""
    count, hidden = scorer.policy.features.count, scorer.policy.hidden
    linear, biases, into, out = np.split(scorer.parameters, np.cumsum([count, hidden, count * hidden]))
    features = graph.input("features", np.float64, [count])
    scores = graph.add("MatMul", features, graph.constant(linear[:, None], np.float64))
    if hidden:
        units = graph.add("MatMul", features, graph.constant(into.reshape(count, hidden), np.float64))
        units = graph.add("Relu", graph.add("Add", units, graph.constant(biases, np.float64)))
        scores = graph.add("Add", scores, graph.add("MatMul", units, graph.constant(out[:, None], np.float64)))
    graph.output("scores", graph.add("Squeeze", scores, graph.constant([1], np.int64)), np.float64, [])
    return graph
