"""Images of decisions under the symmetries that a game declares for its egocentric view, to augment minibatches.

Source: Laskin et al., "Reinforcement learning with augmented data", NeurIPS 2020, for augmented observations in PPO.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.moppo.encoder import ObservationEncoder
from momagames.contract import Game, ViewSymmetry
from momagames.errors import InvalidParameter


class Symmetries:
    """The identity and the symmetries of a game, G in all, see `contract.ViewSymmetry`.

    sources, signs, offsets    of the inputs of the network, int64[G, F], float32[G, F] and float32[G, F]: masks of safe actions
                               are renamed as actions are, weights of the objectives stay
    actions                    int64[G, M]
    """

    def __init__(self, game: Game, encoder: ObservationEncoder) -> None:
        group, mask_size = _list_symmetries(game, encoder), game.mask_size
        size = len(group[0].sources)
        self._starts = np.cumsum((0, *game.actions))[:-1]
        self.actions = np.array([one.actions for one in group])
        self.sources = np.tile(np.arange(encoder.features + len(game.objectives)), (len(group), 1))
        self.signs, self.offsets = np.ones(self.sources.shape, np.float32), np.zeros(self.sources.shape, np.float32)
        for i, one in enumerate(group):
            self.sources[i, :size], self.signs[i, :size], self.offsets[i, :size] = one.sources, one.signs, one.offsets
            for start in range(size, encoder.features, mask_size):
                self.sources[i, start + self.actions[i]] = start + np.arange(mask_size)

    def rename_actions(
        self, chosen: NDArray[np.int64], masks: NDArray[np.int8], actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Return the images of masks int8[R, M] and actions int64[R, P] under the symmetries chosen int64[R]."""
        names, images = self.actions[chosen], np.empty_like(masks)
        np.put_along_axis(images, names, masks, axis=1)
        return images, np.take_along_axis(names, actions + self._starts, axis=1) - self._starts


def _list_symmetries(game: Game, encoder: ObservationEncoder) -> list[ViewSymmetry]:
    """Return the identity and the symmetries of a game. Raises InvalidParameter if there are none, or invalid ones."""
    view, actions = game.learning.egocentric_view, range(game.mask_size)
    declared, size = (view.symmetries, view.size) if view else ((), 0)
    parts = np.repeat(range(len(game.actions)), game.actions)
    reason = "" if encoder.egocentric_size else "the network does not read an egocentric view"
    reason = reason or ("" if declared else "the game declares no symmetries of its egocentric view")
    for one in declared:
        is_view = sorted(one.sources) == list(range(size)) and len(one.signs) == len(one.offsets) == size
        if not is_view or sorted(one.actions) != list(actions) or (parts[list(one.actions)] != parts).any():
            reason = reason or "the game declares symmetries that are no permutations of its view and actions"
    if reason:
        raise InvalidParameter(f"moppo: {game.id}: invalid symmetries=True: expected False: {reason}")
    return [ViewSymmetry(tuple(range(size)), (1.0,) * size, (0.0,) * size, tuple(actions)), *declared]
