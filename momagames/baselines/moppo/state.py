"""State of training for checkpoints: everything that the next update depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from momagames.baselines.moppo.checkpoint import restore_dtype
from momagames.baselines.moppo.trainer import Trainer
from momagames.engine.positions import restore_states
from momagames.errors import InvalidFile, InvalidState


def state_dict(trainer: Trainer) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the state as JSON-able data and arrays."""
    progress = trainer.progress
    data = {
        "steps": progress.steps, "updates": progress.updates, "seconds": progress.seconds,
        "rng": trainer.rng.bit_generator.state, "reward_scale": trainer.utility.reward_scale.tolist(),
        "archive": trainer.archive.state_dict(),
    }  # fmt: skip
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in _collect_tensors(trainer).items()}
    arrays |= _collect_arrays(trainer)
    arrays["batch/states"] = restore_states(trainer.game, arrays["batch/states"])  # as when loaded
    return data, {name: np.array(array) for name, array in arrays.items()}


def load_state_dict(trainer: Trainer, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Restore the state of a trainer made with the same arguments. Raises InvalidFile if it does not fit."""
    _initialize_optimizer(trainer)
    own, tensors = _collect_arrays(trainer), _collect_tensors(trainer)
    if unexpected := {*own, *tensors} ^ set(arrays):
        raise InvalidFile(f"a checkpoint of another training: missing or unexpected arrays {sorted(unexpected)[:3]}")
    given = {name: restore_dtype(arrays[name], array) for name, array in own.items()}
    try:
        given["batch/states"] = restore_states(trainer.game, given["batch/states"])
    except InvalidState as error:
        raise InvalidFile(f"invalid states in a checkpoint: {error}") from None
    for name, tensor in tensors.items():
        tensor.copy_(torch.from_numpy(restore_dtype(arrays[name], tensor.cpu().numpy())))
    opponents, collector = trainer.collector.opponents, trainer.collector
    for i, actor in enumerate(opponents.pool):
        opponents.pool[i] = {name: given[f"pool/{i}/{name}"] for name in actor}
    opponents.pool_weights[...] = given["pool_weights"]
    opponents.reseat()
    for name, array in _collect_arrays(trainer).items():
        if not name.startswith("pool/"):
            array[...] = given[name]
    trainer.generator.set_state(torch.from_numpy(given["generator"].copy()))
    collector.batch.load_state_dict(collector.batch.state_dict())
    progress = trainer.progress
    progress.steps, progress.updates = data["steps"], data["updates"]
    progress.seconds.update(data["seconds"])
    trainer.rng.bit_generator.state = data["rng"]
    trainer.utility.reward_scale = np.array(data["reward_scale"])
    trainer.archive.load_state_dict(data["archive"])


def _collect_tensors(trainer: Trainer) -> dict[str, Tensor]:
    """Return the tensors of the network and of the optimizer."""
    tensors: dict[str, Tensor] = {f"network/{name}": t for name, t in trainer.model.network.state_dict().items()}
    for i, state in trainer.learner.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{i}/{name}": tensor for name, tensor in state.items()}
    return tensors


def _collect_arrays(trainer: Trainer) -> dict[str, NDArray[Any]]:
    """Return views of all other arrays that training changes."""
    collector, opponents = trainer.collector, trainer.collector.opponents
    arrays = {f"batch/{name}": array for name, array in collector.batch.state_dict().items()}
    arrays |= {f"players/{i}": array for i, array in enumerate(opponents.players.state_dict())}
    if opponents.expert is not None:
        arrays |= {f"expert/{i}": array for i, array in enumerate(opponents.expert.state_dict())}
    arrays |= {f"pool/{i}/{name}": array for i, actor in enumerate(opponents.pool) for name, array in actor.items()}
    return arrays | {
        "pool_weights": opponents.pool_weights,
        "weights": collector.weights,
        "returns": collector.returns,
        "ideal_point": trainer.utility.ideal_point,
        "actions": collector.self_imitation.actions,
        "is_replay": collector.self_imitation.is_replay,
        "generator": trainer.generator.get_state().numpy(),
    }


def _initialize_optimizer(trainer: Trainer) -> None:
    """Create the optimizer state, if there is none yet, with a step of zero gradients."""
    optimizer = trainer.learner.optimizer
    if not optimizer.state:
        for parameter in trainer.model.network.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
