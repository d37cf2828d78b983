"""Pictures between two positions: what moves, and where it is on the way."""

import numpy as np
import pytest

import momagames
from momagames.adapters import render
from momagames.adapters.render import Renderer
from momagames.contract import Cells
from momagames.games.samegame.codec import unpack_board
from momagames.registry import policy
from momagames.render.between import draw_between
from momagames.wrappers import RecordReplay

GAMES = [
    ("mo-samegame-v0", "random", {}),
    ("mo-breakthrough-v0", "random", {}),
    ("mo-pommerman-ffa-v0", "simple", {}),
    ("mo-tileblast-v0", "random", {"level": 2}),
    ("mo-robotmail-4-v0", "random", {}),
]


def steps(id, name, params, count):
    """Play, and yield environment, position before and after each step."""
    env = momagames.make(id, api="parallel", **params)
    env.reset(seed=1)
    game, episode, rng = env.game, env.aec_env.episode, np.random.default_rng(0)
    policies = [policy(name, game, i) for i in range(len(game.agents))]
    for _ in range(count):
        if not env.agents:
            return
        before = episode.state.copy()
        acting = [episode.mover] if game.sequential else [game.agents.index(agent) for agent in env.agents]
        env.step({game.agents[i]: policies[i](episode.state, episode.mask(i), rng) for i in acting})
        yield env, before, episode.state


def test_a_piece_slides_and_the_rest_fades():
    """One row of four cells of a pixel: a piece goes from the first to the third, and the last cell changes."""
    before, after, ground = (np.zeros((3, 6, 3), np.uint8) for _ in range(3))
    before[1, 1], after[1, 3], after[1, 4], ground[1, 4] = 200, 200, 100, 100
    before[0], after[0], ground[0] = 9, 7, 7  # beside the cells: as afterwards
    (middle,) = draw_between(before, after, ground, [((0, 0), (0, 2))], Cells(1, 1, 1, 1, 4), 1)
    assert middle[1, :, 0].tolist() == [0, 0, 200, 0, 50, 0]
    assert (middle[0] == 7).all()
    frames = list(draw_between(before, after, ground, [((-1, 2), (0, 2))], Cells(1, 1, 1, 1, 4), 3))
    assert [int(frame[1, 3, 0]) for frame in frames] == [0, 0, 200]  # it is hidden until it enters
    assert all((frame[0] == 7).all() for frame in frames)


@pytest.mark.parametrize(("id", "name", "params"), GAMES, ids=[id for id, *_ in GAMES])
def test_slides_explain_the_step(id, name, params):
    """A piece is drawn where it comes from before the step as it is drawn where it is after it, up to what it carries."""
    moved = alike = 0
    for env, before, after in steps(id, name, params, 40):
        animation = env.game.view.animation
        slides = animation.find_slides(before, after, env.aec_env.last_action)
        assert len({end for _, end in slides}) == len(slides)
        top, left, side, rows, columns = animation.locate_cells(after, None)
        pictures = [env.game.view.draw(state, hidden=hidden) for state, hidden in ((before, ()), (after, ()))]
        ground = env.game.view.draw(after, hidden=frozenset(end for _, end in slides))
        for start, end in slides:
            assert all(0 <= part < length for part, length in zip(end, (rows, columns), strict=True))
            if min(start) < 0:
                continue
            squares = [
                picture[top + y * side : top + (y + 1) * side, left + x * side : left + (x + 1) * side]
                for picture, (y, x) in ((pictures[0], start), (pictures[1], end), (ground, end))
            ]
            assert (squares[1] != squares[2]).any()
            moved += 1
            alike += (abs(squares[0].astype(int) - squares[1]).max(axis=2) < 60).mean() > 0.8
    assert moved >= 10
    assert alike / moved > 0.8


def test_every_samegame_tile_that_changes_place_slides():
    """A cell with another tile than before is the end of a slide; a slide takes the tile of its start along."""
    params = {"board_width": 6, "board_height": 6, "num_colors": 3}
    changes = 0
    for env, before, after in steps("mo-samegame-v0", "random", params, 12):
        old, new = unpack_board(before), unpack_board(after)
        slides = env.game.view.animation.find_slides(before, after, env.aec_env.last_action)
        assert all(old[start] == new[end] for start, end in slides)
        changed = {(int(y), int(x)) for y, x in np.argwhere((old != new) & (new > 0))}
        assert changed <= {end for _, end in slides}
        changes += len(changed)
    assert changes > 10


@pytest.mark.parametrize("frames", [0, 2])
def test_recordings_have_pictures_between_positions(frames, tmp_path):
    from PIL import Image

    base = momagames.make("mo-breakthrough-v0", render_mode="rgb_array", board_width=3, board_height=5)
    env = RecordReplay(base, tmp_path, ("gif", "json"), frames=frames)
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
    plies = int(env.unwrapped.record["ply"])
    assert len(env.recorder.frames) == plies * (frames + 1) + 1
    picture = Image.open(tmp_path / "episode-000000.gif")
    durations = []
    for k in range(picture.n_frames):
        picture.seek(k)
        durations.append(picture.info["duration"])
    assert sum(durations) == plies * 250 + durations[-1]
    assert (60 in durations) == bool(frames)


def test_windows_show_pieces_on_their_way(pygame, monkeypatch):
    pictures = []
    monkeypatch.setattr(render.time, "sleep", lambda seconds: None)
    for options, expected in (({}, 8), ({"frames": 2}, 4), ({"frames": 0}, 2)):
        env = momagames.make("mo-breakthrough-v0", render_mode="human", render_options=options)
        env.reset(seed=1)
        env.render()
        monkeypatch.setattr(env._renderer.window, "show", pictures.append)
        pictures.clear()
        env.render()
        env.step(int(env.observe("player_0")["action_mask"].argmax()))
        assert len(pictures) == expected
        assert len({picture.tobytes() for picture in pictures}) == expected
        env.close()


def test_positions_far_apart_fade():
    *_, (env, _, after) = steps("mo-breakthrough-v0", "random", {}, 9)
    env.reset(seed=1)
    renderer = Renderer(env.game, None)
    first, last = env.aec_env.record, after
    (middle,) = renderer.draw_between(first, last, None, env.returns, 1)
    ends = [renderer.draw_picture(state, None, env.returns).astype(int) for state in (first, last)]
    row = slice(render.MARGIN + 60, render.MARGIN + 480)
    assert abs(middle[row].astype(int) - (ends[0][row] + ends[1][row]) / 2).max() <= 1
