"""The oracle: MO-ItemGathering from SPEC.md alone, with plain lists and dicts. It imports nothing from momagames."""

from itertools import product

from tests.games.samegame.naive import splitmix64

MAPS = {  # §2.2, §8.1
    "default": ".......1 ........ .....4.. ..4.45.. ...3.... ..33.5.. ........ 1.......",
    "corners": "22...33 2.....3 ....... ..1.1.. ....... 4.....5 44...55",
    "orchard": "..2..3.4 4...2... ..3...2. .2..4..3 1..3..41 ...4.... .3...2.4 2..4..3.",
    "alone": "2..3..4 .3.4.2. 4..2..3 .2.1.3. 3..4..2 .4.2.3. 2..3..4",
    "crowd": "1....1 .2323. .3434. .4242. .2323. 1....1",
}
DIRECTIONS = {0: (0, 0), 1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}  # §3


def read_map(given):
    """§8.1, §8.2 Return rows of numbers, of rows, lines of text, a text, or a name."""
    if given is None:
        return read_map("default")
    if isinstance(given, str) and given in MAPS:
        return read_map(MAPS[given].split())
    if not isinstance(given, str):
        return read_map("\n".join(given)) if isinstance(given[0], str) else [list(row) for row in given]
    lines = given.split("\n")
    while not lines[0].strip():
        del lines[0]
    while not lines[-1].strip():
        del lines[-1]
    rows = []
    for line in lines:
        cells = line.replace(",", " ").split()
        rows.append([int(cell) for cell in cells] if len(cells) > 1 else [int(cell.replace(".", "0")) for cell in cells[0]])
    return rows


