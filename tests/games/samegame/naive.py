"""MO-SameGame from its SPEC.md, in plain sets and dicts: slow, obvious, and independent of the package."""

SYMBOLS = ".123456789a"
WORD = 2**64


def splitmix64(word):
    """§2.1 The next word and its output."""
    word = (word + 0x9E3779B97F4A7C15) % WORD
    z = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    return word, z ^ (z >> 31)


class SameGame:
    """One game. `cells` maps (x, y) to a color, empty cells are not in it."""

    def __init__(
        self,
        board_width=15,
        board_height=15,
        num_colors=5,
        num_agents=1,
        team_rewards=False,
        color_rewards=True,
        clear_bonus=0.0,
        scoring="squares",
        move_rewards=False,
    ):
        self.width, self.height, self.colors, self.agents = board_width, board_height, num_colors, num_agents
        self.team, self.by_color, self.bonus = team_rewards, color_rewards, clear_bonus
        self.classic = scoring == "classic"
        self.counts_moves = move_rewards
        self.mover, self.ply = 0, 0

    @classmethod
    def generate(cls, seed, **params):
        """§2.1"""
        game = cls(**params)
        game.word = seed
        game.cells = {}
        while not game.groups():
            for y in range(game.height):
                for x in range(game.width):
                    game.word, output = splitmix64(game.word)
                    game.cells[x, y] = 1 + (output >> 32) * game.colors // 2**32
        return game

    @classmethod
    def given(cls, rows, mover=0, **params):
        """§2.2"""
        game = cls(**params)
        game.cells = {(x, y): SYMBOLS.index(s) for y, row in enumerate(rows) for x, s in enumerate(row) if s != "."}
        game.mover = mover
        return game

    def group(self, cell):
        """§3.1 The cells of one color around a cell."""
        found, fresh = set(), {cell}
        while fresh:
            x, y = fresh.pop()
            found.add((x, y))
            around = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}
            fresh |= {c for c in around - found if self.cells.get(c) == self.cells[cell]}
        return frozenset(found)

    def groups(self):
        """§3.1"""
        found, seen = set(), set()
        for cell in self.cells:
            if cell not in seen:
                group = self.group(cell)
                seen |= group
                if len(group) >= 2:
                    found.add(group)
        return found

    @property
    def over(self):
        """§6.1"""
        return not self.groups()

    def legal(self, agent):
        """§3 The legal actions of an agent."""
        if agent != self.mover:
            return set()
        return {y * self.width + x for group in self.groups() for x, y in group}

    def step(self, action):
        """§4, §5 Returns the reward vector of every agent."""
        group = self.group((action % self.width, action // self.width))
        color = self.cells[min(group)]
        columns = []
        for x in range(self.width):
            column = [self.cells[x, y] for y in range(self.height) if (x, y) in self.cells and (x, y) not in group]
            if column:
                columns.append(column)
        self.cells = {
            (x, self.height - len(column) + i): color for x, column in enumerate(columns) for i, color in enumerate(column)
        }
        vector = [0] * self.colors
        vector[color - 1] = self.points(len(group))
        if not self.cells:
            vector[color - 1] += 1000 if self.classic else self.bonus
        elif self.classic and self.over:  # §5.2
            left = [list(self.cells.values()).count(k) for k in range(1, self.colors + 1)]
            vector = [earned - (self.points(m) if m > 2 else 0) for earned, m in zip(vector, left, strict=True)]
        if not self.by_color:
            vector = [sum(vector)]
        if self.counts_moves:  # §5.3
            vector = [*vector, -1]
        rewards = [vector if self.team or agent == self.mover else [0] * len(vector) for agent in range(self.agents)]
        self.mover = (self.mover + 1) % self.agents
        self.ply += 1
        return rewards

    def points(self, size):
        """§5.1, §5.2"""
        return (size - 2) ** 2 if self.classic else size**2

    def rows(self):
        """§9"""
        return ["".join(SYMBOLS[self.cells.get((x, y), 0)] for x in range(self.width)) for y in range(self.height)]

    def planes(self, agent):
        """§7 Nested lists [H][W][C]."""
        return [
            [[int(self.cells.get((x, y)) == k + 1) for k in range(self.colors)] for x in range(self.width)]
            for y in range(self.height)
        ]
