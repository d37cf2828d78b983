"""Trainings of every method with a trainer: choice, resuming, evaluation, checkpoints as policies, best responses."""

import json
from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.baselines import METHODS, method, policy
from momagames.baselines.bandits.method import BanditGradient, BanditJoint, BanditUcb
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.baselines.candidates.grpo import Grpo
from momagames.baselines.checkpoint import load_checkpoint, save_checkpoint
from momagames.baselines.learners import LEARNERS, choose_learner, find_learner
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.search.beam_estimate import BeamEstimate
from momagames.baselines.trainer import TrainerMethod
from momagames.benchmark import training as trainings
from momagames.benchmark.choices import Opponent
from momagames.benchmark.exploitability import train_best_responses
from momagames.benchmark.training_comparison import play_with_baselines
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from momagames.errors import InvalidFile, InvalidParameter, MissingExtra
from momagames.fronts.packaged import find_packaged_front, load_front, packaged_fronts
from momagames.reports.training_page import find_reference
from tests.baselines.moppo.test_moppo import NO_TIMES, TINY
from tests.cli.test_app import momagames_here

pytestmark = pytest.mark.long  # trains, or compiles methods

SAMEGAME = ("mo-samegame-v0", {"board_width": 4, "board_height": 4, "num_colors": 2})
GEM_MINING = ("mo-gem-mining-v0", {"num_agents": 5})
BREAKTHROUGH = ("mo-breakthrough-v0", {"board_width": 3, "board_height": 5, "objectives": ("win", "captures")})
# method -> method with small options, game, budget
CASES = {
    "cross_entropy": (CrossEntropy(6, 3, 4), SAMEGAME, 20_000),
    "beam_estimate": (BeamEstimate(6, 3, 4, 4), SAMEGAME, 20_000),
    "grpo": (Grpo(hidden=4, groups=4, group_size=4, utility="chebyshev"), SAMEGAME, 20_000),
    "ntuple": (Ntuple(opening=2), BREAKTHROUGH, 9_000_000),
    "bandit_ucb": (BanditUcb(signal="difference"), GEM_MINING, 1_500_000),
    "bandit_gradient": (BanditGradient(), GEM_MINING, 1_500_000),
    "bandit_joint": (BanditJoint(), GEM_MINING, 75_000),
    "moppo": (Moppo(**TINY), BREAKTHROUGH, 480),
}


def make_training(name, **changes):
    made, (id, params), budget = CASES[name]
    if made.package:
        pytest.importorskip(made.package)
    game = momagames.spec(id, **params)
    opponents = (Opponent(name="random", options={}),) if len(set(game.teams)) > 1 else ()
    return replace(trainings.Training(game, made, 1, budget, game.agents[:1], opponents), **changes)


def read_log(directory):
    return [{**json.loads(line), **NO_TIMES} for line in (directory / trainings.LOG).read_text().splitlines()]


def stop_after(iterations):
    count = 0

    def stop(metrics):
        nonlocal count
        count += 1
        if count == iterations:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize("name", CASES)
@pytest.mark.long
def test_resumed_training_is_equal_to_the_bit(name, tmp_path, monkeypatch):
    monkeypatch.setattr(trainings, "CHECKPOINT_INTERVAL", 0.0)
    training = make_training(name)
    whole = trainings.train(training, tmp_path / "whole", evaluations=2, episodes=2, threads=1)
    with pytest.raises(KeyboardInterrupt):
        trainings.train(training, tmp_path / "parts", 2, 2, stop_after(2), threads=1)
    part = load_checkpoint(tmp_path / "parts" / trainings.CHECKPOINT)
    assert 0 < part.head["steps"] < whole.head["steps"]
    resumed = trainings.train(training, tmp_path / "parts", evaluations=2, episodes=2, threads=1)
    assert set(whole.training) == set(resumed.training)
    for stored, again in ((whole.training, resumed.training), (whole.policy, resumed.policy)):
        for key, array in stored.items():
            assert array.tobytes() == again[key].tobytes(), key
    assert read_log(tmp_path / "parts") == read_log(tmp_path / "whole")
    assert any(array.tobytes() != whole.policy[key].tobytes() for key, array in part.policy.items())
    assert whole.head["decisions"] > 0
    assert set(read_log(tmp_path / "whole")[-1]["evaluation"]["controllability"]) == {
        objective.name for objective in training.game.objectives
    }


