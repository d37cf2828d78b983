"""What people see: pictures, text and windows of every game."""

from __future__ import annotations

import dataclasses
import itertools
import re
import sys

import numpy as np
import pytest
from pettingzoo.test import render_test

import momagames
from momagames.adapters import render
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.adapters.parallel import MultiObjectiveParallel
from momagames.adapters.render import Renderer
from momagames.contract import View
from momagames.engine.episode import Episode, random_legal
from momagames.errors import InvalidCall, InvalidParameter, MissingExtra
from momagames.games import duel_board
from momagames.games.breakthrough import view as breakthrough
from momagames.games.connect4 import view as connect4
from momagames.games.samegame import view as samegame
from momagames.render import canvas, caption, shapes, vectors
from momagames.wrappers import Scalarize
from tests import meteors

SAMEGAME, BREAKTHROUGH, POMMERMAN = "mo-samegame-v0", "mo-breakthrough-v0", "mo-pommerman-ffa-v0"
CONNECT4 = "mo-connect4-v0"
BIG = {"board_width": 12, "board_height": 14, "num_colors": 10, "num_agents": 5}


def start_episode(id, **params):
    play = Episode(momagames.spec(id, **params))
    play.reset(0)
    return play


def moves(play, count=10_000, seed=0):
    """Play random moves, at most `count`; after each the action is given."""
    rng = np.random.default_rng(seed)
    while count and not play.state["over"]:
        action = random_legal(play.mask(play.mover), play.game.actions, rng)
        play.step(action)
        count -= 1
        yield action


def text_of(play, last=None):
    return Renderer(play.game, "ansi").render(play.state, last, play.returns)


# ---------------------------------------------------------------------------------------------------------------- boards


@pytest.mark.parametrize(
    ("id", "lowest", "highest"), [(SAMEGAME, (3, 3), 30), (BREAKTHROUGH, (5, 3), 20), (CONNECT4, (4, 4), 20)]
)
def test_every_size_is_drawn_at_about_the_same_size(id, lowest, highest):
    """Every height and every width: square boards, the tallest, the widest and some between."""
    sizes = itertools.product(range(lowest[0], highest + 1), range(lowest[1], highest + 1))
    for height, width in sizes:
        if not (height == width or height in (lowest[0], highest) or width in (lowest[1], 10, highest)):
            continue
        play = start_episode(id, board_height=height, board_width=width)
        picture = play.game.view.draw(play.state, int(play.mask(0).argmax()))
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert picture.shape[2] == 3
        assert 480 <= max(picture.shape) <= 660, (height, width, picture.shape)
        board = play.game.codec.save(play.state)["board"]
        lines = play.game.view.text(play.state, None)
        rendered = ["".join(text for text, _ in line) for line in lines]
        wide = [line for line in rendered if len(line) >= 2 * width + 2]
        assert len(wide) >= height
        assert len(board) == height


@pytest.mark.parametrize(
    ("id", "params"), [(SAMEGAME, BIG), (BREAKTHROUGH, {}), (BREAKTHROUGH, {"canonical": True}), (CONNECT4, {})]
)
def test_every_position_looks_different(id, params):
    play = start_episode(id, **params)
    before_picture, before_text = play.game.view.draw(play.state, None), text_of(play)
    for action in moves(play, 30):
        bare, marked = play.game.view.draw(play.state, None), play.game.view.draw(play.state, action)
        assert bare.shape == marked.shape == before_picture.shape
        assert not np.array_equal(bare, before_picture)
        assert not np.array_equal(bare, marked)
        assert text_of(play) != before_text
        assert text_of(play, action) != text_of(play)
        before_picture, before_text = bare, text_of(play)


def test_drawing_changes_no_state():
    play = start_episode(SAMEGAME)
    before = play.states.tobytes()
    first = play.game.view.draw(play.state, 0)
    first[:] = 7
    assert not np.array_equal(play.game.view.draw(play.state, 0), first)
    assert play.states.tobytes() == before


