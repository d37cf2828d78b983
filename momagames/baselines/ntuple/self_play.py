# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Self-play that learns tables of patterns by TD(lambda), without Python between two moves.

Every agent plays the action with the highest weighted sum of rewards and of the value of the position after it, or that of a
deeper search (see `search`), except for the random moves of the opening and for exploring moves. At the end of a game its
positions are visited backwards. The target of a head is the lambda-return of its agent. It is cut at random moves: the position
before one learns nothing and passes its value on.

In games with search each agent looks further ahead or not, at random: tables that learn from deep search alone know little of
the positions after mistakes, which it avoids but which the leaves of a search are full of. The search is alpha-beta, or a tree
search with the current tables (see `tree_search`). Then the lambda-return before a searched move has the value that the search
has found for it, the mean returns of its playouts, in place of the value of the tables after it.

Step sizes are those of temporal coherence: each entry has the sum E of its errors and the sum A of their sizes, and moves by
alpha / P * |E| / A * error, for P patterns.

Source: Sutton, "Learning to predict by the methods of temporal differences", Machine Learning 3, 1988; Beal and Smith,
"Temporal coherence and prediction decay in TD learning", IJCAI 1999; Jaśkowski, IEEE Trans. on Games 10, 2018 (see `patterns`);
targets from search, Veness et al., "Bootstrapping from game tree search", NeurIPS 2009, and from tree search, Willemsen et al.,
"Value targets in off-policy AlphaZero", Neural Computing and Applications 34, 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.ntuple.heads import MOVED, make_heads
from momagames.baselines.ntuple.kernels import find_entries, sum_entries, update_entries, value_of_head
from momagames.baselines.ntuple.patterns import Patterns, check_board
from momagames.baselines.ntuple.search import make_choice_kernel, make_search
from momagames.baselines.ntuple.tree_search import make_tree_search, make_tree_search_kernel, search_nothing
from momagames.contract import Game
from momagames.engine.lookahead import make_lookahead
from momagames.engine.loops import cache_by_rules, reset_header
from momagames.engine.playouts import NO_LIMIT
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import advance, below, mix

ZERO, ONE = np.float32(0), np.float32(1)
RANDOM_SCALE = 1 << 20  # exploration is drawn as a multiple of 1 / RANDOM_SCALE


class Trajectory(NamedTuple):
    """The moves of a game so far, T at most.

    entries    uint32[T, P], the table entries of the position after each move, as the agent that moved sees it
    agents     int64[T], the agents that moved
    is_random  bool[T], whether the move was random
    rewards    float32[T, A, K]
    returns    float64[A, K]: while the game is visited backwards, the returns after a move
    has_value  bool[T], whether tree search has valued the move
    values     float64[T, A, K], the returns from the move on by tree search
    """

    entries: NDArray[np.uint32]
    agents: NDArray[np.int64]
    is_random: NDArray[np.bool_]
    rewards: NDArray[np.float32]
    returns: NDArray[np.float64]
    has_value: NDArray[np.bool_]
    values: NDArray[np.float64]


class TdOptions(NamedTuple):
    """Options of learning, see `method.Ntuple`."""

    alpha: float
    td_lambda: float
    epsilon: float
    opening: int


