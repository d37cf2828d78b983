"""Atomic file writes: complete or absent, also after errors and Ctrl-C."""

import signal
import time

import pytest

from momagames.files.writing import atomic_path, write_file_atomically


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
