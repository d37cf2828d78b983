"""MO-GemWalk from its SPEC.md."""


def stated_front(height):
    """§6.3 Return the points of the Pareto front in order."""
    rubies = [(r * (r + 1) / 2 + 2 * (height - r), 2 * (height - r)) for r in range(4, height + 1)]
    return sorted([(2 * height, 2 * height), *rubies, *((e, r) for r, e in rubies)])


class GemWalk:
    """One episode."""

    def __init__(self, board):
        """§2 Start on a board, rows of letters: r, e, p, and a dot for water."""
        self.rows, self.gems = list(board), ""

    def legal(self):
        """§3"""
        return [column for column, cell in enumerate(self.rows[len(self.gems)]) if cell != "."]

    def step(self, action):
        """§4 Take a gem and return the reward (§5)."""
        gem = self.rows[len(self.gems)][action]
        self.gems += gem
        return {"r": [self.gems.count("r"), 0], "e": [0, self.gems.count("e")], "p": [2, 2]}[gem]

    def observation(self):
        """§7"""
        worth = {".": 0, "r": self.gems.count("r") + 1, "e": -self.gems.count("e") - 1, "p": 9}
        return [[worth[cell] if row >= len(self.gems) else 0 for cell in cells] for row, cells in enumerate(self.rows)]