class SelfPlay:
    """Self-play of one weight vector.

    tables         float32[H, n], see `heads` and `patterns`
    steps          environment steps, look-ahead included
    moves, games   played to the end
    search_from    steps after which agents search in half of the games: `depth` moves ahead by alpha-beta, or, above 0, with
                   `simulations` playouts of tree search
    """

    def __init__(
        self,
        game: Game,
        patterns: Patterns,
        entries: int,
        weights: NDArray[np.float64],
        seed: int,
        options: TdOptions,
        depth: int = 1,
        simulations: int = 0,
    ) -> None:
        self.game, self.patterns, self.heads = game, patterns, make_heads(game, weights)
        heads, longest = len(self.heads.scales), game.max_episode_steps
        agents, objectives = len(game.agents), len(game.objectives)
        self.tables = np.zeros((heads, entries), np.float32)
        self._coherence = np.zeros((heads, entries, 2), np.float32)
        self._options = options
        self._search = make_search(game, weights, patterns, self.heads, self.tables, depth)
        self._tree = make_tree_search(game, weights, patterns, self.heads, self.tables, simulations) if simulations else ()
        self._work = np.zeros(1, game.dtype)
        self._work[:] = game.blank_state
        self._trail = Trajectory(
            np.zeros((longest, len(patterns.offsets)), np.uint32), np.zeros(longest, np.int64), np.zeros(longest, np.bool_),
            np.zeros((longest, agents, objectives), np.float32), np.zeros((agents, objectives)), np.zeros(longest, np.bool_),
            np.zeros((longest, agents, objectives)),
        )  # fmt: skip
        self._word = np.uint64(seed % 2**64)
        self.steps = self.moves = self.games = 0
        self.search_from = NO_LIMIT

    def state_dict(self) -> tuple[dict[str, int], dict[str, NDArray[Any]]]:
        """Return all that the next game depends on, as JSON-able data and arrays."""
        data = {"word": int(self._word), "steps": self.steps, "moves": self.moves, "games": self.games}
        return data, {"tables": self.tables, "coherence": self._coherence}

    def load_state_dict(self, data: Mapping[str, int], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state_dict` returned."""
        self._word = np.uint64(data["word"])
        self.steps, self.moves, self.games = data["steps"], data["moves"], data["games"]
        self.tables[...], self._coherence[...] = arrays["tables"], arrays["coherence"]

    def play(self, steps: int, limit: int | None = None) -> None:
        """Play games until `steps` environment steps in all are made; a game that would exceed `limit` is left out."""
        word, self.steps, moves, games = make_self_play(self.game, bool(self._tree))(
            self._work, self._search, self._tree, self._coherence, self._trail, self._word, self.steps, steps,
            steps if limit is None else limit, self.search_from, *self._options,
        )  # fmt: skip
        self._word = np.uint64(word)
        self.moves += moves
        self.games += games


@kernel
def learn_position(heads, tables, coherence, trajectory, t, alpha, td_lambda):
    """Move the heads of the position after move `t` towards the returns after it, and mix their values into the returns.

    They are not mixed where a tree search has valued the move, but at cuts.
    """
    entries, mover, two = trajectory.entries[t], trajectory.agents[t], trajectory.returns.shape[0] == 2
    is_cut = trajectory.is_random[t + 1]
    mix_factor = 0.0 if is_cut else 1.0 if trajectory.has_value[t] else td_lambda
    for h in range(heads.scales.shape[0]):
        agent = mover if heads.roles[h] == MOVED else 1 - mover
        k = heads.objectives[h]
        value = value_of_head(heads, h, sum_entries(tables[h], entries))
        target = trajectory.returns[agent, k]
        if not is_cut:
            error = np.float32((target - value) / heads.scales[h])
            change, size = np.float32(alpha / entries.shape[0]) * error, abs(error)
            for p in range(entries.shape[0]):
                entry = entries[p]
                errors, sizes = coherence[h, entry, 0], coherence[h, entry, 1]
                rate = abs(errors) / sizes if sizes > ZERO else ONE
                tables[h, entry] += rate * change
                coherence[h, entry, 0] = errors + error
                coherence[h, entry, 1] = sizes + size
        trajectory.returns[agent, k] = value + mix_factor * (target - value)
        if two and heads.bounded[h]:
            trajectory.returns[1 - agent, k] = -trajectory.returns[agent, k]


@kernel
def learn_game(heads, tables, coherence, trajectory, length, opening, alpha, td_lambda):
    """Learn the positions of a game that is over, the last one first, back to the end of the opening."""
    trajectory.returns[:] = 0.0
    for t in range(length - 1, max(opening, 1) - 2, -1):
        if t < length - 1:
            learn_position(heads, tables, coherence, trajectory, t, alpha, td_lambda)
        for agent in range(trajectory.returns.shape[0]):
            for k in range(trajectory.returns.shape[1]):
                trajectory.returns[agent, k] += trajectory.rewards[t, agent, k]
                if trajectory.has_value[t]:
                    value = trajectory.values[t, agent, k]
                    trajectory.returns[agent, k] = value + td_lambda * (trajectory.returns[agent, k] - value)


@kernel
def choose_at_random(mask, word):
    """Return a legal action that a random word selects."""
    count = 0
    for a in range(mask.shape[0]):
        count += mask[a]
    left = below(word, count)
    for a in range(mask.shape[0]):
        if mask[a]:
            if left == 0:
                return a
            left -= 1
    return 0


@cache_by_rules
def make_self_play(game: Game, has_tree: bool) -> Callable[..., Any]:
    """Compile the self-play of `SelfPlay.play` for the rules of a game, with or without tree search."""
    generate, legal, play = game.kernels.generate, game.kernels.legal, make_lookahead(game).play
    write_codes, choose = check_board(game).write_codes, make_choice_kernel(game)
    search_position = make_tree_search_kernel(game) if has_tree else search_nothing

    def run(
        work, search, tree, coherence, trajectory, word, steps, target, limit, search_from, alpha, td_lambda, epsilon,
        openings
    ):  # fmt: skip
        state, patterns, buffers = work[0], search.patterns, search.buffers
        mask, reward = search.trial.mask, search.trial.reward
        total_moves, games = 0, 0
        while steps < target:
            reset_header(state)
            word = advance(word)
            state["rng"] = mix(word)
            generate(state)
            word = advance(word)
            opening = below(word, openings + 1)
            length = 0
            searching = 0  # a bit for each agent
            if steps >= search_from:
                word = advance(word)
                searching = below(word, 4)
            while state["over"] == 0:
                agent = np.int64(state["to_move"])
                legal(state, agent, mask)
                word = advance(word)
                is_random = length < opening or below(word, RANDOM_SCALE) < epsilon * RANDOM_SCALE
                if is_random:
                    word = advance(word)
                    action, tried = choose_at_random(mask, word), 0
                    word = advance(word)
                elif has_tree and searching >> agent & 1:
                    action, tried, word = search_position(state, agent, tree, trajectory.values[length], word)
                else:
                    depth = search.masks.shape[0] if searching >> agent & 1 else 1
                    action, tried, word = choose(state, agent, mask, search, depth, word)
                if steps + tried + 1 > limit:
                    return word, steps, total_moves, games
                steps += tried + 1
                if is_random or searching:  # else they are as the search has left them
                    write_codes(state, agent, buffers.codes)
                    find_entries(patterns, buffers)
                play(state, action, search.trial)
                write_codes(state, agent, buffers.after)
                update_entries(patterns, buffers)
                for p in range(buffers.updated.shape[0]):
                    trajectory.entries[length, p] = buffers.updated[p]
                trajectory.agents[length] = agent
                trajectory.is_random[length] = is_random
                trajectory.has_value[length] = has_tree and not is_random and searching >> agent & 1 == 1
                for other in range(reward.shape[0]):
                    for k in range(reward.shape[1]):
                        trajectory.rewards[length, other, k] = reward[other, k]
                length += 1
            learn_game(search.heads, search.tables, coherence, trajectory, length, opening, alpha, td_lambda)
            total_moves += length
            games += 1
        return word, steps, total_moves, games

    return compile_entry_point(run, f"{game.rules_key}.ntuple{'.tree' if has_tree else ''}")
