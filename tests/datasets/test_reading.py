"""Episodes and decisions are those of the environments, and agents see what they may see."""

from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames import datasets
from momagames.datasets.replaying import replay_shard
from momagames.datasets.shards import parse_shard, write_shard
from momagames.errors import InvalidFile, InvalidParameter
from tests.datasets.small import BREAKTHROUGH, GEMWALK, GREEDY, RADIO, RANDOM, ROBOTS, part, recipe

pytest.importorskip("pyarrow")

VIEW, FOG = 4, 5  # SPEC.md of Pommerman
SIMPLE = {"name": "simple", "options": {}}
PARTS = {
    "gemwalk": part("medium", GEMWALK, [GREEDY], 12),
    "breakthrough": part("mixed", BREAKTHROUGH, [RANDOM, GREEDY], 4),
    "robots": part("random", ROBOTS, episodes=2),
    "radio": part("medium", RADIO, [SIMPLE], 2),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return datasets.make(recipe(*PARTS.values()), tmp_path_factory.mktemp("data") / "x")


def environments(episode, name):
    """An environment of the single-environment API at the start of an episode."""
    env = momagames.make(PARTS[name]["game"]["id"], **PARTS[name]["game"]["params"])
    env.reset(seed=episode.seed)
    return env


@pytest.mark.parametrize("name", ["gemwalk", "breakthrough", "robots"])
def test_episodes_are_those_of_the_aec_api(data, name):
    for episode in data.episodes(game=PARTS[name]["game"]["id"]):
        env = environments(episode, name)
        returns = np.zeros_like(episode.returns)
        for t in range(len(episode)):
            agent = env.agent_selection
            assert env.possible_agents.index(agent) == episode.agents[t, 0]
            seen = env.observe(agent)
            for field, array in episode.observations.items():
                assert np.array_equal(array[t, 0], seen[field])
            assert np.array_equal(episode.masks[t, 0], seen["action_mask"])
            assert not episode.terminated[t - 1].any() or t == 0
            env.step(int(episode.actions[t, 0, 0]))
            returns += episode.rewards[t]
        assert np.allclose(env.returns, returns)
        assert np.array_equal(env.returns, episode.returns)
        assert episode.terminated[-1].all() or episode.truncated[-1].all()
        assert list(env.terminations.values()) == episode.terminated[-1].tolist()


def test_episodes_of_agents_that_move_at_once(data):
    for episode in data.episodes(game=RADIO["id"]):
        env = momagames.make(RADIO["id"], api="parallel")
        observations, _ = env.reset(seed=episode.seed)
        for t in range(len(episode)):
            for i, agent in enumerate(env.possible_agents):
                if agent in env.agents:
                    for field, array in episode.observations.items():
                        assert np.array_equal(array[t, i], observations[agent][field])
            moves = {agent: episode.actions[t, env.possible_agents.index(agent)] for agent in env.agents}
            observations, rewards, terminations, truncations, _ = env.step(moves)
            for agent, reward in rewards.items():
                i = env.possible_agents.index(agent)
                assert np.array_equal(reward, episode.rewards[t, i])
                assert terminations[agent] == episode.terminated[t, i]
                assert truncations[agent] == episode.truncated[t, i]
        assert not env.agents


def test_what_is_hidden_is_not_observed(data):
    """Cells farther than the view of an agent are fog to it, whatever is there."""
    episode = next(data.episodes(game=RADIO["id"]))
    boards, positions = episode.observations["board"], episode.observations["position"]
    cells = np.stack(np.indices(boards.shape[2:]), axis=-1)
    for agent in range(4):
        distance = abs(cells - positions[0, agent]).max(axis=-1)
        assert (boards[0, agent][distance > VIEW] == FOG).all()
        assert (boards[0, agent][distance <= VIEW] != FOG).all()
    assert not np.array_equal(boards[0, 0], boards[0, 1])


def test_preferences_and_policies(data):
    seen = set()
    for episode in data.episodes(tier="mixed"):
        for agent, policy in enumerate(episode.policies):
            seen.add(policy)
            assert np.isnan(episode.preferences[agent]).all() == (policy == "random")
            if policy != "random":
                assert episode.preferences[agent].sum() == 1
    assert len(seen) > 1
    assert {one.policies for one in data.episodes(tier="medium", game=GEMWALK["id"])} == {("w=(1, 0)",), ("w=(0, 1)",)}


def test_decisions_have_what_episodes_have(data):
    for name, chosen in PARTS.items():
        batches = list(data.batches(7, game=chosen["game"]["id"]))
        assert all(len(one) <= 7 for one in batches)
        rows = iter([(one, i) for one in batches for i in range(len(one))])
        for episode in data.episodes(game=chosen["game"]["id"]):
            left = np.zeros(len(episode.returns), bool)
            for t in range(len(episode)):
                for v, agent in enumerate(episode.agents[t]):
                    if left[agent]:
                        continue
                    batch, i = next(rows)
                    assert (batch.agents[i], batch.steps[i], batch.episodes[i]) == (agent, t, episode.number), name
                    assert np.array_equal(batch.actions[i], episode.actions[t, v])
                    assert np.array_equal(batch.masks[i], episode.masks[t, v])
                    for field, array in batch.observations.items():
                        assert np.array_equal(array[i], episode.observations[field][t, v])
                    to_go = episode.rewards[t:, agent].sum(axis=0, dtype=np.float64)
                    assert np.allclose(batch.returns_to_go[i], to_go, atol=1e-5)
                    assert np.allclose(batch.returns[i], episode.returns[agent], atol=1e-5)
                    assert np.array_equal(batch.preferences[i], episode.preferences[agent], equal_nan=True)
                    assert batch.states is None
                left |= episode.terminated[t]
        assert next(rows, None) is None


def test_rewards_of_decisions_end_at_the_next_decision(data):
    """The rewards of an agent from its first decision on add up to its return to go there."""
    rows = next(data.batches(10**6, game=BREAKTHROUGH["id"]))
    for episode in set(rows.episodes.tolist()):
        for agent in range(2):
            own = (rows.episodes == episode) & (rows.agents == agent)
            assert np.allclose(rows.rewards[own].sum(axis=0), rows.returns_to_go[own][0], atol=1e-5)
            assert rows.is_last[own].tolist() == [False] * (own.sum() - 1) + [True]


def test_batches_are_shuffled_by_seed(data):
    def read(seed):
        return np.concatenate([one.rows for one in data.batches(16, game=GEMWALK["id"], seed=seed)])

    assert np.array_equal(read(1), read(1))
    assert not np.array_equal(read(1), read(2))
    assert np.array_equal(np.sort(read(1), axis=0), np.sort(read(None), axis=0))


def test_selections_are_checked(data):
    with pytest.raises(InvalidParameter, match="invalid tier='expret': expected 'medium', 'mixed' or 'random'"):
        next(data.episodes(tier="expret"))
    with pytest.raises(InvalidParameter, match="did you mean 'mo-gemwalk-v0'"):
        next(data.batches(8, game="mo-gemwlk-v0"))
    with pytest.raises(InvalidParameter, match="no episodes of tier='mixed' and game='mo-gemwalk-v0'"):
        next(data.episodes("mixed", GEMWALK["id"]))
    with pytest.raises(InvalidParameter, match="a game or tier that selects one"):
        next(data.batches(8))
    with pytest.raises(InvalidParameter, match="batch_size"):
        next(data.batches(0, game=GEMWALK["id"]))


def change(array, index, value):
    changed = array.copy()
    changed[index] = value
    return changed


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda s: replace(s, returns=change(s.returns, (3, 0, 0), 1e6)), "episode 3 of the file: other returns"),
        (lambda s: replace(s, actions=change(s.actions, (0, 0, 0), 200)), "episode 0 of the file: step 0: an illegal action"),
        (lambda s: replace(s, seeds=change(s.seeds, 2, 1)), "episode 2 of the file"),
        (
            lambda s: replace(s, lengths=s.lengths - np.eye(1, len(s), len(s) - 1, dtype=np.int32)[0]),
            "episode 9 of the file: ends",
        ),
    ],
)
def test_forged_episodes_are_found(data, forge, message):
    """Their checksum may be right: what a file holds is checked before the rules read it, and its returns afterwards."""
    info = data.select_shards(game=GEMWALK["id"])[0]
    shard = data.read_shard(info)
    with pytest.raises(InvalidFile, match=message):
        list(replay_shard(data.games[info.part], forge(shard), "place"))


