"""MO-TileBlast in every API: makers of the hosts, one agent and several, batches, observation formats."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import momagames
from momagames.errors import IllegalAction

ID, HOSTED = "mo-tileblast-v0", "momagames/mo-tileblast-v0"
WEIGHTS = {  # §5.6
    ID: (1, 5, 0.1, 0.5, 0, 0),
    "mo-tileblast-goals-v0": (1, 1, 1, 1, 5, 0.1, 0.5),
}


def published(info, before):
    """The competition's reward of a tap, from what the infos say of it and of the position before."""
    units = sum(before["goals_remaining"]) - sum(info["goals_remaining"])
    return units - 0.1 - 0.5 * (not info["valid"]) + 5 * info["won"]


def taps(info, rng, share=0.8):
    """A valid tap, or sometimes one that is not."""
    valid = np.flatnonzero(info["action_mask"])
    return int(rng.choice(valid)) if rng.random() < share else int(rng.choice(np.flatnonzero(info["action_mask"] == 0)))


@pytest.mark.compiled
@pytest.mark.parametrize("id", WEIGHTS)
def test_the_published_scalar_through_mo_gymnasium(id):
    """§5.6: +1 a unit, -0.1 a tap, -0.5 more if it is invalid, +5 at the win; with the host's LinearReward."""
    mo_gymnasium = pytest.importorskip("mo_gymnasium")
    vector = mo_gymnasium.make(f"momagames/{id}", level=4)
    names = [goal.name for goal in momagames.spec(id, level=4).objectives]
    assert vector.unwrapped.reward_space.shape == (len(names),) == (vector.unwrapped.reward_dim,)
    env = mo_gymnasium.wrappers.LinearReward(vector, np.array(WEIGHTS[id]))
    seen = set()
    for seed in range(6):
        policy = momagames.registry.policy("greedy", vector.unwrapped.game)
        rng = np.random.default_rng(seed)
        _, info = env.reset(seed=seed)
        assert "goals_remaining" in info
        total, over = 0.0, False
        while not over:
            before, mask = info, info["action_mask"]
            tap = policy(vector.unwrapped.state, mask, rng) if rng.random() < 0.9 else taps(info, rng, 0.3)
            _, reward, terminated, truncated, info = env.step(tap)
            assert reward == pytest.approx(published(info, before), abs=1e-5)
            assert info["vector_reward"].dtype == np.float32
            assert vector.unwrapped.reward_space.contains(info["vector_reward"])
            total += reward
            over = terminated or truncated
            seen.add((info["valid"], info["won"]))
        state = vector.unwrapped.state
        units = 14 - info["goals_remaining"][0]
        expected = units - 0.1 * int(state["taps"]) - 0.5 * int(state["invalid_taps"]) + 5 * info["won"]
        assert total == pytest.approx(expected, abs=1e-3)
    assert {valid for valid, _ in seen} == {True, False}
    assert any(won for _, won in seen)


def test_gymnasium_make():
    env = gymnasium.make(HOSTED, level=2)
    board, info = env.reset(seed=1)
    assert env.observation_space.contains(board)
    assert board.shape == (13, 9, 24)
    assert board.dtype == np.uint8
    assert env.action_space == gymnasium.spaces.Discrete(117)
    keys = {"action_mask", "valid", "collected", "goals_remaining", "hits", "cluster", "created", "used", "combo", "score"}
    keys |= {"shuffles", "rng_draws", "moves_left", "won", "lost", "dead"}
    assert set(info) == keys
    tap = env.action_space.sample(mask=info["action_mask"])
    _, reward, terminated, truncated, info = env.step(tap)
    assert reward.shape == (6,)
    assert info["valid"]
    assert info["moves_left"] == 17
    assert not terminated
    assert not truncated


def play(count, team, seed=3, **params):
    """Play a game in the AEC API with random taps, some invalid; return the rewards of each tap and its agent."""
    env = momagames.make(ID, num_agents=count, team_rewards=team, level=3, max_taps=40, **params)
    env.reset(seed=seed)
    rng, rewards, movers = np.random.default_rng(seed), [], []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        for other in env.agents:
            assert env.observe(other)["action_mask"].any() == (other == agent)
            assert np.array_equal(env.observe(other)["observation"], observation["observation"])
        env.step(taps(observation, rng))
        rewards.append([env.rewards[name] for name in env.possible_agents])
        movers.append(env.possible_agents.index(agent))
    return np.array(rewards), movers, env


@pytest.mark.parametrize("count", [2, 3, 4])
def test_agents_in_turn_with_and_without_a_team(count):
    """§3.4, §5: the reward of a tap goes to its agent, or to all agents; invalid taps pass the turn too."""
    alone, movers, _ = play(1, False)
    own, turns, _ = play(count, False)
    team, again, env = play(count, True)
    assert turns == again == [k % count for k in range(len(movers))]
    for k, reward in enumerate(alone[:, 0]):
        assert np.array_equal(own[k, k % count], reward)
        assert not np.delete(own[k], k % count, 0).any()
        assert all(np.array_equal(row, reward) for row in team[k])
    assert own.shape[0] == team.shape[0] == alone.shape[0]
    assert env.game.utility == "cooperative"
    assert momagames.spec(ID, num_agents=count).utility == "individual"


def test_observation_formats():
    """§7.1 to §7.3: other axes, more channels and fields hold the same values."""
    forms = [{}, {"axes": "yxc"}, {"axes": "cyx"}, {"channels": 27}, {"observation": "dict"}]
    envs = [momagames.make(ID, api="gymnasium", level=9, **form) for form in forms]
    given = [env.reset(seed=2) for env in envs]
    rng = np.random.default_rng(1)
    for turn in range(12):
        assert all(env.observation_space.contains(seen) for env, (seen, *_) in zip(envs, given, strict=True))
        xyc, yxc, cyx, wide, fields = (seen for seen, *_ in given)
        info = given[0][-1]
        assert xyc.shape == (13, 9, 24)
        assert np.array_equal(yxc, xyc.transpose(1, 0, 2)[::-1])
        assert np.array_equal(cyx, xyc.transpose(2, 1, 0)[:, ::-1])
        assert wide.shape == (13, 9, 27)
        assert np.array_equal(wide[..., :24], xyc)
        assert wide[..., 24:26].any()
        assert not wide[..., 26].any()
        assert np.array_equal(fields["board"], xyc)
        assert fields["goals_remaining"].tolist() == [*info["goals_remaining"], 0, 0, 0]
        assert fields["moves_left"].tolist() == [50 - turn]
        tap = taps(info, rng, 1)
        given = [env.step(tap) for env in envs]


def test_invalid_taps_raise():
    env = gymnasium.make(HOSTED, level=4, invalid="raise")
    _, info = env.reset(seed=1)
    wrong = int(info["action_mask"].argmin())
    before = env.unwrapped.get_state()
    with pytest.raises(IllegalAction, match=r"illegal action=.* of agent_0"):
        env.step(wrong)
    assert env.unwrapped.get_state() == before
    _, reward, _, _, info = env.step(int(info["action_mask"].argmax()))
    assert info["valid"]
    lenient = gymnasium.make(HOSTED, level=4)
    lenient.reset(seed=1)
    _, reward, _, _, info = lenient.step(wrong)
    assert not info["valid"]
    assert reward.tolist() == [0, 0, -1, -1, 0, 0]
