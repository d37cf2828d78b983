"""Small boards of MO-TileBlast with results derived by hand from the rules, for any implementation of the game.

Every function in ALL takes `start_game(level, seed, strict_moves=True, max_taps=None)`, which returns a game with the
interface of `naive.Naive`, and asserts its results. § cites momagames/games/tileblast/SPEC.md.
"""

WIDTH, HEIGHT, CELLS = 13, 9, 117
COLORS = ["red", "blue", "yellow", "pink"]
ALL = []


def vector(check):
    """Puts a check into ALL."""
    ALL.append(check)
    return check


def level(*rows, goals=None, legend=None, **more):
    """A level whose lower left corner are these rows, top row first; the rest of the board is inactive."""
    lines = ["#" * WIDTH] * (HEIGHT - len(rows)) + [row.ljust(WIDTH, "#") for row in rows]
    wanted = [{"collect": name, "amount": n} for name, n in (goals or {"basic.pink": 90}).items()]
    facts = {"id": 1, "title": "vector", "moves": 20, "colors": COLORS, "legend": legend or {}, "goals": wanted}
    return facts | {"layout": "\n".join(lines) + "\n"} | more


def checkered(width, height, signs=None):
    """Rows of blues and yellows without a pair, with these signs at these (x, y)."""
    signs = signs or {}
    rows = [["by"[(x + y) % 2] for x in range(width)] for y in range(height)]
    for (x, y), sign in signs.items():
        rows[y][x] = sign
    return ["".join(row) for row in reversed(rows)]


def at(x, y=0):
    return x + WIDTH * y


def cell(game, x, y=0, channels=24):
    """The channels of a cell that are not 0: {channel: value}."""
    flat = [int(value) for value in game.board(channels)]
    column = {c: flat[c * CELLS + at(x, y)] for c in range(channels)}
    return {c: value for c, value in column.items() if value}


def has(game, x, y=0, **values):
    """Whether the named channels of a cell hold these values, 0 included."""
    numbers = {"red": 1, "blue": 2, "yellow": 3, "click": 7, "block": 8, "basic": 10, "bomb": 11, "flask": 12, "weed": 16}
    numbers |= {"uncolored": 19, "by_piece": 20, "by_neighbor": 21, "by_power": 22, "goal": 9}
    channels = cell(game, x, y)
    return all(channels.get(numbers[name], 0) == value for name, value in values.items())


def tap(game, x, y=0, **expected):
    """Taps a cell and compares the event with what is expected of it."""
    event = game.tap(at(x, y))
    got = {name: event[name] for name in expected}
    assert got == expected, (got, expected)
    return event


# ---------------------------------------------------------------------------------------------------- §7: observation

SHOWN = {
    "a red basic that is a goal": ("rr", {}, {"basic.red": 90}, {0: 1, 1: 1, 7: 1, 9: 1, 10: 1, 15: 1, 22: 1, 23: 1}),
    "rock of 2": ("trr", {"t": "rock:2"}, {}, {0: 1, 8: 2, 21: 2, 22: 2}),
    "bubble, a goal, over red": (
        "trr",
        {"t": "bubble+basic.red"},
        {"bubble": 1},
        {0: 1, 1: 1, 7: 1, 8: 1, 9: 1, 10: 1, 15: 1, 20: 1, 22: 1, 23: 1},
    ),
    "cage over blue": (
        "trr",
        {"t": "cage+basic.blue"},
        {},
        {0: 1, 2: 1, 7: 1, 8: 1, 10: 1, 15: 1, 21: 1, 22: 2, 23: 1},
    ),
    "cage over bomb": ("trr", {"t": "cage+bomb"}, {}, {0: 1, 7: 1, 8: 1, 11: 1, 15: 1, 20: 1, 21: 1, 22: 2}),
    "blue pot of 3": ("trr", {"t": "pot.blue:3"}, {}, {0: 1, 2: 3, 8: 3, 15: 3, 21: 3, 22: 3}),
    "mushroom": ("trr", {"t": "mushroom.red"}, {}, {0: 1, 1: 1, 8: 1, 21: 1, 22: 1}),
    "butterfly": ("trr", {"t": "butterfly"}, {"butterfly": 1}, {0: 1, 8: 2, 9: 2, 15: 2, 19: 2, 21: 2, 22: 2}),
    "polaroid": ("trr", {"t": "polaroid"}, {}, {0: 1, 8: 2, 15: 2, 17: 2, 21: 2, 22: 2}),
    "chest": ("trr", {"t": "chest"}, {}, {0: 1, 8: 2, 17: 2, 21: 2, 22: 2}),
    "weed": ("trr", {"t": "weed"}, {}, {0: 1, 8: 1, 16: 1, 21: 1, 22: 1}),
    "weed, all of them": ("trr", {"t": "weed"}, {"weed": "all"}, {0: 1, 8: 1, 9: 1, 16: 1, 21: 1, 22: 1}),
    "flask": ("R#rr", {}, {}, {0: 1, 1: 1, 7: 1, 12: 1, 15: 1, 20: 1, 22: 1}),
    "rocket, goal power": ("-#rr", {}, {"power": 1}, {0: 1, 7: 1, 9: 1, 13: 1, 15: 1, 20: 1, 22: 1}),
    "other rocket, goal rocket": ("-#rr", {}, {"rocket": 1}, {0: 1, 7: 1, 9: 1, 13: 1, 15: 1, 20: 1, 22: 1}),
    "rocket, goal rocket": ("|#rr", {}, {"rocket": 1}, {0: 1, 7: 1, 9: 1, 14: 1, 15: 1, 20: 1, 22: 1}),
    "bomb, goal rocket": ("*#rr", {}, {"rocket": 1}, {0: 1, 7: 1, 11: 1, 15: 1, 20: 1, 22: 1}),
    "dandelion": ("trr", {"t": "dandelion"}, {}, {0: 1, 8: 1, 15: 1, 21: 1, 22: 1}),
    "chestnut": ("trr", {"t": "chestnut"}, {}, {0: 1, 8: 2, 15: 2, 21: 2, 22: 2}),
    "sunflower": ("trr", {"t": "sunflower"}, {}, {0: 1, 8: 3, 15: 3, 21: 3, 22: 3}),
    "snail": ("trr", {"t": "snail"}, {}, {0: 1, 8: 1, 15: 1, 22: 1}),
    "stump": ("trr", {"t": "stump"}, {}, {0: 1, 8: 1, 22: 1}),
    "beehive, goal bee": ("trr", {"t": "beehive"}, {"bee": 3}, {0: 1, 8: 1, 9: 1, 18: 1, 21: 1, 22: 1}),
    "sprinkler": ("trr", {"t": "sprinkler"}, {}, {0: 1, 8: 1, 18: 1, 21: 1, 22: 1}),
    "dispenser": ("trr", {"t": "dispenser"}, {}, {0: 1, 8: 1, 18: 1, 21: 1, 22: 1}),
    "bucket": ("trr", {"t": "bucket"}, {}, {0: 1, 8: 1, 15: 1, 18: 1, 21: 1, 22: 1}),
    "inactive": ("#rr", {}, {}, {}),
}


