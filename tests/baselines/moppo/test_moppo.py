"""Training: on every kind of game, with opponents and without, broken off and taken up again."""

import json
from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.baselines import compiled, method, policy
from momagames.baselines.moppo.checkpoint import load, save
from momagames.baselines.moppo.method import USUAL, Moppo
from momagames.benchmark import training as sessions
from momagames.benchmark.plan import Opponent
from momagames.engine.episode import Play
from momagames.engine.playouts import deal
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidFile, InvalidParameter, MissingExtra, UnknownId

SMALL = {"num_envs": 6, "rollout": 8, "epochs": 2, "minibatches": 2, "channels": 4, "hidden": 8, "layers": 1, "divisions": 1}
TINY = {**USUAL, **SMALL}
HOLLOW = 27  # seed of a deal whose front has a point that no weighted sum finds
BOARD = {"board_height": 3, "board_width": 4, "num_colors": 2}


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason='needs PyTorch: pip install "momagames[learn]"')
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(before)


def trainer(id, params=None, budget=200, seed=0, others=(), start=None, **options):
    from momagames.baselines.moppo.trainer import Trainer

    game = momagames.spec(id, **(params or {}))
    seats = [game.agents.index(a) for a in game.agents[:2]]
    return Trainer(game, Moppo(**{**TINY, **options}), seats, others, budget, seed, start)


@pytest.mark.parametrize("id", momagames.ids())
def test_every_game_is_trained_on(torch, id):
    """Numbers stay finite where masks are empty, actions have parts, agents come in teams, and most wait."""
    game = momagames.spec(id)
    learner = trainer(id, critic="own" if game.sequential else "central", rollout=8 + 3 * len(game.agents))
    before = learner.policy().arrays
    while not learner.done:
        told = learner.advance()
        assert all(np.isfinite(value) for value in told.values())
    after = learner.policy().arrays
    assert any((before[name] != after[name]).any() for name in before)
    assert all(np.isfinite(array).all() for array in after.values())
    assert learner.steps >= 200


def test_it_learns(torch):
    """On a tiny board, the sum of both colors: clearly more than by chance, nearly all that there is."""
    game = momagames.spec("mo-samegame-v0", **BOARD, color_rewards=False)
    start = deal(game, np.array([4], np.uint64))
    options = {"num_envs": 32, "rollout": 8, "learning_rate": 5e-3, "entropy": 0.003, "channels": 8, "hidden": 16}
    learner = trainer("mo-samegame-v0", {**BOARD, "color_rewards": False}, 16_000, start=start, **options)
    first = learner.play_out(learner.options.offered(learner.policy()))
    while not learner.done:
        learner.advance()
    last = learner.play_out(learner.options.offered(learner.policy()))
    best = method("exact")(max_states=10**5, max_bytes=1 << 28).plan(game, start, 0, 0).values.max()
    assert last.max() == best > first.max()


def test_chebyshev_utility_finds_what_no_weighted_sum_does(torch):
    """A front with a point below the line between its neighbors: single weights lead there."""
    game = momagames.spec("mo-samegame-v0", **BOARD)
    start = deal(game, np.array([HOLLOW], np.uint64))
    points = method("exact")(max_states=10**5, max_bytes=1 << 28).plan(game, start, 0, 0).values
    lattice = np.array([[i / 100, 1 - i / 100] for i in range(101)])
    on_hull = {tuple(points[i]) for i in (points @ lattice.T).argmax(axis=0)}
    hollow = {tuple(point) for point in points} - on_hull
    assert hollow
    options = {
        "num_envs": 32,
        "rollout": 8,
        "learning_rate": 5e-3,
        "entropy": 0.003,
        "channels": 8,
        "hidden": 16,
        "divisions": 8,
    }
    learner = trainer("mo-samegame-v0", BOARD, 30_000, start=start, utility="chebyshev", **options)
    while not learner.done:
        learner.advance()
    found = {tuple(point) for point in learner.play_out(learner.options.offered(learner.policy()))}
    assert found & hollow


