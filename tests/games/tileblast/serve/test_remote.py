"""A simulator as a Gymnasium environment: our own one, and some that answer nonsense."""

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import momagames
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, RemoteError
from momagames.games.tileblast.serve.remote_env import RemoteTileBlast
from tests.games.tileblast.serve.client import create, post

pytestmark = pytest.mark.compiled

OBJECTIVES = RemoteTileBlast.objectives


def native(**params):
    return momagames.make("mo-tileblast-v0", api="gymnasium", objectives=OBJECTIVES, **params)


@pytest.mark.parametrize(
    ("level", "params"),
    [(1, {}), (1, {"strict_moves": False}), (6, {}), (7, {"max_taps": 12}), (11, {"strict_moves": False, "max_taps": 30})],
)
def test_equals_the_native_environment(url, level, params):
    here, there = native(level=level, **params), RemoteTileBlast(url, level, **params)
    assert there.observation_space == here.observation_space
    assert there.action_space == here.action_space
    rng = np.random.default_rng(level)
    for seed in (4, 5):
        (board, info), (same, remote_info) = here.reset(seed=seed), there.reset(seed=seed)
        over = cut = False
        while True:
            np.testing.assert_array_equal(board, same)
            assert board.dtype == same.dtype == np.uint8
            np.testing.assert_array_equal(info["action_mask"], remote_info["action_mask"])
            assert {name: info[name] for name in remote_info if name != "action_mask"} == {
                name: remote_info[name] for name in remote_info if name != "action_mask"
            }
            if over or cut:
                break
            action = rng.choice(np.flatnonzero(info["action_mask"])) if rng.random() < 0.8 else rng.integers(117)
            board, reward, over, cut, info = here.step(action)
            same, remote_reward, *ends, remote_info = there.step(action)
            np.testing.assert_array_equal(reward, remote_reward)
            assert remote_reward.dtype == np.float32
            assert there.reward_space.contains(remote_reward)
            assert [over, cut] == ends
        with pytest.raises(InvalidCall, match="after the end"):
            there.step(0)
    there.close()


def test_goals_reward_is_the_decrease_of_the_sum(url):
    """Weeds spread: the protocol sends the remaining units, and the reward is their decrease."""
    env = RemoteTileBlast(url, 10, strict_moves=False)
    _, info = env.reset(seed=1)
    first, total = sum(info["goals_remaining"]), 0
    for _ in range(12):
        _, reward, _, _, info = env.step(int(info["action_mask"].argmax()))
        total += reward[0]
    assert total == first - sum(info["goals_remaining"])
    env.close()


def test_passes_gymnasium_checks(url):
    class Scalar(RemoteTileBlast):
        def step(self, action):
            board, reward, *rest = super().step(action)
            return board, float(reward.sum()), *rest

    check_env(Scalar(url), skip_render_check=True)


def test_seeds(url):
    env, twin = RemoteTileBlast(url), RemoteTileBlast(url)
    for one in (env, twin):
        one.reset(seed=3)
    np.testing.assert_array_equal(env.reset()[0], twin.reset()[0])  # drawn from equal generators
    assert not np.array_equal(env.reset()[0], twin.reset(seed=3)[0])


def test_sessions_are_destroyed(serve):
    with serve() as url:
        env = RemoteTileBlast(url)
        for _ in range(3):
            env.reset()
            assert len(post(url, "/sessions/list")["sessionIds"]) == 1
        env.close()
        env.close()
        assert post(url, "/sessions/list") == {"sessionIds": []}
    with pytest.raises(RemoteError, match="no answer"):
        env.reset()


