"""Aggregation over games, ESR and SER utilities, and standard errors."""

import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import momagames
from momagames import fronts
from momagames.analysis import indicators
from momagames.analysis.indicators import Volume
from momagames.analysis.named_indicators import measure_share
from momagames.analysis.reference import Reference
from momagames.benchmark import run_suite
from momagames.errors import InvalidParameter
from momagames.reports.data.aggregate import aggregate, select_comparable
from momagames.reports.data.panels import Panel, add_packaged_fronts
from momagames.reports.data.points import read_policy_episodes
from momagames.reports.data.scores import Score, make_reference
from momagames.reports.report import Report, report
from momagames.reports.text.captions import aggregate_caption, panel_caption
from momagames.reports.text.report_tables import make_statistics
from tests.benchmark.tiny import EXACT, GREEDY, POLICIES, RANDOM, plans, suite

KNOWN = Reference(np.array([[1.0, 1.0]]), "exact", np.zeros(2), np.ones(2))


def panel(name, seeds=3, volume=True, roles=None, **ratios):
    """Return a panel of methods with the given hypervolume ratios, each with one point on the diagonal."""
    known = KNOWN if volume else Reference(np.zeros((1, 2)), "best known", np.zeros(2), np.ones(2))
    values = {method: {seed: ratio + seed / 100 for seed in range(seeds)} for method, ratio in ratios.items()}
    return SimpleNamespace(
        full_heading=name,
        by_role={(roles or {}).get(m, m): m for m in values},
        references=dict.fromkeys(range(seeds), known),
        scores={m: {"hypervolume_ratio": Score(None, False, v)} if m != "unscored" else {} for m, v in values.items()},
        points={m: {s: SimpleNamespace(values=np.full((1, 2), np.sqrt(r))) for s, r in v.items()} for m, v in values.items()},
    )


def test_select_comparable_panels():
    given = [panel(f"game {i}", good=0.8, poor=0.2) for i in range(5)]
    given += [panel("other", good=0.8, rare=0.9), panel("flat", volume=False, good=0.0, poor=0.0)]
    chosen, methods = select_comparable(given)
    assert [one.full_heading for one in chosen] == [f"game {i}" for i in range(5)]
    assert methods == ["good", "poor"]
    assert select_comparable(given[:4]) == ([], [])


def test_reference_fronts_are_measured_and_read_once(monkeypatch):
    """Both take long with many points."""
    front, measured, read = np.array([[1.0, 3.0], [2.0, 2.0]]), [], []
    reference = make_reference(front, "exact", momagames.spec("mo-gemwalk-v0"), "reference", 0.0)
    monkeypatch.setattr(indicators, "hypervolume", lambda points, _: measured.append(points) or Volume(len(points), False))
    assert [measure_share(front[:n], reference).value for n in (1, 2, 1)] == [0.5, 1, 0.5]
    assert sum(points is front for points in measured) == 1
    found = {0: SimpleNamespace(kind="proven", values=1), 1: SimpleNamespace(kind="best_known", values=2)}
    monkeypatch.setattr(fronts, "find_packaged_front", lambda _, seed: read.append(seed) or found[seed])
    proven = {}
    assert add_packaged_fronts([SimpleNamespace(canonical="", seed=seed) for seed in (0, 1, 0, 1)], proven) == {1: 2}
    assert (proven, read) == ({0: 1}, [0, 1])


def test_aggregate_by_hand():
    given = [panel(f"game {i}", seeds=3 + i, good=0.6 + i / 20, poor=0.2) for i in range(5)]
    found = aggregate(given, resamples=500)
    assert found.runs == 3
    assert found.games == tuple(f"game {i}" for i in range(5))
    assert found.scores["good"] == pytest.approx(np.array([[0.6 + i / 20 + s / 100 for i in range(5)] for s in range(3)]))
    assert found.statistics["good"]["mean"].value == pytest.approx(0.71)
    assert found.statistics["poor"]["optimality_gap"].value == pytest.approx(0.79)
    assert found.profiles["good"].share[50] == 1
    assert found.profiles["poor"].share[50] == 0
    pair = found.pairs["good", "poor"]
    assert pair.improvement.value == 1
    assert pair.difference.interval.value == pytest.approx(0.5, abs=0.02)
    assert pair.p == pair.difference.p < 0.01


def test_controllability_stands_beside_the_first_statistic():
    """Of methods that have it in every game, over as many runs as every game has."""
    given = [panel(f"game {i}", seeds=2 + i, steered=0.6, partly=0.4, other=0.2) for i in range(5)]
    for i, one in enumerate(given):
        one.scores["steered"]["controllability"] = Score(None, False, {seed: i / 10 + seed for seed in range(2 + i)})
        if i:
            one.scores["partly"]["controllability"] = Score(None, False, {0: 1.0})
    found = aggregate(given, resamples=100)
    assert {name: (at.value, at.runs) for name, at in found.control.items()} == {"steered": (pytest.approx(0.7), 2)}
    table = make_statistics(found)
    assert [column.heading for column in table.columns][:3] == ["method", "IQM ↑", "controllability ↑"]
    assert {row[0]: row[2] for row in table.rows if row[2] is None} == {"partly": None, "other": None}