def test_a_central_critic_sees_what_all_see(torch):
    """Values hang on what the others see, actions do not."""
    learner = trainer("mo-pommerman-team-v0", critic="central")
    learner.batch.step(learner.batch.played)
    games = learner.batch.observations.copy()
    n, v = np.zeros(2, np.int64), np.array([0, 1])
    weights = learner.weights[n, v]

    def ask():
        with torch.no_grad():
            return [found.numpy() for found in learner._ask(games, n, v, v, weights)]

    logits, values = ask()
    assert (values[0] != values[1]).all()
    games[0, 3] = games[0, 2]
    other_logits, other_values = ask()
    assert (logits == other_logits).all()
    assert (values != other_values).all()
    alone = trainer("mo-pommerman-team-v0")
    assert set(learner.policy().arrays) == set(alone.policy().arrays)
    with pytest.raises(
        InvalidParameter, match="critic='central' is for games where all move at once; mo-samegame-v0 allows 'own'"
    ):
        Moppo(**{**TINY, "critic": "central"}).check_train(momagames.spec("mo-samegame-v0"))


def test_a_teacher_is_imitated(torch):
    """After lessons alone the likeliest action is the teacher's, clearly more often than before."""
    params = {"board_width": 4, "board_height": 5}
    options = {"num_envs": 32, "learning_rate": 5e-3, "channels": 16, "hidden": 32, "lessons": 1.0, "divisions": 1}
    learner = trainer("mo-breakthrough-v0", params, 20_000, teacher="greedy", **options)
    game = learner.game

    def agreement():
        likeliest = learner.policy().kernel([0.25] * 4, True)
        teacher, pupil = policy("greedy", game), type("Pupil", (CompiledPolicy,), {"compiled": likeliest})(game)
        one, rng, same = Play(game), np.random.default_rng(0), []
        for seed in range(20):
            one.deal(seed)
            while not one.state["over"]:
                mask = one.mask(one.mover)
                chosen = teacher(one.state, mask, rng)
                same.append(pupil(one.state, mask, rng) == chosen)
                one.turn(chosen)
        return np.mean(same)

    before = agreement()
    while not learner.done:
        assert learner.taught
        learner.advance()
    assert agreement() > before + 0.3
    with pytest.raises(UnknownId, match="no policy 'greedi'"):
        Moppo(**{**TINY, "teacher": "greedi"}).check_train(game)


@pytest.mark.parametrize("utility", ["linear", "chebyshev"])
def test_its_best_games_are_imitated(torch, utility):
    """Where only known games are played, nothing new is found, and policies come to play the best for their weights."""
    game = momagames.spec("mo-samegame-v0", **BOARD)
    start = deal(game, np.array([HOLLOW], np.uint64))
    options = {"num_envs": 32, "learning_rate": 5e-3, "channels": 8, "hidden": 16, "entropy": 0.0, "divisions": 4}
    learner = trainer("mo-samegame-v0", BOARD, 20_000, start=start, utility=utility, self_imitation=1.0, **options)
    while len(learner.archive.plans) < 2:
        learner.advance()
    while not learner.done:
        told = learner.advance()
    assert told["games"] == 0
    known = learner.archive.values
    weights = [(0.0, 1.0), (1.0, 0.0)]
    found = learner.play_out([learner.policy().member("", one, True) for one in weights])
    assert found.tolist() == [known[known[:, 1].argmax()].tolist(), known[known[:, 0].argmax()].tolist()]
    with pytest.raises(InvalidParameter, match=r"self_imitation=0\.5 is for training on one deal; allowed: 0, or a deal"):
        Moppo(**{**TINY, "self_imitation": 0.5}).check_train(game)


