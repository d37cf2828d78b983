"""Writes the table of games into README.md, from the registry.

python docs/readme_table.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from families import list_families, spec_file

import momagames

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PLACE = re.compile(r"(<!-- games: start[^\n]*-->\n).*?(<!-- games: end -->)", re.DOTALL)


def games_table() -> str:
    """Return one row for each family of the benchmark: its ids, and the agents and objectives of the first one by default."""
    rows = ["| game | ids | agents | objectives of the first id |", "|---|---|---|---|"]
    for ids in list_families().values():
        games = [momagames.spec(id) for id in ids]
        agents = sorted({len(game.agents) for game in games})
        first, what = games[0], games[0].summary.partition(";")[0]
        named = f"`{first.id}`" + (f" and {len(ids) - 1} more" if len(ids) > 1 else "")
        objectives = ", ".join(shorten(objective.name for objective in first.objectives))
        page = f"momagames/games/{spec_file(first.id).parent.name}/SPEC.md"  # in the repository, wherever it is installed
        rows.append(f"| [{first.title}]({page}): {what} | {named} | {', '.join(map(str, agents))} | {objectives} |")
    return "\n".join(rows)


def shorten(names: Iterable[str]) -> list[str]:
    """Return names, with "color_1 to color_5" in place of five numbered ones."""
    found = []
    for _, group in groupby(names, key=lambda name: name.rstrip("0123456789")):
        run = list(group)
        found.append(f"{run[0]} to {run[-1]}" if len(run) > 1 else run[0])
    return found


def update(text: str) -> str:
    """Return the text of README.md with the present table."""
    return PLACE.sub(lambda match: f"{match.group(1)}{games_table()}\n{match.group(2)}", text)


if __name__ == "__main__":
    README.write_text(update(README.read_text(encoding="utf-8")), encoding="utf-8")
