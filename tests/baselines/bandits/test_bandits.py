"""Bandits: regret on coins, joint actions beside brute force, difference rewards beside games without the agent, errors."""

from itertools import product

import numpy as np
import pytest

import momagames
from momagames.baselines import method
from momagames.baselines.bandits.elimination import list_joint_actions, make_graph, make_plan
from momagames.baselines.bandits.elimination_kernels import make_pool
from momagames.baselines.bandits.joint import find_best_actions, run_elimination
from momagames.baselines.bandits.method import BanditGradient, BanditJoint, BanditUcb
from momagames.baselines.learners import choose_learner
from momagames.baselines.training_setup import TrainingSetup
from momagames.contract import RewardFactor
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies
from momagames.errors import InvalidParameter
from momagames.games.gem_mining.solver.elimination import Chain
from momagames.games.route_choice.solver import count_agents
from tests.baselines.bandits import coins

COINS = ((0.2, 0.6), (0.8, 0.3), (0.3, 0.2))
GEMS = {"num_agents": 4, "instance_seed": 7}
pytestmark = pytest.mark.long  # compiles methods


def train(made, game, budget, seed=0, **setup):
    trainer = made.make_trainer(TrainingSetup([game], budget, seed, **setup))
    while not trainer.is_done:
        trainer.train_iteration()
    return trainer


def pull(made, game, pulls, weights, seed=0):
    """Return the joint actions that are pulled for one weight vector."""
    (learner,) = made.make_trainer(TrainingSetup([game], 1, seed, fixed_weights=weights)).learners
    history = np.zeros((pulls, len(game.agents)), np.int16)
    learner.pull(pulls, history)
    return history


@pytest.mark.parametrize(
    "made",
    [BanditUcb(inertia=0), BanditUcb(inertia=0, radius="ucb1"), BanditGradient(), BanditJoint(exploration=1.0)],
    ids=["tuned", "ucb1", "gradient", "joint"],
)
@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 1.0)])
def test_regret_of_a_single_agent_grows_like_a_logarithm(made, weights):
    """Below the bound of UCB1, 8 ln T / gap summed over the arms (Auer et al. 2002); linear regret would double."""
    game, values = coins.game(COINS), np.array(COINS) @ weights
    chosen = np.array([pull(made, game, 20_000, weights, seed)[:, 0] for seed in range(5)])
    regrets = (values.max() - values)[chosen].cumsum(axis=1).mean(axis=0)
    gaps = values.max() - values[values < values.max()]
    assert 1 < regrets[-1] < (8 * np.log(20_000) / gaps).sum() + 5 * gaps.sum()
    assert regrets[-1] < 1.3 * regrets[10_000] + 1


def test_pareto_ucb_pulls_all_optimal_arms():
    game = coins.game(COINS)
    shares = np.bincount(pull(BanditJoint(rule="pareto"), game, 20_000, (0.5, 0.5))[:, 0], minlength=3) / 20_000
    assert shares[2] < 0.05
    assert min(shares[:2]) > 0.4


def test_shares_of_arms_follow_the_bound_of_ucb1():
    """The radius of the least pulled arm is that of the formula: means without noise, so that bounds are known."""
    chances = ((1.0, 0.0), (0.0, 0.0))
    chosen = pull(BanditUcb(inertia=0, radius="ucb1"), coins.game(chances, sampled=False), 3000, (1.0, 0.0))[:, 0]
    counts = np.zeros(2)
    for t, arm in enumerate(chosen.tolist()):
        if t >= 2:
            bounds = np.array([1.0, 0.0]) + np.sqrt(2 * np.log(t) / counts)
            assert arm == bounds.argmax()
        counts[arm] += 1


def test_gradient_step():
    """One agent, two arms without noise: the preferences that the definition gives."""
    chances, alpha = ((1.0, 0.0), (0.25, 0.0)), 0.3
    game = coins.game(chances, sampled=False)
    (learner,) = BanditGradient(alpha=alpha).make_trainer(TrainingSetup([game], 1, 3, fixed_weights=(1.0, 0.0))).learners
    history = np.zeros((50, 1), np.int16)
    learner.pull(50, history)
    scores, seen = np.zeros(2), []
    for arm in history[:, 0].tolist():
        shares = np.exp(scores) / np.exp(scores).sum()
        utility = chances[arm][0]
        baseline = np.mean(seen) if seen else 0.0
        seen.append(utility)
        if np.std(seen) > 0:
            scores += alpha * (utility - baseline) / np.std(seen) * ((np.arange(2) == arm) - shares)
    assert np.allclose(learner.tables.preferences[0], scores)
    assert len({*history[:, 0].tolist()}) == 2


