"""Positions as data and as text (SPEC §9): nothing is lost, and what cannot be is refused with what is wrong and where."""

import json

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.engine.positions import load_state
from momagames.errors import InvalidState

FFA, RADIO, DUEL = "mo-pommerman-ffa-v0", "mo-pommerman-radio-v0", "mo-pommerman-duel-v0"
ROWS = ["1267800", "0a300d0", "0044002", "0200000", "0000400", "0b00000", "0000000"]
POSITION = {  # something of everything
    "board": "".join(ROWS),
    "agents": [[1, 1, 1, 2, 3, 1], [1, 5, 1, 10, 9, 0], [0, 5, 5, 0, 2, 0], [1, 1, 5, 1, 2, 0]],
    "bombs": [[1, 2, 4, 3, 0, 4], [5, 1, 9, 2, 1, 0]],  # the second one is under agent_1
    "flames": [[2, 3, 0], [2, 2, 1], [2, 2, 2], [4, 4, 2]],
    "items": [[0, 1, 6], [2, 2, 7], [3, 1, 8]],
    "step_count": 17,
    "flame_owners": [1, 2, 0, 10],
    "visited": ["100", "1000000000", "1fff", "1000"],
    "rng": 12345678901234567890,
}


def board(*changes, rows=ROWS):
    """The board with other digits on some cells: (row, column, digit)."""
    cells = [list(row) for row in rows]
    for row, col, digit in changes:
        cells[row][col] = digit
    return "".join("".join(row) for row in cells)


def agent(seat, **parts):
    """The agents, one of them changed."""
    agents = [list(row) for row in POSITION["agents"]]
    for part, value in parts.items():
        agents[seat][("alive", "row", "col", "ammo", "strength", "kick").index(part)] = value
    return agents


def make_episode(given=POSITION, id=FFA, **params):
    """A game that goes on from a position."""
    play = Episode(momagames.spec(id, board_size=7, **params))
    play.load(given)
    return play


def play_to_the_end(play):
    """Let all agents stop and stay silent."""
    play.step(np.zeros_like(play.pending))


# ------------------------------------------------------------------------------------------------------- nothing is lost


def forms(game, state):
    data = game.codec.save(state)
    return {"data": data, "json": json.loads(json.dumps(data)), "text": game.codec.show(state), "record": state.copy()}


@pytest.mark.parametrize("form", ["data", "json", "text", "record"])
def test_round_trip_keeps_every_field(form):
    play = make_episode()
    given = forms(play.game, play.state)[form]
    assert play.game.codec.save(load_state(play.game, given)[0]) == POSITION


def test_text_form_is_fields_then_the_board():
    play = make_episode()
    lines = play.game.codec.show(play.state).splitlines()
    assert lines[-7:] == ROWS
    assert "bombs=[[1,2,4,3,0,4],[5,1,9,2,1,0]]" in lines
    assert play.game.codec.read("\n".join(lines[::-1][7:] + lines[-7:])) == POSITION, "in any order"


def test_defaults_of_missing_keys():
    given = {"board": board((1, 2, "0"), (2, 2, "0"), (2, 3, "0"), (4, 4, "0")), "agents": POSITION["agents"]}
    play = make_episode(given)
    saved = play.game.codec.save(play.state)
    expected = {"bombs": [], "flames": [], "items": [], "flame_owners": [], "step_count": 0}
    assert {name: saved[name] for name in expected} == expected
    assert saved["visited"] == [f"{1 << 7 * row + col:x}" for _, row, col, *_ in POSITION["agents"]]
    play.reset(7)
    stream = int(play.state["rng"])
    play.load(given)
    assert int(play.state["rng"]) == stream, "the environment's own random word stays"


@pytest.mark.parametrize(("owners", "kills", "self_kills"), [([1, 2, 0, 10], 1, -1), ([1, 2, 0, 2], 1, 0), (None, 0, 0)])
def test_owners_of_flames_are_kept(owners, kills, self_kills):
    """agent_3 walks into the flames of (4, 4): a kill of agent_1, and its own fault too, if both are owners."""
    given = POSITION | {"agents": agent(3, row=4, col=5), "board": board((1, 5, "0"), (4, 5, "d")), "flame_owners": owners}
    if owners is None:
        del given["flame_owners"]
    play = make_episode(given, objectives=["kills", "self_kill"])
    assert play.game.codec.save(play.state)["flame_owners"] == (owners or [0, 0, 0, 0])
    play.step(np.array([[0], [0], [0], [3]]))
    assert play.reward.tolist() == [[0, 0], [kills, 0], [0, 0], [0, self_kills]]
    assert not play.state["alive"][3]


