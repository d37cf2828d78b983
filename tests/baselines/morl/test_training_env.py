"""The training environment of learners of other libraries: counted steps, forced moves, scaled rewards."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.archive import Archive
from momagames.baselines.morl.training_env import BudgetReached, IdleEnv, StepBudget, TrainingEnv, estimate_return_scale
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from tests.baselines.morl.cases import SMALL


def make_env(budget=1000, id="mo-samegame-v0", agents=(0,), opponents=(), illegal="next", params=SMALL, **options):
    game = momagames.spec(id, **params)
    return TrainingEnv(
        game,
        agents,
        [batch_policy(one, game) for one in opponents],
        illegal,
        StepBudget(budget),
        np.random.default_rng(0),
        **options,
    )


def play(env, choose):
    """Play an episode and return the sum of its rewards, and the number of decisions."""
    env.reset()
    total, decisions, is_over = 0.0, 0, False
    while not is_over:
        _, reward, terminated, truncated, _ = env.step(choose(env))
        total, decisions, is_over = total + reward, decisions + 1, terminated or truncated
    return total, decisions


def play_forever(env):
    while True:
        play(env, choose_first)


def choose_first(env):
    return int(np.flatnonzero(env.action_masks())[0])


def test_the_budget_ends_the_training():
    env = make_env(budget=20)
    with pytest.raises(BudgetReached):
        play_forever(env)
    assert 20 <= env.budget.used <= 20 + env.game.max_episode_steps
    assert env.make_evaluation_env().budget is env.budget


@pytest.mark.parametrize("opponents", [("random",), ("random", "random")])
def test_steps_of_other_agents_count(opponents):
    env = make_env(id="mo-breakthrough-v0", agents=(0, 1), opponents=opponents, params={"board_width": 4, "board_height": 5})
    seats = []
    for _ in range(4):
        before = env.budget.used
        _, decisions = play(env, choose_first)
        assert env.budget.used - before >= 2 * decisions - 1
        seats.append(env._match.agent)
    assert seats == ["player_0", "player_1"] * 2


def test_decisions_are_those_of_evaluations():
    """A forced move is played for the learner: it decides only where at least two actions are legal."""
    env = make_env()
    for _ in range(20):
        env.reset()
        is_over = False
        while not is_over:
            _, _, terminated, truncated, _ = env.step(choose_first(env))
            is_over = terminated or truncated
            assert is_over or env.action_masks().sum() > 1


def test_episodes_are_plans_with_the_returns_of_the_game():
    game = momagames.spec("mo-samegame-v0", **SMALL)
    start, archive = generate_starts(game, np.array([3], np.uint64)), Archive(len(game.objectives))
    env = make_env(starts=start, archive=archive)
    rng = np.random.default_rng(1)
    for _ in range(10):
        total, _ = play(env, lambda env: rng.integers(env.action_space.n))
        assert total.tolist() == env.read_situation()[2].tolist()
    assert archive.plans
    for plan in archive.front():
        one = Episode(game)
        one.load(start[0])
        for action in plan.actions:
            assert one.is_legal(0, action)
            one.step(action)
        assert one.state["over"]
        assert one.returns[0].tolist() == plan.value.tolist()


def test_rewards_are_scaled_by_random_play():
    env = make_env()
    env.return_scale = estimate_return_scale(env, 500, np.random.default_rng(0))
    assert env.budget.used >= 500
    assert (env.return_scale > 1).all()
    total, _ = play(env, choose_first)
    assert np.allclose(total * env.return_scale, env.read_situation()[2], rtol=1e-5)
    squares = []
    plain = make_env(budget=None)
    rng = np.random.default_rng(5)
    for _ in range(200):
        squares.append(play(plain, lambda env: rng.choice(np.flatnonzero(env.action_masks())))[0] ** 2)
    assert np.allclose(np.sqrt(np.mean(squares, axis=0)), env.return_scale, rtol=0.35)


def test_an_idle_environment_ends_at_once():
    env = make_env()
    idle = IdleEnv(env)
    assert idle.reset()[0].shape == env.observation_space.shape
    _, reward, terminated, truncated, _ = idle.step(0)
    assert (reward.tolist(), terminated, truncated) == ([0] * env.reward_dim, True, False)
    assert env.budget.used == 0


def test_seeds_repeat_the_training_episodes():
    first, second = make_env(), make_env()
    assert [play(first, choose_first)[0].tolist() for _ in range(5)] == [
        play(second, choose_first)[0].tolist() for _ in range(5)
    ]
    assert first.action_space.sample() == second.action_space.sample()
