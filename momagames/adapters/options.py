"""What every door takes besides the parameters of the game: checked once, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, split_mask
from momagames.engine.episode import PASS, random_legal
from momagames.errors import InvalidCall, InvalidParameter, InvalidState, check_choice, nearest, one_of

ILLEGAL = ("raise", "forfeit", "random", "next")
RENDER_MODES = ("human", "rgb_array", "ansi")


T = TypeVar("T")


class AgentDict(dict[str, T]):
    """A dict by agent; a name that no agent has is refused with those that there are."""

    def __missing__(self, name: Any) -> T:
        raise InvalidParameter(f"there is no agent {name!r}; there are {one_of(self)}{nearest(name, self)}")


def check_illegal(illegal: str) -> str:
    """What an illegal action does."""
    check_choice("illegal", illegal, ILLEGAL)
    return illegal


def substitute_legal(illegal: str, given: Any, mask: NDArray[np.int8], parts: tuple[int, ...], rng: np.random.Generator) -> Any:
    """The action that is played in place of an illegal one: the next legal one, or any."""
    return find_next_legal(given, mask, parts) if illegal == "next" else random_legal(mask, parts, rng)


def find_next_legal(given: Any, mask: NDArray[np.int8], parts: tuple[int, ...]) -> Any:
    """The first legal action from this one on, after the last one from 0 on: an int, or int64[P] of P parts, each by itself.

    The same in the same position, so that a game without luck stays one. What is no number counts as 0; PASS where nothing is
    legal
    """
    numbers = np.asarray(given).ravel()
    if numbers.dtype.kind not in "iuf" or numbers.size != len(parts) or not np.isfinite(numbers).all():
        numbers = np.zeros(len(parts))
    chosen = []
    for number, part in zip(numbers, split_mask(mask, parts), strict=True):
        allowed = np.flatnonzero(part)
        chosen.append(int(allowed[np.searchsorted(allowed, number) % allowed.size]) if allowed.size else PASS)
    return chosen[0] if len(parts) == 1 else np.array(chosen, np.int64)


def check_render_mode(render_mode: str | None) -> str | None:
    if render_mode is not None and render_mode not in RENDER_MODES:
        allowed = f"None, {one_of(RENDER_MODES)}{nearest(render_mode, RENDER_MODES)}"
        raise InvalidParameter(f"invalid render_mode={render_mode!r}: expected {allowed}")
    return render_mode


def check_render_options(game: Game, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Render options by name, those that are given; InvalidParameter for one that the game has not, or that cannot be so."""
    options = {option.name: option for option in game.view.render_options}
    for name in given or ():
        if name not in options:
            there = f"it has {one_of(options)}{nearest(name, options)}" if options else "it has none"
            raise InvalidParameter(f"{game.id} has no render option {name!r}; {there}")
    return {name: options[name].check(game.id, value) for name, value in (given or {}).items()}


def check_seed(seed: int | None) -> int | None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise InvalidParameter(f"invalid seed={seed!r}: expected an integer from 0, or None")
    return None if seed is None else int(seed)


def read_start_position(game: Game, options: Mapping[str, Any] | None) -> Any:
    """The position that reset(options=...) asks for, or None to deal one.

    options   {"state": record, dict or text}, or keys of the game's dict form, such as {"board": rows}. Options that mean
              nothing to us are left alone, as hosts do; a slip of the pen is refused.
    """
    known = ("state", *game.codec.position_keys)
    for key in options or ():
        if key not in known and nearest(key, known):
            raise InvalidParameter(
                f"reset(options=...) of {game.id} has no {key!r}; it has {one_of(known)}{nearest(key, known)}"
            )
    given = {key: value for key, value in (options or {}).items() if key in known}
    if "state" not in given:
        return given or None
    if len(given) > 1:
        others = one_of(sorted(set(given) - {"state"}))
        raise InvalidParameter(f"reset(options=...) has 'state' and {others}; give one or the other")
    if given["state"] is None:
        raise InvalidState(f"{game.id}: reset(options=...) has 'state': None; leave it out to deal a new game")
    return given["state"]


def not_reset_error(call: str) -> InvalidCall:
    """The error for a call at a moment when there is no game."""
    return InvalidCall(f"{call} before reset(): call reset(seed=...) first")
