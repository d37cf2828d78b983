"""Draws the pictures of the games in docs/_static: one position and one short game of each.

    python docs/make_pictures.py

The same games are played each time, so that the files only change when the drawing or the policies do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import momagames
from momagames.registry import policy

FOLDER = Path(__file__).resolve().parent / "_static"
SHOWN = 12  # the position after this many moves
FRAME = 700  # milliseconds
COLORS = 64  # of a picture in the files: tiles, letters and their smooth edges
# name of the files -> id, parameters of the position and of the game, and who plays it
GAMES: dict[str, tuple[str, dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "samegame": (
        "mo-samegame-v0",
        {"num_agents": 2},
        {"board_width": 8, "board_height": 6, "num_colors": 4},
        ("greedy", "greedy"),
    ),
    "breakthrough": ("mo-breakthrough-v0", {}, {"board_width": 5, "board_height": 6}, ("greedy", "random")),
}


def frames(id: str, params: dict[str, Any], players: tuple[str, ...], seed: int = 4) -> list[Image.Image]:
    """A whole game, a picture for each position."""
    env = momagames.make(id, render_mode="rgb_array", **params)
    env.reset(seed=seed)
    chosen = {agent: policy(name, env.game) for agent, name in zip(env.possible_agents, players, strict=False)}
    rng = np.random.default_rng(seed)
    pictures = [Image.fromarray(env.render())]
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        env.step(chosen[agent](env.record, observation["action_mask"], rng))
        pictures.append(Image.fromarray(env.render()))
    return pictures


def small(picture: Image.Image) -> Image.Image:
    return picture.quantize(COLORS, dither=Image.Dither.NONE)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, (id, position, game, players) in GAMES.items():
        small(frames(id, position, players)[SHOWN]).save(FOLDER / f"{name}.png", optimize=True)
        first, *others = map(small, frames(id, game, players))
        durations = [FRAME] * len(others) + [4 * FRAME]
        first.save(FOLDER / f"{name}.gif", save_all=True, append_images=others, duration=durations, loop=0)
        for path in (FOLDER / f"{name}.png", FOLDER / f"{name}.gif"):
            print(f"{path.relative_to(FOLDER.parent.parent)}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
