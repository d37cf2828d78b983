"""MOPPO training: on every game, with and without opponents, and resumed from checkpoints."""

import json
from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method, policy
from momagames.baselines.checkpoint import load_checkpoint, save_checkpoint
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.options import DEFAULT_OPTIONS
from momagames.baselines.moppo.utility import Utility
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark import training as trainings
from momagames.benchmark.choices import MethodChoice, Opponent
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import AgentPolicy
from momagames.errors import InvalidFile, InvalidParameter, MissingExtra, UnknownId

SMALL = {
    "num_envs": 6, "num_steps": 8, "update_epochs": 2, "num_minibatches": 2, "channels": 4, "hidden": 8, "layers": 1,
    "divisions": 1,
}  # fmt: skip
TINY = {**DEFAULT_OPTIONS, **SMALL}
NO_TIMES = {"seconds": 0, "cpu_seconds": 0}  # of lines of logs that are compared
CONCAVE = 27  # seed of an instance whose front has a point that maximizes no weighted sum
BOARD = {"board_height": 3, "board_width": 4, "num_colors": 2}


def make_trainer(id, params=None, budget=200, seed=0, opponents=(), start=None, **options):
    game = momagames.spec(id, **(params or {}))
    learning_agents = range(min(2, len(game.agents)))
    setup = TrainingSetup([game], budget, seed, learning_agents, opponents, starts=start)
    return Moppo(**{**TINY, **options}).make_trainer(setup)


@pytest.mark.parametrize("id", momagames.ids())
@pytest.mark.long
def test_trains_on_every_game(torch, id):
    """Metrics and parameters stay finite with empty masks, multi-part actions, teams, and agents without a choice."""
    params = {"num_agents": 6} if len(momagames.spec(id).agents) > 20 else {}  # a crowd would take an hour
    game = momagames.spec(id, **params)
    critic = "decentralized" if game.sequential else "centralized"
    trainer = make_trainer(id, params, critic=critic, num_steps=8 + 3 * len(game.agents))
    before = trainer.make_policies().arrays
    while not trainer.is_done:
        metrics = trainer.train_iteration()
        assert all(np.isfinite(value) for value in metrics.values())
    after = trainer.make_policies().arrays
    assert any((before[name] != after[name]).any() for name in before)
    assert all(np.isfinite(array).all() for array in after.values())
    assert trainer.steps >= 200


def test_parts_of_an_action_are_clipped_apart(torch):
    """Words whose probability has changed too much teach nothing any more; the move that they came with still does."""
    trainer = make_trainer("mo-pommerman-radio-v0", update_epochs=1, num_minibatches=1, ent_coef=0.0, self_play=1.0)
    rollout = trainer.collector.collect(is_cloning=False)
    chosen = rollout.is_decision & rollout.has_advantage
    advantages = (rollout.advantages * rollout.weights).sum(axis=-1)
    is_better = advantages > advantages[chosen].mean()
    rollout.log_probs[..., 1:] += np.where(is_better, -5, 5)[..., None]
    trainer.learner.update(rollout)
    moves, *words = torch.split(trainer.model.network.actor.bias.grad, list(trainer.game.actions))
    assert moves.abs().max() > 1e-4
    assert all((word == 0).all() for word in words)


def test_learns_the_optimum_of_a_tiny_board(torch):
    """The best sum of both colors is reached, and was not before training."""
    game = momagames.spec("mo-samegame-v0", **BOARD, color_rewards=False)
    start = generate_starts(game, np.array([4], np.uint64))
    options = {"num_envs": 32, "num_steps": 8, "learning_rate": 5e-3, "ent_coef": 0.003, "channels": 8, "hidden": 16}
    trainer = make_trainer("mo-samegame-v0", {**BOARD, "color_rewards": False}, 16_000, start=start, **options)
    first = trainer.play_policies(trainer.options.select_policies(trainer.game, trainer.make_policies()))
    while not trainer.is_done:
        trainer.train_iteration()
    last = trainer.play_policies(trainer.options.select_policies(trainer.game, trainer.make_policies()))
    best = method("exact")(max_states=10**5, max_bytes=1 << 28).plan(game, start, 0, 0).values.max()
    assert last.max() == best > first.max()


