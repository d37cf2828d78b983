"""Writes the table of candidates into settings.md, from what the search of settings found.

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
PAGE, FOUND = HERE / "settings.md", HERE.parent / "benchmarks" / "learning" / "tradeoffs.jsonl"
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


def candidates_table() -> str:
    """Return one row for each candidate, in the order of the games and of their objectives."""
    lines = [json.loads(line) for line in FOUND.read_text(encoding="utf-8").splitlines()]
    lines.sort(key=lambda line: (line["id"], line["opponents"], str(line["params"])))
    head = [
        "| setting | opponents | one policy | points | least loss | simple | verdict |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    return "\n".join([*head, *map(format_row, lines)])


def update(text: str) -> str:
    """Return the text of settings.md with the present table."""
    return PLACE.sub(lambda match: f"{match.group(1)}\n{candidates_table()}\n\n{match.group(2)}", text)


if __name__ == "__main__":
    PAGE.write_text(update(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
