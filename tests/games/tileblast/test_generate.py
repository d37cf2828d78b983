"""Generated levels of MO-TileBlast: chosen mechanics, the linter, fixed levels per seed."""

import math

import numpy as np
import pytest

from momagames.errors import InvalidLevel, InvalidParameter
from momagames.games.cell_sets import is_connected
from momagames.games.seeded_rng import SeededRng
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.levels.document import Document, format_level
from momagames.games.tileblast.levels.generator import MECHANICS, SPAWNED_UNITS, calibrate, generate
from momagames.games.tileblast.levels.level_builder import LevelBuilder
from momagames.games.tileblast.rules.pieces import CODES, COVERS, KINDS
from tests.games.tileblast.naive import Naive

pytestmark = pytest.mark.compiled

# generate(3, 8, 5, 3, ["rock"], 0.2)
KNOWN = {
    "id": 3,
    "title": "Generated 3",
    "moves": 27,
    "colors": ["red", "orange", "purple"],
    "goals": [{"collect": "rock", "amount": 8}, {"collect": "basic.red", "amount": 8}],
    "legend": {"a": "rock:2", "c": "rock"},
    "layout": """\
#############
#############
##.c.aa.c.###
##........###
##..a..a..###
##........###
##a.#..#.a###
#############
#############
""",
}


def test_rng_matches_the_spec():
    rng = SeededRng(42)
    assert "".join(str(rng.below(5)) for _ in range(20)) == "30110414131222310203"


def test_a_level_never_changes():
    """The level of a seed is fixed."""
    data = generate(3, 8, 5, 3, ["rock"], 0.2)
    assert generate(3, 8, 5, 3, ["rock"], 0.2) == data
    assert data == KNOWN


