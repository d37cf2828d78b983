"""Methods that train within a run: interface, stored policies, and errors."""

import json
import shutil

import numpy as np
import pytest

import momagames
from momagames.analysis.indicators import hypervolume
from momagames.baselines import batch_policy
from momagames.baselines.evolution import method as evolution
from momagames.baselines.evolution.cma import Cma
from momagames.baselines.evolution.nsga2 import Nsga2
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark import evaluate
from momagames.benchmark.episodes import make_default_opponent, make_episode_seeds, play_from_starts
from momagames.benchmark.executors import ProcessPool
from momagames.benchmark.executors.executor import execute_run
from momagames.benchmark.replays import evaluate_again, load_points, replay
from momagames.benchmark.runner import run_suite
from momagames.benchmark.store import policy_files
from momagames.benchmark.store.export import export
from momagames.benchmark.store.merge import merge_results
from momagames.benchmark.store.policy_files import POLICIES
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_files import load_suite
from momagames.errors import InvalidFile, InvalidParameter, MissingExtra
from momagames.files.reading import hash_content
from tests.benchmark.tiny import POLICIES as SEATS
from tests.benchmark.tiny import RANDOM, seal, suite

NSGA2 = {"name": "nsga2", "options": {"population": 8, "episodes": 2, "shared": False}}
CMA = {"name": "cma", "options": {"population": 4, "episodes": 2, "shared": True, "divisions": 1, "sigma": 1.0}}
METHODS = {"nsga2": Nsga2, "cma": Cma}
TRAINING = {
    **SEATS,
    "name": "trained",
    "methods": [RANDOM, NSGA2, CMA],
    "opponents": [{"name": "random", "options": {}}],
    "seeds": [3],
    "budget": 12_000,
}
SAMEGAME = {"id": "mo-samegame-v0", "params": {"board_width": 5, "board_height": 5, "num_colors": 2}}
BREAKTHROUGH = {"id": "mo-breakthrough-v0", "params": {"board_width": 5, "board_height": 5}}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    tested = suite(TRAINING)
    results = run_suite(tested, folder)
    assert not results.failed
    return folder, tested


def runs_of(tested, name):
    return [run for run in tested.list_runs() if run.method.name == name]


def train(game, options, budget, seed=0, name="nsga2", others=None):
    method = METHODS[name](**options)
    opponents = others or [make_default_opponent(game)]
    return method.train(TrainingSetup([game], budget, seed, range(len(game.agents)) if others else [0], opponents))


# --------------------------------------------------------------------------------------------------------- interface


@pytest.mark.long
def test_only_methods_that_train_have_a_budget(done):
    _, tested = done
    assert [run.budget for run in tested.list_runs()] == [None, 12_000, 12_000]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 0}, r"experiments\[0\]\.budget=0: expected 1 or more, because nsga2 trains"),
        (
            {"methods": [{**NSGA2, "options": {**NSGA2["options"], "population": 2}}]},
            r"invalid population=2: expected 4",
        ),
        (
            {"methods": [{**CMA, "options": {**CMA["options"], "divisions": 12}}]},
            r"invalid divisions=12 for .*: 455 strategies, expected at most 256",
        ),
    ],
)
def test_rejects_invalid_suites(change, message):
    with pytest.raises(InvalidFile, match=message):
        suite({**TRAINING, **change})


def test_training_uses_the_budget(done):
    folder, tested = done
    for name in ("nsga2", "cma"):
        (run,) = runs_of(tested, name)
        facts = Store(folder).read_metadata(run)["facts"]
        assert 0.9 * run.budget < facts["training_steps"] < 1.1 * run.budget
        assert facts["generations"] >= 1
        assert facts["steps"] > facts["training_steps"]  # evaluation included


def test_rejects_a_budget_below_one_generation():
    game = momagames.spec("mo-breakthrough-v0", **BREAKTHROUGH["params"])
    with pytest.raises(InvalidParameter, match=r"nsga2: invalid budget=400 .*first generation of 8 policies"):
        train(game, NSGA2["options"], 400)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"games": 2}, "nsga2 trains on one game: expected 1, got 2"),
        ({"fixed_weights": (1.0, 0.0)}, r"nsga2: invalid fixed_weights=\(1.0, 0.0\): expected None"),
        ({"return_scale": np.ones(2)}, "nsga2: invalid return_scale=.*: expected None"),
    ],
)
def test_rejects_what_it_does_not_use(changed, message):
    games = [momagames.spec("mo-samegame-v0", **SAMEGAME["params"])] * changed.pop("games", 1)
    with pytest.raises(InvalidParameter, match=message):
        Nsga2(**NSGA2["options"]).train(TrainingSetup(games, 10_000, **changed))


