"""MO-Breakthrough from its SPEC.md, in plain sets and dicts: slow, obvious, and independent of the package."""

NAMES = ("win", "speed", "captures", "losses")


class Breakthrough:
    """One game. `pieces[side]` is the set of that side's cells (x, y)."""

    def __init__(self, board_width=8, board_height=8, num_objectives=4, canonical=False, objectives=None):
        self.width, self.height, self.canonical = board_width, board_height, canonical
        self.names = objectives or NAMES[:num_objectives]
        columns = range(board_width)
        self.pieces = [  # §2.1
            {(x, y) for x in columns for y in (0, 1)},
            {(x, y) for x in columns for y in (board_height - 2, board_height - 1)},
        ]
        self.mover, self.ply, self.over = 0, 0, False

    @classmethod
    def generate(cls, seed, **params):
        return cls(**params)

    @classmethod
    def given(cls, rows, mover=0, **params):
        """§2.2"""
        game = cls(**params)
        for side in (0, 1):
            game.pieces[side] = {(x, y) for y, row in enumerate(rows) for x, s in enumerate(row) if s == "12"[side]}
        game.mover = mover
        return game

    def target(self, side, x, y, z):
        """§3"""
        return x + z - 1, y + (1 if side == 0 else -1)

    def allowed(self, side, x, y, z):
        """§3.1"""
        to = self.target(side, x, y, z)
        on_board = 0 <= to[0] < self.width and 0 <= to[1] < self.height
        return on_board and to not in self.pieces[side] and not (z == 1 and to in self.pieces[1 - side])

    def turned(self, side, x, y, z):
        """§7.1 How a player names a move."""
        if self.canonical and side == 1:
            x, y, z = self.width - 1 - x, self.height - 1 - y, 2 - z
        return x, y, z

    def legal(self, agent):
        """§3 The legal actions of an agent."""
        if self.over or agent != self.mover:
            return set()
        moves = {(x, y, z) for x, y in self.pieces[agent] for z in (0, 1, 2) if self.allowed(agent, x, y, z)}
        return {x * 3 * self.height + y * 3 + z for x, y, z in (self.turned(agent, *move) for move in moves)}

    def step(self, action):
        """§4, §5 Returns the reward vector of each player."""
        side, other = self.mover, 1 - self.mover
        x, y, z = self.turned(side, action // (3 * self.height), action // 3 % self.height, action % 3)
        to = self.target(side, x, y, z)
        self.pieces[side] = self.pieces[side] - {(x, y)} | {to}
        capture = to in self.pieces[other]
        self.pieces[other] = self.pieces[other] - {to}
        self.ply += 1
        self.over = to[1] == (self.height - 1 if side == 0 else 0) or not self.pieces[other]
        rewards = [dict.fromkeys(NAMES, 0.0), dict.fromkeys(NAMES, 0.0)]
        if self.over:
            speed = 1 - self.ply / (4 * self.width * (self.height - 3) + 1)
            rewards[side] |= {"win": 1.0, "speed": speed}
            rewards[other] |= {"win": -1.0, "speed": -speed}
        if capture:
            rewards[side]["captures"] = 1 / (2 * self.width)
            rewards[other]["losses"] = -1 / (2 * self.width)
        self.mover = other
        return [[row[name] for name in self.names] for row in rewards]

    def rows(self):
        """§9"""
        symbols = {**dict.fromkeys(self.pieces[0], "1"), **dict.fromkeys(self.pieces[1], "2")}
        return ["".join(symbols.get((x, y), ".") for x in range(self.width)) for y in range(self.height)]

    def planes(self, agent):
        """§7 Nested lists [H][W][2]."""
        planes = [[[0, 0] for _ in range(self.width)] for _ in range(self.height)]
        for plane, side in enumerate((agent, 1 - agent)):
            for cell in self.pieces[side]:
                x, y, _ = self.turned(agent, *cell, 0)
                planes[y][x][plane] = 1
        return planes
