"""The contract, over every registered id and over a tiny game that uses what the real ones do not."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.contract import Game
from momagames.engine.batch import MODES, Batch
from momagames.engine.episode import Episode, random_legal
from momagames.registry import RETIRED, VERSIONS
from tests import meteors
from tests.cases import GAMES as SMALL_GAMES
from tests.cases import SMALL, group_families, mark_variants, name_case, pick_pairs

GAMES = [*SMALL_GAMES, meteors.game("meteors-v0")]
THREADED = ("mo-samegame-v0", "meteors-v0")  # cheap to compile for several threads, which do the same for every game

every_game = pytest.mark.parametrize("game", GAMES, ids=name_case)
every_game_in_batches = pytest.mark.parametrize("game", mark_variants(GAMES), ids=name_case)
every_family = pytest.mark.parametrize("game", [family[0] for family in group_families(GAMES)], ids=name_case)


def test_pairs_cover_every_game_and_in_each_family_every_way() -> None:
    for ways in ("ab", "abcdefghijkl"):
        pairs = pick_pairs(GAMES, ways)
        assert {id(game) for game, _ in pairs} == set(map(id, GAMES))
        for family in group_families(GAMES):
            assert {way for game, way in pairs if any(game is one for one in family)} == set(ways)
        assert len(pairs) == len({(id(game), way) for game, way in pairs})
    families = group_families(SMALL)
    assert sorted(id for family in families for id in family) == sorted(SMALL)
    assert [len(momagames.spec(family[0]).actions) for family in families if "mo-pommerman-radio-v0" in family] == [3]
    assert [case.values[0].rules_key for case in mark_variants(GAMES) if case.marks] == [
        "tileblast.strict",
        "item_gathering.central",
    ]


def is_to_act(env: MultiObjectiveAEC, agent: str) -> bool:
    """Whether an agent acts next, or in this round; or would, had the episode not been truncated."""
    order, selected = env.agents, env.agent_selection
    if env.terminations[agent] or env.game.sequential:
        return not env.terminations[agent] and agent == env.possible_agents[env.episode.mover]
    is_round_over = env.terminations[selected] or env.truncations[selected]
    return is_round_over or order.index(agent) >= order.index(selected)


def play_out(env: MultiObjectiveAEC, seed: int) -> list[NDArray[np.float32]]:
    """Random legal play to the very end, checking PettingZoo's books on the way; the rewards of every step."""
    rng = np.random.default_rng(seed)
    collected = {agent: env._cumulative_rewards[agent].astype(float) for agent in env.possible_agents}
    received = {agent: np.zeros(len(env.game.objectives)) for agent in env.possible_agents}
    steps = []
    while env.agents:
        agent = env.agent_selection
        seen, reward, terminated, truncated, _ = env.last()
        assert env.observation_space(agent).contains(seen), f"{agent} sees something outside its space"
        again = env.last()[1]
        assert np.array_equal(reward, again)
        received[agent] += reward
        over = terminated or truncated
        for other in env.agents:
            mask = np.hstack(env.observe(other)["action_mask"])
            if not env.game.can_pass:
                assert mask.any() == is_to_act(env, other), f"mask of {other} while {agent} is selected"
            i = env.possible_agents.index(other)
            assert not env.episode.mask(i)[sum(env.game.action_sizes(i)) :].any(), f"{other} has fewer actions"
        env.step(None if over else random_legal(np.hstack(seen["action_mask"]), env.game.actions, rng))
        if not over:
            for name, row in env.rewards.items():
                assert row.dtype == np.float32
                assert env.reward_space(name).contains(row), f"{name} is paid {row}"
                collected[name] += row
            steps.append(np.array(list(env.rewards.values())))
    for agent in env.possible_agents:
        assert np.allclose(collected[agent], received[agent]), f"last() pays {agent} in full"
    return steps


