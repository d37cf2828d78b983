"""Local search against the same search in plain Python, move by move."""

import copy

import numpy as np
import pytest

from momagames.baselines import method
from momagames.baselines.archive import undominated
from momagames.baselines.lattice import simplex_lattice
from momagames.errors import InvalidParameter
from momagames.experiments.science.indicators import hypervolume
from tests.baselines.plain_search import Lots, groups, position, small

OPTIONS = {"divisions": 2, "keep": 0.8, "greed": 0.3, "patience": 20}


class Plain:
    """The search as its docstring tells it."""

    def __init__(self, game, start, budget, seed, divisions, keep, greed, patience):
        self.game, self.start, self.budget, self.keep, self.greed = game, start, budget, keep, greed
        self.lots, self.used, self.games, self.starts = Lots(seed), 0, [], 0
        lattice = simplex_lattice(len(game.objectives), divisions)
        for i, self.weights in enumerate(lattice):
            idle, line, worth = patience, [], 0.0
            while self.used < budget * (i + 1) // len(lattice):
                fresh = idle >= patience
                cut = self.lots.below(1 if fresh else len(line))
                tried = self.play(line[:cut], [] if fresh else line[cut:])
                if tried is None:
                    break
                gain = self.games[-1][1] @ self.weights - worth
                if fresh or gain >= 0:
                    line, worth = tried, self.games[-1][1] @ self.weights
                self.starts += fresh
                idle = 0 if fresh or gain > 0 else idle + 1

    def play(self, before, after):
        """A game that begins with some moves and then follows others, as [(action, group)], or None without budget."""
        one, line, after = position(self.game, self.start), list(before), list(after)
        for action, _ in before:
            one.turn(action)
        while not one.state["over"]:
            legal = groups(one)
            action = list(legal)[self.lots.below(len(legal))]
            follows, wise = self.lots.unit() < self.keep, self.lots.unit() < self.greed
            first = len(line) == len(before)
            if follows and not first:
                while after and after[0][1] not in legal.values():
                    after.pop(0)
                if after:
                    group = after.pop(0)[1]
                    action = next(a for a, g in legal.items() if g == group)
                    wise = False
                    # nothing is left to follow, then nothing is kept
            looks = len(legal) if wise and not first else 0
            if self.used + looks + 1 > self.budget:
                self.used = self.budget
                return None
            if looks:
                action = self.best(one, legal)
            self.used += looks + 1
            one.turn(action)
            line.append((action, legal[action]))
        self.games.append(([a for a, _ in line], one.returns[0].copy(), self.used))
        return line

    def best(self, one, legal):
        top, chosen, ties = -1.0, None, 0
        for action in legal:
            trial = copy.deepcopy(one)
            trial.turn(action)
            value = float(self.weights @ trial.reward[0].astype(float))
            if value > top:
                top, ties = value, 0
            if value == top:
                ties += 1
                if self.lots.below(ties) == 0:
                    chosen = action
        return chosen


@pytest.mark.parametrize(("keep", "greed"), [(0.0, 0.0), (1.0, 0.0), (0.7, 0.5), (0.0, 1.0)])
def test_it_is_the_search_that_is_told(keep, greed):
    game, start = small()
    options = {"divisions": 2, "keep": keep, "greed": greed, "patience": 5}
    plain = Plain(game, start, 1500, 4, **options)
    found = method("local_search")(**options).plan(game, start, 1500, 4)
    assert found.facts == {"episodes": len(plain.games), "starts": plain.starts, "weights": 6}
    assert found.steps == plain.used
    first = {}
    for actions, value, used in plain.games:
        first.setdefault(tuple(value), (tuple(actions), used))
    values = np.array(list(first))
    expected = {tuple(value): first[tuple(value)] for value in values[undominated(values)].tolist()}
    assert {tuple(plan.value.tolist()): (plan.actions, plan.found) for plan in found.plans} == expected


@pytest.mark.parametrize("budget", [1, 7, 100, 1001])
def test_the_budget_is_kept_to_the_step(budget):
    game, start = small()
    found = method("local_search")(**{**OPTIONS, "greed": 0.0}).plan(game, start, budget, 2)
    assert budget <= found.steps <= max(budget, max(len(plan.actions) for plan in found.plans))
    assert all(plan.found <= found.steps for plan in found.plans)


def test_it_beats_random_play():
    game, start = small(board_width=10, board_height=10)
    options = {"divisions": 3, "keep": 1.0, "greed": 0.0, "patience": 1000}
    mine, lots = (method(n)(**o).plan(game, start, 60_000, 0) for n, o in (("local_search", options), ("random", {})))
    assert hypervolume(mine.values, np.zeros(3)).value > 1.3 * hypervolume(lots.values, np.zeros(3)).value


def test_a_front_that_is_found_whole():
    game, start = small(seed=2, board_width=4)
    front = method("exact")(max_states=10**6, max_bytes=10**8).plan(game, start, 0, 0)
    assert method("local_search")(**OPTIONS).plan(game, start, 50_000, 0).values.tolist() == front.values.tolist()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"divisions": 0}, "invalid divisions=0: expected 1 or more"),
        ({"keep": 1.5}, r"invalid keep=1.5: .*0\.\.1"),
        ({"greed": -0.1}, r"invalid greed=-0.1: .*0\.\.1"),
        ({"greed": float("nan")}, "greed=nan"),
        ({"patience": 0}, "invalid patience=0: .*1 or more"),
    ],
)
def test_options_out_of_range(wrong, said):
    with pytest.raises(InvalidParameter, match=said):
        method("local_search")(**{**OPTIONS, **wrong})
