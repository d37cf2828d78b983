"""Agents and scripts that are written for the original package."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from types import SimpleNamespace

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method
from momagames.benchmark import match
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.errors import IllegalAction, InvalidCall, InvalidFile, InvalidParameter, InvalidState, RemoteError, UnknownId
from momagames.games.pommerman import original
from momagames.games.pommerman.original.http_agent import parse_addresses
from momagames.games.pommerman.original.observations import final_reward, parse_action
from tests.games.pommerman import original_agents
from tests.games.pommerman.original_agents import Mistaken, Mute, Sampler, Talker, Wanderer

pytestmark = pytest.mark.compiled

HERE = original_agents.__name__
KEYS = {
    "alive", "board", "bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life", "game_type", "game_env",
    "position", "blast_strength", "can_kick", "teammate", "ammo", "enemies", "step_count",
}  # fmt: skip
PICTURE = (
    "00000000"
    "0a020000"
    "00000000"
    "02030000"
    "00004000"
    "00000000"
    "000000b0"
    "00000000"
)  # fmt: skip
POSITION = {
    "board": PICTURE,
    "agents": [[1, 1, 1, 2, 3, 1], [1, 6, 6, 0, 2, 0]],
    "bombs": [[3, 3, 4, 3, 1, 2]],
    "flames": [[4, 4, 1]],
    "items": [[1, 3, 7]],
    "step_count": 40,
}


@pytest.fixture(autouse=True)
def forget_agents() -> None:
    Wanderer.made.clear()


# ------------------------------------------------------------------------------------------------------- observations


def test_observations_have_the_values_and_types_of_the_original() -> None:
    env = original.OriginalEnv("OneVsOne-v0", [Mute(), Mute()])
    env._position = POSITION
    first, second = env.reset()
    assert set(first) == KEYS
    assert first["board"].dtype == np.uint8
    assert first["board"][1, 1] == 10
    assert first["board"][6, 6] == 11
    for name in ("bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life"):
        assert first[name].dtype == np.float64
        assert np.count_nonzero(first[name]) == 1
    bomb = [first[name][3, 3] for name in ("bomb_blast_strength", "bomb_life", "bomb_moving_direction")]
    assert bomb == [3.0, 4.0, 2.0]
    assert first["flame_life"][4, 4] == 2.0
    plain = {name: first[name] for name in KEYS if not isinstance(first[name], np.ndarray)}
    assert plain == {
        "alive": [10, 11], "game_type": 4, "game_env": "pommerman.envs.v0:Pomme", "position": (1, 1), "blast_strength": 3,
        "can_kick": True, "teammate": original.Item.AgentDummy, "ammo": 2, "enemies": [original.Item.Agent1], "step_count": 40,
    }  # fmt: skip
    assert type(plain["position"][0]) is int
    assert plain["can_kick"] is True
    assert second["enemies"] == [original.Item.Agent0]


@pytest.mark.parametrize("params", [{}, {"observation": "planes"}, {"observation": "planes", "egocentric": True}])
def test_agents_see_the_same_whatever_learners_see(params: dict) -> None:
    match("mo-pommerman-team-v0", [original.make_policy(Wanderer), "simple"], games=1, max_reruns=0, max_steps=30, **params)
    mine = Wanderer.made[0].seen
    assert set(mine[0]) == KEYS
    assert mine[0]["board"].shape == (11, 11)
    assert mine[0]["board"][0, 0] != 5  # in sight of agent 0
    assert mine[0]["board"][10, 10] == 5
    assert mine[0]["teammate"] == original.Item.Agent2
    assert mine[0]["enemies"] == [original.Item.Agent1, original.Item.Agent3, original.Item.AgentDummy]


def test_members_are_those_of_the_package_that_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    item = Enum("Item", {one.name: one.value for one in original.Item})
    theirs = SimpleNamespace(Item=item, GameType=original.GameType)
    monkeypatch.setitem(sys.modules, "pommerman.constants", theirs)
    env = original.OriginalEnv("OneVsOne-v0", [Mute(), Mute()])
    assert env.reset()[0]["teammate"] is theirs.Item.AgentDummy


# ----------------------------------------------------------------------------------------------------------- policies


def test_agents_play_by_name_in_matches_and_suites() -> None:
    name = f"original:{HERE}:Wanderer"
    result = match("mo-pommerman-ffa-v0", [name, "stationary"], games=2, max_reruns=0, max_steps=20)
    assert result.players == (name, "stationary")
    assert result.ties == 2
    assert sorted(one.id for one in Wanderer.made) == [0, 1, 2, 3]  # the seats rotate
    assert {one.game_type for one in Wanderer.made} == {original.GameType.FFA}
    assert [one.rewards for one in Wanderer.made] == [[-1]] * 4  # a tie
    assert all(len(one.seen) == 20 for one in Wanderer.made)
    game = momagames.spec("mo-pommerman-ffa-v0")
    policies = method(name, game)().policies(game)
    assert policies[0].label == name
    Wanderer.made.clear()
    game = momagames.spec("mo-pommerman-duel-v0", max_steps=5)
    states = generate_starts(game, np.arange(2, dtype=np.uint64))
    seats, words = np.array([[0, 1], [1, 0]]), np.arange(4, dtype=np.uint64).reshape(2, 2)
    play_policies(game, states, [*policies, batch_policy("stationary", game)], seats, words)
    assert sorted((one.id, len(one.seen), *one.rewards) for one in Wanderer.made) == [(0, 5, -1), (1, 5, -1)]


def test_an_unknown_class_is_named() -> None:
    with pytest.raises(UnknownId, match="Unknown"):
        match("mo-pommerman-ffa-v0", [f"original:{HERE}:Unknown", "simple"], games=1)


@pytest.mark.parametrize("others", [f"original:{HERE}:Wanderer", original.make_policy(Wanderer)], ids=["name", "object"])
def test_agents_play_as_others(others: object) -> None:
    env = momagames.make("mo-pommerman-duel-v0", api="gymnasium", others=others, max_steps=8)
    env.reset(seed=1)
    for _ in range(8):
        env.step(0)
    (other,) = Wanderer.made
    assert other.id == 1
    assert [one["step_count"] for one in other.seen] == list(range(8))
    assert other.rewards == [-1]


def test_matches_repeat_although_agents_draw_from_global_generators() -> None:
    random.seed(5)
    before = random.getstate()
    results = []
    for seed in (1, 1, 2):
        Wanderer.made.clear()
        match(
            "mo-pommerman-duel-v0",
            [original.make_policy(Wanderer), original.make_policy(Sampler)],
            games=2,
            seed=seed,
            max_reruns=0,
        )
        results.append([one.actions for one in Wanderer.made])
    assert results[0] == results[1] != results[2]
    assert random.getstate() == before


def test_agents_talk_by_radio_and_are_silent_without() -> None:
    match(
        "mo-pommerman-radio-v0", [original.make_policy(Talker), original.make_policy(Mute)], games=1, max_reruns=0, max_steps=5
    )
    talker = next(one for one in Wanderer.made if one.id == 0)
    assert talker.seen[0]["message"] == (0, 0)
    assert talker.seen[1]["message"] == (3, 7)
    match(
        "mo-pommerman-team-v0", [original.make_policy(Talker), original.make_policy(Mute)], games=1, max_reruns=0, max_steps=5
    )


def test_an_invalid_action_is_named() -> None:
    with pytest.raises(IllegalAction, match=r"invalid action=6: expected a move 0\.\.5"):
        match("mo-pommerman-ffa-v0", [original.make_policy(Mistaken), "simple"], games=1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (2, 2), (np.int64(3), 3), (np.array(4), 4), (original.Action.Bomb, 5), (True, 1), ((1, 2, 3), 1), ([5], 5),
        (np.array([2, 0, 0]), 2),
    ],
)  # fmt: skip
def test_forms_of_actions(given: object, expected: int) -> None:
    assert parse_action(momagames.spec("mo-pommerman-ffa-v0"), given) == expected


@pytest.mark.parametrize("given", [None, "up", 1.0, (1, 2), (1, 9, 0), [], -1, [[1]]])
def test_what_is_no_action(given: object) -> None:
    with pytest.raises(IllegalAction, match="expected a move"):
        parse_action(momagames.spec("mo-pommerman-radio-v0"), given)


def test_final_rewards_are_those_of_the_original() -> None:
    """The last reward of the objective `outcome_original`, whoever wins."""
    for id in ("mo-pommerman-duel-v0", "mo-pommerman-team-v0", "mo-pommerman-ffa-v0"):
        env = momagames.make_vec(id, 64, objectives=("outcome_original",), autoreset="disabled", max_steps=200)
        env.reset(seed=3)
        rng = np.random.default_rng(0)
        last = np.zeros((64, len(env.agents)))
        while not env.batch.states["over"].all():
            running = env.batch.states["over"] == 0
            env.step(rng.integers(6, size=(64, len(env.agents))))
            last[running] = env.batch.rewards[running, :, 0]
        found = [[final_reward(state, seat) for seat in range(len(env.agents))] for state in env.batch.states]
        assert found == last.astype(int).tolist()
        assert len({tuple(row) for row in found}) > 1


# -------------------------------------------------------------------------------------------------------- environment


def test_a_script_of_the_original_runs() -> None:
    env = original.make("PommeFFACompetition-v0", [Wanderer(), Wanderer(), Wanderer(), Sampler()])
    env.seed(7)
    observations, done, total = env.reset(), False, np.zeros(4)
    env.set_training_agent(3)
    while not done:
        assert len(observations) == 4
        actions = env.act(observations)
        assert len(actions) == 3
        actions.insert(env.training_agent, env.action_space.sample())
        observations, rewards, done, info = env.step(actions)
        total += rewards
    assert env.action_space.n == 6
    assert info["result"] == original.Result.Tie  # the training agent is dead, or time is up
    assert info["vector_rewards"].shape == (4, 5)
    assert rewards[3] == -1
    assert Wanderer.made[0].rewards == [rewards[0]]
    features = env.featurize(observations[0])
    assert env.observation_space.contains(features)
    assert env.render("rgb_array").dtype == np.uint8
    env.close()
    with pytest.raises(InvalidCall, match=r"call reset\(\) first"):
        env.step([0] * 4)


def test_winners_are_indices() -> None:
    env = original.make("OneVsOne-v0", [Mute(), Mute()])
    agents = [[1, 1, 1, 2, 3, 1], [1, 4, 3, 0, 2, 0]]
    board = PICTURE.replace("b", "0")
    env._position = {**POSITION, "board": board[:35] + "b" + board[36:], "agents": agents, "bombs": [[3, 3, 1, 3, 0, 0]]}
    env.reset()
    _, rewards, done, info = env.step([0, 0])
    assert (rewards, done, info["result"], info["winners"]) == ([1, -1], True, original.Result.Win, [0])


@pytest.mark.parametrize("id", original.REGISTRY)
def test_every_id_of_the_original(id: str) -> None:
    env = original.make(id, [Mute()] * (2 if id == "OneVsOne-v0" else 4))
    observations, rewards, done, info = (env.reset(), *env.step([0] * len(env.game.agents))[1:])
    assert not done
    assert info["result"] == original.Result.Incomplete
    assert set(rewards) == {0}
    assert set(observations[0]) - KEYS == ({"message"} if "Radio" in id else set())
    assert env.observation_space.contains(env.featurize(observations[0]))
    assert (observations[0]["board"] == 5).any() == (("Competition" in id and "FFA" not in id) or "Radio" in id)


def test_positions_are_read_and_written_in_the_form_of_the_original(tmp_path) -> None:
    env = original.make("OneVsOne-v0", [Mute(), Mute()])
    env._position = POSITION
    env.reset()
    path = tmp_path / "position.json"
    path.write_text(json.dumps(env.get_json_info()))
    assert json.loads(json.loads(path.read_text())["bombs"]) == [
        {"bomber_id": 1, "position": [3, 3], "life": 4, "blast_strength": 3, "moving_direction": 2}
    ]
    other = original.make("OneVsOne-v0", [Mute(), Mute()], game_state_file=path)
    other.reset()
    assert other.get_json_info() == env.get_json_info()
    path.write_text('{"board": "[[0]]"}')
    with pytest.raises(InvalidFile, match="not a position of the original: KeyError: 'agents'"):
        env.set_init_game_state(path)
    given = env.get_json_info()
    path.write_text(json.dumps({**given, "bombs": "[]"}))
    with pytest.raises(InvalidState, match="bomb"):
        env.set_init_game_state(path)


def test_wrong_calls_are_named() -> None:
    with pytest.raises(InvalidParameter, match="did you mean 'PommeFFA-v1'"):
        original.make("PommeFFA-v0", [])
    with pytest.raises(InvalidParameter, match="invalid number of agents, 1: expected 4"):
        original.make("PommeFFA-v1", [Mute()])
    with pytest.raises(InvalidCall, match="set_agents"):
        original.OriginalEnv("PommeFFA-v1").reset()
    env = original.make("PommeFFA-v1", [Mute()] * 4)
    env.reset()
    with pytest.raises(InvalidParameter, match="invalid number of actions, 3"):
        env.step([0] * 3)
    with pytest.raises(IllegalAction, match="invalid action=7"):
        env.step([0, 0, 7, 0])


# ---------------------------------------------------------------------------------------------------- other processes


@contextmanager
def running_agent(how: str) -> Iterator[int]:
    """Start an agent in another process, which says its port."""
    with subprocess.Popen([sys.executable, original_agents.__file__, how], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.long
def test_agents_in_other_processes_play() -> None:
    with running_agent("well") as one, running_agent("well") as two:
        addresses = f"127.0.0.1:{one},localhost:{two}"
        result = match(
            "mo-pommerman-radio-v0",
            [original.make_http_policy(addresses, timeout=5), "stationary"],
            games=1,
            max_steps=10,
            max_reruns=0,
        )
        assert result.late.tolist() == [0, 0]
        for port, id in ((one, 0), (two, 2)):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/calls") as answer:
                calls = json.load(answer)["calls"]
            assert calls[0] == ["/init_agent", {"id": id, "game_type": 3}]
            assert calls[1] == ["/action", sorted(KEYS | {"message"})]
            assert calls[-1] == ["/episode_end", {"reward": -1}]
            assert len(calls) == 12
        assert (
            match("mo-pommerman-ffa-v0", [f"http:127.0.0.1:{one}", "stationary"], games=1, max_steps=3, max_reruns=0).ties == 1
        )


@pytest.mark.long
@pytest.mark.parametrize("how", ["slow", "drip"])
def test_late_answers_are_stops_and_counted(how: str) -> None:
    with running_agent(how) as port:
        result = match("mo-pommerman-duel-v0", [f"http:127.0.0.1:{port}", "stationary"], games=1, max_steps=4, max_reruns=0)
        assert result.late[0] >= 1
        assert result.late[1] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("how", "message"), [("long", "more than 64 KiB"), ("text", "expected {\"action\""), ("broken", "status 500"), ]
)  # fmt: skip
def test_invalid_answers_are_named(how: str, message: str) -> None:
    with running_agent(how) as port, pytest.raises(RemoteError, match=message):
        match("mo-pommerman-duel-v0", [original.make_http_policy(f"127.0.0.1:{port}", timeout=5), "stationary"], games=1)


@pytest.mark.parametrize(
    "head", [*(f"Content-Length: {length}" for length in ("9" * 5000, "-5", "five", "", "1_0")), "Transfer-Encoding: chunked"]
)
def test_invalid_lengths_of_answers_are_named(head: str, monkeypatch) -> None:
    answer = io.BytesIO(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n{'f' * 30}\r\n".encode())

    class Connection:
        def settimeout(self, seconds: float) -> None: ...

        def recv(self, size: int) -> bytes:
            return answer.read(size)

    monkeypatch.setattr(original.HttpAgent, "_wait_until_ready", lambda self, seconds: None)
    agent = original.HttpAgent("127.0.0.1", 10080)
    with pytest.raises(RemoteError, match="not an answer of HTTP"):
        agent._read_answer(Connection(), "/action", time.monotonic() + 60)


@pytest.mark.parametrize("address", ["10080", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:x", "192.0.2.1:80", "example.com:80"])
def test_only_addresses_of_this_machine_are_accepted(address: str) -> None:
    with pytest.raises(InvalidParameter, match="expected"):
        match("mo-pommerman-duel-v0", [f"http:{address}", "stationary"], games=1)
    assert parse_addresses("192.0.2.1:80,[::1]:81", allow_remote=True) == [("192.0.2.1", 80), ("::1", 81)]


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(RemoteError, match=r"http://127\.0\.0\.1:1/ping: no answer within 0\.1 s"):
        original.HttpAgent("127.0.0.1", 1, start_timeout=0.1)
