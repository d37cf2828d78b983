"""The egocentric view for learners: true to the rules and the observation, blind to what is hidden."""

from collections import deque

import numpy as np
import pytest

import momagames
from momagames.engine.positions import load_state
from momagames.games.robotmail.agents.egocentric_kernels import (
    DIRECTIONS,
    NEAR,
    PLANES,
    RADIUS,
    SCALARS,
    SIDE,
    WAYS,
    write_egocentric_view,
)
from momagames.games.robotmail.agents.routing_kernels import guaranteed_moves
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.rules import legal
from momagames.kernels.jit import compile_entry_point
from tests.games.robotmail import dense_positions
from tests.games.robotmail.test_safety import LONG

pytestmark = [pytest.mark.compiled, pytest.mark.long]  # kernels of methods in several games

ID = "mo-robotmail-v0"
LAYOUTS = ("documented", "tiny", "mini6", "tall", "wide12", "street", "depot", LONG, {"seed": 3, "width": 24, "height": 24})
MOVES = {"forward": (0, -1), "backward": (0, 1), "left": (-1, 0), "right": (1, 0)}
FAR = 10**6


def _write(states, agent, planes, scalars):
    write_egocentric_view(states[0], agent, planes, scalars)


def _legal(states, agent, mask):
    legal(states[0], agent, mask)


def _guaranteed(power):
    return guaranteed_moves(power)


write, list_legal, guaranteed = (
    compile_entry_point(f, f"tests.robot_view.{f.__name__}") for f in (_write, _legal, _guaranteed)
)


def view(state, agent):
    """Return the planes by name, float32[SIDE, SIDE], and the scalars by name."""
    planes, scalars = np.full(len(PLANES) * SIDE * SIDE, np.nan, np.float32), np.full(len(SCALARS), np.nan, np.float32)
    write(state.reshape(1), agent, planes, scalars)
    assert np.abs(planes).max() <= 1  # every number is written
    assert np.abs(scalars).max() <= 1
    return dict(zip(PLANES, planes.reshape(-1, SIDE, SIDE), strict=True)), dict(zip(SCALARS, scalars.tolist(), strict=True))


def positions(game, count, first=0):
    """Yield random positions and an agent of each."""
    layout = loader.load(game.params["layout"])
    for seed in range(first, first + count):
        yield load_state(game, dense_positions.random_position(layout, game.params, seed))[0], seed % 2


def spec(layout, **params):
    size = {"num_players": 2, "num_robots_per_player": 2} if layout not in ("tiny",) else {}
    return momagames.spec(ID, layout=layout, **{**size, **params})


class Board:
    """The board as a robot sees it, in plain Python."""

    def __init__(self, game, state, agent):
        self.layout, self.state = loader.load(game.params["layout"]), state
        self.at, self.mail = (int(state["x"][agent]), int(state["y"][agent])), int(state["mail"][agent])
        self.others = {(int(state["x"][i]), int(state["y"][i])): i for i in range(len(game.agents)) if i != agent}
        self.power = int(np.ceil(state["battery"][agent]))

    def code(self, cell):
        x, y = cell
        return self.layout.colors[y][x] if 0 <= x < self.layout.width and 0 <= y < self.layout.height else ""

    def target(self, cell):
        return self.layout.targets[cell[1]][cell[0]] if self.code(cell) else 0

    def around(self, cell):
        return [(cell[0] + dx, cell[1] + dy) for dx, dy in MOVES.values()]

    def is_wide(self, cell, start="g"):
        """Return whether the robot's load lets it enter a cell although it may be narrow."""
        narrow = cell in self.layout.narrow and start != "y"
        return not narrow or (self.mail > 0 and any(self.target(one) == self.mail for one in self.around(cell)))

    def is_open(self, cell, start="g"):
        """Return whether the robot's load lets it enter a plain cell."""
        return self.code(cell) in ("w", "g") and self.is_wide(cell, start)

    def all_goals(self):
        if self.mail:
            return [cell for cell in self.layout.cells("y") if self.target(cell) == self.mail]
        return list(self.layout.cells("gr"))

    def goals(self):
        return [cell for cell in self.all_goals() if self.is_wide(cell)]

    def moves_to(self, ends, delays=None, blocked=()):
        """Return the moves from each open cell to the nearest end, those of the end included."""
        moves = {end: (delays or {}).get(end, 0) for end in ends if end not in blocked}
        queue = deque(sorted(moves, key=moves.get))
        while queue:
            cell = queue.popleft()
            for one in self.around(cell):
                if self.is_open(one) and one not in blocked and moves[cell] + 1 < moves.get(one, FAR):
                    moves[one] = moves[cell] + 1
                    queue.append(one)
        return moves

    def ways(self, moves):
        """Return the values of the view for the moves from each neighbor of the robot."""
        found = [moves.get(one, FAR) + 1 for one in self.around(self.at)]
        nearest = min(found)
        if nearest > FAR:
            return [0.0] * 5
        return [max(4 - (way - nearest), 0) / 4 if way < FAR else 0.0 for way in found] + [max(32 - nearest, 0) / 32]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("with_battery", [True, False])
