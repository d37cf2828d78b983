"""Greedy policies with an estimate of the future return."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method, policy
from momagames.benchmark.choices import MethodChoice, Opponent
from momagames.benchmark.replays import _replay_with_rules
from momagames.engine.episode import Episode
from momagames.engine.playouts import OPTIMISM, generate_starts, play_episodes
from momagames.engine.policies import play_policies, policy_weights
from momagames.errors import InvalidParameter
from momagames.kernels.rng import random_words
from tests.baselines import gambles
from tests.baselines.test_methods import list_groups

SMALL = {"board_width": 5, "board_height": 5, "num_colors": 3}
FACTORS = {"none": (0, 0), "present": (1, 0), "optimistic": (0, 1), "both": (1, OPTIMISM)}


def list_estimates(game, state):
    """Return the sums of the squared sizes of the groups, and of the tiles, of each color, float[2, colors]."""
    estimates = np.zeros((2, len(game.objectives)))
    groups = list_groups(game.codec.save(state)["board"])
    for color, size in groups:
        estimates[0, color - 1] += size**2 * (size > 1)
        estimates[1, color - 1] = sum(other for c, other in groups if c == color)
    estimates[1] **= 2
    return estimates * (not state["over"]) * np.stack([np.ones(3), estimates[1] > 1])


@pytest.mark.parametrize("estimate", FACTORS)
def test_plays_the_best_sum_of_reward_and_estimate(estimate):
    game, rng = momagames.spec("mo-samegame-v0", **SMALL), np.random.default_rng(0)
    weights = (1, 0, 0) if estimate in ("none", "both") else (0.5, 0.25, 0.25)
    chosen = policy("greedy", game, weights=weights, estimate=estimate)
    one, trial, decisions = Episode(game), Episode(game), 0
    for seed in range(5):
        one.reset(seed)
        while not one.state["over"]:
            values = {}
            for action in np.flatnonzero(one.mask(0)).tolist():
                trial.load(one.state)
                trial.step(action)
                values[action] = trial.returns[0] @ weights + FACTORS[estimate] @ list_estimates(game, trial.state) @ weights
            action = chosen(one.state, one.mask(0), rng)
            assert values[action] == pytest.approx(max(values.values()))
            one.step(action)
            decisions += len(set(values.values())) > 1
    assert decisions > 5


@pytest.mark.long
def test_compiled_episodes_equal_those_of_seated_policies():
    """Two ways to play the same policies; in a game without draws and ties the generator words do not matter."""
    game = momagames.spec("mo-samegame-v0", **SMALL)
    chosen = [batch_policy("greedy", game, weights=[0.5, 0.3, 0.2], estimate="both")]
    starts, words = generate_starts(game, np.arange(6, dtype=np.uint64)), random_words(1, 6).reshape(6, 1)
    rules = np.full((6, 1), chosen[0].rule)
    played = play_episodes(game, starts, rules, policy_weights(game, chosen)[:, None].repeat(6, axis=0), words)
    seated = play_policies(game, starts, chosen, np.zeros((6, 1), np.int64), words)
    assert np.isclose(played.returns, seated.returns).all(axis=(1, 2)).sum() >= 5


def test_an_estimate_beats_plain_greedy_on_unseen_boards():
    game = momagames.spec("mo-samegame-v0")
    starts = generate_starts(game, np.arange(500, 520, dtype=np.uint64))
    points = []
    for estimate in ("none", "both"):
        chosen = [batch_policy("greedy", game, estimate=estimate)]
        points.append(
            play_policies(game, starts, chosen, np.zeros((20, 1), np.int64), random_words(2, 20).reshape(20, 1)).returns
        )
    assert points[1].sum() > 1.2 * points[0].sum()


@pytest.mark.long
def test_actions_do_not_depend_on_the_draws_to_come():
    """A copy that is stepped draws by itself: what the game will draw is unknown to the policy."""
    game = momagames.spec("mo-tileblast-v0", level=5)
    chosen = policy("greedy", game, estimate="present")
    one = Episode(game)
    one.reset(3)
    while not one.state["over"]:
        actions = set()
        for word in (one.state["rng"], 1, 2, 3):
            state = one.state.copy()
            state["rng"] = word
            actions.add(chosen(state, one.mask(0), np.random.default_rng(int(one.state["ply"]))))
        assert len(actions) == 1
        one.step(actions.pop())


@pytest.mark.long
def test_gambles_with_draws_of_its_own():
    """The last move doubles a reward or loses it: the same decision, whatever the game will draw."""
    rewards = np.zeros((3, 3, 2, 2))
    rewards[:, 1:, 1] = 1
    game = gambles.game(rewards, gamble=True)
    chosen = policy("greedy", game)
    one = Episode(game)
    one.reset(1)
    one.step(0)
    actions = np.zeros((8, 8), np.int64)
    for word, seed in np.ndindex(8, 8):
        state = one.state.copy()
        state["rng"] = word
        actions[word, seed] = chosen(state, one.mask(1), np.random.default_rng(seed))
    assert (actions == actions[0]).all()
    assert set(actions[0].tolist()) == {1, 2}


def test_rejects_what_has_no_estimate():
    for id, params, estimate, message in [
        ("mo-breakthrough-v0", {}, "present", "2 agents with rewards of their own"),
        ("mo-samegame-v0", {"num_agents": 2}, "both", "2 agents with rewards of their own"),
        (
            "mo-robotmail-v0",
            {"num_players": 1, "num_robots_per_player": 1},
            "present",
            "estimate='present': expected 'none', because it has no estimates",
        ),
        ("mo-samegame-v0", {}, "presnt", "did you mean 'present'"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            policy("greedy", momagames.spec(id, **params), estimate=estimate)


def test_replayed_episodes_have_the_estimate():
    game = momagames.spec("mo-samegame-v0", **SMALL)
    chosen = batch_policy("greedy", game, weights=[0.5, 0.3, 0.2], estimate="both")
    starts, words = generate_starts(game, np.arange(4, dtype=np.uint64)), random_words(1, 4).reshape(4, 1)
    played = play_episodes(
        game, starts, np.full((4, 1), chosen.rule), np.tile(chosen.weights, (4, 1, 1)), words, keep_moves=True
    )
    for i in range(4):
        again = _replay_with_rules(game, starts[i : i + 1].copy(), chosen, chosen, [0], words[i : i + 1].copy())
        assert [int(action[0, 0]) for action in again] == played.moves[i, : played.lengths[i]].tolist()


def test_suites_may_leave_the_estimate_out():
    game = momagames.spec("mo-samegame-v0", **SMALL)
    plain = MethodChoice(name="greedy", options={"divisions": 2}).make_method(game)
    assert plain == method("greedy")(divisions=2, estimate="none")
    assert MethodChoice(name="greedy", options={"divisions": 2, "estimate": "both"}).make_method(game).estimate == "both"
    assert Opponent(name="greedy", options={"weights": []}).make_policy(game).rule == plain.policies(game)[0].rule
