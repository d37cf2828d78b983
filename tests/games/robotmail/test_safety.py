"""Safe actions: equal to a search with the rules themselves, and blind to what a robot cannot see; what they are worth."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, policy
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter
from momagames.games.robotmail.agents.routing_kernels import guaranteed_moves, possible_moves
from momagames.games.robotmail.agents.safety_kernels import clear_unsafe_actions, write_costs
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.rules import legal, step
from momagames.games.robotmail.rules.state import BACKWARD, FORWARD, GREEN, LEFT, PICKED_UP, RIGHT, STAND
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import random_words
from tests.games.robotmail import dense_positions

pytestmark = [pytest.mark.compiled, pytest.mark.long]  # kernels of methods in several games

ID = "mo-robotmail-v0"
ACTIONS = RIGHT + 1
HALL = {
    "colors": ["b,g,g,g,g,g,g,g,g,g,g,g,g,g,g", "g,w,w,g,gr,g,g,g,g,g,g,g,g,g,y"],
    "targets": ["0," * 14 + "0", "0," * 14 + "1"],
}
LONG = {"seed": 4, "width": 24, "height": 4, "density": 0.1, "chargers": 1}
LAYOUTS = ("tiny", "mini6", "ring", "tall", "street", LONG)


def _cost(states, agent, most, mask, costs):
    return write_costs(states[0], agent, most, mask, costs)


def _clear(states, agent, caution, mask):
    clear_unsafe_actions(states[0], agent, caution, mask)


def _advance(states, actions, reward):
    step(states[0], actions, reward)


def _bounds(power):
    return guaranteed_moves(power), possible_moves(power)


def _legal(states, agent, mask):
    legal(states[0], agent, mask)


cost, clear, advance, bounds, list_legal = (
    compile_entry_point(f, f"tests.robot_safety.{f.__name__}") for f in (_cost, _clear, _advance, _bounds, _legal)
)


def can_dock(game, state, agent, action):
    """Return whether a robot can reach a charger after this action without others in its way, whatever mails it takes."""
    searches = (search_with_the_rules(game, state, agent, action, mail) for mail in state["index"][: int(state["indices"])])
    for is_found, has_taken in searches:
        if not is_found or not has_taken:
            return is_found
    return True


def search_with_the_rules(game, state, agent, action, mail):
    """Return whether a robot can reach a charger if each green cell has this mail, and whether it takes one on the way.

    By steps of the rules, from all cells after the same number of moves at once.
    """
    start = state.copy()
    start["robot"][:] = 0
    states, mask = np.zeros(1, game.dtype), np.zeros(ACTIONS, np.int8)
    actions, reward = np.zeros((1, 1), np.int64), np.zeros((len(game.agents), len(game.objectives)), np.float32)
    green = (state["ground"] & 7) == GREEN
    frontier, choices = {(False,): start}, [action]
    docked = set()
    while frontier and not docked:
        following = {}
        for (has_taken, *_), one in frontier.items():
            states[0] = one
            list_legal(states, agent, mask)
            for choice in choices:
                if choice == STAND or mask[choice]:
                    states[0] = one
                    states["to_move"], states["left"], states["waiting"][0, green] = agent, 1, mail
                    actions[0, 0] = choice
                    advance(states, actions, reward)
                    takes = has_taken or states["event"][0] == PICKED_UP
                    following[(takes, *(int(states[key][0, agent]) for key in ("x", "y", "mail")))] = states[0].copy()
                    if int(states["docked"][0]) >> agent & 1:
                        docked.add(takes)
        frontier, choices = following, range(FORWARD, RIGHT + 1)
    return bool(docked), False not in docked


def positions(game, count):
    """Yield random positions of a game, far from its end."""
    for seed in range(count):
        layout = loader.load(game.params["layout"])
        state = load_state(game, dense_positions.random_position(layout, game.params, seed))[0]
        state["ply"], state["delivered"] = 0, 0
        yield state


def legal_mask(states, agent):
    mask = np.zeros(ACTIONS, np.int8)
    list_legal(states, agent, mask)
    return mask


def lowest(power):
    """The lowest inner battery that is displayed like this."""
    return float(np.nextafter(power - 1, power))


def count_moves(battery):
    """Moves until a battery is empty (SPEC §4.4)."""
    count = 0
    while battery > 0:
        battery, count = max(battery - (0.2 if battery > 2 else 0.1), 0), count + 1
    return count


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_costs_equal_a_search_with_the_rules(layout, interpreted):
    """Exactly the actions whose moves are within a battery lead to a charger with it, be it low or high for what it shows."""
    game = momagames.spec(ID, layout=layout)
    rng, found, costs = np.random.default_rng(0), [0, 0], np.zeros(ACTIONS, np.int64)
    for state in positions(game, 2 if interpreted else 40):
        power = int(rng.choice([1, 2, 2, 2, 3, 3, 4, 5]))
        for inner in (lowest(power), power):
            state["battery"][0] = inner
            states = state.reshape(1)
            mask = legal_mask(states, 0)
            cost(states, 0, count_moves(power), mask, costs)
            for action in np.flatnonzero(mask).tolist():
                expected = can_dock(game, state, 0, action)
                assert expected == (costs[action] <= count_moves(inner)), (power, inner, action, game.codec.show(state))
                found[expected] += 1
    assert interpreted or min(found) > 10


@pytest.mark.parametrize(("power", "least", "most"), [(1, 1, 11), (2, 11, 20), (3, 20, 25), (10, 55, 60)])
def test_moves_of_a_displayed_battery(power, least, most):
    assert bounds(power) == (least, most) == (count_moves(lowest(power)), count_moves(power))
    some = np.random.default_rng(power).uniform(power - 1, power, 2000)
    assert least == min(map(count_moves, some))


def clear_mask(state, agent=0, caution=1):
    """Return the legal actions of a robot, and those that are left."""
    states = state.reshape(1)
    mask = legal_mask(states, agent)
    left = mask.copy()
    clear(states, agent, caution, left)
    return set(np.flatnonzero(mask).tolist()), set(np.flatnonzero(left).tolist())


def in_the_hall(*robots, **params):
    """Return a position in a long hall, two rows high, with the charger on the left: [x, y, battery, stands] each."""
    game = momagames.spec(ID, **{"layout": HALL, "num_players": len(robots), **params})
    rows = [[x, y, 0, float(battery), int(np.ceil(battery)), 0, stands] for x, y, battery, stands in robots]
    return load_state(game, {"robots": rows, "mails": [1]})[0]


@pytest.mark.parametrize(
    ("x", "battery", "caution", "left"),
    [
        (9, 1.5, 1, {STAND, BACKWARD, LEFT, RIGHT}),  # 11 moves are certain with 2 displayed
        (10, 1.5, 1, {STAND, LEFT}),
        (11, 1.5, 1, {STAND, LEFT}),
        (13, 1.5, 1, {STAND, LEFT}),  # too far for certain, but it may arrive
        (9, 1.5, 2, {STAND, LEFT}),
        (6, 1.5, 2, {STAND, LEFT}),  # four moves are reserved with two robots
        (5, 1.5, 2, {STAND, BACKWARD, LEFT, RIGHT}),
        (8, 0.3, 1, {STAND, LEFT}),
        (12, 0.3, 1, {STAND, BACKWARD, LEFT, RIGHT}),  # stranded: 12 moves, and 11 at most
        (1, 0.3, 2, {STAND, LEFT}),
        (13, 2.1, 1, {STAND, BACKWARD, LEFT, RIGHT}),
        (13, 9.1, 2, {STAND, BACKWARD, LEFT, RIGHT}),
    ],
)
def test_reserves(x, battery, caution, left):
    legal_actions, remaining = clear_mask(in_the_hall([x, 0, battery, 0], [0, 1, 10, 0]), caution=caution)
    assert legal_actions == {STAND, BACKWARD, LEFT, RIGHT}
    assert remaining == left


def test_a_robot_that_must_move_while_its_way_is_blocked_makes_the_least_detour():
    assert clear_mask(in_the_hall([8, 1, 0.9, 5], [7, 1, 10, 0])) == ({FORWARD, RIGHT}, {FORWARD})
    blocked = in_the_hall([8, 0, 0.9, 5], [7, 0, 10, 0])
    assert clear_mask(blocked) == ({BACKWARD, RIGHT}, {BACKWARD, RIGHT})
    blocked["stands"][0] = 4
    assert clear_mask(blocked) == ({STAND, BACKWARD, RIGHT}, {STAND})


def test_nothing_is_cleared_without_energy_and_without_chargers():
    assert clear_mask(in_the_hall([9, 0, 0, 0], [1, 1, 10, 0])) == ({STAND}, {STAND})
    full = in_the_hall([9, 0, 10, 0], [1, 1, 10, 0], with_battery=False)
    full["battery"][0] = 0.1
    assert clear_mask(full) == ({STAND, BACKWARD, LEFT, RIGHT},) * 2
    no_charger = HALL | {"colors": [row.replace("b", "g") for row in HALL["colors"]]}
    assert clear_mask(in_the_hall([9, 0, 0.3, 0], [1, 1, 10, 0], layout=no_charger)) == ({STAND, BACKWARD, LEFT, RIGHT},) * 2


def test_chargers_side_by_side_do_not_help_a_robot_that_is_alone():
    """From 5 to 8 it may neither stand nor leave there, and no other robot charges it."""
    twins = HALL | {"colors": [HALL["colors"][0].replace("b,g", "b,b"), HALL["colors"][1]]}
    assert clear_mask(in_the_hall([2, 0, 1.5, 0], [9, 1, 10, 0], layout=twins), caution=2)[1] == {STAND, BACKWARD, LEFT, RIGHT}
    one_more = {"layout": twins | {"colors": [twins["colors"][0][:-1] + "b", twins["colors"][1]]}, "num_players": 1}
    assert clear_mask(in_the_hall([3, 0, 1.5, 0], **one_more)) == ({STAND, BACKWARD, LEFT, RIGHT}, {STAND, RIGHT})
    assert clear_mask(in_the_hall([9, 0, 1.5, 0], **one_more))[1] == {STAND, BACKWARD, LEFT, RIGHT}


@pytest.mark.parametrize("layout", ["mini6", "ring"])
@pytest.mark.parametrize("caution", [1, 2])
def test_hidden_information_changes_nothing(layout, caution, interpreted):
    game = momagames.spec(ID, layout=layout, num_players=2, num_robots_per_player=2)
    rng, cleared = np.random.default_rng(0), 0
    for state in positions(game, 40 if interpreted else 400):
        before = clear_mask(state, caution=caution)
        green = state["waiting"] > 0
        state["waiting"][green] = rng.choice(state["index"][: int(state["indices"])], green.sum())
        battery = state["battery"][0]
        if battery > 0:
            state["battery"][0] = rng.choice([lowest(np.ceil(battery)), np.ceil(battery)])
        state["battery"][1:4] = rng.uniform(0, 10, 3)
        state["delivered"][:4] = rng.integers(0, 3, 4)
        state["rng"], state["clock"], state["illegal"] = rng.integers(2**63), 5, 3
        after = clear_mask(state, caution=caution)
        assert before == after
        assert after[1] <= after[0]
        assert bool(after[0]) == bool(after[1])
        cleared += after[0] != after[1]
    assert cleared > (3 if interpreted else 30)


def count_stranded(game, name, games, **options):
    """Play games of one policy; return the number of robots without energy off the chargers at the end, and the deliveries."""
    starts = generate_starts(game, np.arange(50, 50 + games, dtype=np.uint64))
    agents = len(game.agents)
    words = random_words(1, games * agents).reshape(games, agents)
    ends = play_policies(game, starts, [batch_policy(name, game, **options)], np.zeros((games, agents), np.int64), words).states
    empty = ends["battery"][:, :agents] == 0
    docked = (ends["docked"][:, None] >> np.arange(agents, dtype=np.uint64)) & np.uint64(1)
    return int((empty & (docked == 0)).sum()), int(ends["delivered"].sum())


@pytest.mark.parametrize(("id", "strands"), [("mo-robotmail-2-v0", (0.05, 0)), ("mo-robotmail-12-v0", (0.6, 0.05))])
def test_a_safe_random_player_is_rarely_stranded(id, strands, interpreted):
    """Twelve robots share two chargers."""
    game = momagames.spec(id)
    games = 1 if interpreted else 60
    robots = games * len(game.agents)
    at_random, delivered = count_stranded(game, "random", games)
    assert at_random > 0.75 * robots
    for caution in (1, 2):
        stranded, others = count_stranded(game, "safe:random", games, caution=caution)
        assert stranded <= strands[caution - 1] * robots
        assert interpreted or others > 1.3 * delivered


def test_a_robot_alone_is_never_stranded(interpreted):
    for layout in ("mini6", "documented", LONG):
        game = momagames.spec(ID, layout=layout, num_players=1, required_mail=1000)
        assert count_stranded(game, "safe:random", 2 if interpreted else 60, caution=1)[0] == 0


@pytest.mark.parametrize("name", ["nearest", "astar", "energy_saver"])
def test_safe_robots_deliver_as_much(name, interpreted):
    if interpreted:
        pytest.skip("hundreds of games take too long without the compiler")
    game = momagames.spec("mo-robotmail-4-v0", layout="mini6")
    (stranded, delivered), (safe_stranded, safe_delivered) = (count_stranded(game, one, 60) for one in (name, f"safe:{name}"))
    assert safe_stranded <= stranded
    assert safe_delivered > 0.97 * delivered


def test_a_safe_policy_by_name():
    game = momagames.spec("mo-robotmail-2-v0")
    assert batch_policy("safe:astar", game).label == "safe:astar"
    with pytest.raises(InvalidParameter, match="caution=3"):
        batch_policy("safe:astar", game, caution=3)
    chosen = policy("safe:astar", game)
    start = generate_starts(game, np.zeros(1, np.uint64))
    assert chosen(start[0], legal_mask(start, 0), np.random.default_rng(0)) in clear_mask(start[0])[0]