def test_ways_are_those_of_a_search(layout, with_battery, interpreted):
    game = spec(layout, with_battery=with_battery)
    found = dict.fromkeys(WAYS, 0)
    for state, agent in positions(game, 4 if interpreted else 40):
        board = Board(game, state, agent)
        near = {cell for cell in board.others if abs(cell[0] - board.at[0]) + abs(cell[1] - board.at[1]) <= NEAR}
        chargers, goals = [cell for cell in board.layout.cells("b") if board.is_wide(cell)], board.goals()
        expected = {
            "goal": board.moves_to(goals),
            "free_goal": board.moves_to(goals, blocked=near),
            "charger": board.moves_to(chargers),
            "free_charger": board.moves_to(chargers, blocked=near),
        }
        if not board.mail:
            expected["trip"] = board.moves_to(goals, {goal: mean_onward(board, goal) for goal in goals})
        _, scalars = view(state, agent)
        for way in WAYS:
            values = [scalars[f"{way}_{name}"] for name in (*DIRECTIONS, "near")]
            assert values == board.ways(expected.get(way, {})), (way, game.codec.show(state), agent)
            found[way] += any(values)
        assert_spare(board, scalars, expected, with_battery)
    assert interpreted or min(found.values()) > 0


def mean_onward(board, goal):
    """Return the rounded mean of the moves from a green cell to the receivers that have a way."""
    start = board.moves_to([goal])
    found = [min(start.get(one, FAR) for one in board.around(cell)) + 1 for cell in board.layout.cells("y")]
    found = [moves for moves in found if moves < FAR]
    return (sum(found) + len(found) // 2) // max(len(found), 1)


def assert_spare(board, scalars, expected, with_battery):
    """The moves that are left on arrival at a charger, directly and by way of the farthest goal."""
    if not with_battery:
        assert scalars["spare"] == scalars["spare_beyond"] == 0
        return
    charger = min(expected["charger"].get(one, FAR) for one in board.around(board.at)) + 1
    goal = min(expected["goal"].get(one, FAR) for one in board.around(board.at)) + 1
    charged = expected["charger"]
    beyond = max((min(charged.get(one, FAR) for one in board.around(cell)) + 1 for cell in board.goals()), default=0)
    left = guaranteed(board.power)
    assert scalars["spare"] * 16 == np.clip(left - charger, -16, 16)
    assert scalars["spare_beyond"] * 16 == np.clip(left - goal - beyond, -16, 16)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_planes_and_scalars_show_the_position(layout, interpreted):
    game = spec(layout)
    mask, checked = np.zeros(5, np.int8), 0
    for state, agent in positions(game, 4 if interpreted else 40, 100):
        board = Board(game, state, agent)
        planes, scalars = view(state, agent)
        team = game.teams[agent]
        for (i, j), _ in np.ndenumerate(planes["closed"]):
            cell = board.at[0] + j - RADIUS, board.at[1] + i - RADIUS
            code = board.code(cell)
            start = board.code(board.at)
            by_code = {"gr": not board.mail, "y": cell in board.all_goals() and board.mail > 0, "b": board.power <= 4}
            is_open = by_code.get(code, board.is_open(cell, start)) and board.is_wide(cell, start)
            assert planes["closed"][i, j] == (not is_open)
            assert planes["goal"][i, j] == (cell in board.all_goals())
            assert planes["charger"][i, j] == (code == "b")
            other = board.others.get(cell)
            assert planes["robot"][i, j] == (other is not None)
            if other is None:
                assert not any(planes[name][i, j] for name in PLANES[PLANES.index("robot") :])
                continue
            mail, power = int(state["mail"][other]), int(np.ceil(state["battery"][other]))
            assert planes["loaded"][i, j] == (mail > 0)
            assert planes["mate"][i, j] == (game.teams[other] == team)
            is_stuck = power == 0 or (code == "b" and power < 8)
            assert planes["leaving"][i, j] == (-1 if is_stuck else code in ("b", "gr", "y"))
            if code == "gr" and not is_stuck and power > 4:  # on its way to a receiver
                ends = [one for one in board.layout.cells("y") if board.target(one) == mail]
                assert (planes["heading_right"][i, j], planes["heading_down"][i, j]) in {
                    (np.sign(x - cell[0]), np.sign(y - cell[1])) for x, y in ends
                }
            checked += 1
        list_legal(state.reshape(1), agent, mask)
        if mask.sum() > 1:
            assert [scalars[name] for name in ("can_stand", *(f"legal_{one}" for one in DIRECTIONS))] == mask.tolist()
        assert [scalars[f"battery_{level}"] for level in range(11)] == [level == board.power for level in range(11)]
        assert scalars["loaded"] == (board.mail > 0)
        assert scalars["stands"] * 5 == pytest.approx(min(int(state["stands"][agent]), 5))
        for name, code in (("on_green", "gr"), ("on_yellow", "y"), ("on_blue", "b")):
            assert scalars[name] == (board.code(board.at) == code)
        mates = [i for i in range(len(game.agents)) if game.teams[i] == team]
        assert scalars["team_left"] * 8 == 6 - state["delivered"][mates].sum()
        assert scalars["docked"] * 4 == sum(board.code(cell) == "b" for cell in board.others)
        assert scalars["robots"] == pytest.approx(len(game.agents) / 36)
        assert scalars["time"] * 64 == int(state["ply"]) * 64 // 500
    assert interpreted or checked >= 10


@pytest.mark.parametrize("random_num_steps", [False, True])
@pytest.mark.parametrize("layout", ["documented", "mini6", "ring"])
def test_hidden_information_changes_nothing(layout, random_num_steps, interpreted):
    """Mails on green cells, inner batteries, deliveries of other players; and the number of steps if turns are random."""
    game = spec(layout, random_num_steps=random_num_steps)
    rng = np.random.default_rng(0)
    for state, agent in positions(game, 20 if interpreted else 200):
        planes, scalars = view(state, agent)
        green = state["waiting"] > 0
        state["waiting"][green] = rng.choice(state["index"][: int(state["indices"])], green.sum())
        displayed = np.ceil(state["battery"][:4])
        is_low = (displayed > 0) & (rng.random(4) < 0.5)
        state["battery"][:4] = np.where(is_low, np.nextafter(displayed - 1, displayed), displayed)
        others = [i for i in range(4) if i != agent]
        rivals = [i for i in range(4) if game.teams[i] != game.teams[agent]]
        state["delivered"][rivals] = rng.integers(0, 3, 2)
        state["stands"][others] = rng.integers(0, 6, 3)
        state["rng"], state["clock"], state["illegal"], state["event"] = rng.integers(2**63), 5, 3, 2
        if random_num_steps:
            state["ply"], state["left"] = rng.integers(0, 500), rng.integers(1, 6)
        other_planes, other_scalars = view(state, agent)
        assert scalars == other_scalars
        assert all(np.array_equal(planes[name], other_planes[name]) for name in PLANES)


def test_view_does_not_depend_on_the_number_of_robots():
    sizes = {momagames.spec(f"mo-robotmail-{robots}-v0").learning.egocentric_view.size for robots in (2, 4, 6, 12)}
    assert sizes == {momagames.spec(ID, num_players=6, num_robots_per_player=3, layout="wide12").learning.egocentric_view.size}
    assert sizes == {len(PLANES) * SIDE * SIDE + len(SCALARS)}
