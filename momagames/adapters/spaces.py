"""Gymnasium spaces from the declarations of a game."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.contract import Field, Game, Objective, split_mask


def field_space(field: Field) -> spaces.Box:
    return spaces.Box(field.low, field.high, field.shape, np.dtype(field.dtype).type)


def mask_space(game: Game, agent: int | None = None) -> spaces.Space[Any]:
    """Return the space of an action mask of an agent (see `action_space`), or a tuple of them for several parts."""
    is_binary, sizes = game.original.mask_space == "binary", game.action_sizes(agent)
    parts = [spaces.MultiBinary(n) if is_binary else spaces.Box(0, 1, (n,), np.int8) for n in sizes]
    return parts[0] if len(parts) == 1 else spaces.Tuple(parts)


def format_mask(game: Game, mask: NDArray[np.int8], agent: int | None) -> Any:
    """Return a copy of an action mask, int8[M], in the form of `action_space.sample(mask)`: a tuple for several parts."""
    if game.agent_actions and agent is not None:
        return mask[: game.agent_actions[agent]].copy()
    mask = mask.copy()
    return mask if len(game.actions) == 1 else tuple(split_mask(mask, game.actions))


def format_masks(game: Game, masks: NDArray[np.int8]) -> NDArray[np.int8] | list[Any]:
    """Return `format_mask` of the masks of all agents, int8[A, M]."""
    masks = masks.copy()
    if game.agent_actions:
        return [mask[:count] for mask, count in zip(masks, game.agent_actions)]  # noqa: B905 - as long as each other
    if len(game.actions) == 1:
        return masks
    return list(zip(*split_mask(masks, game.actions), strict=True))


def masked_observation_space(game: Game, agent: int) -> spaces.Dict:
    """Return the space of all fields and the action mask of an agent, as PettingZoo environments use it."""
    fields = {field.name: field_space(field) for field in game.fields}
    return spaces.Dict({**fields, "action_mask": mask_space(game, agent)})


def observation_space(game: Game) -> spaces.Space[Any]:
    """Return the space of the fields without the mask (a Box for one field), as Gymnasium learners expect."""
    if len(game.fields) == 1:
        return field_space(game.fields[0])
    return spaces.Dict({field.name: field_space(field) for field in game.fields})


def action_space(game: Game, agent: int | None = None) -> spaces.Space[Any]:
    """Return the action space of an agent; None: one that has the actions of all agents."""
    sizes = game.action_sizes(agent)
    return spaces.Discrete(sizes[0]) if len(sizes) == 1 else spaces.MultiDiscrete(list(sizes))


def reward_space(game: Game, together: int = 0) -> spaces.Box:
    """Return the bounds of a reward vector: of one agent in one step, or of `together` agents until their next step."""
    low, high = game.reward_low, game.reward_high
    if together and game.sequential and len(game.agents) > 1:
        between = [_bound_accumulated(objective) for objective in game.objectives]
        low = np.minimum(low, [together * least for least, _ in between]).astype(np.float32)
        high = np.maximum(high, [together * most for _, most in between]).astype(np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def _bound_accumulated(objective: Objective) -> tuple[float, float]:
    """Return the bounds of the sum of rewards over consecutive steps, in which losses and gains may cancel."""
    low = min(objective.return_low, -objective.return_high) if objective.low < 0 else objective.return_low
    high = max(objective.return_high, -objective.return_low) if objective.high > 0 else objective.return_high
    return low, high
