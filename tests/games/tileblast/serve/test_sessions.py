"""Sessions: many at once, and no more than there may be."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import numpy as np
import pytest

from momagames.games.tileblast.serve.protocol import RequestError
from momagames.games.tileblast.serve.sessions import Sessions
from tests.games.tileblast.serve.client import click, create, error, mask, post, raw

pytestmark = pytest.mark.compiled


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_least_recently_used_session_is_closed(levels):
    sessions, start = Sessions(max_sessions=3), levels.start(1, 0)
    a, b, c = (sessions.create(start) for _ in range(3))
    sessions.position(a)
    d = sessions.create(start)
    assert sessions.ids() == [c, a, d]
    with pytest.raises(RequestError, match=b):
        sessions.position(b)
    sessions.update(c, start)
    e = sessions.create(start)
    assert sessions.ids() == [d, c, e]


def test_idle_sessions_are_closed(levels):
    clock = Clock()
    sessions, start = Sessions(idle=10, clock=clock), levels.start(1, 0)
    a, b = sessions.create(start), sessions.create(start)
    clock.now = 6
    sessions.position(a)
    clock.now = 12
    assert sessions.ids() == [a]
    assert not sessions.destroy(b)
    clock.now = 17
    with pytest.raises(RequestError):
        sessions.position(a)
    assert len(sessions) == 0


def test_without_a_limit_idle_sessions_stay(levels):
    clock = Clock()
    sessions = Sessions(clock=clock)
    a = sessions.create(levels.start(1, 0))
    clock.now = 1e9
    assert sessions.ids() == [a]


def test_limits_over_http(serve):
    with serve(max_sessions=2, idle=0.3) as url:
        first, second, third = (create(url)["sessionId"] for _ in range(3))
        assert post(url, "/sessions/list") == {"sessionIds": [second, third]}
        gone = raw(url, "/session/click", f'{{"sessionId": "{first}", "x": 0, "y": 0}}')
        assert gone.status_code == 404
        assert first in error(gone)
        time.sleep(0.4)
        assert post(url, "/sessions/list") == {"sessionIds": []}


@pytest.mark.long
def test_a_thousand_sessions_leave_none(serve):
    with serve() as url:
        connection = HTTPConnection(*url.removeprefix("http://").split(":"))

        def ask(path, **data):
            connection.request("POST", path, json.dumps(data))
            return json.loads(connection.getresponse().read())

        ids = set()
        for seed in range(1000):
            session = ask("/session/create", levelIndex=1 + seed % 12, seed=seed)["sessionId"]
            ids.add(session)
            assert ask("/session/destroy", sessionId=session) == {"destroyed": True}
        connection.close()
        assert len(ids) == 1000
        assert post(url, "/sessions/list") == {"sessionIds": []}


def test_list_and_clear(serve):
    with serve() as url:
        ids = [create(url, seed=seed)["sessionId"] for seed in range(5)]
        assert post(url, "/sessions/list") == {"sessionIds": ids}
        assert post(url, "/sessions/clear") == {"sessionIds": []}
        assert post(url, "/sessions/list") == {"sessionIds": []}
        assert post(url, "/session/destroy", sessionId=ids[0]) == {"destroyed": False}


def test_concurrent_sessions(url, levels):
    """Eight threads with their own games, and one game that four threads tap in: each tap counts once."""

    def play(number):
        answer = create(url, 1 + number, number)
        rng, session, played = np.random.default_rng(number), answer["sessionId"], []
        while len(played) < 12 and mask(answer).any():
            played.append(int(rng.choice(np.flatnonzero(mask(answer)))))
            answer = click(url, session, played[-1])
        state = json.loads(post(url, "/session/status", sessionId=session)["state"])
        return len(played), state == {"levelIndex": 1 + number, "seed": number, "taps": played}

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(play, [2, 3, 4, 5, 6, 7, 8, 11]))
    assert all(same for _, same in done)
    assert sum(taps for taps, _ in done) > 60

    shared = create(url, 12, 4)["sessionId"]

    def tap(action):
        return click(url, shared, action)["clickSuccessful"]

    with ThreadPoolExecutor(4) as pool:
        valid = sum(pool.map(tap, range(117)))
    state = post(url, "/session/status", sessionId=shared)["state"]
    assert len(levels.replay(state).taps) == valid > 0
