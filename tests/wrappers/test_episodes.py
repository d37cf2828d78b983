"""RecordEpisodeStatistics: vector returns and lengths, in every API."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import MultiEpisodeEnv, MultiEpisodeParallelEnv

from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.parallel import MultiObjectiveParallel
from momagames.errors import InvalidParameter
from momagames.wrappers import Flatten, HandleIllegal, NormalizeReward, RecordEpisodeStatistics, Scalarize, SelectObjectives
from tests import meteors
from tests.wrappers.games import batches, breakthrough, breakthroughs, gemwalk, legal, play, rounds, samegame, samegames, steps


def test_five_agents_in_turn() -> None:
    env = RecordEpisodeStatistics(samegame(num_agents=5))
    for seed in range(3):
        returns = {agent: np.zeros(3) for agent in env.possible_agents}
        moves = dict.fromkeys(env.possible_agents, 0)
        rng = np.random.default_rng(seed)
        env.reset(seed=seed)
        reported = {}
        for agent in env.agent_iter():
            for _ in range(3):
                observation, _, terminated, _, info = env.last()
            assert ("episode" in info) == terminated
            if terminated:
                reported[agent] = info["episode"]
                env.step(None)
                continue
            env.step(legal(observation["action_mask"], rng))
            moves[agent] += 1
            for name, reward in env.rewards.items():
                returns[name] += reward
        assert len(reported) == 5
        for agent, episode in reported.items():
            np.testing.assert_array_equal(episode["r"], returns[agent])
            assert episode["l"] == moves[agent]
            assert episode["steps"] == sum(moves.values())
        assert env.episodes[-1]["l"] == moves
    np.testing.assert_array_equal(list(env.episodes[-1]["r"].values()), env.unwrapped.returns)
    assert len(env.episodes) == 3


def test_counts_what_is_paid_where_it_stands() -> None:
    inner = RecordEpisodeStatistics(samegame(num_agents=2))
    env = RecordEpisodeStatistics(Scalarize(RecordEpisodeStatistics(SelectObjectives(inner, [1])), [2.0]))
    list(play(env))
    vectors, scalars = inner.episodes[0]["r"], env.episodes[0]["r"]
    assert {agent: 2 * vector[1] for agent, vector in vectors.items()} == scalars
    assert type(scalars["agent_0"]) is float


def test_parallel_and_gymnasium_apis() -> None:
    aec, parallel = RecordEpisodeStatistics(breakthrough()), RecordEpisodeStatistics(breakthrough("parallel"))
    list(play(aec, 3))
    *_, last = rounds(parallel, 3)
    for agent, info in last[4].items():
        np.testing.assert_array_equal(info["episode"]["r"], aec.episodes[0]["r"][agent])
        assert info["episode"]["l"] == aec.episodes[0]["l"][agent]
    assert parallel.episodes[0]["l"] == aec.episodes[0]["l"]
    env = RecordEpisodeStatistics(gemwalk("gymnasium"))
    results = list(steps(env))
    np.testing.assert_array_equal(results[-1][4]["episode"]["r"], sum(step[1] for step in results))
    assert results[-1][4]["episode"]["l"] == len(results)
    assert all("episode" not in step[4] for step in results[:-1])


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("agents", [1, 3])
def test_vector_api(mode: str, agents: int) -> None:
    env = RecordEpisodeStatistics(samegames(num_agents=agents, autoreset=mode), buffer_length=1000)
    seen = 0
    plies = np.zeros(6, int)
    movers = np.zeros((6, agents), int)
    before, was_reset = np.zeros(6, int), np.zeros(6, bool)
    inner = samegames(num_agents=agents, autoreset=mode)
    for (*_, infos), (_, over, _, raw) in zip(batches(env), batches(inner), strict=True):
        movers[np.arange(6), before] += ~was_reset
        plies += ~was_reset
        over = over.reshape(6, -1).all(1)
        if "_final_return" in raw and (raw["_final_return"] & ~(was_reset if mode == "disabled" else False)).any():
            ended = infos["_episode"]
            np.testing.assert_array_equal(ended, raw["_final_return"])
            np.testing.assert_allclose(infos["episode"]["r"][ended], raw["final_return"][ended])
            np.testing.assert_array_equal(infos["episode"]["steps"][ended], raw["final_length"][ended])
            np.testing.assert_array_equal(infos["episode"]["steps"][ended], plies[ended])
            np.testing.assert_array_equal(infos["episode"]["l"][ended], (movers if agents > 1 else movers[:, 0])[ended])
            seen += ended.sum()
            plies[ended] = 0
            movers[ended] = 0
        before = np.array(raw["to_move"]).copy()
        was_reset = over & (mode != "same_step")
    assert seen >= 6
    assert len(env.episodes) == seen


def test_a_reset_mask_restarts_the_chosen_books() -> None:
    env = RecordEpisodeStatistics(samegames(2, autoreset="disabled"))
    list(batches(env, 2))
    env.reset(options={"reset_mask": np.array([True, False])})
    assert env.statistics.steps.tolist() == [0, 2]


def test_early_deaths_and_simultaneous_moves() -> None:
    game = meteors.game("meteors-v0", cells=4)
    aec = RecordEpisodeStatistics(MultiObjectiveAEC(game))
    parallel = RecordEpisodeStatistics(HandleIllegal(MultiObjectiveParallel(MultiObjectiveAEC(game)), "random"))
    lengths = set()
    for seed in range(6):
        observations, _ = parallel.reset(seed=seed)
        reported: dict[str, Any] = {}
        while parallel.agents:
            actions = {a: [int(np.argmax(seen["action_mask"][0])), 2] for a, seen in observations.items()}
            observations, *_, infos = parallel.step({agent: actions[agent] for agent in parallel.agents})
            reported |= {agent: info["episode"] for agent, info in infos.items() if "episode" in info}
        aec.reset(seed=seed)
        for _ in aec.agent_iter():
            observation, _, terminated, truncated, info = aec.last()
            if terminated or truncated:
                agent = aec.agent_selection
                np.testing.assert_array_equal(info["episode"]["r"], reported[agent]["r"])
                assert info["episode"]["l"] == reported[agent]["l"]
                assert info["episode"]["steps"] == reported[agent]["steps"] == reported[agent]["l"]
                lengths.add(reported[agent]["l"])
            aec.step(None if terminated or truncated else [int(np.argmax(observation["action_mask"][0])), 2])
        np.testing.assert_array_equal(list(aec.episodes[-1]["r"].values()), aec.unwrapped.returns)
        assert len(aec.episodes) == seed + 1
    assert len(lengths) > 2


def test_kept_episodes() -> None:
    env = RecordEpisodeStatistics(gemwalk(), buffer_length=2)
    for seed in range(4):
        list(play(env, seed))
    assert len(env.episodes) == 2
    with pytest.raises(InvalidParameter, match="buffer_length=-1"):
        RecordEpisodeStatistics(gemwalk(), buffer_length=-1)


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: breakthrough("parallel", **options),
        lambda **options: breakthrough("parallel", numeric_infos=True, **options),
        lambda **options: Flatten(breakthrough("parallel", **options)),
        lambda **options: turn_based_aec_to_parallel(breakthrough(**options)),
        lambda **options: Flatten(samegame("parallel", num_agents=3, **options)),
    ],
)
def test_lengths_of_turn_based_games_without_the_active_agent(make: Any) -> None:
    env = RecordEpisodeStatistics(make(illegal="next"))
    observations, _ = env.reset(seed=2)
    moves = dict.fromkeys(env.possible_agents, 0)
    while env.agents:
        (mover,) = [agent for agent, seen in observations.items() if seen["action_mask"].any()]
        moves[mover] += 1
        observations, *_ = env.step(dict.fromkeys(env.agents, 0))
    (episode,) = env.episodes
    assert episode["l"] == moves
    assert episode["steps"] == sum(moves.values())


@pytest.mark.parametrize("api", ["aec", "parallel", "gymnasium"])
def test_flatten_outside_keeps_the_episode(api: str) -> None:
    env = Flatten(RecordEpisodeStatistics(breakthrough(api)))
    env.reset(seed=1)
    if api == "aec":
        while not env.terminations[env.agent_selection]:
            env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
        agent = env.agent_selection
        found = [env.infos[agent]["episode"], env.last()[4]["episode"]]
    elif api == "parallel":
        *_, (*_, infos) = rounds(env)
        agent = "player_1"
        found = [infos[agent]["episode"]]
    else:
        *_, (*_, info) = steps(env)
        agent = "player_0"
        found = [info["episode"]]
    for episode in found:
        np.testing.assert_array_equal(episode["r"], env.episodes[-1]["r"][agent])
        assert episode["l"] == env.episodes[-1]["l"][agent]


def test_several_episodes_inside_are_one() -> None:
    env = RecordEpisodeStatistics(Scalarize(MultiEpisodeEnv(samegame(num_agents=2), 3), [1, 1, 1]))
    parallel = RecordEpisodeStatistics(Scalarize(MultiEpisodeParallelEnv(samegame("parallel", num_agents=2), 3), [1, 1, 1]))
    for seed in range(1, 3):
        received = dict.fromkeys(env.possible_agents, 0.0)
        env.reset(seed=seed)
        ends = 0
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            received[agent] += reward
            ends += terminated
            assert ("episode" in info) == terminated
            env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
        assert ends == 3 * 2
        assert len(env.episodes) == seed
        assert env.episodes[-1]["r"] == received
        observations, _ = parallel.reset(seed=seed)
        while parallel.agents:
            actions = {agent: int(seen["action_mask"].argmax()) for agent, seen in observations.items()}
            observations, *_ = parallel.step(actions)
        assert parallel.episodes[-1] == env.episodes[-1]


def test_statistics_restart_inside() -> None:
    env, game = NormalizeReward(MultiEpisodeEnv(gemwalk(), 2)), NormalizeReward(gemwalk())
    env.reset(seed=1)
    rewards = []
    for _ in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        rewards.append(reward)
        env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
    expected = []
    for seed in (1, 2):
        game.reset(seed=seed)
        for _ in game.agent_iter():
            observation, reward, terminated, truncated, _ = game.last()
            expected.append(reward)
            game.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
    np.testing.assert_array_equal(rewards, expected)


def test_autoreset_inside_starts_other_episodes() -> None:
    env = RecordEpisodeStatistics(gymnasium.wrappers.Autoreset(gemwalk("gymnasium", max_cycles=3)))
    plain = RecordEpisodeStatistics(gemwalk("gymnasium", max_cycles=3))
    env.reset(seed=1)
    for seed in (1, None):
        _, info = plain.reset(seed=seed)
        for _ in range(3):
            action = int(info["action_mask"].argmax())
            result, (*_, info) = env.step(action), plain.step(action)
        assert result[4]["episode"].keys() == info["episode"].keys()
        env.step(0)  # only resets
    assert [episode["steps"] for episode in env.episodes] == [3, 3]
    for one, other in zip(env.episodes, plain.episodes, strict=True):
        np.testing.assert_array_equal(one["r"]["agent_0"], other["r"]["agent_0"])


@pytest.mark.parametrize("scalar", [False, True])
def test_discounted_returns(scalar: bool) -> None:
    """In every API, sums of gamma ** t * reward over environment steps t, as in MO-Gymnasium."""
    wrap: Any = (lambda env: Scalarize(env, [1, 2, 3, 4])) if scalar else (lambda env: env)
    gamma, found = 0.9, []
    for env, loop in ((breakthrough(), play), (breakthrough("parallel"), rounds)):
        env = RecordEpisodeStatistics(wrap(env), gamma=gamma)
        rewards = [dict(step[1]) for step in loop(env, 1)]
        (episode,) = env.episodes
        for agent in env.possible_agents:
            np.testing.assert_allclose(episode["dr"][agent], sum(gamma**t * one[agent] for t, one in enumerate(rewards)))
            np.testing.assert_allclose(episode["r"][agent], sum(one[agent] for one in rewards))
        found.append(episode["dr"])
    np.testing.assert_equal(*found)
    batch = RecordEpisodeStatistics(wrap(breakthroughs(3)), gamma=gamma)
    sums, steps = np.zeros(3), np.zeros(3)
    ended = 0
    for rewards, _, _, infos in batches(batch, 40):
        sums += gamma**steps * rewards.reshape(3, -1)[:, 0]
        steps += 1
        for i in np.flatnonzero(infos.get("_episode", np.zeros(3))):
            np.testing.assert_allclose(infos["episode"]["dr"].reshape(3, -1)[i, 0], sums[i])
            sums[i], steps[i], ended = 0.0, -1, ended + 1  # the next step only starts an episode
    assert ended > 3
    assert all(set(episode) == {"r", "dr", "l", "steps"} for episode in batch.episodes)


def test_discounted_returns_are_those_of_mo_gymnasium() -> None:
    mo_gymnasium = pytest.importorskip("mo_gymnasium")
    made = [
        RecordEpisodeStatistics(samegame("gymnasium"), gamma=0.9),
        mo_gymnasium.wrappers.MORecordEpisodeStatistics(samegame("gymnasium"), gamma=0.9),
    ]
    ours, theirs = [list(steps(env))[-1][4]["episode"] for env in made]
    np.testing.assert_allclose(ours["dr"], theirs["dr"], rtol=1e-6)
    with pytest.raises(InvalidParameter, match="gamma"):
        RecordEpisodeStatistics(samegame("gymnasium"), gamma=1.5)
