"""A kind of figures from outside: on the page, among the figures for papers, and on the pages of the documentation."""

import base64
import json
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from momagames.benchmark import run_suite
from momagames.benchmark.store.archive_file import pack_archive
from momagames.errors import InvalidParameter
from momagames.reports import report
from momagames.reports.figures.drawing import Axis, Drawing, Line, Plot
from momagames.reports.figures.kinds import FIGURE_KINDS, FigureKind, register_figure
from momagames.reports.figures.paper_figures import write_figures
from momagames.reports.figures.plotly_figures import convert_drawing
from tests.benchmark.tiny import RANDOM, plans, suite

pytest.importorskip("matplotlib", reason='needs matplotlib: pip install "momagames[figures]"')
pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import result_pages


def draw_sizes(data, panel):
    """Draw the number of points of each run."""
    lines = [
        Line(name=method, style=panel.styles[method], corners=np.array([[s, len(p.values)] for s, p in runs.items()], float))
        for method, runs in panel.points.items()
    ]
    return Drawing([Plot((Axis("seed"), Axis("points of a run")), lines)], 300, caption=f"Of {panel.kind}.")


KIND = FigureKind("sizes", "Sizes of fronts", "panel", draw_sizes)


def test_a_kind_from_outside_is_everywhere(tmp_path, monkeypatch):
    monkeypatch.setitem(FIGURE_KINDS, KIND.name, KIND)  # so that it is gone after the test
    del FIGURE_KINDS[KIND.name]
    register_figure(KIND)
    with pytest.raises(InvalidParameter, match="invalid name='sizes' of a figure: expected another one than overview, "):
        register_figure(KIND)
    assert not run_suite(suite(plans([RANDOM])), tmp_path).failed
    made = report(tmp_path, replays=False)
    page = made.page.read_text("utf-8")
    number = int(re.search(r'<summary>Sizes of fronts</summary><div class="figure" id="f(\d+)"', page)[1])
    assert '<p class="caption">Of plans.</p>' in page
    packed = re.search('<script id="figures" type="text/plain">(.*?)</script>', page)[1]
    figures = json.loads(zlib.decompress(base64.b64decode(packed)))
    sizes = [len(points.values) for points in made.panels[0].points["random"].values()]
    assert figures[number]["data"][0]["y"] == sizes
    files = [path.name for path in write_figures(made, tmp_path / "figures", ["svg"])]
    assert "sizes-1-mo-gemwalk-boards-0.svg" in files
    pack_archive(tmp_path, tmp_path / "made.npz.xz")
    (text,) = result_pages.make_family_pages("made", tmp_path / "made.npz.xz").texts.values()
    assert "<!-- ![Sizes of fronts: MO-GemWalk" in text


def test_numbers_beside_a_vertical_axis_have_room():
    """Without a legend. Names of rows make room for themselves."""
    line = Line(name="one", style=0, corners=np.array([[0.0, 1_000.0], [1.0, 2_000.0]]))
    drawing = Drawing([Plot((Axis("steps"), Axis("returns")), [line])], 300, legend="none")
    assert convert_drawing(drawing)["layout"]["margin"]["l"] >= 60
