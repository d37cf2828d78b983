"""Enumeration of states: tables, state attributes and copies agree with each other and with the environments."""

import itertools
import time
from fractions import Fraction
from importlib import import_module

import gymnasium
import numpy as np
import pytest

from momagames.baselines.exact import Checkpoint
from momagames.errors import InvalidFile, InvalidParameter, TooLarge, UnknownId
from momagames.tabular import END, Limits, explore, find_pareto_front, limit_horizon, make_environment, make_simulator
from momagames.tabular.explore import measure_peak_memory
from momagames.tabular.simulators import AttributeSimulator, CopySimulator, TableSimulator, copy_state, hash_state
from tests.tabular.problems import Corridor, TableCorridor

LIMITS = Limits()


def explored(env, attributes=None, seed=None, limits=LIMITS):
    return explore(make_simulator(env, attributes), limits, {"test": 1}, seed)


def test_three_ways_to_clone_agree():
    copies, attributes = explored(Corridor()), explored(Corridor(), ["cell"])
    assert copies.digest() == attributes.digest()
    assert copies.num_states == 4
    assert [str(one.next_state) for one in copies.outcomes(3, 0)] == ["3"]
    assert copies.outcomes(2, 1)[0].next_state == END
    assert copies.outcomes(2, 1)[0].reward == (4, 0)
    front = find_pareto_front(copies, Fraction(1), LIMITS)
    assert front.vectors == [(1, 0), (3, -1), (4, -2)]
    assert front.actions == [[1], [0, 1], [0, 0, 1]]
    table, drawn = explored(TableCorridor()), explored(Corridor(slip=0.25), ["cell"])
    assert table.num_states == drawn.num_states == 4
    for state in range(4):
        for action in range(2):
            both = [sorted((o.probability, o.next_state, o.reward) for o in m.outcomes(state, action)) for m in (table, drawn)]
            if state < 3 or action == 1:  # in the last cell the table lists equal outcomes twice
                assert both[0] == both[1]


def test_threshold_of_a_random_number_is_exact():
    for slip in (0.1, 1 / 3, 0.999, 1e-9):
        model = explored(Corridor(slip=slip), ["cell"])
        assert {one.probability for one in model.outcomes(0, 0)} == {Fraction(repr(slip)), 1 - Fraction(repr(slip))}


