"""Small problems, and solutions of them that share no code with the package."""

from fractions import Fraction
from itertools import product

import gymnasium
import numpy as np

from momagames.tabular.model import END, ModelBuilder, Outcome


def random_model(rng, states, actions, objectives, outcomes, loops=True, positive=True):
    """A model with small whole rewards; without loops, or with rewards that are not positive, if asked."""
    builder = ModelBuilder(actions)
    for state in range(states):
        for _ in range(actions):
            first = 0 if loops else state + 1
            targets = rng.permutation([END, *range(first, states)])[:outcomes].tolist()
            shares = rng.integers(1, 4, len(targets)).tolist()
            builder.add_action(
                [
                    Outcome(
                        Fraction(share, sum(shares)),
                        target,
                        tuple(Fraction(int(x), 2) for x in rng.integers(-4, 5 if positive or target == END else 1, objectives)),
                    )
                    for share, target in zip(shares, targets, strict=True)
                ]
            )
    return builder.build()


def float_value(model, policy, gamma):
    """The value of a policy from the start, float64[K], by a linear system over all states."""
    matrix, rewards = np.eye(model.num_states), np.zeros((model.num_states, model.num_objectives))
    for state, action in enumerate(policy):
        for one in model.outcomes(state, action):
            rewards[state] += float(one.probability) * np.array([float(x) for x in one.reward])
            if one.next_state != END:
                matrix[state, one.next_state] -= gamma * float(one.probability)
    return np.linalg.solve(matrix, rewards)[0]


def all_policies(model):
    return product(*(model.legal_actions(state) for state in range(model.num_states)))


def returns_of_sequences(model, gamma, length):
    """The returns of all episodes that end within `length` actions."""
    found, work = set(), [(0, 0, (Fraction(0),) * model.num_objectives)]
    while work:
        state, time, total = work.pop()
        for action in model.legal_actions(state) if time < length else ():
            (one,) = model.outcomes(state, action)
            after = tuple(x + gamma**time * y for x, y in zip(total, one.reward, strict=True))
            if one.next_state == END:
                found.add(after)
            else:
                work.append((one.next_state, time + 1, after))
    return found


def best_of(vectors):
    """The distinct vectors that no other one dominates."""
    return sorted(v for v in vectors if not any(u != v and all(x >= y for x, y in zip(u, v, strict=True)) for u in vectors))


class Corridor(gymnasium.Env):
    """Cells in a row: go right, which costs a unit of time, or take the treasure of the cell."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(4)

    def __init__(self, treasures=(1, 3, 4, 4), slip=None, start=0):
        self.treasures, self.slip, self.first = treasures, slip, start

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = self.first if isinstance(self.first, int) else int(self.np_random.integers(2))
        return self.cell, {}

    def step(self, action):
        if action == 1:
            return self.cell, np.array([self.treasures[self.cell], 0.0], np.float32), True, False, {}
        if self.slip is None or self.np_random.random() >= self.slip:
            self.cell = min(self.cell + 1, len(self.treasures) - 1)
        return self.cell, np.array([0.0, -1.0], np.float32), False, False, {}


class TableCorridor(Corridor):
    """The corridor with a table of transitions."""

    def __init__(self):
        super().__init__(slip=0.25)
        last = len(self.treasures) - 1
        self.P = {
            cell: {
                0: [(0.75, min(cell + 1, last), [0.0, -1.0], False), (0.25, cell, [0.0, -1.0], False)],
                1: [(1.0, cell, [float(value), 0.0], True)],
            }
            for cell, value in enumerate(self.treasures)
        }


class Remade(Corridor):
    """A corridor whose rewards depend on how many were made, which no state shows."""

    made = 0

    def __init__(self):
        super().__init__()
        Remade.made += 1
        self.treasures = tuple(one + Remade.made for one in self.treasures)
