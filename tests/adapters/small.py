"""Parameters that make games short."""

SMALL = {"board_width": 5, "board_height": 6}


def small(id: str) -> dict[str, int]:
    """Parameters for an id."""
    if "pommerman" in id:
        return {"board_size": 7, "max_steps": 40}
    return {"max_taps": 30} if "tileblast" in id else SMALL