def test_unannounced_random_numbers_are_refused():
    class GlobalCorridor(Corridor):
        def step(self, action):
            np.random.random()  # noqa: NPY002
            return super().step(action)

    class OtherCorridor(Corridor):
        def step(self, action):
            self.np_random.integers(5)
            return super().step(action)

    class TwiceCorridor(Corridor):
        def step(self, action):
            self.np_random.random()
            return super().step(action)

    class ThreeWays(Corridor):
        def step(self, action):
            self.cell = int(self.np_random.random() * 3)
            return self.cell, np.array([1.0, 0.0]), False, False, {}

    for env, attributes, message in (
        (Corridor(slip=0.5), None, "draws random numbers in a step"),
        (GlobalCorridor(), None, "draws random numbers in a step"),
        (GlobalCorridor(), ["cell"], "draws random numbers in a step"),
        (OtherCorridor(), ["cell"], r"np_random\.integers"),
        (TwiceCorridor(slip=0.5), ["cell"], "draws 2 random numbers"),
        (ThreeWays(), ["cell"], "more than two outcomes"),
        (Corridor(start=None), ["cell"], "the start state depends on the seed"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            explored(env, attributes)
    assert explored(Corridor(start=None), ["cell"], seed=1).num_states in (3, 4)


def test_unsuitable_environments_have_one_typed_error():
    class Scalar(Corridor):
        def step(self, action):
            return self.cell, 1.0, True, False, {}

    class Handle(Corridor):
        def reset(self, *, seed=None, options=None):
            self.handle = object()
            return super().reset(seed=seed)

    with pytest.raises(InvalidParameter, match=r"invalid reward=1\.0: expected a vector"):
        explored(Scalar())
    with pytest.raises(InvalidParameter, match=r"state\.handle: a object cannot be compared"):
        explored(Handle())
    assert explored(Handle(), ["cell"]).num_states == 4
    box = Corridor()
    box.action_space = gymnasium.spaces.Box(0, 1)
    with pytest.raises(InvalidParameter, match="a finite number of actions"):
        explored(box)
    with pytest.raises(TooLarge, match="max_states=3"):
        explored(Corridor(), limits=Limits(max_states=3))
    with pytest.raises(UnknownId):
        make_environment("no-such-environment-v0")
    with pytest.raises(UnknownId, match="did you mean 'momagames/mo-samegame-v0'"):
        make_environment("mo-samegame-v0")
    with pytest.raises(UnknownId):
        make_environment("tests.tabular.problems:NoSuchClass")
    with pytest.raises(InvalidParameter, match="unexpected keyword"):
        make_environment("tests.tabular.problems:Corridor", {"depth": 1})
    assert make_environment("tests.tabular.problems:Corridor", {"slip": 0.5}).slip == 0.5


class Lying(Corridor):
    """A corridor whose rewards come from elsewhere."""

    read = None

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, reward + np.array([self.read(), 0.0]), *rest


def test_results_that_the_state_does_not_determine_are_refused():
    """Each action is taken twice."""
    calls = itertools.count()

    class Counting(Lying):
        def read(self):
            return next(calls)

    class Clocked(Lying):
        def read(self):
            return time.perf_counter()

    class Cell(Corridor):
        def step(self, action):
            observation, *rest = super().step(action)
            self.cell = min(self.cell, next(calls))
            return observation, *rest

    for env in (Counting(), Clocked(), Cell(tuple(range(1, 9)))):
        for attributes in (None, ["cell"]):
            calls = itertools.count()
            with pytest.raises(InvalidParameter, match=r"state \d, action \d: another result when the action is taken again"):
                explored(env, attributes)
    starts = itertools.count()

    class Started(Corridor):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.cell = next(starts) % 3
            return self.cell, {}

    with pytest.raises(InvalidParameter, match="the start state of seed 3 is another one"):
        explored(Started(), ["cell"], seed=3)


def test_errors_of_an_environment_are_typed():
    def fail(*_, **options):
        raise ZeroDivisionError("no cell")

    class Wrong(Corridor):
        def step(self, action):
            return (self.cell, np.ones(2), True)

    class Maskless(Corridor):
        def reset(self, *, seed=None, options=None):
            return (*super().reset(seed=seed), 1)

    class Uncopied(Corridor):
        def __deepcopy__(self, memo):
            raise TypeError("cannot copy")

    class Large(Corridor):
        def step(self, action):
            return self.cell, np.array([1e308, 1.0]), True, False, {}

    class Full(Corridor):
        def step(self, action):
            raise MemoryError

    failing, restarted = Corridor(), Corridor()
    failing.step = fail
    restarted.reset = fail
    for env, kind, message in (
        (failing, InvalidParameter, "state 0, action 0: the environment raised ZeroDivisionError: no cell"),
        (restarted, InvalidParameter, "start state: the environment raised ZeroDivisionError"),
        (Wrong(), InvalidParameter, "state 0, action 0: the environment raised ValueError"),
        (Maskless(), InvalidParameter, "start state: the environment raised ValueError"),
        (Uncopied(), InvalidParameter, "the environment raised TypeError: cannot copy"),
        (Large(), InvalidParameter, r"invalid reward=.*: expected numbers from -1e\+150 to 1e\+150"),
        (Full(), TooLarge, "state 0, action 0: there is no memory left"),
    ):
        with pytest.raises(kind, match=message):
            explored(env)


def test_limits_hold_within_a_state(monkeypatch):
    """Of many actions, and of few large states: the clock is read between actions."""
    monkeypatch.setattr(import_module("momagames.tabular.explore"), "CHECK_SECONDS", 0.0)
    with pytest.raises(TooLarge, match="max_seconds=0"):
        explored(Corridor(), limits=Limits(max_seconds=0))
    many = Corridor(range(1, 9))
    many.action_space = gymnasium.spaces.Discrete(10**9)
    with pytest.raises(TooLarge, match="max_seconds=0"):
        explored(many, ["cell"], limits=Limits(max_seconds=0.01))


@pytest.mark.long
def test_interrupted_enumeration_resumes(tmp_path, monkeypatch):
    """An enumeration stopped by a limit continues from its checkpoint and ends with the same model."""
    monkeypatch.setattr(import_module("momagames.tabular.explore"), "CHECK_SECONDS", np.inf)  # by the number alone
    path = tmp_path / "states.npz"
    treasures = tuple(range(1, 1200))
    expected = explored(Corridor(treasures, slip=0.5), ["cell"])

    def stop(label, count):
        if count >= 512:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explored(Corridor(treasures, slip=0.5), ["cell"], limits=Limits(checkpoint=Checkpoint(path, 0.0), progress=stop))
    counts = []
    limits = Limits(checkpoint=Checkpoint(path, 0.0), progress=lambda label, count: counts.append(count))
    again = explored(Corridor(treasures, slip=0.5), ["cell"], limits=limits)
    assert counts[0] > 256
    assert again.digest() == expected.digest()
    for env, message in (
        (Corridor(treasures, slip=0.5), "invalid seed=None"),
        (Corridor(treasures[::-1]), "not a checkpoint"),
    ):
        seed = 1 if "seed" in message else None
        with pytest.raises(InvalidFile, match=message):
            explored(env, ["cell"], seed=seed, limits=limits)


def test_horizon_bounds_the_enumeration():
    """Cells without end: only those within the horizon are visited, and the front is that of the model with all cells."""

    class Endless(Corridor):
        def __init__(self):
            super().__init__(treasures=range(1, 10**9), slip=0.5)

    long = explored(Corridor(range(1, 100), slip=0.5), ["cell"])
    for horizon in (1, 4, 9):
        short = explore(make_simulator(Endless(), ["cell"]), LIMITS, {}, None, horizon)
        assert short.num_states == horizon
        assert limit_horizon(short, horizon).digest() == limit_horizon(long, horizon).digest()
    with pytest.raises(TooLarge):
        explored(Endless(), ["cell"], limits=Limits(max_states=100))


def test_hash_tells_different_states_apart():
    class Thing:
        def __init__(self, **values):
            vars(self).update(values)

    values = [
        None, 0, 0.0, False, "0", b"0", [], (), {}, set(), [0], [[0]], [0, 0], {"a": 1}, {"a": 2}, np.zeros(2), np.zeros(3),
        np.zeros(2, np.int8), np.float32(0), np.float64(0), Thing(a=1), Thing(a=2), Thing(b=1), Thing(a=[1, 2]), {1, 2}, {1, 3},
    ]  # fmt: skip
    assert len({hash_state(value) for value in values}) == len(values)
    assert hash_state(Thing(a=1, _np_random=3)) == hash_state(Thing(_np_random=4, a=1))
    loop = Thing()
    loop.me = loop
    assert hash_state(loop)
    with pytest.raises(InvalidParameter, match="random generator"):
        hash_state(Thing(rng=np.random.default_rng(0)))


def test_the_simulator_suits_the_environment():
    assert isinstance(make_simulator(TableCorridor()), TableSimulator)
    assert isinstance(make_simulator(TableCorridor(), ["cell"]), AttributeSimulator)
    assert isinstance(make_simulator(Corridor()), CopySimulator)
    limited = gymnasium.wrappers.TimeLimit(Corridor(), 2)
    assert explored(limited).num_states == 4  # the time limit is no part of the environment

    class Double(gymnasium.Wrapper):
        def step(self, action):
            observation, reward, *rest = super().step(action)
            return observation, 2 * reward, *rest

    doubled = explored(Double(Corridor()))
    assert doubled.outcomes(2, 1)[0].reward == (8, 0)
    assert explored(Double(limited)).num_states == 2  # here it is: cells 0 and 1 at times 0 and 1


IDS = {
    "deep-sea-treasure-v0": 62,
    "deep-sea-treasure-mirrored-v0": 112,
    "fruit-tree-v0": 63,
    "resource-gathering-v0": 93,
    "breakable-bottles-v0": 173,
}


@pytest.mark.long
@pytest.mark.parametrize("id", IDS)
def test_states_of_mo_gymnasium_are_complete(id):
    """Random episodes of the environment itself stay within the model: state attributes hold all that matters."""
    pytest.importorskip("mo_gymnasium")
    env = make_environment(id)
    model, inner = explored(env), env.unwrapped
    assert model.num_states == IDS[id]
    played, simulator = make_environment(id).unwrapped, make_simulator(make_environment(id))
    index = {simulator.key(simulator.reset(0)): 0}
    rng = np.random.default_rng(0)
    assert type(played) is type(inner)
    reader = AttributeSimulator(played, simulator.adapter)
    for episode in range(200):
        played.reset(seed=episode)
        state, is_over = 0, False
        for _ in range(60):
            action = int(rng.integers(model.num_actions))
            _, reward, is_over, _, _ = played.step(action)
            matching = [
                one
                for one in model.outcomes(state, action)
                if np.allclose([float(x) for x in one.reward], np.asarray(reward, float)) and (one.next_state == END) == is_over
            ]
            assert matching
            if is_over:
                break
            key = reader.key(reader.read())
            after = index.setdefault(key, matching[0].next_state) if len(matching) == 1 else index.get(key)
            if after is None:
                break  # two outcomes with one reward, of a state that was not seen before
            assert after in {one.next_state for one in matching}
            state = after


def test_games_with_chance_or_opponents_are_refused():
    for id in ("momagames/mo-tileblast-v0", "momagames/mo-breakthrough-v0"):
        with pytest.raises(InvalidParameter, match="expected one agent and no chance during play"):
            make_simulator(make_environment(id))


def test_the_memory_of_the_process_is_limited():
    assert measure_peak_memory() > 1 << 20
    with pytest.raises(TooLarge, match="states explored: more than max_bytes=1,000,000"):
        explored(Corridor(range(1, 1000)), ["cell"], limits=Limits(max_bytes=1e6))
    assert explored(Corridor(range(1, 1000)), ["cell"], limits=Limits(max_bytes=2**40)).num_states > 256


def test_tuples_of_numbers_have_the_keys_of_their_values_and_types():
    different = [
        (1, (0, 2)),
        ((1, 0), 2),
        (True, (0, 2)),
        (1.0, (0, 2)),
        ("1", (0, 2)),
        (None, (0, 2)),
        [1, (0, 2)],
        ((1,), 0, 2),
    ]
    assert len({hash_state(one) for one in different}) == len(different)
    assert hash_state([(1, 2), 3]) == hash_state([(1, 2), 3]) != hash_state([(1, 2, 3)])
    numbers = [(1, 2), [3]]
    copied = copy_state(numbers)
    assert copied == numbers
    copied[1].append(4)
    assert numbers == [(1, 2), [3]]
