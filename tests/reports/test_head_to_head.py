"""Scores of head-to-head experiments against hand-computed values."""

from types import SimpleNamespace

import numpy as np
import pytest

from momagames.analysis.reference import Reference
from momagames.reports.data.crossplay import compute_crossplay
from momagames.reports.data.head_to_head import cluster_by_seed, rate_players, score_head_to_head
from momagames.reports.data.points import PolicyEpisodes, read_policy_episodes
from momagames.reports.text.captions import ratings_caption
from momagames.reports.text.report_tables import make_crossplay, make_head_to_head
from tests.reports.test_crossplay import SETTINGS, objective

SEATS = ("one", "two")
TIED = SimpleNamespace(objectives=(objective("outcome"),), teams=(0, 1), chance="none")  # a tie is a loss for both
PLAYERS = ("random", "strong")


def episodes(own, response):
    """Return a policy's outcomes from wins by opponent, [seat][episode], and those of the response to it, [seat][episode]."""
    matches = tuple((player, seat) for player in PLAYERS for seat in SEATS)
    table = [[[2.0 * won - 1] for player in PLAYERS for won in np.array(own[player])[:, e]] for e in range(2)]
    answers = 2 * np.array(response, float).T[:, :, None] - 1
    return PolicyEpisodes(("p",), np.array([table]), np.array([table]), matches, answers)


def panel(teams=(0, 1), seeds=(0, 1)):
    """Return two players: of four games strong wins two, random one, and one is tied."""
    weak = {"random": [[1, 0], [0, 1]], "strong": [[1, 0], [0, 0]]}
    strong = {"random": [[0, 1], [0, 1]], "strong": [[1, 0], [0, 0]]}
    game = SimpleNamespace(**{**vars(TIED), "teams": teams})
    runs = {"random": episodes(weak, [[1, 1], [1, 0]]), "strong": episodes(strong, [[1, 0], [0, 0]])}
    reference = Reference(np.array([[1.0]]), "best known", np.array([-1.0]), np.array([1.0]))
    return SimpleNamespace(
        primary=True, title="made up", full_heading="made up", game=game, num_episodes=2,
        policy_episodes={name: dict.fromkeys(seeds, one) for name, one in runs.items()},
        references=dict.fromkeys(seeds, reference),
    )  # fmt: skip


def test_scores_by_hand():
    found = score_head_to_head(panel(), SETTINGS, "random")
    assert {pair: at.value for pair, at in found.wins.items()} == {
        ("random", "random"): 0.5, ("random", "strong"): 0.25, ("strong", "random"): 0.5, ("strong", "strong"): 0.25,
    }  # fmt: skip
    assert found.total("strong") == (0.5, 0.25, 0.25)
    assert found.total("random") == (0.25, 0.25, 0.5)
    assert {name: at.value for name, at in found.response.items()} == {"random": 0.75, "strong": 0.25}
    assert {name: at.value for name, at in found.gain.items()} == {"random": 0.25, "strong": 0.0}
    assert found.returns["random"][0].value == 2 * 3 / 8 - 1  # three of eight games
    assert found.ratings["random"].value == 0
    # eight games in two seeds: strong has 8 * (1 + 1/2 - 1/4) / 2 = 5 of them, and half a win more each way
    assert found.ratings["strong"].value == pytest.approx(400 * np.log10(5.5 / 3.5), abs=0.01)


def test_intervals_are_over_seeds():
    """Seeds with equal results have no spread, however much their episodes differ; a single seed has that of its episodes."""
    many, one = (score_head_to_head(panel(seeds=seeds), SETTINGS, "random").ratings["strong"] for seeds in ((0, 1, 2), (0,)))
    assert many.runs == 3
    assert many.low == many.value == many.high
    assert one.runs == 2
    assert one.low < one.value < one.high
    samples = np.arange(16.0).reshape(2, 2, 2, 2)
    assert cluster_by_seed(samples).tolist() == samples.sum(axis=1).tolist()
    assert cluster_by_seed(samples[:1]).tolist() == samples[0].tolist()


def test_wins_alone_against_several_are_compared_with_each_other():
    """With equal results one wins a quarter of the games against three of the other: the ratings are equal."""
    wins = np.full((1, 2, 2, 4), 0.25)
    ratings = rate_players(wins, 4, ("a", "b"), "a", SETTINGS)
    assert ratings["b"].value == pytest.approx(0, abs=0.01)
    wins[0, 1, 0] = 0.5
    ratings = rate_players(wins, 4, ("a", "b"), "a", SETTINGS)
    assert ratings["b"].value == pytest.approx(400 * np.log10((10 + 0.5) / (6 + 0.5)), abs=0.01)


def test_other_panels_have_no_scores():
    one = panel()
    one.primary = False
    assert score_head_to_head(one, SETTINGS, "random") is None
    one = panel()
    plain = {
        name: {seed: PolicyEpisodes(e.labels, e.select, e.report, e.matches) for seed, e in runs.items()}
        for name, runs in one.policy_episodes.items()
    }
    one.policy_episodes = plain
    assert score_head_to_head(one, SETTINGS, "random") is None
    one = panel()
    del one.policy_episodes["random"][0], one.policy_episodes["strong"][1]
    assert score_head_to_head(one, SETTINGS, "random") is None  # no common seed


def test_tables_of_the_report():
    crossplay = compute_crossplay(panel(), SETTINGS)
    (table,) = [one for one in make_crossplay(crossplay, 1) if one.title == "made up: wins and responses"]
    rows = table.rows
    assert [column.heading for column in table.columns] == [
        "player",
        "Elo ↑",
        "wins ↑",
        "ties",
        "losses ↓",
        "response ↓",
        "exploitability ↓",
        "outcome",
    ]
    assert [row[0] for row in rows] == ["strong", "random"]
    assert rows[0][2:5] == ["0.500", "0.250", "0.250"]
    assert rows[1][6] == "+0.250"
    assert "Intervals are over seeds" in ratings_caption(crossplay)
    table = make_head_to_head(compute_crossplay(panel(teams=(0, 1, 2)), SETTINGS).head_to_head, "")
    assert "ties" not in [column.heading for column in table.columns]


def test_responses_are_read_beside_the_episodes_of_the_policy():
    row = {"policy": "p", "set": "report", "opponent": "random", "seat": "one", "episode": 4, "start": 7, "return": [1.0]}
    answer = {**row, "policy": "r", "set": "response", "opponent": "strong", "return": [-1.0]}
    found = read_policy_episodes([row, answer], ("random",), ("one",))
    assert found.labels == ("p",)
    assert found.report.tolist() == found.select.tolist() == [[[[1.0]]]]
    assert found.response.tolist() == [[[-1.0]]]
