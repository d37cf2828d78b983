"""Records that come from outside: those of real games pass as they are, forged ones are rejected or harmless."""

from __future__ import annotations

import copy
import pickle
from itertools import product

import numpy as np
import pytest

import momagames
from momagames.contract.positions import find_parameter_fields
from momagames.engine.batch import Batch
from momagames.engine.positions import restore_states
from momagames.engine.random_rollouts import random_words
from momagames.errors import IllegalAction, InvalidState
from momagames.games import VERSIONS
from tests.cases import GAMES, mark_variants, name_case, pick_pairs

every_game = pytest.mark.parametrize("game", mark_variants(GAMES), ids=name_case)


def play(game, num_envs, *counts, seed=1):
    """Yield the states of some games after each of the given numbers of random steps."""
    batch = Batch(game, num_envs, autoreset="same_step")
    batch.seed(seed)
    batch.reset()
    words = random_words(seed, num_envs)
    for count in np.diff(counts, prepend=0):
        for _ in range(count):
            batch.step(batch.sample_actions(words))
        yield batch.states.copy()


@every_game
def test_records_of_games_are_restored_as_they_are(game):
    for states in play(game, 4, 0, 1, 7, 30, 90):
        if "falling" in game.dtype.names:  # MO-Pommerman: a ring that is due falls
            states = states[states["falling"] < 0]
        restored = restore_states(game, states)
        for name in game.dtype.names:
            if not name.startswith("_") and name not in game.codec.transient:
                assert np.array_equal(restored[name], states[name]), name


@every_game
def test_transient_fields_do_not_change_the_game(game):
    """Two batches, one with the records and one with the restored ones, play the same game."""
    (states,) = play(game, 4, 25)
    one, other = Batch(game, 4, autoreset="same_step"), Batch(game, 4, autoreset="same_step")
    one.load(states)
    other.load(restore_states(game, states))
    words = random_words(5, 4)
    for _ in range(60):
        actions = one.sample_actions(words).copy()
        for batch in (one, other):
            batch.step(actions)
        for name in ("observations", "masks", "rewards", "terminated", "truncated"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


FORGE = {
    "zeros": bytes,
    "ones": lambda count: b"\xff" * count,
    "random": lambda count: np.random.default_rng(count).bytes(count),
}


PAIRS = pick_pairs(GAMES, FORGE)
PICKED = {(id(game), forge) for game, forge in PAIRS}
REST = [pytest.param(*pair, marks=pytest.mark.long) for pair in product(GAMES, FORGE) if (id(pair[0]), pair[1]) not in PICKED]


@pytest.mark.parametrize(("game", "forge"), [*mark_variants(PAIRS), *REST], ids=name_case)
def test_forged_records_are_rejected_or_harmless(game, forge):
    """Each field in turn with extreme or random values; what is accepted can be played on."""
    ((state,),) = play(game, 1, 12)
    accepted, batch = 0, Batch(game, 1, autoreset="same_step")
    for name in game.dtype.names:
        forged = state.copy()
        old = np.asarray(forged[name])
        forged[name] = np.frombuffer(FORGE[forge](old.nbytes), old.dtype).reshape(old.shape)
        try:
            states = restore_states(game, np.array([forged]))
        except InvalidState:
            continue
        accepted += 1
        batch.load(states)
        words = random_words(3, 1)
        for _ in range(20):
            batch.step(batch.sample_actions(words))
    assert accepted  # the random state is any number


@pytest.mark.parametrize("id", VERSIONS)
def test_parameters_of_a_record_cannot_be_changed(id):
    game = momagames.spec(id)
    ((state,),) = play(game, 1, 3)
    names = find_parameter_fields(game.codec, game.blank_state)
    assert names or not game.params, f"{id}: name the fields of the record that hold parameters in Codec(parameters=...)"
    for name in names:
        forged = state.copy()
        forged[name] = np.where(forged[name] == 1, 2, 1)
        with pytest.raises(InvalidState, match=rf"invalid {name}(\[\d+\])*=.*: expected .*, the parameter of this game"):
            momagames.check_state(id, forged)


def test_agents_of_a_record_cannot_vanish():
    env = momagames.make("mo-robotmail-v0")
    env.reset(seed=1)
    forged = env.record
    forged["gone"][:] = 1
    with pytest.raises(InvalidState, match=r"invalid gone\[0\]=1: expected 0"):
        env.reset(options={"state": forged})


def test_check_state_says_why():
    assert momagames.check_state("mo-samegame-v0", {"board": ["112", "121", "211"]}, board_width=3, board_height=3) is None
    with pytest.raises(InvalidState, match="row 0, column 0: invalid cell='x'"):
        momagames.check_state("mo-samegame-v0", {"board": ["x12", "121", "211"]}, board_width=3, board_height=3)


def test_a_damaged_pickle_is_rejected():
    env = momagames.make("mo-pommerman-ffa-v0")
    env.reset(seed=1)
    assert copy.deepcopy(env).record.tobytes() == pickle.loads(pickle.dumps(env)).record.tobytes() == env.record.tobytes()
    env.episode.states["size"] = 200
    data = pickle.dumps(env)
    with pytest.raises(InvalidState, match="invalid size=200: expected 11"):
        pickle.loads(data)


@pytest.mark.parametrize(
    "action", [[1.7, 0.2, 0.9], ["1", "2", "0"], "000", np.array([1j, 0, 0]), [1, 2], [[1], 2, 0], None, 5, [1.0, 0, 0]]
)
def test_parts_of_an_action_are_integers(action):
    env = momagames.make("mo-pommerman-radio-v0")
    env.reset(seed=1)
    before = env.record.tobytes()
    with pytest.raises(IllegalAction, match="expected one of 486 legal actions"):
        env.step(action)
    assert env.record.tobytes() == before
    env.step([1, 0, np.int8(0)])
