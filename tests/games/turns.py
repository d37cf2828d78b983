"""Rotations and reflections of positions on a grid, for the case files of games: see `turn_state` in tests/cases.py.

A turn is a matrix int64[2, 2] of vectors (rows, columns).
"""

DIRECTIONS = [(-1, 0), (1, 0), (0, -1), (0, 1)]  # of the moves 1..4


def turn_direction(turn, move):
    """The image of a move 1..4; of any other number the number itself."""
    return 1 + DIRECTIONS.index(tuple((turn @ DIRECTIONS[move - 1]).tolist())) if 1 <= move <= 4 else move


def turn_grid(turn, grid):
    """The image of an array [rows, columns]."""
    image = grid.T if turn[0, 1] else grid
    return image[:: turn[0].sum(), :: turn[1].sum()]


def turn_cells(turn, rows, columns, height, width):
    """The rows and columns of the images of cells of a board of this height and width."""
    (rows, height), (columns, width) = ((columns, width), (rows, height)) if turn[0, 1] else ((rows, height), (columns, width))
    return (rows if turn[0].sum() > 0 else height - 1 - rows), (columns if turn[1].sum() > 0 else width - 1 - columns)
