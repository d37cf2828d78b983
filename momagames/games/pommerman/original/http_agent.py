"""Agents in other processes, in any language: the original's JSON protocol over HTTP, from the side of the game.

The program of the agent answers:

    GET  /ping         any answer with status 200: it is ready
    POST /init_agent   {"id": "0", "game_type": "1"}
    POST /action       {"obs": "{...}", "action_space": "6"} -> {"action": 0}, in radio games {"action": [0, 0, 0]}
    POST /episode_end  {"reward": "1"}
    POST /shutdown     {}

Every value of a request is itself a JSON text, as in the original: "obs" is the observation with lists for arrays and codes for
members of enumerations, "action_space" is 6, or [6, 8, 8] in radio games.
"""

from __future__ import annotations

import io
import json
import re
import socket
import time
from collections.abc import Mapping
from enum import Enum
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from typing import Any, cast

import numpy as np
from gymnasium import spaces

from momagames.errors import InvalidFile, InvalidParameter, RemoteError, check_range
from momagames.files.json_data import parse_json

DEFAULT_TIMEOUT = 0.1  # seconds for an action: the limit of the competitions
NOTICE_TIMEOUT = 0.5  # for /init_agent, /episode_end and /shutdown, as in the original
START_TIMEOUT, START_INTERVAL = 30.0, 0.1  # for the first answer to /ping
MAX_ANSWER = 64 << 10  # bytes, header included
CHUNK = 8 << 10
CONTENT_LENGTH = re.compile(rb"[0-9]{1,9}")
OK, PORTS = 200, (1, 65535)


