"""Threads that share out the rows of an array: every row once a call, whoever sleeps, forks or calls at the same time."""

import copy
import gc
import os
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import momagames
from momagames.engine import worker_kernels as pieces
from momagames.engine import workers
from momagames.engine.batch import Batch
from momagames.engine.positions import restore_states
from momagames.engine.worker_kernels import compile_shared_loop
from momagames.engine.workers import Workers
from momagames.errors import IllegalAction, MomagamesError
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import random_words
from tests.conftest import MEASURE_CALLS


def count(low, high, hits, weight):
    for i in range(low, high):
        hits[i] += weight[0]


def announce(mail, threads):
    pieces.publish_pieces(mail, threads)


SHARE = compile_shared_loop(compile_entry_point(count, "tests.workers.count"), "tests.workers.run_pieces")
ANNOUNCE = compile_entry_point(announce, "tests.workers.announce")


def make_workers(rows, threads):
    hits, weight = np.zeros(rows, np.int64), np.ones(1, np.int64)
    return Workers(SHARE, rows, threads, (hits, weight)), hits, weight


def ours():
    return [t for t in threading.enumerate() if t.name.startswith("momagames-")]


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_row_once_a_call(threads):
    for rows in (1, 15, 16, 17, 100, 1000, 4099):
        team, hits, weight = make_workers(rows, threads)
        for step in range(1, 200):
            weight[0] = step
            team.run()
            assert (hits == step * (step + 1) // 2).all(), rows


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [2, 5])
def test_no_piece_is_lost_in_many_short_calls(threads):
    """Workers that are late for one call meet the next."""
    team, hits, _ = make_workers(200, threads)
    for _ in range(20_000):
        team.run()
    assert (hits == 20_000).all()


@pytest.mark.compiled
def test_workers_do_take_part():
    """A worker does its own run, and the caller's where the caller does nothing."""
    team, hits, _ = make_workers(1 << 16, 2)
    team.run()
    assert ours()
    ANNOUNCE(team._control, 2)  # called, but the caller does nothing yet
    team._gate.notify()
    deadline = time.monotonic() + 20
    while team._control[pieces.DONE] < team._control[pieces.PIECES] and time.monotonic() < deadline:
        time.sleep(0.001)
    assert (hits == 2).all()


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("alone", "shared", "expected"),
    [(99_999, 1, "aa aaaa aa aaaa"), (300_000, 200_000, "aass ssss aass ssss"), (200_000, 300_000, "aass aaaa aass aaaa")],
)
def test_long_calls_are_shared_where_it_pays(monkeypatch, alone, shared, expected):
    """Calls are measured in both ways, unless they are short, and then run in the faster way until the next measurement."""
    monkeypatch.setattr(Workers, "_probe", MEASURE_CALLS)
    monkeypatch.setattr(workers, "PROBES", 2)
    monkeypatch.setattr(workers, "WINDOW", 4)
    team, hits, _ = make_workers(64, 2)
    clock, ways, before = [0], [], ours()
    monkeypatch.setattr(workers, "time", SimpleNamespace(perf_counter_ns=lambda: clock[0], sleep=time.sleep))

    def watch(is_shared, run=team._run):
        ways.append("s" if is_shared else "a")
        clock[0] += shared if is_shared else alone
        run(is_shared)

    team._run = watch
    expected = expected.replace(" ", "")
    for _ in expected:
        team.run()
    assert "".join(ways) == expected
    assert (hits == len(expected)).all()
    assert bool({*ours()} - {*before}) == ("s" in expected)  # threads of earlier teams may end meanwhile


def test_every_call_waits_for_workers_that_are_awake():
    """Also a call that wakes none: after a shared call they look for pieces for a moment."""
    team, _, _ = make_workers(64, 2)
    begun = []
    team._run_pieces = lambda control, thread, threads, begin, *arrays: begun.append(begin) or len(begun) % 3 == 0
    team._run(is_shared=False)
    assert begun == [True, False, False]


@pytest.mark.compiled
def test_sleepers_are_woken():
    team, hits, _ = make_workers(5000, 2)
    team.run()
    for call in range(2, 6):
        deadline = time.monotonic() + 20
        while not team._gate.asleep and time.monotonic() < deadline:
            time.sleep(0.001)
        assert team._gate.asleep == 1
        team.run()
        assert (hits == call).all()


@pytest.mark.compiled
def test_workers_go_home_with_their_batch():
    before = set(ours())
    teams = [make_workers(100, 3)[0] for _ in range(4)]
    for team in teams:
        team.run()
    started = set(ours()) - before
    assert len(started) == 8
    del team, teams
    gc.collect()
    for thread in started:
        thread.join(timeout=20)
    assert not any(thread.is_alive() for thread in started)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    team, hits, _ = make_workers(3000, 2)
    team.run()
    child = os.fork()
    if child == 0:
        team.run()
        os._exit(0 if (hits == 2).all() and team._process == os.getpid() else 1)
    assert os.waitpid(child, 0)[1] == 0
    team.run()
    assert (hits == 2).all()


def test_batches_of_several_python_threads():
    """Each has workers of its own; all play as one thread does."""
    game = momagames.spec("mo-breakthrough-v0", board_width=4, board_height=5)

    def play(threads):
        batch = Batch(game, 50, threads)
        batch.seed(1)
        batch.reset()
        words = np.arange(50, dtype=np.uint64)
        for _ in range(60):
            batch.step(batch.sample_actions(words))
        return batch.states.tobytes()

    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(play, (1, 2, 2, 3, 3, 2)))
    assert len(set(results)) == 1