def test_levels_are_valid():
    """For random arguments the linter accepts the level, and it has the chosen mechanics; its file holds the same data."""
    for seed in range(40):
        rng = SeededRng(1000 + seed)
        names = rng.sample(MECHANICS, rng.below(6))
        width, height, colors = rng.randint(7, 13), rng.randint(6, 9), rng.randint(2, 6)
        data = generate(seed, width, height, colors, names, rng.below(11) / 10)
        assert loader.list_problems(data) == []
        level = loader.load(data)
        seen = {piece.kind for piece in level.pieces.values()}
        covers = {COVERS[piece.cover] for piece in level.pieces.values()}
        assert all(name in covers if name in COVERS else CODES[name] in seen for name in names)
        assert len(data["colors"]) == colors
        cells = [cell for cell in range(117) if level.active[cell]]
        assert is_connected({(cell % 13, cell // 13) for cell in cells})
        assert 0.7 * width * height < len(cells) <= width * height
        assert len({cell % 13 for cell in cells}) <= width
        assert len({cell // 13 for cell in cells}) <= height
        assert Document(format_level(data)).data == data
        oracle = Naive(data, seed)
        assert not oracle.dead
        assert not oracle.won


def test_every_mechanic_and_its_goal():
    for name in MECHANICS:
        data = generate(5, mechanics=[name])
        goals = {goal["collect"]: goal["amount"] for goal in data["goals"]}
        assert (SPAWNED_UNITS[name][0] if name in SPAWNED_UNITS else name) in goals
        assert (goals.get("weed") == "all") == (name == "weed")


def count(data, kind):
    return sum(piece.kind == CODES[kind] for piece in loader.load(data).pieces.values())


def test_goals_of_drops_include_feeds():
    fed = 0
    for seed in range(20):
        data = generate(seed, mechanics=["seedbag"])
        coming = sum(feed["total"] for feed in data.get("feed", []))
        assert {"collect": "seedbag", "amount": count(data, "seedbag") + coming} in data["goals"]
        fed += coming > 0
        assert "feed" not in generate(seed, mechanics=["seedbag", "beehive"])  # on which they could get stuck
    assert 5 < fed < 15


def test_goals_of_bubbles_include_spawned_ones():
    data = generate(1, mechanics=["bubble", "sprinkler"], difficulty=1)
    bubbles = sum(piece.cover == COVERS.index("bubble") for piece in loader.load(data).pieces.values())
    assert {"collect": "bubble", "amount": bubbles + SPAWNED_UNITS["sprinkler"][2]} in data["goals"]


def test_basics_have_room():
    """Four cells in ten at least."""
    small = [name for name in MECHANICS if name not in ("bush", "gnomes", "basket", "seedbox", "seedbag", *COVERS)]
    with pytest.raises(InvalidParameter, match="a board larger than 5 x 5 cells"):
        generate(1, 5, 5, mechanics=small[:16])
    assert generate(1, 5, 5, mechanics=small[:9])


def test_where_pieces_may_stand():
    r"""On this board, with a seedbox S at rest in its columns and a beehive Z:

    ......#
    .SS....
    .SS...#
    ......#
    ....Z##
    """
    cells = {(x, y) for x in range(7) for y in range(5)} - {(5, 0), (6, 0), (6, 1), (6, 2), (6, 4)}
    site = LevelBuilder(SeededRng(0), 7, 5, False, cells)
    kind = {name: KINDS[CODES[name]] for name in ("rock", "bush", "seedbag", "seedbox", "beehive")}
    assert {cell for cell in cells if site.can_place(kind["seedbox"], cell)} == {(0, 3), (1, 3), (2, 3), (3, 3)}
    site.add({"kind": "seedbox"}, kind["seedbox"], (1, 2))
    site.add({"kind": "beehive"}, kind["beehive"], (4, 0))
    fits = {name: {cell for cell in cells if site.can_place(kind[name], cell)} for name in kind}
    assert fits["rock"] == cells - {(1, 2), (2, 2), (1, 3), (2, 3), (4, 0)}
    assert fits["beehive"] == {cell for cell in fits["rock"] if cell[0] not in (1, 2)}
    assert fits["bush"] == {(4, 1), (4, 2), (4, 3)}
    assert fits["seedbag"] == {(x, y) for x, y in fits["rock"] if y > 2 and x < 6}
    assert fits["seedbox"] == set()


def test_all_mechanics_at_once():
    data = generate(1, mechanics=MECHANICS)
    assert len(data["goals"]) == 4
    assert len(data["legend"]) >= len(MECHANICS)


def test_no_mechanics():
    data = generate(1, mechanics=())
    assert "legend" not in data
    assert [goal["collect"].split(".")[0] for goal in data["goals"]] == ["basic"]


def test_harder_levels_have_more_obstacles_and_fewer_moves():
    def hits(data):
        return sum(piece.hp for piece in loader.load(data).pieces.values() if piece.kind == CODES["rock"])

    easy, hard = ([generate(seed, difficulty=d) for seed in range(10)] for d in (0, 1))
    assert 2 * sum(map(hits, easy)) < sum(map(hits, hard))
    assert all(a["moves"] / (1 + hits(a)) > b["moves"] / (1 + hits(b)) for a, b in zip(easy, hard, strict=True))


def test_half_of_the_boards_are_mirrored():
    boards = [LevelBuilder.carve(SeededRng(seed), 9, 7) for seed in range(60)]
    alike = [{(8 - x, y) for x, y in site.active} == site.active for site in boards]
    assert [same for site, same in zip(boards, alike, strict=True) if site.mirrored] == [True] * sum(s.mirrored for s in boards)
    assert 15 < sum(site.mirrored for site in boards) < 45


def test_given_limit_of_moves():
    assert generate(1, moves=17)["moves"] == 17


BAD = {
    "width": ({"width": 14}, "invalid width=14: .*3..13"),
    "height": ({"height": 2}, "invalid height=2: .*3..9"),
    "colors": ({"colors": 1}, "invalid colors=1: .*2..6"),
    "difficulty": ({"difficulty": 1.5}, "invalid difficulty=1.5: .*0..1"),
    "nan": ({"difficulty": math.nan}, "difficulty=nan"),
    "moves": ({"moves": 0}, "invalid moves=0: .*1..50000"),
    "mechanics": ({"mechanics": ["rok"]}, "'rok'.*did you mean 'rock'"),
    "basics are always there": ({"mechanics": ["basic"]}, "'basic'"),
    "no room": ({"mechanics": ["seedbox", "bush"], "width": 3, "height": 3}, "'seedbox,bush'.*larger than 3 x 3 cells"),
}


def test_invalid_arguments():
    for given, message in BAD.values():
        with pytest.raises(InvalidParameter, match=message):
            generate(1, **given)


# --------------------------------------------------------------------------------------------------------- calibration


@pytest.mark.parametrize(("difficulty", "moves"), [(0.0, 100), (0.5, 50), (0.75, 25), (0.99, 1), (1.0, 1)])
def test_calibration_reaches_the_win_rate(difficulty, moves):
    """Games that take 1, 2, ..., 100 moves."""
    seen = []

    def play(level, games):
        seen.append((level.moves, games))
        return np.arange(games, 0, -1.0)

    data = generate(1)
    found = calibrate(data, play, difficulty, games=100, limit=300)
    assert found == {**data, "moves": moves}
    assert seen == [(300, 100)]


def test_calibration_of_too_hard_levels():
    def play(level, games):
        return np.where(np.arange(games) < 3, 10.0, math.inf)

    with pytest.raises(InvalidLevel, match="only 3 of 10 games are won within 200 moves: expected 5 or more"):
        calibrate(generate(1), play, 0.5, games=10)
    assert calibrate(generate(1), play, 0.7, games=10)["moves"] == 10
