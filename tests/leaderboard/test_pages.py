"""Pages of the leaderboard, and the entries of the repository: each passes the check, and the pages are made from them."""

import re
from pathlib import Path

import pytest

import momagames
from momagames.errors import InvalidFile, InvalidParameter
from momagames.leaderboard import check_submission
from momagames.leaderboard.pages import MARK, escape, make_pages, write_pages
from tests.leaderboard.submissions import write_plans, write_policies

ROOT = Path(__file__).resolve().parents[2]
ENTRIES, PAGES = ROOT / "benchmarks" / "leaderboard" / "entries", ROOT / "docs" / "leaderboard"


@pytest.mark.compiled
@pytest.mark.long
def test_pages_are_made_from_the_entries():
    entries = [check_submission(folder) for folder in sorted(ENTRIES.iterdir())]
    assert len(entries) > 20
    assert len({entry.setting.game.title for entry in entries}) == 5  # of every family of games
    pages = {path.name: path.read_text(encoding="utf-8") for path in PAGES.iterdir()}
    assert pages == make_pages(entries), "run momagames leaderboard build benchmarks/leaderboard/entries/*"


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("entries")
    return [
        check_submission(one)
        for one in (
            write_policies(folder / "a", {"policy": "random"}, method="random", budget=0),
            write_policies(folder / "b", {"policy": "greedy"}, method="a_b*[c](d)|e <img src=x>", hardware="`2` cores"),
            write_plans(folder / "c", method="plans", paper="https://example.org/paper?id=1"),
        )
    ]


def test_a_table_for_each_setting_with_the_best_entry_first(entries):
    pages = make_pages(entries)
    assert set(pages) == {"index.md", "ten_seconds.md"}
    assert all(page.startswith(MARK) for page in pages.values())
    page = pages["ten_seconds.md"]
    assert re.findall("^## .*, (.+)", page, re.MULTILINE) == ["tiny board", "tiny opponents"]
    rows = [line for line in page.partition(", tiny opponents\n")[2].splitlines() if line.startswith("| ")]
    assert rows[0].startswith("| method | policies per run | HV ratio ↑ \\* | hypervolume ↑ | norm. HV ↑ |")
    assert rows[1].startswith("| a\\_b\\*\\[c\\](d)\\|e \\<img src=x\\> † | 1 | **")  # 2,000 steps; the setting has none
    assert rows[2].startswith("| random | 1 | 0.2431 |")
    assert "| [code](https://example.org/code) | 2,000 | \\`2\\` cores | 2026-01-31 | b |" in rows[4]
    assert "[paper](https://example.org/paper?id=1)" in page
    assert "Budget of the setting: 2,000 environment steps" in page
    assert "[ten_seconds](ten_seconds.md)" in pages["index.md"]
    assert f"checked with momagames {momagames.__version__}" in " ".join(pages["index.md"].split())


def test_equal_entries_give_equal_pages(entries):
    assert make_pages(entries) == make_pages(entries[::-1])


def test_an_entry_is_listed_once(entries):
    with pytest.raises(InvalidParameter, match=r"entry='a': expected distinct names"):
        make_pages([*entries, entries[0]])


def test_pages_of_others_stay(entries, tmp_path):
    pages = make_pages(entries)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "earlier.md").write_text(f"{MARK}\n\n# Leaderboard")
    write_pages(pages, tmp_path / "pages")
    assert {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "pages").iterdir()} == pages
    (tmp_path / "pages" / "mine.md").write_text("# Mine")
    with pytest.raises(InvalidFile, match=r"mine\.md: not a page of the leaderboard"):
        write_pages({}, tmp_path / "pages")
    assert len(list((tmp_path / "pages").iterdir())) == 3
    with pytest.raises(InvalidFile, match="mine"):
        write_pages(pages, tmp_path / "pages" / "mine.md")


def test_texts_of_submitters_have_no_markup():
    assert escape(r"a_b <x> [y](z) `c` \d #1 *") == r"a\_b \<x\> \[y\](z) \`c\` \\d \#1 \*"
