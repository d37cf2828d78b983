"""Nested Monte Carlo search and single-player tree search against the same searches in plain Python."""

import math

import numpy as np
import pytest

import momagames
from momagames.analysis.indicators import hypervolume
from momagames.baselines import method
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.errors import InvalidParameter
from tests.baselines.reference_search import (
    BudgetSpent,
    RandomDraws,
    compare_games,
    list_groups,
    make_episode,
    make_instance,
    select_groups,
)

pytestmark = pytest.mark.long  # kernels of methods in several games

NMCS = {"divisions": 2, "levels": 2}
SP_MCTS = {"divisions": 2, "simulations": 40, "exploration": 0.4, "deviation": 0.3}
BOTH = [("nmcs", NMCS), ("sp_mcts", SP_MCTS)]


# ---------------------------------------------------------------------------------------- the same searches in plain Python


class ReferenceSearch:
    """Games of a search with random playouts; subclasses search as in their papers."""

    def __init__(self, game, start, budget, seed, divisions, selective=False, **options):
        self.game, self.start, self.budget, self.selective = game, start, budget, selective
        self.draws, self.used, self.games = RandomDraws(seed), 0, []
        lattice = simplex_lattice(len(game.objectives), divisions)
        for i, self.weights in enumerate(lattice):
            self.share = budget * (i + 1) // len(lattice)
            try:
                while self.used < self.share:
                    self.search(**options)
            except BudgetSpent:
                pass

    def play(self, moves):
        episode = make_episode(self.game, self.start)
        for action in moves:
            episode.step(action)
        return episode

    def count_step(self, limit):
        if self.used >= limit:
            raise BudgetSpent
        self.used += 1

    def list_moves(self, episode, guide):
        groups = list_groups(episode)
        if self.selective:
            tiles = "".join(self.game.codec.save(guide.state)["board"])
            groups, _ = select_groups(groups, int(episode.state["ply"]), tiles)
        return list(groups)

    def play_out(self, moves):
        """Complete a game at random; return its score and its moves."""
        episode, guide, line = self.play(moves), self.play(moves), list(moves)
        while not episode.state["over"]:
            choices = self.list_moves(episode, guide)
            self.count_step(self.budget)
            line.append(choices[int(self.draws.uniform() * len(choices))])
            episode.step(line[-1])
        self.games.append((line, episode.returns[0].tolist(), self.used))
        return float(self.weights @ episode.returns[0]), line


class ReferenceNmcs(ReferenceSearch):
    def search(self, levels):
        self.nested(levels, [])

    def nested(self, level, moves):
        best = (-math.inf, [])
        while not (episode := self.play(moves)).state["over"]:
            for action in self.list_moves(episode, self.play([])):
                self.count_step(self.share)
                tried = [*moves, action]
                is_leaf = level == 1 or self.play(tried).state["over"]
                found = self.play_out(tried) if is_leaf else self.nested(level - 1, tried)
                best = found if found[0] > best[0] else best
            self.count_step(self.share)
            moves = best[1][: len(moves) + 1]
        return best


class ReferenceSpMcts(ReferenceSearch):
    def search(self, simulations, exploration, deviation):
        nodes, scores, everything = set(), {}, []
        for _ in range(simulations):
            if self.used >= self.share:
                raise BudgetSpent
            moves, path = (), []
            while moves in nodes and not (episode := self.play(moves)).state["over"]:
                if moves not in scores:
                    order = self.list_moves(episode, self.play([]))
                    scores[moves] = {action: [] for action in order}
                else:
                    order = list(scores[moves])[::-1]  # arms are a stack
                action = self.choose(order, scores[moves], everything, exploration, deviation)
                self.count_step(self.budget)
                path.append(scores[moves][action])
                moves = (*moves, action)
            if not self.play(moves).state["over"]:
                nodes.add(moves)
            score, _ = self.play_out(moves)
            everything.append(score)
            for found in path:
                found.append(score)

    def choose(self, order, scores, everything, exploration, deviation):
        total, low, size = sum(map(len, scores.values())), min(everything), max(everything) - min(everything)
        best, ties, chosen = -math.inf, 0, None
        for action in order:
            found, bound = np.array(scores[action]), math.inf
            if len(found):
                scaled = (found - low) / size if size else np.zeros(len(found))
                radius = math.sqrt(math.log(total) / len(found))
                bound = scaled.mean() + exploration * radius + math.sqrt(scaled.var() + deviation / len(found))
            if bound > best + 1e-9:
                best, ties = bound, 0
            if bound >= best - 1e-9:
                ties += 1
                chosen = action if self.draws.below(ties) == 0 else chosen
        return chosen