def test_training_does_not_depend_on_report_episodes(done, monkeypatch):
    _, tested = done
    (run,) = runs_of(tested, "nsga2")
    calls = []

    def record(self, setup):
        calls.append((list(setup.learning_agents), [one.label for one in setup.opponents], setup.budget, setup.seed))
        raise KeyError

    monkeypatch.setattr(Nsga2, "train", record)
    for episodes in (1, 50):
        with pytest.raises(KeyError):
            next(evaluate.evaluate_policies(run.model_copy(update={"report_episodes": episodes}), {}))
    assert calls[0] == calls[1]
    learning_agents, opponents, budget, seed = calls[0]
    assert (learning_agents, opponents, budget) == ([0, 1], ["random"], 12_000)
    seeds, _ = make_episode_seeds(run, run.game.make_game())
    assert seed != run.seed
    assert seed not in seeds


def test_equal_seeds_give_equal_policies_without_the_global_generator():
    game = momagames.spec("mo-breakthrough-v0", **BREAKTHROUGH["params"])
    for name, options in (("nsga2", NSGA2["options"]), ("cma", CMA["options"])):
        np.random.seed(5)  # noqa: NPY002 - the global generator must not change
        before = np.random.get_state()[1].tobytes()  # noqa: NPY002
        first = train(game, options, 10_000, name=name)
        assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002
        np.random.seed(6)  # noqa: NPY002
        again, other = train(game, options, 10_000, name=name), train(game, options, 10_000, seed=1, name=name)
        assert [one.initial_memory for one in first.policies] == [one.initial_memory for one in again.policies]
        assert first.steps == again.steps
        assert [one.initial_memory for one in first.policies] != [one.initial_memory for one in other.policies]