def test_a_board_may_be_rows():
    play = make_episode(POSITION | {"board": ROWS})
    assert play.game.codec.save(play.state) == POSITION


def test_messages_are_kept_in_radio():
    messages = [[1, 2], [3, 0], [0, 0], [8, 8]]
    play = make_episode(POSITION | {"messages": messages}, RADIO)
    assert play.game.codec.save(play.state)["messages"] == messages
    assert play.game.codec.save(make_episode(POSITION, RADIO).state)["messages"] == [[0, 0]] * 4
    silent = make_episode(POSITION | {"messages": [[0, 0]] * 4}, FFA)
    assert "messages" not in silent.game.codec.save(silent.state)


# ---------------------------------------------------------------------------------------------------------- exotic ones


def test_strength_above_the_limit_and_full_ammunition():
    play = make_episode(POSITION | {"agents": agent(0, strength=16, ammo=10)}, max_blast_strength=4)
    assert play.game.codec.save(play.state)["agents"][0] == [1, 1, 1, 10, 16, 1]


def test_bomb_under_an_agent_appears_when_the_agent_leaves():
    play = make_episode()
    play.step(np.array([[0], [1], [0], [0]]))
    saved = play.game.codec.save(play.state)
    assert saved["agents"][1][1:3] == [4, 1]
    assert saved["board"][5 * 7 + 1] == "3"


@pytest.mark.parametrize("dead", [(0, 1, 2, 3), (1, 2, 3), (0, 2)])
def test_T3_W4_a_position_that_a_fallen_ring_decides_is_over_one_step_later(dead):
    given = {"board": "0" * 49, "agents": [[0, 1, 1, 1, 2, 0]] * 4}
    places = {0: (1, 1), 1: (5, 1), 2: (5, 5), 3: (1, 5)}
    for seat in set(range(4)) - set(dead):
        row, col = places[seat]
        given["board"] = board((row, col, "abcd"[seat]), rows=[given["board"][k : k + 7] for k in range(0, 49, 7)])
        given["agents"] = [[1, row, col, 1, 2, 0] if k == seat else one for k, one in enumerate(given["agents"])]
    play = make_episode(given, "mo-pommerman-team-v0", num_items=0)
    assert not play.state["over"]
    play_to_the_end(play)
    assert play.state["over"]


# ---------------------------------------------------------------------------------------------------- order of the flames


def test_flames_are_saved_oldest_first_and_row_by_row():
    play = make_episode()
    assert int(play.state["flame_orders"]) == 0
    play_to_the_end(play)
    assert play.game.codec.save(play.state)["flames"] == [[2, 2, 0], [2, 2, 1], [4, 4, 1]]


def flame_lines(*flames):
    """An empty 16x16 board with two bombs that reach far and explode now, and these flames."""
    cells = [["0"] * 16 for _ in range(16)]
    agents = [[1, 1, 1, 1, 2, 0], [1, 14, 1, 1, 2, 0], [1, 14, 14, 1, 2, 0], [1, 1, 14, 1, 2, 0]]
    bombs = [[4, 4, 1, 16, 0, 0], [11, 11, 1, 16, 0, 0]]
    for digit, cell in zip("abcd33", [row[1:3] for row in agents] + [row[:2] for row in bombs], strict=True):
        cells[cell[0]][cell[1]] = digit
    for row, col, _ in flames:
        cells[row][col] = "4"
    text = "".join("".join(row) for row in cells)
    return {"board": text, "agents": agents, "bombs": bombs, "flames": [list(flame) for flame in flames]}


def test_flames_in_another_order_keep_it_while_they_last():
    game = momagames.spec(FFA, board_size=16)
    play, other = Episode(game), Episode(game)
    play.load(flame_lines((9, 9, 2), (8, 8, 2), (7, 1, 1), (6, 6, 2)))
    assert game.codec.save(play.state)["flames"] == [[9, 9, 2], [8, 8, 2], [7, 1, 1], [6, 6, 2]]
    for life in (1, 0):
        play_to_the_end(play)
        flames = game.codec.save(play.state)["flames"]
        first = [[9, 9, life], [8, 8, life], [7, 1, 0], [6, 6, life]] if life else [[9, 9, 0], [8, 8, 0], [6, 6, 0]]
        assert flames[: len(first)] == first
        new = flames[len(first) :]
        assert len(new) == 62 - 2
        assert new == sorted(new, key=lambda flame: (flame[2], *flame[:2]))
        other.load(game.codec.save(play.state))  # longer than any order that could be given, but in order from some flame on
        assert game.codec.save(other.state) == game.codec.save(play.state)
    play_to_the_end(play)
    assert {flame[2] for flame in game.codec.save(play.state)["flames"]} == {0}
    assert len(game.codec.save(play.state)["flames"]) == 60


