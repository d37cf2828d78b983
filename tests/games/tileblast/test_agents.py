"""MO-TileBlast's built-in policies: what they choose on boards made by hand, and against values worked out tap by tap."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, policy
from momagames.engine.batch import Batch
from momagames.engine.episode import Episode
from momagames.engine.policies import SeatedPolicies
from momagames.errors import UnknownId
from momagames.games.tileblast.rules.pieces import CODES, KINDS
from momagames.kernels.rng import random_words

pytestmark = pytest.mark.compiled

ONLY_POWER = [CODES[name] for name in ("snail", "stump", "basket")]
PER_HIT = [CODES[name] for name in ("bush", "gnomes")]
EMPTY = "#############\n"


def level(rows, goals, **more):
    """Return the data of a level with these lowest rows."""
    layout = EMPTY * (9 - len(rows)) + "".join(row.ljust(13, "#") + "\n" for row in rows)
    colors = ["red", "blue", "yellow"]
    return {"id": 1, "title": "By hand", "moves": 20, "colors": colors, "goals": goals, "layout": layout, **more}


def chosen(name, data, times=1, **params):
    """Return the first taps of a policy, with a new random seed each time."""
    batch = Batch(momagames.spec("mo-tileblast-v0", level=data, **params), times)
    batch.seed(3)
    batch.reset()
    batch.load(batch.states[:1].repeat(times))
    return set(SeatedPolicies(batch, [batch_policy(name, batch.game)], [0], seed=1).act()[:, 0, 0].tolist())


@pytest.mark.parametrize(
    ("rows", "goals", "legend", "taps"),
    [
        (["rrybb", "1rybd"], [("dandelion", 1)], "d: dandelion", {3}),  # the blue group touches it
        (["rrybb", "1rybd"], [("rock", 1)], "d: dandelion", {1}),  # the red one does
        (["rrbyy"], [("basic.yellow", 4)], "", {3}),  # tiles of the color that is asked for
        (["rrrrrbyy"], [("basic.yellow", 4)], "", {0}),  # a power piece is worth 4, two tiles are worth 2
        (["rrb-yyy"], [("basic.yellow", 4)], "", {3}),  # a power piece is worth 3.5
        (["rrb-yyyy"], [("basic.yellow", 4)], "", {4}),
        (["rryccbb"], [("cage", 2)], "c: cage+basic.blue", {5}),
        (["rryccbb"], [("cage", 2)], "c: cage+basic.red", {0, 5}),  # matches of another color do not open it
        (["rrtbb"], [("pot", 1)], "t: pot.blue", {3}),
        (["rrybbyggyr"], [("bubble", 2)], "g: bubble+basic.blue", {6}),
        (["rrybb"], [("power", 1)], "", {0, 3}),  # nothing to choose by: lots
    ],
)
def test_greedy_contact(rows, goals, legend, taps):
    signs = {"1": "rock:1", **dict([legend.split(": ")] if legend else [])}
    used = {sign: thing for sign, thing in signs.items() if any(sign in row for row in rows)}
    asked = [{"collect": name, "amount": amount} for name, amount in goals]
    assert chosen("greedy_contact", level(rows, asked, legend=used), 40) == taps


def points(state, goal):
    """Return the distance of a goal in a state."""
    total = int(state["rest"][goal])
    for cell in np.flatnonzero(state["kind"]):
        kind = int(state["kind"][cell])
        asked = int(state["goal_color"][goal])
        counts = int(state["goal_units"][goal]) >> kind & 1 and asked in (0, state["color"][cell])
        if counts and state["anchor"][cell] == cell and kind not in PER_HIT:
            total += int(state["hp"][cell]) * (1 + (kind in ONLY_POWER)) - 1
    return total if state["rest"][goal] else 0


def distance(state):
    return sum(points(state, goal) for goal in range(state["goals"]))


@pytest.mark.long
@pytest.mark.parametrize("number", [2, 4, 8, 11, 12])
def test_lookahead_plays_the_best_tap(number):
    """Play every valid tap; the policy selects the lowest of the best first taps of the groups."""
    game = momagames.spec("mo-tileblast-v0", level=number)
    one, many = Batch(game, 1), Batch(game, 117)
    one.seed(number)
    one.reset()
    players = SeatedPolicies(one, [batch_policy("one_step_lookahead", game)], [0])
    for _ in range(8):
        before = one.states[0].copy()
        valid = one.masks[0, 0].nonzero()[0]
        many.load(np.repeat(one.states, 117))
        many.step(np.arange(117).reshape(-1, 1, 1))
        value = np.full(117, -np.inf)
        seen = set()
        for cell in valid:
            after = many.states[cell]
            group = frozenset(connected(before, int(cell)))
            if KINDS[before["kind"][cell]].name == "basic" and group in seen:
                continue
            seen.add(group)
            created, used, hits, won = (int(after[name]) for name in ("created", "used", "hits", "won"))
            value[cell] = 10 * (distance(before) - distance(after)) + 6 * created - 5 * used + 0.5 * hits + 1000 * won
        assert players.act()[0, 0, 0] == value.argmax()
        one.step(one.last_actions)


def connected(state, cell):
    """Return the group of a basic."""
    found, todo = set(), [cell]
    same = (state["kind"] == state["kind"][cell]) & (state["color"] == state["color"][cell]) & (state["cover"] != 1)
    while todo:
        at = todo.pop()
        found.add(at)
        x, y = at % 13, at // 13
        beside = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
        todo += [a + 13 * b for a, b in beside if 0 <= a < 13 and 0 <= b < 9 and same[a + 13 * b] and a + 13 * b not in found]
    return found


@pytest.mark.parametrize("name", ["greedy_contact", "one_step_lookahead"])
@pytest.mark.long
def test_policy_in_a_single_environment(name):
    """In a single environment a policy plays valid taps, and the lookahead does not change the state."""
    game = momagames.spec("mo-tileblast-v0", level=5, invalid="raise")
    acts, play, rng = policy(name, game), Episode(game), np.random.default_rng(1)
    play.reset(4)
    while not play.state["over"]:
        before = play.state.tobytes()
        action = acts(play.state, play.mask(0), rng)
        assert play.state.tobytes() == before
        assert play.is_legal(0, action)
        play.step(action)
    with pytest.raises(UnknownId, match="invalid policy="):
        policy(name, momagames.spec("mo-samegame-v0"))


def test_greedy_contact_depends_on_its_seed_only():
    """Equal random states give equal games, for any number of environments."""
    game = momagames.spec("mo-tileblast-v0", level=3)
    ends = []
    for count in (3, 6):
        batch = Batch(game, count, autoreset="disabled")
        batch.seed(1)
        batch.reset()
        players = SeatedPolicies(batch, [batch_policy("greedy_contact", game)], [0], random_words(5, 6)[:count].reshape(-1, 1))
        while not batch.states["over"].all():
            batch.step(players.act())
        ends.append(batch.states[:3].tobytes())
    assert ends[0] == ends[1]
