"""Head-to-head results, policy sets, overview, anytime curves and attainment figures against hand-computed values."""

import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from momagames import spec
from momagames.analysis.ratings import Cycle
from momagames.analysis.reference import Reference
from momagames.analysis.statistics import Interval
from momagames.benchmark.suites import Indicators
from momagames.reports.data.anytime_curves import compute_anytime_curves
from momagames.reports.data.crossplay import NORMALIZED_HV, WIN_RATE, compute_crossplay, find_deciding_objective, score_wins
from momagames.reports.data.overview import build_overview
from momagames.reports.data.points import Points, PolicyEpisodes, SearchHistory, read_search_history
from momagames.reports.data.policy_sets import summarize_policy_sets
from momagames.reports.figures.comparisons import draw_anytime, draw_crossplay
from momagames.reports.figures.drawing import Cloud, Line, Rectangles
from momagames.reports.figures.fronts import ATTAINMENT, draw_fronts, draw_pairs, find_best_two, has_pairs
from momagames.reports.figures.plotly_figures import convert_drawing
from momagames.reports.html.parts import PageParts
from momagames.reports.text.captions import crossplay_caption, overview_caption, ratings_caption
from momagames.reports.text.report_tables import make_crossplay, make_overview
from momagames.reports.text.terminal_tables import draw_tables

SETTINGS = Indicators(names=("hypervolume_ratio",), margin=0.0, confidence=0.95, resamples=200)
MATCHES = (("greedy", "player_0"), ("greedy", "player_1"), ("random", "player_0"), ("random", "player_1"))


def objective(name, zero_sum=False, low=-1.0, high=1.0):
    return SimpleNamespace(name=name, unit="points", zero_sum=zero_sum, return_low=low, return_high=high)


GAME = SimpleNamespace(objectives=(objective("win", True), objective("captures", low=0.0)), teams=(0, 1), chance="start")


def played(select, report, labels=("one",)):
    """Return the episodes of policies, float[n, E, M, 2]."""
    return PolicyEpisodes(labels, np.array(select, float), np.array(report, float), MATCHES)


def results(*matches):
    """Return two episodes of one policy from its wins in each match, with half of the captures."""
    return [[[[won, 0.5] for won in episode] for episode in zip(*matches, strict=True)]]


def panel(**changed):
    """Return a panel: random loses to greedy and is even with itself; of greedy's two policies the second wins selection."""
    weak = results((-1, -1), (-1, -1), (1, -1), (-1, 1))
    poor = results((1, 1), (1, 1), (1, 1), (1, 1))[0]  # best in the report episodes by chance, and not selected by them
    good = results((1, -1), (-1, -1), (1, 1), (1, 1))[0]
    games = {
        "random": {0: played(weak, weak)},
        "greedy": {0: played([(results(*[(-1, -1)] * 4))[0], good], [poor, good], ("poor", "good"))},
    }
    reference = Reference(np.array([[1.0, 1.0]]), "best known", np.array([-1.0, 0.0]), np.array([1.0, 1.0]))
    facts = {
        "policy_episodes": games,
        "game": GAME,
        "references": {0: reference},
        "num_episodes": 2,
        "primary": True,
        "full_heading": "made up",
        "weights": {},
        "points": {m: {s: one.nondominated_points() for s, one in runs.items()} for m, runs in games.items()},
    } | changed
    names = list(facts["points"])
    return SimpleNamespace(**{"scores": {m: {} for m in names}, "styles": {m: i for i, m in enumerate(names)}, **facts})


# ---------------------------------------------------------------------------------------------------------- cross-play


def test_win_rates_are_of_the_policy_selected_on_other_episodes():
    found = compute_crossplay(panel(), SETTINGS)
    assert found.policies == {"random": ("one",), "greedy": ("good",)}
    cells = {at: interval.value for at, interval in found.tables[WIN_RATE].items()}
    assert cells == {
        ("player_0", "random", "greedy"): 0,
        ("player_1", "random", "greedy"): 0,
        ("player_0", "random", "random"): 0.5,
        ("player_1", "random", "random"): 0.5,
        ("player_0", "greedy", "greedy"): 0.5,
        ("player_1", "greedy", "greedy"): 0,
        ("player_0", "greedy", "random"): 1,
        ("player_1", "greedy", "random"): 1,
    }
    assert found.objective == "win"
    assert found.opponents == found.methods == ("random", "greedy")  # so that the same names are a diagonal
    assert found.same_name == {("random", "random"), ("greedy", "greedy")}


