"""Jobs on several threads."""

import threading

import pytest

from momagames.engine import threads
from momagames.engine.threads import run_in_parts, run_jobs


def test_small_work_stays_on_one_thread(monkeypatch):
    """Starting a thread takes longer than a call with few rows; parts cover everything once."""
    monkeypatch.setattr(threads, "SMALLEST_WORK", 10)
    for rows, expected in ((9, [(0, 9)]), (10, [(0, 3), (3, 6), (6, 10)])):
        calls, names = [], set()

        def run(start, end, calls=calls, names=names):
            calls.append((start, end))
            names.add(threading.get_ident())

        run_in_parts(run, rows, 3)
        assert sorted(calls) == expected
        assert threading.get_ident() in names


def test_threads_work_at_the_same_time_and_the_caller_takes_the_first_job():
    both, names = threading.Barrier(2, timeout=60), {}

    def meet(i):
        names[i] = threading.get_ident()
        both.wait()

    run_jobs([lambda: meet(0), lambda: meet(1)], 2)
    assert names[0] == threading.get_ident()
    assert names[1] != names[0]


def test_jobs_of_jobs_run_on_their_own_thread():
    """Threads that waited for each other's jobs would wait forever."""
    found = []

    def start_jobs():
        inner = []
        run_jobs([lambda: inner.append(threading.get_ident())] * 3, 2)
        found.append((inner, threading.get_ident()))

    run_jobs([start_jobs] * 4, 2)
    assert len(found) == 4
    assert all(inner == [outer] * 3 for inner, outer in found)


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_a_job_reaches_the_caller(failing):
    both = threading.Barrier(2, timeout=60)

    def run(i):
        both.wait()
        if i == failing:
            raise ValueError(f"job {i}")

    with pytest.raises(ValueError, match=f"job {failing}"):
        run_jobs([lambda: run(0), lambda: run(1)], 2)
    done = []
    run_jobs([lambda: done.append(1)] * 2, 2)
    assert done == [1, 1]
