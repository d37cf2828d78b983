"""Training, plans and stored policies of learners of other libraries (extra `morl`)."""

import random
from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.morl import training_env
from momagames.baselines.morl.learned_policy import Situations
from momagames.baselines.training_setup import TrainingSetup
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.errors import InvalidParameter
from momagames.kernels.rng import random_words
from tests.baselines.morl.cases import OPTIONS, SMALL, make_method

torch = pytest.importorskip("torch")
pytest.importorskip("morl_baselines")
pytest.importorskip("sb3_contrib")

BUDGET = 300


@pytest.fixture(scope="module")
def game():
    return momagames.spec("mo-samegame-v0", **SMALL)


@pytest.fixture(scope="module")
def results(game):
    """The results of one training of each method."""
    return {
        name: make_method(name).train(TrainingSetup([game], BUDGET, 1, [0], [batch_policy("random", game)])) for name in OPTIONS
    }


def play(game, policy, episodes=4):
    starts = generate_starts(game, np.arange(episodes, dtype=np.uint64))
    return play_policies(game, starts, [policy], np.zeros((episodes, 1), np.int64), np.ones((episodes, 1), np.uint64)).returns


@pytest.mark.parametrize("name", OPTIONS)
def test_training_stays_within_the_budget(name, game, results):
    result = results[name]
    assert 0 < result.steps <= BUDGET + game.max_episode_steps
    labels = [policy.label for policy in result.policies]
    assert len(set(labels)) == len(labels) > 1


@pytest.mark.parametrize("name", OPTIONS)
def test_stored_policies_play_as_before(name, game, results):
    policies = results[name].policies
    for policy in (policies[0], policies[-1]):
        assert all(array.dtype.kind in "fi" for array in policy.arrays.values())
        restored = make_method(name).restore(game, policy.label, policy.arrays)
        assert (restored.label, restored.weights) == (policy.label, pytest.approx(policy.weights))
        assert play(game, restored).tolist() == play(game, policy).tolist()


@pytest.mark.parametrize("name", OPTIONS)
def test_equal_seeds_give_equal_policies(name, game, results):
    before = random.getstate(), torch.get_rng_state()
    again = make_method(name).train(TrainingSetup([game], BUDGET, 1, [0], [batch_policy("random", game)]))
    assert (random.getstate(), torch.get_rng_state().tolist()) == (before[0], before[1].tolist())
    for one, other in zip(results[name].policies, again.policies, strict=True):
        assert one.label == other.label
        assert {key: array.tobytes() for key, array in one.arrays.items()} == {
            key: array.tobytes() for key, array in other.arrays.items()
        }


@pytest.mark.parametrize("name", OPTIONS)
def test_plans_have_the_values_of_their_actions(name, game):
    start = generate_starts(game, np.array([5], np.uint64))
    result = make_method(name).plan(game, start, BUDGET, 1)
    assert result.plans
    assert all(0 < plan.step <= result.steps for plan in result.plans)


def test_a_budget_without_a_policy_is_an_error(game):
    with pytest.raises(InvalidParameter, match="pcn: invalid budget=1 for mo-samegame-v0: expected enough environment steps"):
        make_method("pcn").train(TrainingSetup([game], 1))


@pytest.mark.parametrize("shared", [False, True])
def test_maskable_ppo_trains_networks_for_all_weights(shared, game):
    result = make_method("maskable_ppo", shared=shared).train(TrainingSetup([game], BUDGET, 1))
    networks = {policy.arrays["actor/0/weight"].tobytes() for policy in result.policies}
    assert len(networks) == (1 if shared else len(result.policies))


@pytest.mark.parametrize("illegal", ["next", "random"])
def test_a_game_of_several_agents_is_played_against_opponents(illegal):
    game = momagames.spec("mo-breakthrough-v0", board_width=4, board_height=5)
    opponents = [batch_policy(name, game) for name in ("random", "greedy")]
    result = make_method("pcn", illegal=illegal).train(TrainingSetup([game], BUDGET, 1, [0, 1], opponents))
    assert result.steps >= BUDGET
    starts = generate_starts(game, np.arange(4, dtype=np.uint64))
    done = play_policies(
        game, starts, [result.policies[0], opponents[0]], np.array([[0, 1], [1, 0]] * 2), np.ones((4, 2), np.uint64)
    )
    assert (done.lengths > 0).all()