def test_hypervolumes_are_of_the_front_in_one_match():
    """Normalized returns: a mean of 0 in -1..1 is 0.5, captures 0.5."""
    found = compute_crossplay(panel(), SETTINGS).tables[NORMALIZED_HV]
    assert found["player_0", "random", "random"].value == pytest.approx(0.5 * 0.5)
    assert found["player_0", "random", "greedy"].value == 0
    assert found["player_0", "greedy", "random"].value == pytest.approx(1 * 0.5)


def test_gap_is_the_diagonal_minus_the_rest():
    """Wins: (0.5 + 0.5 + 0.5 + 0) / 4 minus (0 + 0 + 1 + 1) / 4."""
    found = compute_crossplay(panel(), SETTINGS)
    assert found.same_name_gaps[WIN_RATE].value == pytest.approx(0.375 - 0.5)
    # as player_1 against greedy both policies are equal in selection: the first is taken
    assert found.same_name_gaps[NORMALIZED_HV].value == pytest.approx((0.25 + 0.25 + 0.25 + 0.5) / 4 - (0 + 0 + 0.5 + 0.5) / 4)


def test_ratings_merge_a_single_policy_with_the_opponent_of_its_name():
    """random has one policy and is the opponent random; greedy has two, so that the opponent is another player."""
    found = compute_crossplay(panel(), SETTINGS).ratings
    assert set(found.by_player) == {"random", "greedy", "greedy (opponent)"}
    assert found.by_player["random"].value == 0
    assert found.by_player["greedy (opponent)"].value > found.by_player["greedy"].value > 0
    assert found.cycle is None  # greedy and its opponent each win four to none over random


def test_no_ratings_where_both_can_lose_or_three_sides_play():
    outcome = SimpleNamespace(objectives=(objective("outcome"), objective("captures")), teams=(0, 1), chance="start")
    many = SimpleNamespace(objectives=GAME.objectives, teams=(0, 1, 2), chance="start")
    for game in (outcome, many):
        found = compute_crossplay(panel(game=game), SETTINGS)
        assert found.ratings is None
        assert found.tables[WIN_RATE]


def test_no_win_rates_without_a_deciding_objective():
    game = SimpleNamespace(objectives=(objective("kills"), objective("captures")), teams=(0, 1), chance="start")
    found = compute_crossplay(panel(game=game), SETTINGS)
    assert list(found.tables) == [NORMALIZED_HV]
    assert not found.objective
    assert not found.policies


def test_no_crossplay_without_opponents():
    assert compute_crossplay(panel(policy_episodes={}), SETTINGS) is None
    assert compute_crossplay(panel(primary=False), SETTINGS) is None


def test_score_wins_and_deciding_objective():
    assert score_wins(GAME, 0, np.array([[1.0, 0], [0, 0], [-0.5, 9]])).tolist() == [1, 0.5, 0]
    assert find_deciding_objective(spec("mo-breakthrough-v0")) == 0
    assert find_deciding_objective(spec("mo-pommerman-duel-v0")) == 0  # outcome
    assert find_deciding_objective(spec("mo-gemwalk-v0")) == -1


def test_heat_map_has_the_numbers_and_the_diagonal():
    found = compute_crossplay(panel(), SETTINGS)
    drawn = convert_drawing(draw_crossplay(found))
    first = drawn["data"][0]
    assert first["z"] == [[0.5, 0], [1, 0.5]]
    assert first["text"] == [["0.50 ◇", "0.00"], ["1.00", "0.50 ◇"]]
    assert first["customdata"][1][0] == "greedy against random, as player_0: win rate 1.000, 1 run"
    assert [view["label"] for view in drawn["views"]] == [WIN_RATE, NORMALIZED_HV]
    assert [trace["visible"] for trace in drawn["data"]] == drawn["views"][0]["visible"] == [True, False, True, False]
    frames = {(shape["xref"], shape["x0"], shape["y0"]) for shape in drawn["layout"]["shapes"]}
    assert frames == {("x", -0.5, -0.5), ("x", 0.5, 0.5), ("x2", -0.5, -0.5), ("x2", 0.5, 0.5)}
    assert drawn["layout"]["yaxis"]["ticktext"] == ["random", "greedy"]
    assert "against the own name minus the others: -0.125" in crossplay_caption(found)


