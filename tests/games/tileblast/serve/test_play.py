"""Games over the protocol: the same as in the Gymnasium environment."""

import json
from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.games.tileblast.serve.protocol import format_numbers
from tests.games.tileblast.serve.client import click, create, mask, post, read_board

pytestmark = pytest.mark.compiled

GAME = "mo-tileblast-v0"
SHARED_KEYS = (
    "cluster",
    "created",
    "used",
    "combo",
    "hits",
    "collected",
    "goals_remaining",
    "shuffles",
    "score",
    "rng_draws",
    "won",
    "dead",
)


def native(level, seed):
    env = momagames.make(GAME, api="gymnasium", level=level, strict_moves=False, max_taps=1_000_000)
    return env, *env.reset(seed=seed)


def first_valid(url, session, answer):
    """Play the first valid tap."""
    return click(url, session, int(mask(answer).argmax()))


@pytest.mark.parametrize(("level", "taps"), [(1, 50), (2, 50), (10, 25), (12, 80)])
def test_a_game_is_the_native_game_tap_by_tap(url, level, taps):
    env, board, info = native(level, 1000 + level)
    answer = create(url, level, 1000 + level)
    session, rng = answer["sessionId"], np.random.default_rng(level)
    assert answer["levelMoveLimit"] == info["moves_left"]
    over, valid = False, 0
    for _ in range(taps):
        state = json.loads(answer["multichannelArrayState"])
        np.testing.assert_array_equal(read_board(answer), board)
        np.testing.assert_array_equal(mask(answer), info["action_mask"])
        assert state["collectGoalRemainingList"] == state["collectGoalRemaininglList"] == info["goals_remaining"]
        assert state["collectGoalRemaining"] == sum(info["goals_remaining"])
        may = np.flatnonzero(info["action_mask"])
        action = int(rng.choice(may)) if len(may) and rng.random() < 0.8 else int(rng.integers(117))
        before = answer
        answer = click(url, session, action)
        if over:
            assert not answer["clickSuccessful"]
            assert answer["multichannelArrayState"] == before["multichannelArrayState"]
            continue
        board, _, over, _, info = env.step(action)
        assert answer["clickSuccessful"] is info["valid"]
        if info["valid"]:
            result = json.loads(answer["simulationResult"])
            assert {name: result[name] for name in SHARED_KEYS} == {name: info[name] for name in SHARED_KEYS}
            valid += 1
        else:
            assert answer["simulationResult"] == ""
    assert valid > 8
    assert over or level != 1  # level 1 continues past its limit of moves until it is won
    assert post(url, "/session/destroy", sessionId=session) == {"destroyed": True}


def test_the_move_limit_is_not_enforced(url):
    answer = create(url, 4, 3)
    session, limit, done = answer["sessionId"], answer["levelMoveLimit"], 0
    while answer["validActionPositions"] != "[]" and done <= limit:
        answer = first_valid(url, session, answer)
        done += answer["clickSuccessful"]
    assert done == limit + 1


def test_after_a_win_nothing_changes(url, levels):
    won = next(taps for seed in range(40) if (taps := find_win(levels, 1, seed)))
    answer = post(url, "/session/create", state=won.text)
    state = json.loads(answer["multichannelArrayState"])
    assert state["collectGoalRemaining"] == 0
    assert answer["validActionPositions"] == "[]"
    for action in (0, 60, 116):
        after = click(url, answer["sessionId"], action)
        assert not after["clickSuccessful"]
        assert after["multichannelArrayState"] == answer["multichannelArrayState"]


def find_win(levels, index, seed, max_taps=60):
    """Return the position in which taps of the largest index win, or None."""
    position = levels.start(index, seed)
    for _ in range(max_taps):
        view = position.level.observe(position)
        if not any(view.rest):
            return position
        if not view.mask.any():
            return None
        position = position.level.tap(position, int(np.flatnonzero(view.mask)[-1]))
    return None


@pytest.mark.parametrize("level", [1, 9, 11])
def test_a_dry_run_is_the_click(url, level):
    answer = create(url, level, 5)
    session = answer["sessionId"]
    for _ in range(3):
        status = post(url, "/session/status", sessionId=session)
        for action in (0, *np.flatnonzero(mask(answer))[::3]):
            dry = click(url, session, int(action), dryRun=True)
            again = click(url, session, int(action), dryRun=True)
            assert dry == again
        assert post(url, "/session/status", sessionId=session) == status
        answer = click(url, session, int(action), dryRun=False)
        assert answer == dry
        assert post(url, "/session/status", sessionId=session) != status


