"""Draw the pictures in docs/_static that pictures.py lists.

    python docs/make_pictures.py [FILE ...]

FILE ...   only these files (default: all)

Seeds are fixed, so that the files change only if the drawing or the policies change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from front_figure import draw_front
from legends import LEGENDS
from pictures import ENDS, PICTURES, Legend, Picture
from PIL import Image

import momagames
from momagames.adapters.render import Renderer
from momagames.baselines import policy
from momagames.wrappers.recording import frame_durations

FOLDER = Path(__file__).resolve().parent / "_static"
FRAME, QUICK_FRAME = 700, 400  # milliseconds, for sequential and simultaneous games
BETWEEN = 1  # pictures between two positions of an animation
COLORS, GIF_COLORS = 96, 48  # of a picture in the files: tiles, letters and their smooth edges


def frames(shot: Picture) -> Iterator[Image.Image]:
    """Yield its positions as images; in an animation also pictures between them."""
    env = momagames.make(shot.id, api="parallel", render_mode="rgb_array", render_options=shot.render_options, **shot.params)
    env.reset(seed=shot.seed)
    game, episode = env.game, env.aec_env.episode
    own = {"weights": shot.weights} if shot.weights else {}
    policies = [policy(name, game, i, **({} if i else own)) for i, name in enumerate(shot.policies)]
    rng = np.random.default_rng(shot.seed)
    renderer, before = Renderer(game, None, dict(shot.render_options)), None
    steps = range(shot.steps, shot.steps + 1) if isinstance(shot.steps, int) else shot.steps
    for step in range(steps.stop):
        if step in steps:
            state, last, returns = episode.state, env.aec_env.last_action, episode.returns
            if before is not None:
                yield from map(Image.fromarray, renderer.draw_between(before, state, last, returns, BETWEEN))
            yield Image.fromarray(env.render())
            before = state.copy()
        if not env.agents:
            return
        acting = [episode.mover] if game.sequential else [game.agents.index(name) for name in env.agents]
        env.step({game.agents[i]: policies[i](episode.state, episode.mask(i), rng) for i in acting})


def reduce_colors(pictures: list[Image.Image], colors: int) -> list[Image.Image]:
    """Return pictures of one size with one palette of few colors, those of the positions."""
    every = Image.fromarray(np.concatenate([np.asarray(picture) for picture in pictures[:: BETWEEN + 1]]))
    palette = every.quantize(colors, dither=Image.Dither.NONE)
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]


def draw(shot: Picture | Legend) -> None:
    """Draw a picture and write its file."""
    path = FOLDER / shot.file
    pictures = [(LEGENDS | {"front.png": draw_front})[shot.file]()] if isinstance(shot, Legend) else list(frames(shot))
    first, *others = reduce_colors(pictures, GIF_COLORS if path.suffix == ".gif" else COLORS)
    if path.suffix == ".gif":
        assert isinstance(shot, Picture)
        duration = FRAME if momagames.spec(shot.id).sequential else QUICK_FRAME
        durations = [*frame_durations(len(others), duration, BETWEEN), 4 * duration]
        first.save(path, save_all=True, append_images=others, duration=durations, loop=0)
    else:
        first.save(path, optimize=True)
    print(f"{path.relative_to(FOLDER.parent.parent)}: {path.stat().st_size / 1024:.0f} KiB")


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for shot in chain(PICTURES, *ENDS):
        if not names or shot.file in names:
            draw(shot)


if __name__ == "__main__":
    main(sys.argv[1:])