@pytest.mark.parametrize("name", CASES)
def test_checkpoints_play(name, tmp_path):
    """By weights of the user's, equal to the policies of the training; and not in another game."""
    training = make_training(name)
    path = trainings.train(training, tmp_path, evaluations=1, episodes=1, threads=1).path
    loaded, checkpoint = trainings.load_training(tmp_path)
    assert loaded == training
    game = training.game
    policies = training.select_policies(checkpoint.make_policies())
    assert policies[0].label == "w=(1, 0)"
    weights = [1.0, 0.0]
    agent = None if game.sequential else 0
    play = Episode(game)
    play.reset(3)
    for seed in range(5):
        actions = [
            source(play.state, play.mask(agent or play.mover), np.random.default_rng(seed))
            for source in (policy(str(path), game, agent, weights=one) for one in (weights, [2.0, 0.0]))
        ]
        assert actions[0] == actions[1] or name == "moppo"  # networks see the weights as they are
    with pytest.raises(InvalidFile, match="cannot play"):
        policy(str(path), momagames.spec("mo-tileblast-v0" if game.id == "mo-breakthrough-v0" else "mo-breakthrough-v0"))
    if name == "ntuple":
        with pytest.raises(InvalidParameter, match="invalid greedy=False"):
            policy(str(path), game, agent, greedy=False)
    else:
        policy(str(path), game, agent, greedy=False)


@pytest.mark.parametrize("name", CASES)
def test_training_for_one_weight_vector(name, tmp_path):
    training = make_training(name, weights=(3.0, 1.0))
    checkpoint = trainings.train(training, tmp_path, evaluations=1, episodes=1, threads=1)
    loaded, _ = trainings.load_training(tmp_path)
    assert loaded == training
    assert [one.label for one in loaded.select_policies(checkpoint.make_policies())] == ["w=(0.75, 0.25)"]
    assert "controllability" not in read_log(tmp_path)[-1]["evaluation"]
    with pytest.raises(InvalidParameter, match="its weights is"):
        trainings.train(replace(training, weights=(1.0, 1.0)), tmp_path)
    for wrong in ((0.0, 0.0), (-1.0, 2.0)):
        with pytest.raises(InvalidParameter, match="expected non-negative numbers, not all 0"):
            trainings.train(replace(training, weights=wrong), tmp_path / "wrong")


@pytest.mark.parametrize("name", CASES)
def test_given_scale_of_returns(name, tmp_path):
    """Weights refer to returns divided by it, and it is part of what identifies a training."""
    training = make_training(name, return_scale=(2.0, 3.0))
    checkpoint = trainings.train(training, tmp_path, evaluations=1, episodes=1, threads=1)
    assert checkpoint.return_scale.tolist() == [2.0, 3.0]
    assert trainings.load_training(tmp_path)[0] == training
    with pytest.raises(InvalidParameter, match="its fixed_return_scale is"):
        trainings.train(replace(training, return_scale=None), tmp_path)


def test_methods_are_chosen_by_what_a_game_declares(monkeypatch):
    pytest.importorskip("torch")
    expected = {"mo-breakthrough-v0": "ntuple", "mo-samegame-v0": "grpo", "mo-tileblast-v0": "grpo", "mo-robotmail-v0": "moppo"}
    for id, name in expected.items():
        assert choose_learner(momagames.spec(id)).name == name

    def raise_error(name):
        raise ImportError(name)

    monkeypatch.setattr("momagames.baselines.base.import_module", raise_error)
    assert choose_learner(momagames.spec("mo-samegame-v0")).name == "cross_entropy"
    with pytest.raises(MissingExtra, match=r"momagames\[learn\]"):
        choose_learner(momagames.spec("mo-robotmail-v0"))


