"""The short result that a suite ends with."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from momagames.benchmark.runner import run_suite
from momagames.benchmark.store.store import Store
from momagames.cli.app import app
from momagames.reports.report import PAGE, report
from momagames.reports.summary import SUMMARY, read_summary, summarize
from tests.benchmark.tiny import whole
from tests.cli.test_app import momagames_here


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("summary") / "results"
    assert not run_suite(whole(), folder).failed
    return report(folder)


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made.page.parent, tmp_path / "copy")


def resume(folder, *options):
    return CliRunner().invoke(app, ["bench", "resume", str(folder), *options], env={"COLUMNS": "80"})


def test_the_stored_summary_is_that_of_the_report(made, folder):
    rows = read_summary(Store(folder))
    assert rows == summarize(made.panels, made.overview)
    for row, overview in zip(rows, made.overview, strict=True):
        assert {name for name, _ in row.best} == overview.best
        assert {name for name, _ in (*row.best, *row.others)} == set(overview.scores)
        assert min(value for _, value in row.best) > max((value for _, value in row.others), default=-1)


def test_a_finished_suite_ends_with_a_few_lines(folder):
    done = resume(folder)
    lines = done.output.strip().splitlines()
    assert done.exit_code == 0
    assert len(lines) <= 15
    assert max(map(len, lines[1:-3])) <= 80  # paths are not wrapped
    assert "greedy" in done.output
    assert lines[-3:] == [
        f"all tables: momagames bench report {folder} --every",
        f"in a browser: momagames bench report {folder} --open",
        f"page: {folder / PAGE}",
    ]
    assert len(resume(folder, "--every").output.splitlines()) > 40


def test_a_finished_suite_is_not_compared_again(folder, monkeypatch):
    page = (folder / PAGE).stat().st_mtime_ns
    first = resume(folder).output
    assert (folder / PAGE).stat().st_mtime_ns == page
    assert resume(folder).output == first
    (folder / PAGE).unlink()
    assert resume(folder).output == first
    assert (folder / PAGE).is_file()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"key": 1}', None])
def test_another_or_a_damaged_summary_is_not_used(folder, content):
    path = folder / SUMMARY
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "rows": [{"title": 1}]}) if content is None else content)
    assert read_summary(Store(folder)) is None
    path.write_text(json.dumps(data))
    assert read_summary(Store(folder))
    shutil.rmtree(Store(folder).run_directories()[0])
    assert read_summary(Store(folder)) is None


@pytest.mark.long
def test_tables_are_printed_if_the_page_cannot_be_written(folder):
    (folder / PAGE).unlink()
    (folder / PAGE).mkdir()  # a directory cannot be replaced by a file
    (folder / PAGE / "x").touch()
    assert report(folder).panels
    done = resume(folder)
    assert "greedy" in done.output
    assert PAGE in str(done.exception)
    assert "cannot be written" in str(done.exception)
    printed = momagames_here("bench", "report", "copy", cwd=folder.parent)
    assert printed.returncode == 2
    assert "Overview" in printed.stdout
    assert printed.stderr.splitlines() == [f"momagames: copy/{PAGE}: cannot be written: Is a directory"]
