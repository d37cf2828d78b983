# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Plans by tree search: alternate searches and moves along a line of play until it ends, then start another line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Plans
from momagames.baselines.mcts.policies import CRITERIA
from momagames.baselines.mcts.simulation import UctOptions, make_playout, make_workspace, select_action
from momagames.baselines.mcts.tree import make_tree, reset_tree
from momagames.baselines.search.playout_buffer import Batch
from momagames.baselines.search.weighted_search import Run, search_each_weight
from momagames.contract import Game
from momagames.engine.lookahead import make_lookahead
from momagames.engine.loops import cache_by_rules
from momagames.kernels.jit import compile_entry_point, kernel


class Line(NamedTuple):
    """Line of play of the searches.

    start   record[1], the start position
    moves   int32[T]
    value   float64[K], the return so far
    counts  int64[2], the numbers of moves and of playouts from the current position
    """

    start: NDArray[Any]
    moves: NDArray[np.int32]
    value: NDArray[np.float64]
    counts: NDArray[np.int64]


def search_plans(
    name: str, game: Game, start: NDArray[Any], lattice: NDArray[np.float64], options: UctOptions, budget: int, seed: int
) -> Plans:
    """Search with each row of `lattice`, float64[n, K], as weights. They share the budget evenly, one after the other."""
    run = make_planner(game, bool(options.value))
    tree = make_tree(game, options.simulations, len(CRITERIA[name](lattice[0])[0]), options.prior_temperature > 0)

    def start_search(weights: NDArray[np.float64]) -> Run:
        workspace = make_workspace(game, *CRITERIA[name](weights), options, line_capacity=game.max_episode_steps)
        line = _new_line(game, start)
        workspace.root["over"] = 1  # starts a new line
        return lambda batch, word, used, share, first: run(tree, workspace, line, batch, word, used, share, budget, first)

    return search_each_weight(game, lattice, budget, seed, start_search, "lines")


def _new_line(game: Game, start: NDArray[Any]) -> Line:
    return Line(start.copy(), np.zeros(game.max_episode_steps, np.int32), np.zeros(len(game.objectives)), np.zeros(2, np.int64))


@kernel
def _write_game(batch: Batch, row: int, line: Line, workspace: Any, steps: int, search_steps: int) -> None:
    """Write the line and the playout after it as a row of a batch."""
    length = line.counts[0]
    for ply in range(length):
        batch.moves[row, ply] = line.moves[ply]
    for ply in range(steps):
        batch.moves[row, length + ply] = workspace.line[ply]
    for k in range(line.value.shape[0]):
        batch.values[row, k] = line.value[k] + (workspace.returns[0, k] if steps > 0 else 0.0)
    batch.lengths[row] = length + steps
    batch.steps[row] = search_steps


@cache_by_rules
def make_planner(game: Game, valued: bool) -> Callable[..., Any]:
    """Compile the search for this game's rules."""
    simulate, play = make_playout(game, valued), make_lookahead(game).play

    def run(tree, workspace, line, batch, word, used, share, budget, first):
        """Run playouts and moves until the batch is full or the share is spent.

        Returns the numbers of complete games and of completed lines, the steps so far, and the generator word. `first`:
        complete the first playout even beyond the budget, up to the horizon.
        """
        num_games, completed_lines = 0, 0
        root, counts = workspace.root[0], line.counts
        while num_games < batch.lengths.shape[0] and (used < share or first):
            if root["over"]:
                workspace.root[0] = line.start[0]
                line.value[:] = 0.0
                counts[:] = 0
                reset_tree(tree)
            if counts[1] < workspace.simulations[0]:
                steps, word = simulate(tree, workspace, workspace.horizon[0] if first else budget - used, word)
                used += steps
                counts[1] += 1
                if workspace.trial.states[0]["over"]:
                    _write_game(batch, num_games, line, workspace, steps, used)
                    num_games += 1
                    first = False
                continue
            action, word = select_action(tree, workspace, np.int64(root["to_move"]), 0, 0, word)
            play(root, action, workspace.trial)
            used += 1
            line.moves[counts[0]] = action
            counts[0] += 1
            counts[1] = 0
            for k in range(line.value.shape[0]):
                line.value[k] += workspace.trial.reward[0, k]
            reset_tree(tree)
            if root["over"]:
                _write_game(batch, num_games, line, workspace, 0, used)
                num_games += 1
                completed_lines += 1
                first = False
        return num_games, completed_lines, used, word

    return compile_entry_point(run, f"{game.rules_key}.uct{'.valued' if valued else ''}")
