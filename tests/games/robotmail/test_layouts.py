"""Layouts of MO-RoboticMail: every form, what the linter refuses and where, and ways by the rules of movement."""

import json

import pytest

from momagames.errors import InvalidLayout, InvalidParameter
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.layouts.generator import generate
from momagames.games.robotmail.layouts.layout import Layout
from momagames.games.robotmail.layouts.linter import find_unreachable
from momagames.games.seeded_rng import SeededRng

pytestmark = pytest.mark.compiled

COLORS = ["b,g,y,g", "g,w,w,y", "gr,g,g,g"]
TARGETS = ["0,0,4,0", "0,0,0,7", "0,0,0,0"]
GOOD = {"colors": COLORS, "targets": TARGETS}


@pytest.fixture
def files(tmp_path):
    """Writes two maps; the stem of their names."""

    def write(colors, targets, stem="a"):
        for name, lines in (("colors", colors), ("targets", targets)):
            (tmp_path / f"{stem}_{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(tmp_path / stem)

    return write


def both(stem):
    return f"{stem}_colors.csv", f"{stem}_targets.csv"


# ------------------------------------------------------------------------------------------------------- of the package

# name -> columns, rows; receivers, green, blue and white cells; indices
PACKAGED = {
    "documented": (9, 9, 9, 3, 2, 25, 9),
    "rbgame": (9, 9, 9, 3, 2, 25, 9),
    "ring": (9, 9, 9, 3, 4, 19, 9),
    "mini6": (6, 6, 9, 2, 2, 10, 9),
    "wide12": (12, 12, 10, 6, 5, 26, 9),
    "tall": (9, 11, 8, 4, 4, 21, 7),
    "tiny": (5, 4, 2, 1, 1, 6, 2),
    "street": (15, 6, 10, 2, 4, 12, 10),
    "depot": (16, 12, 16, 4, 4, 24, 16),
}


def test_packaged_boards():
    """§10.3 They are fine, also as data, and are what the table says."""
    for name in loader.NAMES:
        found = loader.load(name)
        counts = [len(found.cells(code)) for code in ("y", "gr", "b", "w")]
        assert (found.width, found.height, *counts, len(found.indices)) == PACKAGED[name]
        assert loader.load(found) == loader.load(found.data) == found
        assert loader.load(name) is found
        assert loader.normalize_parameter(name) == name
        assert loader.list_problems(name) == loader.list_problems(found) == []
        assert set(PACKAGED) == set(loader.NAMES)


def test_the_documented_board():
    found = loader.load("documented")
    receivers = {(2, 0): 4, (4, 0): 7, (6, 0): 5, (0, 2): 3, (8, 2): 6, (0, 4): 2, (8, 4): 8, (0, 6): 1, (8, 6): 9}
    assert {cell: found.target(cell) for cell in found.cells("y")} == receivers
    assert found.cells("w") == [(x, y) for y in range(2, 7) for x in range(2, 7)]
    assert (found.cells("b"), found.cells("gr")) == ([(0, 0), (8, 0)], [(2, 7), (4, 7), (6, 7)])
    assert found.cells("r") == [(2, 8), (4, 8), (6, 8)]
    assert loader.load("rbgame").cells("r") == [(x, 8) for x in range(9)]


def test_narrow_cells():
    """§3.3 Exactly two neighbors are yellow or red; the edge is none, three are too many."""
    assert loader.load("documented").narrow == {(3, 0), (5, 0), (0, 3), (8, 3), (0, 5), (8, 5), (3, 8), (5, 8)}
    passable = {cell for cell in loader.load("rbgame").narrow if loader.load("rbgame").color(cell) != "r"}
    assert passable == {(0, 3), (0, 5), (0, 7), (3, 0), (5, 0), (8, 3), (8, 5), (8, 7)}
    # . r .    the middle has three
    # r . r
    # . . .
    walls = Layout((("g", "r", "g"), ("r", "g", "r"), ("g", "g", "g")), ((0,) * 3,) * 3)
    assert walls.narrow == {(0, 0), (2, 0)}


# ---------------------------------------------------------------------------------------------------------------- forms


def test_all_forms_give_the_same_layout(files):
    """§10.1"""
    stem = files(COLORS, TARGETS)
    expected = Layout(tuple(tuple(row.split(",")) for row in COLORS), ((0, 0, 4, 0), (0, 0, 0, 7), (0, 0, 0, 0)))
    rows = {"colors": [row.split(",") for row in COLORS], "targets": [[int(n) for n in row.split(",")] for row in TARGETS]}
    texts = ["\n".join(COLORS), "\n".join(TARGETS)]
    sources = [stem, *both(stem), both(stem), list(both(stem)), texts, tuple(texts), GOOD, rows, expected]
    sources += [dict(zip(GOOD, texts, strict=True)), json.loads(json.dumps(expected.data))]
    for source in sources:
        assert loader.load(source) == expected, source
        assert loader.normalize_parameter(source) == GOOD


def test_paths_may_be_objects(files, tmp_path):
    files(COLORS, TARGETS)
    assert loader.load(tmp_path / "a") == loader.load((tmp_path / "a_colors.csv", tmp_path / "a_targets.csv"))


def test_texts_of_one_row():
    assert loader.load(("w,gr,y", "0,0,1")).data == {"colors": ["w,gr,y"], "targets": ["0,0,1"]}


def test_random_boards_are_stored_as_data():
    assert loader.load("random") == loader.load({"seed": 0}) == generate(0)
    assert loader.normalize_parameter("random") == generate(0).data
    given = {"seed": 3, "width": 12, "height": 7, "density": 0.1}
    assert loader.normalize_parameter(given) == generate(3, 12, 7, 0.1).data


def test_ignored_differences(files):
    """§10.1 Spaces around values, empty lines at the end, line ends, a byte order mark."""
    colors = ["\ufeff" + COLORS[0], " g, w ,w,\ty", COLORS[2] + " ", "", "  "]
    assert loader.normalize_parameter(files(colors, [*TARGETS, ""])) == GOOD
    assert loader.normalize_parameter(["\r\n".join(COLORS) + "\r\n", "\r\n".join(TARGETS)]) == GOOD


NO_FORM = {
    "a number": (3, "layout=3"),
    "nothing": (None, "layout=None"),
    "one path in a list": (["a.csv"], r"\['a.csv'\]"),
    "three": (("a", "b", "c"), "expected 'documented'"),
    "a slip": ("documentd", "'documentd'.*did you mean 'documented'"),
    "a slip of random": ("randm", "did you mean 'random'"),
    "no targets": ({"colors": COLORS}, "missing key 'targets'"),
    "a key too many": ({**GOOD, "target": []}, "invalid key 'target': expected 'colors' or 'targets'; did you mean 'targets'"),
    "no rows": ({**GOOD, "targets": 3}, "targets=3"),
    "text and path": ((COLORS, "a.csv"), "expected"),
}


def test_unknown_forms():
    for source, message in NO_FORM.values():
        with pytest.raises(InvalidLayout, match=message):
            loader.load(source)
        with pytest.raises(InvalidLayout, match=message):
            loader.list_problems(source)


def test_arguments_that_are_none():
    with pytest.raises(InvalidParameter, match=r"'widht'.*did you mean 'width'"):
        loader.load({"seed": 1, "widht": 12})


# --------------------------------------------------------------------------------------------------------------- linter


def changed(cell, color=None, target=None):
    """The good layout with one cell changed."""
    x, y = cell
    data = {name: [row.split(",") for row in rows] for name, rows in GOOD.items()}
    if color is not None:
        data["colors"][y][x] = color
    if target is not None:
        data["targets"][y][x] = str(target)
    return [[",".join(row) for row in rows] for rows in data.values()]


C, T = "a_colors.csv", "a_targets.csv"
# what is wrong -> colors, targets, and of every problem the file, what follows, and words
WRONG = {
    "a color code": (*changed((3, 1), "yy"), [(C, "line 2, column 7, the cell (3,1): ", "'yy'", "did you mean 'y'")]),
    "a color name": (*changed((0, 0), "Blue"), [(C, "line 1, column 1, the cell (0,0): ", "'Blue'", "did you mean 'b'")]),
    "a code in capitals": (*changed((0, 2), "GR"), [(C, "line 3, column 1, the cell (0,2): ", "'GR'", "did you mean 'gr'")]),
    "no code": (*changed((1, 2), ""), [(C, "line 3, column 4, the cell (1,2): ", "invalid color code '': ", "'gr' (green)")]),
    "semicolons": (["b;g", "w;g"], ["0", "0"], [(C, f"line {y}, column 1, ", "separated by commas") for y in (1, 2)]),
    "a short row": (
        ["b,g,y", *COLORS[1:]],
        TARGETS,
        [(C, "line 1, column 6, the cell (3,0): ", "the row has 3 cells: expected 4")],
    ),
    "a long row": (
        COLORS,
        [*TARGETS[:2], "0,0,0,0, 0"],
        [(T, "line 3, column 10, the cell (4,2): ", "the row has 5 cells: expected 4")],
    ),
    "an empty line": ([COLORS[0], "", *COLORS[1:]], TARGETS, [(C, "line 2, column 1: ", "an empty line")]),
    "fewer rows": (COLORS, TARGETS[:2], [(T, "line 3, column 1, the cell (0,2): ", "2 rows of 4 cells", "3 rows of 4")]),
    "more rows": (COLORS, [*TARGETS, TARGETS[2]], [(T, "line 4, column 1, the cell (0,3): ", "4 rows of 4 cells")]),
    "fewer columns": (
        COLORS,
        [row[:-2] for row in TARGETS],
        [(T, "line 1, column 6, the cell (3,0): ", "3 rows of 3 cells", "3 rows of 4")],
    ),
    "no number": (*changed((2, 0), None, "x"), [(T, "line 1, column 5, the cell (2,0): ", "invalid target 'x': ", "63")]),
    "a fraction": (*changed((2, 0), None, "4.0"), [(T, "line 1, column 5, the cell (2,0): ", "'4.0'", "did you mean 4?")]),
    "infinity": (*changed((2, 0), None, "inf"), [(T, "line 1, column 5, the cell (2,0): ", "invalid target 'inf': ")]),
    "a negative number": (*changed((2, 0), None, -4), [(T, "line 1, column 5, the cell (2,0): ", "invalid target -4: ", "63")]),
    "a large number": (*changed((2, 0), None, 64), [(T, "line 1, column 5, the cell (2,0): ", "invalid target 64: ")]),
    "a huge number": (*changed((2, 0), None, "9" * 5000), [(T, "line 1, column 5, the cell (2,0): ", "invalid target 9999")]),
    "no target": (*changed((3, 1), None, 0), [(T, "line 2, column 7, the cell (3,1): ", "no target", "expected the index")]),
    "a number without a receiver": (
        *changed((1, 1), None, 5),
        [(T, "line 2, column 3, the cell (1,1): ", "invalid target 5, which no yellow cell accepts: ", "expected 4, 7")],
    ),
    "no white cell": (
        [row.replace("w", "g") for row in COLORS],
        TARGETS,
        [(C, "", "there is no cell 'w'", "robots start")],
    ),
    "no green cell": (*changed((0, 2), "g"), [(C, "", "there is no cell 'gr'")]),
    "no yellow cell": (["w,gr"], ["0,0"], [(C, "", "there is no cell 'y'")]),
    "nothing at all": ([], TARGETS, [(C, "", "the map of colors is empty")]),
    "both": ([], [" "], [(C, "", "the map of colors is empty"), (T, "", "the map of targets is empty")]),
    "the wrong order": (TARGETS, COLORS, [(C, "", "target numbers instead of colors: expected the colors first")]),
    "too many rows": (
        ["w,gr,y", *["g,g,g"] * 24],
        ["0,0,1", *["0,0,0"] * 24],
        [(name, "line 25, column 1, the cell (0,24): ", "invalid rows=25: ", "1..24") for name in (C, T)],
    ),
    "too many columns": (
        ["w,gr,y" + ",g" * 22],
        ["0,0,1" + ",0" * 22],
        [
            (C, "line 1, column 50, the cell (24,0): ", "invalid columns=25: ", "1..24"),
            (T, "line 1, column 49, ", "invalid columns=25: "),
        ],
    ),
    "a receiver behind walls": (
        ["w,gr,r,y", "g,g,r,g"],
        ["0,0,0,3", "0,0,0,0"],
        [
            (C, "line 1, column 8, the cell (3,0): ", "delivers here cannot reach any mail"),
            (C, "line 1, column 8, the cell (3,0): ", "mail 3 cannot be reached from the green cells (1,0)"),
        ],
    ),
    "a place to start behind a charger": (
        ["w,b,w,gr,y"],
        ["0,0,0,0,1"],
        [(C, "line 1, column 1, the cell (0,0): ", "starts here cannot reach any mail")],
    ),
    "a receiver that is narrow": (
        ["w,gr,r", "g,g,y", "g,g,r"],
        ["0,0,0", "0,0,2", "0,0,0"],
        [(C, "line 2, column 5, the cell (2,1): ", "mail 2 cannot be reached", "it is narrow", "exactly two")],
    ),
}


def test_invalid_layouts_are_rejected(files, tmp_path):
    """§10.2 With file, line, column, cell, and what is allowed."""
    for colors, targets, expected in WRONG.values():
        stem = files(colors, targets)
        found = [problem.removeprefix(f"{tmp_path}/") for problem in loader.list_problems(stem)]
        assert len(found) == len(expected), found
        for problem, (file, place, *words) in zip(found, expected, strict=True):
            assert problem.startswith(f"{file}: {place}"), problem
            assert all(word in problem for word in words), problem
        with pytest.raises(InvalidLayout) as refused:
            loader.load(stem)
        assert str(refused.value).split("\n")[0] == loader.list_problems(stem)[0]


def test_all_problems_are_reported_at_once(files):
    """In the order of the files; an error names five and counts the rest."""
    stem = files(["b,x,y,g", "g,w,w,z", "gr,g,g,q"], ["0,0,0,0", "0,0,-1,a", "0,0,0,9"])
    found = loader.list_problems(stem)
    assert [problem.split(": ")[1] for problem in found] == [
        "line 1, column 3, the cell (1,0)",
        "line 2, column 7, the cell (3,1)",
        "line 3, column 8, the cell (3,2)",
        "line 1, column 5, the cell (2,0)",
        "line 2, column 5, the cell (2,1)",
        "line 2, column 8, the cell (3,1)",
    ]
    with pytest.raises(InvalidLayout) as refused:
        loader.load(stem)
    assert str(refused.value) == "\n".join([*found[:5], "... and 1 more"])


def test_numbers_are_not_blamed_for_cells_that_cannot_be_read(files):
    """The unknown code may have been the receiver of that number."""
    assert len(loader.list_problems(files(*changed((2, 0), "yellw")))) == 1
    assert len(loader.list_problems(files(*changed((2, 0), None, "four")))) == 1


def test_data_and_texts_are_named_by_their_map():
    colors, targets = changed((3, 1), "q")
    for source in ({"colors": colors, "targets": targets}, ("\n".join(colors), "\n".join(targets))):
        with pytest.raises(InvalidLayout, match=r"^colors: line 2, column 7, the cell \(3,1\): invalid color code 'q'"):
            loader.load(source)


def test_layouts_that_were_made_by_hand_are_checked():
    with pytest.raises(InvalidLayout, match="there is no cell 'gr'"):
        loader.load(Layout((("w", "y"),), ((0, 1),)))


def test_files_that_cannot_be_read(files, tmp_path):
    stem = files(COLORS, TARGETS, "mine")
    with pytest.raises(InvalidLayout, match=r"min_colors\.csv: cannot be read .*did you mean 'mine_colors\.csv'"):
        loader.load((tmp_path / "min_colors.csv", both(stem)[1]))
    found = loader.list_problems((str(tmp_path / "p.csv"), str(tmp_path / "q.csv")))
    assert ["p.csv: cannot be read" in found[0], "q.csv: cannot be read" in found[1]] == [True, True]
    with pytest.raises(InvalidLayout, match="STEM of two files"):
        loader.load(tmp_path / "nothing")
    (tmp_path / "mine_targets.csv").unlink()
    with pytest.raises(InvalidLayout, match=r"mine_targets\.csv: cannot be read"):
        loader.load(stem)
    (tmp_path / "mine_targets.csv").write_bytes(b"0,0,4,0\n0,\xe9\n")
    with pytest.raises(InvalidLayout, match=r"mine_targets\.csv: line 2, column 3: the byte 0xe9 is not UTF-8"):
        loader.load(stem)
    with pytest.raises(InvalidLayout, match="cannot be read"):
        loader.load((tmp_path, tmp_path))


def test_robots_need_white_cells():
    tiny = loader.load("tiny")
    loader.check_robots(tiny, 6)
    with pytest.raises(InvalidLayout, match=r"7 robots do not fit .*it has 6; take at most 6"):
        loader.check_robots(tiny, 7)


# ----------------------------------------------------------------------------------------------------------------- ways


def steps(found, cell, mail):
    """§3.2, §3.3 Where a robot alone on the board may move from here, chargers left out."""
    for near in found.neighbors(cell):
        color = found.color(near)
        if color in "rb" or (color == "y" and found.target(near) != mail) or (color == "gr" and mail):
            continue
        yellow_or_red = sum(found.color(other) in "yr" for other in found.neighbors(near))
        numbers = [found.target(other) for other in found.neighbors(near)]
        if found.color(cell) != "y" and yellow_or_red == 2 and not (mail and mail in numbers):
            continue
        yield near


def reached(found, start, mail):
    """Forward search over cells; mails and receivers end a way."""
    seen, fresh = set(), [start]
    while fresh:
        for near in steps(found, fresh.pop(), mail):
            if near not in seen:
                seen.add(near)
                if found.color(near) in "wg":
                    fresh.append(near)
    return seen


def is_good(found):
    """§10.2 as it says."""
    greens, receivers = set(found.cells("gr")), found.cells("y")
    starts = all(greens & reached(found, cell, 0) for cell in [*found.cells("w"), *receivers])
    return starts and all(cell in reached(found, green, found.target(cell)) for green in greens for cell in receivers)


@pytest.mark.parametrize("name", loader.NAMES)
def test_packaged_boards_are_connected(name):
    assert is_good(loader.load(name))


def test_reachability_follows_the_rules():
    """Random boards, about as many good as bad."""
    rng, good = SeededRng(5), 0
    for _ in range(400):
        width, height = rng.randint(2, 5), rng.randint(2, 5)
        colors = tuple(tuple(rng.choice("wgggggry" if rng.below(9) else "bx") for _ in range(width)) for _ in range(height))
        colors = tuple(tuple("gr" if code == "x" else code for code in row) for row in colors)
        targets = tuple(tuple(rng.randint(1, 2) if code == "y" or not rng.below(5) else 0 for code in row) for row in colors)
        found = Layout(colors, targets)
        assert (find_unreachable(found) == []) == is_good(found), found
        good += is_good(found) and bool(found.cells("gr")) and len(found.cells("y")) > 0
    assert good > 40


def test_a_narrow_cell_opens_to_the_mail_beside_it():
    """The only way to receiver 2 leads through (2,0), between that receiver and a wall."""
    colors = ["w,gr,g,y", "g,g,r,g"]
    assert loader.list_problems({"colors": colors, "targets": ["0,0,0,2", "0,0,0,0"]}) == []


def test_numbers_on_other_cells_open_narrow_cells():
    """(2,1) lies between two walls, on the only way to receiver 5; a 5 on its gray neighbor lets mail 5 pass."""
    colors = ["w,gr,r,g,g", "g,g,g,g,y", "g,g,r,g,g"]
    shut = {"colors": colors, "targets": ["0,0,0,0,0", "0,0,0,0,5", "0,0,0,0,0"]}
    opened = {"colors": colors, "targets": ["0,0,0,0,0", "0,0,0,5,5", "0,0,0,0,0"]}
    assert "mail 5 cannot be reached from the green cells (1,0)" in " ".join(loader.list_problems(shut))
    found = loader.list_problems(opened)  # but no robot comes back
    assert [problem.split(": ", 2)[2] for problem in found] == ["a robot that delivers here cannot reach any mail afterwards"]
