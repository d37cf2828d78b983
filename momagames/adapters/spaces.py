"""Gymnasium spaces from what a game declares."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.contract import Field, Game


def field_space(field: Field) -> spaces.Box:
    return spaces.Box(field.low, field.high, field.shape, np.dtype(field.dtype).type)


def mask_space(game: Game) -> spaces.Space[Any]:
    """Space of an action mask: of 0 and 1, a tuple of these for an action of several parts."""
    parts = [spaces.MultiBinary(n) if game.mask_space == "binary" else spaces.Box(0, 1, (n,), np.int8) for n in game.actions]
    return parts[0] if len(parts) == 1 else spaces.Tuple(parts)


def shown_mask(game: Game, mask: NDArray[np.int8]) -> Any:
    """A copy of an action mask, int8[M], in the form that `action_space.sample(mask)` takes: a tuple by parts if several."""
    return mask.copy() if len(game.actions) == 1 else shown_masks(game, mask[None])[0]


def shown_masks(game: Game, masks: NDArray[np.int8]) -> NDArray[np.int8] | list[Any]:
    """The same for the masks of several agents, int8[V, M]."""
    masks = masks.copy()
    if len(game.actions) == 1:
        return masks
    return list(zip(*np.split(masks, np.cumsum(game.actions)[:-1], axis=1), strict=True))


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


def reward_space(game: Game) -> spaces.Box:
    return spaces.Box(game.reward_low, game.reward_high, dtype=np.float32)
