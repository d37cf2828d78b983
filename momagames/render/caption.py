"""Caption of a picture: the status of the game, and the return of each agent in each objective."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, State
from momagames.render import canvas

SIZE = 13  # pixels of the letters
ROW = 19  # pixels of a line
GAP = 14  # pixels between columns
BANNER = 25  # pixels of the result
MIN_WIDTH = 300  # pixels of a caption
MOST_AGENTS = 40  # that have rows of their own
SUMMARIES: dict[str, Callable[..., Any]] = {"lowest": np.min, "mean": np.mean, "highest": np.max}


def describe_status(game: Game, state: State) -> str:
    """Return the ply and the agent to move, or the end: "ply 12, player_1 to move", "over after 31 plies: player_0 won"."""
    plies = int(state["ply"])
    if state["over"]:
        undecided = state["truncated"] == 1  # 2: decided in the step that reached the limit
        result = game.view.result(state)
        return (
            f"{'cut off' if undecided else 'over'} after {plies} {'ply' if plies == 1 else 'plies'}{result and f': {result}'}"
        )
    mover = game.agents[int(state["to_move"])] if game.sequential else "all agents"
    return f"ply {plies}, {mover} to move"


def format_number(value: float) -> str:
    """Format a return: whole numbers as such, others with three decimals, NaN (hidden) as ""."""
    if math.isnan(value):
        return ""
    rounded = round(float(value), 3) + 0.0  # no negative zero
    return f"{rounded:.0f}" if rounded == int(rounded) else f"{rounded:.3f}"


def visible_returns(game: Game, returns: NDArray[np.float64], viewer: str | None) -> NDArray[np.float64]:
    """Return the returns visible to an agent: its own, with NaN for other agents; all returns for None."""
    if viewer is None:
        return returns
    known = np.full_like(returns, np.nan)
    known[game.agents.index(viewer)] = returns[game.agents.index(viewer)]
    return known


def longest_text(game: Game, index: int) -> str:
    """Return the longest text that the return of an objective can have."""
    objective = game.objectives[index]
    bounds = [math.floor(b) if b == int(b) else b for b in (objective.return_low, objective.return_high)]
    whole = max((f"{b:.0f}" for b in bounds), key=len)
    return whole if objective.return_high >= 1000 else whole + ".000"


def list_rows(game: Game) -> list[str]:
    """Return the names of the rows of a caption: the agents, or the summaries of more than MOST_AGENTS."""
    return list(game.agents if len(game.agents) <= MOST_AGENTS else SUMMARIES)


def summarize(game: Game, returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of the rows of a caption, float64[rows, K], from the returns float64[A, K]; NaN: hidden."""
    if len(game.agents) <= MOST_AGENTS:
        return returns
    known = returns[~np.isnan(returns).any(axis=1)]
    return np.array([summary(known, axis=0) for summary in SUMMARIES.values()])


def make_table(game: Game, returns: NDArray[np.float64]) -> list[list[str]]:
    """Return rows of text: the names of the objectives, then each agent with its returns, or summaries of them."""
    head = ["", *(objective.name for objective in game.objectives)]
    rows = zip(list_rows(game), summarize(game, returns), strict=True)
    return [head, *([name, *map(format_number, row)] for name, row in rows)]


def format_caption(game: Game, state: State, returns: NDArray[np.float64], width: int = 100) -> str:
    """Return the caption as text, in blocks of columns of at most `width` characters."""
    rows = make_table(game, returns)
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = [describe_status(game, state)]
    for block in split_columns(widths[0], [w + 2 for w in widths[1:]], width):
        for row in rows:
            lines.append((row[0].ljust(widths[0]) + "".join(f"  {row[1 + k]:>{widths[1 + k]}}" for k in block)).rstrip())
    return "\n".join(lines)


def split_columns(first: int, others: list[int], width: int) -> list[list[int]]:
    """Return blocks of columns that fit beside the first column; at least one in each."""
    found: list[list[int]] = []
    room = -1
    for k, column_width in enumerate(others):
        if room < column_width:
            found.append([])
            room = width - first
        found[-1].append(k)
        room -= column_width
    return found


class Caption:
    """Caption of a game as a picture; its constant parts are drawn once.

    Rows are agents, or summaries of many agents, and columns objectives, or the other way round where that takes fewer lines;
    columns that do not fit beside each other go into blocks. The size depends on the game only, so that all pictures of a game
    have the same.
    """

    def __init__(self, game: Game, width: int) -> None:
        self.game = game
        objectives = [objective.name for objective in game.objectives]
        longest = [longest_text(game, k) for k in range(len(objectives))]
        rows = list_rows(game)
        upright = _Columns(rows, objectives, [[sample] for sample in longest], width)
        turned = _Columns(objectives, rows, [longest] * len(rows), width)
        self.turned = turned.lines < upright.lines
        columns = turned if self.turned else upright
        self.places = [[(0.0, 0.0)] * len(columns.names) for _ in columns.rows]
        self.sheet = canvas.blank((1 + columns.lines) * ROW + GAP // 2 * len(columns.blocks), max(MIN_WIDTH, columns.width))
        y = ROW * 1.5
        for block in columns.blocks:
            y += GAP // 2
            for i, name in enumerate(columns.rows):
                canvas.write(self.sheet, 0, y + (1 + i) * ROW, name, SIZE, canvas.FAINT)
            x = columns.first
            for k in block:
                x += columns.widths[k]
                canvas.write(self.sheet, x, y, columns.names[k], SIZE, canvas.FAINT, "right")
                for i in range(len(columns.rows)):
                    self.places[i][k] = (x, y + (1 + i) * ROW)
            y += (1 + len(columns.rows)) * ROW

    def draw(self, state: State, returns: NDArray[np.float64]) -> canvas.Sheet:
        """Return the caption of a position with the returns float64[A, K], as uint8[H, W, 3]."""
        sheet = self.sheet.copy()
        status = describe_status(self.game, state)
        if state["over"]:
            width = sheet.shape[1]
            canvas.fill(sheet, 0, 0, BANNER, width, canvas.shade(canvas.INK))
            size = next((size for size in (SIZE + 3, SIZE) if canvas.text_width(status, size) <= width), SIZE - 2)
            canvas.write(sheet, width / 2, BANNER / 2, status, size, canvas.PAPER, "center")
        else:
            canvas.write(sheet, 0, ROW / 2, status, SIZE + 1)
        values = summarize(self.game, returns)
        for places, row in zip(self.places, values.T if self.turned else values, strict=True):
            for (x, y), value in zip(places, row, strict=True):
                canvas.write(sheet, x, y, format_number(value), SIZE, canvas.INK, "right")
        return sheet


class _Columns:
    """Widths of the columns of a table, and their blocks."""

    def __init__(self, rows: list[str], names: list[str], samples: list[list[str]], width: int) -> None:
        self.rows, self.names = rows, names
        self.first = max(canvas.text_width(name, SIZE) for name in rows)
        self.widths = [
            GAP + max(canvas.text_width(text, SIZE) for text in [name, *sample])
            for name, sample in zip(names, samples, strict=True)
        ]
        self.blocks = split_columns(self.first, self.widths, width)
        self.lines = len(self.blocks) * (1 + len(rows))
        self.width = max(self.first + sum(self.widths[k] for k in block) for block in self.blocks)
