"""The report: what is computed from rows, and a page that stands alone."""

import html
import html.parser
import io
import json
import re
import sys
import xml.etree.ElementTree
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from momagames.analysis.indicators import hypervolume
from momagames.benchmark import run_suite
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_files import load_suite
from momagames.errors import InvalidFile, MissingExtra
from momagames.reports import report
from momagames.reports.data.panels import build_panels
from momagames.reports.data.points import read_policy_episodes
from momagames.reports.figures.charts import attainment
from momagames.reports.figures.fronts import ATTAINMENT, figure, spread
from momagames.reports.figures.papers import _corners, write_figures
from momagames.reports.figures.theme import COLORS, DARK
from momagames.reports.html.compressed_text import unpacked
from momagames.reports.html.page_tables import MEANINGS, STATISTIC_MEANINGS
from momagames.reports.report import HEADINGS, STATISTIC_HEADINGS, caption, cell
from tests.benchmark.tiny import EXACT, GREEDY, POLICIES, RANDOM, broken, plans, suite


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report on games of one to five objectives."""
    tested = suite(
        plans([RANDOM, GREEDY, EXACT]),
        {**plans([RANDOM], color_rewards=False), "name": "one"},
        {**plans([RANDOM, EXACT], num_colors=3), "name": "three"},
        {**plans([RANDOM, GREEDY], num_colors=5, board_width=8, board_height=8), "name": "five", "budget": 20_000},
        POLICIES,
    )
    folder = tmp_path_factory.mktemp("made")
    assert not run_suite(tested, folder).failed
    return report(folder, "momagames bench run tiny.yaml")


def panel(made, start):
    return next(panel for panel in made.panels if panel.title.startswith(start))


def test_exact_is_the_measure_where_it_is_known(made):
    boards = panel(made, "boards")
    assert {reference.tag for reference in boards.references.values()} == {"exact"}
    scores = boards.scores["exact"]
    assert scores["hypervolume_ratio"].interval.value == 1
    assert scores["igd_plus"].interval.value == scores["epsilon"].interval.value == 0
    assert boards.scores["random"]["hypervolume_ratio"].interval.value <= 1
    assert boards.scores["random"]["hypervolume"].interval.runs == 2


def test_elsewhere_it_is_the_union_and_says_so(made):
    five = panel(made, "five")
    reference = five.references[0]
    assert reference.tag == "best known"
    for found in five.points.values():
        for value in found[0].values:
            assert (reference.values >= value).all(axis=1).any()


def test_the_reference_point_is_the_declared_one_with_its_margin(made):
    boards = panel(made, "boards")
    for seed, reference in boards.references.items():
        assert reference.low == pytest.approx(-0.01 * reference.high)
        own = boards.points["random"][seed].values
        assert hypervolume(own, reference.low).value > 0
    seats = panel(made, "seats")
    declared = np.array([-1.0, -1, 0, -1])
    assert seats.references[0].low == pytest.approx(declared - 0.01 * (np.array([1.0, 1, 1, 0]) - declared))


def test_policies_have_views_by_opponent_and_seat(made):
    scopes = [p.scope for p in made.panels if p.experiment == "seats"]
    assert scopes[0] == "against random and greedy(weights=(0, 0, 1, 0)), mean of 2 seats"
    assert scopes[1:] == [
        "against random, mean of 2 seats",
        "against greedy(weights=(0, 0, 1, 0)), mean of 2 seats",
        "against random and greedy(weights=(0, 0, 1, 0)), as player_0",
        "against random and greedy(weights=(0, 0, 1, 0)), as player_1",
    ]
    assert [p.primary for p in made.panels if p.experiment == "seats"] == [True, False, False, False, False]


def test_selection_and_values_come_from_different_games():
    def row(policy, which, value, episode=0):
        return {"policy": policy, "set": which, "return": value, "opponent": "o", "seat": "s", "episode": episode}

    rows = [
        row("lucky", "select", [9.0, 9.0]),
        row("lucky", "report", [1.0, 1.0]),
        row("lucky", "report", [3.0, 1.0], 1),
        row("honest", "select", [5.0, 5.0]),
        row("honest", "report", [5.0, 5.0]),
        row("honest", "report", [5.0, 5.0], 1),
        {**row("honest", "select", [99.0, 99.0]), "opponent": "other"},
    ]
    found = read_policy_episodes(rows, ("o",), ("s",)).nondominated_points()
    assert found.labels == ("lucky",)
    assert found.values.tolist() == [[2.0, 1.0]]
    assert found.errors.tolist() == [[1.0, 0.0]]


def test_the_table_fits_80_columns(made):
    text = Console(width=80, file=io.StringIO(), record=True)
    text.print(made.table(every=True))
    lines = text.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(re.search("hypervol[^ ]* ↑|hypervo[^ ]*…", line) for line in lines)  # a column of the page alone
    for method in ("random", "greedy", "exact"):
        assert any(line.strip().startswith(method) for line in lines)


class Outside(html.parser.HTMLParser):
    """Collects what a page would fetch."""

    def __init__(self):
        super().__init__()
        self.fetched, self.scripts = [], 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.fetched += [value for name, value in attrs if name in ("src", "href") and not value.startswith("#")]


def test_the_page_stands_alone(made):
    text = made.page.read_text(encoding="utf-8")
    page = Outside()
    page.feed(text)
    assert page.fetched == []
    assert page.scripts == 6  # plotly.js, colors, figures, what draws them, and the player with its games
    assert inside(text, "plotly").count("plotly.js v") == 1
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_the_page_escapes_and_tells_where_it_comes_from(made):
    text = made.page.read_text(encoding="utf-8")
    assert "&lt;tests&gt; &amp; more" in text
    assert "<tests>" not in text
    for told in ("momagames bench run tiny.yaml", "numpy", "seeds of boards 0", "steps of the engine", "exact front of"):
        assert told in text
    assert "Fewer than 10 runs" in text


def inside(text, name):
    """What is packed into a page under a name."""
    return unpacked(re.search(f'<script id="{name}" type="text/plain">(.*?)</script>', text).group(1))


def drawn(text):
    """The figures of a page."""
    return json.loads(inside(text, "figures"))


def test_figures_fit_the_number_of_objectives(made):
    text = made.page.read_text(encoding="utf-8")
    figures = drawn(text)
    curves = sum(bool(panel.history) for panel in made.panels)
    pairs = sum(panel.primary and 4 <= len(panel.game.objectives) <= 6 for panel in made.panels)
    assert len(figures) == len(made.panels) + curves + pairs + len(made.crossplay) + 2  # and two over all games
    by_name = dict(zip([p.experiment for p in made.panels], figures, strict=False))
    boards = next(f for p, f in zip(made.panels, figures, strict=False) if p.experiment.startswith("boards"))
    assert {trace["type"] for trace in boards["data"]} == {"scatter"}
    areas = len(boards["data"]) - 15  # after three methods, two seeds, three surfaces
    assert [trace["visible"] for trace in boards["data"]] == [True] * 3 + [False] * (12 + areas)
    assert [view["label"] for view in boards["views"]][:3] == ["seed 0", "seed 1", ATTAINMENT]
    assert np.sum([view["visible"] for view in boards["views"]], axis=0).tolist() == [1] * (15 + areas)
    assert {trace["type"] for trace in by_name["three"]["data"]} == {"scatter3d"}
    assert by_name["one"]["data"][0]["x"] == ["seed 0", "seed 1"]
    five, cloud = panel(made, "five"), by_name["five"]["choices"]["clouds"][0]
    assert sorted(cloud["values"]) == sorted(five.points["random"][0].values.tolist())
    assert cloud["low"] == five.references[0].low.tolist()
    assert by_name["five"]["data"][cloud["like"]]["name"] == "random"
    assert len(set(COLORS)) == len(COLORS)


def test_surfaces_bound_what_the_runs_attained(made):
    boards = panel(made, "boards")
    shown = figure(boards)
    worst, best, median = [t for t in shown["data"] if t["name"] == "random" and t["hovertemplate"].endswith("of 2")]
    assert best["fill"] == "tonexty"  # the band ends at the trace before it
    assert "worst" in worst["hovertemplate"]
    assert "fill" not in worst | median
    found = np.concatenate([points.values for points in boards.points["random"].values()])
    assert max(best["x"]) == found[:, 0].max()
    assert max(best["y"]) == found[:, 1].max()
    assert max(worst["x"]) == min(points.values[:, 0].max() for points in boards.points["random"].values())
    low = np.min([reference.low for reference in boards.references.values()], axis=0)
    for trace in (worst, best, median):
        assert trace["x"][0] == low[0]
        assert trace["y"][-1] == low[1]
        assert trace["x"] == sorted(trace["x"])
        assert trace["y"] == sorted(trace["y"], reverse=True)


def test_surfaces_of_runs_that_differ(made):
    """Worst is what both runs attain, best what one of them does."""
    boards = panel(made, "boards")
    low = np.min([reference.low for reference in boards.references.values()], axis=0)
    runs = {0: np.array([[3.0, 1.0], [1.0, 3.0]]), 1: np.array([[2.0, 2.0]])}
    points = {"random": {seed: SimpleNamespace(values=low + values) for seed, values in runs.items()}}
    worst, best, _ = attainment(replace(boards, points=points), 0, "random")
    corners = [np.column_stack([trace["x"][1:-1], trace["y"][1:-1]]) - low for trace in (worst, best)]
    assert corners[0].round(9).tolist() == [[1, 2], [2, 1]]
    assert corners[1].round(9).tolist() == [[1, 3], [2, 2], [3, 1]]
    assert worst["hovertemplate"].endswith("worst run of 2")


def test_means_of_episodes_have_their_standard_errors(made):
    text = made.page.read_text(encoding="utf-8")
    seats = panel(made, "seats")
    points = seats.points["random"][0]
    row, column = np.argwhere(points.errors > 0)[0]
    told = spread(points.values[row, column], points.errors[row, column])
    assert "±" in told
    assert f"<td>{told}</td>" in text
    cloud = figure(seats)["choices"]["clouds"][0]  # in another order
    at = cloud["values"].index(points.values[row].tolist())
    assert cloud["errors"][at] == points.errors[row].tolist()
    certain = panel(made, "boards").points["random"][0].values[0, 0]
    assert f"<td>{certain:.6g}</td>" in text


def test_two_and_three_objectives_show_errors_as_bars(made):
    boards = panel(made, "boards")
    noisy = {m: {s: replace(p, errors=p.errors + 0.5) for s, p in found.items()} for m, found in boards.points.items()}
    first = figure(replace(boards, points=noisy))["data"][0]
    assert set(first["error_y"]["array"]) == set(first["error_x"]["array"]) == {0.5}
    assert "error_x" not in figure(boards)["data"][0]
    single = {m: {s: replace(p, errors=p.errors + np.inf) for s, p in found.items()} for m, found in boards.points.items()}
    assert "error_x" not in figure(replace(boards, points=single))["data"][0]


def test_all_games_together_are_on_the_page(made):
    text = made.page.read_text(encoding="utf-8")
    at = made.aggregate.statistics["random"]["iqm"]
    assert f"<td>{at.value:.3f}<small>[{at.low:.3f}, {at.high:.3f}]</small></td>" in text
    dots, shares = drawn(text)[-2:]
    assert [trace["x"] for trace in dots["data"]] == [[at.value], [made.aggregate.statistics["random"]["optimality_gap"].value]]
    assert dots["data"][0]["error_x"]["array"] == [pytest.approx(at.high - at.value)]
    band, curve = shares["data"]
    profile = made.aggregate.profiles["random"]
    assert curve["y"] == pytest.approx(profile.share)
    assert band["y"] == pytest.approx([*profile.high, *profile.low[::-1]])


def test_users_of_single_episodes_are_on_the_page(made):
    text = made.page.read_text(encoding="utf-8")
    for name, worth in panel(made, "seats").users["random"].items():
        assert html.escape(name) in text
        assert f"<td>{worth.esr.value:.3f}<small>[{worth.esr.low:.3f}, {worth.esr.high:.3f}]</small></td>" in text


def test_every_column_is_explained(made):
    assert set(HEADINGS) == set(MEANINGS)
    assert set(STATISTIC_HEADINGS) == set(STATISTIC_MEANINGS)
    text = made.page.read_text(encoding="utf-8")
    explained = set(re.findall("<dt>(.*?)</dt>", text))
    columns = set(re.findall('<th scope="col">(.*?)</th>', text)) - {"first", "second", "method", "", "policy or plan"}
    utilities = {html.escape(name) for name in panel(made, "seats").users["random"]}
    columns -= {method for panel in made.panels for method in panel.points}
    columns -= {f"against {opponent}" for opponent in made.crossplay[0].opponents}
    assert columns - utilities <= explained
    assert {"ESR", "SER", "HV ratio ↑", "IQM ↑"} <= explained


def test_the_page_repeats_itself(made):
    text = made.page.read_text(encoding="utf-8")
    saved = html.unescape(re.search('<pre id="suite">(.*?)</pre>', text, re.DOTALL).group(1))
    path = made.page.parent / "again.yaml"
    path.write_text(saved, encoding="utf-8")
    assert load_suite(path) == Store(made.page.parent).suite()
    assert "momagames bench run tiny.yaml --out tiny" in text


def test_every_color_of_a_figure_has_one_for_dark_screens(made):
    """Colors that stay are mid-tones, which are seen on both."""
    text = json.dumps(drawn(made.page.read_text(encoding="utf-8")))
    used = set(re.findall('"(#[0-9a-fA-F]+)"', text))
    assert {"#ffffff", "#222222"} <= used
    assert used - set(DARK) <= {"#888888", "#CC79A7", "#E69F00", "#56B4E9"}


def test_figures_for_papers(made, tmp_path):
    pytest.importorskip("matplotlib", reason='needs matplotlib: pip install "momagames[figures]"')
    files = {path.name: path for path in write_figures(made, tmp_path / "a")}
    assert {path.name for path in (tmp_path / "a").iterdir()} == set(files)
    fronts = [p for p in made.panels if p.primary and len(p.game.objectives) > 1]
    searched = [p for p in made.panels if p.history]
    assert len(files) == 2 * (3 + len(fronts) + len(searched) + len(made.crossplay))
    assert {"overview.svg", "overall.png", "profiles.svg"} <= set(files)
    for kind in ("budget-1-boards", "crossplay-1-seats"):
        assert sum(name.startswith(kind) for name in files) == 2
    for name, path in files.items():
        if name.endswith(".png"):
            assert path.read_bytes().startswith(b"\x89PNG")
        else:
            assert xml.etree.ElementTree.parse(path).getroot().tag.endswith("svg")
    first = next(path for name, path in files.items() if name.startswith("front-1-boards") and name.endswith("svg"))
    text = first.read_text(encoding="utf-8")
    for told in (*fronts[0].points, fronts[0].game.objectives[0].name):
        assert told in text  # as letters
    again = write_figures(made, tmp_path / "b")
    assert all(path.read_bytes() == files[path.name].read_bytes() for path in again if path.suffix == ".svg")


def test_surfaces_of_papers_have_the_corners_of_the_page():
    corners = _corners(np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([0.0, 0.0]))
    assert corners.tolist() == [[0, 2], [0, 2], [1, 2], [1, 1], [3, 1], [3, 0], [3, 0]]


def test_figures_without_matplotlib_say_what_to_install(made, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r'pip install "momagames\[figures\]"'):
        write_figures(made, tmp_path)


def test_failures_are_on_the_page(tmp_path):
    run_suite(broken(), tmp_path)
    text = report(tmp_path).page.read_text(encoding="utf-8")
    assert "1 of 2 runs finished, 1 failed" in text
    assert "Traceback" in text
    assert "1 run missing" in text


def test_an_estimated_volume_is_marked(made):
    score = next(iter(panel(made, "boards").scores.values()))["hypervolume"]
    assert not cell("hypervolume", score)[0].startswith("~")
    marked = type(score)(score.interval, True, score.values)
    assert cell("hypervolume", marked)[0].startswith("~")


def test_nothing_to_report_on(tmp_path):
    with pytest.raises(InvalidFile, match=r"suite\.json is missing"):
        report(tmp_path)
    store = Store(tmp_path)
    store.open(broken())
    assert build_panels(store, broken()) == []
    with pytest.raises(InvalidFile, match="no run of 'tiny' is finished"):
        report(tmp_path)


@pytest.mark.parametrize(("chance", "said"), [("start", False), ("step", True)])
def test_plans_that_knew_the_draws_say_so(chance, said):
    reference = SimpleNamespace(tag="best known", values=[1, 2])
    panel = SimpleNamespace(references={0: reference}, kind="plans", game=SimpleNamespace(chance=chance), clipped=False)
    assert ("with all draws to come known" in caption(panel)) == said