@pytest.mark.parametrize("seed", range(6))
def test_elimination_is_exhaustive_search(seed):
    """Random graphs with classes, parts that are not connected, agents and factors of their own."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(1, 4, size=6).tolist()
    factors = [RewardFactor(())]
    for size in rng.integers(1, 4, size=6):
        agents = rng.choice(5, size=size, replace=False).tolist()
        classes = tuple(tuple(rng.integers(0, 2, size=arms[i]).tolist()) for i in agents)
        factors.append(RewardFactor(tuple(agents), classes if rng.random() < 0.5 else ()))
    graph = make_graph(factors, arms, "test")
    plan = make_plan(graph, "test")
    joint = list_joint_actions(arms)
    entries = np.stack([np.broadcast_to(graph.find_entry(f, joint.T), len(joint)) for f in range(len(factors))], axis=1)
    means, variances = rng.normal(size=(2, int(graph.first[-1])))
    values = means[entries].sum(axis=1)
    best = find_best_actions(graph, plan, means)
    assert values[(joint == best).all(axis=1)][0] == pytest.approx(values.max())
    for scale in (0.01, 1.0, 30.0):
        spread = scale * np.abs(variances)
        actions = np.zeros((len(arms), 1), np.int64)
        assert not run_elimination(plan, means, spread, make_pool(plan, len(factors), 2), actions)
        assert run_elimination(plan, means, spread, make_pool(plan, len(factors), 4096), actions)
        bounds = values + np.sqrt(spread[entries].sum(axis=1))
        assert bounds[(joint == actions[:, 0]).all(axis=1)][0] == pytest.approx(bounds.max())


def test_joint_learner_finds_the_best_joint_actions():
    """For weights between those of training, too."""
    game, expected = (momagames.spec("mo-gem-mining-v0", **GEMS, reward_mode=mode) for mode in ("sampled", "expected"))
    chain, made = Chain.from_state(expected.blank_state), BanditJoint(divisions=2)
    values = np.array([chain.evaluate(actions) for actions in product(*map(range, chain.reach.tolist()))])
    policies = train(made, game, 30_000).make_policies()
    for weights in ((1, 0), (0.6, 0.4), (0.3, 0.7), (0, 1)):
        actions = policies.compile("", weights, True).arrays["probabilities"].argmax(axis=1)
        assert chain.evaluate(actions) @ weights > (values @ weights).max() - 0.03


@pytest.mark.parametrize("name", ["bandit_ucb", "bandit_gradient", "bandit_joint"])
def test_seeds_reproduce(name):
    game, made = momagames.spec("mo-gem-mining-v0", **GEMS), method(name)(divisions=1)
    arrays = [train(made, game, 2_000, seed).make_policies().arrays for seed in (1, 1, 2)]
    assert all(arrays[0][key].tobytes() == arrays[1][key].tobytes() for key in arrays[0])
    assert any(arrays[0][key].tobytes() != arrays[2][key].tobytes() for key in arrays[0])


def test_greedy_policies_play_the_likeliest_arm_and_others_draw():
    game = coins.game(COINS, agents=2)
    trained = train(BanditGradient(alpha=0.01), game, 3_000, fixed_weights=(1.0, 0.0)).make_policies()
    table = trained.probabilities[0]
    assert np.allclose(table.sum(axis=1), 1)
    batch = Batch(game, 4000)
    batch.reset()
    for greedy in (True, False):
        policy = trained.compile("", (1.0, 0.0), greedy)
        actions = SeatedPolicies(batch, [policy], [0, 0], 5).act()[:, :, 0]
        shares = np.stack([np.bincount(actions[:, agent], minlength=3) / 4000 for agent in range(2)])
        assert np.allclose(shares, np.eye(3)[table.argmax(axis=1)] if greedy else table, atol=0.04)


def test_difference_rewards_lead_drivers_to_the_optimum_and_own_ones_to_an_equilibrium():
    game = momagames.spec("mo-route-choice-v0", num_agents=30)
    counted = count_agents(game, generate_starts(game, np.zeros(1, np.uint64))[0])
    means = {}
    for signal in ("local", "difference"):
        history = pull(BanditGradient(signal=signal), game, 20_000, (1.0, 0.0))[-1]
        counts = np.bincount(history, minlength=3)[None, None]
        means[signal] = counted.average(counts)[0, 0]
    assert means["difference"] == pytest.approx(counted.find_best()[0], rel=0.01)
    equilibria = counted.list_equilibria([1, 0]).means[:, 0]
    assert means["local"] == pytest.approx(equilibria.mean(), rel=0.05)


def test_global_signal_is_the_mean_of_all_agents():
    game = coins.game(((1.0, 0.0), (0.0, 1.0)), agents=2, sampled=False)
    (learner,) = (
        BanditUcb(signal="global", inertia=0).make_trainer(TrainingSetup([game], 1, 0, fixed_weights=(1.0, 0.0))).learners
    )
    history = np.zeros((1, 2), np.int16)
    learner.pull(1, history)
    assert learner.tables.highs.tolist() == [(2 - history.sum()) / 2] * 2


@pytest.mark.parametrize(
    ("made", "id", "params", "message"),
    [
        (BanditUcb(), "mo-samegame-v0", {}, "bandit_ucb needs .* one step: expected 1 step, mo-samegame-v0 has"),
        (BanditUcb(), "mo-beach-v0", {"num_timesteps": 3}, "expected 1 step, mo-beach-v0 has up to 3"),
        (BanditJoint(), "mo-beach-v0", {"num_agents": 2}, "that of mo-beach-v0 is drawn: expected a given"),
        (BanditJoint(), "mo-route-choice-v0", {}, r"bandit_joint: about 10\^2004 entries of local rewards: expected"),
        (BanditJoint(rule="pareto"), "mo-gem-mining-v0", {}, "invalid rule='pareto' for mo-gem-mining-v0: expected"),
    ],
)  # fmt: skip
def test_games_that_do_not_fit(made, id, params, message):
    with pytest.raises(InvalidParameter, match=message):
        made.check_train(momagames.spec(id, **params))


def test_difference_rewards_need_a_game_that_declares_them():
    with pytest.raises(InvalidParameter, match="invalid signal='difference' for coins-v0: expected 'local' or 'global'"):
        BanditUcb(signal="difference").check_train(coins.game(COINS))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bandit_ucb", {"signal": "globl"}, "invalid signal='globl': expected .* did you mean 'global'"),
        ("bandit_ucb", {"radius": "ucb"}, "invalid radius='ucb': expected 'ucb1' or 'tuned'"),
        ("bandit_ucb", {"inertia": 1}, "invalid inertia=1"),
        ("bandit_gradient", {"alpha": 0}, "invalid alpha=0"),
        ("bandit_joint", {"rule": "front"}, "invalid rule='front'"),
        ("bandit_joint", {"divisions": 0}, "invalid divisions=0"),
        ("bandit_ucb", {"greedy": "maybe"}, "invalid greedy='maybe': expected True or False"),
        ("cross_entropy", {"greedy": "maybe"}, "invalid greedy='maybe': expected True or False"),
    ],
)
def test_invalid_options(name, options, message):
    with pytest.raises(InvalidParameter, match=message):
        method(name)(**options)


def test_chosen_for_games_of_one_step():
    assert choose_learner(momagames.spec("mo-gem-mining-v0")).name == "bandit_joint"
    crowd = momagames.spec("mo-route-choice-v0")
    assert choose_learner(crowd) is BanditUcb
    assert BanditUcb.choose_budget(crowd) * len(crowd.agents) == pytest.approx(1e9, rel=0.01)


def test_given_start_positions():
    """A game whose start is drawn is a bandit from a given one."""
    game = momagames.spec("mo-beach-v0", num_agents=6, sections=3, capacity=2)
    starts = generate_starts(game, np.array([3], np.uint64))
    trainer = train(BanditUcb(signal="difference", divisions=1), game, 4_000, starts=starts)
    policy = trainer.make_policies().compile("", (1, 0), True)
    batch = Batch(game, 1)
    batch.load(starts)
    assert policy.arrays["probabilities"].shape == (6, 3)
