"""Egocentric views and safe actions in MOPPO: sparse rows, agreement with the compiled policy, masks, ends of episodes."""

from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.learners import find_learner
from momagames.baselines.moppo.encoder import make_egocentric_encoder
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.network_policy import NetworkPolicy, array_shapes, restore_policy
from momagames.baselines.moppo.options import DEFAULT_OPTIONS
from momagames.baselines.training_setup import TrainingSetup
from momagames.contract import EgocentricView, LearningSupport, TrainingDefaults
from momagames.engine import policies
from momagames.engine import threads as engine_threads
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies
from momagames.errors import InvalidParameter
from momagames.kernels.jit import compile_entry_point, kernel

pytestmark = pytest.mark.compiled  # trains

FFA, DUEL, RADIO = "mo-pommerman-ffa-v0", "mo-pommerman-duel-v0", "mo-pommerman-radio-v0"
SMALL = {
    **DEFAULT_OPTIONS, "num_envs": 8, "num_steps": 16, "update_epochs": 2, "num_minibatches": 2, "hidden": 8, "divisions": 1,
    "opponent_pool_size": 0, "self_play": 0.0,
}  # fmt: skip


def make_trainer(game, budget=10**6, opponents=(), threads=1, fixed_weights=None, **options):
    setup = TrainingSetup([game], budget, 0, range(len(game.agents)), opponents, threads=threads, fixed_weights=fixed_weights)
    return Moppo(**{**SMALL, **options}).make_trainer(setup)


def make_batch(game, names=("safe:random",), num_envs=32, steps=60):
    """A batch in the middle of games, as the start of new episodes."""
    batch = Batch(game, num_envs)
    batch.load(generate_starts(game, np.arange(num_envs, dtype=np.uint64)))
    players = SeatedPolicies(batch, [batch_policy(name, game) for name in names], np.zeros(len(game.agents), np.int64))
    for _ in range(steps):
        batch.step(players.act())
    batch.load(batch.states.copy())
    return batch


def clear_masks(game, batch, caution):
    """The safe actions of all agents, int8[N, A, M], by the game's own kernel."""
    clear = game.learning.clear_unsafe_actions

    def run(states, agent, caution, mask):
        clear(states[0], agent, caution, mask)

    compiled = compile_entry_point(run, f"{game.rules_key}.tests.moppo_clear")
    masks = batch.masks.copy()
    for n, agent in np.ndindex(masks.shape[:2]):
        if masks[n, agent].sum() > 1:
            compiled(batch.states[n : n + 1], agent, caution, masks[n, agent])
    return masks


def write_views(game, states, n, agents, behind):
    """Egocentric views by the game's own kernel, and further numbers float32[R, L] behind them, float32[R, F]."""
    view = game.learning.egocentric_view
    write, cells, size = view.write, view.cells, view.size

    def run(states, agent, planes, scalars):
        write(states[0], agent, planes, scalars)

    compiled = compile_entry_point(run, f"{game.rules_key}.tests.moppo_view")
    rows = np.concatenate([np.zeros((len(n), size), np.float32), behind], axis=1)
    for row, i, agent in zip(rows, n, agents, strict=True):
        compiled(states[i : i + 1], agent, row[:cells], row[cells:size])
    return rows


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_sparse_rows_and_their_layer(torch, monkeypatch, threads):
    """Rows hold the numbers of the kernels; the layer and its gradients are those of a dense product."""
    from momagames.baselines.moppo.views import ViewLinear, Views

    monkeypatch.setattr(engine_threads, "SMALLEST_WORK", 0)
    game = momagames.spec(FFA)
    batch = make_batch(game)
    n, agents = np.arange(32).repeat(2), np.tile([0, 3], 32)
    weights = np.random.default_rng(0).dirichlet(np.ones(5), 64).astype(np.float32)
    views = Views(game, make_egocentric_encoder(game), 100, threads)
    for part in (slice(0, 40), slice(40, 64)):
        rows = views.append(batch.states, n[part], agents[part], weights[part])
    assert rows.tolist() == list(range(40, 64))
    dense = write_views(game, batch.states, n, agents, weights)
    chosen = np.random.default_rng(1).permutation(64)[:50]
    assert np.array_equal(views.expand(chosen), dense[chosen])
    assert (dense != 0).mean() < 0.2
    torch.manual_seed(0)
    layer, factor = ViewLinear(views.size, 24), torch.randn(50, 24)
    torch.nn.init.normal_(layer.weight)
    torch.nn.init.normal_(layer.bias)
    inputs = torch.from_numpy(dense[chosen])
    expected = inputs @ layer.weight + layer.bias
    found = layer((views, chosen))
    assert torch.allclose(found, expected, atol=1e-5)
    wanted = torch.autograd.grad((expected * factor).sum(), list(layer.parameters()))
    gradients = torch.autograd.grad((found * factor).sum(), list(layer.parameters()))
    for one, other in zip(gradients, wanted, strict=True):
        assert torch.allclose(one, other, atol=1e-4)


