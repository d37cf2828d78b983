"""The network of MOPPO that scores candidate actions: what it reads, its policies, and its training."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.candidates.policy import CandidatePolicy
from momagames.baselines.moppo.candidate_views import CandidateViews
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.options import DEFAULT_OPTIONS
from momagames.baselines.trainer import train_to_end
from momagames.baselines.training_setup import TrainingSetup
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies, play_policies
from momagames.errors import InvalidParameter
from tests.baselines.moppo.test_moppo import SMALL, TINY, check_resumed, make_trainer

SAMEGAME = {"board_width": 5, "board_height": 4, "num_colors": 2}
TILEBLAST = {"level": 1, "objectives": ("goals", "move")}
BREAKTHROUGH = {"board_width": 3, "board_height": 5}


def play_batch(game):
    """Positions after one random step, most of which leave a choice."""
    batch = Batch(game, 6, autoreset="disabled")
    batch.seed(5)
    batch.reset()
    batch.step(batch.sample_actions(np.random.default_rng(0).integers(2**63, size=6, dtype=np.uint64)))
    return batch


def test_views_are_the_features_of_the_candidate_policy(torch):
    """Every part of the decisions is as the policy of the trained scorer computes it, however often room is made."""
    game = momagames.spec("mo-samegame-v0", **SAMEGAME)
    policy, batch = CandidatePolicy(game, hidden=3), play_batch(game)
    weights = np.random.default_rng(0).dirichlet(np.ones(2), 6).astype(np.float32)
    views = CandidateViews(game, 6, np.random.default_rng(1))
    for part in (np.array([0, 1]), np.array([2, 3, 4]), np.array([5])):
        assert views.append(batch.states, part, np.zeros(len(part), np.int64), weights[part]).tolist() == part.tolist()
    rows, cursor = np.zeros((6 * game.mask_size, policy.features.count), np.float32), np.zeros(1, np.int64)
    memories = policy.initial_memories(np.zeros((6, policy.num_parameters)), weights.astype(np.float64))
    seated = SeatedPolicies(batch, [policy.compile((rows, cursor))], [0], 0, memories)
    batch.lengths[:] = 0  # memories are set at the start of an episode
    seated.act()
    assert 6 < cursor[0] == views.starts[-1] == views.steps
    assert np.array_equal(views.features[: cursor[0]], rows[: cursor[0]])
    counts = np.diff(views.starts)
    for i in range(6):
        actions = views.actions[views.starts[i] : views.starts[i + 1]]
        assert (batch.masks[i, 0][actions] != 0).all()
        assert views.positions[i, -1] == counts[i] == len(set(actions.tolist()))
    chosen = np.array([4, 1])
    candidates, decisions = views.select(chosen)
    assert decisions.tolist() == [0] * counts[4] + [1] * counts[1]
    assert candidates.tolist() == [*range(views.starts[4], views.starts[5]), *range(views.starts[1], views.starts[2])]
    values_only = CandidateViews(game, 6, np.random.default_rng(1), looks_ahead=False)
    values_only.append(batch.states, np.arange(6), np.zeros(6, np.int64), weights)
    assert values_only.steps == values_only.starts[-1] == 0
    assert np.array_equal(values_only.positions, views.positions)


def test_logits_are_the_scores_of_the_policy(torch):
    """A greedy policy takes the action with the highest logit; actions that are no candidates have none."""
    trainer = make_trainer("mo-samegame-v0", SAMEGAME)
    network, batch = trainer.model.network, play_batch(trainer.game)
    with torch.no_grad():
        for one in (network.actor.linear, network.actor.output):
            one.copy_(torch.randn(one.shape, generator=torch.Generator().manual_seed(2)))
    weights = np.tile(np.array([[0.3, 0.7]], np.float32), (6, 1))
    views = trainer.model.make_views(trainer.game, 6, np.random.default_rng(0), 1)
    rows = views.append(batch.states, np.arange(6), np.zeros(6, np.int64), weights)
    with torch.no_grad():
        logits, values = trainer.model.forward_views((views, rows))
    assert values.shape == (6, 2)
    assert (logits > -1e6).sum(1).tolist() == np.diff(views.starts).tolist()
    compiled = trainer.make_policies().compile("", [0.3, 0.7], True)
    batch.lengths[:] = 0
    chosen = SeatedPolicies(batch, [compiled], [0]).act()[:, 0, 0]
    best = logits.gather(1, torch.from_numpy(chosen)[:, None])[:, 0]
    assert torch.allclose(best, logits.amax(1), atol=1e-4)


def test_weights_steer_a_trained_policy(torch):
    """More of an objective than for the other's weights, and more of both than before."""
    options = {"num_envs": 32, "learning_rate": 1e-2, "update_epochs": 3, "hidden": 16}
    trainer = make_trainer("mo-samegame-v0", {**SAMEGAME, "board_height": 5}, 60_000, **options)
    game = trainer.game
    starts, words = generate_starts(game, np.arange(100, dtype=np.uint64)), np.arange(100, dtype=np.uint64)[:, None].copy()

    def play():
        policies = [trainer.make_policies().compile("", row, True) for row in ([1, 0], [0, 1])]
        returns = [play_policies(game, starts, [one], np.zeros((100, 1), np.int64), words).returns[:, 0] for one in policies]
        return np.mean(returns, axis=1)

    before = play()
    train_to_end(trainer)
    after = play()
    assert (after.diagonal() > before.diagonal() + 5).all()
    assert (after.diagonal() > after[::-1].diagonal() + 10).all()


