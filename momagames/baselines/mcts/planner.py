# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Plans by tree search: searches along a line of play, until it ends, and then along another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Plans
from momagames.baselines.mcts.policies import AIMS
from momagames.baselines.mcts.simulation import UctOptions, decide, playout, tools
from momagames.baselines.mcts.tree import empty_tree, forget
from momagames.baselines.search.playout_buffer import Batch, PlayoutBuffer
from momagames.baselines.weight_lattice import label
from momagames.contract import Game
from momagames.engine.loops import once_for_rules
from momagames.kernels.jit import driver, kernel


class Line(NamedTuple):
    """The line of play that the searches go along.

    start   record[1], where it begins
    moves   int32[T]
    value   float64[K], its return
    counts  int64[2]: its moves, and the playouts from where it stands
    """

    start: NDArray[Any]
    moves: NDArray[np.int32]
    value: NDArray[np.float64]
    counts: NDArray[np.int64]


def search_plans(
    name: str, game: Game, start: NDArray[Any], lattice: NDArray[np.float64], effort: UctOptions, budget: int, seed: int
) -> Plans:
    """Search with each row of `lattice`, float64[n, K], as weights; they share the budget evenly, one after the other."""
    harvest, walk = PlayoutBuffer(game), walker(game)
    word = np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
    used = lines = 0
    tree = empty_tree(game, effort.simulations, len(AIMS[name](lattice[0])[0]))
    for i, weights in enumerate(lattice):
        share = budget * (i + 1) // len(lattice)
        kit = tools(game, *AIMS[name](weights), effort, room=game.max_episode_steps)
        line = _new_line(game, start)
        kit.root["over"] = 1  # so that it begins with a new line
        while used < share or not harvest.games:
            made, ended, used, word = walk(tree, kit, line, harvest.batch, word, used, share, budget, not harvest.games)
            word = np.uint64(word)
            lines += ended
            harvest.bring(made, label(weights))
    facts = {"episodes": harvest.games, "lines": lines, "weights": len(lattice)}
    return Plans(harvest.archive.front(), used, facts=facts, passed=harvest.archive.passed)


def _new_line(game: Game, start: NDArray[Any]) -> Line:
    return Line(start.copy(), np.zeros(game.max_episode_steps, np.int32), np.zeros(len(game.objectives)), np.zeros(2, np.int64))


@kernel
def _write(batch: Batch, row: int, line: Line, kit: Any, steps: int, found: int) -> None:
    """The line and the playout after it as a row of a batch."""
    length = line.counts[0]
    for ply in range(length):
        batch.moves[row, ply] = line.moves[ply]
    for ply in range(steps):
        batch.moves[row, length + ply] = kit.line[ply]
    for k in range(line.value.shape[0]):
        batch.values[row, k] = line.value[k] + (kit.returns[0, k] if steps > 0 else 0.0)
    batch.lengths[row] = length + steps
    batch.found[row] = found


@once_for_rules
def walker(game: Game) -> Callable[..., Any]:
    """The compiled search for this game's rules."""
    play, step = playout(game), game.kernels.step

    def walk(tree, kit, line, batch, word, used, share, budget, first):
        """Playouts and moves until the batch is full or the share is spent; returns the complete games written, the lines
        that came to an end, the steps made so far, and the generator word.

        `first`: the first playout is finished in any case, as far as the horizon allows.
        """
        made, ended = 0, 0
        root, counts = kit.root[0], line.counts
        while made < batch.lengths.shape[0] and (used < share or first):
            if root["over"]:
                kit.root[0] = line.start[0]
                line.value[:] = 0.0
                counts[:] = 0
                forget(tree)
            if counts[1] < kit.simulations[0]:
                steps, word = play(tree, kit, kit.horizon[0] if first else budget - used, word)
                used += steps
                counts[1] += 1
                if kit.trial[0]["over"]:
                    _write(batch, made, line, kit, steps, used)
                    made += 1
                    first = False
                continue
            action, word = decide(tree, kit, np.int64(root["to_move"]), 0, 0, word)
            kit.actions[0, 0] = action
            step(root, kit.actions, kit.reward)
            used += 1
            line.moves[counts[0]] = action
            counts[0] += 1
            counts[1] = 0
            for k in range(line.value.shape[0]):
                line.value[k] += kit.reward[0, k]
            forget(tree)
            if root["over"]:
                _write(batch, made, line, kit, 0, used)
                made += 1
                ended += 1
                first = False
        return made, ended, used, word

    return driver(walk, f"{game.rules_key}.uct")
