"""What the settings of a suite show, from the front of its reference set and the policies that it calls simple."""

import json

import numpy as np
import pytest
import typer

from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.benchmark import load_suite, run_suite
from momagames.benchmark.store.store import Store
from momagames.benchmark.tradeoffs import list_tradeoff_settings, list_untrained_methods, measure_setting
from momagames.cli.bench import tradeoffs
from momagames.errors import InvalidParameter
from tests.benchmark.test_reference_sets import folder as reference_folder
from tests.benchmark.test_reference_sets import write_set
from tests.benchmark.tiny import POLICIES, suite
from tests.cli.test_app import momagames_here

assert reference_folder  # a fixture
FRONT = [[0.9, -0.3, 2.0, -1.0], [0.5, 0.6, 1.0, -1.5], [-0.9, 0.1, 2.5, -0.5]]


def mean_returns(folder, experiment, *methods):
    """The mean returns of these methods in their stored report episodes."""
    store, whole = Store(folder), suite(experiment)
    returns = {}
    for run in whole.list_runs():
        if run.method.name in methods and run.seed == 0:
            for row in store.read_rows(run):
                if row["set"] == "report":
                    returns.setdefault(row["policy"], []).append(row["return"])
    return np.array([np.mean(found, axis=0) for found in returns.values()])


def test_untrained_policies_play_the_report_episodes(reference_folder, tmp_path):
    corners = (10 * np.eye(4) - 5).tolist()  # with a nadir point that all policies exceed
    write_set(reference_folder, "some-1", corners)
    experiment = {**POLICIES, "reference_set": "some-1"}
    ((declared, choice),) = list_tradeoff_settings(suite(experiment))
    found = measure_setting(declared, choice)
    run_suite(suite(experiment), tmp_path / "results")
    returns = [mean_returns(tmp_path / "results", experiment, name) for name in ("random", "greedy")]
    expected = measure_tradeoffs(corners, *returns)
    assert found.tradeoffs == expected
    assert expected.untrained_share > expected.simple_share
    assert [{label.partition(":")[0] for label in labels} for labels in (found.simple, found.ahead)] == [{"random"}, {"greedy"}]
    ((part, _),) = list_tradeoff_settings(suite({**experiment, "stored_episodes": 1}))
    assert measure_setting(part, choice) == found


def test_trained_policies_are_none_without_training():
    found = {one.name: list_untrained_methods(one, one.games[0].make_game()) for one in load_suite("policies").experiments}
    names = {name: [[one.name for one in part] for part in methods] for name, methods in found.items()}
    assert names["columns against a search"] == [["random"], ["alphabeta", "greedy", "uct"]]
    assert names["two gatherers in four corners"] == [["random", "nearest", "weighted"], []]
    assert names["unseen draws"] == [["random", "greedy_contact"], ["greedy", "greedy", "uct"]]
    assert not any("champion" in side for sides in names.values() for side in sides)


def test_settings_without_a_reference_set():
    with pytest.raises(InvalidParameter, match="the suite tiny has no reference fronts: expected experiments of policies with"):
        list_tradeoff_settings(suite(POLICIES))
    assert len(list_tradeoff_settings(load_suite("policies"))) == 19


def test_command_fails_for_settings_that_are_none(reference_folder, tmp_path, capsys):
    write_set(reference_folder, "some-1", FRONT)
    file = tmp_path / "suite.json"
    file.write_text(suite({**POLICIES, "reference_set": "some-1"}).model_dump_json())
    with pytest.raises(typer.Exit) as stopped:
        tradeoffs(str(file))
    printed = capsys.readouterr()
    assert stopped.value.exit_code == 1
    assert "0 of 1 setting are trade-offs" in printed.err
    assert "few points" in printed.out
    assert "MO-Breakthrough" in printed.out


@pytest.mark.long
def test_every_setting_of_the_main_track_is_a_tradeoff():
    done = momagames_here("bench", "tradeoffs", "policies", "--json")
    found = json.loads(done.stdout)
    assert {one["game"].partition("(")[0]: one["lacking"] for one in found if one["lacking"]} == {}
    assert (done.returncode, len(found)) == (0, 19)
    assert len({one["game"].split("-")[1] for one in found}) == 8
