"""The records of indicators, and what is written from them."""

import re
from pathlib import Path

from momagames.analysis.named_indicators import INDICATORS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_tables_of_the_pages_are_those_of_the_records():
    directions = {True: " up ", False: " down ", None: " "}
    rows = [f"| `{name}` |{directions[one.more_is_better]}| {one.meaning} |" for name, one in INDICATORS.items()]
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("metrics.md", "policy-metrics.md"))
    assert [row for row in re.findall(r"^\| `\w+` \| (?:\w+ )?\| [^|]+ \|", pages, re.MULTILINE) if row in rows] == rows
