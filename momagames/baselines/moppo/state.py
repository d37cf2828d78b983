"""State of training for checkpoints: everything that the next update depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from momagames.baselines.moppo.model import Model
from momagames.baselines.moppo.rollout import Progress, RolloutCollector
from momagames.baselines.moppo.utility import Utility
from momagames.baselines.optimizer_state import collect_tensors
from momagames.baselines.trainer import restore_arrays
from momagames.engine.positions import restore_states
from momagames.errors import InvalidFile, InvalidState

POOL = "pool/"  # begins the names of the arrays of earlier versions of the network


@dataclass(frozen=True)
class TrainingParts:
    """The parts of a trainer that training changes.

    collectors    one for each game
    """

    rng: np.random.Generator
    generator: torch.Generator
    progress: Progress
    utility: Utility
    model: Model
    collectors: Sequence[RolloutCollector]
    optimizer: torch.optim.Optimizer


def state_dict(parts: TrainingParts) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the state as JSON-able data and arrays."""
    progress = parts.progress
    data = {
        "steps": progress.steps, "updates": progress.updates, "decisions": progress.decisions, "seconds": progress.seconds,
        "rng": parts.rng.bit_generator.state, "reward_scale": parts.utility.reward_scale.tolist(),
        "archive": parts.collectors[0].self_imitation.archive.state_dict(),
    }  # fmt: skip
    arrays = {
        name: tensor.detach().cpu().numpy() for name, tensor in collect_tensors(parts.model.network, parts.optimizer).items()
    }
    arrays |= _collect_arrays(parts)
    for prefix, collector in _list_collectors(parts):
        name = f"{prefix}batch/states"
        arrays[name] = restore_states(collector.game, arrays[name])  # as when loaded
    return data, {name: np.array(array) for name, array in arrays.items()}


def load_state_dict(parts: TrainingParts, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Restore the state of the parts of a trainer with the same setup and options. Raises InvalidFile if it does not fit."""
    tensors = collect_tensors(parts.model.network, parts.optimizer)
    given = restore_arrays(arrays, _collect_arrays(parts) | {name: one.cpu().numpy() for name, one in tensors.items()})
    for prefix, collector in _list_collectors(parts):
        name = f"{prefix}batch/states"
        try:
            given[name] = restore_states(collector.game, given[name])
        except InvalidState as error:
            raise InvalidFile(f"invalid states in a checkpoint: {error}") from None
    for name, tensor in tensors.items():
        tensor.copy_(torch.from_numpy(given[name]))
    for prefix, collector in _list_collectors(parts):
        opponents = collector.opponents
        for i, actor in enumerate(opponents.pool):
            opponents.pool[i] = {name: given[f"{prefix}{POOL}{i}/{name}"] for name in actor}
        opponents.pool_weights[...] = given[f"{prefix}pool_weights"]
        opponents.reseat()
    for name, array in _collect_arrays(parts).items():
        if POOL not in name:
            array[...] = given[name]
    parts.generator.set_state(torch.from_numpy(given["generator"].copy()))
    for collector in parts.collectors:
        collector.batch.load_state_dict(collector.batch.state_dict())
    progress = parts.progress
    progress.steps, progress.updates, progress.decisions = data["steps"], data["updates"], data["decisions"]
    progress.seconds.update(data["seconds"])
    parts.rng.bit_generator.state = data["rng"]
    parts.utility.reward_scale = np.array(data["reward_scale"])
    parts.collectors[0].self_imitation.archive.load_state_dict(data["archive"])


def _list_collectors(parts: TrainingParts) -> list[tuple[str, RolloutCollector]]:
    """Return the collectors, each with the prefix of the names of its arrays."""
    return [(f"games/{i}/" if i else "", collector) for i, collector in enumerate(parts.collectors)]


def _collect_arrays(parts: TrainingParts) -> dict[str, NDArray[Any]]:
    """Return views of all other arrays that training changes."""
    arrays = {
        f"{prefix}{name}": array
        for prefix, collector in _list_collectors(parts)
        for name, array in _collect_game_arrays(collector).items()
    }
    return arrays | {"ideal_point": parts.utility.ideal_point, "generator": parts.generator.get_state().numpy()}


def _collect_game_arrays(collector: RolloutCollector) -> dict[str, NDArray[Any]]:
    """Return views of the arrays of one game that training changes."""
    opponents = collector.opponents
    arrays = {f"batch/{name}": array for name, array in collector.batch.state_dict().items()}
    arrays |= {f"players/{i}": array for i, array in enumerate(opponents.players.state_dict())}
    if opponents.expert is not None:
        arrays |= {f"expert/{i}": array for i, array in enumerate(opponents.expert.state_dict())}
    arrays |= {f"{POOL}{i}/{name}": array for i, actor in enumerate(opponents.pool) for name, array in actor.items()}
    return arrays | {
        "pool_weights": opponents.pool_weights,
        "weights": collector.weights,
        "returns": collector.returns,
        "actions": collector.self_imitation.actions,
        "is_replay": collector.self_imitation.is_replay,
    }
