"""What can go wrong. Every message names what was given, what is allowed and, where there is one, the nearest right thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from math import inf
from numbers import Integral, Real
from sys import float_info

MAX_LINE, MAX_VALUE = 2000, 500  # characters of a line of a message, and of a value that it quotes
MAX_EXPECTED = 160  # characters of what is expected, if a hint follows


class MomagamesError(Exception):
    """Base class of every error that momagames raises on purpose."""

    def __init__(self, message: str = "", *args: object) -> None:
        lines = str(message).split("\n")
        super().__init__("\n".join(shorten(line, MAX_LINE) for line in lines), *args)


def shorten(text: str, length: int) -> str:
    """Return a text; without its middle if it is longer than that."""
    half = length // 2
    return text if len(text) <= length else f"{text[:half]} ... ({len(text):,} characters) ... {text[-half:]}"


class UnknownId(MomagamesError, KeyError):
    """No game, version, baseline or suite has that name."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0])


class InvalidParameter(MomagamesError, ValueError):
    """A parameter that does not exist or is outside its range."""


class UnknownParameter(InvalidParameter, TypeError):
    """A keyword that a game does not have; a TypeError as well, as for any unknown keyword argument in Python."""


class InvalidLevel(InvalidParameter):
    """A level that cannot be played as it is; the message names the file, the place in it and what is allowed there."""


class InvalidLayout(InvalidParameter):
    """A layout that cannot be played as it is; the message names the file, line, column and cell, and what is allowed there."""


class InvalidState(MomagamesError, ValueError):
    """A board or state from which no game can be played."""


class IllegalAction(MomagamesError, ValueError):
    """An action that the rules do not allow now."""


class InvalidCall(MomagamesError, RuntimeError):
    """A call at the wrong moment, such as step() before reset()."""


class InvalidFile(MomagamesError, ValueError):
    """A file (suite, result, front, record) that cannot be used as it is."""


class RemoteError(MomagamesError, RuntimeError):
    """Another program did not answer as it should; the message names its address and what came back."""


class MissingExtra(MomagamesError, ImportError):
    """Something that an optional dependency does; the message names the extra to install."""


class TooLarge(MomagamesError, RuntimeError):
    """A computation that a limit (of states, memory or time) stopped; the message names the limit and what was reached."""


def check_range(what: str, value: object, low: float, high: float = inf, *, above: bool = False, whole: bool = False) -> None:
    """InvalidParameter unless a finite number lies in low..high; `above`: low itself is not allowed; `whole`: no fractions."""
    number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    number = number and (whole or abs(value) <= float_info.max)  # type: ignore[arg-type]  # an integer may be larger
    if number and (low < value if above else low <= value) and value <= high and value < inf:  # type: ignore[operator]
        return
    least, most = format_number(low), format_number(high)
    if above:
        allowed = f"above {least}" + (f", to {most}" if high < inf else "")
    else:
        allowed = f"{least} or more" if high == inf else f"{least}..{most}"
    raise InvalidParameter(invalid_value(what, value, f"{'an integer, ' if whole else ''}{allowed}"))


def format_number(number: float) -> str:
    """Return a number as short text; an integer with all its digits."""
    return str(int(number)) if abs(number) < inf and number == int(number) else f"{number:g}"


def check_choice(what: str, value: object, allowed: Iterable[str | int]) -> None:
    """InvalidParameter unless a word or number is one of those."""
    words = tuple(allowed)
    if not isinstance(value, (str, Integral)) or value not in words:  # arrays compare item by item
        raise InvalidParameter(invalid_value(what, value, one_of(words), nearest(value, words)))


def invalid_value(what: str, value: object, expected: str, hint: str = "") -> str:
    """Return the message "invalid name=value: expected ..." and a hint, see `nearest`; `what` may be "place: name".

    The hint precedes a long list of what is expected.
    """
    place, colon, name = what.rpartition(": ")
    start = f"{place}{colon}invalid {name}={shorten(repr(value), MAX_VALUE)}"
    if hint and len(expected) > MAX_EXPECTED:
        return f"{start}{hint} Expected {expected}"
    return f"{start}: expected {expected}{hint}"


def nearest(given: object, allowed: Iterable[object], alike: float = 0.5) -> str:
    """ "; did you mean 'x'?" or the empty string. `alike` says how much alike two words must be, from 0 to 1."""
    close = get_close_matches(str(given)[:100], list(map(str, allowed)), n=1, cutoff=alike)
    return f"; did you mean {close[0]!r}?" if close else ""


def one_of(allowed: Iterable[object]) -> str:
    """'a', 'b' or 'c'; of more than 60, the first ten and the last"""
    names = [repr(item) for item in allowed]
    if len(names) > 60:  # agents of a crowd
        names = [*names[:10], "...", f"{names[-1]} ({len(names):,} in all)"]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def first_of(problems: Sequence[str], count: int = 5) -> str:
    """The first of many problems, a line each, and how many more there are."""
    more = len(problems) - count
    return "\n".join([*problems[:count], *([f"... and {more} more"] if more > 0 else [])])
