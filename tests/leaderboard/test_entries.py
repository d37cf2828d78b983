"""Rows of checked submissions are those of the suite's own report, bit for bit."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from momagames import fronts
from momagames.analysis.indicators import hypervolume_ratio
from momagames.analysis.named_indicators import WEIGHT_INDICATORS
from momagames.baselines import batch_policy
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.benchmark import list_suites, load_suite, run_suite
from momagames.benchmark.evaluate import evaluate_policies, make_episode_seeds
from momagames.benchmark.reference_sets import find_reference
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidParameter
from momagames.leaderboard import check_submission, make_tables
from momagames.leaderboard.entries import Entry
from momagames.leaderboard.from_results import make_submissions
from momagames.leaderboard.metadata import SettingChoice
from momagames.leaderboard.pages import make_pages
from momagames.leaderboard.policies import change_seed
from momagames.leaderboard.settings import find_setting
from momagames.reports.data.panels import build_panels
from momagames.reports.data.points import Points
from momagames.reports.data.scores import make_reference
from tests.leaderboard.submissions import write_code, write_plans, write_policies

SEARCHES = ("random", "greedy", "beam")


@pytest.fixture(scope="module")
def suite():
    """The suite ten_seconds without exact search, whose front would be the reference of the others."""
    whole = load_suite("ten_seconds")
    plans, policies = whole.experiments
    return whole.model_copy(update={"experiments": (plans.model_copy(update={"methods": plans.methods[:3]}), policies)})


@pytest.fixture(scope="module")
def results(suite, tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaderboard") / "results"
    assert not run_suite(suite, folder).failed
    return folder


@pytest.fixture(scope="module")
def panels(suite, results):
    return [panel for panel in build_panels(Store(results), suite) if panel.primary]


def list_scores(table):
    return {row.entry.metadata.method: row.scores for row in table.rows}


def list_listed_scores(panel):
    """Return the scores of each method that the suite names but for those of policies for weights, which entries lack."""
    names = [name for name in panel.settings.names if name not in WEIGHT_INDICATORS]
    return {method: {name: scores[name] for name in names} for method, scores in panel.scores.items()}


def test_rows_of_submissions_from_results_are_those_of_the_suite(results, panels, tmp_path):
    made = [folder for name in SEARCHES for folder in make_submissions(results, "ten_seconds", name, tmp_path)]
    table, played = make_tables(map(check_submission, made))
    assert list_scores(table) == list_listed_scores(panels[0])
    assert list_scores(played) == list_listed_scores(panels[1])
    for row in table.rows:
        seeds = panels[0].points[row.entry.metadata.method]
        assert row.entry.counts == {seed: len(points.values) for seed, points in seeds.items()}
    volumes = [row.scores["hypervolume"].interval.value for row in table.rows]
    assert volumes == sorted(volumes, reverse=True)
    assert {"hypervolume", "epsilon"} <= set(table.provisional)  # there is no packaged front of this board
    assert "cardinality" not in table.provisional


@pytest.fixture(scope="module")
def short_searches(tmp_path_factory):
    """The suite `quick` with one of its boards and a small budget, and its results: methods and seeds differ."""
    whole = load_suite("quick")
    boards = whole.experiments[0]
    update = {"games": boards.games[1:2], "methods": boards.methods[:3], "budget": 300}
    suite = whole.model_copy(update={"experiments": (boards.model_copy(update=update),)})
    folder = tmp_path_factory.mktemp("short") / "results"
    assert not run_suite(suite, folder).failed
    return suite, Store(folder)


@pytest.mark.parametrize("proven", [True, False])
def test_rows_of_different_plans_are_those_of_the_suite(short_searches, tmp_path, monkeypatch, proven):
    suite, store = short_searches
    if not proven:
        monkeypatch.setattr(fronts, "find_packaged_front", lambda canonical, seed: None)
    (panel,) = build_panels(store, suite)
    entries = []
    for name in SEARCHES:
        own = [run for run in store.finished_runs() if run.method.name == name]
        runs = {str(run.seed): [{"actions": row["actions"]} for row in store.read_rows(run)] for run in own}
        setting = {"suite": "quick", "experiment": "small boards", "game": own[0].game.model_dump(mode="json")}
        entries.append(check_submission(write_plans(tmp_path / name, runs, method=name, setting=setting)))
    (table,) = make_tables(entries)
    assert list_scores(table) == list_listed_scores(panel)
    assert len({row.scores["hypervolume"].interval for row in table.rows}) == 3
    assert bool(table.provisional) != proven


def test_rows_of_policies_are_those_of_the_suite(panels, tmp_path):
    weights = simplex_lattice(4, 1).tolist()
    folders = [
        write_policies(tmp_path / "random", {"policy": "random"}, method="random"),
        write_policies(
            tmp_path / "greedy", *({"policy": "greedy", "options": {"weights": row}} for row in weights), method="greedy"
        ),
    ]
    (table,) = make_tables(map(check_submission, folders))
    assert list_scores(table) == list_listed_scores(panels[1])
    assert [row.entry.counts for row in table.rows] == [{0: 4}, {0: 1}]  # the best first
    assert table.provisional == ("hypervolume_ratio", "igd_plus", "epsilon", "maximum_utility_loss")


REFERENCED = [
    (suite, experiment, index)
    for suite in list_suites()
    for experiment in load_suite(suite).experiments
    if getattr(experiment, "reference_set", None)
    for index in range(len(experiment.games))
]


@pytest.mark.parametrize(("suite", "experiment", "index"), REFERENCED, ids=lambda one: str(getattr(one, "name", one)))
def test_settings_with_a_reference_set_are_scored_by_it(suite, experiment, index):
    """As reports score them: an entry alone, that is one point of the front, is not the whole front."""
    choice = experiment.games[index]
    setting = find_setting(SettingChoice(suite=suite, experiment=experiment.name, game=choice), "test")
    front = find_reference(experiment.reference_set, experiment, setting.game).values
    points = Points(front[:1], ("policy",), np.zeros_like(front[:1]))
    metadata = SimpleNamespace(method="one point")
    entry = Entry("one", metadata, setting, {0: points}, {0: 1}, {}, "", "")
    (table,) = make_tables([entry])
    known = make_reference(front, "", setting.game, experiment.ideal_point, setting.indicators.margin)
    ratio = hypervolume_ratio(front[:1], known.ref, front).value
    assert table.rows[0].scores["hypervolume_ratio"].values == {0: pytest.approx(ratio)}
    assert ratio < 0.99
    assert table.provisional == ()


def test_an_entry_alone_has_the_scores_that_are_not_provisional(tmp_path):
    entries = [
        check_submission(write_policies(tmp_path / name, {"policy": name}, method=name)) for name in ("random", "greedy")
    ]
    (both,), (alone,) = make_tables(entries), make_tables(entries[:1])
    (row,) = alone.rows
    other = next(one for one in both.rows if one.entry is row.entry)
    assert {name for name in row.scores if row.scores[name] != other.scores[name]} <= set(alone.provisional)


@pytest.mark.long
def test_code_plays_as_it_does_in_this_process(tmp_path, monkeypatch, capfd):
    folder = write_code(tmp_path / "code", power=2)
    entry = check_submission(folder, run_code=True)
    assert "loaded" not in capfd.readouterr().out
    assert "mine" not in sys.modules
    assert sorted(path.name for path in folder.iterdir()) == ["SHA256SUMS", "lock.txt", "mine.py", "submission.yaml"]
    monkeypatch.syspath_prepend(str(folder))
    policy = batch_policy("mine:Sampler", entry.setting.game, power=2)
    rows = list(evaluate_policies(entry.setting.runs[0], {}, [policy]))
    sys.modules.pop("mine")
    expected = np.mean([row["return"] for row in rows if row["set"] == "report"], axis=0)
    assert np.array_equal(entry.points[0].values, [expected])


def test_claimed_numbers_are_compared_and_not_used(tmp_path):
    entry = check_submission(write_plans(tmp_path / "mine", claims={"hypervolume": 1e9, "sparsity": 0.0}))
    ((row,),) = (table.rows for table in make_tables([entry]))
    data = json.loads(json.dumps(row.to_json()))
    computed = data["indicators"]["hypervolume"]["mean"]
    assert computed == row.scores["hypervolume"].interval.value < 1e9
    assert data["claims"] == {
        "hypervolume": {"claimed": 1e9, "computed": computed},
        "sparsity": {"claimed": 0.0, "computed": None},  # no indicator of this suite
    }
    assert data["plans"] == {"0": 1, "1": 1}
    assert set(data["files"]) == {"plans.json", "submission.yaml"}
    assert len(data["sha256"]) == len(data["returns_sha256"]) == 64


def test_a_policy_may_belong_to_one_run(tmp_path):
    game = {"id": "mo-breakthrough-v0", "params": {"board_width": 5, "board_height": 5}}
    setting = {"suite": "evolution", "experiment": "against fixed opponents", "game": game}
    greedy = [{"policy": "greedy", "options": {"weights": row}} for row in simplex_lattice(4, 1).tolist()]
    own = [{**one, "seed": seed} for seed, one in enumerate(greedy[:3])]
    mixed = check_submission(write_policies(tmp_path / "mixed", *own, {"policy": "random"}, setting=setting))
    assert mixed.counts == {0: 2, 1: 2, 2: 2}
    for seed in range(3):
        alone = check_submission(write_policies(tmp_path / f"{seed}", greedy[seed], {"policy": "random"}, setting=setting))
        assert np.array_equal(alone.points[seed].values, mixed.points[seed].values)


def test_fresh_episodes_are_others(tmp_path):
    policies = write_policies(tmp_path / "policies", {"policy": "random"})
    values = [check_submission(policies, fresh_seed=seed).points[0].values.tolist() for seed in (None, 0, 1, 1)]
    assert values[2] == values[3]
    assert len({str(one) for one in values}) == 3
    with pytest.raises(InvalidParameter, match="fresh_seed=5: expected the episodes of the setting"):
        make_pages([check_submission(policies, fresh_seed=5)])
    plans = write_plans(tmp_path / "plans")
    assert check_submission(plans, fresh_seed=0).returns_sha256 == check_submission(plans).returns_sha256


def test_fresh_episodes_of_an_episode_set_are_others(suite):
    policies = suite.experiments[1].model_copy(update={"episode_set": "shared"})
    (run,) = policies.model_copy(update={"methods": policies.methods[:1]}).list_runs()
    game = run.game.make_game()
    starts = [make_episode_seeds(one, game)[0].tolist() for one in (run, change_seed(run, 1), change_seed(run, 2))]
    assert len({str(one) for one in starts}) == 3
