"""The report: what is computed from rows, and a page that stands alone."""

import html.parser
import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from momagames.errors import BadFile
from momagames.experiments import report, run_suite
from momagames.experiments.analysis import panels
from momagames.experiments.figures import COLORS
from momagames.experiments.points import policy_games
from momagames.experiments.reporting import caption, cell
from momagames.experiments.science.indicators import hypervolume
from momagames.experiments.store import Store
from tests.experiments.tiny import EXACT, GREEDY, POLICIES, RANDOM, broken, plans, suite


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report on games of one to five objectives."""
    tested = suite(
        plans([RANDOM, GREEDY, EXACT]),
        {**plans([RANDOM], color_rewards=False), "name": "one"},
        {**plans([RANDOM, EXACT], num_colors=3), "name": "three"},
        {**plans([RANDOM, GREEDY], seeds=[0], num_colors=5, board_width=8, board_height=8), "name": "five", "budget": 20_000},
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
    assert scopes[0] == "against random and greedy(0, 0, 1, 0), mean of 2 seats"
    assert scopes[1:] == [
        "against random, mean of 2 seats",
        "against greedy(0, 0, 1, 0), mean of 2 seats",
        "against random and greedy(0, 0, 1, 0), as player_0",
        "against random and greedy(0, 0, 1, 0), as player_1",
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
    found = policy_games(rows, ("o",), ("s",)).points()
    assert found.labels == ("lucky",)
    assert found.values.tolist() == [[2.0, 1.0]]
    assert found.errors.tolist() == [[1.0, 0.0]]


def test_the_table_fits_80_columns(made):
    text = Console(width=80, file=io.StringIO(), record=True)
    text.print(made.table(every=True))
    lines = text.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("hypervol" in line for line in lines) == 0
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
    assert page.scripts == 3
    assert text.count("plotly.js v") == 1
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


def test_figures_fit_the_number_of_objectives(made):
    text = made.page.read_text(encoding="utf-8")
    figures = json.loads(re.search(r'<script id="figures" type="application/json">(.*?)</script>', text, re.DOTALL).group(1))
    assert len(figures) == len(made.panels)
    by_name = dict(zip([p.experiment for p in made.panels], figures, strict=False))
    boards = next(f for p, f in zip(made.panels, figures, strict=True) if p.experiment.startswith("boards"))
    assert {trace["type"] for trace in boards["data"]} == {"scatter"}
    assert len(boards["data"]) == 6  # three methods, two seeds
    assert [trace["visible"] for trace in boards["data"]] == [True] * 3 + [False] * 3
    assert {trace["type"] for trace in by_name["three"]["data"]} == {"scatter3d"}
    assert by_name["one"]["data"][0]["x"] == ["seed 0", "seed 1"]
    lines = [trace for trace in by_name["five"]["data"] if trace.get("showlegend") is False]
    assert len(lines[0]["x"]) % 6 == 0  # five objectives and a gap
    shown = [value for trace in lines for value in trace["y"] if value is not None]
    assert min(shown) >= 0
    assert max(shown) == pytest.approx(1)
    assert len(set(COLORS)) == len(COLORS)


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
    with pytest.raises(BadFile, match=r"suite\.json is missing"):
        report(tmp_path)
    store = Store(tmp_path)
    store.open(broken())
    assert panels(store, broken()) == []
    with pytest.raises(BadFile, match="no run of 'tiny' is finished"):
        report(tmp_path)


@pytest.mark.parametrize(("chance", "said"), [("start", False), ("step", True)])
def test_plans_that_knew_the_draws_say_so(chance, said):
    reference = SimpleNamespace(tag="best known", values=[1, 2])
    panel = SimpleNamespace(references={0: reference}, kind="plans", game=SimpleNamespace(chance=chance), clipped=False)
    assert ("with all draws to come known" in caption(panel)) == said
