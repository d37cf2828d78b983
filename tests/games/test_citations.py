"""Every section that the code of a game cites is in its SPEC.md."""

import re
from pathlib import Path

import pytest

import momagames

FOLDERS = sorted(file.parent for file in (Path(momagames.__file__).parent / "games").glob("*/SPEC.md"))


def sections(folder):
    """The numbers of a specification: '5' from '## 5 Rewards', '5.1' from '**5.1 win.**'."""
    text = (folder / "SPEC.md").read_text(encoding="utf-8")
    return re.findall(r"^## (\d+) ", text, re.MULTILINE) + re.findall(r"^\*\*(\d+\.\d+)\b", text, re.MULTILINE)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_cited_sections_exist(folder):
    there = set(sections(folder))
    for file in folder.rglob("*.py"):
        cited = set(re.findall(r"§(\d+(?:\.\d+)?)", file.read_text(encoding="utf-8")))
        assert cited <= there, file.name
    inside = re.findall(r"§(\d+(?:\.\d+)?)", (folder / "SPEC.md").read_text(encoding="utf-8"))
    assert set(inside) <= there