def test_samegame_marks_the_cell_that_was_chosen():
    play = start_episode(SAMEGAME, board_width=4, board_height=3, num_colors=3)
    assert "[" not in text_of(play)
    row = text_of(play, 1 * 4 + 3).splitlines()[2]
    assert row.startswith("1 ")
    assert row.endswith("]")
    assert row[-3] == "["
    side = (canvas.LONG_SIDE - samegame.EDGE) // 4
    changed = (play.game.view.draw(play.state, 7) != play.game.view.draw(play.state, None)).any(axis=2)
    ys, xs = np.nonzero(changed)
    top, left = samegame.EDGE + side, samegame.EDGE + 3 * side
    assert (ys.min(), ys.max() + 1, xs.min(), xs.max() + 1) == (top, top + side, left, left + side)


def test_samegame_counts_the_tiles_that_are_left():
    """Two boards with the same tiles in other places share their legend; one more tile of a color changes it."""
    play = start_episode(SAMEGAME, board_width=3, board_height=3, num_colors=2)
    legends = []
    for board in (["112", "112", "112"], ["211", "211", "211"], ["212", "211", "211"]):
        play.load({"board": board})
        legends.append(play.game.view.draw(play.state, None)[-samegame.LEGEND_ROW :])
    assert np.array_equal(legends[0], legends[1])
    assert not np.array_equal(legends[1], legends[2])


