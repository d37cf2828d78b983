"""Endgames of the duel of MO-Pommerman, solved: what each agent can force in the last steps before time is up.

python benchmarks/fronts/pommerman_endgames.py                      # 7x7: 2, 4 and 6 steps before time is up
python benchmarks/fronts/pommerman_endgames.py --steps 8 --seeds 3

A position is that of a game of random moves in which an agent dies, some steps before this death; time is up after as many
steps. All positions that joint moves lead to are enumerated, equal ones once. An agent can force a win, or its survival, if it
has a strategy of pure moves for it against every strategy of the other: the largest over its moves, of the smallest over the
moves of the other at the same time, step by step. With simultaneous moves this may be less than what the other can prevent: if
it moved second, an agent could do better.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import momagames
from momagames.baselines.strategies import step_states
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.engine.positions import load_state
from momagames.errors import TooLarge

LOSS, SURVIVAL, WIN = 0, 1, 2
ID = "mo-pommerman-duel-v0"
CHUNK = 1 << 10  # positions that are stepped at once
WALLS = {"board_size": 7, "num_rigid": 8, "num_wood": 0, "num_items": 0}


@dataclass(frozen=True)
class Endgame:
    """What the agents can force.

    values     for each agent LOSS, SURVIVAL or WIN, by moves that the other does not know
    informed   the same if the agent knew the move of the other in every step
    states     number of positions
    """

    values: tuple[int, int]
    informed: tuple[int, int]
    states: int


def solve_endgame(game: Game, start: NDArray[Any], max_states: int = 2_000_000) -> Endgame:
    """Solve a duel from a position, record[1], by backward induction over all joint moves.

    Raises    TooLarge beyond max_states positions
    """
    size = game.actions[0]
    joint = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij"), axis=-1).reshape(-1, 2)
    states, count, layers = start, 0, []
    while len(states):
        count += len(states)
        if count > max_states:
            raise TooLarge(f"{game.id}: more than max_states={max_states:,} positions: expected fewer steps")
        numbers: dict[bytes, int] = {}  # of the positions of the next layer
        children, ends, new = list[Any](), list[Any](), list[NDArray[Any]]()
        for first in range(0, len(states), CHUNK):
            chunk = states[first : first + CHUNK]
            after, _ = step_states(game, np.repeat(chunk, len(joint)), np.tile(joint, (len(chunk), 1)))
            after["visited"], after["rng"] = 0, 0  # which no move depends on
            different, indices = np.unique(after.view(f"V{game.dtype.itemsize}"), return_inverse=True)
            found = different.view(game.dtype)
            known = np.array(
                [-1 if one["over"] else numbers.setdefault(one.tobytes(), len(numbers)) for one in found], np.int64
            )
            new.append(found[known >= sum(len(part) for part in new)])
            children.append(known[indices])
            ends.append(np.stack([rate(found, agent) for agent in (0, 1)])[:, indices])
        layers.append(
            (np.concatenate(children).reshape(-1, size, size), np.concatenate(ends, axis=1).reshape(2, -1, size, size))
        )
        states = np.concatenate(new)
        assert len(states) == len(numbers)
    values = informed = np.zeros((2, 0), np.int64)
    for following, results in reversed(layers):
        least, most = (
            np.where(following < 0, results, np.append(one, [[0], [0]], axis=1)[:, following]) for one in (values, informed)
        )
        values = np.stack([least[0].min(axis=2).max(axis=1), least[1].min(axis=1).max(axis=1)])
        informed = np.stack([most[0].max(axis=1).min(axis=1), most[1].max(axis=2).min(axis=1)])
    return Endgame(tuple(values[:, 0].tolist()), tuple(informed[:, 0].tolist()), count)


def rate(states: NDArray[Any], agent: int) -> NDArray[np.int64]:
    """Return the result of an agent in finished games, int64[n]."""
    wins = (states["winners"] >> agent) & 1
    return np.where(wins != 0, WIN, np.where(states["alive"][:, agent] != 0, SURVIVAL, LOSS))


def find_position(steps: int, seed: int) -> tuple[Game, NDArray[Any]]:
    """Return a position of a random game, that many steps before a death, and the game in which time is up after them."""
    while True:
        rng, episode = np.random.default_rng(seed), Episode(momagames.spec(ID, **WALLS, objectives=["outcome"]))
        episode.reset(seed)
        before = []
        while not episode.state["over"]:
            before.append(episode.states.copy())
            episode.step(rng.integers(episode.game.actions[0], size=(2, 1)))
        if not episode.state["alive"][:2].all() and len(before) >= steps:
            position = episode.game.codec.save(before[-steps][0])
            game = momagames.spec(ID, **WALLS, objectives=["outcome"], max_steps=len(before))
            return game, load_state(game, position)
        seed += 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, nargs="*", default=(2, 4, 6), help="Steps before the death.")
    parser.add_argument("--seeds", type=int, default=20, help="Number of endgames.")
    given = parser.parse_args()
    print("| steps | endgames | positions, median / largest | win forced | both survive | other | move known helps | CPU s |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for steps in given.steps:
        began = time.process_time()
        found = [solve_endgame(*find_position(steps, seed)) for seed in range(given.seeds)]
        wins, both = (
            sum(test(one.values) for one in found) for test in (lambda v: WIN in v, lambda v: v == (SURVIVAL, SURVIVAL))
        )
        sizes, helped = [one.states for one in found], sum(one.values != one.informed for one in found)
        row = (steps, len(found), f"{np.median(sizes):,.0f} / {max(sizes):,}", wins, both, len(found) - wins - both, helped)
        print(f"| {' | '.join(map(str, row))} | {time.process_time() - began:.1f} |", flush=True)


if __name__ == "__main__":
    main()