def test_equal_games_give_equal_bytes(url):
    def play():
        answer = create(url, 12, -9)
        session = answer.pop("sessionId")
        out = [answer]
        for _ in range(20):
            out.append(first_valid(url, session, out[-1]))
        return json.dumps(out)

    assert play() == play()


def test_states_resume_games(url):
    """The full state, /session/status, /load and /click describe the same game."""
    answer = post(url, "/session/create", levelIndex=9, seed=2**70 + 3, returnFullState=True)
    session = answer["sessionId"]
    loaded = post(url, "/load", levelIndex=9, seed=2**70 + 3)
    assert loaded == {
        "state": answer["fullState"],
        "multichannelArrayState": answer["multichannelArrayState"],
        "levelName": answer["levelName"],
    }
    state = loaded["state"]
    for _ in range(6):
        x, y = json.loads(answer["validActionPositions"])[0]
        answer = post(url, "/session/click", sessionId=session, x=x, y=y, returnFullState=True)
        tapped = post(url, "/click", state=state, x=x, y=y)
        assert tapped == {"clickSuccessful": True, "simulationResult": answer["simulationResult"], "state": answer["fullState"]}
        state = tapped["state"]
    missed = post(url, "/click", state=state, x=99, y=0)
    assert missed == {"clickSuccessful": False, "simulationResult": "", "state": state}
    status = post(url, "/session/status", sessionId=session)
    assert status["state"] == status["stateSparse"] == state
    assert status["multichannelArrayState"] == answer["multichannelArrayState"]
    twin = post(url, "/session/create", state=state)
    assert twin["validActionPositions"] == answer["validActionPositions"]
    assert twin["fullState"] == ""
    assert click(url, twin["sessionId"], 60) == click(url, session, 60)


def test_every_key_that_clients_read(url):
    answer = create(url, 8, 1)
    assert list(answer) == [
        "sessionId",
        "levelName",
        "levelMoveLimit",
        "multichannelArrayState",
        "validActionPositions",
        "fullState",
        "remainingGoalsDistance",
    ]
    assert len(answer["sessionId"]) == 32
    assert int(answer["sessionId"], 16) >= 0
    state = json.loads(answer["multichannelArrayState"])
    assert state["boardSize"] == [13, 9, 24]
    assert len(state["normList"]) == 24
    assert all(state["normList"])
    assert (state["collectGoalGoalList"], state["collectGoalGoal"]) == ([5, 2, 5], 12)
    assert state["collectGoalIdList"] == ["polaroid", "chest", "butterfly"]
    missed = click(url, answer["sessionId"], 0)
    assert list(missed) == [
        "clickSuccessful",
        "simulationResult",
        "multichannelArrayState",
        "validActionPositions",
        "fullState",
        "remainingGoalsDistance",
    ]


@pytest.mark.parametrize("xy", [(7, 0), (-7, 0), (0, 5), (0, -5), (10**30, 0), (-6, -4)])
def test_clicks_off_the_board_and_on_inactive_cells_fail(url, xy):
    session = create(url)["sessionId"]
    answer = post(url, "/session/click", sessionId=session, x=xy[0], y=xy[1])
    assert answer["clickSuccessful"] is False


def test_goal_distances(levels):
    """Hit points on the board, doubled for pieces that only power pieces hit, 0 for a reached goal."""

    def distances(level, seed=0):
        position = levels.start(level, seed)
        return position, {one["id"]: one["distance"] for one in position.level.distances(position)}

    position, found = distances(11)  # snails, stumps and baskets of 3 are hit by power alone
    assert (found["snail"], found["stump"], found["basket"], found["bubble"]) == (12, 4, 12, 0)
    assert distances(7)[1] == {"chestnut": 12, "sunflower": 9, "cage": 9}
    _, found = distances(12)
    assert (found["bush"], found["gnomes"]) == (10, 12)
    record = np.frombuffer(bytearray(position.record), position.level.game.dtype)
    record["rest"][0, 0] = 0
    reached = replace(position, record=record.tobytes())
    assert reached.level.distances(reached)[0] == {"id": "snail", "distance": 0}


def test_numbers_of_all_lengths_are_written():
    board = np.array([0, 9, 10, 255, 100, 1], np.uint8)
    assert format_numbers(board) == "0,9,10,255,100,1"
    assert format_numbers(np.array([9, 0, 3], np.uint8)) == "9,0,3"
