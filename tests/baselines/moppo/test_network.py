"""Observation encoding, agreement of the kernel with PyTorch, and advantages."""

import numpy as np
import pytest

import momagames
from momagames.baselines.moppo.encoder import MAX_ONE_HOT, POSITION, make_encoder
from momagames.baselines.moppo.kernels import compute_advantages, encode_observations
from momagames.baselines.moppo.network_policy import (
    NetworkPolicy,
    array_shapes,
    count_features,
    restore_policy,
)
from momagames.baselines.observation_layout import make_workspace
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies
from momagames.errors import InvalidParameter

SIZE = {"channels": 5, "hidden": 7, "layers": 2}


def random_arrays(game, seed=0):
    rng = np.random.default_rng(seed)
    shapes = array_shapes(game, make_encoder(game), **SIZE)
    return {name: rng.normal(0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()}


def make_batch(game, num_envs=6, steps=5):
    """A batch after some steps of random play, as the start of new episodes."""
    batch = Batch(game, num_envs)
    batch.seed(3)
    batch.reset()
    words = np.arange(num_envs, dtype=np.uint64)
    for _ in range(min(steps, game.max_episode_steps // 2)):
        batch.step(batch.sample_actions(words))
    batch.load(batch.states.copy())
    return batch


def encode(game, batch):
    """Planes and features of all views, and their agents."""
    views = batch.masks.shape[1]
    encoder = make_encoder(game)
    rows = batch.observations.reshape(-1, game.observation_bytes)
    planes = np.zeros((len(rows), encoder.cells * len(encoder.planes)), np.float32)
    features = np.zeros((len(rows), count_features(game, encoder)), np.float32)
    encode_observations(rows, make_workspace(game), encoder.planes, encoder.scalars, planes, features)
    agents = np.tile(np.arange(views), batch.num_envs) if views > 1 else batch.to_move
    return planes, features, agents


@pytest.mark.parametrize("id", momagames.ids())
def test_kernel_agrees_with_pytorch_on_every_game(id):
    torch = pytest.importorskip("torch", reason='needs PyTorch: pip install "momagames[learn]"')
    from momagames.baselines.moppo.network import Network

    game = momagames.spec(id)
    batch = make_batch(game)
    planes, features, agents = encode(game, batch)
    encoder = make_encoder(game)
    assert np.isfinite(planes).all()
    assert np.abs(planes).max(initial=0) <= 3
    weights = np.random.default_rng(1).dirichlet(np.ones(len(game.objectives)))
    if encoder.agent_ids:
        features[np.arange(len(features)), len(encoder.scalars) + agents] = 1
    features[:, -len(weights) :] = weights
    torch.manual_seed(0)
    network = Network(game, encoder, **SIZE, modulation=0.5)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, 0, 0.4)
    with torch.no_grad():
        logits = network((torch.from_numpy(planes), torch.from_numpy(features)))[0].numpy()
    policy = NetworkPolicy(game, network.export_actor())
    players = SeatedPolicies(batch, [policy.compile("", weights.tolist(), True)], np.zeros(len(game.agents), np.int64))
    actions = players.act().reshape(len(features), -1)
    masks, start = batch.masks.reshape(len(features), -1), 0
    compared = 0
    for part, size in enumerate(game.actions):
        legal = masks[:, start : start + size] > 0
        best = np.where(legal, logits[:, start : start + size], -np.inf).argmax(axis=1)
        free = legal.sum(axis=1) > 1
        assert (actions[free, part] == best[free]).all()
        compared += int(free.sum())
        start += size
    assert compared > 0


def test_weights_multiply_the_units_of_dense_layers():
    """By 1 if they are equal, and by factors of the given deviation where one of them is 1, for any number of objectives."""
    torch = pytest.importorskip("torch")
    network = pytest.importorskip("momagames.baselines.moppo.network")
    torch.manual_seed(0)
    for objectives in (2, 5):
        modulation = network.Modulation(objectives, (3000, 1000), 0.7)
        modulation.reset_parameters()
        first, second = (one.detach() for one in modulation(torch.eye(objectives)))
        assert first.shape == (objectives, 3000)
        assert torch.cat([first, second], 1).std(1).tolist() == pytest.approx([0.7] * objectives, rel=0.05)
        assert all((one == 1).all() for one in modulation(torch.full((1, objectives), 1 / objectives)))
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    assert "modulation" not in network.Network(game, make_encoder(game), **SIZE).export_actor()


@pytest.mark.long
def test_actions_per_cell():
    """Legal actions belong to the cells in memory order."""
    for id, actions_per_cell in (("mo-samegame-v0", 1), ("mo-breakthrough-v0", 3), ("mo-tileblast-v0", 1)):
        game = momagames.spec(id)
        encoder = make_encoder(game)
        assert encoder.actions_per_cell == actions_per_cell
        batch = make_batch(game, steps=4)
        planes, _, _ = encode(game, batch)
        is_occupied = planes.reshape(len(planes), encoder.cells, len(encoder.planes)).any(axis=2)
        for row, mask in zip(is_occupied, batch.masks[:, 0], strict=True):
            assert row[np.flatnonzero(mask) // actions_per_cell].all()
    assert make_encoder(momagames.spec("mo-pommerman-ffa-v0")).actions_per_cell == 0
    assert make_encoder(momagames.spec("mo-robotmail-v0")).cells == 0


def test_planes():
    game = momagames.spec("mo-pommerman-duel-v0")
    encoder = make_encoder(game)
    batch = make_batch(game)
    flat, _, _ = encode(game, batch)
    planes = flat.reshape(len(flat), encoder.rows, encoder.columns, -1)
    fields = game.observation_views(batch.observations.reshape(-1, game.observation_bytes))
    for code in range(14):
        assert np.array_equal(planes[..., code], fields["board"] == code)
    position_planes = [i for i, feature in enumerate(encoder.planes) if feature[4] == POSITION]
    assert len(position_planes) == 1
    for row, (y, x) in enumerate(fields["position"].tolist()):
        assert np.argwhere(planes[row, :, :, position_planes[0]]).tolist() == [[y, x]]
    strength = planes[..., 14]
    assert np.allclose(strength, np.log1p(fields["bomb_blast_strength"].astype(float)) / np.log(17), atol=1e-6)


def test_plane_axis_behind_cells_and_binned_fractions():
    game = momagames.spec("mo-robotmail-v0", observation="dict")
    encoder = make_encoder(game)
    batch = make_batch(game)
    flat, features, _ = encode(game, batch)
    assert (encoder.rows, encoder.columns, len(encoder.planes)) == (9, 9, 8)
    planes = flat.reshape(len(flat), 9, 9, 8)
    fields = game.observation_views(batch.observations.reshape(-1, game.observation_bytes))
    assert np.array_equal(planes[..., :6], fields["layout"])
    assert np.allclose(planes[..., 6], np.log1p(fields["targets"].astype(float)) / np.log(17), atol=1e-6)
    for number, values in enumerate(fields["observation"].T):
        linear, bins = features[:, number * 17], features[:, number * 17 + 1 : (number + 1) * 17]
        assert np.allclose(linear, values)
        assert (bins[np.arange(len(values)), np.round(values * (MAX_ONE_HOT - 1)).astype(int)] == 1).all()
        assert (bins.sum(axis=1) <= 2).all()


@pytest.mark.long
def test_sampled_and_greedy_actions():
    """Samples follow the softmax over the legal actions; greedy takes the most likely one."""
    game = momagames.spec("mo-samegame-v0", board_height=3, board_width=3, num_colors=2)
    num_envs = 4000
    batch = Batch(game, num_envs)
    batch.load(np.repeat(generate_starts(game, np.array([5], np.uint64)), num_envs))
    policy = NetworkPolicy(game, random_arrays(game))
    sampled = SeatedPolicies(batch, [policy.compile("", [0.5, 0.5], False)], [0], seed=1).act()[:, 0, 0].copy()
    greedy = SeatedPolicies(batch, [policy.compile("", [0.5, 0.5], True)], [0], seed=1).act()[:, 0, 0]
    legal = batch.masks[0, 0] > 0
    assert legal[sampled].all()
    assert len(set(greedy.tolist())) == 1
    counts = np.bincount(sampled, minlength=9)
    assert counts.argmax() == greedy[0]
    players = SeatedPolicies(batch, [policy.compile("", [0.5, 0.5], False)], [0])
    players.act()
    logits = players._compiled[0]._shares[0][1][5][8].astype(float)
    shares = np.where(legal, np.exp(logits - logits.max()), 0)
    assert np.abs(counts / num_envs - shares / shares.sum()).max() < 0.03


def test_rejects_arrays_of_another_game():
    small = momagames.spec("mo-samegame-v0", board_height=4, board_width=4, num_colors=2)
    large = momagames.spec("mo-samegame-v0", board_height=5, board_width=4, num_colors=2)
    arrays = random_arrays(small)
    with pytest.raises(InvalidParameter, match="not a network for mo-samegame-v0"):
        NetworkPolicy(large, arrays)
    with pytest.raises(InvalidParameter, match="not a network"):
        NetworkPolicy(small, {**arrays, "actor": arrays["actor"] * np.nan})
    with pytest.raises(InvalidParameter, match="not a network"):
        NetworkPolicy(small, {})
    member = NetworkPolicy(small, arrays).compile("mine", [0.2, 0.8], True)
    restored = restore_policy(small, "mine", member.arrays)
    assert (restored.label, restored.weights) == ("mine", (0.2, 0.8))
    with pytest.raises(InvalidParameter, match="no weights"):
        restore_policy(small, "mine", arrays)


def naive_advantages(rewards, dones, agents, decisions, values, next_values, gamma, gae_lambda):
    """Advantages in one environment, agent by agent, from the list of its decisions."""
    steps, actors, _ = values.shape
    advantages = np.full(values.shape, np.nan)
    for a in range(rewards.shape[1]):
        s = a if actors > 1 else 0
        own = [t for t in range(steps) if decisions[t, s] and (actors > 1 or agents[t] == a)]
        for i, t in reversed(list(enumerate(own))):
            end = next((u for u in range(t, steps) if dones[u]), None)
            following = own[i + 1] if i + 1 < len(own) else None
            if end is not None and (following is None or end < following):
                reward_sum, next_value, last_gae = rewards[t : end + 1, a].sum(axis=0), 0.0, 0.0
            elif following is not None:
                reward_sum, next_value = rewards[t:following, a].sum(axis=0), values[following, s]
                last_gae = np.nan_to_num(advantages[following, s])
            elif not np.isnan(next_values[a, 0]):
                reward_sum, next_value, last_gae = rewards[t:, a].sum(axis=0), next_values[a], 0.0
            else:
                continue
            advantages[t, s] = reward_sum + gamma * next_value - values[t, s] + gamma * gae_lambda * last_gae
    return advantages


@pytest.mark.parametrize("actors", [1, 3])
def test_advantages(actors):
    rng = np.random.default_rng(actors)
    steps, num_envs, num_agents, objectives = 12, 40, 3, 2
    rewards = rng.normal(size=(steps, num_envs, num_agents, objectives)).astype(np.float32)
    dones = rng.random((steps, num_envs)) < 0.15
    agents = rng.integers(num_agents, size=(steps, num_envs)).astype(np.int32)
    decisions = rng.random((steps, num_envs, actors)) < 0.8
    values = rng.normal(size=(steps, num_envs, actors, objectives)).astype(np.float32)
    next_values = rng.normal(size=(num_envs, num_agents, objectives)).astype(np.float32)
    next_values[rng.random((num_envs, num_agents)) < 0.5] = np.nan
    out, has_advantage = np.zeros_like(values), np.zeros(decisions.shape, np.bool_)
    workspace = np.zeros((3, objectives))
    compute_advantages(rewards, dones, agents, decisions, values, next_values, 0.9, 0.8, workspace, out, has_advantage)
    for n in range(num_envs):
        expected = naive_advantages(
            rewards[:, n], dones[:, n], agents[:, n], decisions[:, n], values[:, n], next_values[n], 0.9, 0.8
        )
        is_known = has_advantage[:, n]
        assert np.array_equal(is_known, ~np.isnan(expected[..., 0]))
        assert np.allclose(out[:, n][is_known], expected[is_known], atol=1e-5)
    assert not has_advantage[decisions].all()


def test_convolutions_have_the_channels_of_a_cell_side_by_side():
    """This layout, channels_last, is the faster one of PyTorch on processors."""
    torch = pytest.importorskip("torch")
    network = pytest.importorskip("momagames.baselines.moppo.network")
    torso = network.Torso(6, 7, 3, 5, [], 8, 16, 16, 1, 2, 0.0)
    formats = []
    for layer in (torso.conv_in, *torso.residual_convs):
        layer.register_forward_hook(lambda _, given, out: formats.extend([given[0], out]))
    torso(torch.rand(4, 6 * 7 * 3), torch.rand(4, 5))
    assert len(formats) == 4
    assert all(one.is_contiguous(memory_format=torch.channels_last) for one in formats)