@vector
def channels(start_game):
    for name, (row, legend, goals, expected) in SHOWN.items():
        assert cell(start_game(level(row, legend=legend, goals=goals), 0), 0) == expected, name


@vector
def channels_of_large_pieces(start_game):
    """All four cells show what the whole piece has; of a crate's colors those count that a goal wants."""
    crate = {"t": {"kind": "gnomes", "colors": {"red": 2, "blue": 3}}}
    for kind, goals, expected in (
        ({"t": "bush"}, {"bush": 10}, {0: 1, 8: 10, 9: 10, 21: 10, 22: 10}),
        ({"t": "basket"}, {}, {0: 1, 8: 3, 22: 3}),
        (crate, {}, {0: 1, 1: 2, 2: 3, 8: 5, 21: 5, 22: 5}),
        (crate, {"gnomes": 5}, {0: 1, 1: 2, 2: 3, 8: 5, 9: 5, 21: 5, 22: 5}),
        (crate, {"gnomes.blue": 3}, {0: 1, 1: 2, 2: 3, 8: 5, 9: 3, 21: 5, 22: 5}),
        (crate, {"gnomes.blue": 3, "gnomes.red": 2}, {0: 1, 1: 2, 2: 3, 8: 5, 9: 5, 21: 5, 22: 5}),
    ):
        game = start_game(level("ttrr", "ttbb", legend=kind, goals=goals), 0)
        assert [cell(game, x, y) for x in (0, 1) for y in (0, 1)] == [expected] * 4, kind
    game = start_game(level("#SS", "#SS", "rbb", legend={"S": "seedbox"}, goals={"seedbox": 1}), 0)
    assert cell(game, 2, 2) == {0: 1, 8: 1, 9: 1, 15: 1}


@vector
def goal_channel_ends_with_the_goal(start_game):
    """What is collected in full is wanted no more."""
    game = start_game(level("rr#1bb#2", legend={1: "rock:1", 2: "rock:2"}, goals={"rock": 1, "basic.pink": 90}), 0)
    assert has(game, 7, goal=2)
    tap(game, 4, collected=[1, 0], hits=3)
    assert has(game, 7, goal=0, block=2)


@vector
def three_more_channels(start_game):
    """24: what can be destroyed, 25: what cannot, 26: always 0."""
    game = start_game(level("ctzrr", legend={"c": "cage+chestnut", "t": "rock:4", "z": "beehive"}), 0)
    late = [{c: v for c, v in cell(game, x, channels=27).items() if c > 23} for x in range(4)]
    assert late == [{24: 3}, {24: 4}, {25: 1}, {24: 1}]


# ------------------------------------------------------------------------------------------- §3: which taps are valid


@vector
def valid_taps(start_game):
    """Pairs and power pieces; not what is alone, caged or no basic. Bubbles do not matter, holes cut clusters."""
    legend = {"c": "cage+basic.red", "u": "bubble+basic.red", "x": "cage+bomb", "d": "dandelion"}
    game = start_game(level("rr#rc#ur#xd*#", "r#r#b#b#y#y##", legend=legend), 0)
    assert list(game.valid()) == [at(0, 0)] + [at(x, 1) for x in (0, 1, 6, 7, 11)]


@vector
def invalid_taps(start_game):
    """They change nothing but two counters: nothing heals, spreads or is drawn."""
    game = start_game(level("rrw#b", legend={"w": "weed"}, goals={"weed": "all"}), 5)
    board, rng, moves, score = [int(v) for v in game.board()], int(game.rng), game.moves, game.score
    for a in (at(2), at(3), at(4), 116):
        event = game.tap(a)
        assert (event["valid"], event["collected"], event["hits"], event["cluster"]) == (False, [0], 0, 0)
        assert (event["created"], event["used"], event["combo"], event["score"], event["draws"]) == (0, 0, 0, 0, 0)
        assert list(event["colors"]) == [0] * 6
    assert (game.taps, game.invalid_taps, game.moves, game.score) == (4, 4, moves, score)
    assert ([int(v) for v in game.board()], int(game.rng)) == (board, rng)


