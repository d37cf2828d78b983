"""MO-Pommerman's scripted agent: rule by rule, on what it sees alone, and against what the original's agent did.

Positions are rows of hex digits as in `get_state()`: 0 passage, 1 wall, 2 wood, 6 to 8 items, a to d agents. The agent under
test is a; the one that keeps the game going, c, is behind walls in a corner.
"""

from collections import Counter

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, policy
from momagames.engine.batch import Batch
from momagames.engine.episode import Episode
from momagames.engine.policies import UNSEATED, SeatedPolicies
from momagames.engine.positions import load_state
from tests.peers.records import read_records

pytestmark = pytest.mark.compiled

STOP, UP, DOWN, LEFT, RIGHT, BOMB = range(6)
MANY = 300  # choices from the same position


def position(rows, bombs=(), ammo=1, strength=2, **more):
    """A position's dict form; bombs are (row, col, strength), with a long time to go."""
    board = "".join(rows.split())
    size = len(rows.split())
    agents = []
    for letter in "abcd":
        at = board.find(letter)
        agents.append([int(at >= 0), *divmod(max(at, 0), size), ammo, strength, 0])
    return with_bombs({"board": board, "agents": agents, **more}, [[row, col, 9, s, 2, 0] for row, col, s in bombs])


def with_bombs(given, bombs):
    """The position with these bombs, [row, col, life, strength, owner, direction] each, which the board shows."""
    board = list(given["board"])
    size = int(len(board) ** 0.5)
    for row, col, *_ in bombs:
        if board[row * size + col] == "0":
            board[row * size + col] = "3"
    return {**given, "board": "".join(board), "bombs": bombs}


class Chooser:
    """Many copies of one position, each with its own random word."""

    def __init__(self, given, id="mo-pommerman-ffa-v0", agent=0, **params):
        size = int(len(given["board"]) ** 0.5)
        small = {"board_size": size, "num_rigid": 4, "num_wood": 8, "num_items": 4} if size != 11 else {}
        self.game, self.agent = momagames.spec(id, **{**small, **params}), agent
        self.batch = Batch(self.game, MANY)
        seats = [0 if i == agent else UNSEATED for i in range(len(self.game.agents))]
        self.load(given)
        self.players = SeatedPolicies(self.batch, [batch_policy("simple", self.game)], seats, seed=1)

    def load(self, given):
        self.batch.load(load_state(self.game, given).repeat(MANY))

    def act(self):
        return self.players.act()[:, self.agent, 0].copy()

    def load_and_act(self, given):
        """Continue the games from another position."""
        self.load(given)
        self.batch.lengths[:] = 1


def choices(given, **options):
    """Return the actions of the agent and their frequencies."""
    return Counter(Chooser(given, **options).act().tolist())


def at(rows, cell, code):
    """The position with another code on a cell."""
    rows = rows.split()
    row, col = cell
    rows[row] = rows[row][:col] + code + rows[row][col + 1 :]
    return "\n".join(rows)


CROSS = "1110111 1110111 1110111 000a000 1110111 1110110 111011c"
HALL = "0000000 0000000 0000000 000a000 0000000 0000011 000001c"


# ----------------------------------------------------------------------------------------------------- rule 1: bombs


@pytest.mark.parametrize(
    ("cell", "unsafe"), [((3, 5), RIGHT), ((3, 1), LEFT), ((1, 3), UP), ((5, 3), DOWN)], ids=["right", "left", "up", "down"]
)
def test_moves_away_from_bombs(cell, unsafe):
    assert set(choices(position(HALL, [(*cell, 3)]))) == {UP, DOWN, LEFT, RIGHT} - {unsafe}


def test_bombs_out_of_range_or_behind_walls_are_no_threat():
    wood_beside = at(CROSS, (3, 4), "2")  # what it does when no bomb threatens it: it lays one
    assert set(choices(position(wood_beside))) == {BOMB}
    assert set(choices(position(wood_beside, [(3, 1, 2)]))) == {UP, DOWN}  # 2 steps away, strength 2
    assert set(choices(position(wood_beside, [(3, 0, 2)]))) == {BOMB}
    round_the_wood = "1111111 0001111 0211111 0a11111 1111111 1111110 111111c"  # four steps away
    assert set(choices(position(round_the_wood, [(1, 1, 3)]))) == {BOMB}
    assert set(choices(position(round_the_wood, [(1, 1, 4)]))) == {LEFT}


