"""What a network sees, and that the kernel and PyTorch give the same answers."""

import numpy as np
import pytest

import momagames
from momagames.baselines.moppo.encoder import FEW, PLACE, sight
from momagames.baselines.moppo.kernels import advantages, encode
from momagames.baselines.moppo.network_policy import NetworkPolicy, inputs, restored, shapes, told_apart
from momagames.baselines.observation_layout import room
from momagames.engine.batch import Batch
from momagames.engine.playouts import deal
from momagames.engine.policies import Players
from momagames.errors import InvalidParameter

SIZE = {"channels": 5, "hidden": 7, "layers": 2}


def random_arrays(game, seed=0):
    luck = np.random.default_rng(seed)
    return {name: luck.normal(0, 0.4, shape).astype(np.float32) for name, shape in shapes(game, sight(game), **SIZE).items()}


def played(game, games=6, plies=5):
    batch = Batch(game, games)
    batch.seed(3)
    batch.reset()
    words = np.arange(games, dtype=np.uint64)
    for _ in range(plies):
        batch.step(batch.choose(words))
    batch.load(batch.states.copy())  # who plays on begins here
    return batch


def seen(game, batch):
    """Planes and numbers of all views, and whose they are."""
    views = batch.masks.shape[1]
    eyes = sight(game)
    rows = batch.observations.reshape(-1, game.observation_bytes)
    boards = np.zeros((len(rows), eyes.cells * len(eyes.planes)), np.float32)
    told = np.zeros((len(rows), inputs(game, eyes)), np.float32)
    encode(rows, room(game), eyes.planes, eyes.numbers, boards, told)
    who = np.tile(np.arange(views), batch.num_envs) if views > 1 else batch.to_move
    return boards, told, who


@pytest.mark.parametrize("id", momagames.ids())
def test_every_game_is_seen_and_played_as_by_pytorch(id):
    torch = pytest.importorskip("torch", reason='needs PyTorch: pip install "momagames[learn]"')
    from momagames.baselines.moppo.network import Network

    game = momagames.spec(id)
    batch = played(game)
    boards, told, who = seen(game, batch)
    eyes = sight(game)
    assert np.isfinite(boards).all()
    assert np.abs(boards).max(initial=0) <= 3
    weights = np.random.default_rng(1).dirichlet(np.ones(len(game.objectives)))
    if told_apart(game):
        told[np.arange(len(told)), len(eyes.numbers) + who] = 1
    told[:, -len(weights) :] = weights
    torch.manual_seed(0)
    network = Network(game, eyes, **SIZE)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, 0, 0.4)
    with torch.no_grad():
        logits = network((torch.from_numpy(boards), torch.from_numpy(told)))[0].numpy()
    policy = NetworkPolicy(game, network.exported())
    players = Players(batch, [policy.kernel(weights.tolist(), True)], np.zeros(len(game.agents), np.int64))
    actions = players.act().reshape(len(told), -1)
    masks, start = batch.masks.reshape(len(told), -1), 0
    compared = 0
    for part, size in enumerate(game.actions):
        legal = masks[:, start : start + size] > 0
        best = np.where(legal, logits[:, start : start + size], -np.inf).argmax(axis=1)
        free = legal.sum(axis=1) > 1
        assert (actions[free, part] == best[free]).all()
        compared += int(free.sum())
        start += size
    assert compared > 0


