"""Stored runs are known by the revisions of their methods: rows of another one are not taken for what this version computes."""

import json

import pytest

import momagames
from momagames.baselines.greedy import Greedy
from momagames.benchmark import run_suite
from momagames.benchmark.runs import Versions
from momagames.benchmark.store.merge import merge_results
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidFile
from momagames.reports.data.run_facts import collect_run_facts
from momagames.reports.report import report
from tests.benchmark.tiny import GREEDY, POLICIES, RANDOM, plans, suite
from tests.cli.test_app import momagames_here


def make_suite():
    return suite(plans([RANDOM, GREEDY], seeds=[0]))


@pytest.fixture
def before(tmp_path):
    """Results of the first revision of greedy."""
    assert not run_suite(make_suite(), tmp_path / "before").failed
    return Store(tmp_path / "before")


def test_a_new_revision_makes_other_runs_of_this_method(monkeypatch):
    first = {run.method.name: run for run in make_suite().list_runs()}
    monkeypatch.setattr(Greedy, "revision", 2)
    second = {run.method.name: run for run in make_suite().list_runs()}
    assert first["random"] == second["random"]
    assert first["greedy"].digest != second["greedy"].digest
    assert "revisions" not in first["greedy"].to_dict()  # so that digests of earlier runs stay
    assert second["greedy"].to_dict()["revisions"] == {"greedy": 2}
    players = {
        **POLICIES,
        "opponents": [RANDOM],
        "methods": [RANDOM, GREEDY],
        "head_to_head": {"seats": [], "responses": [GREEDY], "response_budget": 1},
    }
    assert {str(run.revisions) for run in suite(players).list_runs()} == {"{'greedy': 2}"}  # whoever meets it


def test_results_of_another_revision_are_reported_with_a_note_and_run_again(before, monkeypatch):
    assert before.describe_changed_methods(make_suite()) == ""
    old = {run.folder for run in before.finished_runs()}
    monkeypatch.setattr(Greedy, "revision", 2)
    assert before.describe_changed_methods(make_suite()) == "greedy (revision 1, now 2)"
    assert report(before.folder, replays=False).panels[0].missing_runs == {}
    facts = dict(collect_run_facts(before, make_suite()))
    assert facts["not reproducible with this version"] == "greedy (revision 1, now 2)"
    for arguments in (["report"], ["status"], ["status", "--json"], ["compare", str(before.folder)]):
        said = momagames_here("bench", arguments[0], str(before.folder), *arguments[1:]).stderr
        assert f"{before.folder}: not reproducible with this version: greedy (revision 1, now 2)" in said, arguments
    said = momagames_here("bench", "resume", str(before.folder), "--executor", "here").stderr
    assert (
        "momagames: run again, with the old results left in place, as the methods have changed: greedy (revision 1, now 2)"
        in said
    )
    new = {run.folder for run in before.finished_runs()}
    assert len(new - old) == 1
    assert old < new
    assert before.describe_changed_methods(make_suite()) == ""


def test_a_new_version_runs_nothing_again(before, tmp_path, monkeypatch):
    """Rows say which version made them; results of both are merged."""
    monkeypatch.setattr(momagames, "__version__", "9.9")
    more = suite(plans([RANDOM, GREEDY], seeds=[0, 1]))
    results = run_suite(more, before.folder)
    assert [run.seed for run in results.skipped] == [0, 0]
    assert [run.seed for run in results.finished] == [1, 1]
    assert "momagames:" not in momagames_here("bench", "resume", str(before.folder), "--executor", "here").stderr
    made = {(run.seed, row["version"]) for run in before.finished_runs() for row in before.read_rows(run)}
    assert made == {(0, "0.1.0"), (1, "9.9")}
    assert not run_suite(more, tmp_path / "after").failed
    counts = merge_results([before.folder, tmp_path / "after"], tmp_path / "both")
    assert (counts.copied, counts.equal) == (4, 4)


def test_results_of_two_revisions_are_not_merged(before, tmp_path, monkeypatch):
    monkeypatch.setattr(Greedy, "revision", 2)
    assert not run_suite(make_suite(), tmp_path / "after").failed
    assert Store(tmp_path / "after").read_versions() == Versions(before.read_version(), {"greedy": 2})
    with pytest.raises(InvalidFile, match=r"greedy of revision 2; those of .* are of [^:]*: `momagames bench compare`"):
        merge_results([before.folder, tmp_path / "after"], tmp_path / "both")


@pytest.mark.parametrize("revisions", [["greedy"], {"greedy": "2"}])
def test_damaged_revisions(before, revisions):
    path = before.folder / "suite.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "revisions": revisions}))
    with pytest.raises(InvalidFile, match=r"invalid revisions=.*: expected a number for each method"):
        before.read_suite()