@pytest.mark.parametrize(("name", "package"), [("nsga2", "pymoo"), ("cma", "cma")])
def test_missing_packages_are_named(monkeypatch, tmp_path, name, package):
    def missing(wanted):
        raise ImportError(wanted)

    monkeypatch.setattr("momagames.baselines.base.import_module", missing)
    message = rf'"{name}" needs {package}: pip install "momagames\[evolution\]"'
    method = METHODS[name](**{"nsga2": NSGA2, "cma": CMA}[name]["options"])
    method.check_train(momagames.spec("mo-samegame-v0"))  # a suite can be read and shown without it
    with pytest.raises(MissingExtra, match=message):
        method.check_installed()
    with pytest.raises(MissingExtra, match=r"momagames\[evolution\]"):  # before the first run, and once
        run_suite(load_suite("evolution"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


# -------------------------------------------------------------------------------------------------------- it learns


@pytest.mark.parametrize("name", ["nsga2", "cma"])
def test_optimizers_find_the_optima(name):
    options = {"nsga2": {**NSGA2["options"], "population": 20}, "cma": {**CMA["options"], "sigma": 0.5}}[name]
    optimizer = METHODS[name](**options).make_optimizer(2, 4, np.random.default_rng(0))
    optima = np.array([[0.5, 0.5, -0.5, 0.0], [-0.5, 0.5, 0.5, 0.0]])
    points = []
    for _ in range(60):
        points.append(optimizer.ask())
        optimizer.update(-((points[-1][:, None] - optima) ** 2).sum(axis=2))
    best = np.concatenate(points)[optimizer.best()]
    distances = ((best[:, None] - optima) ** 2).sum(axis=2)
    assert (distances.min(axis=0) < 0.02).all()


@pytest.mark.long
@pytest.mark.parametrize(("name", "times"), [("nsga2", 3.1), ("cma", 2.4)])
def test_learns_samegame(name, times):
    """Hypervolume on unseen instances; NSGA-II that minimizes the returns reaches 2.9 times that of random play."""
    game = momagames.spec("mo-samegame-v0", board_width=7, board_height=7, num_colors=3)
    options = {
        "nsga2": {"population": 16, "episodes": 16, "shared": True},
        "cma": {"population": 6, "episodes": 16, "shared": True, "divisions": 1, "sigma": 1.0},
    }[name]
    trained = train(game, options, 800_000, name=name)
    assert volume(game, trained.policies) > times * volume(game, [batch_policy("random", game)])


def volume(game, members):
    """Hypervolume of mean returns on unseen instances."""
    from momagames.engine.playouts import generate_starts

    seeds = np.arange(10**6, 10**6 + 100, dtype=np.uint64)
    done = play_from_starts(game, tuple(members), make_default_opponent(game), 0, generate_starts(game, seeds), seeds[:, None])
    means = done.returns[:, 0].reshape(len(members), 100, -1).mean(axis=1)
    return hypervolume(means, game.reference_point).value


def test_learns_to_win_breakthrough():
    from momagames.engine.playouts import generate_starts

    game = momagames.spec("mo-breakthrough-v0", **BREAKTHROUGH["params"])
    opponent = batch_policy("random", game)
    trained = train(game, {"population": 16, "episodes": 8, "shared": False}, 300_000, others=[opponent])
    seeds = np.arange(10**6, 10**6 + 100, dtype=np.uint64)
    words = np.arange(200, dtype=np.uint64).reshape(100, 2)
    for seat in (0, 1):
        games = play_from_starts(game, trained.policies, opponent, seat, generate_starts(game, seeds), words)
        won = (games.returns[:, seat, 0] > 0).reshape(len(trained.policies), 100).mean(axis=1)
        random_games = play_from_starts(game, (opponent,), opponent, seat, generate_starts(game, seeds), words)
        assert won.max() > 0.85
        assert won.max() > 0.25 + (random_games.returns[:, seat, 0] > 0).mean()


# --------------------------------------------------------------------------------------------------- stored policies


@pytest.mark.parametrize("name", ["nsga2", "cma"])
def test_points_replay_without_training(done, monkeypatch, name):
    folder, tested = done
    (run,) = runs_of(tested, name)
    place = Store(folder).run_directory(run)
    monkeypatch.setattr(evolution.EvolutionMethod, "train", None)
    for point in load_points(place):
        assert point["rule"] == "linear_lookahead"
        for seat in run.seats:
            played = replay(place, point["point"], seat=seat)
            assert f"as {seat} against random" in played.title
    fresh = evaluate_again(place, 0, 40, seed=9)
    assert set(fresh) == {("random", "player_0"), ("random", "player_1")}
    again = evaluate_again(place, 0, run.report_episodes, seed=9)
    assert np.array_equal(fresh["random", "player_0"][:1], evaluate_again(place, 0, 40, seed=9)["random", "player_0"][:1])
    assert len(again["random", "player_0"]) == run.report_episodes


def test_policies_of_another_layout_are_rejected(tmp_path, monkeypatch):
    path = tmp_path / POLICIES
    monkeypatch.setattr(policy_files, "LAYOUT_VERSION", 2)
    path.write_bytes(policy_files.pack_policies([]))
    monkeypatch.undo()
    with pytest.raises(InvalidFile, match="invalid layout=2: expected 1, the version that this momagames reads"):
        policy_files.unpack_policy(path, hash_content(path.read_bytes()), 0)


def test_only_policies_of_the_front_are_stored(done):
    folder, tested = done
    (run,) = runs_of(tested, "nsga2")
    place = Store(folder).run_directory(run)
    with np.load(place / POLICIES, allow_pickle=False) as arrays:
        names = set(arrays.files)
    arrays = {f"{point['point']}/{name}" for point in load_points(place) for name in ("numbers", "rows")}
    assert names == {"layout", *arrays}
    assert not (Store(folder).run_directory(runs_of(tested, "random")[0]) / POLICIES).exists()


@pytest.fixture
def copied(done, tmp_path):
    folder, tested = done
    (run,) = runs_of(tested, "nsga2")
    return shutil.copytree(Store(folder).run_directory(run), tmp_path / "copy")


def test_rejects_missing_or_changed_policies(copied):
    content = (copied / POLICIES).read_bytes()
    (copied / POLICIES).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InvalidFile, match=rf"{POLICIES}: changed since it was written"):
        replay(copied, 0)
    (copied / POLICIES).unlink()
    with pytest.raises(InvalidFile, match=rf"{POLICIES}: is missing"):
        evaluate_again(copied, 0, 2, 0)


def test_rejects_arrays_of_another_game(copied):
    with np.load(copied / POLICIES) as arrays:
        changed = dict(arrays)
    changed["0/numbers"] = changed["0/numbers"][:, :-1]
    np.savez(copied / POLICIES, **changed)
    front = json.loads((copied / "front.json").read_text())
    front["policies"] = hash_content((copied / POLICIES).read_bytes())
    (copied / "front.json").write_text(json.dumps(front))
    seal(copied)
    with pytest.raises(InvalidFile, match=rf"{POLICIES}: invalid array numbers of .*, expected finite float64\(2, "):
        replay(copied, 0)


@pytest.mark.long
def test_executors_agree_and_directories_merge(done, tmp_path):
    folder, tested = done
    assert not run_suite(tested, tmp_path / "pool", executor=ProcessPool(2)).failed
    merge_results([folder, tmp_path / "pool"], tmp_path / "both")
    for run in tested.list_runs():
        for name in ("rows.jsonl", "front.json", POLICIES):
            files = [Store(place).run_directory(run) / name for place in (folder, tmp_path / "pool", tmp_path / "both")]
            assert len({file.read_bytes() if file.exists() else None for file in files}) == 1
    assert export(tmp_path / "both", tmp_path / "rows.csv", "csv") > 0


def test_interrupted_runs_leave_no_files(done, tmp_path, monkeypatch):
    _, tested = done
    (run,) = runs_of(tested, "nsga2")
    store = Store(tmp_path / "results")
    store.open_suite(tested, {})
    original, count = evolution.PopulationEvaluator.evaluate, []

    def interrupt(self, parameters):
        count.append(1)
        if len(count) == 2:
            raise KeyboardInterrupt
        return original(self, parameters)

    monkeypatch.setattr(evolution.PopulationEvaluator, "evaluate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        execute_run(run, store.folder)
    assert len(count) == 2
    assert not any([*store.runs.iterdir(), *store.working.iterdir(), *store.failed.iterdir()])