def test_between_bombs_prefers_safe_directions():
    bombs = [(3, 1, 3), (3, 5, 3), (1, 3, 3)]
    assert set(choices(position(HALL, bombs))) == {DOWN}
    blocked = at(HALL, (4, 3), "1")
    assert set(choices(position(blocked, bombs))) == {UP, LEFT, RIGHT}


def test_leaves_a_bomb_along_a_path_out_of_range():
    pocket = "1111111 1111111 1100011 110a011 1110111 1110110 111011c"
    assert set(choices(position(pocket, [(3, 3, 2)]))) == {RIGHT}  # a corner; right is tried first
    straight = "1110111 1110111 1111111 000a011 1111111 1111110 111111c"
    assert set(choices(position(straight, [(3, 3, 2)]))) == {STOP}  # 2 cells on the left are not farther than 2
    assert set(choices(position(straight, [(3, 3, 1)]))) == {LEFT}
    only_down = "1111111 1111111 1111111 110a011 1110111 1110010 111111c"
    assert set(choices(position(only_down, [(3, 3, 2)]))) == {DOWN}


def test_first_bomb_of_the_board_is_escaped_first():
    assert set(choices(position(HALL, [(3, 3, 2)]))) == {RIGHT}
    assert set(choices(position(HALL, [(3, 3, 2), (3, 1, 3)]))) == {LEFT}
    assert set(choices(position(HALL, [(3, 3, 2), (1, 3, 3)]))) == {UP}
    assert set(choices(position(HALL, [(3, 3, 2), (3, 5, 3)]))) == {RIGHT}


# ----------------------------------------------------------------------------------------------- rules 2 and 3: enemies


def test_lays_a_bomb_beside_an_enemy():
    near = at(HALL, (3, 4), "b")
    assert set(choices(position(near))) == {BOMB}
    assert set(choices(position(near, ammo=0))) == {RIGHT}
    narrow = "1111111 1111111 1111111 100ab11 1111111 1111110 111111c"
    assert set(choices(position(narrow))) == {RIGHT}  # no way out of the range
    assert set(choices(position(narrow, strength=1))) == {BOMB}


def test_approaches_an_enemy_within_three_steps():
    chooser = Chooser(position(at(CROSS, (3, 0), "b"), ammo=0))
    assert set(chooser.act()) == {LEFT}
    chooser.load_and_act(position(at(CROSS, (3, 0), "b"), ammo=0))
    again = Counter(chooser.act().tolist())
    assert set(again) == {UP, DOWN, LEFT, RIGHT}
    assert 0.5 < again[LEFT] / MANY < 0.75  # a half, and a quarter of the other half
    chooser.load_and_act(position(at(CROSS, (0, 3), "b"), ammo=0))
    assert set(chooser.act()) == {UP}  # another direction


def test_ignores_an_enemy_four_steps_away():
    far = "111111111 111101111 111101111 111101111 1000a000b 111101111 111101111 111111110 11111111c"
    assert set(choices(position(far))) == {UP, DOWN, LEFT, RIGHT}
    assert set(choices(position(at(at(far, (4, 8), "1"), (4, 7), "b")))) == {RIGHT}


def test_a_mate_is_no_enemy():
    rows = "1111111 1111111 1111111 00cab00 1111111 1111110 111111d"
    assert set(choices(position(rows, ammo=0), id="mo-pommerman-team-full-v0")) == {RIGHT}
    beside = "1111111 1111111 1111111 1002ac0 1111111 1111110 111111d"
    assert set(choices(position(beside, strength=1), id="mo-pommerman-team-full-v0")) == {BOMB}  # the way is through the mate
    assert set(choices(position(beside.replace("c", "b"), strength=1, ammo=0))) == {RIGHT}


# --------------------------------------------------------------------------------------- rules 4 to 6: items and wood


