"""Who wins, and by how much."""

from types import SimpleNamespace

import pytest

from momagames.benchmark.suites import Indicators
from momagames.reports.data.families import group_by_family
from momagames.reports.data.scores import Score
from momagames.reports.data.verdicts import LEVEL, compare_methods, count_leads, find_leaders
from momagames.reports.text.verdicts import describe_leads, describe_verdict

SETTINGS = Indicators(names=("hypervolume_ratio",), margin=0.01, confidence=0.95, resamples=500)


def panel(seeds=4, spread=0.0, **ratios):
    """Return a panel of methods with these mean ratios, which differ between runs by `spread`."""
    values = {m: {s: r + spread * (s - (seeds - 1) / 2) * (-1) ** len(m) for s in range(seeds)} for m, r in ratios.items()}
    return SimpleNamespace(points=values, scores={m: {"hypervolume_ratio": Score(None, False, v)} for m, v in values.items()})


def test_the_best_over_settings_that_all_play():
    """b is best over both; c, which beats it in the second, plays that one only."""
    found = compare_methods([panel(a=0.2, b=0.5), panel(a=0.4, b=0.6, c=0.9)], SETTINGS)
    assert found.winner[0] == "b"
    assert found.winner[1].value == pytest.approx(0.55)
    assert found.runner_up[0] == "a"
    assert (found.settings, found.won) == (2, 1)
    assert found.lead.value == pytest.approx(0.25)
    assert found.is_clear
    said = describe_verdict(found)
    assert said == (
        "b is best on average, and in 1 of 2 settings: hypervolume ratio 0.55, 0.25 ahead of a. "
        "Left out: c, in some of these settings only."
    )
    assert "in both settings" in describe_verdict(compare_methods([panel(a=0.2, b=0.5), panel(a=0.4, b=0.6)], SETTINGS))
    assert "in all 3 settings" in describe_verdict(compare_methods([panel(a=0.2, b=0.5)] * 3, SETTINGS))
    assert describe_verdict(compare_methods([panel(a=0.2, b=0.5)], SETTINGS)).startswith("b is best: hypervolume ratio 0.50")


def test_level_methods():
    """The runs differ more than the methods: the interval of the difference has both signs."""
    found = compare_methods([panel(seeds=6, spread=0.2, a=0.50, bb=0.51)], SETTINGS)
    assert not found.is_clear
    assert describe_verdict(found).startswith("bb and a are level: hypervolume ratios 0.51 and 0.50, difference 0.01 [")


def test_settings_with_a_tie_are_not_won():
    """The best over all settings leads only those in which it is ahead of every other method."""
    tie, lead = panel(a=1.0, b=1.0), panel(a=0.2, b=0.5)
    assert " on average, and in 1 of 2 settings: " in describe_verdict(compare_methods([tie, lead], SETTINGS))
    near = panel(seeds=6, spread=0.2, a=0.50, bb=0.51)  # level: runs differ more than the methods
    assert compare_methods([near, panel(seeds=6, a=0.1, bb=0.9)], SETTINGS).won == 1
    behind = [panel(a=0.9, b=0.8, c=0.0), panel(a=0.0, b=0.8, c=0.9)]
    assert "b is best on average, but in none of 2 settings: " in describe_verdict(compare_methods(behind, SETTINGS))
    assert compare_methods([panel(a=0.9, b=0.5)], SETTINGS, left_out=["a"]).won == 1


def test_a_rounding_error_is_no_lead():
    found = compare_methods([panel(a=0.3, b=0.1 + 0.2)], SETTINGS)
    assert describe_verdict(found).startswith("b and a are level")
    assert find_leaders({"a": {0: 0.3, 1: 0.3}, "b": {0: 0.1 + 0.2, 1: 0.1 + 0.2}}, SETTINGS) == ["b", "a"]


def test_little_to_compare():
    assert compare_methods([], SETTINGS) is None
    assert compare_methods([panel(a=0.5), panel(b=0.5)], SETTINGS) is None  # no setting has both
    alone = compare_methods([panel(seeds=1, a=0.5)], SETTINGS)
    assert alone.lead is None
    assert describe_verdict(alone) == "a alone was run: hypervolume ratio 0.50."
    one_run = describe_verdict(compare_methods([panel(seeds=1, a=0.5, b=0.2)], SETTINGS))
    assert one_run == "a is first and b second in a single run, which shows no lead: hypervolume ratios 0.50 and 0.20."


def test_a_lead_is_an_interval_above_zero_of_paired_runs():
    """b is ahead of a in every run, by less than runs differ; c is level with b, d has a single run in common with it."""
    runs = {
        "a": {0: 0.1, 1: 0.5, 2: 0.9, 3: 0.2},
        "b": {0: 0.2, 1: 0.6, 2: 1.0, 3: 0.3},
        "c": {0: 0.9, 1: 0.1, 2: 0.8, 3: 0.2},
        "d": {3: 0.1, 4: 0.1},
    }
    assert find_leaders(runs, SETTINGS) == ["b", "c", "d"]
    assert find_leaders({name: runs[name] for name in "ab"}, SETTINGS) == ["b"]
    assert find_leaders({"a": {0: 1.0, 1: 1.0}, "b": {0: 1.0, 1: 1.0}}, SETTINGS) == ["a", "b"]  # a tie to the digit
    assert find_leaders({"a": {0: 0.9}, "b": {0: 0.1}}, SETTINGS) == ["a", "b"]  # one run shows nothing
    several = {"a": {0: 0.9, 1: 0.9}, "b": {0: 0.1}, "c": {0: 1.0}}
    assert find_leaders(several, SETTINGS) == ["a"]  # and denies no other method its lead
    counts = count_leads([["b", "c", "d"], ["b"], ["a"], ["b"]])
    assert counts == {"b": 2, "a": 1, LEVEL: 1}
    assert describe_leads(counts, 4) == "`b` in 2 of 4 settings, `a` in 1, level in 1"
    assert describe_leads(count_leads([["a", "b"]]), 1) == "level in 1 of 1 setting"


def test_families_have_their_settings_with_secondary_panels():
    def one(title, experiment, canonical, primary=True):
        game = SimpleNamespace(title=title)
        return SimpleNamespace(
            game=game, experiment=experiment, canonical=canonical, primary=primary, full_heading=f"{canonical} {primary}"
        )

    panels = [
        one("A", "x", "a1"),
        one("A", "x", "a1", False),
        one("B b", "y", "b1"),
        one("A", "z", "a1"),
        one("A", "x", "a1", False),
    ]
    first, second = group_by_family(panels, [SimpleNamespace(title="b1 True")])
    assert (first.title, first.place) == ("A", "family-a")
    assert [(s.panel, s.secondary, s.crossplay) for s in first.settings] == [(0, (1, 4), None), (3, (), None)]
    assert (second.title, second.place) == ("B b", "family-b-b")
    assert [(s.panel, s.secondary, s.crossplay) for s in second.settings] == [(2, (), 0)]