def test_files_of_other_content_are_refused(data, tmp_path):
    game = data.games[0]
    other = data.read_shard(data.select_shards(game=BREAKTHROUGH["id"])[0])
    path = tmp_path / "x.parquet"
    write_shard(path, other, 0, np.zeros((5, 4), np.float32))
    for content in (b"", b"PAR1", path.read_bytes(), path.read_bytes()[:-9]):
        with pytest.raises(InvalidFile, match="place: not a file of a dataset"):
            parse_shard(content, "place", game)


def test_files_are_read_as_they_were_written(data, tmp_path):
    info = data.select_shards(game=RADIO["id"])[0]
    shard, path = data.read_shard(info), tmp_path / "x.parquet"
    write_shard(path, shard, 0, np.zeros((1, 6), np.float32))
    assert parse_shard(path.read_bytes(), "x", data.games[info.part]).hash_content() == shard.hash_content()


def test_sizes_are_checked_before_columns_are_decoded(data, tmp_path, monkeypatch):
    """A file of some kB can hold very many equal values, or one episode longer than any of the game."""
    info = data.select_shards(game=GEMWALK["id"])[0]
    shard, path, game = data.read_shard(info), tmp_path / "x.parquet", data.games[info.part]
    longest, count = game.max_episode_steps, len(shard)

    def expect_refusal(lengths, message):
        actions = np.zeros((sum(lengths), 1, 1), shard.actions.dtype)
        forged = replace(shard, lengths=np.array(lengths, np.int32), actions=actions)
        write_shard(path, forged, 0, np.zeros((5, len(game.objectives)), np.float32))
        with pytest.raises(InvalidFile, match=message):
            parse_shard(path.read_bytes(), "place", game)

    expect_refusal([longest + 1] + [0] * (count - 1), f"an episode of {longest + 1} steps: expected at most {longest}")
    expect_refusal([10**6] + [0] * (count - 1), "values of actions: expected at most")
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("momagames.datasets.shards.MAX_EPISODES", count - 1)
    expect_refusal([0] * count, f"{count} episodes: expected at most {count - 1}")
