"""The report: data computed from rows, and a self-contained page."""

import base64
import html
import html.parser
import io
import json
import re
import sys
import xml.etree.ElementTree
import zlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from momagames.analysis.indicators import hypervolume
from momagames.analysis.named_indicators import WEIGHT_INDICATORS, find_indicator
from momagames.benchmark import run_suite
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_files import load_suite
from momagames.cli.app import app
from momagames.errors import InvalidFile, InvalidParameter, MissingExtra
from momagames.files.writing import write_page
from momagames.render.vectors import format_text
from momagames.reports import report
from momagames.reports.data.panels import build_panels
from momagames.reports.data.points import Points, read_policy_episodes
from momagames.reports.figures.drawing import Band, Line, stair_corners
from momagames.reports.figures.fronts import ATTAINMENT, draw_fronts, has_pairs, select_objectives
from momagames.reports.figures.kinds import FIGURE_KINDS
from momagames.reports.figures.paper_figures import list_figures, write_figures
from momagames.reports.figures.plotly_figures import convert_drawing
from momagames.reports.figures.theme import COLORS, DARK
from momagames.reports.html.panel_section import format_value
from momagames.reports.text import latex_tables
from momagames.reports.text.captions import panel_caption
from momagames.reports.text.labels import format_score
from momagames.reports.text.latex_tables import latex_report
from momagames.wording import CONTROLS, show_all_controls
from tests.benchmark.tiny import EXACT, GREEDY, INDICATORS, POLICIES, RANDOM, broken, plans, suite
from tests.games.gemwalk.naive import stated_front

