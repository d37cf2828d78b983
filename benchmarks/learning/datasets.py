"""Making, size and reading of datasets, measured on a part and scaled to a million episodes.

    python -m benchmarks.learning.datasets                       the tiers of the recipe `samegame`
    python -m benchmarks.learning.datasets --recipe breakthrough --episodes 1000 1000 100

For each tier it prints the CPU time of playing and of writing a file of data, its size, and what both come to for a million
episodes on one core; then the size of their observations in full, and the speed of reading, which plays the episodes again.
Compilation is not measured. CPU time of this process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from momagames.datasets import load_recipe
from momagames.datasets.dataset import stack_preferences
from momagames.datasets.decisions import collect_decisions
from momagames.datasets.making import describe_policies
from momagames.datasets.playing import play_shard
from momagames.datasets.recipes import Recipe
from momagames.datasets.replaying import replay_shard
from momagames.datasets.shards import write_shard

MILLION = 1_000_000


def measure(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and its result."""
    started = time.process_time()
    result = function()
    return time.process_time() - started, result


def select_part(recipe: Recipe, part: int, episodes: int) -> Recipe:
    """Return the recipe of one tier alone, with one file of data."""
    chosen = recipe.parts[part].model_copy(update={"episodes": episodes})
    return recipe.model_copy(update={"parts": (chosen,), "shard_episodes": episodes})


def measure_tier(recipe: Recipe, part: int, episodes: int) -> None:
    """Print the figures of a tier."""
    tier, small = recipe.parts[part].tier, select_part(recipe, part, max(1, episodes // 100))
    first = play_shard(small, 0, 0)  # compiles
    chosen = select_part(recipe, part, episodes)
    game = chosen.parts[0].game.make_game()
    preferences = stack_preferences(game, describe_policies(chosen, 0))
    playing, shard = measure(lambda: play_shard(chosen, 0, 0))
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "x.parquet"
        write_shard(file, first, 0, preferences)  # imports
        writing, _ = measure(lambda: write_shard(file, shard, 0, preferences))
        size = file.stat().st_size
    for _ in replay_shard(game, first, "compiles"):
        pass
    reading, rows = measure(
        lambda: [len(collect_decisions(game, shard, block, preferences)) for block in replay_shard(game, shard, "x")]
    )
    factor = MILLION / episodes
    full = shard.steps * (game.actors * (game.observation_bytes + game.mask_size) + 4 * len(game.agents) * len(game.objectives))
    print(
        f"{tier}: {episodes:,} episodes, {shard.steps:,} steps: played in {playing:.2f} s, written in {writing:.2f} s, "
        f"{size / episodes:.1f} bytes an episode; a million: {factor * (playing + writing) / 60:.2f} min on one core, "
        f"{factor * size / 1e6:,.0f} MB"
    )
    print(f"  observations, masks and rewards in full: {full / episodes:,.0f} bytes an episode, {full / size:,.0f} x")
    print(f"  read: {episodes / reading:,.0f} episodes and {sum(rows) / reading:,.0f} decisions a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default="samegame")
    parser.add_argument("--episodes", type=int, nargs="+", default=[50_000, 50_000, 200], help="of each tier; 0: none")
    given = parser.parse_args()
    recipe = load_recipe(given.recipe)
    for part, episodes in zip(range(len(recipe.parts)), given.episodes, strict=False):
        if episodes:
            measure_tier(recipe, part, episodes)


if __name__ == "__main__":
    main()