@pytest.mark.parametrize("canonical", [False, True])
def test_breakthrough_marks_from_and_to(canonical):
    play = start_episode(BREAKTHROUGH, board_width=6, board_height=7, canonical=canonical)
    first = play.game.human.parse_action(play.state, "4 1 5")
    play.step(first)
    rows = text_of(play, first).splitlines()[2:9]
    assert rows[1] == "1  V V V V[.]V"
    assert rows[2] == "2  . . . . .[V]"
    second = play.game.human.parse_action(play.state, "0 5 1")
    play.step(second)
    rows = text_of(play, second).splitlines()[2:9]
    assert rows[5] == "5 [.]A A A A A"
    assert rows[4] == "4  .[A]. . . ."
    assert rows[1] == "1  V V V V . V"
    marked = (play.game.view.draw(play.state, second) == breakthrough.MARK).all(axis=2)
    side = (canvas.LONG_SIDE - 2 * duel_board.EDGE - 2 * duel_board.STRIP) // 7
    top, left = duel_board.STRIP + duel_board.EDGE, duel_board.EDGE
    cells = {((y - top) // side, (x - left) // side) for y, x in np.argwhere(marked).tolist()}
    assert cells == {(5, 0), (4, 1)}


def test_breakthrough_shows_the_winner():
    play = start_episode(BREAKTHROUGH, board_width=3, board_height=5)
    play.load({"board": ["...", "2..", "...", ".1.", "..."], "next_agent": "player_1"})
    assert "player_0 goes down" in text_of(play)
    assert "player_1 goes up" in text_of(play)
    running = play.game.view.draw(play.state, None)
    action = play.game.human.parse_action(play.state, "0 1 1")
    play.step(action)
    rendered = text_of(play, action)
    assert "player_0 lost" in rendered
    assert "player_1 won" in rendered
    assert "over after 1 ply: player_0 won" not in rendered
    assert "over after 1 ply: player_1 won" in rendered
    strip = duel_board.STRIP
    assert not np.array_equal(play.game.view.draw(play.state, action)[-strip:], running[-strip:])


def test_a_forfeit_is_shown_as_a_loss():
    env = momagames.make(BREAKTHROUGH, illegal="forfeit", render_mode="ansi")
    env.reset(seed=0)
    env.step(10_000)
    assert "player_0 lost" in env.render()


# --------------------------------------------------------------------------------------------------------------- colors

# Linear RGB as people see it who lack one kind of cone: Machado, Oliveira and Fernandes, "A physiologically-based model
# for simulation of color vision deficiency", 2009, severity 1.
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# OKLab (Ottosson, 2020): distances in it are as people see them; black and white are 1 apart
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def distances(colors, visible):
    """How different colors uint8[n, 3] look, float[n, n]."""
    part = np.asarray(colors) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(SIGHTS[visible]), 0, 1)
    lab = np.cbrt(seen @ np.transpose(TO_CONES)) @ np.transpose(TO_LAB)
    return np.linalg.norm(lab[:, None] - lab[None], axis=2)


def closest(colors, visible):
    apart = distances(colors, visible)
    return apart[np.triu_indices(len(colors), 1)].min()


@pytest.mark.parametrize("visible", SIGHTS)
def test_colors_are_distinguishable(visible):
    assert closest([*shapes.COLORS, samegame.EMPTY], visible) > 0.12
    assert closest(breakthrough.SIDES, visible) > 0.2
    assert closest([*connect4.SIDES, connect4.FRAME], visible) > 0.2
    for ground in (breakthrough.LIGHT, breakthrough.DARK, breakthrough.MARK):
        for side in breakthrough.SIDES:
            assert closest([side, ground], visible) > 0.12
    for shape_on in shapes.COLORS:
        assert closest([shape_on, shapes.contrast(shape_on)], visible) > 0.2


def test_the_measure_of_colors_can_fail():
    red_and_green = [(200, 60, 40), (110, 120, 40)]
    assert closest(red_and_green, "normal") > 0.12
    assert closest(red_and_green, "deuteranopia") < 0.12


@pytest.mark.parametrize("side", [17, 18, 35, 178])
def test_every_color_has_its_own_shape(side):
    """On tiles of one and the same color, shapes still differ in a good part of the pixels that they cover."""
    red = canvas.color("#ff0000")
    tiles = [canvas.paint(side, red, shapes.shape(k, canvas.INK, red))[..., 0] < 128 for k in range(len(shapes.COLORS))]
    for one, other in itertools.combinations(tiles, 2):
        assert (one ^ other).sum() > 0.2 * (one | other).sum()
    assert all(0.05 < tile.mean() < 0.4 for tile in tiles)


# -------------------------------------------------------------------------------------------------------------- captions


def test_all_pictures_of_a_game_have_one_even_size():
    for id, params in ((SAMEGAME, BIG), (BREAKTHROUGH, {"board_width": 3, "board_height": 9})):
        play = start_episode(id, **params)
        renderer = Renderer(play.game, "rgb_array")
        shapes_seen = {renderer.render(play.state, None, play.returns).shape}
        for action in moves(play):
            shapes_seen.add(renderer.render(play.state, action, play.returns).shape)
        (shape,) = shapes_seen
        assert shape[0] % 2 == shape[1] % 2 == 0


@pytest.mark.parametrize("width", [300, 400, 540])
def test_numbers_of_a_caption_have_room(width):
    """Five agents and ten objectives, with the longest numbers there can be: nothing overlaps or is cut off."""
    game = momagames.spec(SAMEGAME, **BIG)
    made = caption.Caption(game, width)
    columns = [caption.longest_text(game, 0), *(game.agents if made.turned else [goal.name for goal in game.objectives])]
    needed = max(canvas.text_width(text, caption.SIZE) for text in columns) + 4
    height, wide = made.sheet.shape[:2]
    assert wide <= max(width, caption.MIN_WIDTH)
    places = [place for row in made.places for place in row]
    assert len(set(places)) == len(places) == 50
    for (x, y), (other_x, other_y) in itertools.combinations(places, 2):
        assert abs(x - other_x) >= needed or abs(y - other_y) >= caption.SIZE
    assert all(needed - 4 < x <= wide and 0 < y < height - caption.SIZE / 2 for x, y in places)


def test_the_caption_shows_every_return():
    play = start_episode(SAMEGAME, **BIG)
    made = caption.Caption(play.game, 540)
    before = made.draw(play.state, play.returns)
    for agent, goal in itertools.product(range(5), range(10)):
        returns = play.returns.copy()
        returns[agent, goal] = 88
        changed = np.argwhere((made.draw(play.state, returns) != before).any(axis=2))
        x, y = made.places[goal][agent] if made.turned else made.places[agent][goal]
        assert len(changed)
        assert (abs(changed - [y, x - 8]) <= 12).all()


def test_captions_as_text():
    play = start_episode(SAMEGAME, **BIG)
    play.returns[3, 9] = 6256
    rendered = caption.format_caption(play.game, play.state, play.returns, width=60)
    assert rendered.splitlines()[0] == "ply 0, agent_0 to move"
    assert max(map(len, rendered.splitlines())) <= 60
    assert [line.split()[-1] for line in rendered.splitlines() if line.startswith("agent_3")][-1] == "6256"
    assert all(goal.name in rendered for goal in play.game.objectives)
    for _ in moves(play):
        pass
    left = np.count_nonzero(samegame.unpack_board(play.state))
    assert caption.describe_status(play.game, play.state) == f"over after {int(play.state['ply'])} plies: {left} tiles left"
    for truncated, said in ((1, "cut off"), (2, "over")):  # 2: decided in its last step
        play.state["truncated"] = truncated
        assert caption.describe_status(play.game, play.state).startswith(f"{said} after")


ENDS = [
    (SAMEGAME, {}, r"over after \d+ plies: \d+ tiles? left"),
    (BREAKTHROUGH, {}, r"over after \d+ plies: player_[01] won"),
    ("mo-pommerman-duel-v0", {}, r"over after \d+ plies: (agent_[01] has|no agent has|agents 0 and 1 have) won"),
    ("mo-tileblast-v0", {}, r"over after \d+ plies: (won|lost.*)"),
    ("mo-robotmail-4-v0", {"max_step": 9}, r"cut off after 9 plies"),
]


@pytest.mark.parametrize(("id", "params", "expected"), ENDS, ids=[id for id, *_ in ENDS])
def test_the_end_is_a_banner_with_the_result(id, params, expected):
    env = momagames.make(id, api="parallel", render_mode="svg", **params)
    env.reset(seed=2)
    banner = f'height="{caption.BANNER}" fill="{vectors.format_color(canvas.INK)}"'
    assert banner not in env.render()
    rng = np.random.default_rng(0)
    while env.agents:
        masks = {agent: env.aec_env.episode.mask(env.possible_agents.index(agent)) for agent in env.agents}
        env.step({agent: random_legal(mask, env.game.actions, rng) for agent, mask in masks.items() if mask.any()})
    document = env.render()
    state = env.aec_env.record
    status = caption.describe_status(env.game, state)
    assert re.fullmatch(expected, status)
    assert document.count(f">{status}<") == 1
    assert banner in document
    sheet = caption.Caption(env.game, 300).draw(state, env.aec_env.episode.returns)
    assert canvas.text_width(status, caption.SIZE - 2) <= sheet.shape[1]


@pytest.mark.parametrize(("value", "rendered"), [(0.0, "0"), (-0.0, "0"), (900.0, "900"), (-0.125, "-0.125"), (1 / 3, "0.333")])
def test_numbers(value, rendered):
    assert caption.format_number(value) == rendered


def test_simultaneous_games_and_games_without_a_view():
    game = meteors.game("meteors-v0")
    play = Episode(game)
    play.reset(1)
    assert (
        Renderer(game, "ansi")
        .render(play.state, None, play.returns)
        .startswith(f"{game.codec.show(play.state)}\n\nply 0, all agents")
    )
    assert Renderer(game, "rgb_array").render(play.state, None, play.returns).shape[2] == 3
    other = dataclasses.replace(momagames.spec(SAMEGAME), view=View())
    dealt_one = start_episode(SAMEGAME)
    assert Renderer(other, "ansi").render(dealt_one.state, None, dealt_one.returns).startswith("next_agent=agent_0")


# ----------------------------------------------------------------------------------------------------------------- modes


def test_ansi_is_returned_and_not_printed(capsys):
    env = momagames.make(SAMEGAME, render_mode="ansi")
    env.reset(seed=0)
    rendered = env.render()
    assert isinstance(rendered, str)
    assert "\x1b" not in rendered
    assert rendered.isascii()
    assert capsys.readouterr().out == ""


def test_unknown_modes_are_rejected():
    with pytest.raises(InvalidParameter, match="did you mean 'rgb_array'"):
        Renderer(momagames.spec(SAMEGAME), "rgb")
    with pytest.raises(InvalidParameter, match="human"):
        momagames.make(SAMEGAME, render_mode="window")


def test_without_a_mode_render_warns():
    env = momagames.make(SAMEGAME)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert env.render() is None


def test_without_pygame_there_are_pictures_but_no_window(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    env = momagames.make(BREAKTHROUGH, render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().dtype == np.uint8
    with pytest.raises(MissingExtra, match=r'pip install "momagames\[render\]"'):
        Renderer(momagames.spec(SAMEGAME), "human")


@pytest.mark.parametrize("api", ["aec", "parallel", "gymnasium"])
@pytest.mark.parametrize("id", [POMMERMAN, "mo-pommerman-radio-v0", "mo-pommerman-duel-v0", BREAKTHROUGH])
def test_every_api_renders_in_every_mode(id, api, pygame):
    rendered = {}
    for mode in ("human", "rgb_array", "ansi"):
        env = momagames.make(id, api=api, render_mode=mode)
        env.reset(seed=1)
        rendered[mode] = env.render()
        if mode == "human":
            window = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
        env.close()
    assert rendered["human"] is None
    assert np.array_equal(window, rendered["rgb_array"])
    assert env.game.objectives[0].name in rendered["ansi"]


def test_the_hosts_render_test(pygame):
    render_test(lambda render_mode: momagames.make(POMMERMAN, render_mode=render_mode))
    render_test(lambda render_mode: Scalarize(momagames.make(BREAKTHROUGH, render_mode=render_mode), utility=sum))


def test_the_window_shows_the_picture(pygame):
    play = start_episode(SAMEGAME)
    renderer = Renderer(play.game, "human")
    assert renderer.render(play.state, 5, play.returns) is None
    picture = Renderer(play.game, "rgb_array").render(play.state, 5, play.returns)
    rendered = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
    assert np.array_equal(rendered, picture)
    assert pygame.display.get_caption()[0] == play.game.title
    renderer.close()
    assert not pygame.display.get_init()


def test_a_closed_window_stays_closed_and_the_game_continues(pygame):
    env = momagames.make(SAMEGAME, render_mode="human")
    env.reset(seed=0)
    env.render()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(int(env.observe("agent_0")["action_mask"].argmax()))
    assert not pygame.display.get_init()
    env.step(int(env.observe("agent_0")["action_mask"].argmax()))
    assert env.render() is None
    assert not pygame.display.get_init()
    env.close()
    env.close()


def test_a_window_gives_way_to_another(pygame):
    one, other = start_episode(SAMEGAME), start_episode(BREAKTHROUGH)
    first, second = Renderer(one.game, "human"), Renderer(other.game, "human")
    first.render(one.state, None, one.returns)
    second.render(other.state, None, other.returns)
    first.close()
    assert pygame.display.get_init()
    second.render(other.state, None, other.returns)
    second.close()


def test_no_screen_is_said_clearly(pygame, monkeypatch):
    def raise_error(size):
        raise pygame.error("No available video device")

    monkeypatch.setattr(pygame.display, "set_mode", raise_error)
    play = start_episode(SAMEGAME)
    with pytest.raises(InvalidCall, match="rgb_array"):
        Renderer(play.game, "human").render(play.state, None, play.returns)


# --------------------------------------------------------------------------------------------------------------- options


def make_environments(**given):
    """A game with render options in the three APIs, after a step in which all agents move to the right."""
    game = meteors.for_people()
    right = {agent: [2, 1] for agent in game.agents}
    aec, parallel = MultiObjectiveAEC(game, **given), MultiObjectiveParallel(MultiObjectiveAEC(game, **given))
    single = SingleAgentEnv(game, others=lambda state, mask, rng: [2, 1], **given)
    for env in (aec, parallel, single):
        env.reset(seed=1)
    for agent in game.agents:
        aec.step(right[agent])
    parallel.step(right)
    single.step([2, 1])
    return aec, parallel, single


ALL_RIGHT = "[[2, 1], [2, 1], [2, 1]]"


def test_every_api_takes_render_options_and_shows_all_actions():
    options = {"viewer": "rover_1", "big": True}
    for env in make_environments(render_mode="ansi", render_options=options):
        assert env.render().startswith(f"rover_1 True -1 {ALL_RIGHT}")
        assert env.render_options == options
    for env in make_environments(render_mode="ansi"):
        assert env.render().startswith(f"None False -1 {ALL_RIGHT}")
    for env, plain_env in zip(
        make_environments(render_mode="rgb_array", render_options=options),
        make_environments(render_mode="rgb_array"),
        strict=True,
    ):
        assert env.render()[render.MARGIN, render.MARGIN, 0] == 20
        assert plain_env.render()[render.MARGIN, render.MARGIN, 0] == 199


def test_render_options_may_be_changed():
    for env in make_environments(render_mode="ansi"):
        env.render_options["viewer"] = "rover_2"
        assert env.render().startswith("rover_2 False")
        env.render_options["viewer"] = "rover2"
        with pytest.raises(InvalidParameter, match=r"invalid viewer='rover2': expected None, 'rover_0'"):
            env.render()


def test_render_options_are_checked_when_an_environment_is_made():
    for wrong, match in (
        ({"veiwer": None}, "did you mean 'viewer'"),
        ({"cell": 20}, r"-1\.\.19"),
        ({"big": 1}, "True or False"),
    ):
        with pytest.raises(InvalidParameter, match=match):
            make_environments(render_options=wrong)
    for api in ("aec", "parallel", "gymnasium"):
        with pytest.raises(
            InvalidParameter, match="invalid render option 'viewer' of mo-samegame-v0: expected 'size', 'dark' or 'frames'"
        ):
            momagames.make(SAMEGAME, api=api, render_options={"viewer": None})


def test_a_viewer_knows_its_own_returns_only():
    env, _, _ = make_environments(render_mode="ansi", render_options={"viewer": "rover_1"})
    assert [len(line.split()) for line in env.render().splitlines()[-3:]] == [1, 3, 1]
    del env.render_options["viewer"]
    assert [len(line.split()) for line in env.render().splitlines()[-3:]] == [3, 3, 3]
    game = env.game
    pictures = [
        Renderer(game, "rgb_array", {"viewer": viewer}).render(env.episode.state, None, returns)
        for viewer in (None, "rover_1")
        for returns in (env.returns, np.add(env.returns, [[1, 0], [0, 0], [0, 0]]))
    ]
    assert not np.array_equal(pictures[0], pictures[1])
    assert np.array_equal(pictures[2], pictures[3])


def test_half_a_round_does_not_change_what_was_done_last():
    env, _, _ = make_environments(render_mode="ansi")
    env.step([1, 0])
    assert ALL_RIGHT in env.render()


def test_the_window_listens_to_pointer_and_letters(pygame):
    env, _, _ = make_environments(render_mode="human")

    def shade():
        env.render()
        return pygame.display.get_surface().get_at((render.MARGIN, render.MARGIN))[0]

    def post(kind, **facts):
        pygame.event.post(pygame.event.Event(kind, **facts))

    assert shade() == 199
    post(pygame.MOUSEMOTION, pos=(render.MARGIN + 11, render.MARGIN + 3))
    assert shade() == 205
    post(pygame.MOUSEMOTION, pos=(render.MARGIN - 1, render.MARGIN + 3))
    assert shade() == 199
    post(pygame.MOUSEMOTION, pos=(render.MARGIN + 11, render.MARGIN + 3))
    post(pygame.WINDOWLEAVE)
    assert shade() == 199
    shades = []
    for _ in range(4):
        post(pygame.KEYDOWN, key=pygame.K_v)
        shades.append(shade())
    assert shades == [0, 20, 40, 199]
    post(pygame.KEYDOWN, key=pygame.K_c)  # a number has no values to go through
    assert shade() == 199
    assert env.render_options == {"viewer": None}


def test_frames_can_be_followed(pygame, monkeypatch):
    """Two frames a quarter of a second apart: the second waits for what is left of it."""
    waits = []
    monkeypatch.setattr(render.time, "sleep", waits.append)
    play = start_episode(SAMEGAME)
    renderer = Renderer(play.game, "human")
    renderer.render(play.state, None, play.returns)
    renderer.render(play.state, None, play.returns)
    assert waits[0] == 0
    assert 0 < waits[1] <= 1 / render.FRAMES_PER_SECOND