def test_invalid_calls(url):
    env = RemoteTileBlast(url)
    with pytest.raises(InvalidCall, match="before reset"):
        env.step(0)
    with pytest.raises(InvalidParameter, match="state"):
        env.reset(options={"state": {}})
    env.reset()
    for action in (-1, 117, 1.0, "3", None):
        with pytest.raises(IllegalAction, match=r"0\.\.116"):
            env.step(action)
    env.step(np.int64(0))
    env.close()
    with pytest.raises(InvalidCall, match="before reset"):
        env.step(0)
    for bad in ("localhost:8090", "ftp://localhost", "http://", "http://localhost:99999", None):
        with pytest.raises(InvalidParameter, match="http://localhost:8090"):
            RemoteTileBlast(bad)
    with pytest.raises(RemoteError, match=r"status 404.*invalid levelIndex=99"):
        RemoteTileBlast(url, 99).reset()


def test_destroyed_session(serve):
    with serve() as url:
        env = RemoteTileBlast(url)
        env.reset(seed=1)
        post(url, "/sessions/clear")
        with pytest.raises(RemoteError, match="/session/click: status 404"):
            env.step(0)
        with pytest.raises(InvalidCall, match="failed"):
            env.step(0)
        env.reset()
        env.step(0)


@contextmanager
def answering(*answers):
    """Start a server that sends these answers, (status, body) each, in order; yield its address."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            status, body = left.pop(0)
            if status is None:
                return  # and the connection is closed
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *ignored):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def changed(answer, **state):
    fields = json.loads(answer["multichannelArrayState"])
    return answer | {
        "multichannelArrayState": json.dumps({key: value for key, value in (fields | state).items() if value is not None})
    }


INVALID = {
    "nothing": lambda good: (None, b""),
    "an error": lambda good: (500, b"oops"),
    "no JSON": lambda good: (200, b"<html>"),
    "a list": lambda good: (200, b"[]"),
    "no session": lambda good: good | {"sessionId": None},
    "a limit as text": lambda good: good | {"levelMoveLimit": "20"},
    "no state": lambda good: good | {"multichannelArrayState": ""},
    "a state that is no object": lambda good: good | {"multichannelArrayState": "[3]"},
    "another size": lambda good: changed(good, boardSize=[9, 9, 24]),
    "a short board": lambda good: changed(good, board=[0] * 5),
    "a board of fractions": lambda good: changed(good, board=[0.5] * 2808),
    "a board of text": lambda good: changed(good, board=["?"] * 2808),
    "no board": lambda good: changed(good, board=None),
    "no remaining": lambda good: changed(
        good, collectGoalRemaining=None, collectGoalRemainingList=None, collectGoalRemaininglList=None
    ),
    "no valid taps": lambda good: {key: value for key, value in good.items() if key != "validActionPositions"},
    "valid taps between cells": lambda good: good | {"validActionPositions": "[[0.5, 0]]"},
    "valid taps off the board": lambda good: good | {"validActionPositions": "[[7, 0]]"},
}


@pytest.mark.parametrize("invalid", INVALID)
def test_invalid_answers(url, invalid):
    given = INVALID[invalid](create(url))
    status, body = given if isinstance(given, tuple) else (200, json.dumps(given).encode())
    with answering((status, body)) as other, pytest.raises(RemoteError, match=other):
        RemoteTileBlast(other, timeout=5).reset()


def test_timeout():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        env = RemoteTileBlast(f"http://127.0.0.1:{deaf.getsockname()[1]}", timeout=0.2)
        with pytest.raises(RemoteError, match="no answer"):
            env.reset()


def test_answers_in_the_older_forms(url):
    """Valid taps as a list, the published spelling of the list of goals, or the sum alone."""
    good = create(url, 2, 3)
    board, info = native(level=2).reset(seed=3)
    listed = good | {"validActionPositions": json.loads(good["validActionPositions"])}
    for answer, rest in (
        (changed(listed, collectGoalRemainingList=None), info["goals_remaining"]),
        (changed(listed, collectGoalRemainingList=None, collectGoalRemaininglList=None), [sum(info["goals_remaining"])]),
    ):
        with answering((200, json.dumps(answer).encode())) as other:
            remote_board, remote_info = RemoteTileBlast(other).reset(seed=3)
        np.testing.assert_array_equal(remote_board, board)
        np.testing.assert_array_equal(remote_info["action_mask"], info["action_mask"])
        assert remote_info["goals_remaining"] == rest
