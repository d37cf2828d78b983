"""Best-known fronts of policies that belong to suites."""

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

from momagames import fronts
from momagames.benchmark import reference_sets, run_suite
from momagames.benchmark.reference_sets import (
    Setting,
    format_reference_set,
    list_reference_sets,
    load_reference_set,
    read_reference_set,
)
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_files import list_suites, load_suite
from momagames.errors import InvalidFile, UnknownId
from momagames.reports.data.panels import build_panels
from momagames.reports.data.report_data import collect_report_data
from momagames.reports.data.results_comparison import compare_results
from momagames.reports.summary import summarize
from momagames.reports.text.captions import panel_caption
from momagames.reports.text.report_tables import make_overview, make_scores
from momagames.reports.text.terminal_tables import draw_summary
from tests.benchmark.tiny import GREEDY, INDICATORS, POLICIES, RANDOM, suite


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "references").mkdir()
    monkeypatch.setattr(reference_sets, "find_suite_folder", lambda: tmp_path)
    return tmp_path / "references"


def write_set(folder, name, values, **changed):
    experiment = suite({**POLICIES, **changed}).experiments[0]
    setting = Setting.of(experiment, experiment.games[0].make_game())
    content = format_reference_set({setting: (np.array(values), ["greedy"])}, "tests")
    (folder / f"{name}.json").write_text(json.dumps(content))


def test_reports_measure_against_the_front_of_a_set(folder, tmp_path):
    run_suite(suite(POLICIES), tmp_path / "results")
    (whole, *_) = build_panels(Store(tmp_path / "results"), suite(POLICIES))
    union = next(iter(whole.references.values()))
    low = np.array(whole.game.reference_point)
    better = low + 2 * (union.values.max(axis=0, keepdims=True) - low) + 1
    write_set(folder, "better-1", better)
    changed = suite({**POLICIES, "reference_set": "better-1"})
    assert [run.digest for run in changed.list_runs()] == [run.digest for run in suite(POLICIES).list_runs()]
    (panel, *parts) = build_panels(Store(tmp_path / "results"), changed)
    for reference in panel.references.values():
        np.testing.assert_array_equal(reference.values, better)
        assert reference.tag == "best known (better-1)"
    assert "Reference: best known (better-1) front of 1 point, by greedy." in panel_caption(panel)
    before, after = (one.scores["greedy"]["hypervolume_ratio"].interval.value for one in (whole, panel))
    assert 0 < after < before / 4  # four objectives, more than twice the reference in each
    assert {reference.tag for part in parts for reference in part.references.values()} == {"best known"}  # other opponents


def test_a_front_has_its_own_reference_point(folder, tmp_path):
    """0.1 of its range below its worst values, whatever the game declares and the margin is."""
    front = [[1.0, 0.0, 0.5, -1.0], [-1.0, 0.5, 0.5, 0.0]]
    write_set(folder, "two-1", front)
    changed = suite({**POLICIES, "reference_set": "two-1", "ideal_point": "front"})
    run_suite(changed, tmp_path / "results")
    (panel, *_) = build_panels(Store(tmp_path / "results"), changed)
    reference = panel.references[0]
    assert reference.ideal.tolist() == [1.0, 0.5, 1.5, 0.0]  # an objective without a range has one of 1
    assert reference.ref == pytest.approx([-1.2, -0.05, 0.4, -1.1])
    first, second = 2.2 * 0.05 * 0.1 * 0.1, 0.2 * 0.55 * 0.1 * 1.1
    assert reference.volume.value == pytest.approx(first + second - 0.2 * 0.05 * 0.1 * 0.1)
    assert panel.scores["random"]["hypervolume"].interval.value == 0  # random play wins and captures too little
    assert panel.scores["greedy"]["hypervolume"].interval.value > 0
    before = {**POLICIES, "reference_set": "two-1"}
    run_suite(suite(before), tmp_path / "declared")
    (other, *_) = build_panels(Store(tmp_path / "declared"), suite(before))
    for name, scores in panel.scores.items():
        assert scores["declared_hypervolume"] == other.scores[name]["normalized_hypervolume"]
    assert not any("declared_hypervolume" in scores for scores in other.scores.values())


