"""Safe actions: sound and complete against a search with the rules themselves, and blind to what the agent cannot see."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method, policy
from momagames.benchmark.choices import Opponent
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies, play_policies
from momagames.errors import InvalidParameter, UnknownId
from momagames.games.pommerman.agents.safety_kernels import HORIZON, clear_unsafe_actions, find_safe_actions
from momagames.games.pommerman.rules import step
from momagames.games.pommerman.rules.state import LAY, STOP
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import random_words
from tests.games.pommerman.hidden import change_hidden

pytestmark = pytest.mark.compiled  # plays hundreds of games


def _find(states, agent, level):
    return find_safe_actions(states[0], agent, level)


def _clear(states, agent, caution, mask):
    clear_unsafe_actions(states[0], agent, caution, mask)


def _advance(states, actions, reward):
    step(states[0], actions, reward)


find, clear, advance = (compile_entry_point(f, f"tests.safety.{f.__name__}") for f in (_find, _clear, _advance))


def walk(game, seats, count, seed=0, names=("safe:random", "stationary")):
    """Yield the states of games between these policies, record[count], step by step."""
    batch = Batch(game, count, autoreset="disabled")
    batch.load(generate_starts(game, np.arange(seed, seed + count, dtype=np.uint64)))
    policies = [batch_policy(name, game, **({"caution": 1} if name.startswith("safe:") else {})) for name in names]
    agents = len(game.agents)
    seated = SeatedPolicies(batch, policies, seats, random_words(seed, count * agents).reshape(count, agents))
    while not batch.states["over"].all():
        yield batch.states
        batch.step(seated.act())


def survives(game, state, action):
    """Whether agent 0 can survive after this action while the others stand still, by steps of the rules; it lays no more bombs.

    Without kicks the rest of the position depends on the number of steps alone, so that one position for each cell is enough.
    """
    frontier = {None: state}
    for number in range(HORIZON):
        following = {}
        for one in frontier.values():
            for choice in (action,) if number == 0 else range(STOP, LAY):
                states, actions = np.zeros(1, game.dtype), np.zeros((len(game.agents), len(game.actions)), np.int64)
                states[0] = one
                actions[0, 0] = choice
                advance(states, actions, np.zeros((len(game.agents), len(game.objectives)), np.float32))
                states["kick"] = 0  # it may have picked up the item
                if states["alive"][0, 0]:
                    following[int(states["row"][0, 0]), int(states["col"][0, 0])] = states[0].copy()
        frontier = following
    return bool(frontier)


@pytest.mark.parametrize("id", ["mo-pommerman-duel-v0", "mo-pommerman-ffa-v0", "mo-pommerman-ffa-collapse-v0"])
@pytest.mark.long
def test_equals_a_search_with_the_rules(id):
    game = momagames.spec(id)
    seats = [0] + [1] * (len(game.agents) - 1)
    checked = unsafe = 0
    for number, states in enumerate(walk(game, seats, 12)):
        for state in states[number % 7 :: 7]:
            is_dangerous = state["bombs"] > 0 or state["burning"] > 0
            if state["over"] or not state["alive"][0] or state["kick"][0] or not is_dangerous or state["ply"] > 700:
                continue
            expected = [survives(game, state, action) for action in range(LAY + 1)]
            safe = find(state.reshape(1), 0, 0)
            assert [bool(safe >> action & 1) for action in range(LAY + 1)] == expected, (state["ply"], expected, bin(safe))
            checked += 1
            unsafe += not all(expected)
        if checked > 80:
            break
    assert checked > 60
    assert unsafe > 15


@pytest.mark.long
@pytest.mark.parametrize("caution", [1, 2])
@pytest.mark.parametrize("id", ["mo-pommerman-duel-v0", "mo-pommerman-ffa-collapse-v0"])
def test_a_safe_random_player_does_not_die_alone(id, caution):
    """Against agents that do nothing; unfiltered, it blows itself up nearly always."""
    game = momagames.spec(id)
    agents, count = len(game.agents), 60
    starts = generate_starts(game, np.arange(100, 100 + count, dtype=np.uint64))
    dead = []
    for name, options in (("random", {}), ("safe:random", {"caution": caution})):
        policies = [batch_policy(name, game, **options), batch_policy("stationary", game)]
        seats, words = np.tile([0] + [1] * (agents - 1), (count, 1)), random_words(5, count * agents).reshape(count, agents)
        ends = play_policies(game, starts, policies, seats, words).states
        dead.append(int((ends["alive"][:, 0] == 0).sum()))
    assert dead[0] > 0.8 * count
    assert dead[1] == 0


@pytest.mark.parametrize("id", ["mo-pommerman-team-v0", "mo-pommerman-radio-v0"])
@pytest.mark.long
def test_hidden_information_changes_nothing(id):
    game = momagames.spec(id)
    rng, checked, cleared = np.random.default_rng(0), 0, 0
    for states in walk(game, [0, 1, 0, 1], 6, names=("safe:random", "simple")):
        for state in states[: 1 + len(states) // 3]:
            agent = int(rng.integers(4))
            if state["over"] or not state["alive"][agent]:
                continue
            changed = change_hidden(state, agent, rng)
            masks = []
            for given in (state.reshape(1), changed):
                mask = np.ones(game.mask_size, np.int8)
                clear(given, agent, 2, mask)
                masks.append(mask.tolist())
            assert masks[0] == masks[1]
            checked += 1
            cleared += not all(masks[0])
    assert checked > 200
    assert cleared > 50


@pytest.mark.long
def test_a_safe_policy_by_name():
    game = momagames.spec("mo-pommerman-ffa-v0")
    assert batch_policy("safe:simple", game).label == "safe:simple"
    assert batch_policy("safe:simple", game, caution=1).label == "safe:simple(caution=1)"
    assert method("safe:simple", game)(caution=2).policies(game)[0].label == "safe:simple"
    assert Opponent(name="safe:random", options={"caution": 1}).make_policy(game).label == "safe:random(caution=1)"
    env = momagames.make("mo-pommerman-ffa-v0", api="gymnasium", others="safe:simple")
    env.reset(seed=0)
    for _ in range(20):
        env.step(0)
    chosen = policy("safe:simple", game, agent=1)
    start = generate_starts(game, np.zeros(1, np.uint64))
    mask = np.ones(game.mask_size, np.int8)
    assert game.actions[0] > chosen(start[0], mask, np.random.default_rng(0)) >= 0


@pytest.mark.parametrize(
    ("name", "id", "options", "error", "message"),
    [
        ("safe:random", "mo-samegame-v0", {}, InvalidParameter, "mo-samegame-v0 does not declare safe actions"),
        ("safe:simpel", "mo-pommerman-ffa-v0", {}, UnknownId, "did you mean 'simple'"),
        ("safe:simple", "mo-pommerman-ffa-v0", {"caution": 3}, InvalidParameter, "caution=3"),
    ],
)
def test_errors(name, id, options, error, message):
    with pytest.raises(error, match=message):
        batch_policy(name, momagames.spec(id), **options)