def test_crossplay_in_a_terminal_and_on_the_page():
    made = list(make_crossplay(compute_crossplay(panel(), SETTINGS), 1))
    screen = Console(width=80, file=io.StringIO(), record=True)
    screen.print(draw_tables(made))
    text = screen.export_text()
    assert "Elo" in text
    assert "No three players beat each other in a cycle." in text.replace("\n", " ")
    assert text.count("Win rate: share") == 1  # the tables have the same notes
    assert max(map(len, text.splitlines())) <= 80
    assert "<td>◇ <strong>0.500</strong></td>" in PageParts().add_table(made[0])  # of random, in its seat


def test_the_caption_names_the_cycle():
    found = compute_crossplay(panel(), SETTINGS)
    cycle = Cycle(("random", "greedy", "beam"), (Interval(0.75, 0.625, 0.875, 5), *[Interval(1.0, 1.0, 1.0, 5)] * 2))
    text = ratings_caption(replace(found, ratings=replace(found.ratings, cycle=cycle)))
    assert (
        "cannot represent: random beats greedy in 0.750 [0.625, 0.875], greedy beats beam in 1.000 and beam beats random in "
        "1.000 of the games that are no ties." in text
    )


# ---------------------------------------------------------------------------------------------------------- policy sets


def test_policy_sets_by_hand():
    """Two weight-conditioned policies. The first is the best policy for both weights."""
    select = [[[[1.0, 0.5]]], [[[0.0, 0.25]]]]
    games = PolicyEpisodes(("a", "b"), np.array(select), np.array(select), MATCHES[:1])
    conditioned = panel(policy_episodes={"greedy": {0: games}}, weights={"greedy": {0: {"a": [1.0, 0.0], "b": [0.0, 2.0]}}})
    found = summarize_policy_sets(conditioned, SETTINGS)["greedy"]
    assert (found.policies.value, found.front.value, found.esr.value) == (2, 1, 1)
    values = {name: interval.value for name, interval in found.control.items()}
    # Of normalized returns: (1, 0.5) and (0.5, 0.25). The first has more of both objectives, whatever its weights are
    assert values == pytest.approx(
        {
            "controllability": 0,
            "ordering_score": 0.5,
            "delivered_utility": (1.0 + 0.25) / 2,
            "coverage_utility": (1.0 + 0.5) / 2,
            "utility_regret": 0.125,
        }
    )
    unconditioned = summarize_policy_sets(panel(), SETTINGS)["greedy"]
    assert not unconditioned.control
    alone = panel(policy_episodes={"greedy": {0: games}}, weights={"greedy": {0: {"b": [1.0, 1.0]}}})
    assert set(summarize_policy_sets(alone, SETTINGS)["greedy"].control) == {
        "delivered_utility",
        "coverage_utility",
        "utility_regret",
    }


# ------------------------------------------------------------------------------------------------------------- overview


def overview_rows(tag="best known"):
    one = panel()
    reference = replace(one.references[0], tag=tag)
    values = {"random": [0.0, 0.5], "greedy": [1.0, 0.5]}
    points = {m: {0: Points(np.array([v]), ("p",), np.zeros((1, 2)))} for m, v in values.items()}
    return build_overview([panel(points=points, references={0: reference}), panel(primary=False)], SETTINGS)


def test_overview_by_hand():
    (row,) = overview_rows()
    assert not row.is_exact
    assert {method: at.value for method, at in row.scores.items()} == {"random": 0.25, "greedy": 0.5}
    assert row.best == {"greedy"}
    (proven,) = overview_rows("exact")
    assert proven.is_exact
    assert {method: at.value for method, at in proven.scores.items()} == {"random": 0.25, "greedy": 0.5}


def test_overview_captions():
    text = PageParts().add_table(make_overview(overview_rows("exact"), SETTINGS))
    assert '<a href="#p0">made up =</a>' in text
    assert '<strong>0.500<span aria-label="best">*</span></strong>' in text
    assert "n=1" in text
    assert "SER" in overview_caption(overview_rows(), SETTINGS)
    assert "proven" not in overview_caption(overview_rows(), SETTINGS)
    assert "proven" in overview_caption(overview_rows("exact"), SETTINGS)
    screen = Console(width=80, file=io.StringIO(), record=True)
    screen.print(draw_tables([make_overview(overview_rows(), SETTINGS)]))
    assert "*0.500" in screen.export_text()


# --------------------------------------------------------------------------------------------------------------- curves


