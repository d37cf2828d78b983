"""The oracle: MO-TileBlast from the text of its rules alone, with plain objects, lists and dicts. It imports nothing of ours.

Cells are numbered i = x + 13 * y, y upwards. § cites momagames/games/tileblast/SPEC.md. What a level may say is not
checked: only good levels come here.
"""

from copy import deepcopy

WIDTH, HEIGHT = 13, 9
CELLS = range(WIDTH * HEIGHT)
COLORS = ["red", "blue", "yellow", "orange", "purple", "pink"]
POWERS = ("rocket_h", "rocket_v", "bomb", "flask")
WORD = 2**64

# §1.1: kind -> size, usual hp, what holds of it. "n", "p": hurt by neighbor matches, by power effects; "own": a neighbor
# match must have its color; "units": each hp is a unit of its goal; "endless": is never used up.
CATALOG = {
    "basic": (1, 1, "gravity p"),
    "rocket_h": (1, 1, "gravity p"),
    "rocket_v": (1, 1, "gravity p"),
    "bomb": (1, 1, "gravity p"),
    "flask": (1, 1, "gravity p"),
    "rock": (1, 1, "n p"),
    "dandelion": (1, 1, "gravity n p"),
    "chestnut": (1, 2, "gravity n p"),
    "sunflower": (1, 3, "gravity n p"),
    "pot": (1, 1, "gravity n p own"),
    "mushroom": (1, 1, "n p own"),
    "snail": (1, 1, "gravity p"),
    "stump": (1, 1, "p"),
    "basket": (2, 3, "p"),
    "bush": (2, 10, "n p units"),
    "gnomes": (2, 0, "n p units"),
    "butterfly": (1, 2, "gravity n p own takes_color"),
    "polaroid": (1, 2, "gravity n p heals"),
    "chest": (1, 2, "n p heals"),
    "weed": (1, 1, "n p"),
    "seedbag": (1, 1, "gravity leaves"),
    "seedbox": (2, 1, "gravity leaves"),
    "beehive": (1, 1, "n p endless spawner"),
    "sprinkler": (1, 1, "n p endless spawner"),
    "dispenser": (1, 1, "n p endless spawner"),
    "bucket": (1, 1, "gravity n p spawner"),
}
SPAWNS = {"sprinkler": "bubble", "dispenser": "dandelion", "bucket": "bubble3x3"}
# §6: under which other names a kind is collected.
ALSO = {"rocket_h": ("rocket", "power"), "rocket_v": ("rocket", "power"), "bomb": ("power",), "flask": ("power",)}


def at(x, y):
    return x + WIDTH * y


def place(i):
    return i % WIDTH, i // WIDTH


def list_neighbors(i):
    """Return the cells that share a side with cell i, ascending."""
    x, y = place(i)
    beside = [(x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)]
    return [at(p, q) for p, q in beside if 0 <= p < WIDTH and 0 <= q < HEIGHT]


NEIGHBORS = [list_neighbors(i) for i in CELLS]


def row(y):
    return [at(x, y) for x in range(WIDTH)] if 0 <= y < HEIGHT else []


def column(x):
    return [at(x, y) for y in range(HEIGHT)] if 0 <= x < WIDTH else []


def around(i, reach):
    """Return the square of cells up to `reach` columns and rows away from cell i."""
    x, y = place(i)
    return [j for j in CELLS if abs(place(j)[0] - x) <= reach and abs(place(j)[1] - y) <= reach]


class Piece:
    def __init__(self, kind, hp=None, max_hp=None, color=None, crowd=None):
        self.kind, self.color, self.crowd = kind, color, dict(crowd) if crowd else None
        self.hp = hp or (sum(crowd.values()) if crowd else CATALOG[kind][1])
        self.max_hp = max_hp or self.hp
        self.size, words = CATALOG[kind][0], CATALOG[kind][2].split()
        self.words = set(words)
        self.anchor, self.hit, self.lit = None, False, False

    def is_(self, word):
        return word in self.words

    def cells(self):
        i = self.anchor
        return [i] if self.size == 1 else [i, i + 1, i + WIDTH, i + WIDTH + 1]

    def hp_for(self, goal):
        """Return the hit points that count for the unit of a goal (§6)."""
        if self.crowd is not None and goal.startswith("gnomes."):
            return self.crowd.get(COLORS.index(goal.split(".")[1]), 0)
        name = "bee" if self.kind == "beehive" else self.kind
        return self.hp if goal in names(name, self.color) else 0


