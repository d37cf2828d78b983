"""Pages of the leaderboard, and the entries of the repository: each passes the check, and the pages are made from them."""

import re
from pathlib import Path

import pytest

import momagames
from momagames.benchmark import load_suite
from momagames.benchmark.store.archive_file import ArchivedStore
from momagames.errors import InvalidFile, InvalidParameter
from momagames.leaderboard import check_submission, make_tables
from momagames.leaderboard.package_rows import read_package_rows
from momagames.leaderboard.pages import MARK, escape, make_pages, write_pages
from momagames.reports.data.panels import build_panels
from tests.leaderboard.submissions import write_plans, write_policies

ROOT = Path(__file__).resolve().parents[2]
FRONTS = ROOT / "benchmarks" / "fronts"
ENTRIES, PAGES = ROOT / "benchmarks" / "leaderboard" / "entries", ROOT / "docs" / "leaderboard"


@pytest.mark.compiled
@pytest.mark.long
def test_pages_are_made_from_the_entries():
    entries = [check_submission(folder) for folder in sorted(ENTRIES.iterdir())]
    assert len(entries) > 20
    assert len({entry.setting.game.title for entry in entries}) == 5  # of every family of games
    pages = {path.name: path.read_text(encoding="utf-8") for path in PAGES.iterdir()}
    own = [entry for name in ("policies", "plans") for entry in read_package_rows(FRONTS / f"{name}.npz.xz")]
    made = make_pages([*entries, *own])
    assert pages == made, "run momagames leaderboard build as docs/submissions.md says"
    settings = [(one.name, choice) for one in load_suite("policies").experiments for choice in one.games]
    assert len(settings) == made["policies.md"].count("\n## ")  # every official setting has a table


@pytest.mark.long
def test_rows_of_the_package_are_those_of_the_report():
    """Also beside a submission, which is scored by the same reference set."""
    rows = read_package_rows(FRONTS / "policies.npz.xz")
    store = ArchivedStore(FRONTS / "policies.npz.xz")
    panels = {panel.full_heading: panel for panel in build_panels(store, store.read_suite(), primary_only=True)}
    tables = make_tables(rows)
    assert {table.setting.heading for table in tables} == set(panels)
    for table in tables:
        scores = panels[table.setting.heading].scores
        assert {row.entry.metadata.method for row in table.rows} == set(scores)
        for row in table.rows:
            assert row.scores["hypervolume_ratio"] == scores[row.entry.metadata.method]["hypervolume_ratio"]


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
    assert rows[0].startswith("| method | runs | policies per run | HV ratio ↑ \\* | hypervolume ↑ | norm. HV ↑ |")
    assert rows[1].startswith("| a\\_b\\*\\[c\\](d)\\|e \\<img src=x\\> † | 1 | 1 | **1.000** | 1.623 |")
    assert rows[2].startswith("| random | 1 | 1 | 0.150 | 0.2431 |")
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
