"""MO-Pommerman as text."""

from __future__ import annotations

from typing import Any

from momagames.contract import Line, State
from momagames.games.pommerman.rules.state import (
    AGENT,
    BOMB,
    EXTRA_BOMB,
    FLAMES,
    FOG,
    KICK,
    PASSAGE,
    RANGE,
    RIGID,
    WOOD,
)
from momagames.games.pommerman.view import tiles
from momagames.games.pommerman.view.scene import (
    AgentView,
    Scene,
    build_scene,
    equipment_texts,
    message_text,
    progress_text,
    status_text,
)
from momagames.games.pommerman.view.tiles import Bomb
from momagames.render import shapes

ROLLS = "o^v<>"  # a bomb at rest, and by the direction in which it rolls
SYMBOLS = {
    PASSAGE: (" .", "dim"),
    RIGID: ("##", ""),
    WOOD: ("%%", "#b07a3a"),
    FOG: ("::", "dim"),
    EXTRA_BOMB: ("+b", "bold green"),
    RANGE: ("+r", "bold green"),
    KICK: ("+k", "bold green"),
}


def format_text(state: State, last: Any = None, viewer: str | None = None, blasts: bool = False, cell: int = -1) -> list[Line]:
    """Return a position as text: three characters for each cell, and a line for each agent.

    For the options see `drawing.draw_picture`. Cells in the range of a bomb begin with "!".
    """
    visible = build_scene(state, last, viewer, blasts, cell)
    size = len(visible.board)
    lines: list[Line] = [[("   " + "".join(f"{x:>3}" for x in range(size)), "dim")]]
    for y in range(size):
        line = [(f"{y:>3}", "dim")]
        for x in range(size):
            text, style = symbol(visible, y, x)
            line += [("!", "bold magenta") if visible.blast[y, x] else (" ", ""), (text, style)]
        lines.append(line)
    lines += [[], [(f"{progress_text(state)}  {status_text(state, viewer)}".rstrip(), "dim")]]
    return lines + [agent_line(agent, visible.teams) for agent in visible.agents]


def symbol(visible: Scene, y: int, x: int) -> tuple[str, str]:
    """Return two characters for a cell, and their style: @0 is agent 0, 09 the same agent on a bomb with nine steps left."""
    code, bomb = int(visible.board[y, x]), visible.bombs.get((y, x))
    if code >= AGENT:
        seat = code - AGENT
        return f"@{seat}" if bomb is None else f"{seat}{bomb_digit(bomb)}", agent_style(seat, visible.teams)
    if code == BOMB and bomb is not None:
        return f"{ROLLS[bomb.direction]}{bomb_digit(bomb)}", "bold red" if bomb.life <= tiles.LAST_STEPS else "bold"
    if code == FLAMES:
        return f"*{1 + int(visible.life[y, x])}", "bold #e2580f"
    return SYMBOLS[code]


def bomb_digit(bomb: Bomb) -> str:
    """Return the steps that a bomb has left; "+" for ten, which only loaded positions have."""
    return str(bomb.life) if bomb.life < 10 else "+"


def agent_style(seat: int, teams: bool) -> str:
    """Return the text style of an agent."""
    index = tiles.seat_color(seat, teams)
    ink = "#ffffff" if shapes.is_dark(tiles.SEATS[index]) else "#000000"
    return f"bold {ink} on {tiles.SEAT_CODES[index]}"


def agent_line(agent: AgentView, teams: bool) -> Line:
    """Return the status line of an agent."""
    texts = [agent.action or ""] if agent.alive else ["dead"]
    if agent.alive and agent.ammo is not None:
        ammo, strength, kick = equipment_texts(agent)
        texts += [f"ammo {ammo}", f"strength {strength}", f"kick {kick}"]
    if agent.alive and agent.message is not None:
        texts.append(message_text(agent.message))
    mark = (f"@{agent.seat}", agent_style(agent.seat, teams) if agent.alive else "dim")
    return [
        mark,
        (f" agent_{agent.seat}  {', '.join(fact for fact in texts if fact)}".rstrip(), "" if agent.alive else "dim"),
    ]