def test_plans_are_games_that_were_played(torch):
    game = momagames.spec("mo-samegame-v0", **BOARD)
    start = deal(game, np.array([2], np.uint64))
    found = Moppo(**TINY).plan(game, start, 500, 0)
    assert found.steps >= 500
    one = Play(game)
    for plan in found.plans:
        one.load(start[0])
        for action in plan.actions:
            one.turn(action)
        assert one.state["over"]
        assert one.returns[0].tolist() == plan.value.tolist()
    again = Moppo(**TINY).plan(game, start, 500, 0)
    assert found.values.tolist() == again.values.tolist()


CASES = {
    "mo-samegame-v0": (BOARD, (), {"utility": "chebyshev", "self_imitation": 0.3}),
    "mo-breakthrough-v0": ({"board_width": 3, "board_height": 5}, ("random", "greedy"), {"scaling": "running"}),
    "mo-pommerman-duel-v0": ({}, ("static",), {"critic": "central", "teacher": "simple", "lessons": 0.0004}),
}


@pytest.mark.parametrize("id", CASES)
def test_taken_up_again_it_goes_on_to_the_bit(torch, id, tmp_path):
    params, names, options = CASES[id]
    game = momagames.spec(id, **params)
    others = [compiled(name, game) for name in names]
    start = deal(game, np.array([HOLLOW], np.uint64)) if "self_imitation" in options else None
    whole, first = (trainer(id, params, 10**6, 3, others, start, **options) for _ in range(2))
    for _ in range(12):  # the pool has changed by then
        whole.advance()
    for _ in range(5):
        first.advance()
    facts, arrays = first.kept()
    save(tmp_path / "a.npz", {"trainer": facts}, {}, arrays)
    saved = load(tmp_path / "a.npz")
    second = trainer(id, params, 10**6, 3, others, start, **options)
    second.take_up(saved.head["trainer"], saved.training)
    for _ in range(7):
        second.advance()
    wanted, found = whole.kept(), second.kept()
    assert {**wanted[0], "seconds": 0} == {**found[0], "seconds": 0}
    assert set(wanted[1]) == set(found[1])
    for name, array in wanted[1].items():
        assert array.tobytes() == found[1][name].tobytes(), name


def test_a_graphics_card(torch, monkeypatch):
    """Where there is one, training goes on from one device to another; where there is none, asking for it is refused."""
    if torch.cuda.is_available():
        near, far = trainer("mo-samegame-v0", BOARD, device="cpu"), trainer("mo-samegame-v0", BOARD, device="cuda")
        near.advance()
        far.take_up(*near.kept())
        assert all(np.isfinite(value) for value in far.advance().values())
        near.take_up(*far.kept())
        assert all(np.isfinite(value) for value in near.advance().values())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InvalidParameter, match=r"device='cuda' is not possible here.*allowed: 'auto' or 'cpu'"):
        trainer("mo-samegame-v0", BOARD, device="cuda")
    assert trainer("mo-samegame-v0", BOARD, device="auto").network.value.weight.device.type == "cpu"


def test_a_folder_of_training(torch, tmp_path):
    """Trained in one go and in two: equal checkpoints and logs, which play."""
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    rivals = (Opponent(name="random", options={}),)
    wanted = sessions.Training(game, Moppo(**TINY), 1, 480, ("player_0", "player_1"), rivals)
    saved = sessions.train(wanted, tmp_path / "whole", evaluations=2, episodes=4)

    def stop(told):
        if told["steps"] > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sessions.train(wanted, tmp_path / "parts", evaluations=2, episodes=4, tell=stop)
    assert load(tmp_path / "parts" / sessions.CHECKPOINT).head["steps"] < 480
    again = sessions.train(wanted, tmp_path / "parts", evaluations=2, episodes=4)
    for name, array in saved.training.items():
        assert array.tobytes() == again.training[name].tobytes()
    lines = [
        [{**json.loads(line), "seconds": 0} for line in (tmp_path / name / sessions.LOG).read_text().splitlines()]
        for name in ("whole", "parts")
    ]
    assert lines[0] == lines[1]
    assert [line["steps"] for line in lines[0]] == [240, 480]
    assert set(lines[0][0]["evaluation"]["points"]) == {"w=(1, 0, 0, 0)", "w=(0, 1, 0, 0)", "w=(0, 0, 1, 0)", "w=(0, 0, 0, 1)"}
    with pytest.raises(InvalidParameter, match="its seed is 1, asked for is 2"):
        sessions.train(replace(wanted, seed=2), tmp_path / "parts")
    opened, _ = sessions.opened(tmp_path / "parts")
    assert opened == wanted