@pytest.mark.compiled
def test_close_ends_the_threads():
    envs = [momagames.make_vec("mo-breakthrough-v0", 64, threads=3) for _ in range(4)]
    for one in envs:
        one.reset(seed=1)
        one.step(one.batch.sample_actions(random_words(1, 64))[:, 0, 0])
    assert len(ours()) >= 8
    for one in envs:
        one.close()
    deadline = time.monotonic() + 10
    while ours() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not ours()


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))], ids=["deepcopy", "pickle"]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_copies_play_on_by_themselves(duplicate, threads):
    batch = Batch(momagames.spec("mo-breakthrough-v0"), 64, threads, autoreset="same_step")
    batch.seed(1)
    batch.reset()
    words = random_words(2, 64)
    batch.step(batch.sample_actions(words))
    other = duplicate(batch)
    before = batch.states.copy()
    other.step(other.sample_actions(words.copy()))
    assert np.array_equal(batch.states, before)
    batch.step(batch.sample_actions(words))
    assert np.array_equal(batch.states, other.states)
    assert np.array_equal(batch.observations, other.observations)


def test_python_threads_that_step_the_same_environments_wait_for_each_other():
    """Each step is checked and played as one: else a state is played that the check did not see."""
    envs = momagames.make_vec("mo-samegame-v0", 64)
    envs.reset(seed=0)
    played = []

    def play():
        count = 0
        for _ in range(4000):
            try:
                envs.step(envs.action_masks.argmax(axis=1))
            except IllegalAction:  # the other thread has stepped since
                continue
            count += 1
        played.append(count)

    threads = [threading.Thread(target=play) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(played) >= 4000
    restore_states(envs.game, envs.batch.states)


def test_last_waits_for_the_reset_of_another_thread():
    """In the middle of a reset some dicts have the live agents, and others those of the last episode."""
    env = momagames.make("mo-breakthrough-v0")
    env.reset(seed=0)
    begun, is_asked = env.terminations, []

    class InReset(dict):
        def __missing__(self, agent):
            is_asked.append(agent)
            env.terminations = begun  # the reset ends
            raise KeyError(agent)

    env.terminations = InReset()
    assert env.last()[2] is False
    assert is_asked == ["player_0"]


def check_lock_of_forked_child(owner):
    """Fork while another thread holds the lock of a batch or an episode: the child has a free one."""
    is_held, is_done = threading.Event(), threading.Event()

    def hold():
        with owner.lock:
            is_held.set()
            is_done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    child = os.fork()
    if not child:
        os._exit(0 if owner.lock.acquire(timeout=10) else 1)
    is_done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent():
    batch = Batch(momagames.spec("mo-breakthrough-v0"), 4)
    batch.reset()
    check_lock_of_forked_child(batch)


def step_first_legal(env, api):
    """Play the first legal action of what this thread sees, which other threads change meanwhile."""
    if api == "gymnasium":
        env.step(np.hstack(env.episode.masks[0]).argmax() if len(env.game.actions) == 1 else [0, 0, 0])
    elif api == "parallel":
        agents = env.agents or env.reset()[0].keys()
        env.step({agent: 0 if len(env.game.actions) == 1 else [0, 0, 0] for agent in agents})
    else:
        agent, (_, _, terminated, truncated, _) = env.agent_selection, env.last()
        env.observe(agent)
        mask = env.episode.mask(env.possible_agents.index(agent))
        action = int(mask.argmax()) if len(env.game.actions) == 1 else [0, 0, 0]
        env.step(None if terminated or truncated else str(action) if api == "text" else action)


@pytest.mark.compiled
@pytest.mark.parametrize("id", ["mo-samegame-v0", "mo-breakthrough-v0", "mo-pommerman-ffa-v0"])
@pytest.mark.parametrize("api", ["aec", "parallel", "gymnasium", "text"])
def test_python_threads_that_step_one_environment_wait_for_each_other(api, id, monkeypatch):
    """They get typed errors at worst, and what is played has been checked in the same state."""
    params = {"num_agents": 3, "board_width": 4, "board_height": 4} if id == "mo-samegame-v0" else {}
    params |= {"legal_actions": "numbers", "illegal": "random"} if api == "text" else {"illegal": "next"}
    if api == "gymnasium":
        params.pop("num_agents", None)
    env = momagames.make(id, api, **params)
    env.reset(seed=0)
    errors = []

    def play():
        for _ in range(600):
            try:
                step_first_legal(env, api)
            except MomagamesError:
                env.reset()
            except Exception as error:
                errors.append(repr(error))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=play) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    episode = (env.aec_env if api == "parallel" else env).episode
    if not episode.state["over"]:  # what has ended is not restored
        restore_states(env.game, episode.states)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("api", ["aec", "gymnasium"])
def test_copies_and_forked_children_of_environments_have_their_own_locks(api):
    env = momagames.make("mo-breakthrough-v0", api)
    env.reset(seed=0)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    assert len({id(one.episode.lock) for one in (env, *copies)}) == 3
    check_lock_of_forked_child(env.episode)