def test_anytime_curves_count_points_dominated_later():
    """(0, 0.5) until 10 steps, then (1, 0.5) by 100: shares (0.5, 0.5) and (1, 0.5)."""
    rows = [{"step": 100, "return": [1.0, 0.5]}]
    found = read_search_history(rows, [[10, 0.0, 0.5]])
    assert isinstance(found, SearchHistory)
    searched = panel(search_history={"beam": {0: found, 1: found}}, budget=1000)
    searched.references[1] = searched.references[0]
    curves = compute_anytime_curves(searched, SETTINGS)
    at = dict(zip(curves.budgets.tolist(), curves.bands["beam"].mean.tolist(), strict=True))
    assert (at[8], at[10], at[86], at[100], at[1000]) == pytest.approx((0, 0.25, 0.25, 0.5, 0.5))
    assert curves.runs == {"beam": 2}
    searched.styles = {"beam": 0}
    drawn = convert_drawing(draw_anytime(searched, SETTINGS))
    assert [trace["y"][-1] for trace in drawn["data"]] == [0.5] * 3  # both ends of a band and a mean
    assert compute_anytime_curves(panel(search_history={}), SETTINGS) is None


# ------------------------------------------------------------------------------------------------------------- surfaces


def panel_of_runs(values, objectives):
    """A panel whose methods have these points, method -> runs -> points."""
    points = {
        m: {s: Points(np.array(run, float), ("p",) * len(run), np.zeros(np.shape(run))) for s, run in enumerate(runs)}
        for m, runs in values.items()
    }
    top = np.full(objectives, 4.0)
    reference = Reference(top[None], "best known", np.zeros(objectives), top)
    game = SimpleNamespace(objectives=tuple(objective(f"objective {k}") for k in range(objectives)))
    return panel(points=points, references={0: reference, 1: reference}, game=game)


def test_areas_show_the_difference_in_attainment():
    """Both runs of one reach (2, 2), one run of the other reaches (1, 3): 0.5 more in the strip above 2, 1 or 0.5 below."""
    made = panel_of_runs({"one": [[(2, 2)], [(2, 2)]], "other": [[(1, 3)], [(1, 1)]], "last": [[(1, 1)], [(1, 1)]]}, 2)
    assert find_best_two(made) == ["one", "other"]
    drawing = draw_fronts(made)
    assert drawing.views[-1] == "difference in attainment: one and other"
    areas = {mark.name: mark.ends for _, mark in drawing.marks if isinstance(mark, Rectangles)}
    assert set(areas) == {
        "one: attained by 50% more of its runs",
        "one: attained by 100% more of its runs",
        "other: attained by 50% more of its runs",
    }
    assert areas["other: attained by 50% more of its runs"].tolist() == [[0, 2, 1, 3]]
    assert areas["one: attained by 100% more of its runs"][:, 2].max() == 2
    assert not any(isinstance(mark, Rectangles) for _, mark in draw_fronts(panel_of_runs({"one": [[(2, 2)]]}, 2)).marks)


def test_surfaces_of_three_objectives():
    made = panel_of_runs({"one": [[(2, 2, 2)], [(1, 3, 1)]]}, 3)
    clouds = [mark for _, mark in draw_fronts(made).marks if isinstance(mark, Cloud) and mark.view == ATTAINMENT]
    median, worst, best = clouds
    assert worst.values.tolist() == [[1, 2, 1]]
    assert sorted(best.values.tolist()) == [[1, 3, 1], [2, 2, 2]]
    assert median.in_legend
    assert not worst.in_legend
    assert draw_fronts(panel_of_runs({"one": [[(2, 2, 2)]]}, 3)).views == ["seed 0", "seed 1"]


def test_pairs_of_objectives_drop_dominated_points():
    made = panel_of_runs({"one": [[(2, 1, 1, 4), (1, 1, 2, 3)]] * 2}, 4)
    assert has_pairs(made)
    lines = [[mark for mark in plot.marks if mark.name == "one" and isinstance(mark, Line)] for plot in draw_pairs(made).plots]
    first, second = (line.corners for (line,) in lines[:2])
    assert first.max(axis=0).tolist() == [2, 1]  # (1, 1) is dominated by (2, 1)
    assert second.tolist() == [[0, 2], [0, 2], [1, 2], [1, 1], [2, 1], [2, 0], [2, 0]]  # (1, 2) and (2, 1)
    assert not has_pairs(panel_of_runs({"one": [[(1, 1)]]}, 2))
