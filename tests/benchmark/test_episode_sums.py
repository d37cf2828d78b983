"""Runs that store the first episodes one by one, and sums over all."""

import numpy as np
import pytest

from momagames.benchmark import run_suite
from momagames.benchmark.episode_sums import is_sum
from momagames.benchmark.replays import find_typical_episode, load_points, replay
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidFile
from momagames.reports.data.panels import build_panels
from momagames.reports.data.points import read_policy_episodes
from momagames.reports.data.policy_sets import summarize_policy_sets
from momagames.reports.text.captions import panel_caption
from tests.benchmark.test_generalization import EXPERIMENT
from tests.benchmark.tiny import POLICIES, suite

SHORT = {**POLICIES, "select_episodes": 4, "report_episodes": 40}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Return the same episodes, all stored, and with the first three of each set and sums."""
    made = []
    for name, experiment in (("all", SHORT), ("sums", {**SHORT, "stored_episodes": 3})):
        folder = tmp_path_factory.mktemp(name)
        assert not run_suite(suite(experiment), folder).failed
        made.append(Store(folder))
    return made


def test_scores_of_every_comparison_are_those_of_all_episodes(stores):
    whole, short = (build_panels(store, store.read_suite()) for store in stores)
    assert [panel.scope for panel in short] == [panel.scope for panel in whole]
    assert len(short) == 5
    for a, b in zip(whole, short, strict=True):
        for method, scores in a.scores.items():
            for name, score in scores.items():
                assert b.scores[method][name].values == pytest.approx(score.values, abs=1e-9), (a.scope, name)
            for seed, points in a.points[method].items():
                assert b.points[method][seed].labels == points.labels
                assert b.points[method][seed].errors == pytest.approx(points.errors, rel=1e-9, abs=1e-9)
        assert "with 40 episodes per match (utilities and wins of single episodes: the first 3)" in panel_caption(b)
        assert "utilities and wins" not in panel_caption(a)


def test_single_episodes_are_the_first_ones(stores):
    whole, short = stores
    for run, stored in zip(*(store.read_suite().list_runs() for store in stores), strict=True):
        rows, few = list(whole.read_rows(run)), list(short.read_rows(stored))
        assert [row for row in few if not is_sum(row)] == [row for row in rows if row["episode"] in (0, 1, 2, 4, 5, 6)]
        (panel,) = build_panels(short, short.read_suite(), primary_only=True)
        assert summarize_policy_sets(panel, panel.settings).keys() == {"random", "greedy"}
        first = read_policy_episodes(rows, ("random",), ("player_0",))
        sums = [row for row in few if is_sum(row) and (row.get("opponent"), row.get("seat")) == ("random", "player_0")]
        for row in sums:
            number = first.labels.index(row["policy"])
            returns = (first.select if row["set"] == "select" else first.report)[number, :, 0]
            assert (row["episodes"], row["sums"]) == (len(returns), pytest.approx(returns.sum(axis=0).tolist()))
            assert ("squares" in row) == (row["set"] == "report")
            assert row.get("squares", []) == pytest.approx((returns**2).sum(axis=0).tolist() if "squares" in row else [])
        assert len(sums) == 2 * len(first.labels)


def test_points_and_replays(stores):
    whole, short = stores
    for run, stored in zip(*(store.read_suite().list_runs() for store in stores), strict=True):
        place = short.run_directory(stored)
        for a, b in zip(load_points(whole.run_directory(run)), load_points(place), strict=True):
            assert (b["policy"], b["episodes"]) == (a["policy"], 160)
            assert np.allclose(b["return"], a["return"], rtol=0, atol=1e-12)
        typical = find_typical_episode(place, 0)
        assert typical.episodes == 160
        assert replay(place, 0, **typical.choice).record["actions"]


def test_archives_restore_sums(stores, tmp_path):
    pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')
    from momagames.benchmark.store.archive_file import ArchivedStore, pack_archive

    _, short = stores
    expected = build_panels(short, short.read_suite())
    run = next(short.finished_runs())
    rows = list(short.read_rows(run))
    pack_archive(short.folder, tmp_path / "a.npz.xz", thinned=True)
    assert list(short.read_rows(run)) == rows
    archive = ArchivedStore(tmp_path / "a.npz.xz")
    assert [panel.scores for panel in build_panels(archive, archive.read_suite())] == [panel.scores for panel in expected]


def test_experiments_that_need_every_episode_are_refused():
    with pytest.raises(InvalidFile, match=r"experiments\[0\]\.stored_episodes: expected none with head_to_head or gen"):
        suite({**EXPERIMENT, "stored_episodes": 2})