def test_too_many_unordered_flames_are_rejected():
    """Turned round, 33 flames are in order from the last one on, and 32 have to be remembered."""
    game = momagames.spec(FFA, board_size=16)
    cells = [(row, col, 1) for row in (7, 8, 9) for col in range(16)]
    for given in (cells, cells[32::-1] + cells[33:]):
        assert game.codec.save(load_state(game, flame_lines(*given))[0])["flames"] == [list(flame) for flame in given]
    with pytest.raises(InvalidState, match="the first 33 flames are in no order: list them oldest"):
        load_state(game, flame_lines(*cells[33::-1], *cells[34:]))


# -------------------------------------------------------------------------------------------------------- falling rings


def test_W4_O9_a_position_is_saved_after_the_fall_and_seen_before_it():
    game = momagames.spec("mo-pommerman-ffa-collapse-v0", board_size=7, first_collapse=18, max_steps=30, observation="dict")
    play = Episode(game)
    play.load(POSITION | {"agents": agent(0, row=0, col=6), "board": board((1, 1, "0"), (0, 6, "a"))})
    play_to_the_end(play)
    saved = game.codec.save(play.state)
    assert int(play.state["falling"]) == 0
    assert play.observe(0)["board"][0].tolist() == [1, 2, 6, 7, 8, 0, 10]
    assert saved["board"][:7] == "1111111"
    assert saved["agents"][0][0] == 0, "it has fallen with the ring"
    assert saved["agents"][1][0] == 1
    assert saved["items"] == [[2, 2, 7], [3, 1, 8]], "the item of (0, 1) is gone"
    assert play.state["alive"][0] == 1, "saving changes nothing"
    other = Episode(game)
    other.load(saved)
    assert int(other.state["falling"]) == -1
    assert game.codec.save(other.state) == saved
    assert other.observe(0)["board"][0].tolist() == [1] * 7


# -------------------------------------------------------------------------------------------------------- who has left


