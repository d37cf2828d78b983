"""Writes the tables of candidates into the pages of settings, from what the search of settings found.

python docs/settings_table.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import momagames
from momagames.contract.titles import describe_game

HERE = Path(__file__).resolve().parent
PAGES = HERE / "settings.md", HERE / "settings-momaland.md"
SECOND = ("mo-connect4-v0", "mo-ingenious-v0")  # games of the second page
FOUND = HERE.parent / "benchmarks" / "learning" / "tradeoffs.jsonl"
PLACE = re.compile(r"(<!-- candidates: start[^\n]*-->\n).*?(<!-- candidates: end -->)", re.DOTALL)


def format_row(line: dict[str, Any]) -> str:
    """Return the row of a candidate."""
    game = momagames.spec(line["id"], **line["params"])
    cells = [
        describe_game(game),
        ", ".join(line["opponents"]) or "–",
        f"{line['single_share']:.2f}",
        str(line["points"]),
        f"{min(line['losses']):.2f}",
        f"{line['simple_share']:.2f}",
        ", ".join(line["lacking"]) or "**a trade-off**",
    ]
    return f"| {' | '.join(cells)} |"


def candidates_table(page: Path) -> str:
    """Return one row for each candidate of a page, in the order of the games and of their objectives."""
    lines = [json.loads(line) for line in FOUND.read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if (line["id"] in SECOND) == (page == PAGES[1])]
    lines.sort(key=lambda line: (line["id"], line["opponents"], str(line["params"])))
    head = [
        "| setting | opponents | one policy | points | least loss | simple | verdict |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    return "\n".join([*head, *map(format_row, lines)])


def update(page: Path) -> str:
    """Return the text of a page with the present table."""
    table = f"\n{candidates_table(page)}\n\n"
    return PLACE.sub(lambda match: f"{match.group(1)}{table}{match.group(2)}", page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(update(page), encoding="utf-8")