def test_approaches_an_item_within_two_steps():
    assert set(choices(position(at(CROSS, (3, 1), "7")))) == {LEFT}
    assert set(choices(position(at(CROSS, (3, 0), "7")))) == {UP, DOWN, LEFT, RIGHT}
    two = at(at(CROSS, (3, 1), "8"), (3, 5), "6")
    assert set(choices(position(two))) == {LEFT}  # the higher code
    assert set(choices(position(at(two, (3, 5), "8")))) == {RIGHT}  # of the same code the last of the board
    assert set(choices(position(at(two, (3, 4), "6")))) == {RIGHT}  # the nearer


def test_equal_paths_are_equally_frequent():
    corner = "1111111 1000111 1000111 1a00111 1111111 1111110 111111c"
    seen = choices(position(at(corner, (2, 2), "6")))
    assert set(seen) == {UP, RIGHT}
    assert 0.35 < seen[UP] / MANY < 0.65


def test_lays_a_bomb_or_waits_beside_wood():
    wood = at(CROSS, (3, 4), "2")
    assert set(choices(position(wood))) == {BOMB}
    assert set(choices(position(wood, ammo=0))) == {STOP}
    dead_end = "1111111 1111111 1111111 00a2111 1111111 1111110 111111c"
    assert set(choices(position(dead_end))) == {STOP}
    assert set(choices(position(dead_end, strength=1))) == {BOMB}
    assert set(choices(position(at(dead_end, (2, 1), "2")))) == {STOP}  # wood behind a corner is no way out
    turn = at(dead_end, (2, 1), "0")
    assert set(choices(position(turn))) == {BOMB}
    assert set(choices(position(at(turn, (2, 1), "8")))) == {LEFT}  # no passage behind the corner: but an item, in two steps


def test_approaches_wood_two_steps_away_unless_in_line_with_a_bomb():
    wood = at(CROSS, (3, 5), "2")
    assert set(choices(position(wood))) == {RIGHT}
    wide = at(at(wood, (1, 4), "0"), (2, 4), "0")
    assert set(choices(position(wide, [(1, 4, 2)]))) == {UP, DOWN, LEFT}
    assert set(choices(position(wide, [(1, 4, 1)]))) >= {RIGHT}


# ------------------------------------------------------------------------------------------------ rule 7: anywhere else


def test_prefers_unvisited_cells():
    chooser = Chooser(position(CROSS))
    assert set(chooser.act()) == {UP, DOWN, LEFT, RIGHT}
    chooser.load_and_act(position("1110111 1110111 111a111 0000000 1110111 1110110 111011c"))
    assert set(chooser.act()) == {UP}
    chooser.load_and_act(position("1110111 111a111 1110111 0000000 1110111 1110110 111011c"))
    assert set(chooser.act()) == {UP}
    chooser.load_and_act(position("111a111 1110111 1110111 0000000 1110111 1110110 111011c"))
    assert set(chooser.act()) == {STOP}  # it has not stood here before
    chooser.load_and_act(position("111a111 1110111 1110111 0000000 1110111 1110110 111011c"))
    assert set(chooser.act()) == {DOWN}  # now it knows every cell


@pytest.mark.parametrize(("passed", "expected"), [(6, {LEFT, RIGHT}), (7, {LEFT})])
def test_remembers_six_cells(passed, expected):
    """It is put on the cells of a way, one after the other, and then back on the second."""
    way = "\n".join(["1" * 11] * 5 + ["10000000001"] + ["1" * 11] * 3 + ["11111111100", "1111111110c"])
    chooser = Chooser(position(at(way, (5, 1), "a")))
    chooser.act()
    for col in range(2, passed + 1):
        chooser.load_and_act(position(at(way, (5, col), "a")))
        chooser.act()
    chooser.load_and_act(position(at(way, (5, 2), "a")))
    assert set(chooser.act()) == expected


def test_stops_if_every_direction_is_in_line_with_a_bomb():
    behind_a_wall = "1111111 1111111 1111111 110a101 1111111 1111110 111111c"
    assert set(choices(position(behind_a_wall, [(3, 5, 2)]))) == {LEFT}
    assert set(choices(position(behind_a_wall, [(3, 5, 3)]))) == {STOP}


# ------------------------------------------------------------------------------------------------- what it looks at


