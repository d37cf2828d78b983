"""What must hold at every point of every game of MO-TileBlast, on levels by chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.engine.episode import Episode
from momagames.games.tileblast.heuristics import write_objective_features
from momagames.games.tileblast.levels.generator import MECHANICS, generate
from momagames.games.tileblast.rules import legal
from momagames.games.tileblast.rules.pieces import CODES
from momagames.games.tileblast.rules.state import NOWHERE
from momagames.kernels.jit import compile_entry_point
from tests.games.tileblast.compiled import make

WIDTH, CELLS = 13, 117
# §1.1, copied from the page and not from the catalog
POWER, DROPS = {"rocket_h", "rocket_v", "bomb", "flask"}, {"seedbag", "seedbox"}
FALLS = {"basic", "dandelion", "chestnut", "sunflower", "pot", "snail", "butterfly", "polaroid", "bucket", *POWER, *DROPS}
BIG = {"basket", "bush", "gnomes", "seedbox"}
LASTING = {"beehive", "sprinkler", "dispenser"}
MADE_IN_PLAY = {"basic", "weed", "dandelion", *POWER}
TAPS = 12

LEVELS = st.builds(
    lambda seed, width, height, colors, mechanics, drops, difficulty: generate(
        seed, width, height, colors, sorted(mechanics | drops), difficulty
    ),
    st.integers(0, 10**6),
    st.integers(7, 13),
    st.integers(7, 9),
    st.integers(2, 6),
    st.sets(st.sampled_from(MECHANICS), max_size=3),
    st.sampled_from((set(), {"seedbag"}, {"seedbox"})),
    st.floats(0, 1),
)
# Small boards of many colors, on which there is often nothing to tap
TIGHT = st.builds(lambda seed, width: generate(seed, width, 3, 6, (), 0.5), st.integers(0, 10**6), st.integers(3, 5))
SEEDS = st.integers(0, 2**64 - 1)


class Board:
    """A position as §9.1 gives it, cell by cell."""

    def __init__(self, play):
        self.data = play.game.codec.save(play.state)
        self.active = {int(cell) for cell in np.flatnonzero(play.state["active"])}
        self.cages = {x + WIDTH * y for x, y, cover in self.data["covers"] if cover == "cage"}
        self.bubbles = {x + WIDTH * y for x, y, cover in self.data["covers"] if cover == "bubble"}
        self.pieces = {x + WIDTH * y: (kind, hp, full, color) for x, y, kind, hp, full, color in self.data["pieces"]}
        self.of = {}  # cell -> anchor of the piece in it
        for anchor, (kind, *_) in self.pieces.items():
            for cell in cells_of(anchor, kind):
                assert cell not in self.of, "two pieces in a cell"
                self.of[cell] = anchor
        assert set(self.of) | self.cages | self.bubbles <= self.active

    def kind(self, cell):
        return self.pieces[self.of[cell]][0] if cell in self.of else ""

    def below(self, cell):
        """§4.7 a: the next active cell below in the column, or None."""
        under = [other for other in range(cell - WIDTH, -1, -WIDTH) if other in self.active]
        return under[0] if under else None

    def can_fall(self, anchor):
        """§4.7 a"""
        kind = self.pieces[anchor][0]
        if kind not in FALLS or anchor in self.cages:
            return False
        if kind in BIG:
            under = [anchor - WIDTH, anchor - WIDTH + 1]
            return all(cell >= 0 and cell in self.active and cell not in self.of for cell in under)
        return self.below(anchor) is not None and self.below(anchor) not in self.of

    def can_leave(self, anchor):
        """§4.7 b: nothing active is below in any column that the drop fills."""
        kind = self.pieces[anchor][0]
        columns = [anchor, anchor + 1] if kind in BIG else [anchor]
        return kind in DROPS and anchor not in self.cages and all(self.below(cell) is None for cell in columns)

    def refillable(self):
        """§4.7 c: empty active cells with no piece above them in their column."""
        for x in range(WIDTH):
            for cell in sorted((c for c in self.active if c % WIDTH == x), reverse=True):
                if cell in self.of:
                    break
                yield cell

    def valid(self):
        """§3.2"""
        return {cell for cell in self.of if self.is_valid(cell)}

    def color(self, cell):
        """Of a free basic, None for all else."""
        return self.pieces[cell][3] if self.kind(cell) == "basic" and cell not in self.cages else None

    def is_valid(self, cell):
        if cell in self.cages:
            return False
        x, color = cell % WIDTH, self.color(cell)
        beside = [cell - WIDTH, cell + WIDTH] + [cell - 1] * (x > 0) + [cell + 1] * (x < WIDTH - 1)
        return self.kind(cell) in POWER or (color is not None and any(self.color(other) == color for other in beside))


def cells_of(anchor, kind):
    """§1.2"""
    return [anchor, anchor + 1, anchor + WIDTH, anchor + WIDTH + 1] if kind in BIG else [anchor]


def is_settled(board):
    return not (
        any(map(board.can_fall, board.pieces))
        or any(map(board.can_leave, board.pieces))
        or any(True for _ in board.refillable())
    )


def start_episode(level, seed, **params):
    play = Episode(make(level, **params))
    play.reset(seed)
    return play


def random_taps(play, seed, count=TAPS):
    """Tap at random until the game is over, mostly where it is valid; after each: the board before it, the cell."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        if play.state["over"]:
            return
        before, valid = Board(play), np.flatnonzero(play.masks[0])
        cell = int(rng.choice(valid) if rng.random() < 0.85 else rng.integers(CELLS))
        play.step(cell)
        yield before, cell


