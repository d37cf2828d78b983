"""Head-to-head runs: every method meets every other with one policy, and responses are played against it."""

import json

import numpy as np
import pytest

from momagames import spec
from momagames.benchmark import estimates, head_to_head, run_suite
from momagames.benchmark.choices import label_methods
from momagames.benchmark.estimates import estimate_cost
from momagames.benchmark.evaluate import evaluate_run
from momagames.benchmark.head_to_head import RESPONSE, choose_player, find_deciding_objective, score_wins, train_response
from momagames.benchmark.replays import evaluate_again, replay
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidFile
from tests.benchmark.tiny import suite
from tests.recomputed_rows import can_recompute, recompute_row

pytestmark = pytest.mark.long  # trains, or compiles methods

RANDOM = {"name": "random", "options": {}}
GREEDY = {"name": "greedy", "options": {"divisions": 1}}
TABLES = {
    "name": "ntuple",
    "options": {
        "divisions": 1,
        "depth": 1,
        "short": 2,
        "long": 2,
        "alpha": 2.0,
        "td_lambda": 0.9,
        "epsilon": 0.05,
        "opening": 4,
    },
}
EXPERIMENT = {
    "name": "matches",
    "kind": "policies",
    "ideal_point": "declared",
    "games": [{"id": "mo-breakthrough-v0", "params": {"board_width": 5, "board_height": 5, "num_objectives": 3}}],
    "methods": [RANDOM, GREEDY, TABLES],
    "opponents": [{"name": "greedy", "options": {"weights": []}}],
    "seats": [],
    "seeds": [0, 1],
    "seconds": 600,
    "budget": 1000,
    "select_episodes": 4,
    "report_episodes": 6,
    "head_to_head": {"seats": [], "responses": [GREEDY, TABLES], "response_budget": 2000},
}


def list_runs(**changed):
    return suite(EXPERIMENT | changed).list_runs()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matches")
    assert not run_suite(suite(EXPERIMENT), folder).failed
    return folder


def test_every_method_meets_every_method_from_each_seat(results):
    store = Store(results)
    runs = list(store.finished_runs())
    assert len(runs) == 6
    for run in runs:
        rows = list(store.read_rows(run))
        report = [row for row in rows if row["set"] == "report"]
        assert {row["opponent"] for row in report} == {"random", "greedy", "ntuple"}
        assert len(report) == 3 * 2 * 6
        assert len({row["policy"] for row in report}) == 1
        responses = [row for row in rows if row["set"] == RESPONSE]
        assert len(responses) == 2 * 6
        assert {row["opponent"] for row in responses} == {run.method.name}
        assert {row["episode"] for row in rows} == set(range(4, 10))
        facts = store.read_metadata(run)["facts"]
        assert facts["policies"] == 1
        assert facts["response_steps"] >= 1000


def test_two_players_have_the_same_games_in_both_runs(results):
    """The row of one player as player_0 and that of the other as player_1 are of one game: the wins have opposite signs."""
    store = Store(results)
    rows = {run.method.name: list(store.read_rows(run)) for run in store.finished_runs() if run.seed == 1}
    for one in rows:
        for other in rows:
            for seat, opposite in (("player_0", "player_1"), ("player_1", "player_0")):
                first = [
                    row["return"][0]
                    for row in rows[one]
                    if (row["opponent"], row["seat"], row["set"]) == (other, seat, "report")
                ]
                second = [
                    row["return"][0]
                    for row in rows[other]
                    if (row["opponent"], row["seat"], row["set"]) == (one, opposite, "report")
                ]
                assert np.array_equal(first, -np.array(second))


def test_the_policy_with_the_most_wins_in_the_selection_episodes_plays():
    run = next(run for run in list_runs() if run.method.name == "greedy")
    game = run.game.make_game()
    policies = run.method.make_method(game).policies(game)
    alone = run.play_alone()
    wins = {policy.label: 0.0 for policy in policies}
    for row in evaluate_run(alone, {}):
        if row["set"] == "select":
            wins[row["policy"]] += score_wins(game, 0, np.array(row["return"]))
    assert len(set(wins.values())) > 1
    assert choose_player(run, run.method).policy.label == max(wins, key=wins.get)


def test_a_response_wins_at_least_as_often_as_each_candidate_in_the_selection_episodes():
    run = next(run for run in list_runs() if run.method.name == "random")
    policy = choose_player(run, run.method).policy
    response = train_response(run, policy)
    assert response.policy.label.partition(":")[0] in {"greedy", "ntuple"}
    assert response.facts["steps"] >= 1000
    rows = [row for row in evaluate_run(run, {}) if row["set"] == RESPONSE]
    assert np.mean([row["return"][0] > 0 for row in rows]) == 1  # random play loses against either of them


def test_players_are_trained_once_in_a_process(monkeypatch):
    trained = []
    original = head_to_head.train_policies
    monkeypatch.setattr(
        head_to_head, "train_policies", lambda run, *rest: trained.append(run.method.name) or original(run, *rest)
    )
    head_to_head._choose_player.cache_clear()
    for run in list_runs(seeds=[5]):
        list(evaluate_run(run, {}))
    assert sorted(trained) == sorted(["random", "greedy", "ntuple"] + 3 * ["greedy", "ntuple"])  # and the responses


