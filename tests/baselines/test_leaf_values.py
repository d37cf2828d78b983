"""Tree search with the values of trained tables: what a new node gets, play, and games that do not fit."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method, policy
from momagames.baselines.checkpoint import save_checkpoint
from momagames.baselines.mcts.simulation import UctOptions
from momagames.benchmark.training import Training
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from momagames.errors import InvalidParameter
from momagames.kernels.jit import INTERPRETED
from tests.baselines.test_mcts import actions_of, arms_of, search_tree
from tests.baselines.test_ntuple import NTUPLE, breakthrough, naive_search, random_tables, round_tables, share_of_wins

pytestmark = pytest.mark.long  # kernels of methods in several games

OBJECTIVES, WEIGHTS = ("captures", "win", "losses"), np.array([0.25, 0.25, 0.5])


def save_tables(path, game, weights):
    """Write a checkpoint of random tables for these weights; return it as a name, and the tables."""
    tables = round_tables(random_tables(game, weights))
    arrays = {"weights": weights[None], "return_scale": np.ones(len(weights)), "tables/0": tables}
    head = Training(game, NTUPLE, 0, 1, game.agents, ()).describe()
    save_checkpoint(path / "tables.npz", head, arrays, {})
    return str(path / "tables.npz"), tables.astype(np.float64)


def test_moves_of_a_new_node_have_the_values_of_the_tables(tmp_path):
    game = breakthrough(4, 6, OBJECTIVES)
    name, tables = save_tables(tmp_path, game, WEIGHTS)
    start = generate_starts(game, np.zeros(1, np.uint64))
    tree, workspace = search_tree(game, start, UctOptions(1, 0.3, 100, name), WEIGHTS)
    play = Episode(game)
    play.load(start[0])
    expected = naive_search(game, tables, WEIGHTS, play, 0, 1)
    found = {action: tree.sums[arm, 0] for action, arm in zip(actions_of(tree, 0), arms_of(tree, 0), strict=True)}
    assert found == pytest.approx(expected, abs=1e-5)
    assert all(tree.visits[arm] == 1 for arm in arms_of(tree, 0))
    assert tree.high[0, 0] == pytest.approx(max(expected.values()), abs=1e-5)
    assert WEIGHTS @ workspace.returns[0] == pytest.approx(max(expected.values()), abs=1e-5)


def test_replies_are_backpropagated(tmp_path):
    """After two playouts one move has the value of its best reply as well."""
    game = breakthrough(4, 6, OBJECTIVES)
    name, tables = save_tables(tmp_path, game, WEIGHTS)
    start = generate_starts(game, np.zeros(1, np.uint64))
    tree, workspace = search_tree(game, start, UctOptions(2, 0.0, 100, name), WEIGHTS)
    (arm,) = [arm for arm in arms_of(tree, 0) if tree.visits[arm] == 2]
    play = Episode(game)
    play.load(start[0])
    before = naive_search(game, tables, WEIGHTS, play, 0, 1)
    action = int(tree.action[arm])
    assert before[action] == pytest.approx(max(before.values()), abs=1e-5)
    reward = WEIGHTS @ play.reward[0]
    play.step(action)
    own_reward = WEIGHTS @ play.reward[0] - reward
    replies = naive_search(game, tables, WEIGHTS, play, 1, 1)
    best = max(replies, key=replies.get)
    own_value = naive_search(game, tables, WEIGHTS, play, 0, 1)[best]
    assert WEIGHTS @ workspace.returns[1] == pytest.approx(replies[best] + WEIGHTS @ play.reward[1], abs=1e-5)
    assert tree.sums[arm, 0] == pytest.approx(before[action] + own_reward + own_value, abs=1e-5)


def test_priors_are_the_softmax_of_the_values(tmp_path):
    game = breakthrough(4, 6, OBJECTIVES)
    name, tables = save_tables(tmp_path, game, WEIGHTS)
    start = generate_starts(game, np.zeros(1, np.uint64))
    tree, _ = search_tree(game, start, UctOptions(1, 0.3, 100, name, 0.2), WEIGHTS)
    play = Episode(game)
    play.load(start[0])
    values = naive_search(game, tables, WEIGHTS, play, 0, 1)
    odds = {action: np.exp(value / 0.2) for action, value in values.items()}
    found = {action: tree.priors[arm] for action, arm in zip(actions_of(tree, 0), arms_of(tree, 0), strict=True)}
    assert found == pytest.approx({action: one / sum(odds.values()) for action, one in odds.items()}, rel=1e-4)
    assert max(found.values()) > 2 * min(found.values())


@pytest.mark.parametrize("temperature", [0.0, 0.3])
@pytest.mark.parametrize("name", ["uct", "pareto_uct"])
@pytest.mark.skipif(INTERPRETED, reason="slow without the compiler")
def test_search_improves_on_the_tables(name, temperature):
    game = momagames.spec("mo-breakthrough-v0")
    weights = [1.0, 0.0, 0.0, 0.0]
    options = {"exploration": 0.6 if temperature else 0.1, "value": "champion", "prior_temperature": temperature}
    search = batch_policy(name, game, weights=weights, simulations=40, **options)
    assert share_of_wins(game, search, batch_policy("champion", game), 40) > 0.7


@pytest.mark.skipif(INTERPRETED, reason="slow without the compiler")
def test_suites_and_plans():
    game = momagames.spec("mo-breakthrough-v0")
    made = method("uct")(1, 8, 0.1, 100, "champion")
    assert made.options()["value"] == "champion"
    assert method("uct")(1, 8, 0.1, 100).options()["value"] == ""
    assert share_of_wins(game, made.policies(game)[0], batch_policy("random", game), 4) == 1


def test_rejects_what_does_not_fit():
    board, tiles = momagames.spec("mo-breakthrough-v0"), momagames.spec("mo-samegame-v0")
    for game, value in ((board, "champions"), (tiles, "champion"), (breakthrough(), "champion")):
        with pytest.raises(InvalidParameter, match=r"invalid value='champions?': expected 'champion', or the checkpoint"):
            policy("uct", game, value=value)
    with pytest.raises(InvalidParameter, match=r"invalid prior_temperature=0.3: expected 0 without a value"):
        policy("uct", board, prior_temperature=0.3)
    with pytest.raises(InvalidParameter, match="invalid value='champion'"):
        method("uct")(1, 8, 0.1, 100, "champion").check_plan(tiles)
