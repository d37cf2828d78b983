"""A game played twice, move by move: by our rules and by the oracle of the game (naive.py)."""

import random

import numpy as np

import momagames
from momagames.engine.batch import Batch
from momagames.engine.positions import load_state


def actions_in(mask):
    return set(np.flatnonzero(mask).tolist())


def play_aec_api(id, oracle, params, seed, options=None):
    """Play a random game to its end through the public AEC environment. Returns the number of moves."""
    chance = random.Random(seed)
    env = momagames.make(id, **params)
    env.reset(seed=seed, options=options)
    names = env.possible_agents
    pending = np.zeros((len(names), len(env.game.objectives)))  # what last() owes each agent
    while True:
        assert env.get_state()["board"] == oracle.rows()
        assert env.agent_selection == names[oracle.mover]
        for i, name in enumerate(names):
            seen = env.observe(name)
            assert actions_in(seen["action_mask"]) == oracle.legal(i)
            assert seen["observation"].tolist() == oracle.planes(i)
            assert env.observation_space(name).contains(seen)
            assert env.terminations[name] == oracle.over
            assert not env.truncations[name]
        assert np.allclose(env.last()[1], pending[oracle.mover], atol=1e-6)
        if oracle.over:
            return oracle.ply
        action = chance.choice(sorted(oracle.legal(oracle.mover)))
        pending[oracle.mover] = 0
        rewards = np.array(oracle.step(action), np.float64)
        pending += rewards
        env.step(action)
        for i, name in enumerate(names):
            assert np.array_equal(env.rewards[name], rewards[i].astype(np.float32))
            assert env.reward_space(name).contains(env.rewards[name])


def play_batch_api(id, oracles, params, seed, threads=1):
    """Play random games side by side in one `Batch`, whose environment i starts where `oracles[i]` stands."""
    chance = random.Random(seed)
    game = momagames.spec(id, **params)
    batch = Batch(game, len(oracles), threads, autoreset="disabled", views="all")
    starts = [{"board": o.rows(), "next_agent": game.agents[o.mover]} for o in oracles]
    batch.load(np.concatenate([load_state(game, start) for start in starts]))
    returns = np.zeros_like(batch.returns)
    while True:
        seen = batch.fields(batch.observations)["observation"]
        for i, oracle in enumerate(oracles):
            assert game.codec.save(batch.states[i])["board"] == oracle.rows()
            assert batch.to_move[i] == oracle.mover
            assert bool(batch.states[i]["over"]) == oracle.over
            for agent in range(len(game.agents)):
                assert actions_in(batch.masks[i, agent]) == oracle.legal(agent)
                assert seen[i, agent].tolist() == oracle.planes(agent)
        running = [not oracle.over for oracle in oracles]
        if not any(running):
            return
        actions = [chance.choice(sorted(o.legal(o.mover))) if on else 0 for o, on in zip(oracles, running, strict=True)]
        checked = batch.actions(actions)
        assert batch.find_illegal_env(checked) == -1
        batch.step(checked)
        for i, (oracle, on) in enumerate(zip(oracles, running, strict=True)):
            rewards = np.array(oracle.step(actions[i])) if on else np.zeros_like(returns[i])
            returns[i] += rewards
            assert np.array_equal(batch.rewards[i], rewards.astype(np.float32))
            assert batch.finished[i] == (on and oracle.over)
            assert (batch.terminated[i] == oracle.over).all()
            assert not batch.truncated[i].any()
            if batch.finished[i]:
                assert np.allclose(batch.returns[i], returns[i], atol=1e-5)
                assert batch.final_lengths[i] == oracle.ply
