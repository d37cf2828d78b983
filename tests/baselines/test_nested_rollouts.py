"""Nested rollouts of the champion, beside their definition in Python."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method, policy
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.errors import InvalidParameter
from momagames.kernels.rng import random_words

pytestmark = pytest.mark.long  # kernels of methods in several games

SMALL = {"board_width": 4, "board_height": 4, "num_colors": 3}
WEIGHTS = np.array([0.5, 0.3, 0.2])


def play_action(one, action):
    """Return a copy after the action, and its weighted reward."""
    after = Episode(one.game)
    after.load(one.state)
    before = after.returns[0] @ WEIGHTS
    after.step(action)
    return after, after.returns[0] @ WEIGHTS - before


def evaluate_actions(one, level, champion):
    """Return action -> the weighted return of its rollout of this level."""
    values = {}
    for action in np.flatnonzero(one.mask(0)).tolist():
        after, gained = play_action(one, action)
        best = -np.inf
        while not after.state["over"]:
            if level == 0:
                chosen = champion(after.state, after.mask(0), np.random.default_rng(0))
            else:
                found = evaluate_actions(after, level - 1, champion)
                chosen = max(found, key=found.get)
                best = max(best, gained + found[chosen])
            after, reward = play_action(after, chosen)
            gained += reward
        values[action] = max(best, gained)
    return values


@pytest.mark.parametrize("level", [1, 2])
def test_plays_the_action_whose_rollout_ends_best(level):
    game = momagames.spec("mo-samegame-v0", **SMALL)
    nested = policy("nested_rollouts", game, weights=WEIGHTS.tolist(), level=level)
    champion, one, decisions = policy("champion", game, weights=WEIGHTS.tolist()), Episode(game), 0
    for seed in range(4):
        one.reset(seed)
        while not one.state["over"]:
            values = evaluate_actions(one, level - 1, champion)
            action = nested(one.state, one.mask(0), np.random.default_rng(0))
            assert values[action] == pytest.approx(max(values.values()))
            decisions += len(set(values.values())) > 1
            one.step(action)
    assert decisions > 3


def test_more_levels_return_more_and_count_their_steps():
    game = momagames.spec("mo-samegame-v0", board_width=7, board_height=7, num_colors=3)
    starts, words = generate_starts(game, np.arange(20, dtype=np.uint64)), random_words(1, 20).reshape(20, 1)
    results = []
    for name, options in (("champion", {}), ("nested_rollouts", {}), ("nested_rollouts", {"level": 2})):
        players = [batch_policy(name, game, weights=WEIGHTS.tolist(), **options)]
        played = play_policies(game, starts, players, np.zeros((20, 1), np.int64), words)
        results.append((played.returns[:, 0].mean(axis=0) @ WEIGHTS, played.steps.sum()))
    returns, steps = zip(*results, strict=True)
    assert returns[0] < 0.97 * returns[1]
    assert returns[1] < returns[2]
    assert 10 * steps[0] < steps[1] < steps[2] / 5


def test_plans_within_the_budget():
    game = momagames.spec("mo-samegame-v0", **SMALL)
    start = generate_starts(game, np.array([3], np.uint64))
    found = method("nested_rollouts")(divisions=2).plan(game, start, 20_000, 0)
    assert 0 < found.steps <= 20_000
    for plan in found.plans:
        one = Episode(game)
        one.load(start[0])
        for action in plan.actions:
            one.step(action)
        assert one.returns[0].tolist() == plan.value.tolist()


def test_rejects_what_it_cannot_play():
    for id, params, options, message in [
        ("mo-samegame-v0", SMALL, {"level": 0}, r"nested_rollouts: invalid level=0"),
        ("mo-samegame-v0", SMALL, {"scorer": "greedy"}, "invalid scorer='greedy': expected 'champion', or the checkpoint"),
        ("mo-samegame-v0", {"num_agents": 2}, {}, "mo-samegame-v0 has several agents or chance during play"),
        ("mo-tileblast-v0", {}, {}, "mo-tileblast-v0 has several agents or chance during play"),
    ]:
        game = momagames.spec(id, **params)
        with pytest.raises(InvalidParameter, match=message):
            policy("nested_rollouts", game, **options)
        with pytest.raises(InvalidParameter, match=message):
            method("nested_rollouts")(divisions=1, **options).check_plan(game)
