"""One search for each weight vector of a lattice, with one budget, one random generator and one archive."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Plans
from momagames.baselines.search.playout_buffer import Batch, PlayoutBuffer
from momagames.baselines.weight_lattice import format_weights
from momagames.contract import Game

# (batch, generator word, steps so far, steps of the share, whether to complete the first game even beyond the budget)
# -> complete games in the batch, complete searches, steps so far, generator word
Run = Callable[[Batch, np.uint64, int, int, bool], tuple[int, int, int, int]]


def search_each_weight(
    game: Game,
    lattice: NDArray[np.float64],
    budget: int,
    seed: int,
    start_search: Callable[[NDArray[np.float64]], Run],
    counted: str = "searches",
) -> Plans:
    """Search with each row of `lattice`, float64[n, K], as weights. They share the budget evenly, one after the other.

    start_search   (weights) -> the loop that fills a batch and returns before it is full only if its share is spent
    counted        name of the number of complete searches in `Plans.info`
    """
    buffer = PlayoutBuffer(game)
    word = np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
    used = searches = 0
    for i, weights in enumerate(lattice):
        share = budget * (i + 1) // len(lattice)
        run = start_search(weights)
        while used < share or not buffer.num_games:
            num_games, complete, used, next_word = run(buffer.batch, word, used, share, not buffer.num_games)
            word = np.uint64(next_word)
            searches += complete
            buffer.flush(num_games, format_weights(weights))
    facts = {"episodes": buffer.num_games, counted: searches, "weights": len(lattice)}
    return Plans(buffer.archive.front(), used, info=facts, dominated=buffer.archive.dominated)
