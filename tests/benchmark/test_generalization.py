"""Training on a finite set of instances, and scores against the exact front of each."""

import io

import numpy as np
import pytest
from rich.console import Console

from momagames.analysis.episode_returns import standard_errors
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.baselines.evolution.population_eval import PopulationEvaluator
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark import run_suite
from momagames.benchmark.evaluate import evaluate_run, make_episode_seeds
from momagames.benchmark.replays import replay
from momagames.benchmark.store.store import Store
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.errors import InvalidFile
from momagames.reports import report
from momagames.reports.data.generalization import RATIO, REGRET
from momagames.reports.data.panels import build_panels
from tests.benchmark.tiny import GREEDY, RANDOM, suite

SCORER = {"name": "cross_entropy", "options": {"population": 8, "elites": 4, "episodes": 2, "divisions": 2}}
BOARD = {"board_width": 4, "board_height": 4, "num_colors": 2}
EXPERIMENT = {
    "name": "unseen boards",
    "kind": "policies",
    "ideal_point": "reference",
    "games": [{"id": "mo-samegame-v0", "params": BOARD}],
    "methods": [RANDOM, GREEDY, SCORER],
    "opponents": [],
    "seats": [],
    "seeds": [0, 1],
    "seconds": 300,
    "budget": 8000,
    "select_episodes": 3,
    "report_episodes": 4,
    "episode_set": "tiny",
    "generalization": {"plays": 4, "max_states": 100_000, "max_bytes": 100_000_000},
}


def make_run(name, **changes):
    return next(run for run in suite({**EXPERIMENT, **changes}).list_runs() if run.method.name == name)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generalization")
    assert not run_suite(suite(EXPERIMENT), folder).failed
    return folder


def test_every_method_has_the_plays_and_policies_share_them():
    for name, policies, rounds in (("random", 1, 4), ("greedy", 3, 2)):
        rows = list(evaluate_run(make_run(name), {}))
        assert len(rows) == policies * rounds * 7
        starts = {row["episode"]: row["start"] for row in rows}
        assert starts[0] == starts[7]
        assert len(set(starts.values())) == 7
        assert {row["set"] for row in rows if row["episode"] % 7 < 3} == {"select"}
        assert {row["set"] for row in rows if row["episode"] % 7 >= 3} == {"report"}
    rows = list(evaluate_run(make_run("random"), {}))
    assert any(rows[i]["return"] != rows[i + 7]["return"] for i in range(7))  # other random numbers


def test_test_instances_do_not_depend_on_the_number_of_training_instances():
    few, many = make_run("random", select_episodes=2), make_run("random", select_episodes=6)
    small, large = (make_episode_seeds(run, run.game.make_game())[0].tolist() for run in (few, many))
    assert small[2:] == large[6:]
    assert small[:2] == large[:2]
    assert len(set(large)) == 10


@pytest.mark.long
def test_training_uses_the_training_instances_only(monkeypatch):
    run = make_run("cross_entropy")
    given = []
    train = CrossEntropy.train
    monkeypatch.setattr(CrossEntropy, "train", lambda own, setup: given.append(setup.starts) or train(own, setup))
    rows = list(evaluate_run(run, {}))
    game = run.game.make_game()
    seeds, _ = make_episode_seeds(run, game)
    assert (given[0] == generate_starts(game, seeds[:3])).all()
    assert {row["start"] for row in rows if row["set"] == "select"} == set(seeds[:3].tolist())
    assert list(evaluate_run(make_run("cross_entropy", generalization=None), {}))
    assert given[1] is None


def list_boards(states):
    return {state.tobytes() for state in states["board"]}


@pytest.mark.long
def test_learners_play_given_start_positions_only(monkeypatch):
    game = make_run("random").game.make_game()
    starts = generate_starts(game, np.arange(3, dtype=np.uint64))
    seen = set()
    load = Batch.load

    def spy(self, states, chosen=None):
        seen.update(list_boards(states if chosen is None else states[chosen]))
        load(self, states, chosen)

    monkeypatch.setattr(Batch, "load", spy)
    trainer = CrossEntropy(8, 4, 4).make_trainer(TrainingSetup([game], 20_000, starts=starts))
    for _ in range(4):
        trainer.train_iteration()
    assert seen == list_boards(starts)