@pytest.mark.parametrize("selective", [False, True])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_nested_search_matches_the_algorithm_of_the_paper(levels, selective):
    game, start = make_instance(board_width=6, num_colors=3)
    options = {"divisions": 1, "levels": levels, "selective": selective}
    reference = ReferenceNmcs(game, start, 3000, 4, **options)
    compare_games(reference, method("nmcs")(**options).plan(game, start, 3000, 4))


@pytest.mark.parametrize("selective", [False, True])
@pytest.mark.parametrize("options", [{}, {"exploration": 0.0}, {"deviation": 0.01}, {"simulations": 1000}], ids=str)
def test_tree_search_matches_the_algorithm_of_the_paper(options, selective):
    game, start = make_instance(board_width=6, num_colors=3)
    options = {**SP_MCTS, "divisions": 1, "selective": selective, **options}
    reference = ReferenceSpMcts(game, start, 3000, 4, **options)
    compare_games(reference, method("sp_mcts")(**options).plan(game, start, 3000, 4))


# ------------------------------------------------------------------------------------------------------------ the searches


@pytest.mark.parametrize(("name", "options"), BOTH)
@pytest.mark.parametrize("budget", [1, 7, 100, 1001])
def test_spends_the_budget_exactly(name, options, budget):
    game, start = make_instance()
    found = method(name)(**options).plan(game, start, budget, 2)
    assert budget <= found.steps <= max(budget, max(len(plan.actions) for plan in found.plans))


@pytest.mark.parametrize(("name", "options"), BOTH)
def test_beats_random_play(name, options):
    game, start = make_instance(board_width=10, board_height=10, num_colors=3)
    found, random_play = (method(n)(**o).plan(game, start, 60_000, 0) for n, o in ((name, options), ("random", {})))
    assert hypervolume(found.values, np.zeros(3)).value > 1.1 * hypervolume(random_play.values, np.zeros(3)).value


@pytest.mark.parametrize(("name", "options"), BOTH)
def test_rejects_games_with_chance_during_play(name, options):
    with pytest.raises(InvalidParameter, match=f"{name} needs a game without chance during play"):
        method(name)(**options).check_plan(momagames.spec("mo-tileblast-v0"))


def test_rejects_options_out_of_range():
    for name, changes, message in [
        ("nmcs", {"divisions": 0}, "invalid divisions=0: expected 1 or more"),
        ("nmcs", {"levels": 7}, r"invalid levels=7: expected 1\.\.6"),
        ("sp_mcts", {"simulations": 0}, r"invalid simulations=0: expected 1\.\."),
        ("sp_mcts", {"exploration": -1.0}, "exploration=-1.0"),
        ("sp_mcts", {"deviation": float("nan")}, "deviation=nan"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            method(name)(**{**dict(BOTH)[name], **changes})


def test_rejects_a_tree_that_is_too_large():
    game, _ = make_instance(board_width=30, board_height=30)
    with pytest.raises(InvalidParameter, match="sp_mcts: invalid simulations=1000000: expected a tree of at most"):
        method("sp_mcts")(**{**SP_MCTS, "simulations": 1_000_000}).check_plan(game)