def names(kind, color=None):
    """Return all names of a unit in goals (§6)."""
    return {kind, *ALSO.get(kind, ()), *([f"{kind}.{COLORS[color]}"] if color is not None else ())}


def read_thing(text):
    """Return the thing of a legend entry, as {cover, kind, color, hp, crowd}: 'cover+kind.color:hp' or {kind, colors, hp}
    (§10)."""
    if isinstance(text, dict):
        crowd = {COLORS.index(name): n for name, n in text.get("colors", {}).items()} or None
        return {"cover": None, "kind": text["kind"], "color": None, "hp": text.get("hp"), "crowd": crowd}
    cover, _, rest = text.rpartition("+")
    rest, _, hp = rest.partition(":")
    kind, _, color = rest.partition(".")
    color = COLORS.index(color) if color else None
    return {"cover": cover or None, "kind": kind, "color": color, "hp": int(hp) if hp else None, "crowd": None}


def fixed_signs():
    signs = {".": "basic", "-": "rocket_h", "|": "rocket_v", "*": "bomb"}
    for small, name in zip("rbyopk", COLORS, strict=True):
        signs[small], signs[small.upper()] = f"basic.{name}", f"flask.{name}"
    return signs


class Naive:
    """One game of a level. `moves`, `taps`, `score`, `shuffles` and `draws` are totals since the start."""

    def __init__(self, level, seed, strict_moves=True, max_taps=None):
        things = self._read(level, strict_moves, max_taps)
        self.rng = seed % WORD
        self._generate(things)

    @classmethod
    def from_position(cls, level, position, strict_moves=True, max_taps=None):
        """Return the game at {pieces, covers, counters, rng}, the form of `snapshot`; missing keys are empty or 0."""
        game = cls.__new__(cls)
        game._read(level, strict_moves, max_taps)
        game.rng = position.get("rng", 0)
        for x, y, kind, hp, max_hp, color in position.get("pieces", []):
            crowd = {COLORS.index(name): n for name, n in color.items()} if isinstance(color, dict) else None
            color = COLORS.index(color) if isinstance(color, str) else None
            game._put(at(x, y), Piece(kind, hp, max_hp, color, crowd))
        game.covers = {at(x, y): name for x, y, name in position.get("covers", [])}
        for name, value in position.get("counters", {}).items():
            setattr(game, name, deepcopy(value))
        return game

    COUNTERS = ("moves", "taps", "invalid_taps", "score", "shuffles", "draws", "collected", "fed", "won", "dead", "lost")

    def snapshot(self):
        """Return the whole position as plain comparable data, see `from_position`."""
        pieces = []
        for piece in self._pieces():
            color = None if piece.color is None else COLORS[piece.color]
            if piece.crowd is not None:
                color = {COLORS[c]: n for c, n in sorted(piece.crowd.items()) if n}
            pieces.append([*place(piece.anchor), piece.kind, piece.hp, piece.max_hp, color])
        covers = [[*place(i), name] for i, name in sorted(self.covers.items())]
        counters = {name: deepcopy(getattr(self, name)) for name in self.COUNTERS}
        return {"pieces": pieces, "covers": covers, "counters": counters, "rng": self.rng}

    def copy(self):
        return deepcopy(self)

    # ------------------------------------------------------------------------------------------------ §2, §10: the start

    def _read(self, level, strict_moves, max_taps):
        self.limit, self.strict = level["moves"], strict_moves
        self.max_taps = 20 * self.limit if max_taps is None else max_taps
        palette = [COLORS.index(name) for name in level["colors"]]
        self.palette = list(zip(palette, level.get("weights") or [1] * len(palette), strict=True))
        self.goals = [(goal["collect"], goal["amount"]) for goal in level["goals"]]
        self.feed = [dict(entry, piece=read_thing(entry["piece"])) for entry in level.get("feed") or []]
        signs = fixed_signs() | {str(sign): text for sign, text in (level.get("legend") or {}).items()}
        lines = level["layout"].split()
        drawn = {at(x, HEIGHT - 1 - r): sign for r, line in enumerate(lines) for x, sign in enumerate(line)}
        self.active = dict.fromkeys(i for i in CELLS if drawn[i] != "#")  # ascending
        self.grid, self.covers = {}, {}
        self.moves = self.taps = self.invalid_taps = self.score = self.shuffles = self.draws = 0
        self.collected, self.fed = [0] * len(self.goals), [0] * len(self.feed)
        self.won = self.dead = self.lost = False
        self._begin_move()
        things, filled = {}, set()
        for i in self.active:
            if drawn[i] != "_" and i not in filled:
                things[i] = read_thing(signs[drawn[i]])
                if CATALOG[things[i]["kind"]][0] == 2:
                    filled |= {i, i + 1, i + WIDTH, i + WIDTH + 1}
        return things

    def _generate(self, things):
        """§2.2: place the level, draw the colors of random basics, settle, resolve a deadlock."""
        for i, thing in things.items():
            if thing["cover"]:
                self.covers[i] = thing["cover"]
            if thing["kind"] != "basic" or thing["color"] is not None:
                self._put(i, self._make(thing))
        for i in things:
            if i not in self.grid:
                self._put(i, Piece("basic", color=self._draw_color()))
        self._settle()
        self._resolve_deadlock()
        self._begin_move()

    def _make(self, thing):
        return Piece(thing["kind"], thing["hp"], color=thing["color"], crowd=thing["crowd"])

    def _put(self, i, piece):
        piece.anchor = i
        for cell in piece.cells():
            self.grid[cell] = piece

    def _remove(self, piece):
        for cell in piece.cells():
            del self.grid[cell]

    def _pieces(self):
        """Return all pieces, by anchor."""
        return [piece for i, piece in sorted(self.grid.items()) if piece.anchor == i]

    # ----------------------------------------------------------------------------------------------------- §2.3: chance

    def _below(self, n):
        self.rng = (self.rng + 0x9E3779B97F4A7C15) % WORD
        self.draws += 1
        z = self.rng
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        z = z ^ (z >> 31)
        return ((z >> 32) * n) >> 32

    def _draw_color(self):
        r = self._below(sum(weight for _, weight in self.palette))
        for color, weight in self.palette:
            if r < weight:
                return color
            r -= weight
        raise AssertionError(r)

    # ------------------------------------------------------------------------------------------------ §3: taps that count

    def _free(self, i, kinds=("basic",)):
        """Return the uncaged piece of one of these kinds at cell i, or None. A bubble leaves a piece free."""
        piece = self.grid.get(i)
        return piece if piece and piece.kind in kinds and self.covers.get(i) != "cage" else None

    def _bare_basics(self):
        """Return the cells of basics without a cover, ascending."""
        return [i for i in self.active if self._free(i) and i not in self.covers]

    def _group(self, i, kinds):
        """Return the cells connected with cell i by uncaged pieces of these kinds (basics: of its color), ascending."""
        color, found, todo = self.grid[i].color, {i}, [i]
        while todo:
            for j in NEIGHBORS[todo.pop()]:
                other = self._free(j, kinds)
                if other and j not in found and (other.kind != "basic" or other.color == color):
                    found.add(j)
                    todo.append(j)
        return sorted(found)

    def valid(self):
        """Return the valid taps, ascending."""
        if self.won or self.dead or self.lost:
            return []
        return [i for i in self.active if self._free(i, POWERS) or (self._free(i) and self._has_partner(i))]

    def _has_partner(self, i):
        """Return whether the group of a free basic has another cell."""
        partners = filter(None, map(self._free, NEIGHBORS[i]))
        return any(partner.color == self.grid[i].color for partner in partners)

    # ------------------------------------------------------------------------------------------------- §4.1: one valid tap

    def _begin_move(self):
        for piece in self.grid.values():
            piece.hit = False
        self.queue, self.spawns, self.weed_attacked = [], [], False
        self.event = {"valid": False, "collected": [0] * len(self.goals), "hits": 0, "cluster": 0, "created": 0, "used": 0}
        self.event |= {"combo": 0, "colors": [0] * 6}

    def tap(self, a):
        """Return the results of one tap. `collected`, `hits`, `score`, `shuffles` and `draws` are of this tap alone."""
        before = (self.score, self.shuffles, self.draws)
        valid = a in self.valid()
        self._begin_move()
        self.taps += 1
        if valid:
            self._move(a)
        else:
            self.invalid_taps += 1
        event = self.event
        for name, value in zip(("score", "shuffles", "draws"), before, strict=True):
            event[name] = getattr(self, name) - value
        over = self.won or self.lost
        event |= {"valid": valid, "won": self.won, "lost": self.lost, "dead": self.dead}
        event["truncated"] = not over and self.taps >= self.max_taps
        return event

    def _move(self, a):
        self.moves += 1
        if self.grid[a].kind == "basic":
            self._tap_cluster(a)
        else:
            self._tap_power(a)
        self._drain()
        self._settle()
        self.won = not any(self.remaining())
        if not self.won:
            self._spawn()
            self._heal()
            self._spread()
            self.won = not any(self.remaining())
        if not self.won:
            self._resolve_deadlock()
        self.score += self.event["hits"] + max(0, self.event["cluster"] - 2) ** 2
        self.lost = not self.won and (self.dead or (self.strict and self.moves >= self.limit))

    def _credit(self, called, units=1):
        """§6: count units of a goal, up to its remaining units if its amount is fixed."""
        for k, (collect, amount) in enumerate(self.goals):
            if collect in called:
                counted = units if amount == "all" else min(units, amount - self.collected[k])
                self.collected[k] += counted
                self.event["collected"][k] += counted

    # -------------------------------------------------------------------------------------------------- §4.2: a cluster

    def _clear(self, i):
        """Clear a basic, and a bubble on it."""
        piece = self.grid[i]
        self._remove(piece)
        self.event["hits"] += 1
        self.event["colors"][piece.color] += 1
        self._credit(names("basic", piece.color))
        if self.covers.get(i) == "bubble":
            self._uncover(i)

    def _uncover(self, i):
        self.event["hits"] += 1
        self._credit({self.covers.pop(i)})

    def _tap_cluster(self, a):
        color, cluster = self.grid[a].color, self._group(a, ("basic",))
        for i in cluster:
            self._clear(i)
        self._wave(cluster, color)
        n = self.event["cluster"] = len(cluster)
        if n < 5:
            return
        if n <= 7:
            made = Piece(("rocket_h", "rocket_v")[self._below(2)])
        else:
            made = Piece("bomb") if n <= 9 else Piece("flask", color=color)
        self._put(a, made)
        self.event["created"] += 1

    # ---------------------------------------------------------------------------------- §4.3: power taps and combinations

    def _use(self, piece):
        self._remove(piece)
        self.event["used"] += 1
        self._credit(names(piece.kind, piece.color))

    def _light(self, piece):
        piece.lit = True
        self.queue.append(piece)

    def _tap_power(self, a):
        tapped, group = self.grid[a], [self.grid[i] for i in self._group(a, POWERS)]
        if len(group) == 1:
            self._light(tapped)
            return
        self.event["combo"] = 1
        for piece in group:
            self._use(piece)
        flasks = [piece for piece in group if piece.kind == "flask"]
        bombs = [piece for piece in group if piece.kind == "bomb"]
        rockets = [piece for piece in group if piece.kind in ("rocket_h", "rocket_v")]
        flask, rocket = (tapped if tapped in some else some[0] if some else None for some in (flasks, rockets))
        x, y = place(a)
        if len(flasks) >= 2:
            self._area(self.active)
        elif flask:
            self._convert(flask.color, to_bombs=bool(bombs))
        elif len(bombs) >= 2:
            self._area(around(a, 3))
        elif bombs and rocket.kind == "rocket_h":
            self._area(rows=row(y - 1) + row(y) + row(y + 1))
        elif bombs:
            self._area(columns=column(x - 1) + column(x) + column(x + 1))
        else:
            self._area(rows=row(y), columns=column(x))

    def _convert(self, color, to_bombs):
        for i in self.active:
            piece = self._free(i)
            if piece and piece.color == color:
                self._clear(i)
                new = Piece("bomb" if to_bombs else ("rocket_h", "rocket_v")[self._below(2)])
                self._put(i, new)
                self._light(new)

    # ------------------------------------------------------------------------------------- §4.4: the power queue and areas

    def _drain(self):
        while self.queue:
            piece = self.queue.pop(0)
            self._use(piece)
            x, y = place(piece.anchor)
            if piece.kind == "rocket_h":
                self._area(rows=row(y))
            elif piece.kind == "rocket_v":
                self._area(columns=column(x))
            elif piece.kind == "bomb":
                corners = [(x - 2, y - 2), (x + 2, y - 2), (x - 2, y + 2), (x + 2, y + 2)]
                self._area([i for i in around(piece.anchor, 2) if place(i) not in corners])
            else:
                self._flask(piece.color)

    def _area(self, cells=(), rows=(), columns=()):
        """Hit every piece on these cells by power; rows and columns are beams, which turn rockets along them."""
        done = []
        for i in sorted({*cells, *rows, *columns}.intersection(self.active)):
            if self.covers.get(i) == "cage":
                self._uncover(i)
                continue
            piece = self.grid.get(i)
            if piece is None or piece in done:
                continue
            done.append(piece)
            if piece.kind == "basic":
                self._clear(i)
            elif piece.kind in POWERS:
                if piece.lit:
                    continue
                if piece.kind == "rocket_h" and i in rows:
                    piece.kind = "rocket_v"
                elif piece.kind == "rocket_v" and i in columns:
                    piece.kind = "rocket_h"
                self._light(piece)
            elif piece.is_("p"):
                self._damage(piece)

    def _flask(self, color):
        cleared = []
        for i in self.active:
            piece = self.grid.get(i)
            if piece and piece.kind == "basic" and piece.color == color:
                if self.covers.get(i) == "cage":
                    self._uncover(i)
                else:
                    self._clear(i)
                    cleared.append(i)
        self._wave(cleared, color)

    # ------------------------------------------------------------------------------------------ §4.5: the neighbor wave

    def _wave(self, cells, color):
        done = []
        for i in sorted({beside for cell in cells for beside in NEIGHBORS[cell]} - set(cells)):
            piece = self.grid.get(i)
            if self.covers.get(i) == "cage":
                if piece.kind != "basic" or piece.color == color:
                    self._uncover(i)
                continue
            if piece is None or not piece.is_("n") or piece in done:
                continue
            if piece.is_("own") and piece.color not in (None, color):
                continue
            if piece.crowd is not None and not piece.crowd.get(color):
                continue
            done.append(piece)
            self._damage(piece, color)

    # ----------------------------------------------------------------------------------------------------- §4.6: damage

    def _damage(self, piece, color=None):
        """Remove one hit point; `color` of the match, or None for a power effect."""
        piece.hit = True
        self.event["hits"] += 1
        if piece.kind == "weed":
            self.weed_attacked = True
        if piece.kind in SPAWNS:
            self.spawns.append((SPAWNS[piece.kind], piece.anchor))
        if piece.is_("endless"):
            if piece.kind == "beehive":
                self._credit({"bee"})
            return
        piece.hp -= 1
        if piece.crowd is not None:
            gone = min(c for c, n in piece.crowd.items() if n) if color is None else color
            piece.crowd[gone] -= 1
            self._credit(names("gnomes", gone))
        elif piece.is_("units"):
            self._credit(names(piece.kind))
        if piece.is_("takes_color") and piece.color is None and piece.hp > 0:
            piece.color = self._draw_color() if color is None else color
        if piece.hp == 0:
            self._remove(piece)
            if not piece.is_("units"):
                self._credit(names(piece.kind, piece.color))

    # -------------------------------------------------------------------------------- §4.7: fall, drops, refill

    def _settle(self):
        while True:
            self._fall()
            if not self._leave() and not self._refill():
                return

    def _below_in_column(self, i):
        """Return the next active cell below cell i, across inactive cells, or None."""
        return next((j for j in range(i - WIDTH, -1, -WIDTH) if j in self.active), None)

    def _fall(self):
        moved = True
        while moved:
            moved = False
            for piece in self._pieces():
                if piece.is_("gravity") and self.covers.get(piece.anchor) != "cage":
                    while self._down(piece):
                        moved = True

    def _down(self, piece):
        """Move a piece one step down, if possible."""
        i = piece.anchor
        needed = [self._below_in_column(i)] if piece.size == 1 else [i - WIDTH, i - WIDTH + 1]
        if any(j is None or j not in self.active or j in self.grid for j in needed):
            return False
        self._remove(piece)
        self._put(needed[0], piece)
        return True

    def _leave(self):
        """Remove drops at the bottom of their columns; return whether there were any."""
        gone = False
        for piece in self._pieces():
            bottom = [piece.anchor] if piece.size == 1 else [piece.anchor, piece.anchor + 1]
            over_exit = all(self._below_in_column(i) is None for i in bottom)
            if piece.is_("leaves") and over_exit and self.covers.get(piece.anchor) != "cage":
                self._remove(piece)
                self.event["hits"] += piece.hp
                self._credit(names(piece.kind))
                gone = True
        return gone

    def _refill(self):
        """Add new pieces from above; return whether a drop was among them."""
        fell = []
        for x in range(WIDTH):
            run = []
            for i in reversed([i for i in column(x) if i in self.active]):
                if i in self.grid:
                    break
                run.append(i)
            for i in reversed(run):
                fell.append(self._new_piece())
                self._put(i, fell[-1])
        return any(piece.is_("leaves") for piece in fell)

    def _new_piece(self):
        """§4.8 Return a new piece."""
        for k, entry in enumerate(self.feed):
            there = sum(piece.kind == entry["piece"]["kind"] for piece in self.grid.values())
            if self.fed[k] < entry["total"] and there < entry["max_on_board"] and self._below(1000) < entry["per_mille"]:
                self.fed[k] += 1
                return self._make(entry["piece"])
        return Piece("basic", color=self._draw_color())

    # ------------------------------------------------------------------------------------- §4.9 to §4.11: end of the turn

    def _spawn(self):
        for what, i in self.spawns:
            if what == "bubble3x3":
                for j in around(i, 1):
                    if j in self.active and j not in self.covers:
                        self.covers[j] = "bubble"
                continue
            bare = self._bare_basics()
            if bare:
                chosen = bare[self._below(len(bare))]
                if what == "bubble":
                    self.covers[chosen] = "bubble"
                else:
                    self._put(chosen, Piece("dandelion"))

    def _heal(self):
        for piece in self._pieces():
            if piece.is_("heals") and piece.hp < piece.max_hp and not piece.hit:
                piece.hp += 1

    def _spread(self):
        weeds, bare = [piece.anchor for piece in self._pieces() if piece.kind == "weed"], self._bare_basics()
        if not weeds or not bare or self.weed_attacked:
            return

        def distance(i):
            return min(abs(place(i)[0] - place(w)[0]) + abs(place(i)[1] - place(w)[1]) for w in weeds)

        nearest = min(map(distance, bare))
        candidates = [i for i in bare if distance(i) == nearest]
        self._put(candidates[self._below(len(candidates))], Piece("weed"))

    # ------------------------------------------------------------------------------------------- §4.12: no tap is left

    def _resolve_deadlock(self):
        for _ in range(100):
            if self.valid():
                return
            bare = self._bare_basics()
            colors = [self.grid[i].color for i in bare]
            for k in range(len(bare) - 1, 0, -1):
                j = self._below(k + 1)
                colors[k], colors[j] = colors[j], colors[k]
            for i, color in zip(bare, colors, strict=True):
                self.grid[i].color = color
            self.shuffles += 1
        if self.valid():
            return
        for i in self.active:
            x, y = place(i)
            beside = [at(p, q) for p, q in ((x + 1, y), (x, y + 1)) if p < WIDTH and q < HEIGHT]
            partners = [j for j in beside if self._free(j)]
            if self._free(i) and partners:
                self.grid[partners[0]].color = self.grid[i].color
                return
        self.dead = True

    # -------------------------------------------------------------------------------------------------- §6: the goals

    def remaining(self):
        """Return the remaining units of each goal; for `all` the units on the board."""
        wanted = []
        for (collect, amount), had in zip(self.goals, self.collected, strict=True):
            if amount == "all":
                here = [(piece.hp_for(collect), piece.is_("units")) for piece in self._pieces()]
                units = sum(hp if by_hp else min(hp, 1) for hp, by_hp in here)
                wanted.append(units + sum(name == collect for name in self.covers.values()))
            else:
                wanted.append(amount - had)
        return wanted

    # ------------------------------------------------------------------------------------------------- §5: the rewards

    def rewards(self, event):
        """Return all reward components of the tap of this event, right after it."""
        rewards = {f"goal_{k + 1}": 0 for k in range(4)}
        rewards |= {f"goal_{k + 1}": units for k, units in enumerate(event["collected"])}
        rewards["goals"] = sum(event["collected"])
        rewards["win"] = int(event["won"])
        rewards["step"], rewards["move"], rewards["invalid"] = -1, -int(event["valid"]), -int(not event["valid"])
        rewards["moves_saved"] = max(0, self.limit - self.moves) if event["won"] else 0
        rewards |= {name: event[name] for name in ("created", "used", "combo", "score")}
        rewards |= {f"color_{c + 1}": n for c, n in enumerate(event["colors"])}
        return rewards

    # ---------------------------------------------------------------------------------------------- §7: the observation

    def board(self, channels=24):
        """Return the observation: index c * 117 + y * 13 + x holds channel c of cell (x, y)."""
        flat = [0] * (channels * len(CELLS))

        def add(channel, i, value):
            if channel < channels:
                flat[channel * len(CELLS) + i] += value

        open_goals = [collect for (collect, _), left in zip(self.goals, self.remaining(), strict=True) if left > 0]
        for i in self.active:
            add(0, i, 1)
        for i, piece in self.grid.items():
            for channel, value in piece_channels(piece):
                add(channel, i, value)
            for color in range(6) if piece.crowd is not None and "gnomes" not in open_goals else ():
                if f"gnomes.{COLORS[color]}" in open_goals:
                    add(9, i, piece.crowd.get(color, 0))
            if piece.crowd is None or "gnomes" in open_goals:
                add(9, i, max([piece.hp_for(collect) for collect in open_goals], default=0))
        for i, name in self.covers.items():
            for channel in (8, 20, 24) if name == "bubble" else (8, 21, 22, 24):
                add(channel, i, 1)
            add(9, i, int(name in open_goals))
        return flat


OF_KINDS = {
    10: ("basic",),
    11: ("bomb",),
    12: ("flask",),
    13: ("rocket_h",),
    14: ("rocket_v",),
    16: ("weed",),
    20: POWERS,
    23: ("basic",),
}
OF_WORDS = {15: "gravity", 17: "heals", 18: "spawner", 21: "n", 22: "p"}


def piece_channels(piece):
    """Return (channel, value) pairs of a piece on each of its cells, without the cell itself and goals (§7)."""
    hp, kind = piece.hp, piece.kind
    if piece.color is not None:
        yield 1 + piece.color, hp
    for color, n in (piece.crowd or {}).items():
        yield 1 + color, n
    yield (7 if kind == "basic" or kind in POWERS else 8), hp
    for channel, kinds in OF_KINDS.items():
        if kind in kinds:
            yield channel, hp
    for channel, word in OF_WORDS.items():
        if word in piece.words:
            yield channel, hp
    if piece.is_("takes_color") and piece.color is None:
        yield 19, hp
    yield (25 if piece.is_("endless") else 24), hp