def test_learners_are_methods():
    assert set(LEARNERS) < set(METHODS)
    for name in LEARNERS:
        found = find_learner(name)
        assert issubclass(found, TrainerMethod)
        defaults = found.default_options(momagames.spec("mo-pommerman-duel-v0"))
        assert found(**defaults).options() == defaults
    with pytest.raises(InvalidParameter, match=r"invalid method='grpoo': expected .* did you mean 'grpo'"):
        find_learner("grpoo")


def test_defaults_follow_from_what_a_game_declares():
    """Small networks are trained longer, and where there is an expert its returns are the scale."""
    moppo = find_learner("moppo")
    steps = {id: moppo.choose_budget(momagames.spec(id)) for id in ("mo-pommerman-duel-v0", "mo-samegame-v0")}
    assert steps["mo-pommerman-duel-v0"] == 2 * steps["mo-samegame-v0"] == 2 * moppo.default_budget
    options = moppo.default_options(momagames.spec("mo-pommerman-team-v0"))
    assert (options["reward_scaling"], options["self_play"], options["expert"]) == ("expert", 0, "safe:simple")
    assert moppo.default_options(momagames.spec("mo-samegame-v0"))["reward_scaling"] == "random"
    response = moppo(**options).make_responder()
    response.check_train(momagames.spec("mo-pommerman-team-v0"))
    assert (response.expert, response.reward_scaling) == (None, "random")


def test_training_on_one_instance():
    """Candidate policies train on one start position; tables do not."""
    training = make_training("cross_entropy", instance_seed=3)
    trainer = training.options.make_trainer(training.make_setup())
    rollout = trainer.play(np.zeros((2, trainer.policy.num_parameters)), np.full((2, 2), 0.5), np.arange(2))
    assert len(set(rollout.returns.sum(axis=1).tolist())) <= 2
    with pytest.raises(InvalidParameter, match="ntuple trains on new start positions only"):
        make_training("ntuple", instance_seed=3).make_setup()


def test_tables_play_for_the_nearest_weights(tmp_path):
    checkpoint = trainings.train(make_training("ntuple"), tmp_path, evaluations=1, episodes=1, threads=1)
    tables = checkpoint.make_policies()
    for weights, nearest in (([0.7, 0.3], [1, 0]), ([1, 3], [0, 1])):
        assert tables.compile("", weights, True).weights == tuple(nearest)


@pytest.mark.parametrize("change", [{"method": "os:system"}, {"method": "beam"}, {"options": {"hidden": -1}}, {"options": 3}])
def test_checkpoints_name_only_known_methods(change, tmp_path):
    checkpoint = trainings.train(make_training("cross_entropy"), tmp_path, evaluations=1, episodes=1, threads=1)
    save_checkpoint(checkpoint.path, {**checkpoint.head, **change}, checkpoint.policy, checkpoint.training)
    with pytest.raises(InvalidFile, match="not a training checkpoint"):
        trainings.load_training(tmp_path)
    with pytest.raises(InvalidFile, match="not a training checkpoint"):
        policy(str(checkpoint.path), checkpoint.make_game())


def test_arrays_of_other_shapes_are_rejected(tmp_path):
    checkpoint = trainings.train(make_training("ntuple"), tmp_path, evaluations=1, episodes=1, threads=1)
    for name, array in checkpoint.policy.items():
        wrong = {**checkpoint.policy, name: array[..., :-1]}
        save_checkpoint(checkpoint.path, checkpoint.head, wrong, checkpoint.training)
        with pytest.raises(InvalidFile, match="invalid array"):
            policy(str(checkpoint.path), checkpoint.make_game())


@pytest.mark.long
def test_another_method_learns_the_best_response(tmp_path):
    training = make_training("ntuple")
    checkpoint = trainings.train(training, tmp_path, evaluations=1, episodes=1, threads=1)
    with pytest.raises(InvalidParameter, match="ntuple learns from play against itself alone"):
        train_best_responses(training, checkpoint, [1, 0], 30_000, episodes=10)
    responses = train_best_responses(training, checkpoint, [1, 0], 30_000, episodes=50, responder=CrossEntropy(6, 3, 4))
    assert [one.seat for one in responses] == ["player_0", "player_1"]
    assert all(-1 <= one.response_value <= 1 for one in responses)