def test_chebyshev_utility_finds_points_in_concave_regions(torch):
    """A point of the front below the line between its neighbors maximizes the Chebyshev utility for some weights."""
    game = momagames.spec("mo-samegame-v0", **BOARD)
    start = generate_starts(game, np.array([CONCAVE], np.uint64))
    points = method("exact")(max_states=10**5, max_bytes=1 << 28).plan(game, start, 0, 0).values
    lattice = np.array([[i / 100, 1 - i / 100] for i in range(101)])
    on_hull = {tuple(points[i]) for i in (points @ lattice.T).argmax(axis=0)}
    concave = {tuple(point) for point in points} - on_hull
    assert concave
    options = {
        "num_envs": 32,
        "num_steps": 8,
        "learning_rate": 5e-3,
        "ent_coef": 0.003,
        "channels": 8,
        "hidden": 16,
        "divisions": 8,
        "network": "convolutional",
    }
    trainer = make_trainer("mo-samegame-v0", BOARD, 30_000, start=start, utility="chebyshev", **options)
    while not trainer.is_done:
        trainer.train_iteration()
    found = {
        tuple(point) for point in trainer.play_policies(trainer.options.select_policies(trainer.game, trainer.make_policies()))
    }
    assert found & concave


def test_utilities_of_scaled_returns(torch):
    """Logarithms and distances to the ideal point, from the reference point in units of the reward scale."""
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5, objectives=("win", "captures"))
    scale, weights = np.array([0.5, 2.0]), np.array([[0.75, 0.25], [0.0, 1.0]])
    returns = np.array([[1.0, 3.0], [-1.0, 0.5]])  # unscaled, none below the reference point
    above = (returns - game.reference_point) / scale
    assert above.min() >= 0
    expected = {
        "linear": (weights * returns / scale).sum(axis=1),
        "log": (weights * np.log(0.1 + above)).sum(axis=1),
        "chebyshev": 0.01 * (weights * above).sum(axis=1) - (weights * (1 - above)).max(axis=1),
    }
    for name, values in expected.items():
        found = Utility(game, Moppo(**{**TINY, "utility": name}), 0, scale).evaluate(returns / scale, weights)
        assert found == pytest.approx(values)


def test_centralized_critic_uses_observations_of_all_agents(torch):
    """Values depend on the observations of other agents, actions do not."""
    trainer = make_trainer("mo-pommerman-team-v0", critic="centralized")
    batch = trainer.collector.batch
    batch.step(batch.last_actions)
    observations = batch.observations.copy()
    n, v = np.zeros(2, np.int64), np.array([0, 1])
    weights = trainer.collector.weights[n, v]

    def forward():
        with torch.no_grad():
            return [output.numpy() for output in trainer.model.forward(observations, n, v, v, weights)]

    logits, values = forward()
    assert (values[0] != values[1]).all()
    observations[0, 3] = observations[0, 2]
    other_logits, other_values = forward()
    assert (logits == other_logits).all()
    assert (values != other_values).all()
    decentralized = make_trainer("mo-pommerman-team-v0", network="convolutional")
    assert set(trainer.make_policies().arrays) == set(decentralized.make_policies().arrays)
    with pytest.raises(InvalidParameter, match="invalid critic='centralized' for mo-samegame-v0: expected 'decentralized'"):
        Moppo(**{**TINY, "critic": "centralized"}).check_train(momagames.spec("mo-samegame-v0"))


def test_behavior_cloning_imitates_the_expert(torch):
    """After behavior cloning the most likely action is the expert's much more often than before."""
    params = {"board_width": 4, "board_height": 5}
    options = {"num_envs": 32, "learning_rate": 5e-3, "channels": 16, "hidden": 32, "bc_fraction": 1.0, "divisions": 1}
    trainer = make_trainer("mo-breakthrough-v0", params, 20_000, expert="greedy", **options)
    game = trainer.game

    def agreement():
        trained = trainer.make_policies().compile("learner", [0.25] * 4, True)
        expert, learner = policy("greedy", game), AgentPolicy(trained, game)
        one, rng, same = Episode(game), np.random.default_rng(0), []
        for seed in range(20):
            one.reset(seed)
            while not one.state["over"]:
                mask = one.mask(one.mover)
                chosen = expert(one.state, mask, rng)
                same.append(learner(one.state, mask, rng) == chosen)
                one.step(chosen)
        return np.mean(same)

    before = agreement()
    while not trainer.is_done:
        assert trainer.is_cloning
        trainer.train_iteration()
    assert agreement() > before + 0.3
    with pytest.raises(UnknownId, match="invalid policy='greedi'"):
        Moppo(**{**TINY, "expert": "greedi"}).check_train(game)