def test_training_on_one_deal(torch, tmp_path):
    """All games begin with it, before and after training is taken up again; those of evaluations too."""
    game = momagames.spec("mo-samegame-v0", **BOARD)
    wanted = sessions.Training(game, Moppo(**TINY), 1, 200, game.agents, (), HOLLOW)
    sessions.train(wanted, tmp_path, evaluations=1, episodes=1)
    opened, saved = sessions.opened(tmp_path)
    assert opened.deal == HOLLOW
    points = sessions.returns_of(opened, opened.options.offered(saved.network()), 3)
    assert (points == points[:, :1]).all()
    one = Play(game)
    for actions, value, *_ in saved.head["trainer"]["archive"]["plans"]:
        one.deal(HOLLOW)
        for action in actions:
            one.turn(action)
        assert one.returns[0].tolist() == value
    with pytest.raises(InvalidParameter, match="draws during play"):
        sessions.train(replace(wanted, game=momagames.spec("mo-tileblast-v0")), tmp_path / "other")


def test_a_checkpoint_plays_by_its_path(torch, tmp_path):
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    wanted = sessions.Training(game, Moppo(**TINY), 1, 48, ("player_0",), (Opponent(name="random", options={}),))
    path = str(sessions.train(wanted, tmp_path, evaluations=1, episodes=1).path)
    one = Play(game)
    one.deal(0)
    rng = np.random.default_rng(0)
    players = [policy(path, game, agent, weights=[1, 0, 0, 0]) for agent in range(2)]
    while not one.state["over"]:
        one.turn(players[one.mover](one.state, one.mask(one.mover), rng))
    other = momagames.spec("mo-breakthrough-v0", board_width=4, board_height=5)
    with pytest.raises(InvalidFile, match=r"trained on mo-breakthrough-v0\(board_width=3.*cannot play"):
        policy(path, other)
    with pytest.raises(InvalidFile, match=r"nowhere\.npz: no checkpoint of training: No such file"):
        policy("nowhere.npz", game)
    (tmp_path / "broken.npz").write_bytes(b"PK")
    with pytest.raises(InvalidFile, match="no checkpoint of training"):
        policy(str(tmp_path / "broken.npz"), game)


def test_options(monkeypatch):
    with pytest.raises(InvalidParameter, match=r"moppo: invalid clip=-1: expected 0\.0001\.\.10"):
        Moppo(**{**TINY, "clip": -1})
    with pytest.raises(InvalidParameter, match="moppo: invalid critic='mine': expected 'own' or 'central'"):
        Moppo(**{**TINY, "critic": "mine"})
    with pytest.raises(InvalidParameter, match="divisions=30 gives"):
        Moppo(**{**TINY, "divisions": 30}).check_train(momagames.spec("mo-pommerman-radio-v0"))
    with pytest.raises(InvalidParameter, match="draws during play"):
        Moppo(**TINY).check_plan(momagames.spec("mo-tileblast-v0"))

    def refuse(name, *arguments, **options):
        raise ImportError(name)

    monkeypatch.setattr("momagames.baselines.moppo.method.import_module", refuse)
    with pytest.raises(MissingExtra, match=r"momagames\[learn\]"):
        Moppo(**TINY).check_installed()
