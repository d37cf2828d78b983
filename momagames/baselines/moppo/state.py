"""State of training for checkpoints: everything that the next update depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from momagames.baselines.moppo.network import ActorCritic
from momagames.baselines.moppo.rollout import Progress, RolloutCollector
from momagames.baselines.moppo.utility import Utility
from momagames.baselines.optimizer_state import collect_tensors
from momagames.baselines.trainer import restore_arrays
from momagames.contract import Game
from momagames.engine.positions import restore_states
from momagames.errors import InvalidFile, InvalidState


@dataclass(frozen=True)
class TrainingParts:
    """The parts of a trainer that training changes."""

    game: Game
    rng: np.random.Generator
    generator: torch.Generator
    progress: Progress
    utility: Utility
    model: ActorCritic
    collector: RolloutCollector
    optimizer: torch.optim.Optimizer


def state_dict(parts: TrainingParts) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the state as JSON-able data and arrays."""
    progress = parts.progress
    data = {
        "steps": progress.steps, "updates": progress.updates, "decisions": progress.decisions, "seconds": progress.seconds,
        "rng": parts.rng.bit_generator.state, "reward_scale": parts.utility.reward_scale.tolist(),
        "archive": parts.collector.self_imitation.archive.state_dict(),
    }  # fmt: skip
    arrays = {
        name: tensor.detach().cpu().numpy() for name, tensor in collect_tensors(parts.model.network, parts.optimizer).items()
    }
    arrays |= _collect_arrays(parts)
    arrays["batch/states"] = restore_states(parts.game, arrays["batch/states"])  # as when loaded
    return data, {name: np.array(array) for name, array in arrays.items()}


def load_state_dict(parts: TrainingParts, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Restore the state of the parts of a trainer with the same setup and options. Raises InvalidFile if it does not fit."""
    tensors = collect_tensors(parts.model.network, parts.optimizer)
    given = restore_arrays(arrays, _collect_arrays(parts) | {name: one.cpu().numpy() for name, one in tensors.items()})
    try:
        given["batch/states"] = restore_states(parts.game, given["batch/states"])
    except InvalidState as error:
        raise InvalidFile(f"invalid states in a checkpoint: {error}") from None
    for name, tensor in tensors.items():
        tensor.copy_(torch.from_numpy(given[name]))
    opponents, collector = parts.collector.opponents, parts.collector
    for i, actor in enumerate(opponents.pool):
        opponents.pool[i] = {name: given[f"pool/{i}/{name}"] for name in actor}
    opponents.pool_weights[...] = given["pool_weights"]
    opponents.reseat()
    for name, array in _collect_arrays(parts).items():
        if not name.startswith("pool/"):
            array[...] = given[name]
    parts.generator.set_state(torch.from_numpy(given["generator"].copy()))
    collector.batch.load_state_dict(collector.batch.state_dict())
    progress = parts.progress
    progress.steps, progress.updates, progress.decisions = data["steps"], data["updates"], data["decisions"]
    progress.seconds.update(data["seconds"])
    parts.rng.bit_generator.state = data["rng"]
    parts.utility.reward_scale = np.array(data["reward_scale"])
    parts.collector.self_imitation.archive.load_state_dict(data["archive"])


def _collect_arrays(parts: TrainingParts) -> dict[str, NDArray[Any]]:
    """Return views of all other arrays that training changes."""
    collector, opponents = parts.collector, parts.collector.opponents
    arrays = {f"batch/{name}": array for name, array in collector.batch.state_dict().items()}
    arrays |= {f"players/{i}": array for i, array in enumerate(opponents.players.state_dict())}
    if opponents.expert is not None:
        arrays |= {f"expert/{i}": array for i, array in enumerate(opponents.expert.state_dict())}
    arrays |= {f"pool/{i}/{name}": array for i, actor in enumerate(opponents.pool) for name, array in actor.items()}
    return arrays | {
        "pool_weights": opponents.pool_weights,
        "weights": collector.weights,
        "returns": collector.returns,
        "ideal_point": parts.utility.ideal_point,
        "actions": collector.self_imitation.actions,
        "is_replay": collector.self_imitation.is_replay,
        "generator": parts.generator.get_state().numpy(),
    }