@pytest.mark.parametrize("utility", ["linear", "log", "chebyshev"])
def test_self_imitation_replays_the_best_episodes(torch, utility):
    """If all episodes are replays, the archive does not change, and policies learn the best episodes for their weights."""
    game = momagames.spec("mo-samegame-v0", **BOARD)
    start = generate_starts(game, np.array([CONCAVE], np.uint64))
    options = {"num_envs": 32, "learning_rate": 5e-3, "channels": 8, "hidden": 16, "ent_coef": 0.0, "divisions": 4}
    trainer = make_trainer("mo-samegame-v0", BOARD, 20_000, start=start, utility=utility, self_imitation_coef=1.0, **options)
    while len(trainer.archive.plans) < 2:
        trainer.train_iteration()
    while not trainer.is_done:
        metrics = trainer.train_iteration()
    assert metrics["games"] == 0
    values = trainer.archive.values
    weights = [(0.0, 1.0), (1.0, 0.0)]
    found = trainer.play_policies([trainer.make_policies().compile("", one, True) for one in weights])
    assert found.tolist() == [values[values[:, 1].argmax()].tolist(), values[values[:, 0].argmax()].tolist()]
    with pytest.raises(InvalidParameter, match=r"invalid self_imitation_coef=0\.5: expected 0, or training on one instance"):
        Moppo(**{**TINY, "self_imitation_coef": 0.5}).check_train(game)


def test_plans_are_played_episodes(torch):
    game = momagames.spec("mo-samegame-v0", **BOARD)
    start = generate_starts(game, np.array([2], np.uint64))
    found = Moppo(**TINY).plan(game, start, 500, 0)
    assert found.steps >= 500
    one = Episode(game)
    for plan in found.plans:
        one.load(start[0])
        for action in plan.actions:
            one.step(action)
        assert one.state["over"]
        assert one.returns[0].tolist() == plan.value.tolist()
    again = Moppo(**TINY).plan(game, start, 500, 0)
    assert found.values.tolist() == again.values.tolist()


CASES = {
    "mo-samegame-v0": (BOARD, (), {"utility": "chebyshev", "self_imitation_coef": 0.3}),
    "mo-breakthrough-v0": ({"board_width": 3, "board_height": 5}, ("random", "greedy"), {"reward_scaling": "running"}),
    "mo-pommerman-duel-v0": ({}, ("stationary",), {"critic": "centralized", "expert": "simple", "bc_fraction": 0.0004}),
}


@pytest.mark.parametrize("id", CASES)
def test_resumed_training_is_equal_to_the_bit(torch, id, tmp_path):
    check_resumed(id, *CASES[id], tmp_path)


def check_resumed(id, params, names, options, folder):
    """Compare a training with one that is stored and resumed, against opponents of these names."""
    game = momagames.spec(id, **params)
    opponents = [batch_policy(name, game) for name in names]
    start = generate_starts(game, np.array([CONCAVE], np.uint64)) if "self_imitation_coef" in options else None
    whole, first = (make_trainer(id, params, 10**6, 3, opponents, start, **options) for _ in range(2))
    for _ in range(12):  # long enough for a change of the opponent pool
        whole.train_iteration()
    for _ in range(5):
        first.train_iteration()
    state, arrays = first.state_dict()
    save_checkpoint(folder / "a.npz", {"trainer": state}, {}, arrays)
    checkpoint = load_checkpoint(folder / "a.npz")
    second = make_trainer(id, params, 10**6, 3, opponents, start, **options)
    second.load_state_dict(checkpoint.head["trainer"], checkpoint.training)
    for _ in range(7):
        second.train_iteration()
    wanted, found = whole.state_dict(), second.state_dict()
    assert {**wanted[0], **NO_TIMES} == {**found[0], **NO_TIMES}
    assert set(wanted[1]) == set(found[1])
    for name, array in wanted[1].items():
        assert array.tobytes() == found[1][name].tobytes(), name


