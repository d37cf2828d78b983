"""Table of the targets: functions that make a reader of inputs in a folder of their own."""

from __future__ import annotations

from typing import NamedTuple

TARGETS: dict[str, Target] = {}


class Target(NamedTuple):
    """A reader of inputs.

    make     function (empty folder) -> feed; feed(source) makes an input from `source` (see inputs.py) and reads it
    share    of all inputs, relative to the other targets: most for those that are fast
    """

    make: object
    share: float


def target(share):
    """Register a function under its name, with spaces."""

    def register(make):
        TARGETS[make.__name__.replace("_", " ")] = Target(make, share)
        return make

    return register
