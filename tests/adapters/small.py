"""Parameters that make games short."""

from typing import Any

SMALL = {"board_width": 5, "board_height": 6}
FAMILIES = {
    "samegame": SMALL,
    "breakthrough": SMALL,
    "pommerman": {"board_size": 7, "max_steps": 40},
    "tileblast": {"max_taps": 30},
    "robotmail": {"max_step": 60},
}


def small(id: str) -> dict[str, Any]:
    """Parameters for an id."""
    return FAMILIES[id.split("-")[1]]