@pytest.mark.parametrize("fill", [b"\xff", b"\x07"])
def test_forged_states_of_a_checkpoint_are_rejected(torch, fill):
    trainer = make_trainer(
        "mo-pommerman-duel-v0", {}, opponents=[batch_policy("simple", momagames.spec("mo-pommerman-duel-v0"))]
    )
    trainer.train_iteration()
    state, arrays = trainer.state_dict()
    forged = {**arrays, "batch/states": np.frombuffer(fill * arrays["batch/states"].nbytes, arrays["batch/states"].dtype)}
    with pytest.raises(InvalidFile, match="invalid states in a checkpoint: state 0: mo-pommerman-duel-v0: invalid mode="):
        trainer.load_state_dict(state, forged)


def test_cuda(torch, monkeypatch):
    """With CUDA, training moves between devices; without, it is refused."""
    if torch.cuda.is_available():
        on_cpu, on_cuda = (make_trainer("mo-samegame-v0", BOARD, device=device) for device in ("cpu", "cuda"))
        on_cpu.train_iteration()
        on_cuda.load_state_dict(*on_cpu.state_dict())
        assert all(np.isfinite(value) for value in on_cuda.train_iteration().values())
        on_cpu.load_state_dict(*on_cuda.state_dict())
        assert all(np.isfinite(value) for value in on_cpu.train_iteration().values())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InvalidParameter, match="invalid device='cuda': expected 'auto' or 'cpu'"):
        make_trainer("mo-samegame-v0", BOARD, device="cuda")
    assert make_trainer("mo-samegame-v0", BOARD, device="auto").model.network.critic.weight.device.type == "cpu"


def test_training_directory(torch, tmp_path):
    """Uninterrupted and resumed training give equal checkpoints and logs."""
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    opponents = (Opponent(name="random", options={}),)
    training = trainings.Training(game, Moppo(**TINY), 1, 480, ("player_0", "player_1"), opponents)
    checkpoint = trainings.train(training, tmp_path / "whole", evaluations=2, episodes=4)

    def stop(metrics):
        if metrics["steps"] > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainings.train(training, tmp_path / "parts", evaluations=2, episodes=4, on_update=stop)
    assert load_checkpoint(tmp_path / "parts" / trainings.CHECKPOINT).head["steps"] < 480
    resumed = trainings.train(training, tmp_path / "parts", evaluations=2, episodes=4)
    for name, array in checkpoint.training.items():
        assert array.tobytes() == resumed.training[name].tobytes()
    lines = [
        [{**json.loads(line), **NO_TIMES} for line in (tmp_path / name / trainings.LOG).read_text().splitlines()]
        for name in ("whole", "parts")
    ]
    assert lines[0] == lines[1]
    assert [line["steps"] for line in lines[0]] == [240, 480]
    assert set(lines[0][0]["evaluation"]["points"]) == {"w=(1, 0, 0, 0)", "w=(0, 1, 0, 0)", "w=(0, 0, 1, 0)", "w=(0, 0, 0, 1)"}
    with pytest.raises(InvalidParameter, match="its seed is 1, given is 2"):
        trainings.train(replace(training, seed=2), tmp_path / "parts")
    loaded, _ = trainings.load_training(tmp_path / "parts")
    assert loaded == training


def test_training_on_one_instance(torch, tmp_path):
    """All episodes start from it, in training and in evaluations."""
    game = momagames.spec("mo-samegame-v0", **BOARD)
    training = trainings.Training(game, Moppo(**TINY), 1, 200, game.agents, (), CONCAVE)
    trainings.train(training, tmp_path, evaluations=1, episodes=1)
    loaded, checkpoint = trainings.load_training(tmp_path)
    assert loaded.instance_seed == CONCAVE
    returns = trainings.play_episodes(loaded, loaded.select_policies(checkpoint.make_policies()), 3)
    assert (returns == returns[:, :1]).all()
    one = Episode(game)
    for actions, value, *_ in checkpoint.head["trainer"]["archive"]["plans"]:
        one.reset(CONCAVE)
        for action in actions:
            one.step(action)
        assert one.returns[0].tolist() == value
    with pytest.raises(InvalidParameter, match="draws during play"):
        trainings.train(replace(training, game=momagames.spec("mo-tileblast-v0")), tmp_path / "other")