@pytest.mark.long
def test_trainings_do_not_depend_on_the_number_of_threads(torch, monkeypatch):
    """With an egocentric view PyTorch has one thread, kernels write to memory of their own, and small minibatches are whole."""
    monkeypatch.setattr(engine_threads, "SMALLEST_WORK", 0)
    found = []
    for threads in (1, 2):
        game = momagames.spec(DUEL, objectives=("outcome", "kills"))
        trainer = Moppo(**{**SMALL, "caution": 1}).make_trainer(TrainingSetup([game], 512, seed=3, threads=threads))
        while not trainer.is_done:
            trainer.train_iteration()
            assert torch.get_num_threads() == 1
        found.append(trainer.make_policies().arrays)
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


@pytest.mark.long
def test_trainings_with_shared_minibatches(torch, monkeypatch):
    """Rollouts do not depend on the number of threads; gradients of shared minibatches differ by rounding, always alike."""
    from momagames.baselines.moppo import loss

    monkeypatch.setattr(engine_threads, "SMALLEST_WORK", 0)
    monkeypatch.setattr(policies, "SHARED_FROM", -1.0)
    monkeypatch.setattr(loss, "SMALLEST_PART", 1)
    game = momagames.spec(DUEL, objectives=("outcome", "kills"))
    opponents = [batch_policy("safe:simple", game), batch_policy("random", game)]
    rollouts, networks = [], []
    for threads in (1, 2, 2, 3):
        trainer = make_trainer(game, opponents=opponents, threads=threads, caution=1, opponent_pool_size=1, expert="simple")
        rollouts.append(trainer.collector.collect(is_cloning=False))
        metrics = trainer.train_iteration()
        assert torch.get_num_threads() == 1
        networks.append((metrics, trainer.make_policies().arrays))
    for other in rollouts[1:]:
        for name in ("masks", "actions", "values", "log_probs", "rewards", "advantages"):
            assert np.array_equal(getattr(rollouts[0], name), getattr(other, name)), name
    (first, arrays), *others = networks
    for metrics, other in others:
        assert metrics == pytest.approx(first, rel=1e-4, abs=1e-6)
        assert all(np.allclose(arrays[name], other[name], atol=1e-4) for name in arrays)
    assert all(np.array_equal(networks[1][1][name], networks[2][1][name]) for name in arrays)
    assert not np.array_equal(arrays["fc1"], networks[1][1]["fc1"])  # the minibatches were shared


def test_initial_values_do_not_depend_on_the_threads_of_pytorch(torch):
    game, found = momagames.spec(DUEL), []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(make_trainer(game, hidden=128).make_policies().arrays)
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