@every_game
def test_a_seed_gives_one_game_within_its_bounds(game: Game) -> None:
    first, second = MultiObjectiveAEC(game), MultiObjectiveAEC(game)
    for seed in range(2):
        first.reset(seed=seed)
        rewards = play_out(first, seed)
        assert 0 < int(first.episode.state["ply"]) <= game.max_episode_steps
        for k, objective in enumerate(game.objectives):
            returns = first.returns[:, k]
            assert (returns >= objective.return_low - 1e-6).all()
            assert (returns <= objective.return_high + 1e-6).all()
            assert game.reference_point[k] <= objective.return_low
    second.reset(seed=seed)
    again = play_out(second, seed)
    assert len(rewards) == len(again)
    assert all(np.array_equal(x, y) for x, y in zip(rewards, again, strict=True))
    first.reset()  # without a seed the stream goes on, the same in both
    second.reset()
    assert first.get_state() == second.get_state()


@every_game
def test_declared_facts_agree(game: Game) -> None:
    assert len(game.teams) == len(game.agents)
    assert len(game.reference_point) == len(game.objectives)
    assert {p.name for p in game.parameters} >= set(game.params)
    assert sum(game.dtype.fields[name][0].itemsize for name in game.dtype.names) == game.dtype.itemsize  # no hidden bytes
    assert game.dtype.itemsize < 4096 + 8 * len(game.blank_state["gone"])  # a few bytes for each agent
    for field in game.fields:
        assert game.observation_views(np.zeros((2, game.observation_bytes), np.uint8))[field.name].shape == (2, *field.shape)


def find_unreset_fields(game: Game) -> list[str]:
    """Fields of the record in which a reset after some play differs from that of a fresh environment, except transient ones."""
    played, fresh, rng = Episode(game), Episode(game), np.random.default_rng(0)
    transient, found = game.codec.transient, set()
    for seed in range(6):
        played.reset(seed)
        steps = game.max_episode_steps if seed % 2 else 5 * game.actors
        while steps and not played.state["over"]:
            for row, agent in enumerate([played.mover] if game.sequential else range(len(game.agents))):
                mask = played.mask(agent)
                played.pending[row] = random_legal(mask, game.actions, rng) if mask.any() else 0
            played.step(int(played.pending[0, 0]) if played.pending.size == 1 else played.pending)
            steps -= 1
        played.reset(seed + 1)
        fresh.reset(seed + 1)
        found |= {name for name in game.dtype.names if not np.array_equal(played.state[name], fresh.state[name])}
    return sorted(name for name in found if not name.startswith("_") and name not in transient)


@every_game
def test_a_reset_forgets_the_last_episode(game: Game) -> None:
    fields = ", ".join(find_unreset_fields(game))
    assert not fields, (
        f"{game.id}: a reset keeps {fields} of the last episode: write every field of your own in `generate`, "
        "or name in Codec(transient=...) the fields that no rule reads before it writes them"
    )


def test_a_field_that_generate_does_not_write_is_found() -> None:
    game = meteors.game("meteors-v0")
    forgetful = replace(game, kernels=replace(game.kernels, generate=meteors.generate_places), rules_key="tests.forgetful")
    assert not find_unreset_fields(game)
    assert find_unreset_fields(forgetful) == ["still", "word"]
    assert not find_unreset_fields(replace(forgetful, codec=replace(game.codec, transient=("still", "word"))))


@every_family
def test_pickles_before_the_first_reset(game: Game) -> None:
    env = MultiObjectiveAEC(game)
    other = pickle.loads(pickle.dumps(env))
    for one in (env, other):
        one.reset(seed=3)
    assert repr(env.get_state()) == repr(other.get_state())


def start_playing(game: Game) -> MultiObjectiveAEC:
    """An environment after a few steps of an episode."""
    env = MultiObjectiveAEC(game)
    rng = np.random.default_rng(0)
    steps = 3 if game.sequential else 2 * game.actors if game.max_episode_steps > 1 else 0
    for seed in range(8, 100):  # a short game may be over after these steps
        env.reset(seed=seed)
        for _ in range(steps):
            if not env.episode.state["over"]:
                env.step(random_legal(np.hstack(env.observe(env.agent_selection)["action_mask"]), game.actions, rng))
        if not env.episode.state["over"]:
            return env
    pytest.fail(f"{game.id}: in tests/games/*/cases.py, write parameters of games of more than {steps} steps in SMALL")