@pytest.mark.parametrize("illegal", ["next", "random"])
@pytest.mark.parametrize(
    ("id", "params"), [("mo-breakthrough-v0", {"board_width": 4, "board_height": 5}), ("mo-robotmail-2-v0", {"max_step": 30})]
)
@pytest.mark.parametrize("name", OPTIONS)
def test_all_seats_at_once_play_as_one_by_one(name, id, params, illegal):
    """Policies without random draws play the same games; with draws, the games do not depend on the size of the batch."""
    game = momagames.spec(id, **params)
    method = make_method(name, illegal=illegal)
    policy = method.train(TrainingSetup([game], BUDGET, 1, [0, 1], [batch_policy("random", game)])).policies[-1]
    starts, words = generate_starts(game, np.arange(12, dtype=np.uint64)), random_words(3, 24).reshape(12, 2)

    def play_from(envs, one=policy):
        return play_policies(game, starts[envs], [one], np.zeros((len(envs), 2), np.int64), words[envs], keep_moves=True).moves

    every = play_from(np.arange(12))
    few = play_from(np.arange(4, 9))
    assert (few == every[4:9, : few.shape[1]]).all()
    if illegal == "next":
        alone = play_from(np.arange(12), replace(policy, make_batch=None))
        assert (alone == every).all()


# ------------------------------------------------------------------------------------------- policies of the library itself


def capture(monkeypatch, kind):
    """Let the training of a class of a library do nothing, and return the list of its objects."""
    made = []
    monkeypatch.setattr(kind, "train", lambda self, *_, **__: made.append(self))
    return made


def make_env(game):
    budget = training_env.StepBudget(BUDGET)
    return training_env.TrainingEnv(game, [0], [], "next", budget, np.random.default_rng(0))


def draw_situations(game, count=20):
    env, rng = make_env(game), np.random.default_rng(2)
    for _ in range(count):
        observation, _ = env.reset()
        yield one_situation(observation, env, rng)


def one_situation(observation, env, rng):
    return Situations(
        np.zeros(1, np.int64), observation[None], env.action_masks()[None], env.read_situation()[2][None], rng.random(1)
    )


@pytest.mark.parametrize("name", ["envelope", "gpi_ls"])
def test_values_are_those_of_the_library(name, game, monkeypatch):
    from morl_baselines.multi_policy.envelope.envelope import Envelope
    from morl_baselines.multi_policy.gpi_pd.gpi_pd import GPIPD  # the class of GPI-LS

    made = capture(monkeypatch, Envelope if name == "envelope" else GPIPD)
    method = make_method(name)
    policies = method.learn(make_env(game), 3)
    for policy in policies:
        choose = method.make_chooser(game, policy.arrays)
        for situation in draw_situations(game):
            assert choose(situation)[0] == made[0].eval(situation.observations[0], np.array(policy.weights))


def test_commands_are_followed_as_in_the_library(game, monkeypatch):
    """The library plays a whole episode; the policy chooses the same actions from its returns."""
    from morl_baselines.multi_policy.pcn.pcn import PCN

    method, made, train = make_method("pcn"), [], PCN.train
    monkeypatch.setattr(PCN, "train", lambda self, *args, **options: (made.append(self), train(self, *args, **options)))
    policies = method.learn(make_env(game), 3)
    start = generate_starts(game, np.array([7], np.uint64))
    for policy in policies:
        budget, rng = training_env.StepBudget(None), np.random.default_rng(0)
        env = training_env.TrainingEnv(game, [0], [], "next", budget, rng, start)
        target = policy.arrays["target"]
        played = made[0]._run_episode(env, target[:-1], target[-1], policy.arrays["limit"], eval_mode=True)
        choose = method.make_chooser(game, policy.arrays)
        observation, _ = env.reset()
        for transition in played:
            assert choose(one_situation(observation, env, rng))[0] == transition.action
            observation = env.step(transition.action)[0]


def test_probabilities_are_those_of_the_libraries(game, monkeypatch):
    from momagames.baselines.morl import maskable_ppo

    seen = []
    monkeypatch.setattr(maskable_ppo, "sample_actions", lambda rates, draws: seen.append(rates[0]) or [0])
    from sb3_contrib import MaskablePPO

    made = capture(monkeypatch, MaskablePPO)
    monkeypatch.setattr(MaskablePPO, "learn", lambda self, *_, **__: made.append(self))
    method = make_method("maskable_ppo", greedy=False)
    for i, policy in enumerate(method.learn(make_env(game), 3)):
        choose = method.make_chooser(game, policy.arrays)
        for situation in draw_situations(game, 3):
            seen.clear()
            choose(situation)
            row = torch.as_tensor(np.append(situation.observations[0], policy.weights), dtype=torch.float32)[None]
            expected = made[i].policy.get_distribution(row, action_masks=situation.masks).distribution.probs
            assert np.allclose(seen[0], expected.detach().numpy().ravel(), atol=1e-5)
