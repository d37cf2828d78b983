"""Options of every environment API besides the parameters of the game, and their checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from numbers import Number
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.contract import Game, read_numbers, split_mask
from momagames.engine.episode import PASS, random_legal
from momagames.errors import InvalidCall, InvalidParameter, InvalidState, check_choice, invalid_value, nearest, one_of
from momagames.render import canvas

ILLEGAL = ("raise", "forfeit", "random", "next")
RENDER_MODES = ("human", "rgb_array", "ansi", "svg")
RESET_MASK, KEEP_RNG = "reset_mask", "keep_rng"  # options of reset() besides a position


T = TypeVar("T")


class AgentDict(dict[str, T]):
    """A dict by agent; an unknown agent raises an error that names the agents."""

    def __missing__(self, name: Any) -> T:
        raise InvalidParameter(invalid_value("agent", name, one_of(self), nearest(name, self)))

    def find(self, name: Any) -> T:
        """Return the value of an agent; also for a name that can be no key, the error names the agents."""
        try:
            return self[name]
        except TypeError:
            return self.__missing__(name)


def make_environment(kind: Callable[..., T], /, id: str, **options: Any) -> T:
    """Make an environment of a class: options that its constructor does not have are parameters of the game."""
    own = inspect.signature(kind).parameters.keys() - {"game"}
    game = registry.spec(id, **{name: value for name, value in options.items() if name not in own})
    return kind(game, **{name: value for name, value in options.items() if name in own})


def check_illegal(illegal: str) -> str:
    """Return a valid `illegal` option, or raise InvalidParameter."""
    check_choice("illegal", illegal, ILLEGAL)
    return illegal


def substitute_legal(illegal: str, given: Any, mask: NDArray[np.int8], parts: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Return the action to play in place of an illegal one: the next legal one, or a random one."""
    return find_next_legal(given, mask, parts) if illegal == "next" else random_legal(mask, parts, rng)


def find_next_legal(given: Any, mask: NDArray[np.int8], parts: tuple[int, ...]) -> Any:
    """Return the first legal action at or after the given one, cyclically: an int, or int64[P] with each of P parts by itself.

    The result depends on the position only, so that a deterministic game stays deterministic. Non-numbers count as 0. PASS if
    no action is legal
    """
    numbers = read_numbers(given)
    if numbers is None or numbers.dtype.kind not in "iuf" or numbers.size != len(parts) or not np.isfinite(numbers).all():
        numbers = np.zeros(len(parts))
    chosen = []
    for number, part in zip(numbers.ravel(), split_mask(mask, parts), strict=True):
        allowed = np.flatnonzero(part)
        chosen.append(int(allowed[np.searchsorted(allowed, number) % allowed.size]) if allowed.size else PASS)
    return chosen[0] if len(parts) == 1 else np.array(chosen, np.int64)


def check_max_cycles(max_cycles: Any) -> int | None:
    """Return a valid `max_cycles` option, or raise InvalidParameter."""
    if max_cycles is None:
        return None
    if isinstance(max_cycles, bool) or not isinstance(max_cycles, (int, np.integer)) or max_cycles < 1:
        raise InvalidParameter(invalid_value("max_cycles", max_cycles, "an integer from 1, or None"))
    return int(max_cycles)