def test_dead_agents_have_left_if_dead_agents_leave():
    stay, leave, explicit = (
        make_episode(),
        make_episode(dead="leave"),
        make_episode(POSITION | {"gone": [0, 0, 0, 0]}, dead="leave"),
    )
    assert [play.states["gone"][0].tolist() for play in (stay, leave, explicit)] == [[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert "gone" not in stay.game.codec.save(stay.state)
    assert leave.game.codec.save(leave.state)["gone"] == [0, 0, 1, 0]
    for play in (stay, leave, explicit):
        play_to_the_end(play)
    outcome = 0
    assert stay.reward[2, outcome] == 0
    assert leave.reward[2, outcome] == 0, "it was paid when it left"
    assert explicit.reward[2, outcome] == -1, "it leaves now"
    assert explicit.states["gone"][0].tolist() == [0, 0, 1, 0]


# ------------------------------------------------------------------------------------------------------------ refusals

REFUSED = [
    # the board
    ({"board": "00"}, "board has 2 cells; this game needs 7 x 7 = 49 hex digits"),
    ({"board": ROWS[1:]}, "board has 42 cells"),
    ({"board": board((3, 3, "5"))}, "board row 3, column 3: invalid cell='5': expected 0-4, 6-8, a-d"),
    ({"board": board((3, 3, "9"))}, "board row 3, column 3: invalid cell='9'"),
    ({"board": board((6, 0, "e"))}, "board row 6, column 0: invalid cell='e'"),
    ({"board": board((6, 0, "x"))}, "board row 6, column 0: invalid cell='x'"),
    ({"board": None}, "board=None: expected a text of 49 hex digits, or 7 rows of 7"),
    ({"board": [[0] * 7] * 7}, "expected a text of 49 hex digits"),
    # agents
    ({"agents": POSITION["agents"][:3]}, "agents lists 3; this game has 4"),
    ({"agents": 3}, "agents=3: expected a list of lists of 6 whole numbers"),
    ({"agents": "[["}, "agents='\\[\\[': expected JSON"),
    ({"agents": agent(1, row=1.5)}, r"agents\[1\]=.*1.5.*: expected 6 whole numbers"),
    ({"agents": [[1, 1, 1, 2, 3]] * 4}, r"agents\[0\]=.*: expected 6 whole numbers"),
    ({"agents": agent(0, alive=2)}, r"agents\[0\]: invalid alive=2: expected 0..1"),
    ({"agents": agent(0, row=7)}, r"agents\[0\]: invalid row=7: expected 0..6"),
    ({"agents": agent(2, col=-1)}, r"agents\[2\]: invalid col=-1: expected 0..6"),
    ({"agents": agent(3, ammo=11)}, r"agents\[3\]: invalid ammo=11: expected 0..10"),
    ({"agents": agent(3, strength=0)}, r"agents\[3\]: invalid strength=0: expected 1..255"),
    ({"agents": agent(3, kick=2)}, r"agents\[3\]: invalid kick=2"),
    ({"agents": agent(0, col=0)}, r"agent_0 lives on \(1, 0\), but the board shows it at: \(1, 1\)"),
    ({"agents": agent(0, alive=0)}, r"agent_0 is dead, but the board shows it at: \(1, 1\)"),
    ({"agents": agent(2, alive=1)}, r"agent_2 lives on \(5, 5\), but the board shows it at: nowhere"),
    ({"board": board((6, 6, "a"))}, r"agent_0 lives on \(1, 1\), but the board shows it at: \(1, 1\), \(6, 6\)"),
    ({"board": board((1, 1, "1"))}, r"agent_0 lives on \(1, 1\), but the board shows it at: nowhere"),
    # bombs
    ({"bombs": [[1, 2, 4, 3, 0]]}, r"bombs\[0\]=.*: expected 6 whole numbers"),
    ({"bombs": [[1, 7, 4, 3, 0, 0]]}, r"bombs\[0\]: invalid col=7: expected 0..6"),
    ({"bombs": [[1, 2, 4, 3, 0, 0], [1, 2, 3, 3, 0, 0]]}, r"bombs\[1\]: there is another bomb on row 1, column 2"),
    ({"bombs": [[1, 2, 0, 3, 0, 0]]}, r"bombs\[0\]: invalid life=0: expected 1..10"),
    ({"bombs": [[1, 2, 11, 3, 0, 0]]}, r"bombs\[0\]: invalid life=11"),
    ({"bombs": [[1, 2, 4, 0, 0, 0]]}, r"bombs\[0\]: invalid strength=0: expected 1..255"),
    ({"bombs": [[1, 2, 4, 3, 4, 0]]}, r"bombs\[0\]: invalid owner=4: expected 0..3"),
    ({"bombs": [[1, 2, 4, 3, 0, 5]]}, r"bombs\[0\]: invalid direction=5: expected 0..4"),
    *(
        (
            {"bombs": [*POSITION["bombs"], [*cell, 4, 3, 0, 0]]},
            rf"bombs\[2\]: the board shows {code} on row {cell[0]}, column {cell[1]}",
        )
        for cell, code in (((0, 0), 1), ((0, 1), 2), ((6, 6), 0), ((0, 2), 6))
    ),
    ({"bombs": []}, r"board row 1, column 2 shows a bomb \(3\) that bombs does not list"),
    ({"bombs": [[0, 0, 1, 2, 0, 0]] * 65}, "bombs lists 65; a position holds at most 64"),
    # flames
    ({"flames": [[2, 3]]}, r"flames\[0\]=\[2, 3\]: expected 3 whole numbers"),
    ({"flames": [[2, 3, 3]]}, r"flames\[0\]: invalid life=3: expected 0..2"),
    ({"flames": [[2, 3, -1]]}, r"flames\[0\]: invalid life=-1"),
    ({"flames": [[9, 3, 1]]}, r"flames\[0\]: invalid row=9"),
    ({"flames": [[2, 3, 1], [2, 3, 1]]}, r"flames\[1\]: there is another flame of life 1 on row 2, column 3"),
    ({"flames": [[6, 6, 1]]}, r"flames\[0\]: the board shows no flames \(4\) on row 6, column 6"),
    ({"flames": [[2, 3, 1], [2, 2, 1]]}, r"board row 4, column 4 shows flames \(4\) that flames does not list"),
    # items
    ({"items": [[0, 1, 5]]}, r"items\[0\]: invalid value=5: expected 6..8"),
    ({"items": [[0, 1, 9]]}, r"items\[0\]: invalid value=9"),
    ({"items": [[0, 1, 6], [0, 1, 7]]}, r"items\[1\]: there is another item on row 0, column 1"),
    ({"items": [[0, 0, 6]]}, r"items\[0\]: no wood \(2\) and no flames \(4\) on row 0, column 0 could hide it"),
    ({"items": [[1, 1, 6]]}, r"items\[0\]: no wood \(2\) and no flames \(4\) on row 1, column 1"),
    ({"items": [[6, 6, 6]]}, r"items\[0\]: no wood \(2\) and no flames \(4\) on row 6, column 6"),
    ({"items": [[0, 7, 6]]}, r"items\[0\]: invalid col=7"),
    # the rest
    ({"step_count": 801}, "invalid step_count=801: expected an integer in 0..800"),
    ({"step_count": -1}, "step_count=-1"),
    ({"rng": 2**64}, "rng="),
    ({"messages": [[1, 0], [0, 0], [0, 0], [0, 0]]}, "invalid messages=.*: expected no words in a game without radio"),
    ({"visited": ["1"]}, r"visited=\['1'\]: expected a list of 4 hex numbers, one for each agent"),
    ({"visited": 5}, "visited=5: expected a list of 4 hex numbers"),
    ({"visited": ["1", "x", "1", "1"]}, r"visited\[1\]='x': expected a hex number with a bit for each of 49 cells"),
    ({"visited": ["1", "1", "-1", "1"]}, r"visited\[2\]='-1'"),
    ({"visited": ["1", "1", "1", f"{1 << 49:x}"]}, r"visited\[3\]='2000000000000'"),
    ({"visited": [1, 1, 1, 1]}, r"visited\[0\]=1"),
    ({"gone": [0, 0, 1, 0]}, r"invalid gone\[2\]=1: expected 0, since dead agents stay in this game \(dead='stay'\)"),
    ({"gone": [0, 0]}, "gone=.*: expected a list of 4 whole numbers, one for each agent"),
    ({"gone": [0, 0, 2, 0]}, r"invalid gone\[2\]=2: expected 0..1"),
    ({"bomb": []}, "invalid key 'bomb' of a position.*did you mean 'bombs'"),
]
OWNERS = [
    ([1, 2, 3], "flame_owners=.*: expected a list of 4 whole numbers, one for each flame"),
    ([1, 2, 3, 16], r"invalid flame_owners\[3\]=16: expected 0..15"),
    ([1, 2, -3, 1], r"flame_owners\[2\]=-3"),
    ([1, 1.5, 3, 1], r"flame_owners\[1\]=1.5"),
    ("x", "invalid flame_owners='x': expected JSON"),
    (7, "flame_owners=7"),
]
REFUSED += [({"flame_owners": owners}, why) for owners, why in OWNERS]


def test_refused():
    env = momagames.make(FFA, api="parallel", board_size=7)
    for change, why in REFUSED:
        env.reset(options={"state": POSITION})
        given = POSITION | change
        if "flames" in change:
            del given["flame_owners"]
        with pytest.raises(InvalidState, match=why) as error:
            env.reset(options={"state": given})
        assert FFA in str(error.value)
        assert env.get_state() == POSITION, "and the game that was running goes on"
        env.step(dict.fromkeys(env.agents, 0))


def test_refused_in_other_games():
    for id, change, why, params in (
        (RADIO, {"messages": [[9, 0]] * 4}, r"messages\[0\]: invalid word=9: expected 0..8", {}),
        (RADIO, {"messages": [[1, 0]] * 3}, "messages lists 3; this game has 4 agents", {}),
        (FFA, {"gone": [1, 0, 1, 0]}, r"gone\[0\]=1, but agent_0 lives", {"dead": "leave"}),
        (DUEL, {}, "board row 1, column 5: invalid cell='d': expected 0-4, 6-8, a-b", {}),
        (DUEL, {"board": board((1, 5, "0"))}, "agents lists 4; this game has 2", {}),
    ):
        with pytest.raises(InvalidState, match=why):
            make_episode(POSITION | change, id, **params)
    with pytest.raises(InvalidState, match="needs 'agents'"):
        make_episode({"board": POSITION["board"]})


def test_owners_in_the_duel_are_its_two_agents():
    rest = {"board": board((1, 5, "0")), "agents": POSITION["agents"][:2], "visited": ["1", "1"], "flame_owners": [1, 2, 0, 3]}
    good = POSITION | rest
    make_episode(good, DUEL)
    with pytest.raises(InvalidState, match=r"bombs\[0\]: invalid owner=2: expected 0..1"):
        make_episode(good | {"bombs": [[1, 2, 4, 3, 2, 4], [5, 1, 9, 2, 1, 0]]}, DUEL)
    with pytest.raises(InvalidState, match=r"invalid flame_owners\[3\]=4: expected 0..3"):
        make_episode(good | {"flame_owners": [1, 2, 0, 4]}, DUEL)


def test_too_many_possible_bombs_are_rejected():
    """SPEC §9.3 10 + 10 + 10 + 1 of ammunition, 2 bombs and 31 items are 64: one more is one too many."""
    wood = (
        [(row, col) for row in (2, 3, 4) for col in range(7)] + [(6, col) for col in range(7)] + [(0, col) for col in range(3)]
    )
    agents = [
        [alive, row, col, ammo, 2, 0] for (alive, row, col, *_), ammo in zip(POSITION["agents"], (10, 10, 10, 1), strict=True)
    ]
    cells = board(*((row, col, "2") for row, col in wood), (0, 3, "0"), (0, 4, "0"))
    given = {"board": cells, "agents": agents, "bombs": POSITION["bombs"], "items": [[*cell, 6] for cell in wood]}
    assert len(wood) == 31
    make_episode(given)
    with pytest.raises(
        InvalidState, match="bombs, ammunition and extra-bomb items come to 65; a position holds at most 64 bombs"
    ):
        make_episode(given | {"board": cells[:3] + "6" + cells[4:]})


@pytest.mark.parametrize(
    ("text", "why"), [("bombs=[[1", "bombs='\\[\\[1': expected JSON"), ("0000", "needs 'agents'|board has 4")]
)
def test_text_that_cannot_be_read(text, why):
    with pytest.raises(InvalidState, match=why):
        make_episode(text)


# --------------------------------------------------------------------------------------------------- games that are over


def duel(*dead, fire=True, **more):
    """Two agents on an empty board, each beside a flame that lasts (row 2); those that are `dead` have walked into it."""
    cells, agents = [["0"] * 8 for _ in range(8)], []
    for seat, col in enumerate((1, 6)):
        cells[2][col] = "4" if fire else "0"
        alive = seat not in dead
        if alive:
            cells[1][col] = "ab"[seat]
        agents.append([int(alive), 1 + (not alive), col, 1, 2, 0])
    flames = [[2, col, 2] for col in (1, 6)] if fire else []
    return {"board": "".join("".join(row) for row in cells), "agents": agents, "flames": flames, **more}


TIED = {"result": "tie", "winners": []}
ENDS = [  # steps made, joint action, result, winners, whether time is up
    (10, [0, 2], "win", ["agent_0"], False),
    (10, [2, 2], "tie", [], False),
    (799, [0, 0], "tie", [], True),
    (799, [2, 0], "win", ["agent_1"], False),
    (799, [2, 2], "tie", [], False),
]


@pytest.mark.parametrize(("steps", "moves", "result", "winners", "cut"), ENDS)
def test_a_finished_game_stays_finished(steps, moves, result, winners, cut):
    play, other = Episode(momagames.spec(DUEL)), Episode(momagames.spec(DUEL))
    play.load(duel(step_count=steps))
    assert "over" not in play.game.codec.save(play.state), "it goes on"
    play.step(np.array(moves)[:, None])
    saved = play.game.codec.save(play.state)
    assert saved["over"] == {"result": result, "winners": winners}
    for form in ["data", "json", "text", "record"]:
        other.load(forms(play.game, play.state)[form])
        assert other.game.codec.save(other.state) == saved
        for name in ("over", "truncated", "result", "winners"):
            assert other.states[name] == play.states[name], name
        assert (bool(other.state["over"]), bool(other.state["truncated"])) == (True, cut)
        assert other.masks.any() == cut
        assert not other.reward.any()


def test_finished_game_is_over_in_every_api():
    """Its end is not paid once more, as in the other games; without `over` the game goes on as long as there is time."""
    env = momagames.make(DUEL, api="parallel")
    env.reset(options={"state": duel(step_count=10)})
    env.step({"agent_0": 0, "agent_1": 2})
    saved = env.get_state()
    seen, infos = env.reset(options={"state": saved})
    assert list(seen) == list(infos) == env.possible_agents
    assert infos["agent_1"] == {"result": "win", "winners": ["agent_0"]}
    assert env.agents == []
    assert not any(seen[agent]["action_mask"].any() for agent in seen)
    assert env.step({}) == ({}, {}, {}, {}, {})
    aec = momagames.make(DUEL)
    aec.reset(options={"state": saved})
    assert all(aec.terminations.values())
    assert not any(aec.truncations.values())
    alone = momagames.make(DUEL, api="gymnasium", agent="agent_0")
    _, info = alone.reset(options={"state": saved})
    assert info["result"] == "win"
    with pytest.raises(momagames.MomagamesError, match="after the end of the episode"):
        alone.step(0)
    many = momagames.make_vec(DUEL, 2, autoreset="disabled")
    many.reset(options={"state": saved})
    _, rewards, ended, cut, _ = many.step(np.zeros((2, 2), int))
    assert ended.all()
    assert not cut.any()
    assert not rewards.any()
    assert not env.returns.any()
    del saved["over"]
    env.reset(options={"state": saved})
    assert env.agents == env.possible_agents
    env.step({"agent_0": 0})
    assert env.returns[:, 0].tolist() == [1, -1], "as before"


def test_a_forfeit_is_an_end_too():
    env = momagames.make(FFA, board_size=7)
    env.reset(seed=1)
    env.forfeit("agent_1")
    saved = env.get_state()
    assert saved["over"] == {"result": "incomplete", "winners": []}
    env.reset(options={"state": saved})
    assert all(env.terminations.values())
    assert env.get_state() == saved


def test_W4_ring_falls_on_winners_after_the_end():
    """agent_0 has won in the step after which the outermost ring falls, and stands on it."""
    game = momagames.spec(DUEL, first_collapse=11, max_steps=30)
    play, other = Episode(game), Episode(game)
    given = duel(step_count=10)
    cells = list(given["board"])
    cells[9], cells[0] = "0", "a"
    play.load(given | {"board": "".join(cells), "agents": [[1, 0, 0, 1, 2, 0], given["agents"][1]]})
    play.step(np.array([[0], [2]]))
    saved = game.codec.save(play.state)
    assert [row[0] for row in saved["agents"]] == [0, 0]
    assert saved["over"] == {"result": "win", "winners": ["agent_0"]}
    other.load(saved)
    assert game.codec.save(other.state) == saved


def test_time_limit():
    """§6 T1, §9.5 Without `over` too a position at `max_steps` is the end of a game, decided or cut off."""
    play = make_episode(POSITION | {"step_count": 799})
    play_to_the_end(play)
    assert play.state["truncated"]
    saved = play.game.codec.save(play.state)
    assert saved["over"] == {"result": "tie", "winners": []}
    del saved["over"]
    play.load(saved)
    assert (play.state["over"], play.state["truncated"], play.game.infos(play.state)["result"]) == (1, 1, "tie")
    assert play.masks.any()
    game = momagames.spec(DUEL)
    for dead, cut, winners in (((), 1, []), ((0,), 0, ["agent_1"]), ((0, 1), 0, [])):
        state = load_state(game, duel(*dead, fire=False, step_count=800))[0]
        assert (state["over"], state["truncated"], game.infos(state)["winners"]) == (1, cut, winners)


def test_record_not_over_at_the_time_limit():
    record = make_episode(POSITION | {"step_count": 799}).state.copy()
    record["ply"] = 800
    with pytest.raises(InvalidState, match="invalid over=0: expected 1, which follows from the other fields"):
        load_state(momagames.spec(FFA, board_size=7), record)


WON = [{"result": "win", "winners": [f"agent_{seat}"]} for seat in range(2)]


def test_impossible_ends_are_rejected():
    for dead, steps, over, why in [
        ((), 10, WON[0], "the game cannot have ended like this; alive after 10 of 800 steps: agent_0, agent_1"),
        ((0,), 10, WON[0], "alive after 10 of 800 steps: agent_1"),
        ((0,), 10, TIED, "alive after 10 of 800 steps: agent_1"),
        ((0, 1), 10, {"result": "win", "winners": ["agent_0", "agent_1"]}, "steps: none"),
        ((0, 1), 10, {"result": "win", "winners": []}, "steps: none"),
        ((0, 1), 10, {"result": "incomplete", "winners": ["agent_0"]}, "steps: none"),
        ((0, 1), 800, WON[0], "alive after 800 of 800 steps: none"),
        ((0,), 800, {"result": "incomplete", "winners": []}, "alive after 800 of 800 steps: agent_1"),
        (
            (0,),
            10,
            True,
            "invalid over=True: expected {'result': 'incomplete', 'win' or 'tie', 'winners': \\[...\\]} with names of agent_0",
        ),
        ((0,), 10, {"result": "win"}, "expected"),
        ((0,), 10, {"result": "lost", "winners": []}, "expected"),
        ((0,), 10, {"result": ["win"], "winners": []}, "expected"),
        ((0,), 10, {"result": "win", "winners": "agent_1"}, "expected"),
        ((0,), 10, {"result": "win", "winners": ["agent_2"]}, "with names of agent_0 to agent_1"),
        ((0,), 10, {"result": "win", "winners": ["agent_1", []]}, "expected"),
        ((0,), 10, "{", "invalid over='{': expected JSON"),
    ]:
        with pytest.raises(InvalidState, match=why):
            load_state(momagames.spec(DUEL), duel(*dead, fire=False, step_count=steps, over=over))


def test_a_team_wins_together():
    empty = {"board": "0" * 49, "agents": [[0, 1, 1, 1, 2, 0]] * 4}
    game = momagames.spec("mo-pommerman-team-v0", board_size=7)
    for winners, good in (("02", True), ("13", True), ("0", False), ("01", False), ("0123", False)):
        given = empty | {"over": {"result": "win", "winners": [f"agent_{seat}" for seat in winners]}}
        if good:
            assert game.codec.save(load_state(game, given)[0])["over"] == given["over"]
            continue
        with pytest.raises(InvalidState, match="the game cannot have ended like this"):
            load_state(game, given)


# ------------------------------------------------------------------------------------------------- agents that have left


@pytest.mark.parametrize("id", [FFA, "mo-pommerman-team-v0", RADIO])
def test_agents_that_left_are_not_in_a_continued_game(id):
    """agent_0 and agent_3 are gone: in both PettingZoo APIs they are not agents, in a batch they are terminated."""
    agents = [[int(alive), *row[1:]] for alive, row in zip((0, 1, 1, 0), agent(0), strict=True)]
    given = POSITION | {"agents": agents, "board": board((1, 1, "0"), (1, 5, "0"), (5, 5, "c")), "gone": [1, 0, 0, 1]}
    left = ["agent_1", "agent_2"]
    still = [0, 0, 0] if id == RADIO else 0
    aec, parallel = (momagames.make(id, api=api, board_size=7, dead="leave") for api in ("aec", "parallel"))
    aec.reset(options={"state": given})
    assert aec.agents == left
    for books in (aec.rewards, aec._cumulative_rewards, aec.terminations, aec.truncations, aec.infos):
        assert list(books) == left
    order = []
    for name in aec.agent_iter(4):
        order.append(name)
        assert not any(aec.last()[2:4])
        aec.step(still)
    assert order == left * 2
    seen, infos = parallel.reset(options={"state": given})
    assert list(seen) == list(infos) == parallel.agents == left
    results = parallel.step(dict.fromkeys(left, still))
    assert [list(result) for result in results] == [left] * 5
    many = momagames.make_vec(id, 1, board_size=7, dead="leave")
    many.reset(options={"state": given})
    assert many.step(np.zeros(many.action_space.shape, int))[2].tolist() == [[True, False, False, True]]


def test_a_finished_game_that_all_have_left():
    env = momagames.make(FFA, api="parallel", board_size=7, dead="leave")
    given = {"board": "0" * 49, "agents": [[0, 1, 1, 1, 2, 0]] * 4, "over": TIED}
    assert env.reset(options={"state": given}) == ({}, {})
    assert env.step({}) == ({}, {}, {}, {}, {})
    assert env.get_state()["gone"] == [1, 1, 1, 1]


# --------------------------------------------------------------------------------------------------- more than is dealt


def test_more_wood_and_items_than_generated():
    """SPEC §9.6 Such boards are taken as they are."""
    play = make_episode(num_wood=0, num_items=0, objectives=["wood", "items"])
    assert [goal.return_high for goal in play.game.objectives] == [0, 0]
    assert play.game.codec.save(play.state) == POSITION


def test_a_forged_ring_is_rejected():
    """§4.11 A record may only name the ring that is due."""
    env = momagames.make("mo-pommerman-ffa-collapse-v0")
    env.reset(seed=1)
    forged = env.record
    forged["falling"] = 2
    with pytest.raises(InvalidState, match="invalid falling=2: expected the ring that is due after 0 steps, or -1"):
        env.reset(options={"state": forged})
