"""Atomic file writes: complete or absent, also after errors and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import pytest

from momagames.errors import InvalidCall, InvalidFile
from momagames.files import processes, writing
from momagames.files.writing import atomic_path, is_temporary, lock_folder, remove_stale_files, write_file_atomically


def test_ctrl_c_is_delayed_until_the_file_is_complete(tmp_path):
    def write():
        with atomic_path(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.1)
            temporary.write_text("whole")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert (tmp_path / "a.txt").read_text() == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_leaves_the_old_content(tmp_path):
    file = tmp_path / "a.txt"
    write_file_atomically(file, "old")
    with pytest.raises(TypeError):
        write_file_atomically(file, 5)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]
    write_file_atomically(file, b"new")
    assert file.read_bytes() == b"new"


def test_a_full_disk_is_an_error_with_the_name_of_the_file(tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    write_file_atomically(file, "old")

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "flush_file", fail)
    with pytest.raises(InvalidFile, match=r"a\.txt: cannot be written: No space left on device"):
        write_file_atomically(file, "new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_temporary_files_of_dead_processes_are_removed(tmp_path):
    """Not those of living ones; those of other machines after a week."""
    with atomic_path(tmp_path / "a.json") as temporary:
        temporary.write_text("half")
        own = f"@{processes.process_namespace()}@{os.getpid()}@"
        assert own in temporary.name
        assert temporary.suffix == ".json"
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        left = temporary.with_name(temporary.name.replace(own, f"@{processes.process_namespace()}@{dead.pid}@"))
        foreign = temporary.with_name(temporary.name.replace(own, "@elsewhere@1@"))
        old = temporary.with_name(temporary.name.replace(own, "@elsewhere@2@"))
        for file in (left, foreign, old, tmp_path / ".hidden"):
            file.touch()
        os.utime(old, (0, 0))
        remove_stale_files.cache_clear()
        remove_stale_files(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {temporary.name, foreign.name, ".hidden"}
        assert [is_temporary(name) for name in (foreign.name, ".hidden")] == [True, False]


@pytest.mark.skipif(sys.platform == "win32", reason="directories are not locked on Windows")
def test_a_directory_is_held_by_one_process(tmp_path):
    with lock_folder(tmp_path):
        with pytest.raises(InvalidCall, match="another process is writing here"), lock_folder(tmp_path):
            pass
        assert list(tmp_path.iterdir()) == []
    with lock_folder(tmp_path):
        pass