def test_comparison_with_baselines(tmp_path):
    """Same episodes for all: the returns of a trained policy that plays like a baseline are those of the baseline."""
    training = make_training("cross_entropy", instance_seed=0)
    checkpoint = trainings.train(training, tmp_path, evaluations=1, episodes=1, threads=1)
    sets = {one.name: one for one in play_with_baselines(training, checkpoint.make_policies(), 2, 0)}
    estimates = [f"greedy(estimate={one})" for one in ("present", "optimistic", "both")]
    assert list(sets) == ["cross_entropy", "cross_entropy (sampled)", "greedy", *estimates, "random"]
    greedy = method("greedy")(training.options.divisions).policies(training.game)
    assert (sets["greedy"].points == trainings.play_episodes(training, greedy, 2).mean(axis=1)).all()


def test_comparison_with_scripted_agents():
    pytest.importorskip("torch")
    pommerman = trainings.Training(
        momagames.spec("mo-pommerman-duel-v0"), Moppo(**TINY), 0, 1, ("agent_0",), (Opponent(name="stationary", options={}),)
    )
    network = pommerman.options.make_trainer(pommerman.make_setup()).make_policies()
    sets = {one.name: one for one in play_with_baselines(pommerman, network, 2, 0)}
    scripted = ["simple", "stationary", "random"]
    assert list(sets) == ["moppo", "moppo (sampled)", *(f"safe:{one}" for one in scripted), *scripted]
    sampling = replace(pommerman, options=replace(pommerman.options, greedy=False))
    played = trainings.play_episodes(sampling, sampling.select_policies(network), 2).mean(axis=1)
    assert (sets["moppo (sampled)"].points == played).all()
    assert (sets["moppo"].points != played).any()
    assert [one.name for one in play_with_baselines(sampling, network, 1, 0)][:2] == ["moppo", "moppo (greedy)"]


def test_reference_front_of_an_instance(tmp_path):
    """A training on an instance whose front is in the package is compared with it."""
    (canonical, seed), *_ = [
        (front.canonical, front.start.seed)
        for front in map(load_front, packaged_fronts())
        if front.subject.startswith("mo-samegame-v0")
    ]
    front = find_packaged_front(canonical, seed)
    game = momagames.spec(front.game.id, **front.game.params)
    training = trainings.Training(game, CrossEntropy(4, 2, 1, divisions=1), 0, 10**6, game.agents, (), seed)
    progress = {"version": "0", "steps": 0, "decisions": 0, "seconds": 0.0}
    save_checkpoint(tmp_path / trainings.CHECKPOINT, {**training.describe(), **progress}, {}, {})
    found = find_reference(tmp_path)
    assert found.name.startswith("reference front")
    assert sorted(map(tuple, found.points.tolist())) == sorted(point.value for point in front.points)
    without_seed = replace(training, instance_seed=None).describe()
    save_checkpoint(tmp_path / trainings.CHECKPOINT, {**without_seed, **progress}, {}, {})
    assert find_reference(tmp_path) is None