FORMS = {
    "dict": lambda env: env.get_state(),
    "json": lambda env: json.loads(json.dumps(env.get_state())),
    "text": lambda env: env.game.codec.show(env.episode.state),
    "record": lambda env: env.record,
}
COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


def restore(env: MultiObjectiveAEC, form: str) -> MultiObjectiveAEC:
    """Another environment in the same position, which was given in a form, or a copy."""
    if form in COPIES:
        return COPIES[form](env)
    other = MultiObjectiveAEC(env.game)
    other.reset(seed=99)
    other.reset(options={"state": FORMS[form](env)})
    return other


@every_game
def test_a_position_in_any_form_is_the_same(game: Game) -> None:
    env = start_playing(game)
    for form in (*FORMS, *COPIES):
        other = restore(env, form)
        assert other.get_state() == env.get_state(), form
        if form in COPIES:
            assert all(np.array_equal(other._cumulative_rewards[a], env._cumulative_rewards[a]) for a in env.agents)


@pytest.mark.parametrize(("game", "form"), pick_pairs(GAMES, [*FORMS, *COPIES]), ids=name_case)
def test_a_restored_position_continues_equally(game: Game, form: str) -> None:
    env = start_playing(game)
    other = restore(env, form)
    before = env.get_state()
    a, b = play_out(other, 5), play_out(env, 5)
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert len(a) == len(b)
    assert env.get_state() != before


@every_game_in_batches
def test_batch_equals_single_environments(game: Game) -> None:
    """Environment i of a batch is the single environment with seed + i, step by step, whatever the size and threads.

    All play until the last episode has ended, and the batches a little longer.
    """
    n, further_steps = 5, 3
    batches = [Batch(game, n), Batch(game, n, threads=1 + (game.id in THREADED), views="all"), Batch(game, 3)]
    for batch in batches:
        batch.seed(40)
        batch.reset()
    singles = [MultiObjectiveAEC(game) for _ in range(n)]
    for i, env in enumerate(singles):
        env.reset(seed=40 + i)
    words = np.arange(n, dtype=np.uint64)
    while further_steps:
        further_steps -= not any(env.agents for env in singles)
        actions = batches[0].sample_actions(words).copy()
        for i, env in enumerate(singles):
            if env.agents and not any(env.terminations.values()):
                seen = env.observe(env.agent_selection)
                row = batches[0].observations[i, 0] if game.sequential else batches[0].observations[i]
                for name, field in game.observation_views(row).items():
                    assert np.array_equal(field if game.sequential else field[0], seen[name])
                mask = np.hstack(seen["action_mask"])  # may be shorter, see Game.agent_actions
                assert np.array_equal(batches[0].masks[i, 0], np.pad(mask, (0, game.mask_size - len(mask))))
                for agent in env.agents if game.sequential and i == 0 else ():
                    row, seen = batches[1].observations[i, env._index[agent]], env.observe(agent)
                    assert all(np.array_equal(field, seen[name]) for name, field in game.observation_views(row).items())
        for batch in batches:
            assert batch.find_illegal_env(actions[: batch.num_envs]) == -1
            batch.step(actions[: batch.num_envs])
        for i, env in enumerate(singles):
            if env.agents and not any((*env.terminations.values(), *env.truncations.values())):
                for agent in list(env.agents) if not game.sequential else [env.agent_selection]:
                    row = actions[i, env._index[agent] if not game.sequential else 0]
                    env.step(int(row[0]) if len(row) == 1 else row)
                assert np.array_equal(env.episode.reward, batches[0].rewards[i])
                assert [env.terminations[a] for a in env.agents] == batches[0].terminated[i].tolist()
                assert [env.truncations[a] for a in env.agents] == batches[0].truncated[i].tolist()
            else:
                env.agents = []  # a batch goes on with a new game; the single one stops here
        a, b, c = batches
        assert a.states.tobytes() == b.states.tobytes()
        assert a.states[:3].tobytes() == c.states.tobytes()
        assert np.array_equal(a.rewards, b.rewards)
        assert np.array_equal(a.returns[:3], c.returns)
        if game.sequential:
            assert all(np.array_equal(a.observations[i, 0], b.observations[i, b.to_move[i]]) for i in range(n))


