"""The checks of PettingZoo and Gymnasium, and the wrappers of other libraries, on wrapped environments."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils import wrappers as pettingzoo_wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import momagames
from momagames.errors import InvalidCall, InvalidParameter
from momagames.wrappers import (
    HandleIllegal,
    MergeColors,
    NormalizeReward,
    RecordEpisodeStatistics,
    RecordReplay,
    Scalarize,
    SelectObjectives,
    ShareTeamReward,
    SplitColors,
)
from tests.wrappers.games import batches, breakthrough, gemwalk, gemwalks, play, rounds, samegame, samegames, steps

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SCALAR = {f"samegame, {n} agents": lambda api, n=n: Scalarize(samegame(api, num_agents=n), [1, 2, 3]) for n in range(1, 6)} | {
    "breakthrough": lambda api: Scalarize(breakthrough(api), [1, 2, 3, 4]),
    "utility": lambda api: Scalarize(breakthrough(api), utility=lambda v: float(v.min()) + 0.1),
    "stack": lambda api: RecordEpisodeStatistics(
        Scalarize(NormalizeReward(SelectObjectives(ShareTeamReward(samegame(api, num_agents=3)), [2, 0])), [1, 2])
    ),
    "normalized last": lambda api: NormalizeReward(Scalarize(HandleIllegal(breakthrough(api), "random"), [1, 2, 3, 4])),
    "split": lambda api: Scalarize(SplitColors(samegame(api, num_agents=2, color_rewards=False)), [1, 2, 3]),
}


@pytest.mark.parametrize("name", SCALAR)
def test_aec_checks(name: str) -> None:
    api_test(SCALAR[name]("aec"), num_cycles=60)


@pytest.mark.parametrize("name", ["samegame, 3 agents", "stack"])
def test_aec_seeds(name: str) -> None:
    seed_test(lambda: SCALAR[name]("aec"), 10)


@pytest.mark.parametrize("name", ["samegame, 1 agents", "samegame, 5 agents", "breakthrough", "stack", "split"])
def test_parallel_checks(name: str) -> None:
    parallel_api_test(SCALAR[name]("parallel"), num_cycles=60)
    parallel_seed_test(lambda: SCALAR[name]("parallel"), 10)


@pytest.mark.parametrize(
    "env",
    [
        lambda: Scalarize(gemwalk("gymnasium", illegal="random"), [1, 2]),
        lambda: Scalarize(HandleIllegal(gemwalk("gymnasium"), "random"), [1, 2]),
        lambda: Scalarize(breakthrough("gymnasium", illegal="forfeit", agent="player_1"), [1, 2, 3, 4]),
        lambda: RecordEpisodeStatistics(Scalarize(SelectObjectives(gemwalk("gymnasium", illegal="random"), [1, 0]), [1, 2])),
        lambda: Scalarize(gymnasium.make("momagames/mo-gemwalk-v0", illegal="random"), [1, 2]),
    ],
)
def test_gymnasium_checks(env: Any) -> None:
    check_env(env())


def test_specs_make_the_same_stack_again() -> None:
    made = gymnasium.make("momagames/mo-gemwalk-v0")
    env = RecordEpisodeStatistics(Scalarize(SelectObjectives(made, ["emeralds", "rubies"]), weights=[1, 2]))
    again = env.spec.make()
    assert str(again) == str(env)
    pairs = zip(steps(env), steps(again), strict=True)
    assert [(one[1], one[4].get("episode")) for one, _ in pairs] == [
        (step[1], step[4].get("episode")) for step in steps(gymnasium.make(env.spec))
    ]


@pytest.mark.parametrize("wrap", [lambda env, folder: HandleIllegal(env, "next"), RecordReplay])
def test_specs_make_wrappers_with_options_again(wrap: Any, tmp_path: Path) -> None:
    env = wrap(gymnasium.make("momagames/mo-gemwalk-v0"), tmp_path)
    assert str(env.spec.make()) == str(env)


def test_wrappers_of_pettingzoo_below_and_above() -> None:
    checked = pettingzoo_wrappers.OrderEnforcingWrapper(pettingzoo_wrappers.AssertOutOfBoundsWrapper(samegame(num_agents=2)))
    env = pettingzoo_wrappers.OrderEnforcingWrapper(Scalarize(checked, [1, 2, 3]))
    plain = Scalarize(samegame(num_agents=2), [1, 2, 3])
    assert [rewards for _, rewards, _ in play(env)] == [rewards for _, rewards, _ in play(plain)]
    api_test(env, num_cycles=30)


def test_conversion_of_pettingzoo_below() -> None:
    env = SplitColors(turn_based_aec_to_parallel(samegame(num_agents=2, color_rewards=False)))
    for step, other in zip(rounds(env), rounds(samegame("parallel", num_agents=2)), strict=True):
        np.testing.assert_array_equal(step[1]["agent_0"], other[1]["agent_0"])


def test_wrappers_of_gymnasium_below_and_above() -> None:
    limited = gymnasium.wrappers.TimeLimit(gemwalk("gymnasium"), 4)
    env = gymnasium.wrappers.RecordEpisodeStatistics(Scalarize(SelectObjectives(limited, [1, 0]), [1, 10]))
    *_, last = steps(env)
    assert last[3]
    assert last[4]["episode"]["l"] == 4
    vectors = [step[1] for step in steps(gymnasium.wrappers.TimeLimit(gemwalk("gymnasium"), 4))]
    assert last[4]["episode"]["r"] == pytest.approx(sum(vectors) @ np.array([10.0, 1.0]))


def test_mo_gymnasium_wrappers_above() -> None:
    mo = pytest.importorskip("mo_gymnasium.wrappers")
    for changed, weights in [
        (lambda env: env, [1.0, 2.0, 3.0]),
        (lambda env: SelectObjectives(env, ["color_3", "color_1"]), [1.0, 10.0]),
        (MergeColors, [2.0]),
        (lambda env: SplitColors(MergeColors(env)), [1.0, 2.0, 3.0]),
    ]:
        env = mo.LinearReward(mo.MORecordEpisodeStatistics(changed(samegame("gymnasium"))), np.array(weights))
        results = list(steps(env))
        vectors = [step[1] for step in steps(changed(samegame("gymnasium")))]
        np.testing.assert_allclose([step[1] for step in results], np.array(vectors) @ np.array(weights))
        np.testing.assert_allclose(results[-1][4]["episode"]["r"], sum(vectors))
        assert results[-1][4]["episode"]["l"] == len(vectors)
        assert env.unwrapped.reward_space.shape == (len(weights),)
        assert env.unwrapped.get_state()["ply"] == len(vectors)


def test_mo_gymnasium_below_and_foreign_environments() -> None:
    mo_gymnasium = pytest.importorskip("mo_gymnasium")
    env = Scalarize(mo_gymnasium.make("deep-sea-treasure-v0"), [1, 10])
    env.reset(seed=0)
    _, reward, _, _, info = env.step(1)
    assert reward == info["vector_reward"] @ np.array([1.0, 10.0])
    chosen = SelectObjectives(mo_gymnasium.make("deep-sea-treasure-v0"), "objective_2")
    chosen.reset(seed=0)
    np.testing.assert_array_equal(chosen.step(1)[1], [-1.0])
    with pytest.raises(InvalidCall, match="needs an environment made by momagames"):
        HandleIllegal(mo_gymnasium.make("deep-sea-treasure-v0"))


def test_a_foreign_scalarization_inside_is_noticed() -> None:
    mo = pytest.importorskip("mo_gymnasium.wrappers")
    env = SelectObjectives(mo.LinearReward(gemwalk("gymnasium")), [0])
    with pytest.raises(InvalidCall, match="apply the wrappers of momagames first"):
        list(steps(env))


def test_momaland_wrappers_around_the_parallel_api() -> None:
    momaland = pytest.importorskip("momaland.utils.parallel_wrappers")
    for make in (lambda: samegame("parallel", num_agents=2), lambda: ShareTeamReward(samegame("parallel", num_agents=2))):
        weights = {"agent_0": np.array([1.0, 2.0, 3.0]), "agent_1": np.array([1.0, 0.0, 0.0])}
        env = momaland.LinearizeReward(momaland.RecordEpisodeStatistics(make()), weights)
        vectors = list(rounds(make()))
        for step, plain in zip(rounds(env), vectors, strict=True):
            for agent, reward in step[1].items():
                assert reward == pytest.approx(plain[1][agent] @ weights[agent])
        np.testing.assert_allclose(step[4]["episode"]["r"]["agent_1"], sum(one[1]["agent_1"] for one in vectors))
        normal = momaland.NormalizeReward(make(), "agent_0", 1)
        assert all(np.isfinite(step[1]["agent_0"]).all() for step in rounds(normal))


@pytest.mark.parametrize("wrap", [lambda env: Scalarize(env, [1]), RecordEpisodeStatistics, HandleIllegal, MergeColors])
def test_other_objects_are_rejected(wrap: Any) -> None:
    with pytest.raises(
        InvalidParameter,
        match=r"invalid environment for .*: expected 'a PettingZoo AEC environment', .* got str object 'mo-gemwalk-v0'",
    ):
        wrap("mo-gemwalk-v0")


def test_wrappers_require_their_api() -> None:
    with pytest.raises(InvalidParameter, match="got Game object"):
        RecordEpisodeStatistics(momagames.spec("mo-gemwalk-v0"))


ORDER = {
    "SelectObjectives": lambda env: SelectObjectives(env, [0]),
    "MergeColors": MergeColors,
    "SplitColors": SplitColors,
    "Scalarize": lambda env: Scalarize(env, [1.0]),
}


@pytest.mark.parametrize("name", ORDER)
@pytest.mark.parametrize("api", ["aec", "parallel", "gymnasium", "vector"])
def test_vectors_first_then_scalarize(name: str, api: str) -> None:
    env = Scalarize(samegames() if api == "vector" else samegame(api), [1, 2, 3])
    with pytest.raises(InvalidCall, match=rf"{name} needs reward vectors, .*use Scalarize\({name}\(env\)"):
        ORDER[name](env)


def test_colors_go_directly_around_the_game() -> None:
    for changed in (SelectObjectives(samegame(), [0]), NormalizeReward(samegame())):
        with pytest.raises(InvalidCall, match="put MergeColors directly around the game"):
            MergeColors(changed)
    with pytest.raises(InvalidCall, match="are color_1, color_2, color_3 already"):
        SplitColors(samegame())
    with pytest.raises(InvalidCall, match="points already"):
        MergeColors(samegame(color_rewards=False))
    with pytest.raises(InvalidCall, match="needs a game with the parameter color_rewards; win, speed"):
        MergeColors(breakthrough())
    with pytest.raises(InvalidCall, match="color_rewards=True"):
        SplitColors(samegame("gymnasium", num_agents=2, color_rewards=False))


def test_bad_teams_and_objectives() -> None:
    with pytest.raises(InvalidParameter, match="no teams are declared for 'player_0' or 'player_1'"):
        ShareTeamReward(breakthrough())
    with pytest.raises(InvalidParameter, match="expected one team for each"):
        ShareTeamReward(samegame(num_agents=3), teams=[0, 1])
    with pytest.raises(InvalidParameter, match="expected None, 'all'"):
        ShareTeamReward(samegame(num_agents=3), teams="al")
    with pytest.raises(InvalidCall, match="already"):
        ShareTeamReward(samegame(num_agents=3, team_rewards=True))
    with pytest.raises(InvalidCall, match="needs the rewards of all agents"):
        ShareTeamReward(samegame("gymnasium", num_agents=3))
    with pytest.raises(InvalidParameter, match=r"invalid objective='capture'.*did you mean 'captures'"):
        SelectObjectives(breakthrough(), "capture")
    for wrong in ([], ["win", "win"], ["win", 0]):
        with pytest.raises(InvalidParameter, match="each once"):
            SelectObjectives(breakthrough(), wrong)
    for index in (4, -1, True, 1.5):
        with pytest.raises(InvalidParameter, match=r"or 0\.\.3"):
            SelectObjectives(breakthrough(), [index])


def test_shared_bounds_of_a_team() -> None:
    env = ShareTeamReward(breakthrough(), teams="all")
    np.testing.assert_array_equal(env.reward_space("player_0").high, [2, 2, 2, 2])
    for _, rewards, _ in play(env):
        np.testing.assert_array_equal(rewards["player_0"], rewards["player_1"])
        assert rewards["player_0"][0] == 0


def test_wrapped_batches_show_what_is_below() -> None:
    env = Scalarize(SelectObjectives(gemwalks(), [0]), [1])
    for rewards, *_ in batches(env, 3):
        assert rewards.shape == (6,)
    assert env.batch.num_envs == env.num_envs == 6
    assert SelectObjectives(gemwalks(), [0, 1]).unwrapped.reward_dim == 2


def test_import_is_light() -> None:
    code = "import sys, momagames.wrappers; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_no_warnings_from_wrapping() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(play(RecordEpisodeStatistics(Scalarize(samegame(num_agents=2), [1, 2, 3]))))
