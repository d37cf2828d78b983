"""Agents of ours in the form of the original package, which they do not import. Run as a program, one answers over HTTP."""

from __future__ import annotations

import json
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np

STOP, BOMB, BOMB_CODE, WOOD, FLAMES = 0, 5, 3, 2, 4
MOVES = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}


class Wanderer:
    """Walks over open cells at random and never lays a bomb."""

    made: list[Wanderer] = []  # noqa: RUF012 - what the tests read

    def __init__(self) -> None:
        self.id, self.game_type, self.rewards, self.seen, self.actions = -1, None, [], [], []
        type(self).made.append(self)

    def init_agent(self, id_: int, game_type: Any) -> None:
        self.id, self.game_type = id_, game_type

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        self.seen.append(obs)
        self.actions.append(self.form(random.choice([STOP, *open_moves(obs)])))
        return self.actions[-1]

    def form(self, move: int) -> Any:
        """The form in which it returns an action."""
        return move

    def episode_end(self, reward: float) -> None:
        self.rewards.append(reward)


class Talker(Wanderer):
    """Returns a tuple of a move and two words."""

    def form(self, move: int) -> Any:
        return np.int64(move), 3, np.int32(7)


class Sampler(Wanderer):
    """Returns what the action space samples, bombs included."""

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        return action_space.sample()


class Mute:
    """Has no method but `act`, and stops."""

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        return STOP


class Mistaken(Mute):
    """Returns an action that there is not."""

    def act(self, obs: dict[str, Any], action_space: Any) -> Any:
        return 6


def open_moves(obs: dict[str, Any]) -> list[int]:
    """Moves to passages and items."""
    board, (row, col) = np.asarray(obs["board"]), obs["position"]
    found = []
    for move, (down, right) in MOVES.items():
        place = row + down, col + right
        if min(place) >= 0 and max(place) < len(board) and board[place] in (0, 6, 7, 8):
            found.append(move)
    return found


class Answers(BaseHTTPRequestHandler):
    """The protocol of the original, from the side of the agent. The first argument of the program says how it answers."""

    calls: list[tuple[str, Any]] = []  # noqa: RUF012 - of the one agent of the process

    def do_GET(self) -> None:
        self.answer({"success": True, "calls": self.calls} if self.path == "/calls" else {"success": True})

    def do_POST(self) -> None:
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = {name: json.loads(value) for name, value in data.items()}
        how = sys.argv[1]
        self.calls.append((self.path, content if self.path != "/action" else sorted(content["obs"])))
        if self.path != "/action":
            return self.answer({"success": True})
        if how == "slow" and content["obs"]["step_count"] % 2:
            time.sleep(0.4)
        if how == "drip":
            return self.drip()
        if how == "long":
            return self.answer({"action": 0, "padding": "x" * 100_000})
        if how == "text":
            return self.answer({"action": "up"})
        if how == "broken":
            return self.answer({}, status=500)
        move = random.choice([STOP, *open_moves(content["obs"])])
        return self.answer({"action": [move, 0, 5] if isinstance(content["action_space"], list) else move})

    def drip(self) -> None:
        """Send an answer without end, a byte at a time, as long as the game listens."""
        try:
            while True:
                self.wfile.write(b"H")
                time.sleep(0.02)
        except OSError:
            return

    def answer(self, content: Any, status: int = 200) -> None:
        body = json.dumps(content).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # the game did not wait
            return

    def log_message(self, format: str, *args: Any) -> None:
        return


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Answers)
    print(server.server_address[1], flush=True)
    server.serve_forever()
