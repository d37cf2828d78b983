"""Trained policies as ONNX models, for programs without momagames.

Networks of moppo give `logits` float32[N, M] for the actions. A network that reads observations has the fields of the
observation as inputs, by name, and encodes them itself; one with an egocentric view has the view as the input `view`. Further
inputs are `weights` float32[N, K] of the objectives, and `agent` int64[N], the index of the agent that acts, where a network
tells agents apart. Scorers of grpo and cross_entropy, and of moppo with its network "candidates", give `scores` float64[N] for
the features of N candidate actions, `features` float64[N, F]; the weights of the objectives are among the features.

The model does not know the rules: illegal actions are left out by its caller, and so are unsafe ones (option `caution`).
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.policy import Scorer
from momagames.baselines.checkpoint import Checkpoint
from momagames.baselines.moppo.kernels import compile_view_encoder
from momagames.baselines.moppo.network_policy import NetworkPolicy
from momagames.contract import EgocentricView, Game, State
from momagames.engine import loops
from momagames.errors import InvalidParameter, MissingExtra
from momagames.files.writing import write_file_atomically

if TYPE_CHECKING:
    from momagames.baselines.onnx_modules import NetworkModule, ScorerModule

OPSET, IR_VERSION = 18, 8  # the lowest that the exporter of PyTorch writes, and the format of that time


def export_onnx(checkpoint: Checkpoint, path: Path) -> Any:
    """Write the policies of a training as an ONNX model, and return the model.

    Raises MissingExtra without the packages onnx, onnxscript and torch; InvalidParameter for policies that are no network and
    no scorer
    """
    game, policies = checkpoint.make_game(), checkpoint.make_policies()
    if not isinstance(policies, NetworkPolicy | Scorer):
        raise InvalidParameter(
            f"{checkpoint.path}: policies of {checkpoint.head['method']} are tables that a search reads: "
            "expected a training by moppo, grpo or cross_entropy"
        )
    try:
        import onnx
        import onnxscript  # noqa: F401  # the exporter of PyTorch needs it

        from momagames.baselines.onnx_modules import NetworkModule, ScorerModule
    except ImportError:
        raise MissingExtra('ONNX models need the packages onnx, onnxscript and torch: pip install "momagames[onnx]"') from None
    model = _convert(NetworkModule(policies) if isinstance(policies, NetworkPolicy) else ScorerModule(policies))
    onnx.helper.set_model_props(model, describe_model(checkpoint, game, policies))
    onnx.checker.check_model(model, full_check=True)
    write_file_atomically(path, model.SerializeToString())
    return model


def _convert(module: NetworkModule | ScorerModule) -> Any:
    """Return the ONNX model of a module, for batches of any size N."""
    import torch

    inputs = module.eval().example()
    with _silence_exporter():
        program = torch.onnx.export(
            module, (inputs, {}), input_names=list(inputs), output_names=[module.output], opset_version=OPSET, dynamo=True,
            dynamic_shapes=({name: {0: "N"} for name in inputs},), verbose=False,
        )  # fmt: skip
    assert program is not None
    model = program.model_proto
    model.ir_version, model.producer_name = IR_VERSION, "momagames"
    for part in (model.graph, *model.graph.node, *model.graph.value_info):
        part.ClearField("metadata_props")  # lines of this package and their paths on this machine
    return model


@contextmanager
def _silence_exporter() -> Iterator[None]:
    """Leave out warnings about packages and parts of PyTorch that have nothing to do with the model."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


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
    if encoder.reads_agent:
        inputs["agent"] = np.array(agents, np.int64)
    if encoder.view:
        return {"view": _write_views(game, encoder.view, states, agents), **inputs}
    rows = np.zeros((len(states), game.observation_bytes), np.uint8)
    mask, record = np.zeros(game.mask_size, np.int8), np.zeros(1, game.dtype)
    for i, (state, agent) in enumerate(zip(states, agents, strict=True)):
        record[0] = state
        loops.compile_episode_loops(game).observe(record, agent, rows[i], mask)
    fields = [game.observation_views(row) for row in rows]
    return inputs | {field.name: np.stack([one[field.name] for one in fields]) for field in game.fields}


def _write_views(game: Game, view: EgocentricView, states: Sequence[State], agents: Sequence[int]) -> NDArray[np.float32]:
    """Return egocentric views, float32[N, F]."""
    encode, size = compile_view_encoder(game), view.size
    dense, no_weights = np.zeros(size, np.float32), np.zeros((1, 0), np.float32)
    starts, columns, values = np.zeros(2, np.int64), np.zeros(size, np.int32), np.zeros(size, np.float32)
    record, first, views = np.zeros(1, game.dtype), np.zeros(1, np.int64), np.zeros((len(states), size), np.float32)
    for i, (state, agent) in enumerate(zip(states, agents, strict=True)):
        record[0] = state
        encode(record, first, np.array([agent]), no_weights, view.cells, size, 0, dense, starts, columns, values)
        views[i] = dense
    return views