def test_populations_play_given_start_positions_only():
    game = make_run("random").game.make_game()
    starts = generate_starts(game, np.arange(3, dtype=np.uint64))
    given = []
    for episodes in (2, 3, 7):
        policy = type("Policy", (), {"game": game})()
        evaluator = PopulationEvaluator(
            policy, TrainingSetup([game], 100, starts=starts), episodes, 100, np.random.default_rng(0)
        )
        given.append([state.tobytes() for state in evaluator._starts["board"]])
    assert [len(one) for one in given] == [2, 3, 7]
    assert len(set(given[0])) == 2
    assert set(given[1]) == set(given[2]) == list_boards(starts)


def test_moppo_plays_given_start_positions_only(monkeypatch):
    pytest.importorskip("torch")
    from momagames.baselines.moppo.method import Moppo

    game = make_run("random").game.make_game()
    starts = generate_starts(game, np.arange(3, dtype=np.uint64))
    options = {**Moppo.default_options(game), "num_envs": 4, "num_steps": 16, "num_minibatches": 1, "layers": 1}
    trainer = Moppo(**options).make_trainer(TrainingSetup([game], 1000, starts=starts))
    batch, seen = trainer.collector.batch, set()
    seen.update(list_boards(batch.states))
    load = batch.load
    monkeypatch.setattr(batch, "load", lambda states, chosen: seen.update(list_boards(states[chosen])) or load(states, chosen))
    monkeypatch.setattr(batch, "reset", None)  # never called
    for _ in range(3):
        trainer.train_iteration()
    assert seen == list_boards(starts)


def test_replays_of_later_plays(results):
    store = Store(results)
    run = next(run for run in store.finished_runs() if run.method.name == "random")
    last = max(row["episode"] for row in store.read_rows(run))
    assert last == 27
    assert replay(store.run_directory(run), 0, episode=last).record["returns"]  # raises if the returns differ


def test_scores_against_exact_fronts(results):
    made = report(results, replays=False)
    (panel,) = made.panels
    assert list(panel.generalization) == ["random", "greedy", "cross_entropy"]
    for scores in panel.generalization.values():
        assert 0 < scores[RATIO].test.value <= 1
        assert 0 <= scores[REGRET].test.value < 1
        for name, sign in ((RATIO, 1), (REGRET, -1)):
            difference = sign * (scores[name].training.value - scores[name].test.value)
            assert scores[name].gap.value == pytest.approx(difference)
    console = Console(width=200, file=io.StringIO())
    console.print(made.table())
    assert "exact fronts of instances" in console.file.getvalue()
    assert "Generalization, against the exact front of each instance" in made.page.read_text()


def test_games_without_exact_fronts_are_refused():
    game = {"id": "mo-tileblast-v0", "params": {"objectives": ["goals", "move"]}}
    with pytest.raises(InvalidFile, match=r"generalization on games\[0\]: mo-tileblast-v0 has chance during play"):
        suite({**EXPERIMENT, "games": [game], "methods": [RANDOM], "budget": 0})
    with pytest.raises(InvalidFile, match=r"generalization\.play: unknown key: expected .*did you mean 'plays'"):
        suite({**EXPERIMENT, "generalization": {**EXPERIMENT["generalization"], "play": 1}})


def test_plays_of_one_instance_are_one_observation_of_standard_errors(results):
    """Each policy of greedy plays a share of the plays in each of the test instances."""
    (panel, *_) = build_panels(Store(results), Store(results).read_suite())
    for method, runs in panel.policy_episodes.items():
        for episodes in runs.values():
            count = len(set(episodes.instances.tolist()))
            assert count == EXPERIMENT["report_episodes"]
            means = episodes.report.reshape(len(episodes.labels), -1, count, *episodes.report.shape[2:]).mean(axis=1)
            expected = standard_errors(means)
            values = standard_errors(episodes.report, episodes.instances)
            np.testing.assert_allclose(values, expected, err_msg=method)