def keep_numeric(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers and arrays of an info; libraries that store infos in arrays do not support other values."""
    return {name: value for name, value in info.items() if _is_numeric(type(value))}  # type: ignore[arg-type]


@cache
def _is_numeric(kind: Any) -> bool:
    return issubclass(kind, (Number, np.generic, np.ndarray))


def check_render_mode(render_mode: str | None, modes: Sequence[str] = RENDER_MODES) -> str | None:
    if render_mode is not None and not (isinstance(render_mode, str) and render_mode in modes):
        allowed = f"None, {one_of(modes)}{nearest(render_mode, modes)}"
        raise InvalidParameter(f"invalid render_mode={render_mode!r}: expected {allowed}")
    return render_mode


def check_render_options(game: Game, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the given render options by name; InvalidParameter for an unknown option or an invalid value."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidParameter(invalid_value("render_options", given, "a dict or None"))
    known = (*game.view.render_options, *game.view.picture_options, canvas.DARK, canvas.FRAMES)
    options = {option.name: option for option in known}
    for name in given or ():
        if name not in options:
            expected = f"{one_of(options)}{nearest(name, options)}"
            raise InvalidParameter(f"invalid render option {name!r} of {game.id}: expected {expected}")
    return {name: options[name].check(game.id, value) for name, value in (given or {}).items()}


def check_flag(name: str, value: Any) -> bool:
    """Return a flag; InvalidParameter for another value than True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameter(invalid_value(name, value, "True or False"))
    return bool(value)


def check_seed(seed: int | None) -> int | None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise InvalidParameter(f"invalid seed={seed!r}: expected an integer from 0, or None")
    return None if seed is None else int(seed)


def check_seeds(seed: Any, count: int) -> int | list[int | None] | None:
    """Return the seed of a batch, or a list of a seed or None for each of `count` environments; else raise InvalidParameter."""
    if isinstance(seed, np.ndarray):
        seed = seed.tolist()
    if not isinstance(seed, (list, tuple)):
        return check_seed(seed)
    if len(seed) != count:
        raise InvalidParameter(f"invalid seed with {len(seed)} seeds: expected {count}, one for each environment")
    return [check_seed(one) for one in seed]


def read_start(game: Game, options: Mapping[str, Any] | None, is_vector: bool = False) -> tuple[Any, bool]:
    """Return the position of reset(options=...), or None to generate one, and whether its random state comes before a seed.

    options   {"state": record, dict or text}, or keys of the game's dict form, such as {"board": rows}; and {"keep_rng": bool}.
              Unknown options are ignored, as in Gymnasium, except for likely misspellings.
    """
    options, places = check_reset_options(options), ("state", *game.codec.position_keys)
    known = (*places, KEEP_RNG, RESET_MASK) if is_vector else (*places, KEEP_RNG)
    for key in options:
        if key not in known and nearest(key, known):
            raise InvalidParameter(
                f"invalid option {key!r} in reset() of {game.id}: expected {one_of(known)}{nearest(key, known)}"
            )
        if key not in known and nearest(key, [RESET_MASK], alike=0.8):
            raise InvalidParameter(
                f"invalid option {key!r} in reset() of {game.id}: {RESET_MASK!r} is an option of vector environments"
            )
    keep_rng = check_flag(KEEP_RNG, options.get(KEEP_RNG, False))
    return _read_position(game, {key: value for key, value in options.items() if key in places}), keep_rng


def _read_position(game: Game, given: Mapping[str, Any]) -> Any:
    if "state" not in given:
        return given or None
    if len(given) > 1:
        others = one_of(sorted(set(given) - {"state"}))
        raise InvalidParameter(f"invalid options in reset(): expected either 'state' or {others}, got both")
    if given["state"] is None:
        raise InvalidState(f"invalid state=None of {game.id} in reset(options=...): leave it out to generate a start position")
    return given["state"]


def check_reset_options(options: Any) -> Mapping[str, Any]:
    """Return the options of reset(), an empty dict for None. Raises InvalidParameter for anything but a dict."""
    if options is not None and not isinstance(options, Mapping):
        raise InvalidParameter(invalid_value("options", options, "a dict or None"))
    return options or {}


def finished_error(call: str) -> InvalidCall:
    """Return the error for a call after all agents have finished."""
    return InvalidCall(f"{call} after the episode: all agents have finished, call reset() first")


def not_reset_error(call: str) -> InvalidCall:
    """Return the error for a call before `reset`."""
    return InvalidCall(f"{call} before reset(): call reset(seed=...) first")
