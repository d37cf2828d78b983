"""The records of indicators, and what is written from them."""

from pathlib import Path

from momagames.analysis.named_indicators import INDICATORS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmark.md"


def test_the_table_of_the_page_is_that_of_the_records():
    directions = {True: " up ", False: " down ", None: " "}
    rows = [f"| `{name}` |{directions[one.more_is_better]}| {one.meaning} |" for name, one in INDICATORS.items()]
    assert "\n".join(rows) in PAGE.read_text(encoding="utf-8")