def test_searches_ten_rows_up_and_nine_down():
    column = "\n".join(["a0111111111", *["01111111111"] * 9, "01111111110"])
    column = at(at(column, (10, 10), "c"), (10, 0), "0")
    assert set(choices(position(column, [(9, 0, 10)]))) == {RIGHT}
    assert set(choices(position(column, [(10, 0, 10)]))) == {RIGHT}  # rule 7: down is in line
    top_wood = at(column, (0, 1), "2")
    assert set(choices(position(top_wood, [(10, 0, 10)]))) == {BOMB}  # no threat: it does not look so far down
    assert set(choices(position(top_wood, [(9, 0, 10)]))) == {DOWN}  # a threat, and no other way
    rows = ["00111111111", *["01111111111"] * 9, "a2111111110"]
    bottom = at("\n".join(rows), (10, 10), "c")
    assert set(choices(position(bottom, [(0, 0, 10)]))) == {UP}  # ten rows up it does


def test_acts_on_its_fogged_observation_only():
    rows = "\n".join(["a0000000000", "00000000000", *["00000000000"] * 8, "000000000bc"])
    given = position(at(rows, (10, 8), "d"))
    params = {"is_partially_observable": True, "agent_view_size": 4}
    chooser = Chooser(given, **params)
    plain = chooser.act()
    rng = np.random.default_rng(3)
    for _ in range(20):
        board = list(given["board"])
        for cell in range(121):
            if max(cell // 11, cell % 11) > 4 and board[cell] == "0" and cell not in (8, 88):
                board[cell] = rng.choice(list("012678"))
        other = Chooser(with_bombs({**given, "board": "".join(board)}, [[8, 0, 5, 10, 1, 0], [0, 8, 5, 10, 1, 0]]), **params)
        assert (other.act() == plain).all()
    seen = Chooser(with_bombs(given, [[4, 0, 5, 10, 1, 0]]), **params)
    assert (seen.act() != plain).any()


def test_ignores_hidden_information():
    rows = "0000000 0222000 0000000 0b0a000 0000000 0000011 000001c"
    chooser = Chooser(position(rows, [(1, 4, 2)]))
    plain = chooser.act()
    for change in (
        {"items": [[1, 1, 6], [1, 2, 8]]},
        {"bombs": [[1, 4, 1, 2, 0, 0]]},
        {"agents": [[1, 3, 3, 1, 2, 0], [1, 3, 1, 7, 9, 1], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]},
    ):
        agents = change.pop("agents", None)
        given = {**position(rows, [(1, 4, 2)]), **change}
        if agents:
            given["agents"] = [agents[0], agents[1], *given["agents"][2:]]
        assert (Chooser(given).act() == plain).all()


def test_sends_no_messages():
    given = position("1110111 1110111 1110111 0b0a0d0 1110111 1110110 111011c")
    chooser = Chooser(given, id="mo-pommerman-radio-v0", is_partially_observable=False)
    assert (chooser.players.act()[:, 0, 1:] == 0).all()


def test_observation_forms_do_not_change_actions():
    given = position("00a00000000\n" + "00000020000\n" * 9 + "0b0000000dc")
    forms = [{}, {"observation": "planes"}, {"egocentric": True}]
    acts = [Chooser(given, id="mo-pommerman-team-v0", **form).act() for form in forms]
    assert (acts[0] == acts[1]).all()
    assert (acts[0] == acts[2]).all()


# -------------------------------------------------------------------------------------------------- against the original

# Whole recorded episodes, and who in them is the original's scripted agent.
WHO = {"p_007": 0, "p_023": 1, "p_029": 3, "p_036": 2, "p_050": 1, "p_057": 1, "p_058": 1}
IDS = {
    "ffa": "mo-pommerman-ffa-v0",
    "team": "mo-pommerman-team-v0",
    "team_full": "mo-pommerman-team-full-v0",
    "team_collapse": "mo-pommerman-team-collapse-v0",
    "radio": "mo-pommerman-radio-v0",
    "one_vs_one": "mo-pommerman-duel-v0",
}


@pytest.mark.parametrize("name", WHO)
def test_recorded_actions_of_the_original_are_possible(name):
    """Our agent makes each of its moves for some random word, with a memory consistent with the moves so far."""
    record = next(record for record in read_records("pommerman") if record["id"] == name)
    agent, n = WHO[name], 64
    game = momagames.spec(IDS[record["variant"]])
    batch = Batch(game, n)
    players = SeatedPolicies(
        batch, [batch_policy("simple", game)], [0 if i == agent else UNSEATED for i in range(len(game.agents))], 7
    )
    memory = players._compiled[0].memories
    state, decisions = record["initial"], 0
    rng = np.random.default_rng(0)
    for number, step in enumerate(record["steps"]):
        if not state["agents"][agent][0]:
            break
        known = {name: state[name] for name in ("board", "agents", "bombs", "flames")}
        one = load_state(game, {**known, "step_count": number})
        batch.load(one.repeat(n))
        batch.lengths[:] = number
        acted = players.act()[:, agent, 0]
        did = np.flatnonzero(acted == step["a"][agent])
        assert len(did), f"step {number}: the original did {step['a'][agent]}, ours {Counter(acted.tolist())}"
        memory[:, agent] = memory[rng.choice(did, n), agent]
        decisions += 1
        state = {"board": step["b"], "agents": step["ag"], "bombs": step["bo"], "flames": step["fl"]}
    assert decisions >= 10


def played(id, games, seed):
    """Games of four scripted agents to their ends: the batch."""
    names = ["kills", "wood", "items", "bombs"]
    game = momagames.spec(id, objectives=names)
    batch = Batch(game, games, autoreset="disabled")
    batch.seed(seed)
    batch.reset()
    players = SeatedPolicies(batch, [batch_policy("simple", game)], [0, 0, 0, 0], seed)
    while not batch.states["over"].all():
        batch.step(players.act())
    return batch, dict(zip(names, batch.returns.mean(axis=(0, 1)).tolist(), strict=True))


@pytest.mark.parametrize(
    ("id", "length", "means"),
    [
        ("mo-pommerman-ffa-v0", 419, {"kills": 0.31, "wood": 8.6, "items": 4.2, "bombs": -11.1}),
        ("mo-pommerman-team-v0", 250, {"kills": 0.26, "wood": 7.3, "items": 3.3, "bombs": -8.5}),
    ],
)
def test_game_statistics_match_the_original(id, length, means, interpreted):
    """Means of 40 games of four of the original's agents each, so with noise: 38 steps in length, 0.05 kills and so on."""
    if interpreted:
        pytest.skip("hundreds of games take too long without the compiler")
    batch, ours = played(id, 300, seed=11)
    assert abs(batch.final_lengths.mean() - length) < 110
    for name, slack in (("kills", 0.12), ("wood", 1.1), ("items", 0.9), ("bombs", 1.8)):
        assert abs(ours[name] - means[name]) < slack, (name, ours[name], means[name])


# --------------------------------------------------------------------------------------------------------- other APIs


def test_the_single_agent_apis_play_the_same_agent():
    """The Gymnasium API: an agent that never moves, three scripted ones, some hundred steps without an illegal action."""
    env = momagames.make("mo-pommerman-ffa-v0", api="gymnasium", agent="agent_3", others="simple")
    env.reset(seed=4)
    laid = 0
    for _ in range(200):
        if any(env.step(STOP)[2:4]):
            break
        laid = max(laid, int(env.episode.state["bombs"]))
    assert laid > 0


def test_a_policy_by_name_is_the_kernel():
    given = position(at(CROSS, (3, 0), "b"), ammo=0)
    game = Chooser(given).game
    one, play, rng = policy("simple", game, 0), Episode(game), np.random.default_rng(0)
    play.load(given)
    first = [policy("simple", game, 0)(play.state, play.mask(0), rng) for _ in range(30)]
    assert set(first) == {LEFT}
    assert one(play.state, play.mask(0), rng) == LEFT
    again = Counter(one(play.state, play.mask(0), rng) for _ in range(100))
    assert 0 < again[LEFT] < 100
    one.reset()
    assert one(play.state, play.mask(0), rng) == LEFT


def test_stationary_stands_still():
    game = momagames.spec("mo-pommerman-radio-v0")
    batch = Batch(game, 5)
    batch.seed(0)
    batch.reset()
    batch.last_actions[:] = 3
    assert (SeatedPolicies(batch, [batch_policy("stationary", game)], [0, 0, 0, 0]).act() == 0).all()
