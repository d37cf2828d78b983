"""Requests in the manner of the public clients: a POST on a connection of its own, answers read as JSON."""

import json

import numpy as np
import requests

TIMEOUT = 100


def post(url, path, **data):
    """Send a request and return its answer; raise for an error."""
    response = raw(url, path, json.dumps(data))
    response.raise_for_status()
    return response.json()


def raw(url, path, body, **headers):
    return requests.post(url + path, data=body, headers={"content-type": "application/json", **headers}, timeout=TIMEOUT)


def create(url, level=1, seed=7, **more):
    return post(url, "/session/create", levelIndex=level, seed=seed, returnFullState=False, **more)


def click(url, session, action, **more):
    x, y = action % 13 - 6, action // 13 - 4
    return post(url, "/session/click", sessionId=session, x=x, y=y, returnFullState=False, **more)


def read_board(answer):
    """Return the board as public clients read it: [x, y, channel]."""
    state = json.loads(answer["multichannelArrayState"])
    return np.array(state["board"], dtype=np.float64).reshape(state["boardSize"], order="F")


def mask(answer):
    """Return the valid actions as the research client reads them."""
    out = np.zeros(117, np.int8)
    for x, y in json.loads(answer["validActionPositions"]):
        out[(x + 6) + 13 * (y + 4)] = 1
    return out


def error(response):
    """Return the text of an error."""
    assert response.headers["content-type"] == "application/json"
    (name, text), *others = response.json().items()
    assert (name, others) == ("error", [])
    return text