@pytest.mark.parametrize(("game", "mode"), mark_variants(pick_pairs(GAMES, MODES)), ids=name_case)
def test_autoreset(game: Game, mode: str) -> None:
    batch = Batch(game, 4, autoreset=mode)
    batch.seed(1)
    batch.reset()
    words = np.arange(4, dtype=np.uint64)
    ended = np.zeros(4, bool)
    sums = np.zeros_like(batch.returns)
    for _ in range(game.max_episode_steps + 2):
        batch.step(batch.sample_actions(words))
        if mode == "next_step":
            assert not batch.rewards[ended].any(), "the step that starts a new game pays nothing"
            assert (batch.states["ply"][ended] == 0).all()
        if mode == "disabled":
            assert not batch.finished[ended].any(), "an ended game stays ended"
            assert (batch.terminated | batch.truncated)[ended].all()
        sums += batch.rewards
        fresh = batch.finished.copy()
        assert np.allclose(batch.returns[fresh], sums[fresh], atol=1e-4)
        assert ((batch.terminated | batch.truncated).all(axis=1) == (fresh | (ended & (mode == "disabled")))).all()
        if mode == "same_step":
            assert (batch.states["ply"][fresh] == 0).all()
            is_cut, is_decided = batch.truncated.any(axis=1), batch.terminated.any(axis=1)
            assert not batch.final_masks[fresh & ~is_cut].any()
            assert game.can_pass or batch.final_masks[fresh & ~is_decided].any(axis=(1, 2)).all()
        sums[fresh] = 0
        ended = (ended & (mode == "disabled")) | fresh
        if mode == "disabled" and ended.all():
            batch.reset(np.array([True, False, True, False]))
            assert (batch.states["ply"] > 0).tolist() == [False, True, False, True]
            break
    assert ended.any() or mode != "disabled"


def row_of(seen: object, i: int) -> object:
    """What is seen of environment i."""
    return {name: field[i] for name, field in seen.items()} if isinstance(seen, dict) else np.asarray(seen)[i]


@pytest.mark.parametrize(("game", "views"), mark_variants(pick_pairs(GAMES, ["mover", "all"])), ids=name_case)
def test_vector_api(game: Game, views: str) -> None:
    from momagames.adapters.vector import MultiObjectiveVectorEnv

    env = MultiObjectiveVectorEnv(game, 5, views=views, autoreset="same_step")
    ending = MultiObjectiveVectorEnv(game, 5, views=views, autoreset="disabled")  # keeps the last observations
    seen, infos = env.reset(seed=2)
    ending.reset(seed=2)
    assert isinstance(env, gymnasium.vector.VectorEnv)
    words = np.arange(5, dtype=np.uint64)
    episodes, steps, ended = 0, 0, set()
    while episodes < 5:
        steps += 1
        assert steps <= 3 * game.max_episode_steps
        assert env.observation_space.contains(seen)
        assert np.shares_memory(infos["action_mask"], env.batch.masks)
        actions = env.batch.sample_actions(words).copy()
        given = actions[:, 0, 0] if actions[0].size == 1 else actions
        seen, rewards, terminated, truncated, infos = env.step(given)
        last = ending.step(given)[0]
        assert all(env.reward_space.contains(row) for row in rewards)
        alone = len(game.agents) == 1
        assert terminated.shape == truncated.shape == ((5,) if alone else (5, len(game.agents)))
        if "_final_return" in infos:
            episodes += int(infos["_final_return"].sum())
            assert infos["final_return"].shape == rewards.shape
            for i in np.flatnonzero(infos["_final_obs"]):  # the other rows say nothing
                final = row_of(infos["final_obs"], i)
                assert env.single_observation_space.contains(final)
                if i not in ended:
                    np.testing.assert_equal(final, row_of(last, i))
                    ended.add(i)


