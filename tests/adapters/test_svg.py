"""SVG pictures: documents of shapes and text that show what the pictures of pixels show."""

import subprocess
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.render import Renderer
from momagames.errors import InvalidCall
from momagames.games.breakthrough import view as breakthrough
from momagames.games.pommerman.view import drawing as pommerman
from momagames.games.robotmail.view import drawing as robotmail
from momagames.games.samegame import view as samegame
from momagames.games.tileblast.view.drawing import SIDE
from tests import meteors
from tests.reports.browser import CHROMIUM

IDS = [
    "mo-samegame-v0", "mo-breakthrough-v0", "mo-pommerman-ffa-v0", "mo-tileblast-v0", "mo-robotmail-4-v0", "mo-connect4-v0",
    "mo-ingenious-v0",
    "mo-gem-mining-v0",
    "mo-route-choice-v0",
    "mo-item-gathering-v0",
]  # fmt: skip
NAMESPACE = "{http://www.w3.org/2000/svg}"
SHAPES = {"svg", "title", "defs", "symbol", "use", "g", "rect", "ellipse", "polygon", "polyline", "line", "text"}


def make(id, mode="svg", **options):
    env = momagames.make(id, render_mode=mode, render_options=options)
    env.reset(seed=3)
    return env


def parse(document):
    root = ElementTree.fromstring(document)
    assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} <= SHAPES
    return root


def count_cells(root, side):
    """Return how often each picture of this many pixels is placed."""
    placed = [element for element in root.iter() if element.get("width") == element.get("height") == str(side)]
    uses = Counter(element.get("href") for element in placed if element.tag == f"{NAMESPACE}use")
    singles = [element for element in placed if element.tag == f"{NAMESPACE}svg"]
    return sorted([*uses.values(), *[1] * len(singles)])


def expected_cells(id, state):
    """Return the side of a cell, and how often each kind of cell is on the board."""
    if id == "mo-samegame-v0":
        board = samegame.unpack_board(state)
        return samegame.cell_side(*board.shape), Counter(board.ravel().tolist())
    if id == "mo-breakthrough-v0":
        board = breakthrough.unpack_board(state)
        ground = np.indices(board.shape).sum(axis=0) % 2
        return breakthrough.measure_board(*board.shape).side, Counter((2 * board + ground).ravel().tolist())
    if id == "mo-pommerman-ffa-v0":
        size = int(state["size"])
        return pommerman.cell_side(size), Counter(state["board"][: size * size].tolist())
    assert not (state["kind"] > 1).any()
    colors = state["color"][state["active"] == 1].tolist()
    return SIDE, Counter(colors)


@pytest.mark.parametrize("id", IDS[:4])
def test_every_cell_is_drawn_as_often_as_the_board_has_it(id):
    env = make(id)
    side, cells = expected_cells(id, env.record)
    assert count_cells(parse(env.render()), side) == sorted(cells.values())


def test_robots_and_mails_are_drawn_over_the_empty_board():
    env = make("mo-robotmail-4-v0")
    state = env.record
    height, width = int(state["height"]), int(state["width"])
    mails = len(robotmail.build_scene(state, None, -1).mails)
    cells = count_cells(parse(env.render()), robotmail.cell_side(height, width))
    assert sum(cells) == height * width + 4 + mails


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("api", ["aec", "parallel", "gymnasium"])
def test_every_api_returns_the_same_document(id, api):
    env = momagames.make(id, api=api, render_mode="svg")
    env.reset(seed=3)
    assert "svg" in env.metadata["render_modes"]
    document = env.render()
    assert document == make(id).render()
    root = parse(document)
    pixels = make(id, "rgb_array").render()
    assert [root.get("height"), root.get("width")] == [str(side) for side in pixels.shape[:2]]
    words = [element.text for element in root.iter(f"{NAMESPACE}text")]
    assert {objective.name for objective in env.game.objectives} <= set(words)
    assert root.findtext(f"{NAMESPACE}title").startswith(f"{env.game.title}: ply 0")


@pytest.mark.parametrize("id", IDS)
def test_render_options_hold(id):
    usual, dark, large = make(id).render(), make(id, dark=True).render(), make(id, size=1500).render()
    assert len({usual, dark, large}) == 3
    assert max(int(parse(large).get(side)) for side in ("width", "height")) > 1400
    assert make(id, "rgb_array").render().dtype == np.uint8  # what was drawn as SVG is not used for pixels
    assert make(id).render() == usual


def test_the_viewer_hides_what_an_agent_does_not_see():
    whole, seen = (make("mo-pommerman-team-v0", viewer=viewer).render() for viewer in (None, "agent_0"))
    assert "as agent_0 sees it" in seen
    assert "as agent_0 sees it" not in whole


def test_documents_have_few_symbols_and_no_name_twice():
    root = parse(make("mo-samegame-v0").render())
    names = [element.get("id") for element in root.iter(f"{NAMESPACE}symbol")]
    assert len(names) == len(set(names)) <= 6
    assert {element.get("href") for element in root.iter(f"{NAMESPACE}use")} == {f"#{name}" for name in names}


def test_a_game_that_draws_pixels_has_no_svg():
    env = MultiObjectiveAEC(meteors.game("meteors-v0"), render_mode="svg")
    env.reset(seed=0)
    with pytest.raises(InvalidCall, match=r"meteors-v0 draws pixels: expected momagames\.render\.canvas"):
        env.render()


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("id", IDS)
def test_a_browser_shows_what_the_pixels_show(id, dark, tmp_path):
    pixels = make(id, "rgb_array", dark=dark).render().astype(int)
    height, width = pixels.shape[:2]
    (tmp_path / "page.svg").write_text(make(id, dark=dark).render(), encoding="utf-8")
    target = [f"--screenshot={tmp_path / 'page.png'}", f"--window-size={width},{height}", (tmp_path / "page.svg").as_uri()]
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={tmp_path / 'user'}"]
    subprocess.run([CHROMIUM, *flags, *target], capture_output=True, check=True, timeout=120)
    rendered = np.asarray(Image.open(tmp_path / "page.png").convert("RGB"), int)[:height, :width]
    different = abs(rendered - pixels).max(axis=2)
    assert different.mean() < 6
    assert (different > 64).mean() < 0.02  # edges of letters in another font


def test_renderers_draw_both_kinds():
    env = make("mo-samegame-v0")
    renderer = Renderer(env.game, "svg")
    first = renderer.render(env.record, None, env.returns)
    assert renderer.draw_picture(env.record, None, env.returns).dtype == np.uint8
    assert renderer.render(env.record, None, env.returns) == first