def count(board, kinds):
    return sum(kind in kinds for kind, *_ in board.pieces.values())


def _evaluate(states, mask, features):
    legal(states[0], 0, mask)
    write_objective_features(states[0], features)


evaluate = compile_entry_point(_evaluate, "tileblast.tests.evaluate")


def mirror_state(state):
    """The mirror image of a position. Pieces of size 2 have their values in the lower left one of their cells, the anchor."""
    image, mirrored = state.copy(), np.arange(CELLS).reshape(-1, WIDTH)[:, ::-1].ravel()
    for name in ("active", "below", "kind", "anchor", "hp", "full", "color", "cover", "counters"):
        image[name] = state[name][mirrored]
    is_cell = image["below"] != NOWHERE
    image["below"][is_cell] = mirrored[image["below"][is_cell]]
    is_piece = image["kind"] != 0
    is_big = np.isin(image["kind"], [CODES[name] for name in BIG])
    image["anchor"][is_piece] = (mirrored[image["anchor"]] - is_big)[is_piece]
    for anchor in np.flatnonzero(is_big & (image["anchor"] == np.arange(CELLS))):
        for name in ("hp", "full", "color", "cover", "counters"):
            image[name][[anchor, anchor + 1]] = image[name][[anchor + 1, anchor]]
    return image


@pytest.mark.long
@given(LEVELS, SEEDS)
def test_left_and_right_have_no_meaning_for_features(level, seed):
    """A position and its mirror image have equal features, and masks that are mirror images; play differs in what is drawn."""
    play = start_episode(level, seed)
    for _ in random_taps(play, seed):
        found = []
        for state in (play.state, mirror_state(play.state)):
            mask, features = np.zeros(CELLS, np.int8), np.zeros((1, len(play.game.objectives)))
            evaluate(np.array([state]), mask, features)
            found.append((mask, features))
        (mask, features), (image_mask, image_features) = found
        assert np.array_equal(image_mask.reshape(-1, WIDTH)[:, ::-1].ravel(), mask)
        assert np.allclose(image_features, features, rtol=1e-12)


@given(LEVELS | TIGHT, SEEDS)
def test_boards_are_settled_and_masks_are_correct(level, seed):
    """§4.7, §3.2, §4.12: nothing can fall or leave or come in, and there is a tap or the board is dead."""
    play = start_episode(level, seed)
    start = Board(play)
    assert is_settled(start)
    for _ in random_taps(play, seed):
        board = Board(play)
        if not play.state["won"]:  # §4.1: spawns, healing, spreading and deadlock are left out
            assert bool(board.valid()) != bool(play.state["dead"])
        assert is_settled(board)
        mask = set(np.flatnonzero(play.masks[0]).tolist())
        assert mask == (set() if play.state["over"] else board.valid())


@given(LEVELS, SEEDS)
def test_invalid_taps_only_count(level, seed):
    """§3.3"""
    play = start_episode(level, seed)
    rng = np.random.default_rng(seed)
    for _ in random_taps(play, seed, 6):
        invalid = sorted(set(range(CELLS)) - Board(play).valid())
        if play.state["over"] or not invalid:
            return
        saved, mask, seen = play.game.codec.save(play.state), play.masks.copy(), play.observations.copy()
        play.step(int(rng.choice(invalid)))
        after = play.game.codec.save(play.state)
        assert after.pop("taps") == saved.pop("taps") + 1
        assert after.pop("invalid_taps") == saved.pop("invalid_taps") + 1
        assert after == saved
        assert (play.masks == (mask * (not play.state["over"]))).all()
        assert (play.observations == seen).all()
        assert not play.state["valid"]


