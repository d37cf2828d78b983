"""Other systems: files are UTF-8 with the same bytes everywhere, and nothing needs fork, a POSIX module or Linux's /proc."""

from __future__ import annotations

import ast
import ctypes
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import momagames
from momagames.files import processes, writing

PACKAGE = Path(momagames.__file__).parent
POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_NAMES = {
    "os": ("fork", "forkpty", "getloadavg", "killpg", "mkfifo", "sched_getaffinity", "sched_yield", "setsid"),
    "signal": ("SIGALRM", "SIGHUP", "SIGUSR1", "pthread_sigmask", "setitimer"),
}

# Put into every process, also those that the package starts: what Windows and macOS lack is not there, processes are
# spawned, and text has no default encoding.
WITHOUT_POSIX = f"""
import multiprocessing, os, signal, sys, warnings
multiprocessing.set_start_method("spawn")
sys.modules.update(dict.fromkeys({sorted(POSIX_MODULES - {"posix"})}))
for module, names in ((os, {POSIX_NAMES["os"]}), (signal, {POSIX_NAMES["signal"]})):
    for name in names:
        vars(module).pop(name, None)
warnings.filterwarnings("error", category=EncodingWarning, module="momagames")
"""

PROGRAM = """
import importlib, os, pkgutil, sys, traceback

import gymnasium

import momagames
from momagames.cli.app import main
from momagames.errors import MissingExtra

def import_everything():
    for module in pkgutil.walk_packages(momagames.__path__, "momagames."):
        if module.name.endswith("__main__") or ".serve" in module.name:  # asyncio itself needs fcntl on this system
            continue
        try:
            importlib.import_module(module.name)
        except MissingExtra:
            pass
        except ModuleNotFoundError as error:
            if error.name in BLOCKED or error.name.startswith("momagames"):
                raise

def play_in_processes():
    for id in ("mo-samegame-v0", "mo-breakthrough-v0", "mo-robotmail-2-v0"):
        vector = gymnasium.make_vec(f"momagames/{id}", num_envs=2, vectorization_mode="async")
        _, infos = vector.reset(seed=1)
        vector.step([mask.argmax() for mask in infos["action_mask"]])
        vector.close()

BLOCKED = set(sys.argv[1].split(","))
if __name__ == "__main__":
    assert not hasattr(os, "fork")
    import_everything()
    play_in_processes()
    sys.argv = ["momagames", "bench", "run", "ten_seconds", "--workers", "2", "--out", "r\\xe9sultats \\u2264 1"]
    main()
"""


def find_text_files(source: str) -> Iterator[tuple[int, bool]]:
    """Yield line and completeness of each call that opens, reads or writes a file as text."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        modes = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        mode = next((mode for mode in modes if re.fullmatch("[rwaxt+]+", mode)), None)
        given = {keyword.arg for keyword in node.keywords}
        if isinstance(node.func, ast.Attribute) and name in ("read_text", "write_text"):
            yield node.lineno, "encoding" in given and (name == "read_text" or "newline" in given)
        elif name in ("run", "Popen", "check_output") and "text" in given:  # the output of a process
            yield node.lineno, "encoding" in given
        elif name == "open" and (mode or (isinstance(node.func, ast.Attribute) and not node.args)):
            yield node.lineno, "encoding" in given and (not set("wax") & set(mode or "") or "newline" in given)


@pytest.mark.long
def test_text_files_have_an_encoding_and_ends_of_lines():
    """Both differ by system; checksums of results, and files that are exchanged, must not."""
    found = {file: list(find_text_files(file.read_text(encoding="utf-8"))) for file in PACKAGE.rglob("*.py")}
    assert sum(map(len, found.values())) > 15
    assert [f"{file}:{line}" for file, calls in found.items() for line, is_complete in calls if not is_complete] == []


@pytest.mark.parametrize(
    ("source", "complete"),
    [
        ("path.read_text()", False), ("path.read_text(encoding='utf-8')", True), ("path.open()", False),
        ("path.open('w', encoding='utf-8')", False), ("open(path, 'a')", False),
        ("path.open('w', encoding='utf-8', newline='')", True), ("subprocess.run(words, text=True)", False),
    ],
)  # fmt: skip
def test_planted_text_files_are_found(source, complete):
    assert list(find_text_files(source)) == [(1, complete)]


def test_bytes_are_no_text():
    assert list(find_text_files("path.open('rb'); archive.open(member); read_text(path)")) == []


def catches_missing(node):
    """Return whether a try statement handles the error of a module that is not there."""
    return any(getattr(handler.type, "id", None) == "ImportError" for handler in node.handlers)


@pytest.mark.long
def test_no_module_of_posix_is_imported():
    found = set()
    for file in PACKAGE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        guarded = {
            inner for node in ast.walk(tree) if isinstance(node, ast.Try) and catches_missing(node) for inner in node.body
        }
        for node in ast.walk(tree):
            if node in guarded:
                continue
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None)]
            found |= {(file, name) for name in names if name in POSIX_MODULES}
    assert not found


@pytest.mark.long
@pytest.mark.compiled
def test_a_suite_in_spawned_processes_without_posix(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_POSIX)
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "PYTHONWARNDEFAULTENCODING": "1"}
    words = [sys.executable, "program.py", ",".join(POSIX_MODULES)]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "résultats ≤ 1"
    assert list((results / "runs").iterdir())
    assert not list((results / "failed").glob("*"))


def test_a_file_that_is_open_elsewhere_is_replaced_later(tmp_path, monkeypatch):
    """As on Windows, where a file that a virus scanner has open cannot be replaced."""
    (tmp_path / "new").write_text("new")
    errors, replace = iter([PermissionError, PermissionError]), Path.replace

    def fail_twice(path, target):
        for error in errors:
            raise error
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", fail_twice)
    with pytest.raises(PermissionError):
        writing.replace_file(tmp_path / "new", tmp_path / "old")
    monkeypatch.setattr(writing, "REPLACE_WAITS_S", (0.0, 0.0))
    writing.replace_file(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "new"


class Windows:
    """The part of the Windows API that looks at processes: 5 lives, 6 has ended, 7 belongs to the system."""

    def __init__(self) -> None:
        self.OpenProcess = lambda access, inherit, process: {5: 5, 6: 6}.get(process, 0)
        self.closed = []

    def GetExitCodeProcess(self, handle, code):
        code._obj.value = {5: 259, 6: 1}[handle.value]
        return 1

    def CloseHandle(self, handle):
        self.closed.append(handle.value)


def test_a_process_is_looked_at_and_not_ended_on_windows(monkeypatch):
    """There os.kill(process, 0) is Ctrl-C."""
    kernel = Windows()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "kill", None)
    monkeypatch.setattr(ctypes, "WinDLL", lambda name, use_last_error: kernel, raising=False)
    monkeypatch.setattr(ctypes, "get_last_error", lambda: 5, raising=False)
    assert [processes.is_alive(process) for process in (5, 6, 7)] == [True, False, True]
    monkeypatch.setattr(ctypes, "get_last_error", lambda: 87, raising=False)
    assert not processes.is_alive(8)
    assert kernel.closed == [5, 6]
