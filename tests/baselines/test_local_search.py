"""Local search against the same search in plain Python, move by move."""

import copy

import numpy as np
import pytest

from momagames.analysis.indicators import hypervolume
from momagames.baselines import method
from momagames.baselines.archive import is_nondominated
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.errors import InvalidParameter
from tests.baselines.reference_search import RandomDraws, list_groups, make_episode, make_instance

pytestmark = pytest.mark.long  # kernels of methods in several games

OPTIONS = {"divisions": 2, "keep": 0.8, "greed": 0.3, "patience": 20}


class ReferenceSearch:
    """Local search as specified in its docstring."""

    def __init__(self, game, start, budget, seed, divisions, keep, greed, patience):
        self.game, self.start, self.budget, self.keep, self.greed = game, start, budget, keep, greed
        self.draws, self.used, self.games, self.starts = RandomDraws(seed), 0, [], 0
        lattice = simplex_lattice(len(game.objectives), divisions)
        for i, self.weights in enumerate(lattice):
            stale, line, value = patience, [], 0.0
            while self.used < budget * (i + 1) // len(lattice):
                restart = stale >= patience
                cut = self.draws.below(1 if restart else len(line))
                candidate = self.play(line[:cut], [] if restart else line[cut:])
                if candidate is None:
                    break
                gain = self.games[-1][1] @ self.weights - value
                if restart or gain >= 0:
                    line, value = candidate, self.games[-1][1] @ self.weights
                self.starts += restart
                stale = 0 if restart or gain > 0 else stale + 1

    def play(self, before, after):
        """Play a game from some first moves on, following the others; return [(action, group)], or None without budget."""
        episode, line, after = make_episode(self.game, self.start), list(before), list(after)
        for action, _ in before:
            episode.step(action)
        while not episode.state["over"]:
            legal = list_groups(episode)
            action = list(legal)[self.draws.below(len(legal))]
            follows, is_greedy = self.draws.uniform() < self.keep, self.draws.uniform() < self.greed
            first = len(line) == len(before)
            if follows and not first:
                while after and after[0][1] not in legal.values():
                    after.pop(0)
                if after:
                    group = after.pop(0)[1]
                    action = next(a for a, g in legal.items() if g == group)
                    is_greedy = False
                    # no old move left to follow
            num_tried = len(legal) if is_greedy and not first else 0
            if self.used + num_tried + 1 > self.budget:
                self.used = self.budget
                return None
            if num_tried:
                action = self.best(episode, legal)
            self.used += num_tried + 1
            episode.step(action)
            line.append((action, legal[action]))
        self.games.append(([a for a, _ in line], episode.returns[0].copy(), self.used))
        return line

    def best(self, episode, legal):
        top, chosen, ties = -1.0, None, 0
        for action in legal:
            trial = copy.deepcopy(episode)
            trial.step(action)
            value = float(self.weights @ trial.reward[0].astype(float))
            if value > top:
                top, ties = value, 0
            if value == top:
                ties += 1
                if self.draws.below(ties) == 0:
                    chosen = action
        return chosen


@pytest.mark.parametrize(("keep", "greed"), [(0.0, 0.0), (1.0, 0.0), (0.7, 0.5), (0.0, 1.0)])
def test_matches_the_reference_search(keep, greed):
    game, start = make_instance()
    options = {"divisions": 2, "keep": keep, "greed": greed, "patience": 5}
    reference = ReferenceSearch(game, start, 1500, 4, **options)
    result = method("local_search")(**options).plan(game, start, 1500, 4)
    assert result.info == {"episodes": len(reference.games), "starts": reference.starts, "weights": 6}
    assert result.steps == reference.used
    first = {}
    for actions, value, used in reference.games:
        first.setdefault(tuple(value), (tuple(actions), used))
    values = np.array(list(first))
    expected = {tuple(value): first[tuple(value)] for value in values[is_nondominated(values)].tolist()}
    assert {tuple(plan.value.tolist()): (plan.actions, plan.step) for plan in result.plans} == expected


def test_beats_random_play():
    game, start = make_instance(board_width=10, board_height=10)
    options = {"divisions": 3, "keep": 1.0, "greed": 0.0, "patience": 1000}
    local_search, random_play = (
        method(n)(**o).plan(game, start, 60_000, 0) for n, o in (("local_search", options), ("random", {}))
    )
    assert hypervolume(local_search.values, np.zeros(3)).value > 1.3 * hypervolume(random_play.values, np.zeros(3)).value


def test_rejects_options_out_of_range():
    for changes, message in [
        ({"divisions": 0}, "invalid divisions=0: expected 1 or more"),
        ({"keep": 1.5}, r"invalid keep=1.5: expected 0\.\.1"),
        ({"greed": -0.1}, r"invalid greed=-0.1: expected 0\.\.1"),
        ({"greed": float("nan")}, "greed=nan"),
        ({"patience": 0}, "invalid patience=0: expected 1 or more"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            method("local_search")(**{**OPTIONS, **changes})