class HttpAgent:
    """An agent of the original package whose `act` asks a program over HTTP, see the module for the protocol.

    host            a name or address of this machine
    port            TCP port
    timeout         seconds for an action. For a late one Stop is played, with silence in radio games; the program is asked
                    again in the next step
    allow_remote    whether the host may be another machine. The observations are sent unencrypted
    start_timeout   seconds to wait for the program to answer /ping

    num_late        number of actions that came too late
    Raises          RemoteError if the program is not there or its answer is invalid; InvalidParameter for another machine
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 10080,
        timeout: float = DEFAULT_TIMEOUT,
        allow_remote: bool = False,
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        check_range("timeout", timeout, 0, above=True)
        check_range("port", port, *PORTS, whole=True)
        check_host(host, allow_remote)
        self.host, self.port, self.timeout, self.num_late = host, port, timeout, 0
        self._wait_until_ready(start_timeout)

    def __deepcopy__(self, memo: Any) -> HttpAgent:
        raise TypeError("the memory of a program in another process cannot be copied")

    def init_agent(self, id_: int, game_type: Any) -> None:
        """Tell the program which agent it plays, and in which kind of game."""
        self._notify("/init_agent", {"id": id_, "game_type": game_type})

    def act(self, obs: Mapping[str, Any], action_space: Any) -> Any:
        """Return the action of the program, or Stop if it is late."""
        try:
            answer = self._post("/action", {"obs": obs, "action_space": action_space}, self.timeout)
        except TimeoutError:
            self.num_late += 1
            return [0] * len(action_space) if isinstance(action_space, spaces.Tuple) else 0
        try:
            data = parse_json(answer, "the answer")
        except InvalidFile as error:
            raise RemoteError(f"{self._place}/action: {error}") from None
        action = data.get("action") if isinstance(data, dict) else None
        parts = action if isinstance(action, list) else [action]
        if not parts or not all(type(part) is int for part in parts):  # no bool
            raise RemoteError(f'{self._place}/action: invalid answer {answer[:200]!r}: expected {{"action": number or list}}')
        return action

    def episode_end(self, reward: int) -> None:
        """Tell the program the reward of the last step."""
        self._notify("/episode_end", {"reward": reward})

    def shutdown(self) -> None:
        """Ask the program to stop. It is not called by matches."""
        self._notify("/shutdown", {})

    @property
    def _place(self) -> str:
        return f"http://{self.host}:{self.port}"

    def _wait_until_ready(self, seconds: float) -> None:
        """Ask /ping until the program answers. Raises RemoteError."""
        until = time.monotonic() + seconds
        while True:
            try:
                self._request("GET", "/ping", b"", max(until - time.monotonic(), START_INTERVAL))
                return
            except (RemoteError, TimeoutError) as error:
                if time.monotonic() + START_INTERVAL >= until:
                    raise RemoteError(f"{self._place}/ping: no answer within {seconds:g} s: {error}") from None
                time.sleep(START_INTERVAL)

    def _notify(self, path: str, content: Mapping[str, Any]) -> None:
        """Send a message whose answer does not matter; a late one is no error, as in the original."""
        try:
            self._post(path, content, NOTICE_TIMEOUT)
        except TimeoutError:
            return

    def _post(self, path: str, content: Mapping[str, Any], timeout: float) -> bytes:
        body = {name: json.dumps(value, default=encode_value) for name, value in content.items()}
        return self._request("POST", path, json.dumps(body).encode(), timeout)

    def _request(self, method: str, path: str, body: bytes, timeout: float) -> bytes:
        """Return the body of the answer. Raises TimeoutError if it is not complete in time; RemoteError."""
        until = time.monotonic() + timeout
        head = f"{method} {path} HTTP/1.0\r\nHost: {self.host}:{self.port}\r\nContent-Type: application/json\r\n"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        try:
            with socket.create_connection((self.host, self.port), timeout) as connection:
                connection.settimeout(_compute_remaining(until))
                connection.sendall(request)
                return self._read_answer(connection, path, until)
        except TimeoutError:
            raise
        except OSError as error:
            raise RemoteError(f"{self._place}{path}: {error}") from None

    def _read_answer(self, connection: socket.socket, path: str, until: float) -> bytes:
        """Read an answer up to its declared length, or to the end of the connection."""
        data = b""
        try:
            while not _is_complete(data):
                connection.settimeout(_compute_remaining(until))
                chunk = connection.recv(CHUNK)
                if not chunk:
                    break
                data += chunk
                if len(data) > MAX_ANSWER:
                    raise RemoteError(f"{self._place}{path}: answer of more than {MAX_ANSWER >> 10} KiB")
            response = HTTPResponse(cast(socket.socket, _ReadSocket(data)))
            response.begin()
            body = response.read()
        except (HTTPException, ValueError, OverflowError) as error:  # the last one for the size of a chunk
            raise RemoteError(f"{self._place}{path}: not an answer of HTTP: {type(error).__name__}: {data[:100]!r}") from None
        if response.status != OK:
            raise RemoteError(f"{self._place}{path}: status {response.status} {response.reason}: expected {OK}")
        return body


class _ReadSocket:
    """Received bytes in the form that `HTTPResponse` reads."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _is_complete(data: bytes) -> bool:
    """Return whether an answer has as many bytes as its header declares. Raises ValueError for an invalid number."""
    head, end, body = data.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            if not CONTENT_LENGTH.fullmatch(value.strip()):
                raise ValueError(f"invalid Content-Length={value.strip()[:50]!r}: expected a number of bytes")
            return len(body) >= int(value)
    return False


def _compute_remaining(until: float) -> float:
    """Return the seconds until a time, or raise TimeoutError."""
    remaining = until - time.monotonic()
    if remaining <= 0:
        raise TimeoutError("timed out")
    return remaining


def encode_value(value: Any) -> Any:
    """Return a value of an observation or an action space as JSON data: lists for arrays, codes for enumerations."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, spaces.Discrete):
        return int(value.n)
    if isinstance(value, spaces.Tuple):
        return [encode_value(space) for space in value.spaces]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def parse_addresses(addresses: str, allow_remote: bool) -> list[tuple[str, int]]:
    """Return hosts and ports of "HOST:PORT,...". Raises InvalidParameter."""
    places = []
    for address in addresses.split(","):
        host, _, port = address.strip().rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or not PORTS[0] <= int(port) <= PORTS[1]:
            raise InvalidParameter(f"invalid address={address!r}: expected HOST:PORT, such as '127.0.0.1:10080'")
        check_host(host.strip("[]"), allow_remote)
        places.append((host.strip("[]"), int(port)))
    return places


def check_host(host: str, allow_remote: bool) -> None:
    """Raise InvalidParameter for another machine, unless it is allowed."""
    try:
        is_loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback and not allow_remote:
        raise InvalidParameter(f"invalid host={host!r}: expected 'localhost' or 127.0.0.1, or allow_remote=True")