def test_scores_of_fronts_come_first_and_those_of_declared_bounds_last(folder, tmp_path):
    """Whatever the suite lists, with controllability beside the hypervolume ratio, for methods with policies for weights."""
    write_set(folder, "two-1", [[1.0, 0.0, 0.5, -1.0], [-1.0, 0.5, 0.5, 0.0]])
    experiment = {**POLICIES, "reference_set": "two-1", "ideal_point": "front"}
    indicators = {**INDICATORS, "names": ["cardinality", "normalized_hypervolume", "delivered_utility"]}
    listed = load_suite({"name": "tiny", "description": "Tiny.", "experiments": [experiment], "indicators": indicators})
    run_suite(listed, tmp_path / "results")
    data = collect_report_data(Store(tmp_path / "results"), listed)
    site, printed = make_scores(data.panels[0], 1, [*data.panels[0].indicators]), make_scores(data.panels[0], 1)
    beside = ["HV ratio ↑", "controllability ↑"]
    heads = [column.heading for column in site.columns][2:-1]
    assert heads == [*beside, "points", "norm. HV ↑", "delivered utility ↑", "declared HV ↑"]
    assert [column.heading for column in printed.columns][2:-1] == [*beside, "points", "norm. HV ↑", "declared HV ↑"]
    assert {row[0]: row[3] is None for row in site.rows} == {"random": True, "greedy": False}
    overview = make_overview(data.overview, data.settings)
    assert [column.heading for column in overview.columns] == ["game", "random", "greedy", "greedy: controllability"]
    (line,) = overview.rows
    assert line[3].at == data.panels[0].scores["greedy"]["controllability"].interval
    (row,) = summarize(data.panels, data.overview)
    screen = Console(width=120, file=io.StringIO())
    screen.print(draw_summary([row]))
    assert f"greedy {row.best[0][1]:.3f} {line[3].at.value:.3f}" in screen.file.getvalue()
    assert f"random {row.others[0][1]:.3f} –" in screen.file.getvalue()


def test_compared_results_are_measured_against_the_front_of_the_set(folder, tmp_path):
    """Without a set the weaker results would be measured against the union of both."""
    front = [[1.0, 1.0, 1.0, 0.0]]
    write_set(folder, "perfect-1", front)
    with_set = {**POLICIES, "reference_set": "perfect-1"}
    for name, methods in (("a", [RANDOM, GREEDY]), ("b", [RANDOM])):
        run_suite(suite({**with_set, "methods": methods}), tmp_path / name)
    (found,) = compare_results([tmp_path / "b", tmp_path / "a"])
    assert (found.method, found.reference) == ("random", "best known (perfect-1)")
    (alone, *_) = build_panels(Store(tmp_path / "b"), suite({**with_set, "methods": [RANDOM]}))
    expected = alone.scores["random"]["hypervolume_ratio"].interval
    assert alone.references[0].values.tolist() == front
    assert [one["hypervolume_ratio"].interval for one in found.scores] == [expected, expected]
    run_suite(suite({**POLICIES, "methods": [RANDOM]}), tmp_path / "c")
    (without,) = compare_results([tmp_path / "c", tmp_path / "c"])
    assert without.reference == "best known"
    assert without.scores[0]["hypervolume_ratio"].interval.value > expected.value


def test_a_set_must_have_the_setting(folder):
    write_set(folder, "short-1", [[1.0, 1.0, 1.0, 1.0]], report_episodes=6)
    with pytest.raises(InvalidFile, match="reference_set: invalid reference_set='short-1': expected a set with a front"):
        suite({**POLICIES, "reference_set": "short-1"})
    with pytest.raises(InvalidFile, match="did you mean 'short-1'"):
        suite({**POLICIES, "reference_set": "short"})


@pytest.mark.parametrize("content", [{"schema": 1}, {"schema": 2, "fronts": []}, {"schema": 1, "fronts": [{"game": "x"}]}])
def test_invalid_files(folder, content):
    (folder / "bad.json").write_text(json.dumps(content))
    with pytest.raises(InvalidFile, match=r"bad\.json"):
        read_reference_set("bad")
    with pytest.raises(UnknownId, match="one"):
        read_reference_set("one")


@pytest.mark.parametrize(("suite_name", "experiment"), [("beach", "team"), ("gem_mining", "expected gems")])
def test_references_of_teams_are_proven_fronts(suite_name, experiment):
    (team,) = (one for one in load_suite(suite_name).experiments if one.name == experiment)
    for choice in team.games:
        proven = fronts.returns_front(choice, 0, fronts.SearchLimits(10**8, 1 << 30)).values
        known = load_reference_set(team, choice.make_game())
        assert np.array_equal(known.values, proven)
        assert known.tag == f"exact ({team.reference_set})"


def test_packaged_sets_belong_to_suites():
    used = {name for path in list_suites().values() for name in re.findall(r"^ *reference_set: (\S+)$", path.read_text(), re.M)}
    assert set(list_reference_sets()) <= used