def test_look_ahead_counts(torch):
    """Steps of the budget are those of the environments and one for each candidate; the archive of plans counts alike."""
    trainer = make_trainer("mo-samegame-v0", SAMEGAME)
    rollout = trainer.collector.collect(is_cloning=False)
    looked = int(rollout.inputs.starts[rollout.is_decision.sum()])
    assert looked > rollout.is_decision.sum()
    assert trainer.steps == SMALL["num_envs"] * SMALL["num_steps"] + looked
    assert (rollout.masks[rollout.is_decision].sum(axis=1) == np.diff(rollout.inputs.starts)[: rollout.is_decision.sum()]).all()


def test_a_stored_policy_plays_like_the_trained_one(torch):
    trainer = make_trainer("mo-tileblast-v0", TILEBLAST, 4000, hidden=5)
    train_to_end(trainer)
    method, game = trainer.options, trainer.game
    trained = trainer.make_policies()
    for policy in method.select_policies(game, trained):
        restored = method.restore(game, policy.label, policy.arrays)
        again = method.restore_policies(game, trained.arrays).compile(policy.label, policy.weights, True)
        starts, words = generate_starts(game, np.arange(8, dtype=np.uint64)), np.arange(8, dtype=np.uint64)[:, None].copy()
        played = [
            play_policies(game, starts, [one], np.zeros((8, 1), np.int64), words, keep_moves=True).moves.tolist()
            for one in (policy, restored, again)
        ]
        assert played[0] == played[1] == played[2]
    with pytest.raises(InvalidParameter, match="invalid array parameters of 'moppo'"):
        Moppo(**{**TINY, "hidden": 6}).restore_policies(game, trained.arrays)


RESUMED = {
    "opponents": ("mo-breakthrough-v0", BREAKTHROUGH, ("random", "greedy"), {"network": "candidates"}),
    "chance": ("mo-tileblast-v0", TILEBLAST, (), {"expert": "greedy", "bc_fraction": 0.0004}),
}


@pytest.mark.parametrize("case", RESUMED)
def test_resumed_training_is_equal_to_the_bit(torch, case, tmp_path):
    check_resumed(*RESUMED[case], tmp_path)


def test_behavior_cloning_imitates_candidates_alone(torch):
    """Actions of the expert that are no candidates teach nothing; the others make the expert's choice likely."""
    options = {"expert": "greedy", "bc_fraction": 1.0, "learning_rate": 1e-2, "num_envs": 32}
    trainer = make_trainer("mo-samegame-v0", SAMEGAME, 40_000, **options)
    first = trainer.train_iteration()["loss/policy"]
    while not trainer.is_done:
        assert trainer.is_cloning
        last = trainer.train_iteration()["loss/policy"]
    assert 0 <= last < 0.75 * first
    rollout = trainer.collector.collect(is_cloning=True)
    actions, masks = rollout.actions[rollout.is_decision][:, 0], rollout.masks[rollout.is_decision]
    assert masks[np.arange(len(masks)), actions].all()


def test_several_games_share_a_scorer(torch):
    games = [momagames.spec("mo-tileblast-v0", **{**TILEBLAST, "level": level}) for level in (1, 2)]
    method = Moppo(**TINY)
    method.check_setup(setup := TrainingSetup(games, 3000))
    trainer = method.make_trainer(setup)
    train_to_end(trainer)
    assert trainer.progress.updates >= 2
    assert np.isfinite(trainer.make_policies().arrays["parameters"]).all()


def test_choice_of_the_network():
    """By default where a game declares features for each objective, and no egocentric view."""
    game = momagames.spec("mo-samegame-v0")
    for options in (TINY, {**TINY, "network": "candidates"}):
        assert Moppo(**options)._count_inputs(game) == (CandidatePolicy(game).features.count,)
    assert Moppo.default_options(game).items() >= {"hidden": 32, "learning_rate": 2e-2, "num_envs": 128}.items()
    walk = momagames.spec("mo-gemwalk-v0")
    assert len(Moppo(**TINY)._count_inputs(walk)) == 4
    assert len(Moppo(**{**TINY, "network": "candidates"})._count_inputs(walk)) == 1
    assert len(Moppo(**TINY)._count_inputs(momagames.spec("mo-breakthrough-v0"))) == 4
    with pytest.raises(InvalidParameter, match="network='candidates' for mo-pommerman-duel-v0: expected 'auto' or 'con"):
        Moppo(**{**TINY, "network": "candidates"}).check_train(momagames.spec("mo-pommerman-duel-v0"))
    with pytest.raises(InvalidParameter, match="invalid hidden=300: expected"):
        Moppo(**{**DEFAULT_OPTIONS, "hidden": 300}).check_train(game)


def test_opponents_of_the_pool_are_earlier_scorers(torch):
    opponents = [batch_policy("random", momagames.spec("mo-breakthrough-v0", **BREAKTHROUGH))]
    trainer = make_trainer("mo-breakthrough-v0", BREAKTHROUGH, 10**6, opponents=opponents, network="candidates")
    first = trainer.model.export_actor()["parameters"]
    for _ in range(10):
        trainer.train_iteration()
    pool = [one["parameters"] for one in trainer.collector.opponents.pool]
    assert [np.array_equal(one, first) for one in pool] == [True, False]
    assert np.array_equal(pool[1], trainer.model.export_actor()["parameters"])