# ----------------------------------------------------------------------------------------------- §4.2: clusters, §4.13


@vector
def thresholds(start_game):
    """5 make a rocket, 8 a bomb, 10 a flask of the cluster's color, in the tapped cell."""
    for n in (2, 4, 5, 6, 7, 8, 9, 10, 13):
        for x in (0, n - 1):
            game = start_game(level("r" * n, goals={"basic.red": 90}), 3)
            tap(game, x, valid=True, hits=n, cluster=n, created=int(n >= 5), used=0, combo=0)
            assert game.score == n + (n - 2) ** 2
            assert game.remaining() == [90 - n]
            channels = cell(game, x)
            assert channels.get(13, 0) + channels.get(14, 0) == (5 <= n <= 7), n
            assert (channels.get(11, 0), channels.get(12, 0)) == (int(8 <= n <= 9), int(n >= 10)), n
            if n >= 10:
                assert channels[1] == 1
            if n >= 5:
                assert game.draws == n - 1 + (n <= 7), n


@vector
def directions_of_new_rockets(start_game):
    """§4.2: the first draw of the tap: 0 is horizontal, 1 vertical."""
    found = set()
    for seed in range(8):
        game = start_game(level("rrrrr"), seed)
        tap(game, 2, created=1)
        vertical = draws(seed, 2, 1)[0]
        assert cell(game, 2)[13 + vertical] == 1
        found.add(vertical)
    assert found == {0, 1}