@every_game
def test_illegal_actions(game: Game) -> None:
    bad = game.actions[0] if len(game.actions) == 1 else [game.actions[0]] + [0] * (len(game.actions) - 1)
    env = MultiObjectiveAEC(game)
    env.reset(seed=1)
    before = env.get_state()
    for action in (bad, -1, None, "left", 0.5, [0] * (len(game.actions) + 1), [[1]]):
        with pytest.raises(momagames.MomagamesError, match=r"illegal action=.* expected one of .* legal actions"):
            env.step(action)
    assert env.get_state() == before
    assert env.agent_selection == env.agents[0]

    env = MultiObjectiveAEC(game, illegal="random")
    env.reset(seed=1)
    for _ in range(game.actors):
        env.step(bad)
    assert env.episode.state["ply"] == 1

    env = MultiObjectiveAEC(game, illegal="forfeit")
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(bad)
    assert all(env.terminations.values())
    for k, objective in enumerate(game.objectives):
        assert env.rewards[offender][k] == np.float32(objective.low)
        for other in env.agents[1:]:
            assert env.rewards[other][k] == np.float32(-objective.low if objective.zero_sum else 0)
    while env.agents:
        env.last()
        env.step(None)


@every_game_in_batches
def test_illegal_actions_in_a_batch(game: Game) -> None:
    from momagames.adapters.vector import MultiObjectiveVectorEnv

    def start(illegal: str) -> tuple[MultiObjectiveVectorEnv, NDArray[np.int64]]:
        env = MultiObjectiveVectorEnv(game, 3, illegal=illegal)
        env.reset(seed=6)
        actions = env.batch.sample_actions(np.arange(3, dtype=np.uint64)).copy()
        actions[1] = game.actions[0]
        return env, actions

    env, actions = start("raise")
    before = env.batch.states.copy()
    with pytest.raises(momagames.MomagamesError, match=f"illegal action=.* of {game.agents[0]} in environment 1"):
        env.step(actions)
    assert env.batch.states.tobytes() == before.tobytes()

    env, actions = start("random")
    env.step(actions)
    assert (env.batch.states["ply"] == 1).all()

    env, actions = start("forfeit")
    _, _, terminated, _, infos = env.step(actions)
    others = game.max_episode_steps == 1  # end in this step, too
    assert np.asarray(terminated).reshape(3, -1).all(axis=1).tolist() == [others, True, others]
    assert infos["_final_length"].tolist() == [others, True, others]
    assert np.array_equal(env.batch.returns[1], game.forfeit_reward(0))


@every_game
def test_bad_states_change_nothing(game: Game) -> None:
    env = MultiObjectiveAEC(game)
    env.reset(seed=4)
    before = env.get_state(), env._cumulative_rewards.copy()
    for junk in (7, None, [], {}, {"board": 3}, "", "nonsense", {"place": "x"}, np.zeros(3)):
        with pytest.raises(momagames.MomagamesError, match=game.id):
            env.reset(options={"state": junk})
        assert (env.get_state(), env._cumulative_rewards) == before, junk


@every_family
def test_order_is_enforced(game: Game) -> None:
    env = MultiObjectiveAEC(game, render_mode="ansi")
    for call in ("last", "observe", "step", "state", "render", "get_state"):
        arguments = {"observe": (game.agents[0],), "step": (0,)}.get(call, ())
        with pytest.raises(momagames.MomagamesError, match=r"before reset\(\)"):
            getattr(env, call)(*arguments)


def test_every_id_is_covered() -> None:
    assert set(SMALL) >= set(VERSIONS)
    assert not set(RETIRED) & set(VERSIONS)