def test_methods_with_one_role_are_compared_as_one():
    given = [panel(f"game {i}", roles={f"agent{i % 2}": "scripted"}, other=0.2, **{f"agent{i % 2}": 0.4}) for i in range(6)]
    found = aggregate(given, resamples=200)
    assert len(found.games) == 6
    assert set(found.scores) == {"other", "scripted"}
    assert found.scores["scripted"] == pytest.approx(np.array([[0.4 + s / 100] * 6 for s in range(3)]))
    assert found.roles == {"scripted": ("agent0", "agent1")}
    assert "; scripted: agent0, agent1" in aggregate_caption(found)


def test_p_values_are_adjusted_for_all_pairs():
    given = [panel(f"game {i}", a=0.6, b=0.2, c=0.21) for i in range(5)]
    pairs = aggregate(given, resamples=500).pairs
    assert list(pairs) == [("a", "c"), ("a", "b"), ("c", "b")]
    assert pairs["a", "b"].p == pytest.approx(3 * pairs["a", "b"].difference.p)


def test_missing_scores_are_computed():
    found = aggregate([panel(f"game {i}", unscored=0.36) for i in range(5)], resamples=100)
    assert found.scores["unscored"][0] == pytest.approx(np.full(5, 0.36))
    assert found.pairs == {}


def test_too_few_games_are_rejected():
    with pytest.raises(InvalidParameter, match="expected 5 or more games"):
        aggregate([panel("one", good=0.5)])


# ------------------------------------------------------------------------------------------------ on results of whole runs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    boards = plans([RANDOM, GREEDY, EXACT])
    boards["games"] = [{"id": "mo-gemwalk-v0", "params": {"board_height": height}} for height in range(4, 9)]
    folder = tmp_path_factory.mktemp("made")
    assert not run_suite(suite(boards, POLICIES), folder).failed
    return report(folder, replays=False)


def render_text(what):
    console = Console(width=80, file=io.StringIO(), record=True)
    console.print(what)
    return console.export_text()


@pytest.mark.long
def test_tables_aggregate_all_games(made):
    assert isinstance(made, Report)
    assert made.aggregate.runs == 2
    assert made.aggregate.statistics["exact"]["iqm"].value == 1
    text = render_text(made.table())
    assert max(map(len, text.splitlines())) <= 80
    assert "All games" in text
    assert "HV ratios of 2 runs on each of 5 games" in text
    assert "2 runs: intervals are too narrow below 10" in " ".join(text.split())
    assert "Pairwise comparison of methods" in text
    assert "ESR and SER" not in text


def test_esr_and_ser_utilities(made):
    seats = next(one for one in made.panels if one.experiment == "seats" and one.primary)
    boards = next(one for one in made.panels if one.experiment != "seats")
    assert boards.user_utilities == {}
    for worths in seats.user_utilities.values():
        for name, worth in worths.items():
            if name.startswith("linear"):
                assert worth.esr.value == pytest.approx(worth.ser.value)
            if name == "egalitarian":
                assert worth.esr.value < worth.ser.value
    text = render_text(made.table(every=True))
    assert max(map(len, text.splitlines())) <= 80
    assert "ESR" in text


def test_caption_states_the_standard_error_and_the_episodes_needed(made):
    seats = next(one for one in made.panels if one.experiment == "seats" and one.primary)
    text = panel_caption(seats)
    spans = seats.references[0].ideal - seats.references[0].ref
    errors = [points.errors / spans for found in seats.points.values() for points in found.values()]
    assert seats.front_error == pytest.approx(np.concatenate(errors).max())
    assert 0.01 < seats.front_error < 1
    assert f"Standard error up to {seats.front_error:.2g} of the range with 5 episodes per match" in text
    assert "an error of 0.01 needs about" in text
    boards = next(one for one in made.panels if one.experiment != "seats")
    assert boards.front_error == 0
    assert "tandard error" not in panel_caption(boards)


def test_matches_of_an_episode_are_one_sample():
    def row(episode, opponent, value):
        both = {"policy": "p", "seat": "s", "opponent": opponent, "episode": episode, "start": episode}
        return [{**both, "set": which, "return": [value]} for which in ("select", "report")]

    given = [row(1, "b", 4.0), row(0, "a", 0.0), row(1, "a", 2.0), row(0, "b", 0.0)]
    played = read_policy_episodes([one for both in given for one in both], ("a", "b"), ("s",))
    assert played.report[0, :, :, 0].tolist() == [[0, 0], [2, 4]]  # episodes by matches, whatever the order of rows
    points = played.nondominated_points()
    assert points.values.tolist() == [[1.5]]
    assert points.errors == pytest.approx(np.array([[1.5]]))  # of 0 and 3, not of 0, 0, 2 and 4
    assert read_policy_episodes(
        [one for both in given for one in both], ("a",), ("s",)
    ).nondominated_points().values.tolist() == [[1.0]]


def test_a_game_without_a_variant_has_no_comma_before_its_experiment():
    game = replace(momagames.spec("mo-breakthrough-v0"), variant="")
    assert Panel.heading.fget(SimpleNamespace(game=game, experiment="suite: small boards")) == "small boards"
