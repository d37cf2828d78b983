"""What methods with learners of other libraries say where they cannot run; without the libraries."""

import subprocess
import sys

import numpy as np
import pytest

import momagames
from momagames.baselines import METHODS
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark.suite_files import load_suite
from momagames.errors import InvalidParameter, MissingExtra
from tests.baselines.morl.cases import OPTIONS, SMALL, make_method

BREAKTHROUGH, SAMEGAME, POMMERMAN = "mo-breakthrough-v0", "mo-samegame-v0", "mo-pommerman-team-v0"


def test_every_learner_of_the_package_has_a_case():
    assert set(OPTIONS) == {name for name, place in METHODS.items() if ".morl." in place}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_missing_library_names_the_extra(name, monkeypatch):
    one = make_method(name)
    monkeypatch.setitem(sys.modules, one.package, None)
    with pytest.raises(MissingExtra, match=rf'"{name}" needs {one.package}: pip install "momagames\[morl\]"'):
        one.train(TrainingSetup([momagames.spec(SAMEGAME, **SMALL)], 100))


def test_teams_need_moppo():
    for name in OPTIONS:
        with pytest.raises(InvalidParameter, match="teams of several agents, and moppo plays it"):
            make_method(name).check_train(momagames.spec("mo-robotmail-4-v0"))
        with pytest.raises(InvalidParameter, match="moppo plays it"):
            make_method(name).check_train(momagames.spec(POMMERMAN))


def test_games_that_a_learner_cannot_play():
    for name, id, params, message in [
        ("envelope", SAMEGAME, {"board_width": 20, "board_height": 20}, "at most 256 actions, mo-samegame-v0 has 400; pcn"),
        ("gpi_ls", SAMEGAME, {"board_width": 20, "board_height": 20}, "at most 256 actions"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            make_method(name).check_train(momagames.spec(id, **params))


def test_plans_need_one_agent_and_no_chance():
    for name in OPTIONS:
        with pytest.raises(InvalidParameter, match="without chance during play"):
            make_method(name).check_plan(momagames.spec("mo-tileblast-v0"))
        with pytest.raises(InvalidParameter, match="share all rewards"):
            make_method(name).check_plan(momagames.spec(BREAKTHROUGH))
        with pytest.raises(InvalidParameter, match=r"plans for one agent; mo-samegame-v0 has 2, and moppo plays it"):
            make_method(name).check_plan(momagames.spec(SAMEGAME, num_agents=2, team_rewards=True, **SMALL))


def test_options_out_of_range():
    for name, options, message in [
        ("pcn", {"illegal": "nxt"}, "pcn: invalid illegal='nxt': expected 'next' or 'random'; did you mean 'next'"),
        ("envelope", {"gamma": 0.0}, "gamma=0.0: expected above 0, to 1"),
        ("envelope", {"net_arch": (16,)}, "number of layers in net_arch=1: expected 2 or more"),
        ("gpi_ls", {"iterations": 0}, "gpi_ls: invalid iterations=0"),
        ("maskable_ppo", {"batch_size": 17}, r"batch_size=17: expected 2\.\.16"),
        ("pcn", {"random_episodes": 0}, "pcn: invalid random_episodes=0"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            make_method(name, **options)


def test_too_many_policies_are_rejected():
    with pytest.raises(InvalidParameter, match="expected at most 1,024"):
        make_method("envelope", divisions=60).check_train(momagames.spec(SAMEGAME, board_width=4, board_height=4, num_colors=3))


@pytest.mark.parametrize("name", OPTIONS)
def test_arrays_of_another_game_are_rejected(name):
    with pytest.raises(InvalidParameter, match=r"invalid arrays \['numbers'\] of 'x' for mo-samegame-v0"):
        make_method(name).restore(momagames.spec(SAMEGAME, **SMALL), "x", {"numbers": np.zeros(3)})


@pytest.mark.long
def test_the_suite_loads_without_the_libraries():
    code = (
        "import sys\n"
        "for name in ('morl_baselines', 'sb3_contrib', 'torch'): sys.modules[name] = None\n"
        "from momagames.benchmark.suite_files import load_suite\n"
        "runs = load_suite('policies').list_runs()\n"
        "for run in runs[:12]: run.method.make_method(run.game.make_game())\n"
        "print(len(runs))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 100


def test_every_learner_is_in_the_main_track_but_for_teams():
    served = dict.fromkeys(OPTIONS, 0)
    for experiment in load_suite("policies").experiments:
        for choice in experiment.games:
            game = choice.make_game()
            for chosen in experiment.methods:
                if chosen.name in served:
                    chosen.make_method(game).check_train(game)
                    served[chosen.name] += 1
    assert served == {"pcn": 15, "envelope": 13, "gpi_ls": 12, "maskable_ppo": 15}
