"""Cases of MO-GemWalk for the tests that every game shares; see tests/cases.py."""

from tests.games.gemwalk.naive import GemWalk

ORACLE = GemWalk
SMALL = {"mo-gemwalk-v0": [{}, {"board_width": 8, "board_height": 6}]}
GOLDEN = {"mo-gemwalk-v0": {"default": {"seed": 1}, "square": {"seed": 2, "board_width": 7, "board_height": 7}}}
