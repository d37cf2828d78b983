"""The oracle: MO-Beach from SPEC.md alone, with plain lists and dicts. It imports nothing from momagames."""

from math import exp

WORD = 2**64


def splitmix64(word):
    """§2.3 Return the next word, and its output."""
    word = (word + 0x9E3779B97F4A7C15) % WORD
    z = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return word, z ^ z >> 31


class Beach:
    """One episode. `types` and `sections` are lists over the agents, `n` counts the steps, `word` is the random word."""

    def __init__(
        self,
        num_agents=100,
        sections=6,
        capacity=7,
        num_timesteps=1,
        type_distribution=(0.3, 0.7),
        type_counts=None,
        position_distribution=None,
        reward_mode="individual",
    ):
        """§8"""
        self.num_agents, self.num_sections, self.capacity, self.last = num_agents, sections, capacity, num_timesteps
        self.type_weights, self.type_counts = type_distribution, type_counts
        self.position_weights, self.reward_mode = position_distribution or [1] * sections, reward_mode
        self.num_types = len(type_counts or type_distribution)
        self.actions = [3] * num_agents  # sizes of the action spaces, §3

    @classmethod
    def generate(cls, word, **params):
        """§2 Start an episode with draws that begin at this random word, the seed."""
        game = cls(**params)
        game.word, game.n = word, 0
        game.types = game._count_types() if game.type_counts else game._draw_each(game.type_weights)
        game.sections = game._draw_each(game.position_weights)
        return game

    @classmethod
    def given(cls, state, word=None, **params):
        """§9 Start at a position, with this random word if the position has none."""
        game = cls(**params)
        game.sections = list(state["sections"])
        game.types = list(state["types"]) if "types" in state else game._count_types()
        game.n, game.word = state.get("n", 0), state.get("rng", word)
        return game

    def state(self):
        """§9"""
        return {"sections": self.sections, "types": self.types, "n": self.n, "rng": self.word}

    def _count_types(self):
        """§2.1 with `type_counts`"""
        return [kind for kind, count in enumerate(self.type_counts) for _ in range(count)]

    def _draw_each(self, weights):
        """§2.1, §2.2 Draw an index for each agent."""
        return [self._draw(weights) for _ in range(self.num_agents)]

    def _draw(self, weights):
        """§2.3"""
        self.word, output = splitmix64(self.word)
        number = (output >> 11) / 2**53
        sums = [0]
        for weight in weights:
            sums.append(sums[-1] + weight)
        return next(index for index, upto in enumerate(sums[1:]) if upto / sums[-1] > number)

    @property
    def over(self):
        """§6.1"""
        return self.n == self.last

    def legal(self, agent):
        """§3"""
        return [] if self.over else [0, 1, 2]

    def step(self, actions):
        """§4 Move all agents, each by its action, and return their rewards (§5): [capacity, mixture] of each."""
        for agent, action in enumerate(actions):
            there = self.sections[agent] + {0: -1, 1: 0, 2: 1}[action]
            if there in range(self.num_sections):  # §3: else it stays
                self.sections[agent] = there
        self.n += 1
        return [self._reward(agent) if self.over else [0, 0] for agent in range(self.num_agents)]

    def _reward(self, agent):
        """§5"""
        if self.reward_mode == "individual":
            return self._worth(self.sections[agent])
        worths = [self._worth(section) for section in range(self.num_sections)]
        return [sum(capacity for capacity, _ in worths), sum(mixture for _, mixture in worths) / self.num_sections]

    def _worth(self, section):
        """§5 Return capacity and mixture of a section."""
        there = self._types_in(section)
        if not there:
            return [0, 0]
        mixture = min(there.count(kind) for kind in range(self.num_types)) / len(there)
        return [len(there) * exp(-len(there) / self.capacity), mixture]

    def _types_in(self, section):
        return [kind for kind, place in zip(self.types, self.sections, strict=True) if place == section]

    def observation(self, agent):
        """§7"""
        kind, section = self.types[agent], self.sections[agent]
        there = self._types_in(section)
        return [kind, section, self.capacity, len(there), there.count(kind) / len(there)]
