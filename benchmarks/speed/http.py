"""MO-TileBlast over HTTP: one client process, and the simulator in another one, on the loopback.

A round in which the simulator lost a session, because it restarted, is measured again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any

import numpy as np
import requests

import momagames
from benchmarks.speed.timing import Measure, interleaved, scale

CASES = {"level 1": 1, "level 12": 12}
REQUIRED = 1000  # steps a second of a client that opens a connection for each request
GAME_STEPS = 300  # of a round
ATTEMPTS = 20  # to measure a round
PAUSE = 0.5  # seconds between two attempts, while the simulator starts
Ask = Callable[[str, dict[str, Any]], dict[str, Any]]


@contextmanager
def simulator() -> Iterator[str]:
    """A simulator in a process of its own; gives host and port."""
    command = [sys.executable, "-m", "momagames", "serve", "tileblast", "--port", "0", "--rate", "0"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        yield running.stdout.readline().split("http://")[1].split()[0]
    finally:
        running.terminate()
        running.wait()


class SessionLost(Exception):
    """The simulator does not know the session, or its position is another one."""


def games(level: int, steps: int) -> list[tuple[int, list[int]]]:
    """Random valid taps, as (seed, actions) of whole games with this many steps or more."""
    env = momagames.make("mo-tileblast-v0", api="gymnasium", level=level, strict_moves=False)
    rng, out, played = np.random.default_rng(0), [], 0
    while played < steps:
        _, info = env.reset(seed=len(out))
        actions, over = [], False
        while not over:
            actions.append(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            *_, cut, info = env.step(actions[-1])
            over = cut or info["won"] or info["dead"]
        out.append((len(out), actions))
        played += len(actions)
    return out


def keep_alive(where: str) -> Ask:
    """http.client on one connection; a request on a connection that the simulator closed is sent again on a new one."""
    connection = HTTPConnection(where)

    def send(path: str, data: dict[str, Any]) -> dict[str, Any]:
        connection.request("POST", path, json.dumps(data))
        return dict(json.loads(connection.getresponse().read()))

    def ask(path: str, data: dict[str, Any]) -> dict[str, Any]:
        try:
            return send(path, data)
        except (ConnectionError, HTTPException):
            connection.close()
            return send(path, data)

    return ask


def anew(where: str) -> Ask:
    """http.client on a connection for each request."""

    def ask(path: str, data: dict[str, Any]) -> dict[str, Any]:
        connection = HTTPConnection(where)
        connection.request("POST", path, json.dumps(data))
        answer = dict(json.loads(connection.getresponse().read()))
        connection.close()
        return answer

    return ask


def public(where: str) -> Ask:
    """As the public client asks: `requests.post`, a connection for each request."""

    def ask(path: str, data: dict[str, Any]) -> dict[str, Any]:
        return dict(requests.post(f"http://{where}{path}", data=json.dumps(data), timeout=100).json())

    return ask


def play_games(ask: Ask, level: int, played: list[tuple[int, list[int]]]) -> int:
    """Play recorded games; return the number of steps, or raise SessionLost."""
    for seed, actions in played:
        session = ask("/session/create", {"levelIndex": level, "seed": seed, "returnFullState": False})["sessionId"]
        for action in actions:
            data = {"sessionId": session, "x": action % 13 - 6, "y": action // 13 - 4, "returnFullState": False}
            answer = ask("/session/click", data)
            if not answer.get("clickSuccessful"):
                raise SessionLost(f"level {level}, seed {seed}: the tap {action}, valid when it was recorded: {answer}")
        ask("/session/destroy", {"sessionId": session})
    return sum(len(actions) for _, actions in played)


def loop(ask: Ask, level: int, played: list[tuple[int, list[int]]]) -> Measure:
    """ns of wall time a step; creating and destroying the sessions counts, reading the boards does not."""

    def time_games() -> float:
        start = time.perf_counter()
        steps = play_games(ask, level, played)
        return (time.perf_counter() - start) / steps * 1e9

    def run() -> float:
        for _ in range(ATTEMPTS - 1):
            try:
                return time_games()
            except (ConnectionError, HTTPException, requests.ConnectionError, SessionLost):
                time.sleep(PAUSE)
        return time_games()

    return run


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns of wall time a step: {case: {variant: median}}."""
    with simulator() as where:
        out = {}
        for case, level in CASES.items():
            played = games(level, scale(GAME_STEPS, steps))
            asks = {"new connections": anew(where), "kept connection": keep_alive(where), "requests.post": public(where)}
            out[case] = interleaved({name: loop(ask, level, played) for name, ask in asks.items()}, rounds)
        return out