def draws(seed, n, count):
    """The first numbers below n that splitmix64 gives from this seed, §2.3."""
    numbers = []
    for k in range(1, count + 1):
        z = (seed + k * 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        numbers.append(((z ^ (z >> 31)) >> 32) * n >> 32)
    return numbers


@vector
def chance(start_game):
    """§2.3: the published numbers; a basic is drawn by weight, cells ascending; the word moves on with each draw."""
    assert draws(42, 5, 20) == [3, 0, 1, 1, 0, 4, 1, 4, 1, 3, 1, 2, 2, 2, 3, 1, 0, 2, 0, 3]
    colors = ["red", "blue", "yellow", "orange", "purple"]
    game = start_game(level("..........", ".....rr...", colors=colors), 42)
    kinds = draws(42, 5, 18)
    cells = [(x, 0) for x in (0, 1, 2, 3, 4, 7, 8, 9)] + [(x, 1) for x in range(10)]
    assert [next(c for c in range(6) if has_color(game, p, c)) for p in cells] == kinds
    assert game.draws == 18
    assert int(game.rng) == (42 + 18 * 0x9E3779B97F4A7C15) % 2**64
    game = start_game(level(".....rr", colors=["pink", "blue"], weights=[1, 3]), 42)
    assert [has_color(game, (x, 0), 5) for x in range(5)] == [r == 0 for r in draws(42, 4, 5)]


def has_color(game, place, color):
    return cell(game, *place).get(1 + color, 0) == 1


@vector
def copied_tap_equals_the_tap(start_game):
    game = start_game(level("....", "....", "rr..", legend={}), 9)
    twin = game.copy()
    one, other = game.tap(at(0)), twin.tap(at(0))
    assert one == other
    assert [int(v) for v in game.board()] == [int(v) for v in twin.board()]
    assert game.snapshot() == twin.snapshot()


# ------------------------------------------------------------------------------------ §4.3, §4.4: power pieces


@vector
def one_bomb(start_game):
    game = start_game(level(*checkered(7, 7, {(3, 3): "*"}), goals={"basic": 90, "bomb": 1}), 0)
    event = tap(game, 3, 3, hits=20, used=1, combo=0, cluster=0, created=0, score=20, collected=[20, 1])
    assert sum(event["colors"]) == 20


@vector
def two_bombs(start_game):
    game = start_game(level(*checkered(7, 7, {(3, 3): "*", (2, 3): "*"}), goals={"bomb": 2, "basic.pink": 90}), 0)
    tap(game, 3, 3, hits=47, used=2, combo=1, score=47, collected=[2, 0])


@vector
def corners_of_a_bomb(start_game):
    """A bomb leaves the four corners of its square, two bombs do not."""
    rocks = {(1, 1): "t", (1, 2): "t", (5, 5): "t", (0, 0): "t"}
    for signs, hurt in (({(3, 3): "*"}, [(1, 2)]), ({(3, 3): "*", (3, 4): "*"}, list(rocks))):
        game = start_game(level(*checkered(7, 7, rocks | signs), legend={"t": "rock:2"}), 0)
        tap(game, 3, 3)
        assert [p for p in rocks if has(game, *p, block=1)] == sorted(hurt, key=list(rocks).index)


COMBINATIONS = {
    "cross": ({(3, 3): "-", (2, 3): "|"}, (3, 3), 5 + 9 - 1 - 2),
    "cross of two horizontal": ({(3, 3): "-", (2, 3): "-"}, (2, 3), 5 + 9 - 1 - 2),
    "three rows": ({(3, 3): "*", (2, 3): "-"}, (3, 3), 3 * 9 - 2),
    "three columns": ({(3, 3): "*", (2, 3): "|"}, (3, 3), 3 * 5 - 2),
    "three columns from the rocket": ({(3, 3): "*", (2, 3): "|"}, (2, 3), 3 * 5 - 2),
    "two columns at the edge": ({(1, 0): "*", (0, 0): "|"}, (0, 0), 2 * 5 - 2),
    "the tapped rocket's direction": ({(2, 2): "-", (3, 2): "*", (4, 2): "|"}, (4, 2), 3 * 5 - 2),
    "the lowest rocket's direction": ({(2, 2): "-", (3, 2): "*", (4, 2): "|"}, (3, 2), 3 * 9 - 3),
    "two bombs before rockets": ({(4, 2): "*", (3, 2): "*", (5, 2): "|"}, (4, 2), 5 * 7 - 3),
    "everything": ({(0, 0): "R", (0, 1): "B"}, (0, 0), 9 * 5 - 2),
}


@vector
def combinations(start_game):
    for name, (signs, tapped, hits) in COMBINATIONS.items():
        game = start_game(level(*checkered(9, 5, signs), goals={"power": 9, "basic": 90}), 0)
        event = tap(game, *tapped, combo=1, created=0, cluster=0)
        used = len(signs) if name != "everything" else 2
        # "three columns from x = 4" leaves the horizontal rocket's column out of it, but the rocket is used up all the same.
        gone = sum(event["colors"])
        assert (event["used"], event["hits"], gone) == (used, hits, hits), name
        assert event["collected"] == [used, hits], name


@vector
def convert_to_bombs(start_game):
    """Each basic of the color is cleared, counts, and goes off as a bomb; the caged one is left alone by the change."""
    game = start_game(level("R*byrbyb", goals={"basic.red": 9, "power": 9, "basic": 90}), 0)
    tap(game, 0, hits=1 + 4, used=3, combo=1, created=0, collected=[1, 3, 5])
    game = start_game(level("*Rb#b#c#rb", legend={"c": "cage+basic.red"}), 0)
    tap(game, 0, hits=1 + 1 + 1, used=3)
    assert has(game, 6, block=0, red=1)


@vector
def color_of_a_conversion(start_game):
    """With one flask it is the flask's color, wherever the tap was."""
    for x in (0, 1):
        game = start_game(level("*B##r#b", goals={"basic.blue": 9, "basic.red": 9}), 0)
        tap(game, x, used=3, collected=[1, 1])


@vector
def convert_to_rockets(start_game):
    """Every direction is drawn anew."""
    seen = set()
    for seed in range(8):
        game = start_game(level("########b", "R-byrbyb", goals={"power": 9, "basic": 90}), seed)
        event = tap(game, 0, used=3, combo=1)
        assert event["hits"] == (1 if draws(seed, 2, 1)[0] else 6)
        seen.add(event["hits"])
    assert seen == {1, 6}


@vector
def nothing_is_lit_twice(start_game):
    """What waits to go off is not queued again and not turned any more."""
    game = start_game(level("R*##rbr", goals={"power": 9}), 0)
    tap(game, 0, hits=2 + 1, used=4)
    seed = next(seed for seed in range(99) if draws(seed, 2, 2) == [0, 0])
    game = start_game(level("#####b", "R-#rbr", goals={"power": 9}), seed)
    tap(game, 0, hits=2 + 1, used=4)


@vector
def first_lit_first_used(start_game):
    """The lower rocket goes first and turns the third one, so that the rock is hit once and not twice."""
    signs = {(4, 3): "*", (3, 1): "-", (6, 4): "|", (6, 1): "-", (8, 1): "t"}
    game = start_game(level(*checkered(9, 5, signs), legend={"t": "rock:3"}), 0)
    tap(game, 4, 3, used=4)
    assert has(game, 8, 1, block=2)


@vector
def rocket_turned_by_rocket(start_game):
    """A beam turns the rocket that lies along it; one across it fires as it lies."""
    for sign, hits in (("-", 3 + 2), ("|", 3 + 2)):
        game = start_game(level("byrby", "rbybr", f"-by{sign}r"), 0)
        tap(game, 0, hits=hits, used=2, combo=0)
    for sign, hits in (("-", 1 + 3), ("|", 1 + 3)):
        game = start_game(level(f"{sign}byr", "ryrb", "|rby"), 0)
        tap(game, 0, hits=hits, used=2, combo=0)


@vector
def bombs_turn_nothing(start_game):
    game = start_game(level("byrby", "*r-yb"), 0)
    tap(game, 0, hits=1 + 2 + 1 + 2, used=2)


@vector
def a_cross_turns_by_its_beams(start_game):
    """The row of a cross turns horizontal rockets and its column vertical ones."""
    game = start_game(level("|yrbyr", "ybyryb", "--b-yr"), 0)
    tap(game, 0, hits=3 + 1 + 2 + 4, used=4, combo=1)


@vector
def power_effects_pass_everything(start_game):
    """Holes and blockers stop no beam; a cage is all that the effect takes where it lies."""
    game = start_game(level("-#tcb", legend={"t": "rock:2", "c": "cage+basic.red"}), 0)
    tap(game, 0, hits=3, used=1)
    assert has(game, 2, block=1)
    assert has(game, 3, red=1, block=0)


@vector
def caged_power_pieces(start_game):
    """They are neither lit nor part of a combination."""
    game = start_game(level("-xbb", legend={"x": "cage+bomb"}), 0)
    tap(game, 0, hits=3, used=1, combo=0)
    assert has(game, 1, bomb=1, block=0)


@vector
def flasks(start_game):
    """All free basics of the color, the cages of caged ones, and one wave around what was cleared."""
    legend = {"c": "cage+basic.red", "t": "rock:3", "m": "mushroom.red", "n": "mushroom.blue", "u": "bubble+basic.red"}
    goals = {"basic.red": 9, "mushroom": 2, "bubble": 1}
    game = start_game(level("Rctr#rmrtu#yy", "n####n#######", legend=legend, goals=goals), 0)
    tap(game, 0, 1, hits=4 + 1 + 1 + 3, used=1, combo=0, collected=[4, 1, 1])
    assert has(game, 1, 1, red=1, block=0)
    assert [cell(game, *p)[8] for p in ((2, 1), (8, 1), (0, 0), (5, 0))] == [2, 2, 1, 1]
    assert has(game, 11, 1, yellow=1)


@vector
def large_pieces_take_one_hit(start_game):
    """A 2x2 piece is hit once by an effect, however many of its cells that covers."""
    game = start_game(level("bTTy", "*TTb", legend={"T": "basket"}, goals={"basket": 1, "basic": 90}), 0)
    tap(game, 0, hits=2, used=1, collected=[0, 1])
    assert has(game, 1, block=2)
    assert has(game, 2, 1, block=2)


@vector
def only_power_hurts_hard_things(start_game):
    game = start_game(level("rrs#t#-st", legend={"s": "snail", "t": "stump"}, goals={"snail": 2, "stump": 2}), 0)
    tap(game, 0, hits=2, collected=[0, 0])
    tap(game, 6, collected=[2, 2], used=1)


# ----------------------------------------------------------------------------------- §4.5, §4.6: neighbors and damage


@vector
def one_hit_per_wave(start_game):
    game = start_game(level("rrr", "r3r", legend={3: "rock:3"}), 0)
    tap(game, 0, hits=5 + 1, cluster=5)
    assert has(game, 1, block=2)
    game = start_game(level("rrrr", "rLLr", "rLLr", legend={"L": "bush"}, goals={"bush": 10}), 0)
    tap(game, 0, hits=8 + 1, collected=[1])
    assert has(game, 2, 1, block=9)


@vector
def units_of_a_bush(start_game):
    """Each hp is a unit, the last one too, and the whole bush is none."""
    game = start_game(level("rLL#LL", "rLL#LL", legend={"L": "bush:1"}, goals={"bush": 2}), 0)
    tap(game, 0, hits=3, collected=[1])
    assert game.remaining() == [1]


@vector
def no_diagonal_hits(start_game):
    game = start_game(level("1b", "br", "yr", legend={1: "rock:2"}), 0)
    tap(game, 1, hits=2)
    assert has(game, 0, 2, block=2)


@vector
def cages_and_colors(start_game):
    """A match opens cages over its color and over all that is no basic, and does not hurt what is below."""
    for thing, opened in (("basic.red", 1), ("basic.blue", 0), ("chestnut", 1), ("pot.blue:2", 1), ("bomb", 1)):
        game = start_game(level("rrc", legend={"c": f"cage+{thing}"}, goals={"cage": 1, "basic.pink": 90}), 0)
        before = cell(game, 2)
        tap(game, 0, hits=2 + opened, cluster=2, collected=[opened, 0])
        expected = dict(before)
        if opened:
            for channel in (8, 21, 22):
                expected[channel] -= 1
            expected = {c: v for c, v in expected.items() if v}
            expected.pop(9, None)
            before.pop(9, None)
        assert cell(game, 2) == expected, thing


@vector
def bubbles(start_game):
    """They go with the basic under them and in no other way, and hinder nothing."""
    legend = {"u": "bubble+basic.red", "v": "bubble+basic.blue"}
    game = start_game(level("ruv", legend=legend, goals={"bubble": 2}), 0)
    tap(game, 0, hits=3, cluster=2, collected=[1])
    assert has(game, 1, by_piece=0)
    assert has(game, 2, by_piece=1, blue=1)
    game = start_game(level("-uv", legend=legend, goals={"bubble": 2}), 0)
    tap(game, 0, hits=4, collected=[2], won=True)


@vector
def bubbles_stay_in_their_cells(start_game):
    """The piece under a bubble falls out of it, §4.7."""
    game = start_game(level("vy#", "rr#", "##yy", legend={"v": "bubble+basic.blue"}, goals={"bubble": 1}), 0)
    tap(game, 0, 1, hits=2)
    assert has(game, 0, 1, blue=1, by_piece=0)
    assert has(game, 0, 2, basic=1, by_piece=1)


@vector
def pieces_with_a_color(start_game):
    """A match hurts a pot or a mushroom of its color only; power pieces hurt all."""
    legend = {"a": "pot.red:2", "q": "pot.blue:2", "m": "mushroom.red", "n": "mushroom.blue"}
    goals = {"pot": 2, "mushroom.blue": 1, "mushroom.red": 1}
    game = start_game(level("arrq#nbbm", legend=legend, goals=goals), 0)
    tap(game, 1, hits=3, collected=[0, 0, 0])
    assert [cell(game, x)[8] for x in (0, 3)] == [1, 2]
    tap(game, 6, hits=3, collected=[0, 1, 0])
    game = start_game(level("-aq#mn", legend=legend, goals=goals), 0)
    tap(game, 0, hits=4, collected=[0, 1, 1])


@vector
def butterflies(start_game):
    """The first hit colors them: as the match, or by chance under a power piece. Then only their color hurts."""
    game = start_game(level("rrubb", legend={"u": "butterfly"}, goals={"butterfly": 1}), 0)
    tap(game, 0, hits=3, collected=[0])
    assert cell(game, 2) == {0: 1, 1: 1, 8: 1, 9: 1, 15: 1, 21: 1, 22: 1}
    tap(game, 3, hits=2, collected=[0])
    assert has(game, 2, red=1)
    found = set()
    for seed in range(8):
        game = start_game(level("-u", legend={"u": "butterfly"}, goals={"butterfly": 1}), seed)
        tap(game, 0, hits=1)
        color = COLORS[draws(seed, 4, 1)[0]]
        assert cell(game, 1)[{"red": 1, "blue": 2, "yellow": 3, "pink": 6}[color]] == 1
        found.add(color)
    assert len(found) > 1
    game = start_game(level("*u-", legend={"u": "butterfly"}, goals={"butterfly": 1}), 0)
    tap(game, 0, hits=2, used=2, collected=[1], won=True)


@vector
def gnomes(start_game):
    """A match takes one of its color, a power piece one of the first color that is left."""
    crate = {"G": {"kind": "gnomes", "colors": {"blue": 1, "pink": 2}}}
    goals = {"gnomes": 3, "gnomes.pink": 2}
    game = start_game(level("rGGb", "rGGb", legend=crate, goals=goals), 0)
    tap(game, 0, hits=2, collected=[0, 0])
    tap(game, 3, hits=3, collected=[1, 0])
    assert cell(game, 2, 1) == {0: 1, 6: 2, 8: 2, 9: 2, 21: 2, 22: 2}
    game = start_game(level("bGGy", "-GGb", legend=crate, goals=goals), 0)
    tap(game, 0, hits=2, collected=[1, 0])
    game = start_game(level("-GGb", "-GGb", "-GGb", "-GGb", legend=crate, goals={"gnomes": 6}), 0)
    tap(game, 0, combo=1, collected=[1])


@vector
def healing(start_game):
    """A hit on an open polaroid or chest heals in the next valid move without one; two hits in a row destroy it."""
    for kind in ("polaroid", "chest"):
        facts = level("rrabb#yy", legend={"a": kind}, goals={kind: 1})
        game = start_game(facts, 0)
        tap(game, 0, hits=3)
        assert has(game, 2, block=1)
        game.tap(at(5))
        assert has(game, 2, block=1)
        tap(game, 6, valid=True)
        assert has(game, 2, block=2)
        game = start_game(facts, 0)
        tap(game, 0)
        tap(game, 3, hits=3, collected=[1], won=True)


# -------------------------------------------------------------------------------- §4.7, §4.8: fall, drops, refill


@vector
def drops_leave_at_the_bottom(start_game):
    goals = {"seedbag": 1, "basic.pink": 90}
    game = start_game(level("sb", "rr", legend={"s": "seedbag"}, goals=goals), 0)
    tap(game, 0, hits=2 + 1, score=3, collected=[1, 0])
    assert has(game, 0, basic=1)
    game = start_game(level("sb", "rr", "#y", legend={"s": "seedbag"}, goals=goals), 0)
    tap(game, 0, 1, hits=2 + 1, collected=[1, 0])
    game = start_game(level("sb", "rr", "yb", legend={"s": "seedbag"}, goals=goals), 0)
    tap(game, 0, 1, hits=2, collected=[0, 0])
    assert cell(game, 0, 1) == {0: 1, 8: 1, 9: 1, 15: 1}


@vector
def large_drops(start_game):
    game = start_game(level("SS", "SS", "rr", "yb", legend={"S": "seedbox"}, goals={"seedbox": 1}), 0)
    tap(game, 0, 1, hits=2, collected=[0])
    assert [cell(game, x, y).get(15) for x in (0, 1) for y in (1, 2)] == [1] * 4
    assert has(game, 0, 1, block=1)
    assert has(game, 0, 3, basic=1)
    game = start_game(level("SS#", "SSy", "rby", "rbb", legend={"S": "seedbox"}, goals={"seedbox": 1}), 0)
    tap(game, 0, 1, hits=2)
    assert has(game, 0, 3, block=1)
    assert [cell(game, 0, y) for y in (0, 1)] == [{0: 1}] * 2
    game = start_game(level("SS", "SS", "rr", legend={"S": "seedbox"}, goals={"seedbox": 1}), 0)
    tap(game, 0, hits=2 + 1, collected=[1], won=True)


@vector
def drops_cannot_be_hurt(start_game):
    """Neither matches nor power pieces do; a cage holds them."""
    game = start_game(level("-sb", "rby", legend={"s": "seedbag"}, goals={"seedbag": 1}), 0)
    tap(game, 0, 1, hits=1, used=1, collected=[0])
    assert cell(game, 1, 1) == {0: 1, 8: 1, 9: 1, 15: 1}
    game = start_game(level("cb", "-y", "rb", legend={"c": "cage+seedbag"}, goals={"seedbag": 1}), 0)
    tap(game, 0, 1, hits=1, collected=[0])
    assert has(game, 0, 2, block=2)
    assert cell(game, 0, 1) == {0: 1}
    game = start_game(level("cb", "ry", "ry", legend={"c": "cage+seedbag"}, goals={"seedbag": 1}), 0)
    tap(game, 0, hits=2 + 1 + 1, collected=[1])


@vector
def feeding(start_game):
    """Drops that fall in from above: random, up to the limits on the board and in total."""
    feed = [{"piece": "seedbag", "per_mille": 1000, "max_on_board": 1, "total": 3}]
    facts = level("rr", "yb", "by", feed=feed, goals={"seedbag": 3})
    game = start_game(facts, 0)
    assert game.draws == 0
    tap(game, 0, 2, hits=2, draws=3 - 1)
    assert has(game, 0, 2, block=1)
    assert has(game, 1, 2, basic=1)
    game = start_game(level("rr", feed=feed, goals={"seedbag": 3, "basic.pink": 90}), 0)
    event = tap(game, 0, hits=2 + 3, collected=[3, 0])
    assert event["draws"] >= 5
    assert has(game, 0, basic=1)
    drawn = draws(0, 1000, 1)[0]
    for per_mille, units in ((drawn, 0), (drawn + 1, 1)):
        feed = [{"piece": "seedbag", "per_mille": per_mille, "max_on_board": 1, "total": 1}]
        game = start_game(level("rr", "yb", feed=feed, goals={"seedbag": 1}), 0)
        tap(game, 0, 1, hits=2)
        assert bool(cell(game, 0, 1).get(8)) == bool(units)


@vector
def shielded_cells(start_game):
    """Nothing falls past a static or caged piece: cells below it stay empty until it goes."""
    game = start_game(level("2y", "_b", "rr", legend={2: "rock:2"}), 0)
    assert cell(game, 0, 1) == {0: 1}
    assert game.draws == 0
    tap(game, 0, hits=2)
    assert [cell(game, 0, y) for y in (0, 1)] == [{0: 1}] * 2
    game = start_game(level("cy", "rr", legend={"c": "cage+basic.blue"}), 0)
    tap(game, 0, hits=2)
    assert cell(game, 0, 0) == {0: 1}
    assert has(game, 0, 1, blue=1, block=1)
    game = start_game(level("1rr", "_yb", legend={1: "rock:1"}, goals={"rock": 1, "basic.pink": 90}), 0)
    tap(game, 1, 1, hits=3, collected=[1, 0])
    assert [cell(game, 0, y).get(10) for y in (0, 1)] == [1, 1]


@vector
def holes_are_passed_through(start_game):
    game = start_game(level("b###", "####", "#y##", "rr#yy"), 0)
    tap(game, 0, hits=2)
    assert has(game, 0, 0, blue=1)
    assert has(game, 0, 3, basic=1)
    assert has(game, 1, 0, yellow=1)


@vector
def refilled_from_the_bottom(start_game):
    """Columns from the left, each from its lowest empty cell."""
    for seed in range(3):
        game = start_game(level("rrr", "rry"), seed)
        tap(game, 1, cluster=5)
        # The rocket's direction comes first; the tapped cell (1, 0) holds it.
        drawn = draws(seed, 4, 5)[1:]
        channels = [cell(game, *p) for p in ((0, 0), (0, 1), (1, 1), (2, 1))]
        assert [(1, 2, 3, 6)[d] for d in drawn] == [next(c for c in range(1, 7) if s.get(c)) for s in channels]


# ----------------------------------------------------------------------------------------- §4.9 to §4.11: end of turn


@vector
def sprinklers_and_dispensers(start_game):
    """Each hit puts one thing on a bare basic; they are never used up."""
    for kind, channel in (("sprinkler", 20), ("dispenser", 21)):
        game = start_game(level("rrt#bbby", legend={"t": kind}), 1)
        before = cell(game, 2)
        event = tap(game, 0, hits=3)
        assert cell(game, 2) == before
        found = [x for x in (0, 1, 4, 5, 6, 7) if cell(game, x).get(channel)]
        bare = [0, 1, 4, 5, 6, 7]
        assert found == [bare[draws(1, 6, 3)[2]]], kind
        assert event["draws"] >= 3


@vector
def no_place_to_spawn(start_game):
    """With no bare basic nothing is spawned and nothing drawn."""
    for kind in ("sprinkler", "dispenser"):
        game = start_game(level("t##", "|#u", legend={"t": kind, "u": "bubble+basic.red"}), 0)
        tap(game, 0, hits=1, used=1, draws=0)
        assert cell(game, 0) == {0: 1}
        assert has(game, 2, red=1, by_piece=1)


@vector
def buckets(start_game):
    """A hit bucket is gone and all around it is wet, blockers too; a bush of 10 shows 11."""
    legend = {"L": "bush", "g": "bucket"}
    game = start_game(level("bybLL", "rrgLL", "ybyby", legend=legend, goals={"bubble": 9, "bush": 10}), 0)
    tap(game, 0, 1, hits=3, collected=[0, 0])
    wet = [(x, y) for x in range(5) for y in range(3) if cell(game, x, y).get(20)]
    assert wet == [(x, y) for x in (1, 2, 3) for y in (0, 1, 2)]
    assert cell(game, 3, 1) == {0: 1, 8: 11, 9: 11, 20: 1, 21: 10, 22: 10}
    for row, first in (("rrg", 1), ("##########rrg", 11)):  # in the upper row, at its right end too
        game = start_game(level(row, *["#"] * 8, legend=legend, goals={"bubble": 9}), 0)
        tap(game, first, 8, hits=3, collected=[0])
        assert [(x, y) for x in range(13) for y in range(9) if cell(game, x, y).get(20)] == [(first, 8), (first + 1, 8)]


@vector
def beehives(start_game):
    game = start_game(level("rrzbb", legend={"z": "beehive"}, goals={"bee": 2}), 0)
    tap(game, 0, hits=3, collected=[1], won=False)
    tap(game, 3, hits=3, collected=[1], won=True)
    assert has(game, 2, block=1)


@vector
def spreading(start_game):
    """To a nearest bare basic, when no weed was attacked."""
    legend = {"w": "weed", "u": "bubble+basic.blue", "c": "cage+basic.blue"}
    for row, tapped, grown in (("wb#rr", 3, [0, 1]), ("wrr#bw", 1, [5]), ("wub#rr", 4, [0, 2]), ("wcb#rr", 4, [0, 2])):
        game = start_game(level(row, legend=legend, goals={"weed": "all"}), 0)
        count = row.count("w")
        assert game.remaining() == [count]
        tap(game, tapped, collected=[int(len(grown) == 1)], won=False)
        assert [x for x in range(len(row)) if has(game, x, weed=1)] == grown, row
        assert game.remaining() == [len(grown)]
    game = start_game(level("wrr#bb", legend=legend), 0)
    tap(game, 1, hits=3)
    tap(game, 4)
    assert not any(has(game, x, weed=1) for x in range(6)), "none is left to spread"
    found = set()
    for seed in range(8):
        game = start_game(level("bwb#rr", legend=legend, goals={"weed": "all"}), seed)
        tap(game, 4)
        grown = [x for x in (0, 2) if has(game, x, weed=1)]
        assert grown == [(0, 2)[draws(seed, 2, 3)[2]]]
        found.update(grown)
    assert found == {0, 2}


# ------------------------------------------------------------------------------------- §4.12: no tap left; §6: the end


@vector
def shuffles(start_game):
    """Colors are permuted until there is a tap, at the start and after a move; nothing else moves."""
    counts = set()
    for seed in range(6):
        game = start_game(level("rbr", goals={"basic.red": 9}), seed)
        colors, numbers, shuffles = [1, 2, 1], iter(range(1, 99)), 0
        while colors[1] == 2:
            for k in (2, 1):
                j = draws(seed, k + 1, next(numbers))[-1]
                colors[k], colors[j] = colors[j], colors[k]
            shuffles += 1
        assert [cell(game, x)[color] for x, color in enumerate(colors)] == [1, 1, 1]
        assert (game.shuffles, game.draws) == (shuffles, 2 * shuffles)
        counts.add(shuffles)
    assert max(counts) > 1
    game = start_game(level("rrt#bu", legend={"t": "rock:5", "u": "bubble+basic.blue"}, goals={"basic.red": 9}), 0)
    assert (game.shuffles, game.draws) == (0, 0)
    game = start_game(level("u#ry#yb", legend={"u": "bubble+basic.blue"}, goals={"basic.red": 9}), 0)
    assert has(game, 0, blue=1)
    assert game.shuffles >= 1


@vector
def last_resort(start_game):
    """After a hundred permutations that gave no tap, one basic takes the color of another; or the board is dead."""
    game = start_game(level("rb", goals={"basic.red": 9}), 0)
    assert list(game.valid()) == [at(0), at(1)]
    assert cell(game, 0) == cell(game, 1)
    assert game.draws == 100
    swaps = draws(0, 2, 100).count(0)
    assert cell(game, 0)[1 + swaps % 2] == 1
    game = start_game(level("r#b", goals={"basic.red": 9}), 0)
    assert list(game.valid()) == []
    assert game.draws == 100
    assert game.tap(at(0))["valid"] is False
    legend = {"u": "bubble+basic.red", "v": "bubble+basic.blue", "c": "cage+basic.yellow"}
    game = start_game(level("v#", "uc", legend=legend, goals={"basic.red": 9}), 0)
    assert list(game.valid()) == [at(0), at(0, 1)]
    assert (game.draws, [cell(game, 0, y)[1] for y in (0, 1)]) == (0, [1, 1])
    game = start_game(level("u#", "vu", legend=legend, goals={"basic.red": 9}), 0)
    assert list(game.valid()) == [at(0), at(1)]
    assert [has(game, 0, 0, blue=1), has(game, 1, 0, blue=1), has(game, 0, 1, red=1)] == [True] * 3


@vector
def dead_boards(start_game):
    """A weed overgrows the last pair: the game is lost."""
    game = start_game(level("rr#w", legend={"w": "weed"}, goals={"weed": "all"}), 4, strict_moves=False)
    tap(game, 0, dead=True, lost=True, won=False, draws=2 + 1)
    assert has(game, 1, weed=1)
    assert not len(game.valid())


@vector
def surplus_is_not_counted(start_game):
    game = start_game(level("rrr#b", goals={"basic.red": 2, "basic.pink": 90}), 0)
    event = tap(game, 0, hits=3, collected=[2, 0])
    assert game.remaining() == [0, 90]
    assert event["colors"][0] == 3


@vector
def win(start_game):
    """The goal ends the game at once: nothing spreads or heals after it; the reward includes the moves left."""
    facts = level("rr#wb", legend={"w": "weed"}, goals={"basic.red": 2})
    game = start_game(facts, 0)
    event = tap(game, 0, won=True, lost=False, dead=False, truncated=False)
    assert has(game, 4, blue=1)
    assert list(game.valid()) == []
    rewards = game.rewards(event)
    assert {name: int(value) for name, value in rewards.items()} == {
        "goal_1": 2,
        "goal_2": 0,
        "goal_3": 0,
        "goal_4": 0,
        "goals": 2,
        "win": 1,
        "step": -1,
        "move": -1,
        "invalid": 0,
        "moves_saved": 19,
        "created": 0,
        "used": 0,
        "combo": 0,
        "score": 2,
        "color_1": 2,
        "color_2": 0,
        "color_3": 0,
        "color_4": 0,
        "color_5": 0,
        "color_6": 0,
    }
    again = game.tap(at(3))
    assert again["valid"] is False


@vector
def out_of_moves(start_game):
    """The last move without a win loses under strict moves, and does not otherwise."""
    facts = level("rr#bb#yy", moves=2)
    for strict in (True, False):
        game = start_game(facts, 0, strict_moves=strict)
        tap(game, 0, lost=False)
        tap(game, 2, valid=False, lost=False)
        tap(game, 3, valid=True, lost=strict, won=False, dead=False)
        assert (not len(game.valid())) == strict


@vector
def too_many_taps(start_game):
    for most, taps in ((3, 3), (None, 40)):
        game = start_game(level("rr#b", moves=2), 0, max_taps=most)
        cut = [game.tap(at(3))["truncated"] for _ in range(taps)]
        assert cut == [False] * (taps - 1) + [True]
