"""The oracle: MO-GemMining from SPEC.md alone, with plain lists and dicts. It imports nothing from momagames."""

from tests.games.samegame.naive import splitmix64


class Draws:
    """§2.2 Numbers from a random word."""

    def __init__(self, word):
        self.word = word

    def integer(self, x):
        self.word, z = splitmix64(self.word)
        return z // 2**32 * x // 2**32

    def fraction(self):
        self.word, z = splitmix64(self.word)
        return z // 2**11 / 2**53


class GemMining:
    """One episode. `chosen` is the mine of each agent after the step, `gems` the types of gems found in each mine."""

    def __init__(
        self,
        num_agents=20,
        num_objectives=2,
        min_connectivity=2,
        max_connectivity=4,
        min_workers=1,
        max_workers=5,
        min_prob=0.01,
        max_prob=0.5,
        trunc_probability=0.9,
        w_bonus=1.03,
        correlated_objectives=True,
        instance_seed=42,
        workers=None,
        connectivity=None,
        probabilities=None,
        bonus_exponent="others",
        reward_mode="sampled",
    ):
        """§8, §2.1 to §2.5"""
        self.villages, self.types = range(num_agents), range(num_objectives)
        self.mines = range(num_agents + max_connectivity - 1)
        self.most = max_connectivity
        self.limit, self.bonus, self.exponent, self.mode = trunc_probability, w_bonus, bonus_exponent, reward_mode
        draws = Draws(instance_seed)
        self.workers = [min_workers + draws.integer(max_workers - min_workers + 1) for _ in self.villages]
        self.probabilities = []
        for _ in self.mines:
            numbers = [draws.fraction() for _ in self.types]
            if correlated_objectives:  # §2.4
                bounds, spread = [0, *sorted(numbers)], max_prob - num_objectives * min_prob
                self.probabilities.append([min_prob + (bounds[t + 1] - bounds[t]) * spread for t in self.types])
            else:
                self.probabilities.append([min_prob + number * (max_prob - min_prob) for number in numbers])
        self.connectivity = [min_connectivity + draws.integer(max_connectivity - min_connectivity + 1) for _ in self.villages]
        self.workers = list(workers or self.workers)
        self.connectivity = list(connectivity or self.connectivity)
        self.probabilities = [list(row) for row in probabilities or self.probabilities]
        self.actions = self.connectivity  # sizes of the action spaces, §3
        self.chosen, self.gems = None, [[] for _ in self.mines]

    @classmethod
    def generate(cls, word, **params):
        """§2 Start an episode whose stream begins at this random word, the seed."""
        game = cls(**params)
        game.draws = Draws(word)
        return game

    @classmethod
    def given(cls, state, word=None, **params):
        """§9 Start at a position, with this random word if the position has none."""
        game = cls.generate(state.get("rng", word), **params)
        game.workers = list(state.get("workers", game.workers))
        game.connectivity = list(state.get("connectivity", game.connectivity))
        game.probabilities = [list(row) for row in state.get("probabilities", game.probabilities)]
        game.chosen = state.get("mines")
        game.gems = [list(types) for types in state.get("gems", game.gems)]
        return game

    def state(self):
        """§9"""
        return {
            "workers": self.workers,
            "connectivity": self.connectivity,
            "probabilities": self.probabilities,
            "mines": self.chosen,
            "workers_at_mine": [self._workers_at(mine) for mine in self.mines],
            "gems": self.gems,
            "rng": self.draws.word,
        }

    @property
    def over(self):
        """§6.1"""
        return self.chosen is not None

    def legal(self, agent):
        """§3 The legal actions of an agent."""
        return [] if self.over else list(range(self.connectivity[agent]))

    def step(self, actions):
        """§4 Send all workers, and return the reward of each agent (§5), the same for all."""
        self.chosen = [village + action for village, action in enumerate(actions)]
        rewards = [0 for _ in self.types]
        for mine in self.mines:
            if self._workers_at(mine) == 0:  # §4.2
                continue
            for kind in self.types:
                if self.mode == "expected":  # §5.2
                    rewards[kind] += self._chance(mine, kind)
                elif self.draws.fraction() < self._chance(mine, kind):  # §4.3
                    rewards[kind] += 1
                    self.gems[mine].append(kind)
        return [rewards for _ in self.villages]

    def observation(self, agent):
        """§7"""
        return [0]

    def _workers_at(self, mine):
        """§4.1"""
        return sum(count for count, there in zip(self.workers, self.chosen or [], strict=False) if there == mine)

    def _chance(self, mine, kind):
        """§4.2"""
        workers = self._workers_at(mine)
        exponent = workers if self.exponent == "all" else workers - 1
        return min(self.limit, self.probabilities[mine][kind] * self.bonus**exponent)
