"""Parameters that make games short."""

SMALL = {"board_width": 5, "board_height": 6}


def small(id: str) -> dict[str, int]:
    """Parameters for an id."""
    return {"board_size": 7, "max_steps": 40} if "pommerman" in id else SMALL