SAMEGAME = {"id": "mo-samegame-v0", "board_width": 5, "board_height": 4}  # of as many objectives as colors


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a report on games of one to five objectives."""
    tested = suite(
        plans([RANDOM, GREEDY, EXACT]),
        {**plans([RANDOM], **SAMEGAME, num_colors=2, color_rewards=False), "name": "one"},
        {**plans([RANDOM, EXACT], **SAMEGAME, num_colors=3), "name": "three"},
        {**plans([RANDOM, GREEDY], **SAMEGAME, num_colors=5), "name": "five", "budget": 2_000},
        POLICIES,
    )
    folder = tmp_path_factory.mktemp("made")
    assert not run_suite(tested, folder).failed
    return report(folder, "momagames bench run tiny.yaml")


def panel(made, start):
    return next(panel for panel in made.panels if panel.title.startswith(start))


def test_exact_fronts_are_the_reference_where_known(made):
    boards = panel(made, "boards")
    for reference in boards.references.values():
        assert (reference.tag, sorted(map(tuple, reference.values.tolist()))) == ("exact", stated_front(5))
    scores = boards.scores["exact"]
    assert scores["hypervolume_ratio"].interval.value == 1
    assert scores["igd_plus"].interval.value == scores["epsilon"].interval.value == 0
    low, share = -0.01 * 15, 10.15**2  # of the reference point; greedy takes pearls alone, for 10 points of each
    assert boards.scores["greedy"]["hypervolume"].interval.value == pytest.approx(share)
    corners = [(15, 0), (12, 2), (10, 10), (2, 12), (0, 15)]
    areas = [(x - low) * (y - above) for (x, y), above in zip(corners, [low, 0, 2, 10, 12], strict=True)]
    assert boards.scores["greedy"]["hypervolume_ratio"].interval.value == pytest.approx(share / sum(areas))
    assert boards.scores["random"]["hypervolume"].interval.runs == 2


def test_best_known_reference_is_the_union(made):
    five = panel(made, "five")
    reference = five.references[0]
    assert reference.tag == "best known"
    for found in five.points.values():
        for value in found[0].values:
            assert (reference.values >= value).all(axis=1).any()


def test_reference_point_has_a_margin(made):
    boards = panel(made, "boards")
    for seed, reference in boards.references.items():
        assert reference.ref == pytest.approx(-0.01 * reference.ideal)
        own = boards.points["random"][seed].values
        assert hypervolume(own, reference.ref).value > 0
    seats = panel(made, "seats")
    declared = np.array([-1.0, -1, 0, -1])
    assert seats.references[0].ref == pytest.approx(declared - 0.01 * (np.array([1.0, 1, 1, 0]) - declared))


def test_policies_have_panels_by_opponent_and_seat(made):
    scopes = [p.scope for p in made.panels if p.experiment == "seats"]
    assert scopes[0] == "against random and greedy, mean of 2 seats"
    assert scopes[1:] == [
        "against random, mean of 2 seats",
        "against greedy, mean of 2 seats",
        "against random and greedy, as player_0",
        "against random and greedy, as player_1",
    ]
    assert [p.primary for p in made.panels if p.experiment == "seats"] == [True, False, False, False, False]


def test_selection_and_report_episodes_are_separate():
    def row(policy, which, value, episode=0):
        where = {"opponent": "o", "seat": "s", "episode": episode, "start": episode}
        return {"policy": policy, "set": which, "return": value, **where}

    rows = [
        row("overestimated", "select", [9.0, 9.0]),
        row("overestimated", "report", [1.0, 1.0]),
        row("overestimated", "report", [3.0, 1.0], 1),
        row("consistent", "select", [5.0, 5.0]),
        row("consistent", "report", [5.0, 5.0]),
        row("consistent", "report", [5.0, 5.0], 1),
        {**row("consistent", "select", [99.0, 99.0]), "opponent": "other"},
    ]
    found = read_policy_episodes(rows, ("o",), ("s",)).nondominated_points()
    assert found.labels == ("overestimated",)
    assert found.values.tolist() == [[2.0, 1.0]]
    assert found.errors.tolist() == [[1.0, 0.0]]


def test_tables_fit_80_columns(made):
    text = Console(width=80, file=io.StringIO(), record=True)
    text.print(made.table(every=True))
    lines = text.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(re.search("hypervol[^ ]* ↑|hypervo[^ ]*…", line) for line in lines)  # columns of the page only
    for method in ("random", "greedy", "exact"):
        assert any(line.strip().startswith(method) for line in lines)


def test_equal_runs_have_no_interval(made):
    """As those of the exact method, whose ratio is 1 in each run: an interval of no width would look like evidence."""
    assert made.overview[0].scores["exact"].runs > 1
    text = Console(width=250, file=io.StringIO(), record=True)
    text.print(made.table(every=True))
    page = re.findall("<small>.*?</small>", made.page.read_text("utf-8"))
    for written in (text.export_text(), " ".join(page), latex_report(made, every=True)):
        assert re.search(r"\d(, |–)[-+]?\d*\.\d", written)  # others have one
        assert not re.search(r"1\.0+(, |–)1\.0+", written)


class Outside(html.parser.HTMLParser):
    """Collect the resources that a page would fetch."""

    def __init__(self):
        super().__init__()
        self.fetched, self.scripts = [], 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.fetched += [value for name, value in attrs if name in ("src", "href") and not value.startswith("#")]


def test_page_is_self_contained(made):
    text = made.page.read_text(encoding="utf-8")
    page = Outside()
    page.feed(text)
    assert page.fetched == []
    assert page.scripts == 6  # plotly.js, colors, figures, what draws them, and the player with its games
    assert inside(text, "plotly").count("plotly.js v") == 1
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_page_escapes_text_and_states_its_provenance(made):
    text = made.page.read_text(encoding="utf-8")
    assert "&lt;tests&gt; &amp; more" in text
    assert "<tests>" not in text
    for text_part in ("momagames bench run tiny.yaml", "numpy", "seeds of boards 0", "environment steps", "exact front of"):
        assert text_part in text
    assert "Fewer than 10 runs" in text


def decompress(text):
    return zlib.decompress(base64.b64decode(text)).decode()


def inside(text, name):
    """Return the decompressed content of a script element."""
    return decompress(re.search(f'<script id="{name}" type="text/plain">(.*?)</script>', text).group(1))


def drawn(text):
    """Return the figures of a page."""
    return json.loads(inside(text, "figures"))


def test_figures_fit_the_number_of_objectives(made):
    figures = drawn(made.page.read_text(encoding="utf-8"))
    kinds = [kind for kind in FIGURE_KINDS.values() if kind.scope == "panel"]
    assert len(figures) == sum(kind.applies(one) for kind in kinds for one in made.panels) + len(made.crossplay) + 3
    by_name = dict(zip([p.experiment for p in made.panels], figures, strict=False))
    boards = figures[made.panels.index(panel(made, "boards"))]
    assert {trace["type"] for trace in boards["data"]} == {"scatter"}
    assert [trace["visible"] for trace in boards["data"]] == [True] * 4 + [False] * (len(boards["data"]) - 4)
    assert [trace["name"] for trace in boards["data"][:4]] == ["exact front", "random", "greedy", "exact"]
    assert [view["label"] for view in boards["views"]][:3] == ["seed 0", "seed 1", ATTAINMENT]
    assert set(np.sum([view["visible"] for view in boards["views"]], axis=0)) == {1}
    assert {trace["type"] for trace in by_name["three"]["data"]} == {"scatter3d"}
    assert by_name["one"]["data"][0]["x"] == [0, 1]
    assert by_name["one"]["layout"]["xaxis"]["ticktext"] == ["seed 0", "seed 1"]
    five, (front, cloud) = panel(made, "five"), by_name["five"]["projections"]["clouds"][:2]
    assert sorted(front["values"]) == sorted(five.references[0].values.tolist())
    assert by_name["five"]["data"][front["styleTrace"]]["name"] == "best known front"
    assert sorted(cloud["values"]) == sorted(five.points["random"][0].values.tolist())
    assert cloud["low"] == five.references[0].ref.tolist()
    assert by_name["five"]["data"][cloud["styleTrace"]]["name"] == "random"
    assert len(set(COLORS)) == len(COLORS)


def list_surfaces(panel, method):
    """Return the corners of the worst, the best and the median surface of a method."""
    marks = [mark for _, mark in draw_fronts(panel).marks if mark.view == ATTAINMENT and mark.name == method]
    (band,), (line,) = ([mark for mark in marks if isinstance(mark, kind)] for kind in (Band, Line))
    assert band.texts[0].endswith(f"worst run of {len(panel.points[method])}")
    return band.low, band.high, line.corners


def test_surfaces_bound_the_attained_points(made):
    boards = panel(made, "boards")
    surfaces = worst, best, _ = list_surfaces(boards, "random")
    found = [points.values for points in boards.points["random"].values()]
    assert best.max(axis=0).tolist() == np.concatenate(found).max(axis=0).tolist()
    assert worst[:, 0].max() == min(values[:, 0].max() for values in found)
    low = np.min([reference.ref for reference in boards.references.values()], axis=0)
    for corners in surfaces:
        assert (corners[0, 0], corners[-1, 1]) == tuple(low)
        assert (np.diff(corners, axis=0) * [1, -1] >= 0).all()


def test_surfaces_of_runs_that_differ(made):
    """The worst surface is attained by both runs, the best by one of them."""
    boards = panel(made, "boards")
    low = np.min([reference.ref for reference in boards.references.values()], axis=0)
    runs = {0: np.array([[3.0, 1.0], [1.0, 3.0]]), 1: np.array([[2.0, 2.0]])}
    points = {"random": {seed: Points(low + values, ("",) * len(values), 0 * values) for seed, values in runs.items()}}
    worst, best, _ = (corners - low for corners in list_surfaces(replace(boards, points=points), "random"))
    assert worst.round(9).tolist() == stair_corners(np.array([[1.0, 2], [2, 1]]), np.zeros(2)).tolist()
    assert best.round(9).tolist() == stair_corners(np.array([[1.0, 3], [2, 2], [3, 1]]), np.zeros(2)).tolist()


def test_mean_returns_have_standard_errors(made):
    text = made.page.read_text(encoding="utf-8")
    seats = panel(made, "seats")
    points = seats.points["random"][0]
    row, column = np.argwhere(points.errors > 0)[0]
    text_value = format_value(points.values[row, column], points.errors[row, column])
    assert "±" in text_value
    assert f"<td>{text_value}</td>" in text
    cloud = convert_drawing(draw_fronts(seats))["projections"]["clouds"][1]  # in another order, after the reference
    at = cloud["values"].index(points.values[row].tolist())
    assert cloud["errors"][at] == points.errors[row].tolist()
    certain = panel(made, "boards").points["random"][0].values[0, 0]
    assert f"<td>{certain:.6g}</td>" in text


def test_error_bars_of_two_objectives(made):
    boards = panel(made, "boards")
    noisy = {m: {s: replace(p, errors=p.errors + 0.5) for s, p in found.items()} for m, found in boards.points.items()}
    single = {m: {s: replace(p, errors=p.errors + np.inf) for s, p in found.items()} for m, found in boards.points.items()}
    first, plain, alone = (
        convert_drawing(draw_fronts(replace(boards, points=points)))["data"][1] for points in (noisy, boards.points, single)
    )
    assert set(first["error_y"]["array"]) == set(first["error_x"]["array"]) == {0.5}
    assert not {"error_x", "error_y"} & {*plain, *alone}


def test_aggregate_is_on_the_page(made):
    text = made.page.read_text(encoding="utf-8")
    at = made.aggregate.statistics["random"]["iqm"]
    assert f"<td>{at.value:.3f}<small>[{at.low:.3f}, {at.high:.3f}]</small></td>" in text
    overview, dots, shares = drawn(text)[-3:]
    counts = {name: sum(name in row.scores for row in made.overview) for name in ("random", "greedy", "exact")}
    assert {trace["name"]: len(trace["x"]) for trace in overview["data"]} == counts
    assert [trace["x"] for trace in dots["data"]] == [[at.value], [made.aggregate.statistics["random"]["optimality_gap"].value]]
    assert dots["data"][0]["error_x"]["array"] == [pytest.approx(at.high - at.value)]
    profile = made.aggregate.profiles["random"]
    for trace, values in zip(shares["data"], (profile.low, profile.high, profile.share), strict=True):
        assert trace["y"] == pytest.approx(values)
    assert shares["data"][1]["fill"] == "tonexty"  # the band ends at the trace before it


def test_esr_utilities_are_on_the_page(made):
    text = made.page.read_text(encoding="utf-8")
    for name, worth in panel(made, "seats").user_utilities["greedy"].items():
        assert html.escape(f"{name}, ESR ↑") in text
        bounds = rf"<small>\[{worth.esr.low:.3f}, {worth.esr.high:.3f}\]</small>"
        assert re.search(rf"{worth.esr.value:.3f}(</strong>)?{bounds if worth.esr.has_width else ''}</td>", text)


def test_weight_conditioned_policies_are_in_the_tables(made):
    """Greedy has a policy for each weight, random none; plans have no policies."""
    found = panel(made, "seats")
    assert [name for name in found.scores["greedy"] if name in WEIGHT_INDICATORS] == list(WEIGHT_INDICATORS)
    assert not set(found.scores["random"]) & set(WEIGHT_INDICATORS)
    assert not set(panel(made, "boards").indicators) & set(WEIGHT_INDICATORS)
    scores = {name: score.interval.value for name, score in found.scores["greedy"].items()}
    assert scores["utility_regret"] == pytest.approx(scores["coverage_utility"] - scores["delivered_utility"])
    text = made.page.read_text(encoding="utf-8")
    mean, interval = format_score(find_indicator("delivered_utility"), found.scores["greedy"]["delivered_utility"])
    assert f"<td>{mean}<small>{interval}</small></td>" in text
    screen = Console(width=80, file=io.StringIO())
    screen.print(made.table())
    printed = screen.file.getvalue()
    assert "weight-conditioned" in printed
    assert "control" in printed.split()  # the heading, whole
    assert max(map(len, printed.splitlines())) <= 80


def test_every_column_is_defined(made):
    text = made.page.read_text(encoding="utf-8")
    explained = set(re.findall("<dt>(.*?)</dt>", text))
    columns = set(re.findall('<th scope="col".*?>(.*?)</th>', text)) - {"first", "second", "game", "method", "policy or plan"}
    columns -= {method for panel in made.panels for method in panel.points}
    columns -= {objective.name for panel in made.panels for objective in panel.game.objectives}
    assert columns <= explained
    assert {"linear(0.25 each), ESR ↑", "HV ratio ↑", "IQM ↑", "against random", "Elo ↑"} <= explained


def test_page_holds_the_suite_that_reproduces_it(made):
    text = made.page.read_text(encoding="utf-8")
    saved = html.unescape(re.search('<pre id="suite">(.*?)</pre>', text, re.DOTALL).group(1))
    path = made.page.parent / "again.yaml"
    path.write_text(saved, encoding="utf-8")
    assert load_suite(path) == Store(made.page.parent).read_suite()
    assert "momagames bench run tiny.yaml --out tiny" in text


def test_control_characters_of_names_are_shown(tmp_path):
    """In the page, the figures and replays that its scripts read, LaTeX and SVG: a terminal or a browser would obey them."""
    controls, visible = "\x1b[31m\x7f\u202e", r"\x1b[31m\x7f\u202e"
    experiment = {**plans([RANDOM], seeds=[0]), "name": f"a {controls}"}
    content = {"name": "tiny", "description": f"b {controls}", "experiments": [experiment], "indicators": INDICATORS}
    run_suite(load_suite(content), tmp_path / "out")
    page = report(tmp_path / "out").page.read_text(encoding="utf-8")
    assert f"b {visible}" in page
    replays = json.loads(re.search(r'<script id="replays" type="application/json">(.*?)</script>', page).group(1))
    players = [json.loads(decompress(replay["data"])) for replay in replays["replays"].values()]
    assert players
    for text in (page, json.dumps([replays, drawn(page), players], ensure_ascii=False)):
        assert not CONTROLS.search(text)
    assert latex_tables.escape(f"{controls}_") == r"\textbackslash{}x1b[31m\textbackslash{}x7f\textbackslash{}u202e\_"
    data = {f"{controls}": [controls, 1.5, None, ({"text": controls},)]}
    assert show_all_controls(data) == {visible: [visible, 1.5, None, [{"text": visible}]]}
    assert not CONTROLS.search(format_text(controls, 0, 0, 9, "#000", "left", 9.0))
    write_page(tmp_path / "x.md", f"# {controls}\udcff\n\t*")
    assert (tmp_path / "x.md").read_text() == f"# {visible}\\udcff\n\t*"


def test_every_color_has_a_dark_variant(made):
    """Colors without a variant are mid-tones, which are visible on both backgrounds."""
    text = json.dumps(drawn(made.page.read_text(encoding="utf-8")))
    used = set(re.findall('"(#[0-9a-fA-F]+)"', text))
    assert {"#ffffff", "#222222"} <= used
    assert used - set(DARK) <= {"#888888", "#CC79A7", "#E69F00", "#56B4E9"}


@pytest.mark.long
def test_figures_for_papers(made, tmp_path):
    pytest.importorskip("matplotlib", reason='needs matplotlib: pip install "momagames[figures]"')
    files = {path.name: path for path in write_figures(made, tmp_path / "a")}
    assert {path.name for path in (tmp_path / "a").iterdir()} == set(files)
    fronts = [p for p in made.panels if p.primary and len(p.game.objectives) > 1]
    searched = [p for p in made.panels if p.search_history]
    pairs = [panel for panel in fronts if has_pairs(panel)]
    assert len(files) == 2 * (3 + len(fronts) + len(pairs) + len(searched) + len(made.crossplay))
    assert {"overview.svg", "overall.png", "profiles.svg"} <= set(files)
    for kind in ("anytime-1-mo-", "crossplay-1-mo-"):
        assert sum(name.startswith(kind) for name in files) == 2
    for name, path in files.items():
        if name.endswith(".png"):
            assert path.read_bytes().startswith(b"\x89PNG")
        else:
            assert xml.etree.ElementTree.parse(path).getroot().tag.endswith("svg")
    first = next(path for name, path in files.items() if name.startswith("front-1-mo-") and name.endswith("svg"))
    text = first.read_text(encoding="utf-8")
    for text_part in (*fronts[0].points, fronts[0].game.objectives[0].name):
        assert text_part in text  # as text, not outlines
    again = write_figures(made, tmp_path / "b")
    assert all(path.read_bytes() == files[path.name].read_bytes() for path in again if path.suffix == ".svg")


def test_fronts_of_chosen_objectives(made):
    panel = next(panel for panel in made.primary if len(panel.game.objectives) > 2)
    names = [one.name for one in panel.game.objectives]
    chosen = select_objectives(panel, [names[2], names[0]])
    assert select_objectives(panel, [names[0], "nothing"]) is None
    assert [axis.name for axis in draw_fronts(chosen).plots[0].axes] == [names[2], names[0]]
    for method, runs in panel.points.items():
        for seed, points in runs.items():
            assert np.array_equal(chosen.points[method][seed].values, points.values[:, [2, 0]])
    reference = chosen.references[0]
    assert len(reference.ideal) == len(reference.ref) == reference.values.shape[1] == 2


def test_chosen_objectives_change_figures_of_fronts_alone(made):
    fresh = replace(made)  # nothing of it is computed yet
    panel = next(panel for panel in made.primary if len(panel.game.objectives) > 2)
    other = next(panel for panel in made.primary if panel.search_history)
    for names in (["win", "captures"], [one.name for one in reversed(other.game.objectives)]):
        chosen, usual = list_figures(fresh, objectives=names), list_figures(made)
        assert {figure.kind for figure in chosen.values()} >= {"front", "anytime", "crossplay"}
        for name, figure in chosen.items():
            if figure.kind not in ("front", "pairs"):
                assert repr(figure.make()) == repr(usual[name].make()), name
    assert panel.game.objectives != other.game.objectives


def test_figures_of_objectives_that_no_comparison_has(made, tmp_path):
    for names, message in [
        (["win", "spee"], "invalid objective='spee'.*did you mean 'speed'"),
        (["win"], "expected two or more"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            write_figures(made, tmp_path, objectives=names)
    assert not list(tmp_path.iterdir())


def test_stair_corners():
    corners = stair_corners(np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([0.0, 0.0]))
    assert corners.tolist() == [[0, 2], [0, 2], [1, 2], [1, 1], [3, 1], [3, 0], [3, 0]]


def test_missing_matplotlib_names_the_extra(made, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r'pip install "momagames\[figures\]"'):
        write_figures(made, tmp_path)


def test_missing_matplotlib_is_an_error_before_the_work(made, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("momagames.reports.report", None)
    asked = CliRunner().invoke(app, ["bench", "report", str(made.page.parent), "--figures", str(tmp_path)])
    assert isinstance(asked.exception, MissingExtra)


def test_tables_come_before_the_page(tmp_path):
    run_suite(broken(), tmp_path)
    seen = []
    made = report(tmp_path, on_data=lambda data: seen.append((data.page.exists(), data.table())))
    assert [exists for exists, _ in seen] == [False]
    assert made.page.exists()


def test_failures_are_on_the_page(tmp_path):
    run_suite(broken(), tmp_path)
    text = report(tmp_path).page.read_text(encoding="utf-8")
    assert "1 of 2 runs finished, 1 failed" in text
    assert "Traceback" in text
    assert "0 <small>1 missing</small>" in text


def test_estimated_hypervolume_is_marked(made):
    score = next(iter(panel(made, "boards").scores.values()))["hypervolume"]
    assert not format_score(find_indicator("hypervolume"), score)[0].startswith("~")
    marked = type(score)(score.interval, True, score.values)
    assert format_score(find_indicator("hypervolume"), marked)[0].startswith("~")


def test_nothing_to_report(tmp_path):
    with pytest.raises(InvalidFile, match=r"suite\.json is missing"):
        report(tmp_path)
    store = Store(tmp_path)
    store.open_suite(broken(), {})
    assert build_panels(store, broken()) == []
    with pytest.raises(InvalidFile, match="no run of 'tiny' is finished"):
        report(tmp_path)


@pytest.mark.parametrize(("chance", "mentioned"), [("start", False), ("step", True)])
def test_caption_of_clairvoyant_plans(chance, mentioned):
    reference = SimpleNamespace(tag="best known", values=[1, 2], methods=())
    game = SimpleNamespace(chance=chance)
    budgets = {"pcn": 3000} if mentioned else {}
    panel = SimpleNamespace(references={0: reference}, kind="plans", game=game, exceeds_ideal=False, scope="", budgets=budgets)
    assert ("with all random draws known in advance" in panel_caption(panel)) == mentioned
    assert ("pcn was trained with 3,000 steps" in panel_caption(panel)) == mentioned
