"""The page of a report in a browser: figures, select elements, and the dark color scheme."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from momagames.benchmark import run_suite
from momagames.reports import report
from momagames.reports.figures.fronts import ATTAINMENT
from momagames.reports.figures.theme import DARK, REFERENCE_COLOR
from tests.benchmark.tiny import GREEDY, POLICIES, RANDOM, plans, suite
from tests.reports.browser import Browser, wait_until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PROBE = """<script>setTimeout(() => {
  const views = [...document.querySelectorAll("select[data-figure]")].map((list) => {
    const drawn = document.getElementById("f" + list.dataset.figure);
    if (!drawn.data) draw(Number(list.dataset.figure)); // folded
    const seen = () => drawn.data.map((trace) => trace.visible);
    const before = seen();
    list.selectedIndex = list.options.length > 2 ? 2 : list.options.length - 1;
    list.dispatchEvent(new Event("change"));
    return {label: list.selectedOptions[0].label, before, after: seen(), color: drawn.data[0].line?.color,
            ground: drawn.layout.paper_bgcolor, lines: drawn.querySelectorAll(".scatterlayer .trace").length};
  });
  const i = document.querySelector("select[data-kind]").dataset.kind;
  const drawn = document.getElementById("f" + i);
  if (!drawn.data) draw(Number(i));
  const choose = (role, value) => {
    const list = document.querySelector(`select[data-${role}="${i}"]`);
    list.value = value;
    list.dispatchEvent(new Event("change"));
    return list.parentElement.hidden;
  };
  const seen = (hidden) => ({
    hidden, types: drawn.data.map((trace) => trace.type), values: drawn.data.map(({x, y, z}) => [x, y, z].filter(Boolean)),
    titles: ["xaxis", "yaxis", "zaxis"].map((axis) => (drawn.layout.scene || drawn.layout)[axis]?.title?.text),
    note: !document.querySelector(`[data-note="${i}"]`).hidden,
  });
  choose("figure", 0);
  const hidden = choose("x", 2);
  choose("kind", "2d");
  const flat = seen(choose("y", 3));
  choose("kind", "3d");
  const solid = seen(choose("z", 0));
  choose("kind", "all");
  const picked = {flat, solid, whole: seen(hidden), texts: figures[i].projections.clouds.map((cloud) => cloud.view)};
  const ground = getComputedStyle(document.body).backgroundColor;
  document.body.innerHTML = "";
  document.body.dataset.result = JSON.stringify([views, ground, picked]);
}, 3000)</script></body>"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    assert not run_suite(suite(plans([RANDOM, GREEDY]), POLICIES), folder).failed
    return report(folder)


@pytest.fixture(scope="module")
def page(made):
    return made.page


def opened(page, tmp_path, scheme):
    """Return the results of the probe with a light (1) or dark (0) color scheme, and the console messages."""
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text(encoding="utf-8").replace("</body>", PROBE), encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-unsafe-swiftshader",  # drawings in space without a graphics card
        "--enable-logging=stderr",
        "--virtual-time-budget=10000",
        "--dump-dom",
    ]
    options += [f"--user-data-dir={tmp_path / 'user'}", f"--blink-settings=preferredColorScheme={scheme}"]
    done = subprocess.run([CHROMIUM, *options, probed.as_uri()], capture_output=True, text=True, timeout=120)
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line and not re.search("WebGL|Canvas2D", line)]
    found = re.search(r'data-result="(.*?)"', done.stdout)
    assert found, messages
    return (*json.loads(html.unescape(found.group(1))), messages)


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.parametrize(("scheme", "ground"), [(1, "rgb(255, 255, 255)"), (0, "rgb(23, 25, 28)")])
@pytest.mark.long
def test_select_elements_choose_the_view(page, tmp_path, scheme, ground):
    views, body, _, messages = opened(page, tmp_path, scheme)
    assert messages == []
    assert body == ground
    boards, seats = views[:2]
    assert boards["label"] == ATTAINMENT
    areas = len(boards["after"]) - 13  # of the difference in attainment, in a view of their own
    assert boards["before"] == [True] * 3 + [False] * (10 + areas)
    assert boards["after"] == [False] * 6 + [True] * 7 + [False] * areas
    assert boards["lines"] == 7
    assert seats["label"] == "seed 1"
    assert boards["color"] == (REFERENCE_COLOR if scheme else DARK[REFERENCE_COLOR])
    assert boards["ground"] == ("#ffffff" if scheme else DARK["#ffffff"])


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.long
def test_select_elements_choose_the_axes(made, page, tmp_path):
    """MO-Breakthrough has four objectives: captures and losses in 2-D, then with win in 3-D, then all."""
    _, _, picked, messages = opened(page, tmp_path, 1)
    assert messages == []
    panel = next(panel for panel in made.panels if panel.experiment == "seats")
    flat, solid, whole = picked["flat"], picked["solid"], picked["whole"]
    assert [flat["hidden"], solid["hidden"], whole["hidden"]] == [False, False, True]
    assert [flat["note"], solid["note"], whole["note"]] == [True, True, False]
    assert [title and title.split()[0] for title in flat["titles"]] == ["captures", "losses", None]
    assert [title.split()[0] for title in solid["titles"]] == ["captures", "losses", "win"]
    assert set(flat["types"]) == {"scatter"}
    assert set(solid["types"]) == {"scatter3d"}
    for seen, columns in ((flat, [2, 3]), (solid, [2, 3, 0])):
        assert len(seen["values"]) == 1 + len(panel.points)
        for drawn, found in zip(seen["values"][1:], panel.points.values(), strict=True):
            assert sorted(zip(*drawn, strict=True)) == sorted(map(tuple, found[0].values[:, columns].tolist()))
    lines = whole["values"][-1 - len(panel.points) : -1]  # the last one is the line under the pointer
    for (_, drawn), found in zip(lines, panel.points.values(), strict=True):
        shares = panel.references[0].normalize(found[0].values)
        lines = np.array([value for value in drawn if value is not None]).reshape(-1, 4)
        assert len(drawn) == 5 * len(shares)  # a gap after each line
        assert np.sort(lines, axis=0) == pytest.approx(np.sort(shares, axis=0))