@pytest.mark.parametrize("caution", [0, 1, 2])
@pytest.mark.parametrize("id", [FFA, DUEL, RADIO])
def test_kernel_agrees_with_pytorch(torch, id, caution):
    """The compiled policy plays the most likely safe action of the network."""
    from momagames.baselines.moppo.network import Network
    from momagames.baselines.moppo.views import Views

    game = momagames.spec(id)
    batch = make_batch(game)
    weights = np.random.default_rng(1).dirichlet(np.ones(len(game.objectives)))
    encoder = make_egocentric_encoder(game)
    network = Network(game, encoder, channels=1, hidden=12, layers=1, caution=caution, modulation=caution / 2)
    torch.manual_seed(0)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, 0, 0.4)
    n, agents = (axis.reshape(-1) for axis in np.indices(batch.masks.shape[:2]))
    views = Views(game, encoder, len(n))
    rows = views.append(batch.states, n, agents, np.tile(weights.astype(np.float32), (len(n), 1)))
    with torch.no_grad():
        logits = network.forward_views((views, rows), None)[0].numpy()
    arrays = network.export_actor()
    assert ("caution" in arrays) == (caution > 0)
    policy = restore_policy(game, "", NetworkPolicy(game, arrays).compile("", weights.tolist(), True).arrays)
    actions = SeatedPolicies(batch, [policy], np.zeros(len(game.agents), np.int64)).act().reshape(len(n), -1)
    masks = clear_masks(game, batch, caution).reshape(len(n), -1) if caution else batch.masks.reshape(len(n), -1)
    start = 0
    for part, size in enumerate(game.actions):
        allowed = masks[:, start : start + size] > 0
        free = batch.masks.reshape(len(n), -1)[:, start : start + size].sum(axis=1) > 1
        best = np.where(allowed, logits[:, start : start + size], -np.inf).argmax(axis=1)
        assert free.sum() > 20
        assert np.array_equal(actions[free, part], best[free])
        start += size


@pytest.mark.parametrize("sides", [(3, 5), (5, 6)])
def test_actions_turn_with_the_board(torch, sides):
    """Agents that see the same board from their own sides play alike, and the compiled policy plays as PyTorch does."""
    from momagames.baselines.moppo.network import Network
    from momagames.baselines.moppo.views import Views

    width, height = sides
    game = momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height)
    batch, encoder = make_batch(game, ("random",), 48, 3), make_egocentric_encoder(game)
    batch.load(np.concatenate([batch.states[:24], np.array([turn_board(game, state) for state in batch.states[:24]])]))
    agents, weights = batch.to_move.astype(np.int64), [0.1, 0.2, 0.3, 0.4]
    assert agents.tolist() == [1] * 24 + [0] * 24
    network = Network(game, encoder, channels=1, hidden=12, layers=1, modulation=0.5)
    torch.manual_seed(0)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, 0, 0.4)
    views = Views(game, encoder, 48)
    rows = views.append(batch.states, np.arange(48), agents, np.tile(np.float32(weights), (48, 1)))
    with torch.no_grad():
        logits = network.forward_views((views, rows), torch.from_numpy(agents))[0].numpy()
    assert np.array_equal(views.expand(rows[:24]), views.expand(rows[24:]))
    assert np.array_equal(logits[24:, ::-1], logits[:24])
    policy = NetworkPolicy(game, network.export_actor()).compile("", weights, True)
    actions = SeatedPolicies(batch, [policy], [0, 0]).act()[:, 0, 0]
    assert np.array_equal(actions, np.where(batch.masks[:, 0] > 0, logits, -np.inf).argmax(axis=1))


