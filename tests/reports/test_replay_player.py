"""The replay player of the page: a click on a point replays an episode that ends with the stored return."""

import json

import numpy as np
import pytest

from momagames import registry
from momagames.benchmark import replays, run_suite
from momagames.benchmark.store.store import Store
from momagames.engine.episode import Episode
from momagames.render.canvas import blank
from momagames.render.tiles import Tiles, find_grid
from momagames.reports import report
from momagames.reports.data.panels import build_panels
from momagames.reports.html import replay_player
from tests.benchmark.tiny import GREEDY, POLICIES, RANDOM, plans, suite
from tests.reports.browser import CHROMIUM, Browser, wait_until

PART = """document.querySelector('[data-part="{}"]')"""
SEAT = "[...document.querySelectorAll('#player tr.seat td')].map((cell) => Number(cell.dataset.value))"
POINT = "[...document.querySelectorAll('#player tr.point td')].map((cell) => Number(cell.textContent))"
# the middle of the first marker of the first figure, on the screen
MARKER = """(() => {
  const marker = document.querySelector("#f0 .scatterlayer .trace .points path");
  marker.scrollIntoView({block: "center"});
  const box = marker.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("player")
    assert not run_suite(suite(plans([RANDOM, GREEDY]), POLICIES), folder).failed
    return report(folder)


def pictures(seeds):
    game = registry.spec("mo-samegame-v0", board_width=9, board_height=9, num_colors=3)
    play = Episode(game)
    for seed in seeds:
        play.reset(seed)
        yield game.view.draw(play.state, None)


def test_grid_matches_the_cells_and_frames_are_restored():
    drawn = list(pictures(range(3)))
    grid = find_grid(drawn)
    assert 59 % grid.side == 0  # pixels of a cell of this board
    assert (24 - grid.top) % grid.side == 0  # and of the edge beside it
    tiles = Tiles(grid)
    changes = tiles.changes([*drawn, drawn[-1]])
    assert changes[-1] == []
    rows, columns = grid.shape(drawn[0])
    stored_tiles = [np.frombuffer(tile, np.uint8).reshape(grid.side, grid.side, 3) for tile in tiles.indices]
    sheet = blank(rows * grid.side, columns * grid.side)
    top, left = -grid.top % grid.side, -grid.left % grid.side
    for change, picture in zip(changes, drawn, strict=False):
        for place, number in zip(change[::2], change[1::2], strict=True):
            y, x = (part * grid.side for part in divmod(place, columns))
            sheet[y : y + grid.side, x : x + grid.side] = stored_tiles[number]
        height, width = picture.shape[:2]
        assert (sheet[top : top + height, left : left + width] == picture).all()


def test_replay_of_a_policy_is_the_episode_nearest_to_the_mean(made):
    store = Store(made.page.parent)
    run = next(run for run in store.finished_runs() if run.kind == "policies")
    rows = [row for row in store.read_rows(run) if row["set"] == "report"]
    chosen = replays.find_typical_episode(store.run_directory(run), 0)
    label = replays.load_points(store.run_directory(run))[0]["policy"]
    own = [row for row in rows if row["policy"] == label]
    assert chosen.episodes == len(own)
    returns = np.array([row["return"] for row in own])
    spread = returns.std(axis=0)
    far = (np.abs(returns - returns.mean(axis=0)) / np.where(spread > 0, spread, 1)).sum(axis=1)
    keys = ("episode", "opponent", "seat")
    assert chosen.choice in [{k: own[i][k] for k in keys} for i in np.flatnonzero(far == far.min())]


def test_limits_and_notes(made, monkeypatch):
    store = Store(made.page.parent)
    compared = build_panels(store, store.read_suite())
    whole = replay_player.collect_replays(store, compared, 10**7)
    assert whole.failed == 0
    assert len(whole.replays) == whole.candidates
    assert f"{whole.candidates} of {whole.candidates} points" in whole.note()
    few = replay_player.collect_replays(store, compared, whole.size // 2)
    assert 0 < len(few.replays) < whole.candidates
    assert few.size <= whole.size // 2
    assert few.data()["replays"].items() <= whole.data()["replays"].items()
    assert "no replays" in replay_player.collect_replays(store, compared, 0).note()
    monkeypatch.setattr(replay_player, "MAX_FRAMES", 2)
    shortened = replay_player.collect_replays(store, compared, 10**7)
    assert shortened.stride > 1
    assert "Long episodes are shown in steps" in shortened.note()


@pytest.mark.long
def test_page_without_replays_has_no_player(made):
    assert 'id="player"' in made.page.read_text(encoding="utf-8")
    assert 'id="player"' not in report(made.page.parent, replays=False).page.read_text(encoding="utf-8")
    report(made.page.parent)


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.long
def test_click_replays_an_episode_with_the_return_of_the_point(made, tmp_path):
    with Browser(made.page, tmp_path / "user") as browser:
        opened = "document.getElementById('player').open"
        wait_until(lambda: browser.evaluate("Boolean(document.querySelector('#f0 .scatterlayer, #f0 canvas'))"))
        wait_until(
            lambda: browser.evaluate(opened) or browser.click(*browser.evaluate(MARKER))
        )  # figures may move as they load
        wait_until(lambda: browser.evaluate(f"{opened} && {PART.format('step')}.textContent !== ''"))
        assert browser.evaluate("document.activeElement.textContent") == "Play"
        assert browser.evaluate(f"{PART.format('step')}.textContent").startswith("step 0 of ")
        browser.press("ArrowRight")
        browser.press("ArrowRight")
        browser.press("ArrowLeft")
        assert browser.evaluate(f"{PART.format('step')}.textContent").startswith("step 1 of ")
        assert browser.evaluate(f"{PART.format('text')}.textContent").startswith("agent_0 plays ")
        browser.evaluate(f"{PART.format('speed')}.value = '25'")
        browser.evaluate(f"{PART.format('slider')}.focus()")
        browser.press(" ")
        assert browser.evaluate(f"{PART.format('play')}.textContent") == "Pause"
        wait_until(lambda: browser.evaluate(f"{PART.format('step')}.textContent").endswith("end"))
        assert browser.evaluate(f"{PART.format('play')}.textContent") == "Play"
        assert browser.evaluate(SEAT) == browser.evaluate(POINT)
        colors = f"new Set({PART.format('canvas')}.getContext('2d').getImageData(0, 0, 500, 500).data).size"
        assert browser.evaluate(colors) > 20  # something is drawn
        browser.press("Escape")
        assert not browser.evaluate(opened)
        assert browser.requests == [made.page.as_uri()]
        assert browser.errors == []


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.long
def test_lists_reach_every_replay_and_other_points_show_the_command(made, tmp_path):
    with Browser(made.page, tmp_path / "user") as browser:
        lists = browser.evaluate("[...document.querySelectorAll('.watch select')].map((list) => list.options.length)")
        assert len(lists) == len(made.panels)
        assert all(lists)
        browser.evaluate("document.querySelectorAll('.watch button')[1].focus()")
        browser.press(" ")
        wait_until(lambda: browser.evaluate(f"{PART.format('step')}.textContent !== ''"))
        browser.press("End")
        assert browser.evaluate(f"{PART.format('step')}.textContent").endswith("end")
        header = browser.evaluate("document.querySelector('#player tr.point th').textContent")
        assert header.startswith("point: mean of ")
        browser.press("Escape")
        elsewhere = json.dumps({"detail": {"data": {"meta": ["RUN"]}, "customdata": [0, 7]}})
        browser.evaluate(f"document.dispatchEvent(new CustomEvent('point', {elsewhere}))")
        assert not browser.evaluate(f"{PART.format('missing')}.hidden")
        assert browser.evaluate(f"{PART.format('command')}.textContent").endswith("/runs/RUN --point 7")
        assert browser.errors == []