WIDTH = "document.documentElement.scrollWidth"
SCREENS = "document.documentElement.scrollHeight / innerHeight"
OVERFLOWING = """[...document.querySelectorAll("main *")].filter((part) => !part.closest(".wide, .figure, pre, select")
  && part.getBoundingClientRect().right > innerWidth + 1).map((part) => part.outerHTML.slice(0, 80))"""


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.parametrize("width", [1366, 390])
@pytest.mark.long
def test_layout(page, tmp_path, width):
    """The first front is on the first screen, the page is short until something is opened, and nothing is cut on a phone."""
    assert page.stat().st_size < 5_000_000
    with Browser(page, tmp_path / "user") as browser:
        browser.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 700)
        wait_until(lambda: browser.evaluate("Boolean(document.querySelector('.split .front .figure .plotly'))"))
        if width > 700:
            assert browser.evaluate("document.querySelector('.split .front .figure').getBoundingClientRect().bottom") < 900
            assert browser.evaluate(SCREENS) < 8
        wait_until(lambda: browser.evaluate(WIDTH) <= width)
        assert browser.evaluate(OVERFLOWING) == []
        browser.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        drawn = "[...document.querySelectorAll('.figure')].filter((part) => part.data).length"
        browser.evaluate("[...document.querySelectorAll('.figure')].at(-1).scrollIntoView()")
        wait_until(lambda: browser.evaluate("Boolean([...document.querySelectorAll('.figure')].at(-1).data)"))
        assert browser.evaluate(drawn) > 2
        wait_until(lambda: browser.evaluate(WIDTH) <= width)
        assert browser.evaluate(OVERFLOWING) == []
        assert browser.errors == []


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.long
def test_phone_in_the_dark(page, tmp_path):
    """Figures have a dark ground, no toolbar, and do not lie beside each other."""
    settings = (
        ("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}),
        ("Emulation.setTouchEmulationEnabled", {"enabled": True}),
        ("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    )
    with Browser(page, tmp_path / "user", settings) as browser:
        wait_until(lambda: browser.evaluate("Boolean(document.querySelector('.plotly'))"))
        assert browser.evaluate("document.querySelectorAll('.modebar-btn').length") == 0
        grounds = (
            "[...document.querySelectorAll('.figure')].filter((part) => part.data).map((part) => part.layout.paper_bgcolor)"
        )
        assert set(browser.evaluate(grounds)) == {DARK["#ffffff"]}
        tops = "[...document.querySelectorAll('.split > div')].map((part) => part.getBoundingClientRect().top)"
        first, second = browser.evaluate(tops)
        assert first < second
        assert browser.errors == []


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.long
def test_links_open_what_is_folded_and_lines_follow_the_pointer(page, tmp_path):
    with Browser(page, tmp_path / "user") as browser:
        wait_until(lambda: browser.evaluate("Boolean(document.querySelector('.figure .plotly'))"))
        folded = "[...document.querySelectorAll('details[id^=p]')][0]"
        assert not browser.evaluate(f"{folded}.open")
        browser.evaluate(f"location.hash = {folded}.id")
        wait_until(lambda: browser.evaluate(f"{folded}.open"))
        lines = "[...document.querySelectorAll('.figure')].find((part) => part.data?.at(-1)?.meta === 'highlight')"
        browser.evaluate("document.querySelectorAll('.figure').forEach((part) => part.scrollIntoView())")
        wait_until(lambda: browser.evaluate(f"Boolean({lines})"))
        point = "{data: part.data.at(-2), pointNumber: 1}"
        browser.evaluate(f"(() => {{ const part = {lines}; part.emit('plotly_hover', {{points: [{point}]}}); }})()")
        wait_until(lambda: browser.evaluate(f"{lines}.data.at(-1).x.length > 1"))
        assert browser.evaluate(f"{lines}.data.at(-1).y") == browser.evaluate(
            f"{lines}.data.at(-2).y.slice(0, {lines}.data.at(-1).x.length)"
        )
        browser.evaluate(f"{lines}.emit('plotly_unhover')")
        wait_until(lambda: browser.evaluate(f"{lines}.data.at(-1).x.length === 0"))
        assert browser.errors == []