@pytest.mark.long
def test_training_for_a_search_names_its_option(tmp_path):
    words = [f"-p{name}={value}" for name, value in SAMEGAME[1].items()]
    small = ("-O", "population=6", "-O", "elites=3", "-O", "width=4", "--budget", "20000", "--episodes", "2")
    done = momagames_here("train", SAMEGAME[0], *words, "--method", "beam_estimate", *small, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    path = tmp_path / trainings.CHECKPOINT
    assert f"trains for search, not for play: the option estimate of beam in a suite is {path}\n" in done.stdout
    game = momagames.spec(SAMEGAME[0], **SAMEGAME[1])
    assert method("beam")(width=4, estimate=str(path)).plan(game, generate_starts(game, np.zeros(1, np.uint64)), 500, 0).plans


@pytest.mark.long
def test_commands(tmp_path):
    """The method of the game's choice, for one weight vector; its end names the next commands."""
    words = [f"-p{name}={value}" for name, value in SAMEGAME[1].items()]
    out = str(tmp_path / "mine")
    small = ("--method", "cross_entropy", "-O", "population=6", "-O", "elites=3", "-O", "episodes=4", "--weights", "1,0")
    train = ("train", SAMEGAME[0], *words, *small, "--budget", "20000", "--out", out, "--evaluations", "2", "--episodes", "2")
    done = momagames_here(*train)
    assert done.returncode == 0, done.stderr
    assert "decisions" in done.stdout
    assert "greedy(estimate=both)" in done.stdout
    assert done.stdout.splitlines()[-1] == f"next: momagames eval {out}"  # no opponents to play against
    page = (tmp_path / "mine" / "report.html").read_text()
    assert "cpu_seconds" not in page  # a column of the log, and no metric
    assert '<th scope="row" class="text">random</th>' in page
    assert "<nav" not in page  # so that the layout with a side navigation, below, does not apply
    assert "body:has(> nav) { display: grid" in page
    assert "cross_entropy" in page
    evaluated = momagames_here("eval", out, "--episodes", "2")
    assert evaluated.returncode == 0, evaluated.stderr
    assert "cross_entropy, seed 0" in evaluated.stdout
    wrong = momagames_here("train", SAMEGAME[0], "--method", "nsga")
    assert (wrong.returncode, "invalid method='nsga'" in wrong.stderr) == (2, True)


@pytest.mark.long
def test_one_policy_for_several_start_positions(tmp_path):
    """Episodes of training, evaluations and comparisons are those of all levels."""
    one, two = (momagames.spec("mo-tileblast-v0", level=level, objectives=("win", "goals")) for level in (1, 2))
    training = trainings.Training(one, CrossEntropy(4, 2, 1, divisions=1), 0, 100_000, one.agents, (), None, (1.0, 1.0), (two,))
    checkpoint = trainings.train(training, tmp_path, evaluations=1, episodes=3, threads=1)
    loaded, _ = trainings.load_training(tmp_path)
    assert loaded.describe() == training.describe()
    alone = trainings.Training(one, CrossEntropy(4, 2, 1, divisions=1), 0, 100_000, one.agents, (), None, (1.0, 1.0))
    policies = training.select_policies(checkpoint.make_policies())
    each = [trainings.play_episodes(replace(alone, game=game), policies, 3, 5) for game in (one, two)]
    np.testing.assert_array_equal(trainings.play_episodes(training, policies, 3, 5), np.concatenate(each, axis=1))
    own, *_ = play_with_baselines(training, checkpoint.make_policies(), 3, 5)
    np.testing.assert_allclose(own.points, np.concatenate(each, axis=1).mean(axis=1))
    with pytest.raises(InvalidParameter, match="its other_games is"):
        trainings.train(alone, tmp_path)
    with pytest.raises(InvalidParameter, match="given start positions for 2 games"):
        trainings.train(replace(training, instance_seed=1), tmp_path / "fixed")


@pytest.mark.long
def test_command_with_several_levels(tmp_path):
    small = [f"-O{option}" for option in ("population=4", "elites=2", "episodes=1")]
    train = ["train", "mo-tileblast-v0", "--method", "cross_entropy", *small, "--weights", "0,1,0,0,0,0", "--budget", "1e5"]
    train += ["--evaluations", "1", "--episodes", "1"]
    done = momagames_here(*train, "--vary", "level=[1,2]", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [one["params"]["level"] for one in load_checkpoint(tmp_path / "checkpoint.npz").head["other_games"]] == [2]
    for wrong in ("level=3", "level=[3]"):
        done = momagames_here(*train, "--vary", wrong)
        assert (done.returncode, "expected a list of values" in done.stderr) == (2, True)
    done = momagames_here("train", "mo-samegame-v0", "--vary", "num_colors=[2,3]")
    assert (done.returncode, "differ in rules, objectives or actions" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(("given", "count"), [("3", 3), (" 2,4", 2), ("0", 7), ("", 7), ("many", 7), (None, 7)])
def test_threads_of_trainings(given, count, monkeypatch):
    monkeypatch.setattr(trainings, "count_cores", lambda: 7)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if given is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert trainings.count_threads() == count
