"""MO-Connect4 from its SPEC.md, in plain dicts: slow, obvious, and independent of the package."""


class Connect4:
    """One game. `tokens` has the side (0 or 1) of each cell (x, y) that is not empty, row 0 on top; `ply` counts its moves."""

    def __init__(self, board_width=7, board_height=6, column_objectives=True, objectives=None):
        self.width, self.height = board_width, board_height
        columns = [f"column_{x}" for x in range(board_width)]  # §5
        self.names = objectives or ["win", "speed", *(columns if column_objectives else [])]
        self.tokens, self.mover, self.ply, self.over = {}, 0, 0, False  # §2.1

    @classmethod
    def generate(cls, seed, **params):
        return cls(**params)

    @classmethod
    def given(cls, rows, mover=0, **params):
        """§2.2"""
        game = cls(**params)
        game.tokens = {(x, y): "12".index(s) for y, row in enumerate(rows) for x, s in enumerate(row) if s != "."}
        game.mover = len(game.tokens) % 2
        assert game.mover == mover
        return game

    def legal(self, agent):
        """§3 The legal actions of an agent."""
        if self.over or agent != self.mover:
            return set()
        return {x for x in range(self.width) if (x, 0) not in self.tokens}

    def has_line(self, side):
        """§4.3"""
        own = {cell for cell, owner in self.tokens.items() if owner == side}
        directions = [(1, 0), (0, 1), (1, 1), (1, -1)]
        return any(all((x + k * dx, y + k * dy) in own for k in range(4)) for x, y in own for dx, dy in directions)

    def step(self, action):
        """§4, §5 Returns the reward vector of each player."""
        side, other = self.mover, 1 - self.mover
        row = max(y for y in range(self.height) if (action, y) not in self.tokens)
        self.tokens[action, row] = side
        self.ply += 1
        won, cells = self.has_line(side), self.width * self.height
        self.over = won or len(self.tokens) == cells
        rewards = [dict.fromkeys(self.names, 0.0), dict.fromkeys(self.names, 0.0)]
        if won:
            speed = 1 - len(self.tokens) / cells
            rewards[side] |= {"win": 1.0, "speed": speed}
            rewards[other] |= {"win": -1.0, "speed": -speed}
        for x in range(self.width) if self.over else ():
            counts = [sum(owner == one and cell[0] == x for cell, owner in self.tokens.items()) for one in (0, 1)]
            if counts[0] != counts[1]:
                first = 1.0 if counts[0] > counts[1] else -1.0
                rewards[0][f"column_{x}"], rewards[1][f"column_{x}"] = first, -first
        self.mover = other
        return [[row[name] for name in self.names] for row in rewards]

    def rows(self):
        """§9"""
        return ["".join(".12"[self.tokens.get((x, y), -1) + 1] for x in range(self.width)) for y in range(self.height)]

    def planes(self, agent):
        """§7 Nested lists [H][W][2]."""
        owners = [[self.tokens.get((x, y)) for x in range(self.width)] for y in range(self.height)]
        return [[[int(owner == agent), int(owner == 1 - agent)] for owner in row] for row in owners]
