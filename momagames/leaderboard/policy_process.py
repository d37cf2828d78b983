"""Policies of a submission that are code: they run in a process of their own, which gets observations and returns actions.

The process never sees the game state, and nothing that it does to the package changes how this process plays, counts and
scores. Messages are bytes: JSON, and the arrays of an observation; no object of the process is unpickled here. What it starts
ends with it, and its memory is limited (see `process_tree`). It has all rights of the user, though: it is no sandbox.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import weakref
from collections.abc import Mapping
from importlib import import_module
from math import prod
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.own import read_parameters
from momagames.benchmark.choices import GameChoice
from momagames.benchmark.store.policy_files import unpack_policy
from momagames.contract import Game, Policy, reset_policy, split_mask
from momagames.engine.policy_sources import ARRAYS, WEIGHTS, ObservationPolicy
from momagames.engine.python_policies import PythonPolicy
from momagames.errors import InvalidFile, shorten
from momagames.files.json_data import parse_json
from momagames.files.reading import hash_content, read_bytes
from momagames.leaderboard.errors import ForgedSubmission, InvalidSubmission
from momagames.leaderboard.process_tree import END_SECONDS, can_supervise, end_processes, supervise

START_SECONDS, ANSWER_SECONDS = 300.0, 60.0
MAX_ANSWER_BYTES = 64 << 10
TOO_LONG = "bad message length"  # the error of a pipe for a longer one


class PolicyProcess:
    """The process of the policies of a submission, a context manager.

    folder    of the submission
    game      of its setting
    place     the metadata file, for messages
    """

    def __init__(self, folder: Path, game: GameChoice, place: str) -> None:
        self._place = place
        self._released: list[int] = []
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        self._process = context.Process(target=_run, args=(end, str(folder.resolve()), game), daemon=True)
        self._process.start()
        end.close()  # the pipe then closes with the process

    def __enter__(self) -> PolicyProcess:
        return self

    def __exit__(self, *error: object) -> None:
        end_processes(self._process)
        self._pipe.close()

    def load_policy(self, path: str, options: Mapping[str, Any], arrays: str | None = None, point: int = 0) -> PythonPolicy:
        """Return a policy in the form that is seated in batches; `path` is "module:class" or "module:function".

        arrays, point    of a trained policy: the file of the submission with its parameters, and its number there
        """
        self.request(path, {"order": "load"}, seconds=START_SECONDS)

        def make(game: Game, agent: int | None) -> Policy:
            number = self.request(path, {"order": "make", "options": options, "agent": agent, "file": arrays, "point": point})
            return ObservationPolicy(_RemoteFunction(self, game, path, int(number)), game, agent)

        return PythonPolicy(path, make)

    def request(self, path: str, message: Mapping[str, Any], content: bytes = b"", seconds: float | None = None) -> Any:
        """Send a message about the code at `path`, and return the answer.

        Raises     InvalidSubmission if there is none within some seconds, or an error
        """
        released, self._released = self._released, []
        message = {"path": path, "released": released, **message}
        seconds = ANSWER_SECONDS if seconds is None else seconds
        try:
            self._pipe.send_bytes(json.dumps(message).encode())
            self._pipe.send_bytes(content)
            received = self._pipe.recv_bytes(MAX_ANSWER_BYTES) if self._pipe.poll(seconds) else None
        except (EOFError, OSError) as error:
            if TOO_LONG in str(error):
                raise self.make_error(path, f"an answer of more than {MAX_ANSWER_BYTES >> 10} KiB") from None
            self._process.join(END_SECONDS)
            code = self._process.exitcode
            reason = "closed its connection" if code is None else f"ended (exit code {code})"
            raise self.make_error(path, f"its process {reason}") from None
        if received is None:
            raise self.make_error(path, f"no answer within {seconds:g} s")
        try:
            answer = parse_json(received, "answer")
        except InvalidFile as error:
            raise self.make_error(path, str(error)) from None
        if not isinstance(answer, dict) or "result" not in answer:
            raise self.make_error(path, str(answer.get("error") if isinstance(answer, dict) else answer))
        return answer["result"]

    def make_error(self, path: str, problem: str) -> InvalidSubmission:
        """Return the error for code that does not work."""
        return InvalidSubmission(f"{self._place}: {path}: {shorten(problem, 1000)}")

    def reject_action(self, path: str, action: Any, reason: str) -> ForgedSubmission:
        """Return the error for an action that cannot be played."""
        return ForgedSubmission(f"{self._place}: {path}: illegal action={shorten(repr(action), 200)}: {reason}")

    def release(self, number: int) -> None:
        """Let the process forget a policy, with the next message."""
        self._released.append(number)


class _RemoteFunction:
    """A function (observation, mask, generator) -> action in the process of a policy."""

    def __init__(self, process: PolicyProcess, game: Game, path: str, number: int) -> None:
        self._process, self._game, self._path, self._number = process, game, path, number
        weakref.finalize(self, process.release, number)

    def reset(self) -> None:
        """Start a new episode."""
        self._process.request(self._path, {"order": "reset", "policy": self._number})

    def __call__(self, observation: Any, mask: NDArray[np.int8], rng: np.random.Generator) -> Any:
        fields = observation if isinstance(observation, dict) else {"": observation}
        arrays = [np.ascontiguousarray(array) for array in (*fields.values(), mask)]
        message = {
            "order": "act", "policy": self._number, "fields": list(fields), "generator": rng.bit_generator.state,
            "arrays": [[array.dtype.str, array.shape] for array in arrays],
        }  # fmt: skip
        action = self._process.request(self._path, message, b"".join(array.tobytes() for array in arrays))
        return self._check_action(action, mask)

    def _check_action(self, action: Any, mask: NDArray[np.int8]) -> Any:
        """Return an action, an int or int64[P]. Raises ForgedSubmission unless it is legal."""
        sizes = self._game.actions
        parts = action if isinstance(action, list) else [action]
        if len(parts) != len(sizes) or not all(type(part) is int for part in parts):
            expected = "an integer" if len(sizes) == 1 else f"{len(sizes)} integers"
            raise self._process.reject_action(self._path, action, f"expected {expected}")
        for part, size, allowed in zip(parts, sizes, split_mask(mask, sizes), strict=True):
            if not 0 <= part < size or not (self._game.allows_illegal or allowed[part]):
                raise self._process.reject_action(self._path, action, f"expected one of {int(allowed.sum())} legal actions")
        return parts[0] if len(parts) == 1 else np.array(parts, np.int64)


# ----------------------------------------------------------------------------------------------- in the process itself


def _run(pipe: Connection, folder: str, choice: GameChoice) -> None:
    """Serve in a child process, with which all that the policies start ends; in this one where the system cannot do that."""
    if can_supervise():
        supervise(lambda: _serve(pipe, folder, choice), pipe.close)
    _serve(pipe, folder, choice)


def _serve(pipe: Connection, folder: str, choice: GameChoice) -> None:
    """Make policies and answer requests until the pipe closes."""
    os.dup2(2, 1)  # what the policies print is no output of the command
    sys.dont_write_bytecode = True
    elsewhere = [place for place in sys.path if place not in ("", os.getcwd())]  # code beside the command is no part of it
    sys.path[:] = [folder, *elsewhere]
    game, policies = choice.make_game(), dict[int, Any]()
    try:
        while True:
            message, content = json.loads(pipe.recv_bytes()), pipe.recv_bytes()
            _send(pipe, {"result": _execute_order(game, policies, message, content)})
    except (EOFError, BrokenPipeError):
        return
    except BaseException as error:
        _send(pipe, {"error": f"{type(error).__name__}: {error}"})


def _execute_order(game: Game, policies: dict[int, Any], message: dict[str, Any], content: bytes) -> Any:
    """Return the result of a request: load code; make, reset or call a policy."""
    for number in message["released"]:
        policies.pop(number)
    if message["order"] in ("load", "make"):
        module, _, name = message["path"].partition(":")
        source = getattr(import_module(module), name)
        if message["order"] == "load":
            return None
        number = max(policies, default=-1) + 1
        policies[number] = _make_policy(source, game, message) if isinstance(source, type) else source
        return number
    policy = policies[message["policy"]]
    if message["order"] == "reset":
        reset_policy(policy)
        return None
    arrays: list[NDArray[Any]] = []
    for dtype, shape in message["arrays"]:
        start = sum(array.nbytes for array in arrays)
        arrays.append(np.frombuffer(content, dtype, prod(shape), start).reshape(shape).copy())
    *fields, mask = arrays
    rng = np.random.Generator(np.random.PCG64())
    rng.bit_generator.state = message["generator"]
    observation = fields[0] if len(fields) == 1 else dict(zip(message["fields"], fields, strict=True))
    action = policy(observation, mask, rng)
    return action.tolist() if isinstance(action, np.ndarray | np.generic) else action


def _make_policy(source: type, game: Game, message: dict[str, Any]) -> Any:
    """Return an object of a class, with its options, weights and arrays as in a suite (see `baselines.own`)."""
    options = dict(message["options"])
    if WEIGHTS in options:
        options[WEIGHTS] = np.array(options[WEIGHTS], np.float64)
    if message["file"]:
        path = Path(sys.path[0]) / message["file"]
        options[ARRAYS] = read_parameters(unpack_policy(path, hash_content(read_bytes(path)), message["point"]))
    return source(game, message["agent"], **options)


def _send(pipe: Connection, answer: dict[str, Any]) -> None:
    pipe.send_bytes(json.dumps(answer).encode())