def test_actions_that_belong_to_cells():
    """Legal moves name cells in the order in which boards lie in memory."""
    for id, kinds in (("mo-samegame-v0", 1), ("mo-breakthrough-v0", 3), ("mo-tileblast-v0", 1)):
        game = momagames.spec(id)
        eyes = sight(game)
        assert eyes.by_cell == kinds
        batch = played(game, plies=4)
        boards, _, _ = seen(game, batch)
        there = boards.reshape(len(boards), eyes.cells, len(eyes.planes)).any(axis=2)
        for row, mask in zip(there, batch.masks[:, 0], strict=True):
            assert row[np.flatnonzero(mask) // kinds].all()
    assert sight(momagames.spec("mo-pommerman-ffa-v0")).by_cell == 0
    assert sight(momagames.spec("mo-robotmail-v0")).cells == 0


def test_values_become_planes():
    game = momagames.spec("mo-pommerman-duel-v0")
    eyes = sight(game)
    batch = played(game)
    boards, _, _ = seen(game, batch)
    planes = boards.reshape(len(boards), eyes.rows, eyes.columns, -1)
    fields = game.observation_views(batch.observations.reshape(-1, game.observation_bytes))
    for code in range(14):
        assert np.array_equal(planes[..., code], fields["board"] == code)
    place = [i for i, piece in enumerate(eyes.planes) if piece[4] == PLACE]
    assert len(place) == 1
    for row, (y, x) in enumerate(fields["position"].tolist()):
        assert np.argwhere(planes[row, :, :, place[0]]).tolist() == [[y, x]]
    strength = planes[..., 14]
    assert np.allclose(strength, np.log1p(fields["bomb_blast_strength"].astype(float)) / np.log(17), atol=1e-6)


def test_planes_that_come_last_and_fractions():
    game = momagames.spec("mo-robotmail-v0", observation="dict")
    eyes = sight(game)
    batch = played(game)
    boards, told, _ = seen(game, batch)
    assert (eyes.rows, eyes.columns, len(eyes.planes)) == (9, 9, 8)
    planes = boards.reshape(len(boards), 9, 9, 8)
    fields = game.observation_views(batch.observations.reshape(-1, game.observation_bytes))
    assert np.array_equal(planes[..., :6], fields["layout"])
    assert np.allclose(planes[..., 6], np.log1p(fields["targets"].astype(float)) / np.log(17), atol=1e-6)
    for number, values in enumerate(fields["observation"].T):
        share, steps = told[:, number * 17], told[:, number * 17 + 1 : (number + 1) * 17]
        assert np.allclose(share, values)
        assert (steps[np.arange(len(values)), np.round(values * (FEW - 1)).astype(int)] == 1).all()
        assert (steps.sum(axis=1) <= 2).all()


def test_drawing_and_taking_the_likeliest():
    """Draws follow the probabilities of what is legal; each weight vector is a policy of its own."""
    game = momagames.spec("mo-samegame-v0", board_height=3, board_width=3, num_colors=2)
    games = 4000
    batch = Batch(game, games)
    batch.load(np.repeat(deal(game, np.array([5], np.uint64)), games))
    policy = NetworkPolicy(game, random_arrays(game))
    drawn = Players(batch, [policy.kernel([0.5, 0.5], False)], [0], seed=1).act()[:, 0, 0].copy()
    likeliest = Players(batch, [policy.kernel([0.5, 0.5], True)], [0], seed=1).act()[:, 0, 0]
    legal = batch.masks[0, 0] > 0
    assert legal[drawn].all()
    assert len(set(likeliest.tolist())) == 1
    counts = np.bincount(drawn, minlength=9)
    assert counts.argmax() == likeliest[0]
    room = Players(batch, [policy.kernel([0.5, 0.5], False)], [0])
    room.act()
    logits = room._rooms[0][5][8].astype(float)
    shares = np.where(legal, np.exp(logits - logits.max()), 0)
    assert np.abs(counts / games - shares / shares.sum()).max() < 0.03


def test_arrays_of_another_game_are_refused():
    small = momagames.spec("mo-samegame-v0", board_height=4, board_width=4, num_colors=2)
    large = momagames.spec("mo-samegame-v0", board_height=5, board_width=4, num_colors=2)
    arrays = random_arrays(small)
    with pytest.raises(InvalidParameter, match="are no network for mo-samegame-v0"):
        NetworkPolicy(large, arrays)
    with pytest.raises(InvalidParameter, match="are no network"):
        NetworkPolicy(small, {**arrays, "head": arrays["head"] * np.nan})
    with pytest.raises(InvalidParameter, match="are no network"):
        NetworkPolicy(small, {})
    member = NetworkPolicy(small, arrays).member("mine", [0.2, 0.8], True)
    again = restored(small, "mine", member.arrays)
    assert (again.label, again.weights) == ("mine", (0.2, 0.8))
    with pytest.raises(InvalidParameter, match="no weights"):
        restored(small, "mine", arrays)


def naive(rewards, ended, movers, acted, values, later, gamma, trace):
    """Advantages of one game, agent by agent, from the list of its decisions."""
    steps, actors, _ = values.shape
    found = np.full(values.shape, np.nan)
    for a in range(rewards.shape[1]):
        s = a if actors > 1 else 0
        mine = [t for t in range(steps) if acted[t, s] and (actors > 1 or movers[t] == a)]
        for i, t in reversed(list(enumerate(mine))):
            end = next((u for u in range(t, steps) if ended[u]), None)
            following = mine[i + 1] if i + 1 < len(mine) else None
            if end is not None and (following is None or end < following):
                paid, ahead, trail = rewards[t : end + 1, a].sum(axis=0), 0.0, 0.0
            elif following is not None:
                paid, ahead = rewards[t:following, a].sum(axis=0), values[following, s]
                trail = np.nan_to_num(found[following, s])
            elif not np.isnan(later[a, 0]):
                paid, ahead, trail = rewards[t:, a].sum(axis=0), later[a], 0.0
            else:
                continue
            found[t, s] = paid + gamma * ahead - values[t, s] + gamma * trace * trail
    return found


@pytest.mark.parametrize("actors", [1, 3])
def test_advantages(actors):
    luck = np.random.default_rng(actors)
    steps, games, agents, goals = 12, 40, 3, 2
    rewards = luck.normal(size=(steps, games, agents, goals)).astype(np.float32)
    ended = luck.random((steps, games)) < 0.15
    movers = luck.integers(agents, size=(steps, games)).astype(np.int32)
    acted = luck.random((steps, games, actors)) < 0.8
    values = luck.normal(size=(steps, games, actors, goals)).astype(np.float32)
    later = luck.normal(size=(games, agents, goals)).astype(np.float32)
    later[luck.random((games, agents)) < 0.5] = np.nan
    out, good = np.zeros_like(values), np.zeros(acted.shape, np.bool_)
    advantages(rewards, ended, movers, acted, values, later, 0.9, 0.8, np.zeros((3, goals)), out, good)
    for n in range(games):
        wanted = naive(rewards[:, n], ended[:, n], movers[:, n], acted[:, n], values[:, n], later[n], 0.9, 0.8)
        assert np.array_equal(good[:, n], ~np.isnan(wanted[..., 0]))
        assert np.allclose(out[:, n][good[:, n]], wanted[good[:, n]], atol=1e-5)
    assert not good[acted].all()
