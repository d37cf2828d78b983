"""The oracle: MO-Ingenious from SPEC.md alone, with plain lists and dicts. It imports nothing from momagames."""

from itertools import combinations_with_replacement

from tests.games.samegame.naive import splitmix64

DIRECTIONS = [(1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1)]  # §1.1
EMPTY = (0, 0)


def add(cell, direction):
    return cell[0] + direction[0], cell[1] + direction[1]


class Ingenious:
    """One game. `board` has the color of each cell, `racks` the tiles of each agent, `scores` a list for each team."""

    def __init__(
        self,
        num_agents=2,
        rack_size=6,
        num_colors=6,
        board_size=None,
        reward_mode="competitive",
        fully_observable=False,
        fixed_bag=False,
        objectives=None,
    ):
        """§8, §1"""
        self.agents, self.size, self.colors = range(num_agents), rack_size, range(1, num_colors + 1)
        self.side = board_size or num_agents + 4
        self.n = self.side - 1
        self.open, self.fixed = fully_observable, fixed_bag
        teams = {"competitive": num_agents, "two_teams": 2, "collaborative": 1}[reward_mode]
        self.team = [agent % teams for agent in self.agents]  # §1.3
        self.names = objectives or [f"color_{color}" for color in self.colors]  # §5.3
        self.cap = {"competitive": 18, "two_teams": 9 * num_agents, "collaborative": 18 * num_agents}[reward_mode]
        line = range(-self.n, self.n + 1)
        self.cells = [(q, r) for q in line for r in line if abs(q + r) <= self.n]
        self.corners = [(self.n * q, self.n * r) for q, r in DIRECTIONS]
        self.kinds = list(combinations_with_replacement(self.colors, 2))  # §1.2
        self.board = dict.fromkeys(self.cells, 0) | {corner: i + 1 for i, corner in enumerate(self.corners)}  # §2.1
        self.pairs = [(x, add(x, d)) for x in self.cells for d in DIRECTIONS if add(x, d) in self.board]  # §3.1
        self.bag = self._full_bag()
        self.racks = [[] for _ in self.agents]
        self.scores = [dict.fromkeys(self.colors, 0) for _ in range(teams)]
        self.upcoming, self.mover, self.first_round, self.ply, self.over = [], 0, True, 0, False
        self.word = None

    def _full_bag(self):
        """§2.2 Tiles of each kind."""
        times = 2 if self.side >= 9 else 1
        if len(self.colors) == 6:
            return {kind: (5 if kind[0] == kind[1] else 6) * times for kind in self.kinds}
        return {kind: 120 // len(self.kinds) * times for kind in self.kinds}

    @classmethod
    def generate(cls, word, **params):
        """§2 Start a game with draws that begin at this random word, the seed."""
        game = cls(**params)
        game.word = word
        for rack in game.racks:  # §2.4
            rack += [game._draw() for _ in range(game.size)]
        if game.fixed:  # §2.5
            order = []
            while sum(game.bag.values()):
                order.append(game._draw())
            for tile in order:
                game.bag[tile] += 1
            game.upcoming = order
        return game

    @classmethod
    def given(cls, state, word=None, **params):
        """§9 Start at a position, with this random word if the position has none."""
        game = cls(**params)
        game.word = state.get("rng", word)
        game.board = dict(zip(game.cells, map(int, "".join(state["board"])), strict=True))
        game.racks = [[tuple(tile) for tile in rack if tuple(tile) != EMPTY] for rack in state["racks"]]
        for agent, numbers in enumerate(state.get("scores", [])):
            game.scores[game.team[agent]] = dict(zip(game.colors, numbers, strict=True))
        if "bag" in state:
            game.bag = dict(zip(game.kinds, state["bag"], strict=True))
        else:
            placed = [tile for rack in game.racks for tile in rack]
            game.bag = {kind: max(0, count - placed.count(kind)) for kind, count in game.bag.items()}
        mover = state.get("next_agent", state.get("mover", 0))
        game.mover = int(mover.removeprefix("agent_")) if isinstance(mover, str) else mover
        placements = sum(1 for cell, color in game.board.items() if color and cell not in game.corners) // 2
        game.first_round = state.get("first_round", placements == game.mover)
        game.upcoming = [tuple(tile) for tile in state.get("upcoming", [])]
        game.ply = state.get("ply", placements)
        game.over = not game._empty_pairs()
        game.first_round = game.first_round and not game.over
        return game

    def state(self):
        """§9"""
        return {
            "board": "".join(str(self.board[cell]) for cell in self.cells),
            "racks": [[list(tile) for tile in self._slots(agent)] for agent in self.agents],
            "scores": [list(self.scores[team].values()) for team in self.team],
            "bag": list(self.bag.values()),
            "next_agent": f"agent_{self.mover}",
            "first_round": self.first_round,
            "upcoming": [list(tile) for tile in self.upcoming],
            "ply": self.ply,
            "rng": self.word,
        }

    def _slots(self, agent):
        """§4.1 Tiles by slot, empty slots after them."""
        return self.racks[agent] + [EMPTY] * (self.size - len(self.racks[agent]))

    def _draw(self):
        """§2.3 Take a tile out of the bag, which has one."""
        if self.upcoming:
            tile = self.upcoming.pop(0)
        else:
            tiles = [kind for kind in self.kinds for _ in range(self.bag[kind])]
            self.word, z = splitmix64(self.word)
            tile = tiles[z // 2**32 * len(tiles) // 2**32]
        self.bag[tile] -= 1
        return tile

    def _empty_pairs(self):
        return [(x, y) for x, y in self.pairs if self.board[x] == 0 and self.board[y] == 0]

    def _corners_next_to(self, cell):
        """In the order of the directions."""
        return [add(cell, d) for d in DIRECTIONS if add(cell, d) in self.corners]

    def open_pairs(self):
        """§3.2, §3.3 Pairs (x, y) of cells that a tile may fill now."""
        empty = self._empty_pairs()
        if not self.first_round:
            return empty
        used = set()  # §3.4
        for cell, color in self.board.items():
            if color and cell not in self.corners:
                used.update(self._corners_next_to(cell)[:1])
        allowed = []
        for pair in empty:
            near = {corner for cell in pair for corner in self._corners_next_to(cell)}
            if near and not near & used:
                allowed.append(pair)
        return allowed or empty

    def legal(self, agent):
        """§3.1, §3.2 The legal actions of an agent."""
        if self.over or agent != self.mover:
            return set()
        allowed = set(self.open_pairs())
        numbers = [number for number, pair in enumerate(self.pairs) if pair in allowed]
        return {number * self.size + slot for number in numbers for slot in range(len(self.racks[agent]))}

    def step(self, action):
        """§4 Place a tile, and return the rewards (§5): a list for each agent, with a number for each objective."""
        mover, rack, score = self.mover, self.racks[self.mover], self.scores[self.team[self.mover]]
        (x, y), (a, b) = self.pairs[action // self.size], rack[action % self.size]
        self.board[x], self.board[y] = a, b
        rack.remove((a, b))
        self.ply += 1
        before, gains = dict(score), dict.fromkeys(self.colors, 0)
        gains[a] += self._gain(x, y)
        gains[b] += self._gain(y, x)
        for color, gain in gains.items():  # §4.3
            if score[color] < self.cap:
                score[color] = min(score[color] + gain, self.cap)
        bonus = any(before[color] < self.cap == score[color] for color in self.colors)  # §4.4
        if self._empty_pairs():
            self._refill(rack, score)
            self._pass_turn(bonus)
        else:
            self.over = True
        if self.over:
            self.first_round = False
        rewards, winners = [], self.winners()
        for agent in self.agents:
            own = self.team[agent] == self.team[mover]  # §5.1
            row = {f"color_{color}": score[color] - before[color] if own else 0 for color in self.colors}
            row["win"] = 0 if not winners else 1 if agent in winners else -1  # §5.2
            rewards.append([row[name] for name in self.names])
        return rewards

    def _gain(self, cell, other):
        """§4.2"""
        gain = 0
        for direction in DIRECTIONS:
            one = add(cell, direction)
            if one == other:
                continue
            while one in self.board and self.board[one] == self.board[cell]:
                gain += 1
                one = add(one, direction)
        return gain

    def _refill(self, rack, score):
        """§4.6, §4.7"""
        if sum(self.bag.values()):
            rack.append(self._draw())
        lowest = [color for color in self.colors if score[color] == min(score.values())]
        if sum(self.bag.values()) < self.size or any(color in lowest for tile in rack for color in tile):
            return
        whole = len(self.upcoming) == sum(self.bag.values())
        old = sorted(rack)
        rack[:] = [self._draw() for _ in range(self.size)]
        for tile in old:
            self.bag[tile] += 1
        if whole:
            self.upcoming += old

    def _pass_turn(self, bonus):
        """§4.8"""
        first = self.mover if bonus else self.mover + 1
        order = [(first + i) % len(self.agents) for i in range(len(self.agents))]
        able = [agent for agent in order if self.racks[agent]]
        if not able:
            self.over = True
            return
        if able[0] < self.mover or (able[0] == self.mover and not bonus):
            self.first_round = False
        self.mover = able[0]

    def winners(self):
        """§6.4 Agents."""
        ranks = [sorted(score.values()) for score in self.scores]
        if not self.over or len(ranks) == 1 or ranks.count(max(ranks)) > 1:
            return []
        return [agent for agent in self.agents if self.team[agent] == ranks.index(max(ranks))]

    def observation(self, agent):
        """§7 Return the fields, as numbers in nested lists."""
        line = range(-self.n, self.n + 1)
        racks = [self._slots(one) for one in (self.agents if self.open else [agent])]
        return {
            "board": [[self.board.get((q, r), 0) for r in line] for q in line],
            "racks": racks if self.open else racks[0],
            "scores": [[min(number, self.cap) for number in self.scores[team].values()] for team in self.team],
        }
