"""Boards (SPEC §2, rules G1 to G11): what holds on every one of them, and how often things happen on thousands."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.engine.episode import Episode
from momagames.games import pommerman
from momagames.games.pommerman import rules
from momagames.games.pommerman.rules import start
from momagames.games.pommerman.rules.state import AGENT, CELLS, EXTRA_BOMB, KICK, PASSAGE, RANGE, RIGID, WOOD
from momagames.kernels.jit import compile_entry_point, local_array

FFA, DUEL = "mo-pommerman-ffa-v0", "mo-pommerman-duel-v0"
TRACED = 3000  # boards of the original that the measured figures of G10 come from
SIGMAS = 4.5  # a figure farther off than this is wrong: by chance it happens once in 100,000 times


def _generate(states):
    for i in range(states.shape[0]):
        rules.generate(states[i])


def _generate_candidates(states, unreached):
    """G1-G7 Generate one candidate in each state, and count its unreachable passages."""
    for i in range(states.shape[0]):
        pairs = local_array(CELLS)
        start.generate_walls(states[i], pairs)
        unreached[i] = start.count_unreached(states[i])


generate = compile_entry_point(_generate, "tests.pommerman.generate")
generate_candidates = compile_entry_point(_generate_candidates, "tests.pommerman.generate_candidates")


def blank_states(number, id=FFA, seed=0, **params):
    """Return blank states, each with a random word of its own."""
    states = np.repeat(momagames.spec(id, **params).make_state(), number)
    states["rng"] = np.random.default_rng(seed).integers(2**64, size=number, dtype=np.uint64)
    return states


def generated_states(number, id=FFA, seed=0, **params):
    states = blank_states(number, id, seed, **params)
    generate(states)
    return states


def squares(states):
    """Return the codes of the cells, uint8[N, n, n], and the items hidden in them."""
    n = int(states["size"][0])
    return tuple(states[name][:, : n * n].reshape(-1, n, n) for name in ("board", "hidden"))


def starts(n, seats):
    """E4 The cells of the agents by seat."""
    corners = [(1, 1), (n - 2, 1), (n - 2, n - 2), (1, n - 2)]
    return corners if seats == 4 else corners[::2]


def corridors(n, seats):
    """G3 The two cells next to each start along both sides of the square that the starts are on."""
    cells = set()
    for row, col in starts(n, seats):
        inward_row, inward_col = (1 if row == 1 else -1), (1 if col == 1 else -1)
        for k in (1, 2):
            cells |= {(row + k * inward_row, col), (row, col + k * inward_col)}
    return cells


def ring(n, seats):
    """G4 What lies between the corridors on the sides of that square."""
    if seats == 2:
        return set()
    sides = {cell for k in range(1, n - 1) for cell in ((1, k), (n - 2, k), (k, 1), (k, n - 2))}
    return sides - corridors(n, seats) - set(starts(n, seats))


def candidate_cells(n, seats):
    """G1-G4 Return the cells that may get a random wall."""
    reserved = corridors(n, seats) | ring(n, seats) | set(starts(n, seats))
    return {(row, col) for row in range(n) for col in range(n) if row != col} - reserved


def reached(cells, first):
    """Return the cells that an agent on `first` could reach if wood were open."""
    seen, edge = {first}, [first]
    while edge:
        row, col = edge.pop()
        for cell in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
            inside = min(cell) >= 0 and max(cell) < len(cells)
            if inside and cell not in seen and cells[cell] != RIGID:
                seen.add(cell)
                edge.append(cell)
    return seen


def count_unreachable(cells, seats):
    """G7 Return the numbers of passages and wooden walls that cannot be reached."""
    seen = reached(cells, starts(len(cells), seats)[2 if seats == 4 else 1])
    return [sum((row, col) not in seen for row, col in np.argwhere(cells == code).tolist()) for code in (PASSAGE, WOOD)]


def close(found, among, expected, measured=TRACED):
    """Return whether two shares, one of them measured on that many boards, can have the same probability."""
    spread = (expected * (1 - expected) * (1 / among + 1 / measured)) ** 0.5
    return abs(found / among - expected) < SIGMAS * spread


# ------------------------------------------------------------------------------------------------------ on every board


@st.composite
def settings(draw):
    """An id and board parameters within their ranges."""
    id, params = draw(st.sampled_from([FFA, DUEL])), {}
    for name in ("board_size", "num_rigid", "num_wood", "num_items"):
        parameter = next(p for p in momagames.spec(id, **params).parameters if p.name == name)
        params[name] = draw(st.integers(int(parameter.low), int(parameter.high)))
    return id, params


@given(settings(), st.integers(0, 2**32))
def test_G1_to_G9_hold_on_every_board(chosen, seed):
    id, params = chosen
    states = generated_states(5, id, seed, **params)
    n, seats = params["board_size"], int(states["seats"][0])
    rigid, wood, items = params["num_rigid"], params["num_wood"], params["num_items"]
    fixed = ring(n, seats)
    for cells, hidden in zip(*squares(states), strict=True):
        assert not np.isin(np.diag(cells), (RIGID, WOOD)).any(), "G1"
        for seat, corner in enumerate(starts(n, seats)):
            assert cells[corner] == AGENT + seat, "G2"
        assert all(cells[cell] == PASSAGE for cell in corridors(n, seats)), "G3"
        assert all(cells[cell] == WOOD for cell in fixed), "G4"
        count = Counter(cells.ravel().tolist())
        assert count[RIGID] == rigid + rigid % 2, "G5: walls come in pairs"
        extra = max(0, wood - len(fixed))
        assert count[WOOD] == len(fixed) + extra + extra % 2, "G6"
        assert count[PASSAGE] == n * n - count[RIGID] - count[WOOD] - seats, "G8"
        assert count_unreachable(cells, seats)[0] <= 4, "G7"
        plain = np.where(cells >= AGENT, PASSAGE, cells)
        assert np.array_equal(plain, plain.T), "G8"
        assert set(starts(n, seats)) <= reached(cells, (1, 1)), "G8"
        assert np.count_nonzero(hidden) == items, "G9"
        assert (cells[hidden > 0] == WOOD).all(), "G9"
        assert set(hidden[hidden > 0].tolist()) <= {EXTRA_BOMB, RANGE, KICK}, "G9"
    assert not states["board"][:, n * n :].any(), "nothing is written beyond the board"
    assert not states["hidden"][:, n * n :].any()


@pytest.mark.parametrize(("id", "n", "counts"), [(FFA, 11, (36, 36, 45, 20, 80)), (DUEL, 8, (16, 16, 30, 10, 48))])
def test_G8_the_boards_of_the_original(id, n, counts):
    states = generated_states(20, id)
    cells, hidden = squares(states)
    assert cells.shape[1:] == (n, n)
    for one, items in zip(cells, hidden, strict=True):
        found = [int((one == code).sum()) for code in (RIGID, WOOD, PASSAGE)]
        assert (*found, np.count_nonzero(items)) == counts[:4]
    seats = int(states["seats"][0])
    assert len(candidate_cells(n, seats)) == counts[4]
    assert len(ring(n, seats)) == (12 if seats == 4 else 0)


@pytest.mark.parametrize("id", [FFA, DUEL])
def test_G1_to_G4_ranges_count_the_cells_for_walls(id):
    for n in range(7, 17):
        seats = 4 if id == FFA else 2
        assert pommerman.count_free_cells(n, seats) == len(candidate_cells(n, seats))
        assert pommerman.count_ring_walls(n, seats) == len(ring(n, seats))


@pytest.mark.parametrize(("id", "n"), [(FFA, 7), (FFA, 11), (FFA, 16), (DUEL, 8), (DUEL, 13)])
def test_G5_G6_walls_occur_on_all_candidate_cells_only(id, n, interpreted):
    states = generated_states(60 if interpreted else 400, id, board_size=n)
    cells, _ = squares(states)
    seats = int(states["seats"][0])
    for code, sure in ((RIGID, set()), (WOOD, ring(n, seats))):
        found = {tuple(cell) for cell in np.argwhere((cells == code).any(0)).tolist()}
        assert found == candidate_cells(n, seats) | sure


UNREAD = {"_pad", "flame_order", "flame_ply"} | {
    name for name in rules.state_dtype.names if name.startswith("bomb_")
}  # lists' rests
BY_SEAT = {"row", "col", "ammo", "strength", "kick"}
PARAMETERS = {"mode", "seats", "size", "num_rigid", "num_wood", "num_items", "max_steps", "view", "egocentric", "planes"}
PARAMETERS |= {"max_strength", "blast_strength", "first_collapse", "leave", "split", "column", "rng"}


@pytest.mark.parametrize(("id", "n"), [("mo-pommerman-radio-v0", 16), (DUEL, 8)])
def test_G11_new_game_resets_every_field(id, n):
    game = momagames.spec(id, board_size=n, blast_strength=3)
    play, fresh = Episode(game), Episode(game)
    for name in set(rules.state_dtype.names) - PARAMETERS:
        play.states[name] = 1
    play.reset(5)
    fresh.reset(5)
    seats = len(game.agents)
    for name in set(rules.state_dtype.names) - UNREAD:
        was, now = (states[name][0, :seats] if name in BY_SEAT else states[name][0] for states in (fresh.states, play.states))
        assert np.array_equal(was, now), name
    start = game.codec.save(play.state)
    assert start["agents"] == [[1, *cell, 1, 3, 0] for cell in starts(n, seats)]
    assert (start["bombs"], start["flames"], start["step_count"]) == ([], [], 0)
    assert start["visited"] == [f"{1 << n * row + col:x}" for row, col in starts(n, seats)]
    assert start.get("messages", [[0, 0]] * 4) == [[0, 0]] * 4, "R6 of the original is repaired"
    assert play.state["falling"] == -1


def test_G0_the_random_word_decides_the_board():
    states, same, other = generated_states(50), generated_states(50), generated_states(50, seed=1)
    assert states.tobytes() == same.tobytes()
    assert len({bytes(state["board"]) + bytes(state["hidden"]) for state in np.concatenate([states, other])}) == 100
    before = states["rng"].copy()
    generate(states)
    assert (states["rng"] != before).all()
    assert states.tobytes() != same.tobytes(), "the next game is another one"


# ---------------------------------------------------------------------------------------------------------- how often


@pytest.mark.parametrize(
    ("id", "shares"), [(FFA, (0.091, 0.275, 0.310, 0.210, 0.113)), (DUEL, (0.233, 0.395, 0.231, 0.092, 0.049))]
)
def test_G7_G10_unreachable_passages(id, shares, interpreted):
    states = generated_states(300 if interpreted else 3000, id, seed=11)
    seats = int(states["seats"][0])
    passages, wood = np.array([count_unreachable(cells, seats) for cells in squares(states)[0]]).T
    assert passages.max() == 4
    for k, share in enumerate(shares):
        assert close(int((passages == k).sum()), len(states), share), f"{k} passages"
    if id == FFA:
        assert close(int((wood == 0).sum()), len(states), 0.83)


@pytest.mark.parametrize(("id", "tries"), [(FFA, 1.226), (DUEL, 1.494)])
def test_G7_G10_candidates_for_a_board(id, tries, interpreted):
    number = 200 if interpreted else 6000
    states = blank_states(number, id, seed=10)
    unreached = np.zeros(number, np.int64)
    generate_candidates(states, unreached)
    assert close(int((unreached <= 4).sum()), number, 1 / tries, round(TRACED * tries))
    for cells, count in zip(squares(states)[0][:200], unreached[:200], strict=True):
        assert count_unreachable(cells, int(states["seats"][0]))[0] == count


def test_G9_G10_items(interpreted):
    """Each kind as often, in every wooden wall as often, and not mirrored."""
    states = generated_states(100 if interpreted else 3000, seed=12)
    cells, hidden = squares(states)
    kinds = [int((hidden == kind).sum()) for kind in (EXTRA_BOMB, RANGE, KICK)]
    assert sum(kinds) == 20 * len(states)
    for kind in kinds:
        assert close(kind, sum(kinds), 1 / 3, 60_000)
    wooden, filled = (cells == WOOD).sum(0), (hidden > 0).sum(0)
    for row, col in candidate_cells(11, 4) | ring(11, 4):
        assert close(int(filled[row, col]), int(wooden[row, col]), 20 / 36, 10**9)
    mirrored = np.logical_and(hidden > 0, hidden == hidden.transpose(0, 2, 1)).sum()
    assert mirrored / (hidden > 0).sum() < 0.3


def test_G10_walls_by_cell(interpreted):
    cells, _ = squares(generated_states(200 if interpreted else 6000, seed=13))
    slack = SIGMAS * (0.25 / len(cells)) ** 0.5
    places = tuple(np.array(sorted(candidate_cells(11, 4))).T)
    for code, low, high in ((RIGID, 0.40, 0.48), (WOOD, 0.28, 0.33)):
        shares = (cells == code).mean(0)[places]
        assert low - slack < shares.min()
        assert shares.max() < high + slack


@pytest.mark.parametrize("id", [FFA, DUEL])
def test_G7_few_candidates_are_needed(id, interpreted):
    """The fewest candidates are accepted on the largest board with the most rigid walls and no wood."""
    number = 400 if interpreted else 20_000
    for n in (16,) if interpreted else range(8, 17, 2) if id == FFA else range(7, 17, 2):
        most = next(int(p.high) for p in momagames.spec(id, board_size=n).parameters if p.name == "num_rigid")
        states = blank_states(number, id, board_size=n, num_rigid=most, num_wood=0, num_items=0)
        unreached = np.zeros(number, np.int64)
        generate_candidates(states, unreached)
        assert (unreached <= 4).mean() > (0 if interpreted else 0.003), n
