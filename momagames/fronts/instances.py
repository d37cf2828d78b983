"""Exact fronts of many start positions, stored on this machine: each is computed once, and verified whenever it is read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.baselines.front_solvers import SearchLimits
from momagames.benchmark.choices import GameChoice
from momagames.engine.playouts import generate_starts
from momagames.errors import InvalidFile
from momagames.files.json_data import canonical_json
from momagames.fronts.front_content import write_front
from momagames.fronts.game_front import GameFront, read_game_front
from momagames.fronts.generation import returns_front
from momagames.fronts.verify import verify
from momagames.kernels.jit import cache_folder

FOLDER = "fronts"  # beside the compiled code


def solve_instance(choice: GameChoice, seed: int, limits: SearchLimits, folder: Path | None = None) -> GameFront:
    """Return the proven front of the returns from the start position of a seed.

    seed      of the start position, below 2**64
    folder    of the stored fronts; None: in the cache of the package. A stored front that was changed, is of another
              position, or whose witnesses do not have the stated returns, is computed again

    Raises    TooLarge beyond the limits; InvalidParameter for a game without exact fronts
    """
    game = choice.make_game()
    position = game.codec.save(generate_starts(game, np.array([seed], np.uint64))[0])
    canonical = registry.format_id(game.id, game.params)
    name = hashlib.sha256(canonical_json([canonical, position]).encode()).hexdigest()
    place = (folder or cache_folder() / FOLDER) / f"{name[:32]}.json.gz"
    if place.is_file() and (stored := _read_verified(place, canonical, position)) is not None:
        return stored
    front = returns_front(choice, position, limits)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_front(place, front)
    return front


def solve_instances(choice: GameChoice, seeds: NDArray[np.uint64], limits: SearchLimits) -> list[NDArray[np.float64]]:
    """Return the points of the proven front of each start position, float64[n, K]; see `solve_instance`."""
    return [solve_instance(choice, seed, limits).values for seed in seeds.tolist()]


def _read_verified(place: Path, canonical: str, position: dict[str, Any]) -> GameFront | None:
    """Return a stored front of this position; None if it cannot be relied on."""
    try:
        front = read_game_front(place)
        verify(front)
    except InvalidFile:
        return None
    is_same = (front.kind, front.claim, front.canonical, front.start.position) == ("proven", "returns", canonical, position)
    return front if is_same else None
