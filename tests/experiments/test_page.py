"""The page of a report in a browser: figures are drawn, lists choose what they show, colours follow the screen."""

import json
import re
import shutil
import subprocess

import pytest

from momagames.experiments import report, run_suite
from momagames.experiments.reports.figures import ATTAINMENT
from momagames.experiments.reports.looks import COLORS, DARK
from tests.experiments.tiny import GREEDY, POLICIES, RANDOM, plans, suite

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PROBE = """<script>setTimeout(() => {
  const told = [...document.querySelectorAll("select")].map((list) => {
    const drawn = document.getElementById("f" + list.dataset.figure);
    const seen = () => drawn.data.map((trace) => trace.visible);
    const before = seen();
    list.selectedIndex = list.options.length - 1;
    list.dispatchEvent(new Event("change"));
    return {label: list.selectedOptions[0].label, before, after: seen(), color: drawn.data[0].line.color,
            ground: drawn.layout.paper_bgcolor, lines: drawn.querySelectorAll(".scatterlayer .trace").length};
  });
  document.body.innerHTML = "";
  document.body.dataset.told = JSON.stringify([told, getComputedStyle(document.body).backgroundColor]);
}, 500)</script></body>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    assert not run_suite(suite(plans([RANDOM, GREEDY]), POLICIES), folder).failed
    return report(folder).page


def opened(page, tmp_path, scheme):
    """What the probe says of the page on a light (1) or dark (0) screen, and what the browser complains of."""
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text(encoding="utf-8").replace("</body>", PROBE), encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--virtual-time-budget=4000",
        "--dump-dom",
    ]
    options += [f"--user-data-dir={tmp_path / 'user'}", f"--blink-settings=preferredColorScheme={scheme}"]
    done = subprocess.run([CHROMIUM, *options, probed.as_uri()], capture_output=True, text=True, timeout=120)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    found = re.search(r'data-told="(.*?)"', done.stdout)
    assert found, (done.stdout[-500:], complaints)
    return (*json.loads(found.group(1).replace("&quot;", '"')), complaints)


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.parametrize(("scheme", "ground"), [(1, "rgb(255, 255, 255)"), (0, "rgb(23, 25, 28)")])
def test_lists_choose_what_figures_show(page, tmp_path, scheme, ground):
    told, body, complaints = opened(page, tmp_path, scheme)
    assert complaints == []
    assert body == ground
    boards, seats = told[:2]
    assert boards["label"] == ATTAINMENT
    assert boards["before"] == [True] * 2 + [False] * 8
    assert boards["after"] == [False] * 4 + [True] * 6
    assert boards["lines"] == 6
    assert seats["label"] == "seed 1"
    assert boards["color"] == (COLORS[0] if scheme else DARK[COLORS[0]])
    assert boards["ground"] == ("#ffffff" if scheme else DARK["#ffffff"])
