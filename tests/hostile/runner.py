"""Processes that feed inputs to targets, and what they find."""

from __future__ import annotations

import faulthandler
import importlib
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from momagames.errors import MomagamesError
from tests.hostile.inputs import Hostile, Valid
from tests.hostile.targets import TARGETS

START_SECONDS = 300  # for the example of a target, whose rules are compiled
STATUS = Path("/proc/self/status")
MOST_BYTES = 8 << 30  # of a process, whatever it does
LEAST = 2000 / 1_000_000  # of the inputs, for each target
MODULES = ("tests.hostile.files", "tests.hostile.apis")
SPAWN = multiprocessing.get_context("spawn")
ENDS = ("returned", "refused", "fault", "seconds")
NO_ENDS = (0.0,) * len(ENDS)
EXAMPLE, DONE = -1, -2  # in place of the number of an input


class Limits(NamedTuple):
    """What an input may take.

    seconds          to read it
    again_seconds    to read an input again that took longer, as it may have compiled rules; then it is read a third time
    bytes            by which the peak memory of the process may grow; it is replaced when it has grown by a quarter of this
    """

    seconds: float = 5
    again_seconds: float = 60
    bytes: int = 1 << 30


def share_inputs(inputs, names):
    """Return the number of inputs of each target: the least for each, the rest by their shares."""
    least = max(1, round(inputs * LEAST))
    rest, total = max(0, inputs - least * len(names)), sum(TARGETS[name].share for name in names)
    return {name: least + round(rest * TARGETS[name].share / total) for name in names}


# ------------------------------------------------------------------------------------------------------------- a process


def feed_inputs(modules, seed, limits, todo, is_retry, progress, found, log):
    """Feed inputs in this process; write faults and counts as lines of JSON.

    todo        pairs of a target and the numbers of its inputs
    is_retry    whether the first input took too long: it is fed twice, as the first time may have compiled rules
    progress    double[8] in shared memory: place in `todo`, number of the input, its start, its limit of seconds; and what has
                come of the inputs of this target, as ENDS
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable(all_threads=False)
    warnings.simplefilter("ignore")
    for module in modules:
        importlib.import_module(module)
    with found.open("a", encoding="utf-8", buffering=1) as lines:
        for place, (name, numbers) in enumerate(todo):
            with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
                progress[:] = place, EXAMPLE, time.monotonic(), START_SECONDS, *NO_ENDS
                try:
                    feed = TARGETS[name].make(Path(folder))
                    feed(Valid())
                except BaseException as error:  # whatever it is
                    write_line(lines, name, EXAMPLE, describe_error(error))
                    numbers = ()
                first = before = measure_peak()
                started = time.perf_counter()
                for number in numbers:
                    for limit in (limits.again_seconds, limits.seconds) if is_retry else (limits.seconds,):
                        progress[:4] = place, number, time.monotonic(), limit
                        end, fault = try_input(feed, random.Random(f"{seed} {name} {number}"))
                    is_retry, peak = False, measure_peak()
                    if peak - before > limits.bytes:
                        end, fault = "fault", {"error": "memory", "text": f"{(peak - before) >> 20:,} MiB", "place": ""}
                    if fault:
                        write_line(lines, name, number, fault)
                    progress[4 + ENDS.index(end)] += 1
                    progress[-1] = time.perf_counter() - started
                    if peak - before > limits.bytes // 4 or peak - first > limits.bytes:
                        break
                    before = peak
                write_ends(lines, name, progress)
            if numbers and number != numbers[-1]:
                os._exit(0)
    progress[1] = DONE


def try_input(feed, rng):
    """Feed an input. Return how it ended, and the fault, if it is one."""
    try:
        feed(Hostile(rng))
    except MomagamesError:
        return "refused", None
    except BaseException as error:  # polars and others have errors that are no Exception
        return "fault", describe_error(error)
    return "returned", None


def describe_error(error):
    """Return type, text and the last place in the package of an error."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/momagames/" in frame.filename] or frames
    place = f"{own[-1].filename.rpartition('/momagames/')[2]}:{own[-1].lineno}"
    return {"error": type(error).__name__, "text": ascii(str(error))[:200], "place": place}


def write_ends(lines, name, progress):
    """Write what has come of the inputs of a target, and forget it."""
    lines.write(json.dumps({"target": name, "ends": dict(zip(ENDS, progress[4:], strict=True))}) + "\n")
    progress[4:] = NO_ENDS


def write_line(lines, name, number, fault):
    lines.write(json.dumps({"target": name, "input": number, **fault}) + "\n")


