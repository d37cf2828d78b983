"""Writes the table of environments into README.md, from the registry.

python docs/readme_table.py
"""

from __future__ import annotations

import re
from pathlib import Path

import momagames
from momagames.games import BENCHMARK

README = Path(__file__).resolve().parent.parent / "README.md"
PLACE = re.compile(r"(<!-- environments: start[^\n]*-->\n).*?(<!-- environments: end -->)", re.DOTALL)


def environments_table() -> str:
    """Return one row for each id of the benchmark, with its default parameters."""
    rows = ["| id | agents | objectives | dynamics | description |", "|---|---|---|---|---|"]
    for id in BENCHMARK:
        game = momagames.spec(id)
        names = ", ".join(objective.name for objective in game.objectives)
        rows.append(f"| `{id}` | {len(game.agents)} | {names} | {game.dynamics} | {game.title}: {game.summary} |")
    return "\n".join(rows)


def update(text: str) -> str:
    """Return the text of README.md with the present table."""
    return PLACE.sub(lambda match: f"{match.group(1)}{environments_table()}\n{match.group(2)}", text)


if __name__ == "__main__":
    README.write_text(update(README.read_text(encoding="utf-8")), encoding="utf-8")
