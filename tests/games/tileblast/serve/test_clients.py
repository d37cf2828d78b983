"""Whole games by clients that do what the public ones do: how they ask, what they read, when they ask again."""

import json
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import numpy as np
import pytest
import requests

from momagames.games.tileblast.serve import service
from tests.games.tileblast.serve.client import click, create, mask, post, read_board

pytestmark = pytest.mark.compiled


class Competitor:
    """Environment of the competition: a game is over at 0 remaining units."""

    def __init__(self, url, level):
        self.url, self.level, self.session, self.retries = url, level, None, 0

    def reset(self, seed):
        if self.session is not None:
            post(self.url, "/session/destroy", sessionId=self.session)  # errors are not caught
        answer = create(self.url, self.level, seed)
        self.session = answer["sessionId"]
        return self.read(answer)

    def step(self, action):
        """Tap; repeat a failed click once."""
        try:
            answer = click(self.url, self.session, action)
        except requests.HTTPError:
            self.retries += 1
            answer = click(self.url, self.session, action)
        return answer["clickSuccessful"], *self.read(answer)

    def read(self, answer):
        state = json.loads(answer["multichannelArrayState"])
        self.progress = state["collectGoalGoal"] - state["collectGoalRemaining"]
        return read_board(answer), state["collectGoalRemaining"] < 1e-6


def random_agent(url, level, seed, steps):
    """Random taps, valid or not, game after game: return sums of the boards, and the number of wins."""
    env, rng, results, won, over = Competitor(url, level), np.random.default_rng(seed), [], 0, True
    for number in range(steps):
        if over:
            board, over = env.reset(seed * 1000 + number)
            assert board.shape == (13, 9, 24)
        valid, board, over = env.step(int(rng.integers(117)))
        won += over
        results.append((valid, board.sum(), env.progress))
    post(url, "/session/destroy", sessionId=env.session)
    return results, won, env.retries


@pytest.mark.long
def test_concurrent_clients(serve):
    """Each game equals the game of a single client, and no session is left."""
    with serve() as url:
        with ThreadPoolExecutor(4) as pool:
            games = list(pool.map(lambda n: random_agent(url, 1 + n % 2, n, 250), range(4)))
        assert post(url, "/sessions/list") == {"sessionIds": []}
        assert all(won >= 1 for _, won, _ in games)
        assert games[1][0][:100] == random_agent(url, 2, 1, 100)[0]


@pytest.mark.long
def test_thousands_of_steps_on_one_connection(serve):
    """The state of a session holds exactly its valid taps."""
    with serve() as url:
        connection, rng, session, over = (
            HTTPConnection(*url.removeprefix("http://").split(":")),
            np.random.default_rng(0),
            None,
            True,
        )
        played = []

        def ask(path, **data):
            connection.request("POST", path, json.dumps(data))
            return json.loads(connection.getresponse().read())

        for step in range(2000):
            if over:
                if session:
                    assert json.loads(ask("/session/status", sessionId=session)["state"])["taps"] == played
                    assert ask("/session/destroy", sessionId=session) == {"destroyed": True}
                session, played = ask("/session/create", levelIndex=1 + step % 12, seed=step)["sessionId"], []
            action = int(rng.integers(117))
            answer = ask("/session/click", sessionId=session, x=action % 13 - 6, y=action // 13 - 4)
            played += [action] * answer["clickSuccessful"]
            over = answer["validActionPositions"] == "[]"
        connection.close()
        assert post(url, "/sessions/list") == {"sessionIds": [session]}


def test_repeated_click_is_played_once(serve, monkeypatch):
    calls, seen = [0], service.format_position

    def at_times(*args):
        calls[0] += 1
        if calls[0] % 5 == 0:
            raise RuntimeError("at times")
        return seen(*args)

    with serve() as url:
        alone = random_agent(url, 1, 3, 60)
        monkeypatch.setattr(service, "format_position", at_times)
        bothered = random_agent(url, 1, 3, 60)
    assert alone[:2] == bothered[:2]
    assert (alone[2], bothered[2] > 5) == (0, True)


def test_lookahead_with_dry_runs_wins(url):
    """The environments of the research client: a dry run before each step, and each action of the mask a successful one."""
    answer, rng = create(url, 3, 11), np.random.default_rng(0)
    session = answer["sessionId"]
    for _ in range(150):
        may = np.flatnonzero(mask(answer))
        if not len(may):
            break
        dry = [click(url, session, int(action), dryRun=True) for action in rng.choice(may, 2)]
        best = min(dry, key=lambda one: json.loads(one["multichannelArrayState"])["collectGoalRemaining"])
        action = int(may[0]) if best["validActionPositions"] == "[]" else int(rng.choice(may))
        answer = click(url, session, action, dryRun=False)
        assert answer["clickSuccessful"]
        board = read_board(answer) / json.loads(answer["multichannelArrayState"])["normList"]
        assert np.isfinite(board).all()
    assert json.loads(answer["multichannelArrayState"])["collectGoalRemaining"] == 0