def measure_peak():
    """Return the most memory that this process has used so far, in bytes."""
    if STATUS.exists():  # what the system says of a new process begins with the memory of the one that started it
        return int(STATUS.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


# --------------------------------------------------------------------------------------------------------- all processes


class Worker:
    """A process at a time that feeds a part of the inputs, and is replaced when it dies, takes too long or has grown."""

    def __init__(self, folder, number, modules, seed, limits, todo):
        self.modules, self.seed, self.limits, self.todo = modules, seed, limits, todo
        self.found, self.log, self.read = folder / f"{number}.jsonl", folder / f"{number}.log", 0
        self.found.touch()
        self.progress, self.is_retry = SPAWN.RawArray("d", 8), False
        self._start()

    def _start(self):
        self.progress[:] = 0, EXAMPLE, time.monotonic(), START_SECONDS, *NO_ENDS
        arguments = (
            self.modules, self.seed, self.limits, self.todo, self.is_retry, self.progress, self.found, self.log,
        )  # fmt: skip
        self.process = SPAWN.Process(target=feed_inputs, args=arguments, daemon=True)
        self.process.start()

    def check(self):
        """End the process if its input takes too long; replace it if it has ended. Return whether all inputs are fed."""
        is_alive, (_, number, started, limit) = self.process.is_alive(), self.progress[:4]
        is_late = is_alive and number != DONE and time.monotonic() - started > limit
        if is_late:
            os.kill(self.process.pid, signal.SIGABRT)  # prints where it is
            self.process.join(10)
            self.process.kill()
        elif is_alive:
            return False
        self.process.join()
        place, number = map(int, self.progress[:2])
        if number == DONE:
            return True
        (name, numbers), *rest = self.todo[place:]
        is_first = is_late and number != EXAMPLE and not self.is_retry
        if is_late and not is_first:
            self._note(name, number, "hang", f"over {limit:g} s")
            self.progress[4 + ENDS.index("fault")] += 1
        elif not is_late and self.process.exitcode:
            self._note(name, number, "death", f"exit code {self.process.exitcode}")
            self.progress[4 + ENDS.index("fault")] += 1
        if any(self.progress[4:]):
            with self.found.open("a", encoding="utf-8") as lines:
                write_ends(lines, name, self.progress)
        left = [] if number == EXAMPLE else [one for one in numbers if one > number or (one == number and is_first)]
        self.todo, self.is_retry = ([(name, left)] if left else []) + rest, is_first
        if self.todo:
            self._start()
        return not self.todo

    def _note(self, name, number, error, text):
        lines = self.log.read_text(errors="replace").splitlines()
        frames = [line.split('"') for line in lines if line.startswith("  File ") and "/momagames/" in line]
        place = frames[0][1].rpartition("/momagames/")[2] + frames[0][2].rpartition(" in ")[0] if frames else ""
        with self.found.open("a", encoding="utf-8") as found:
            write_line(found, name, number, {"error": error, "text": text, "place": place})

    def read_lines(self):
        """Return what has been written since the last call."""
        with self.found.open(encoding="utf-8") as lines:
            lines.seek(self.read)
            new = lines.readlines()
            self.read = lines.tell()
        return [json.loads(line) for line in new if line.endswith("\n")]


def run(counts, seed=0, workers=1, modules=MODULES, limits=Limits(), report=print):  # noqa: B008
    """Feed inputs and return the faults, one for each kind, and what came of the inputs of each target.

    counts     number of inputs of each target
    modules    with these targets
    report     called with a line for each kind of fault when it is found
    """
    known, ends = {}, {name: Counter() for name in counts}
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        parts = [[(name, range(count)[k::workers]) for name, count in counts.items()] for k in range(workers)]
        parts = [[(name, one) for name, one in part if one] for part in parts]
        running = [Worker(Path(folder), k, modules, seed, limits, part) for k, part in enumerate(parts) if part]
        try:
            while running:
                time.sleep(0.1)
                done = [one for one in running if one.check()]
                for line in [line for one in running for line in one.read_lines()]:
                    name = line["target"]
                    if "ends" in line:
                        ends[name] += Counter(line["ends"])
                        continue
                    kind = name, line["error"], line["place"]
                    if kind not in known:
                        known[kind] = line
                        report(describe_fault(line, seed))
                running = [one for one in running if one not in done]
        finally:
            for one in running:
                one.process.kill()
    return known, ends


def describe_fault(line, seed):
    where = f"in {line['place']}: " if line["place"] else ""
    again = f"python -m tests.hostile --only {line['target']!r} --seed {seed} --input {line['input']}"
    return f"{line['target']}: {line['error']} {where}{line['text']}\n    {again}"