class ItemGathering:
    """One episode. `agents` are cells (row, column), `items` has the type of each cell with an item, `n` counts the steps."""

    def __init__(
        self,
        initial_map="default",
        num_timesteps=10,
        randomise=False,
        reward_mode="individual",
        control="agents",
        pickup_probabilities=None,
        objectives=None,
    ):
        """§8"""
        self.grid, self.last = read_map(initial_map), num_timesteps
        self.height, self.width = len(self.grid), len(self.grid[0])
        self.randomise, self.reward_mode, self.control = randomise, reward_mode, control
        self.values = sorted({value for row in self.grid for value in row if value >= 2})  # §2.1
        types = range(1, len(self.values) + 1)
        self.totals = {kind: sum(row.count(self.values[kind - 1]) for row in self.grid) for kind in types}
        self.probabilities = dict(zip(types, pickup_probabilities or [1] * len(types), strict=True))
        self.names = list(objectives or [f"item_{kind}" for kind in types])  # §5.3
        self.word = None

    @classmethod
    def generate(cls, word, **params):
        """§2 Start an episode with draws that begin at this random word, the seed."""
        game = cls(**params)
        game.word, game.n = word, 0
        grid = game._shuffle_inner() if game.randomise else game.grid
        game.agents, game.items = [], {}
        for row, line in enumerate(grid):
            for column, value in enumerate(line):
                if value == 1:
                    game.agents.append((row, column))
                elif value:
                    game.items[row, column] = game.values.index(value) + 1
        return game

    def _shuffle_inner(self):
        """§2.3"""
        rows, columns = range(2, self.height - 2), range(2, self.width - 2)
        inner = [[self.grid[row][column] for column in columns] for row in rows]
        if not rows or not columns:
            return self.grid
        self._shuffle(inner)
        lines = [list(line) for line in zip(*inner, strict=True)]  # the columns
        self._shuffle(lines)
        grid = [list(line) for line in self.grid]
        for column, line in zip(columns, lines, strict=True):
            for row, value in zip(rows, line, strict=True):
                grid[row][column] = value
        return grid

    def _shuffle(self, lines):
        """§2.3"""
        for i in range(len(lines) - 1, 0, -1):
            j = self._draw(i + 1)
            lines[i], lines[j] = lines[j], lines[i]

    @classmethod
    def given(cls, state, word=None, **params):
        """§9 Start at a position, with this random word if the position has none."""
        game = cls(**params)
        game.agents = [(row, column) for row, column in state["agents"]]
        game.items = {(row, column): k + 1 for row, column, k in state["items"]}
        game.n, game.word = state.get("n", 0), state.get("rng", word)
        return game

    def state(self):
        """§9"""
        items = [[*cell, kind - 1] for cell, kind in sorted(self.items.items())]
        return {"agents": [list(cell) for cell in self.agents], "items": items, "n": self.n, "rng": self.word}

    def _draw(self, k):
        """§2.4 A whole number below k."""
        self.word, output = splitmix64(self.word)
        return ((output >> 32) * k) >> 32

    def _chance(self):
        """§2.4 A number in [0, 1)."""
        self.word, output = splitmix64(self.word)
        return (output >> 11) / 2**53

    @property
    def terminated(self):
        """§6.1"""
        return not self.items

    @property
    def truncated(self):
        """§6.2"""
        return self.n == self.last

    @property
    def over(self):
        return self.terminated or self.truncated

    @property
    def players(self):
        """§2.1, §3.1 Names of those that act."""
        return ["team"] if self.control == "central" else [f"agent_{i}" for i in range(len(self.agents))]

    @property
    def actions(self):
        """§3 Sizes of the action spaces."""
        return [5 ** len(self.agents)] if self.control == "central" else [5] * len(self.agents)

    def legal(self, agent):
        """§3, §6.2 The actions of the masks, the same for all agents; they are there after a truncation as well."""
        if self.terminated:
            return []
        if self.control == "agents":
            return [0, 1, 2, 3, 4]
        numbers = []  # §3.1
        for moves in product(DIRECTIONS, repeat=len(self.agents)):
            wanted = [self._look(cell, move) for cell, move in zip(self.agents, moves, strict=True)]
            if all(self._is_inside(cell) for cell in wanted) and len({*wanted}) == len(wanted):
                numbers.append(sum(move * 5**i for i, move in enumerate(moves)))
        return sorted(numbers)

    def step(self, actions):
        """§4 Act, with an action of each of those that act, and return their rewards (§5), with a number for each objective."""
        if self.control == "central":
            actions = [actions[0] // 5**i % 5 for i in range(len(self.agents))]
        self.agents = self._move(actions)
        gains = [dict.fromkeys(self.totals, 0) for _ in self.agents]
        for agent, cell in enumerate(self.agents):  # §4.5
            if cell in self.items and self._succeeds(self.probabilities[self.items[cell]]):
                gains[agent][self.items.pop(cell)] += 1
        self.n += 1
        if self.reward_mode == "team" or self.control == "central":  # §5.2
            gains = [{kind: sum(gain[kind] for gain in gains) for kind in self.totals} for _ in self.players]
        return [[gain[int(name.removeprefix("item_"))] for name in self.names] for gain in gains]

    def _succeeds(self, probability):
        """§4.5"""
        return self._chance() < probability if 0 < probability < 1 else probability == 1

    def _look(self, cell, action):
        """§3 The cell of an action."""
        return cell[0] + DIRECTIONS[action][0], cell[1] + DIRECTIONS[action][1]

    def _is_inside(self, cell):
        return cell[0] in range(self.height) and cell[1] in range(self.width)

    def _move(self, actions):
        """§4.1 to §4.4 Return the new cells."""
        old, wanted = self.agents, []
        for cell, action in zip(old, actions, strict=True):
            there = self._look(cell, action)
            wanted.append(there if self._is_inside(there) else cell)
        stayed = {cell for cell, wish in zip(old, wanted, strict=True) if cell == wish}
        holders = {}
        for agent, cell in enumerate(list(wanted)):  # §4.2
            if cell in stayed:
                continue
            if cell in holders:
                earlier = holders[cell]
                loser = agent if self._draw(2) else earlier
                wanted[loser] = old[loser]
                holders[cell] = earlier if loser == agent else agent
            else:
                holders[cell] = agent
        while True:  # §4.3
            stood = {cell for cell, wish in zip(old, wanted, strict=True) if cell == wish}
            blocked = [agent for agent, wish in enumerate(wanted) if wish != old[agent] and wish in stood]
            if not blocked:
                return wanted
            wanted[blocked[0]] = old[blocked[0]]

    def observation(self, agent):
        """§7 Return the fields, as numbers in nested lists."""
        grid = [[self.items.get((row, column), 0) for column in range(self.width)] for row in range(self.height)]
        for i, (row, column) in enumerate(self.agents):
            grid[row][column] = -(i + 1)
        under = [self.items.get(cell, 0) for cell in self.agents]
        return {
            "id": [0 if self.control == "central" else -(agent + 1)],
            "map": grid,
            "under": under,
            "steps_left": [self.last - self.n],
        }
