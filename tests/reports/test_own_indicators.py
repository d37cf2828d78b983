"""Indicators of users in suites: a record in a module of theirs is enough."""

import html
import io

import numpy as np
import pytest
from rich.console import Console

from momagames.analysis.named_indicators import Indicator, find_indicator
from momagames.benchmark import load_suite, run_suite
from momagames.errors import InvalidFile, InvalidParameter
from momagames.reports import report
from momagames.reports.text.latex_tables import latex_report
from tests.benchmark.tiny import INDICATORS, POLICIES, RANDOM, plans

HERE = "tests.reports.test_own_indicators"
FARTHEST = Indicator(
    label="farthest point",
    more_is_better=True,
    meaning="largest sum of normalized returns of a point",
    compute=lambda run: float(run.own.sum(axis=1).max()),
)
STEERED = Indicator(
    label="first weights",
    more_is_better=None,
    meaning="mean weight of the first objective",
    compute=lambda run: float(run.policies.weights[:, 0].mean()),
    needs_weights=True,
)


def make_suite(*names):
    measured = {**INDICATORS, "names": ["hypervolume_ratio", *names]}
    return {"name": "own", "description": "", "experiments": [plans([RANDOM]), POLICIES], "indicators": measured}


def test_own_indicators_are_in_every_table(tmp_path):
    names = f"{HERE}:FARTHEST", f"{HERE}:STEERED"
    assert not run_suite(load_suite(make_suite(*names)), tmp_path).failed
    made = report(tmp_path, allow_code=True)
    boards, seats = made.panels[0], next(one for one in made.panels if one.kind == "policies")
    points, reference = boards.points["random"][0], boards.references[0]
    assert boards.scores["random"][names[0]].values[0] == reference.normalize(points.values).sum(axis=1).max()
    weights = np.array(list(seats.weights["greedy"][0].values()))
    assert seats.scores["greedy"][names[1]].values[0] == pytest.approx((weights[:, 0] / weights.sum(axis=1)).mean())
    assert names[1] not in seats.scores["random"]
    screen = Console(width=120, file=io.StringIO())
    screen.print(made.table(every=True))
    page = html.unescape(made.page.read_text("utf-8"))
    for written in (screen.file.getvalue(), page, latex_report(made, every=True)):
        assert "farthest" in written
        assert "first" in written
    assert f"<dt>farthest point ↑</dt><dd>{FARTHEST.meaning}</dd>" in page
    with pytest.raises(InvalidFile, match=f"invalid indicator='{names[0]}'.* --allow-code"):
        report(tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hypervolum", r"indicators\.names\[1\]: invalid indicator='hypervolum'; did you mean 'hypervolume'"),
        (f"{HERE}:HERE", "expected a name of a momagames.analysis.named_indicators.Indicator"),
        (f"{HERE}:NOTHING", f"indicators.names\\[1\\]: .*cannot load '{HERE}:NOTHING'"),
    ],
)
def test_other_names_are_refused(name, message):
    with pytest.raises(InvalidFile, match=message):
        load_suite(make_suite(name))
    with pytest.raises((InvalidParameter, KeyError)):
        find_indicator(name)
