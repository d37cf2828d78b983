"""States from outside: every position that a user, a file or a checkpoint gives passes here before compiled code reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, restore_record
from momagames.engine import loops
from momagames.errors import InvalidState


def load_state(game: Game, given: Any) -> NDArray[Any]:
    """Return a batch of one state, record[1], from a record, the dict form or the text of a position.

    A record is validated like the other forms: it may be forged, or come from a game of another size.
    Raises InvalidState, with the reason
    """
    states = game.make_state()
    is_record = isinstance(given, (np.void, np.ndarray)) and given.dtype == game.dtype and given.size == 1
    if not is_record and not isinstance(given, (str, Mapping)):
        is_other = getattr(given, "dtype", None) is not None and given.dtype.names is not None
        found = "a record of other games or board sizes" if is_other else type(given).__name__
        raise InvalidState(f"invalid state of {game.id}: expected a record, a dict or a text, got {found}")
    try:
        if is_record:
            record = given if isinstance(given, np.void) else given.reshape(-1)[0]
            if game.codec.restore:
                game.codec.restore(states[0], record)
            else:
                restore_record(game.codec, states[0], record)
        else:
            game.codec.load(states[0], game.codec.read(given) if isinstance(given, str) else given)
    except InvalidState as error:
        raise InvalidState(f"{game.id}: {error}") from None
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        raise InvalidState(f"invalid state of {game.id}: {error}") from None
    if game.sequential and not game.can_pass:
        mask = np.zeros(game.mask_size, np.int8)
        loops.compile_episode_loops(game).observe(
            states, int(states["to_move"][0]), np.zeros(game.observation_bytes, np.uint8), mask
        )
        if not mask.any():  # no agent can move: the game is over
            states["over"] = 1
    return states


def has_random_word(game: Game, given: Any) -> bool:
    """Return whether a valid position has a random state: a record always has, the other forms if they have `rng`."""
    form = game.codec.read(given) if isinstance(given, str) else given
    return not isinstance(form, Mapping) or "rng" in form


def restore_states(game: Game, records: NDArray[Any]) -> NDArray[Any]:
    """Return a batch of states, record[N], equal to these records, which may be forged, except for transient fields.

    Raises     InvalidState, with the index of the first invalid record and the reason
    """
    states = np.empty_like(records)
    for i, record in enumerate(records):
        try:
            states[i] = load_state(game, record)[0]
        except InvalidState as error:
            raise InvalidState(f"state {i}: {error}") from None
    return states