def test_an_estimate_has_the_training_of_each_player_once(monkeypatch):
    """The cost of a sample is counted in trainings here: the own one and those of the responses, whatever ran before."""
    trained = []
    original = head_to_head.train_policies
    monkeypatch.setattr(
        head_to_head, "train_policies", lambda run, *rest: trained.append(run.method.name) or original(run, *rest)
    )
    monkeypatch.setattr(estimates.time, "process_time", lambda: len(trained))
    head_to_head._choose_player.cache_clear()
    assert [estimates.measure_sample(run, 1.0) for run in list_runs(seeds=[6])] == [3, 3, 3]


def test_players_train_from_the_seats_of_the_experiment_and_meet_from_those_of_the_games():
    (run, *_) = list_runs(seats=["player_1"], methods=[RANDOM, TABLES])
    rows = list(evaluate_run(run, {}))
    assert {row["seat"] for row in rows} == {"player_0", "player_1"}
    policy = choose_player(run, run.players[1]).policy
    assert set(policy.arrays) == set(choose_player(list_runs()[0], run.players[1]).policy.arrays)
    alone = list_runs(seats=["player_1"], methods=[RANDOM, TABLES], head_to_head=None)[1]
    played = {row["policy"] for row in evaluate_run(alone, {})}
    assert policy.label in played  # the policies of the experiment without games
    given = {**EXPERIMENT["head_to_head"], "seats": ["player_0"]}
    (run, *_) = list_runs(head_to_head=given, methods=[RANDOM, GREEDY], budget=0)
    assert {row["seat"] for row in evaluate_run(run, {})} == {"player_0"}


def test_equal_runs_have_equal_rows_in_any_order(results):
    store = Store(results)
    run = max(store.finished_runs(), key=lambda run: (run.method.name == "ntuple", run.seed))
    head_to_head._choose_player.cache_clear()
    assert [json.loads(json.dumps(row)) for row in evaluate_run(run, {})] == list(store.read_rows(run))


def test_rows_between_untrained_players_are_computed_again(results):
    store = Store(results)
    checked = 0
    for run in store.finished_runs():
        place = store.run_directory(run)
        for row in list(store.read_rows(run))[::5]:
            expected = ("ntuple" not in (row["opponent"],) and row["set"] != RESPONSE) or (
                row["opponent"] == run.method.name and row["set"] != RESPONSE
            )
            assert can_recompute(place, row) == expected
            if expected:
                assert recompute_row(place, row) == row
                checked += 1
    assert checked > 10


def test_the_policy_of_a_run_is_replayed_and_evaluated_again(results):
    store = Store(results)
    run = next(run for run in store.finished_runs() if run.method.name == "ntuple")
    place = store.run_directory(run)
    assert len(replay(place, 0, opponent="ntuple").record["returns"]) == 2
    assert set(evaluate_again(place, 0, 3, 0)) == {("greedy", "player_0"), ("greedy", "player_1")}


def test_the_players_belong_to_the_content_of_a_run():
    digests = {run.digest for run in list_runs()}
    assert digests.isdisjoint(run.digest for run in list_runs(methods=[RANDOM, TABLES]))
    assert digests.isdisjoint(run.digest for run in list_runs(head_to_head=None))
    assert list(label_methods(list_runs()[0].players).values()) == ["random", "greedy", "ntuple"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"methods": [RANDOM], "budget": 0}, "expected two methods or more"),
        ({"games": [{"id": "mo-gemwalk-v0", "params": {}}], "methods": [RANDOM, GREEDY], "budget": 0}, "has no winner"),
        ({"head_to_head": {"seats": [], "responses": [], "response_budget": 5}}, "responses"),
        ({"head_to_head": {"seats": [], "responses": [{"name": "beam", "options": {}}], "response_budget": 5}}, "responses"),
        ({"head_to_head": {"seats": [], "responses": [GREEDY]}}, "response_budget: missing key"),
        (
            {"head_to_head": {"seats": ["player_2"], "responses": [GREEDY], "response_budget": 5}},
            r"head_to_head\.seats\[0\]='player_2': expected .* did you mean",
        ),
    ],
)
def test_invalid_head_to_head_is_rejected(changed, message):
    with pytest.raises(InvalidFile, match=message):
        suite(EXPERIMENT | changed)


def test_the_deciding_objective():
    assert find_deciding_objective(spec("mo-breakthrough-v0")) == 0
    assert find_deciding_objective(spec("mo-pommerman-duel-v0", objectives=("bombs", "outcome"))) == 1
    assert find_deciding_objective(spec("mo-ingenious-v0", num_agents=3, objectives=("color_1", "win"))) == 1
    assert find_deciding_objective(spec("mo-gemwalk-v0")) == -1


def test_costs_are_estimated_before_the_run():
    found = list(estimate_cost(list_runs(seeds=[6]), seconds=0.01))
    assert [len(one.runs) for one in found] == [1, 1, 1]
    assert all(one.seconds > 0 for one in found)
    assert all(run.head_to_head.response_budget == 2000 for one in found for run in one.runs)