def turn_board(game, state):
    """The position of MO-Breakthrough in which the other agent sees what the agent to move sees in `state`."""
    board = np.array([list(map(int, row.replace(".", "0"))) for row in game.codec.save(state)["board"]])
    turned = np.zeros(1, game.dtype)
    turned[:] = game.blank_state
    game.codec.load(
        turned[0], {"board": np.array([0, 2, 1])[board[::-1, ::-1]], "next_agent": game.agents[1 - state["to_move"]]}
    )
    return turned[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_training_chooses_safe_actions(torch, threads):
    """The masks of decisions are those of the game's kernel, and every action is in them."""
    torch.set_num_threads(threads)
    game = momagames.spec(DUEL)
    trainer = make_trainer(game, caution=2, opponents=[batch_policy("safe:random", game)], num_envs=16, num_steps=40)
    collector = trainer.collector
    is_fewer = False
    for _ in range(4):
        before = collector.batch.masks.copy()
        expected = clear_masks(game, collector.batch, 2)
        rollout = collector.collect(False)
        learns = collector.opponents.is_learning
        assert np.array_equal(rollout.masks[0][learns], expected[learns])
        assert np.array_equal(rollout.masks[0][~learns], before[~learns])
        chosen = np.take_along_axis(rollout.masks, rollout.actions, axis=3)[..., 0]
        assert chosen[rollout.is_decision].all()
        assert (rollout.masks[rollout.is_decision].sum(axis=1) > 1).all()
        is_fewer |= bool((expected < before).any())
    assert is_fewer


def test_labels_outside_the_mask_are_dropped(torch):
    """An unfiltered expert plays unsafe actions; these are not imitated."""
    game = momagames.spec(DUEL)
    trainer = make_trainer(
        game, caution=2, expert="random", bc_fraction=1.0, opponents=[batch_policy("safe:random", game)], num_steps=40
    )
    dropped = 0
    for _ in range(3):
        rollout = trainer.collector.collect(True)
        learns = np.broadcast_to(trainer.collector.opponents.is_learning, rollout.is_decision.shape)
        is_legal = np.take_along_axis(rollout.masks, rollout.actions, axis=3)[..., 0] > 0
        has_choice = (rollout.masks.sum(axis=3) > 1) & learns
        assert np.array_equal(rollout.is_decision, has_choice & is_legal)
        dropped += int((has_choice & ~is_legal).sum())
    assert dropped > 0


def test_episodes_end_when_all_learning_agents_are_out(torch):
    """Where the dead leave the game, an environment restarts before its game is over."""
    game = momagames.spec(FFA, dead="leave")
    trainer = make_trainer(game, opponents=[batch_policy("stationary", game)], num_envs=16, num_steps=64)
    batch, early = trainer.collector.batch, []
    reset = batch.reset

    def record(chosen=None):
        early.append(int((batch.states["over"][chosen] == 0).sum()))
        reset(chosen)

    batch.reset = record
    rollout = trainer.collector.collect(False)
    assert sum(early) > 0
    assert rollout.dones.sum() == len(rollout.episode_returns)
    assert (rollout.episode_returns[:, 0] == -1).all()  # bombs of random play kill the learner
    is_last = rollout.has_advantage & rollout.dones[:, :, None]
    assert np.allclose((rollout.advantages + rollout.values)[is_last & rollout.is_decision][:, 0], -1)


@pytest.mark.parametrize("fixed_weights", [None, [1.0, 0.5, 0.0, 0.0, 0.0]])
def test_resumed_training_is_equal_to_the_bit(torch, fixed_weights):
    game = momagames.spec(FFA, dead="leave")
    options = {
        "caution": 1, "expert": "safe:simple", "bc_fraction": 3e-4, "opponent_pool_size": 1, "self_play": 0.3,
        "fixed_weights": fixed_weights,
    }  # fmt: skip
    whole, first, second = (make_trainer(game, opponents=[batch_policy("simple", game)], **options) for _ in range(3))
    for trainer, iterations in ((whole, 12), (first, 5)):
        for _ in range(iterations):
            trainer.train_iteration()
    second.load_state_dict(*first.state_dict())
    for _ in range(7):
        second.train_iteration()
    wanted, found = whole.state_dict(), second.state_dict()
    assert wanted[1].keys() == found[1].keys()
    for name, array in wanted[1].items():
        assert array.tobytes() == found[1][name].tobytes(), name


ROBOTS = [f"mo-robotmail-{robots}-v0" for robots in (2, 4)]


def make_robots_trainer(games, **options):
    """A trainer on several games of MO-RoboticMail, with small options."""
    method = Moppo(**{**Moppo.default_options(games[0]), **SMALL, "self_play": 0.5, "opponent_pool_size": 1, **options})
    setup = TrainingSetup(games, 10**6, 0, [0, 1], [batch_policy("nearest", games[0])])
    method.check_setup(setup)
    return method.make_trainer(setup)


def test_trains_on_several_games_in_turn(torch):
    """Games with other agents learn one network; each team learns somewhere; the state of all games is restored."""
    games = [momagames.spec(id) for id in ROBOTS]
    options = {"caution": 1, "expert": "energy_saver", "bc_fraction": 3e-4}
    whole, first, second = (make_robots_trainer(games, **options) for _ in range(3))
    learns = [one.opponents.is_learning.any(axis=0).tolist() for one in whole.collectors]
    assert learns == [[True] * 2, [True] * 4]
    before = [one.batch.states.tobytes() for one in whole.collectors]
    whole.train_iteration()
    assert [one.batch.states.tobytes() == row for one, row in zip(whole.collectors, before, strict=True)] == [False, True]
    for trainer, iterations in ((whole, 11), (first, 5)):
        for _ in range(iterations):
            trainer.train_iteration()
    second.load_state_dict(*first.state_dict())
    for _ in range(7):
        second.train_iteration()
    wanted, found = whole.state_dict()[1], second.state_dict()[1]
    assert wanted.keys() == found.keys()
    for name, array in wanted.items():
        assert array.tobytes() == found[name].tobytes(), name
    policies = whole.make_policies().arrays
    for id in ("mo-robotmail-6-v0", "mo-robotmail-12-v0"):
        assert NetworkPolicy(momagames.spec(id), policies).encoder.egocentric_size


def test_several_games_have_equal_inputs(torch):
    with pytest.raises(InvalidParameter, match="mo-robotmail-2-v0 and mo-robotmail-4-v0 differ in their inputs"):
        make_robots_trainer([momagames.spec(id) for id in ROBOTS], network="convolutional")


def test_games_declare_defaults():
    game = momagames.spec("mo-samegame-v0")
    declared = {"moppo": TrainingDefaults({"gamma": 0.5}, 70)}
    other = replace(game, learning=replace(game.learning, training=declared))
    assert Moppo.default_options(other) == {**Moppo.default_options(game), "gamma": 0.5}
    assert (Moppo.choose_budget(game), Moppo.choose_budget(other)) == (Moppo.default_budget, 70)
    for declaring in (momagames.spec(id) for id in momagames.registry.ids()):
        for name in declaring.learning.training:
            learner = find_learner(name)
            learner(**learner.default_options(declaring)).check_train(declaring)


def test_bfloat16(torch):
    trainer = make_trainer(momagames.spec(DUEL), precision="bfloat16", self_play=1.0)
    metrics = trainer.train_iteration()
    assert all(np.isfinite(value) for value in metrics.values())
    assert all(array.dtype == np.float32 for array in trainer.make_policies().arrays.values())


def test_networks_of_fixed_weights_play_for_any_objectives(torch):
    """The weights are part of the first bias; stored as float16 the network plays almost always the same actions."""
    game = momagames.spec(DUEL)
    batch, weights = make_batch(game), [0.1, 0.2, 0.3, 0.4]
    trained = make_trainer(game, caution=1, concentration=1.0)
    for _ in range(2):
        trained.train_iteration()
    network = trained.make_policies()
    arrays = network.fix_weights(weights)
    assert len(arrays["fc1"]) == game.learning.egocentric_view.size

    def choose(policy):
        out = np.zeros(batch.last_actions.shape, np.int64)
        SeatedPolicies(batch, [policy], np.zeros(2, np.int64)).act(out)
        return out

    wanted = choose(network.compile("", weights, True))
    for objectives in (None, ["kills"], ["outcome", "kills", "wood", "items", "bombs"]):
        other = momagames.spec(DUEL, objectives=objectives) if objectives else game
        fixed = NetworkPolicy(other, arrays).compile("", [9.0] * len(other.objectives), True)
        assert np.array_equal(choose(fixed), wanted)
    half = NetworkPolicy(game, {name: array.astype(np.float16) for name, array in arrays.items()})
    assert half.arrays["fc2"].dtype == np.float32
    assert (choose(half.compile("", weights, True)) == wanted).mean() > 0.95
    other = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    with pytest.raises(InvalidParameter, match="a network without egocentric view has no weights to fix"):
        make_trainer(other, network="convolutional").make_policies().fix_weights([1, 0, 0, 0])


def test_reward_scale_of_the_expert(torch):
    """Returns of the expert in all seats, which are much larger than those of random play."""
    game = momagames.spec(DUEL)
    scales = [make_trainer(game, reward_scaling=name, expert="safe:simple").return_scale for name in ("random", "expert")]
    assert scales[1][0] == 1
    assert (scales[1][1:] > 2 * scales[0][1:]).all()
    with pytest.raises(InvalidParameter, match="invalid reward_scaling='expert': expected 'random' or 'running' without an"):
        Moppo(**{**SMALL, "reward_scaling": "expert"}).check_train(game)


@kernel
def write_pawns(state, agent, planes, scalars):
    """An egocentric view of any game."""
    for place in range(planes.shape[0]):
        planes[place] = np.float32(place % 2)
    scalars[0] = np.float32(agent)


@pytest.mark.long
def test_any_game_may_declare_a_view(torch):
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    view = EgocentricView(write=write_pawns, shape=(3, 3), planes=("a", "b"), scalars=("seat",))
    declared = replace(game, rules_key="tests.pawns", learning=LearningSupport(egocentric_view=view))
    trainer = make_trainer(declared, self_play=1.0)
    assert trainer.model.encoder.egocentric_size == 19
    metrics = trainer.train_iteration()
    assert metrics["decisions"] > 50
    batch = make_batch(declared, ("random",), 4, 3)
    players = SeatedPolicies(batch, [trainer.make_policies().compile("", [1, 0, 0, 0], False)], [0, 0])
    actions = players.act()[:, 0, 0]
    assert np.take_along_axis(batch.masks[:, 0], actions[:, None], 1).all()
    assert make_trainer(declared, network="convolutional").model.encoder.cells == 15


def test_rejects_what_a_game_does_not_declare(torch):
    game, pommerman = momagames.spec("mo-samegame-v0"), momagames.spec(DUEL)
    with pytest.raises(InvalidParameter, match="invalid network='egocentric' for mo-samegame-v0: expected 'auto' or 'conv"):
        Moppo(**{**SMALL, "network": "egocentric"}).check_train(game)
    with pytest.raises(InvalidParameter, match="expected 'auto' or 'convolutional', a centralized critic reads observations"):
        Moppo(**{**SMALL, "network": "egocentric", "critic": "centralized"}).check_train(pommerman)
    with pytest.raises(InvalidParameter, match="mo-samegame-v0: invalid caution=1: expected 0: the game declares no safe"):
        Moppo(**{**SMALL, "caution": 1}).check_train(game)
    with pytest.raises(InvalidParameter, match=r"invalid caution=1\.5: expected 0\.\.2"):
        Moppo(**{**SMALL, "caution": 1.5}).check_train(pommerman)
    shapes = array_shapes(pommerman, make_egocentric_encoder(pommerman), 1, 8, 1)
    arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    with pytest.raises(InvalidParameter, match=r"invalid caution=3"):
        NetworkPolicy(pommerman, {**arrays, "caution": np.float32(3)})
    with pytest.raises(InvalidParameter, match="not a network"):
        NetworkPolicy(momagames.spec(RADIO), arrays)
