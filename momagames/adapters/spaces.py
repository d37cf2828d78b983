"""Gymnasium spaces from what a game declares."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.contract import Field, Game, Objective, split_mask


def field_space(field: Field) -> spaces.Box:
    return spaces.Box(field.low, field.high, field.shape, np.dtype(field.dtype).type)


def mask_space(game: Game) -> spaces.Space[Any]:
    """Space of an action mask: of 0 and 1, a tuple of these for an action of several parts."""
    parts = [spaces.MultiBinary(n) if game.mask_space == "binary" else spaces.Box(0, 1, (n,), np.int8) for n in game.actions]
    return parts[0] if len(parts) == 1 else spaces.Tuple(parts)


def format_mask(game: Game, mask: NDArray[np.int8]) -> Any:
    """A copy of an action mask, int8[M], in the form that `action_space.sample(mask)` takes: a tuple by parts if several."""
    return mask.copy() if len(game.actions) == 1 else format_masks(game, mask[None])[0]


def format_masks(game: Game, masks: NDArray[np.int8]) -> NDArray[np.int8] | list[Any]:
    """The same for the masks of several agents, int8[V, M]."""
    masks = masks.copy()
    if len(game.actions) == 1:
        return masks
    return list(zip(*split_mask(masks, game.actions), strict=True))


def masked_observation_space(game: Game) -> spaces.Dict:
    """All fields and the action mask: what an agent sees through PettingZoo."""
    fields = {field.name: field_space(field) for field in game.fields}
    return spaces.Dict({**fields, "action_mask": mask_space(game)})


def observation_space(game: Game) -> spaces.Space[Any]:
    """The fields without the mask (a Box if there is one field only): what Gymnasium learners expect."""
    if len(game.fields) == 1:
        return field_space(game.fields[0])
    return spaces.Dict({field.name: field_space(field) for field in game.fields})


def action_space(game: Game) -> spaces.Space[Any]:
    if len(game.actions) == 1:
        return spaces.Discrete(game.actions[0])
    return spaces.MultiDiscrete(list(game.actions))


def reward_space(game: Game, together: int = 0) -> spaces.Box:
    """Bounds of a reward vector: what a step pays an agent, or so many agents `together` in all the steps of others too."""
    low, high = game.reward_low, game.reward_high
    if together and game.sequential and len(game.agents) > 1:
        between = [_bound_accumulated(goal) for goal in game.objectives]
        low = np.minimum(low, [together * least for least, _ in between]).astype(np.float32)
        high = np.maximum(high, [together * most for _, most in between]).astype(np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def _bound_accumulated(goal: Objective) -> tuple[float, float]:
    """Bounds of what an agent gets in some steps on end; what it has lost may come back, and the other way round."""
    low = min(goal.return_low, -goal.return_high) if goal.low < 0 else goal.return_low
    high = max(goal.return_high, -goal.return_low) if goal.high > 0 else goal.return_high
    return low, high