def test_options_that_are_gone(torch, tmp_path):
    """Files of earlier versions name them: with the values that changed nothing they are read, run and resumed."""
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    training = trainings.Training(game, Moppo(**TINY), 1, 48, ("player_0",), (Opponent(name="random", options={}),))
    checkpoint = trainings.train(training, tmp_path, evaluations=1, episodes=1)
    for league_size in (0, 4):
        options = {**checkpoint.head["options"], "safe_inputs": False, "symmetries": False, "league_size": league_size}
        older = replace(checkpoint, head={**checkpoint.head, "options": options})
        choice = MethodChoice(name="moppo", options=options)
        if league_size:
            for make in (older.make_method, lambda choice=choice: choice.make_method(game)):
                with pytest.raises(
                    (InvalidParameter, InvalidFile), match="moppo: invalid league_size=4: expected 0, the only value"
                ):
                    make()
        else:
            assert older.make_method() == choice.make_method(game) == training.options


def test_checkpoint_path_names_a_policy(torch, tmp_path):
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    training = trainings.Training(game, Moppo(**TINY), 1, 48, ("player_0",), (Opponent(name="random", options={}),))
    path = str(trainings.train(training, tmp_path, evaluations=1, episodes=1).path)
    one = Episode(game)
    one.reset(0)
    rng = np.random.default_rng(0)
    players = [policy(path, game, agent, weights=[1, 0, 0, 0]) for agent in range(2)]
    while not one.state["over"]:
        one.step(players[one.mover](one.state, one.mask(one.mover), rng))
    assert players[0].policy.initial_memory[1] == ("greedy", 1)  # as declared by the training
    assert policy(path, game, 0, weights=[1, 3, 0, 0]).policy.initial_memory[0][1][:4] == (0.25, 0.75, 0, 0)
    for wrong in ([0, 0, 0, 0], [2, -1, 0, 0]):
        with pytest.raises(InvalidParameter, match=r"invalid weights=\[.*: expected non-negative numbers, not all 0"):
            policy(path, game, 0, weights=wrong)
    sampled = replace(training, options=Moppo(**{**TINY, "greedy": False}), weights=(2.0, 0.0, 0.0, 2.0))
    other_path = str(trainings.train(sampled, tmp_path / "sampled", evaluations=1, episodes=1).path)
    (_, weights), greedy = policy(other_path, game, 0).policy.initial_memory
    assert weights[:4] == (0.5, 0, 0, 0.5)  # as in training
    assert greedy == ("greedy", 0)
    other = momagames.spec("mo-breakthrough-v0", board_width=4, board_height=5)
    with pytest.raises(InvalidFile, match=r"trained on mo-breakthrough-v0\(board_width=3.*, cannot play"):
        policy(path, other)
    with pytest.raises(InvalidFile, match=r"nowhere\.npz: not a training checkpoint: No such file"):
        policy("nowhere.npz", game)
    (tmp_path / "broken.npz").write_bytes(b"PK")
    with pytest.raises(InvalidFile, match="not a training checkpoint"):
        policy(str(tmp_path / "broken.npz"), game)


def test_options(monkeypatch):
    with pytest.raises(InvalidParameter, match=r"moppo: invalid clip_coef=-1: expected 0\.0001\.\.10"):
        Moppo(**{**TINY, "clip_coef": -1})
    with pytest.raises(InvalidParameter, match="moppo: invalid critic='mine': expected 'decentralized' or 'centralized'"):
        Moppo(**{**TINY, "critic": "mine"})
    with pytest.raises(InvalidParameter, match="moppo: invalid greedy='maybe': expected True or False"):
        Moppo(**{**TINY, "greedy": "maybe"})
    with pytest.raises(InvalidParameter, match="invalid divisions=30 for mo-pommerman-radio-v0"):
        Moppo(**{**TINY, "divisions": 30}).check_train(momagames.spec("mo-pommerman-radio-v0"))
    with pytest.raises(InvalidParameter, match="draws during play"):
        Moppo(**TINY).check_plan(momagames.spec("mo-tileblast-v0"))

    def raise_error(name, *arguments, **options):
        raise ImportError(name)

    monkeypatch.setattr("momagames.baselines.base.import_module", raise_error)
    with pytest.raises(MissingExtra, match=r"momagames\[learn\]"):
        Moppo(**TINY).check_installed()
