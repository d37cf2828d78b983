"""Pages of the documentation and their examples, which tests run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(value: object) -> str:
    return value.relative_to(ROOT).as_posix() if isinstance(value, Path) else str(value)


def examples(page: Path) -> list[tuple[str, str]]:
    """The ```python blocks of a page, each with a name that has its line."""
    text = page.read_text()
    blocks = [(m.group(2), text[: m.start()].count("\n") + 2) for m in FENCE.finditer(text) if m.group(1) == "python"]
    return [(f"<{name_of(page)} line {line}>", "\n" * (line - 1) + code) for code, line in blocks]


def run_examples(page: Path) -> None:
    """Run all blocks of a page one after the other, in one namespace."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for where, code in examples(page):
        exec(compile(code, where, "exec", dont_inherit=True), namespace)
