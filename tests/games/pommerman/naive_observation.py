"""Observations of MO-Pommerman, written from SPEC §7 with lists and dicts alone. It imports nothing from momagames.

A position is a dict: mode ("ffa", "team", "radio" or "duel"), board (a list of rows of codes), agents (dicts with alive, row,
col, ammo, strength, kick, words), bombs (dicts with row, col, life, strength, direction), flames (dicts with row, col, life; a
cell may have several), step_count, max_steps.
"""

FOG, RIGID, NO_AGENT = 5, 1, 9
GAME_TYPES = {"ffa": 1, "team": 2, "radio": 3, "duel": 4}


def matrix(side, value):
    """Return a square matrix of one value."""
    return [[value] * side for _ in range(side)]


class Window:
    """§7.2 Cells that an agent sees, and their positions in its observation; `view` 0: everything."""

    def __init__(self, position, agent, view, egocentric):
        self.n, self.view = len(position["board"]), view
        self.row, self.col = (position["agents"][agent][axis] for axis in ("row", "col"))
        self.egocentric = egocentric
        self.side = 2 * view + 1 if egocentric else self.n

    def cells(self):
        """Yield ((row, column) on the board, (row, column) in the observation) of all visible cells."""
        for row in range(self.n):
            for col in range(self.n):
                down, right = row - self.row, col - self.col
                if self.view and max(abs(down), abs(right)) > self.view:
                    continue
                yield (row, col), (self.view + down, self.view + right) if self.egocentric else (row, col)


def observe(position, agent, view, egocentric):
    """§7.3 Return the dict form of an observation."""
    window = Window(position, agent, view, egocentric)
    places = dict(window.cells())
    board = matrix(window.side, RIGID if egocentric else FOG)
    strength, life, direction, flames = (matrix(window.side, 0) for _ in range(4))
    for (row, col), (r, c) in places.items():
        board[r][c] = position["board"][row][col]
    for bomb in position["bombs"]:
        if (bomb["row"], bomb["col"]) in places:
            r, c = places[bomb["row"], bomb["col"]]
            strength[r][c], life[r][c], direction[r][c] = bomb["strength"], bomb["life"], bomb["direction"]
    for flame in position["flames"]:
        if (flame["row"], flame["col"]) in places:
            r, c = places[flame["row"], flame["col"]]
            flames[r][c] = max(flames[r][c], flame["life"] + 1)
    own, mode = position["agents"][agent], position["mode"]
    seats = range(len(position["agents"]))
    mate = (agent + 2) % 4 if mode in ("team", "radio") else None
    enemies = [10 + seat for seat in seats if seat not in (agent, mate)]
    seen = {
        "board": board,
        "bomb_blast_strength": strength,
        "bomb_life": life,
        "bomb_moving_direction": direction,
        "flame_life": flames,
        "alive": [int(other["alive"]) for other in position["agents"]],
        "position": [own["row"], own["col"]],
        "ammo": [own["ammo"]],
        "blast_strength": [own["strength"]],
        "can_kick": [int(own["kick"])],
        "teammate": [NO_AGENT if mate is None else 10 + mate],
        "enemies": enemies if mate is None else [*enemies, NO_AGENT],
        "game_type": [GAME_TYPES[mode]],
        "step_count": [position["step_count"]],
    }
    return seen | ({"message": list(position["agents"][mate]["words"])} if mode == "radio" else {})


def planes(position, agent, view, egocentric):
    """§7.4 Return the planes of an observation by name."""
    seen = observe(position, agent, view, egocentric)
    side = len(seen["board"])

    def where(name, *values):
        """Return a plane that marks the cells with one of these values."""
        return [[int(value in values) for value in row] for row in seen[name]]

    names = ["passage", "rigid", "wood", "bomb", "flames", "fog", "extra_bomb", "range", "kick"]
    result = {name: where("board", code) for code, name in enumerate(names)}
    result["own"] = where("board", 10 + agent)
    result["mate"] = where("board", *[code for code in seen["teammate"] if code != NO_AGENT])
    result["enemies"] = where("board", *[code for code in seen["enemies"] if code != NO_AGENT])
    result["bomb_blast_strength"], result["bomb_life"] = seen["bomb_blast_strength"], seen["bomb_life"]
    for code, name in enumerate(["up", "down", "left", "right"], start=1):
        result[f"bomb_moving_{name}"] = where("bomb_moving_direction", code)
    result["flame_life"] = seen["flame_life"]
    for name in ("ammo", "blast_strength", "can_kick"):
        result[name] = matrix(side, seen[name][0])
    result["step"] = matrix(side, 255 * position["step_count"] // position["max_steps"])
    for k, word in enumerate(seen.get("message", [])):
        result[f"word_{k}"] = matrix(side, word)
    return result