@given(LEVELS, SEEDS)
def test_goals_counters_and_pieces_agree(level, seed):
    """§6.1, §6.5, §4.13, §5: the infos, the rewards and the board agree on a tap."""
    play = start_episode(level, seed)
    names = [goal.name for goal in play.game.objectives]
    infos, drawn, shuffled, score, made = play.game.infos(play.state), 0, 0, 0, 0
    for before, cell in random_taps(play, seed):
        board, last = Board(play), infos
        infos, rewards = play.game.infos(play.state), dict(zip(names, play.reward[0].tolist(), strict=True))
        for k, goal in enumerate(level["goals"]):
            if goal["amount"] != "all":
                assert infos["goals_remaining"][k] == last["goals_remaining"][k] - infos["collected"][k]
                assert rewards[f"goal_{k + 1}"] == infos["collected"][k]
            assert infos["collected"][k] >= 0
        assert rewards["goals"] == sum(infos["collected"])
        made += infos["valid"]
        assert play.state["moves"] == made
        assert play.state["taps"] == made + play.state["invalid_taps"] == play.state["ply"]
        assert infos["valid"] == (cell in before.valid())
        assert rewards["step"] == -1 == rewards["move"] + rewards["invalid"]
        points = infos["hits"] + (max(0, infos["cluster"] - 2) ** 2)
        assert rewards["score"] == points == infos["score"] - score
        score = infos["score"]
        cleared = sum(rewards[f"color_{c}"] for c in range(1, 7))
        assert infos["cluster"] <= cleared <= infos["hits"]
        assert infos["rng_draws"] >= drawn
        assert infos["shuffles"] >= shuffled
        drawn, shuffled = infos["rng_draws"], infos["shuffles"]
        assert infos["created"] == (infos["cluster"] >= 5) == rewards["created"]
        assert infos["used"] == rewards["used"]
        assert infos["used"] >= infos["combo"] == rewards["combo"]
        # pieces: what lasts stays, nothing grows back but what heals, and only some kinds come new
        fed = {feed["piece"] for feed in level.get("feed", [])}
        for kind in {kind for kind, *_ in board.pieces.values()} - MADE_IN_PLAY - fed:
            assert count(board, {kind}) <= count(before, {kind})
        assert count(board, LASTING) == count(before, LASTING)
        assert all(1 <= hp <= full for _, hp, full, _ in board.pieces.values())
        assert len(board.cages) <= len(before.cages)


COUNTED = st.sets(
    st.sampled_from(("rock", "stump", "snail", "chest", "mushroom", "bush", "cage", "chestnut")), min_size=2, max_size=4
)


@given(st.builds(lambda seed, names: generate(seed, 10, 9, 4, sorted(names), 0.3), st.integers(0, 10**6), COUNTED), SEEDS)
def test_units_are_conserved(level, seed):
    """§6.1: what is no longer on the board was collected, unit by unit; nothing of these kinds is made in play."""
    names = [goal["collect"] for goal in level["goals"]]
    play = start_episode(level, seed)
    for before, _ in random_taps(play, seed):
        board, infos = Board(play), play.game.infos(play.state)
        for k, name in enumerate(names):
            if name.startswith("basic"):
                continue
            there, left = holds(before, name), holds(board, name)
            last = infos["goals_remaining"][k] + infos["collected"][k]
            assert infos["collected"][k] == min(last, there - left)


def holds(board, name):
    """Units of a goal on a board: covers, hit points of bushes, else pieces."""
    if name == "cage":
        return len(board.cages)
    return sum(hp if name == "bush" else 1 for kind, hp, *_ in board.pieces.values() if kind == name)


@given(LEVELS, SEEDS, st.booleans(), st.integers(1, 30))
def test_a_game_is_over_exactly_when_it_ends(level, seed, strict, bound):
    """§6.2: won, lost by moves or by a dead board, or truncated after so many taps."""
    level = level | {"moves": min(level["moves"], 20)}
    play = start_episode(level, seed, strict_moves=strict, max_taps=bound)
    for _ in random_taps(play, seed, bound + 1):
        infos, state = play.game.infos(play.state), play.state
        won = not any(infos["goals_remaining"])
        lost = not won and (infos["dead"] or (strict and int(state["moves"]) >= level["moves"]))
        cut = not won and not lost and int(state["taps"]) >= bound
        assert (infos["won"], infos["lost"], bool(state["truncated"])) == (won, lost, cut)
        assert bool(state["over"]) == (won or lost or cut)
    assert play.state["over"]


@pytest.mark.parametrize("agents", [1, 3])
@given(level=LEVELS, seed=st.integers(0, 2**31))
def test_peek_equals_step(agents, level, seed):
    """`peek` equals `step`, for valid and invalid taps, beside other environments with their own seeds."""
    env = momagames.make("mo-tileblast-v0", api="gymnasium", level=level, num_agents=agents)
    _, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        valid = np.flatnonzero(info["action_mask"])
        cell = int(rng.choice(valid)) if len(valid) and rng.random() < 0.8 else int(rng.integers(CELLS))
        before = env.get_state()
        peeked = env.peek(cell)
        assert env.get_state() == before
        real = env.step(cell)
        for one, other in zip(peeked[:4], real[:4], strict=True):
            assert np.array_equal(one, other)
        np.testing.assert_equal(peeked[4], real[4])
        info = real[4]
        if real[2] or real[3]:
            break
