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
from bandit_figure import draw_bandits
from front_figure import draw_front, draw_meaning
from legends import LEGENDS
from numpy.typing import NDArray
from pictures import ENDS, PICTURES, Legend, Picture
from PIL import Image
from screenshots import draw_report, draw_training

import momagames
from momagames.adapters.render import MARGIN, Renderer
from momagames.baselines import policy
from momagames.contract import Cells
from momagames.render.canvas import PAPER
from momagames.wrappers.recording import frame_durations

FOLDER = Path(__file__).resolve().parent / "_static"
FRAME, QUICK_FRAME = 700, 400  # milliseconds, for sequential and simultaneous games
BETWEEN = 1  # pictures between two positions of an animation
BOARD = 240  # pixels of each side of a board alone
COLORS, GIF_COLORS = 96, 48  # of a picture in the files: tiles, letters and their smooth edges


DRAWINGS = LEGENDS | {
    "bandits.png": draw_bandits,
    "front.png": draw_front,
    "trade-off.png": draw_meaning,
    "report.png": draw_report,
    "training.png": draw_training,
}


def frames(shot: Picture) -> Iterator[Image.Image]:
    """Yield its positions as images; in an animation also pictures between them."""
    env = momagames.make(shot.id, api="parallel", render_mode="rgb_array", render_options=shot.render_options, **shot.params)
    env.reset(seed=shot.seed)
    game, episode = env.game, env.aec_env.episode
    own = {"weights": shot.weights} if shot.weights else {}
    policies = [policy(name, game, i, **({} if i else own)) for i, name in enumerate(shot.policies)]
    rng = np.random.default_rng(shot.seed)
    renderer, before = Renderer(game, None, dict(shot.render_options)), None

    def finish(pixels: NDArray[np.uint8]) -> Image.Image:
        image = Image.fromarray(pixels)
        animation = game.view.animation
        return cut_board(image, animation.locate_cells(episode.state, None)) if shot.is_board and animation else image

    steps = range(shot.steps, shot.steps + 1) if isinstance(shot.steps, int) else shot.steps
    for step in range(steps.stop):
        if step in steps:
            state, last, returns = episode.state, env.aec_env.last_action, episode.returns
            if before is not None:
                yield from map(finish, renderer.draw_between(before, state, last, returns, BETWEEN))
            yield finish(env.render())
            before = state.copy()
        if not env.agents:
            return
        acting = [episode.mover] if game.sequential else [game.agents.index(name) for name in env.agents]
        env.step({game.agents[i]: policies[i](episode.state, episode.mask(i), rng) for i in acting})


def cut_board(picture: Image.Image, cells: Cells) -> Image.Image:
    """Return the cells of a picture; paper is transparent."""
    left, top = MARGIN + cells.left, MARGIN + cells.top
    board = picture.crop((left, top, left + cells.columns * cells.side, top + cells.rows * cells.side))
    outer = (np.asarray(board) == PAPER).all(axis=2)
    board.putalpha(Image.fromarray(np.where(outer, 0, 255).astype(np.uint8)))
    return board


def fit_boards(boards: list[Image.Image]) -> tuple[list[Image.Image], NDArray[np.bool_]]:
    """Return what the first board covers, on squares of BOARD pixels, and which of these it leaves free."""
    fitted, box = [], boards[0].getchannel("A").getbbox()
    for board in boards:
        part = board.crop(box)
        part.thumbnail((BOARD, BOARD), Image.Resampling.LANCZOS)
        square = Image.new("RGBA", (BOARD, BOARD), (*PAPER, 0))
        square.paste(part, ((BOARD - part.width) // 2, (BOARD - part.height) // 2))
        fitted.append(square)
    ground = np.asarray(fitted[0])[:, :, 3] < 128
    return [Image.alpha_composite(Image.new("RGBA", one.size, PAPER), one).convert("RGB") for one in fitted], ground


def reduce_colors(pictures: list[Image.Image], colors: int) -> list[Image.Image]:
    """Return pictures of one size with one palette of few colors, those of the positions."""
    every = Image.fromarray(np.concatenate([np.asarray(picture) for picture in pictures[:: BETWEEN + 1]]))
    palette = every.quantize(colors, dither=Image.Dither.NONE)
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]


def draw(shot: Picture | Legend) -> None:
    """Draw a picture and write its file."""
    path = FOLDER / shot.file
    pictures = [DRAWINGS[shot.file]()] if isinstance(shot, Legend) else list(frames(shot))
    is_board = isinstance(shot, Picture) and shot.is_board
    pictures, ground = fit_boards(pictures) if is_board else (pictures, np.zeros(0, np.bool_))
    reduced = reduce_colors(pictures, GIF_COLORS if path.suffix == ".gif" else COLORS)
    for one in reduced if is_board else ():
        one.paste(GIF_COLORS, mask=Image.fromarray(ground))  # the first unused color
    first, *others = reduced
    if path.suffix == ".gif":
        assert isinstance(shot, Picture)
        duration = FRAME if momagames.spec(shot.id).sequential else QUICK_FRAME
        durations = [*frame_durations(len(others), duration, BETWEEN), 4 * duration]
        extra = {"transparency": GIF_COLORS} if is_board else {}
        first.save(path, save_all=True, append_images=others, duration=durations, loop=0, **extra)
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
