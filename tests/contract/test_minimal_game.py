"""A game that states only what has no default plays through every API."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest

import momagames
from momagames import registry
from momagames.contract import Codec, Field, Game, Kernels, Objective, make_record_codec
from momagames.engine.episode import Episode
from momagames.errors import InvalidState
from momagames.kernels.jit import kernel
from momagames.kernels.record import record
from momagames.kernels.states import make_blank_state
from momagames.render.position import draw_position

ID = "mo-heap-v0"
state_dtype = record(2, heap=("i4",), shares=("i4", (2,)), size=("i4",))


@kernel
def generate(state):
    state["heap"] = state["size"]
    state["shares"][:] = 0


@kernel
def legal(state, agent, mask):
    for k in range(3):
        mask[k] = not state["over"] and agent == state["to_move"] and k < np.int64(state["heap"])


@kernel
def step(state, actions, reward):
    mover, count = np.int64(state["to_move"]), 1 + np.int64(actions[0, 0])
    state["heap"] -= count
    state["shares"][mover] += count
    state["ply"] += 1
    state["over"] = state["heap"] == 0
    reward[:] = 0
    reward[mover, 0] = count
    if state["over"]:
        reward[mover, 1] = 1
        reward[1 - mover, 1] = -1
    state["to_move"] = 1 - mover


@kernel
def observe(state, agent, out):
    out[0] = state["heap"]


def game(id: str) -> Game:
    return Game(
        id=id,
        title="Heap",
        agents=("first", "second"),
        dynamics="sequential",
        chance="none",
        objectives=(
            Objective("pebbles", "pebbles", 0, 3, 0, 5, "docstring"),
            Objective("win", "game won or lost", -1, 1, -1, 1, "docstring", zero_sum=True),
        ),
        actions=(3,),
        fields=(Field("observation", (1,), "uint8", 0, 5),),
        max_episode_steps=5,
        factory=game,
        blank_state=make_blank_state(state_dtype, size=5),
        kernels=Kernels(generate=generate, legal=legal, step=step, observe=observe),
    )


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    momagames.register(ID, f"{__name__}:game")


def test_the_defaults_follow_from_the_facts():
    made = game(ID)
    assert (made.teams, made.utility, made.information) == ((0, 1), "individual", "perfect")
    assert (made.reference_point, made.rules_key, made.params) == ((0.0, -1.0), ID, {})
    assert pickle.loads(pickle.dumps(made)).blank_state == made.blank_state
    assert copy.deepcopy(made) is made


def test_aec():
    env = momagames.make(ID, render_mode="ansi")
    env.reset(seed=0)
    for action in (2, 1):
        env.step(action)
    assert env.returns.tolist() == [[3.0, -1.0], [2.0, 1.0]]
    assert all(env.terminations.values())
    position, _, caption = env.render().partition("\n")
    assert json.loads(position)["heap"] == 0
    assert "over after 2 plies" in caption


def test_parallel():
    env = momagames.make(ID, api="parallel")
    seen, _ = env.reset(seed=0)
    assert seen["first"]["action_mask"].tolist() == [1, 1, 1]
    rewards = env.step({"first": 2, "second": 0})[1]
    assert rewards["first"].tolist() == [3.0, 0.0]


def test_gymnasium():
    env = momagames.make(ID, api="gymnasium", others=lambda state, mask, rng: 0, render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    env.step(2)
    terminated = env.step(0)[2]
    assert terminated
    assert env.render().shape == first.shape
    assert (env.render() != first).any()


def test_vector():
    envs = momagames.make_vec(ID, 3)
    envs.reset(seed=0)
    rewards = envs.step(np.array([2, 1, 0]))[1]
    assert rewards[:, 0].tolist() == [[3.0, 0.0], [2.0, 0.0], [1.0, 0.0]]


def test_people_type_numbers():
    human = game(ID).human
    assert (human.action_name(None, np.int64(2)), human.parse_action(None, "2")) == ("2", 2)
    assert human.action_name(None, np.array([1, 0])) == "1 0"
    assert human.parse_action(None, "1, 0").tolist() == [1, 0]
    for text in ("two", ""):
        with pytest.raises(ValueError, match="type its number"):
            human.parse_action(None, text)


def test_positions_in_every_form():
    play, other = Episode(game(ID)), Episode(game(ID))
    play.reset(7)
    play.step(1)
    codec = play.game.codec
    for given in (play.state, codec.save(play.state), codec.show(play.state), json.loads(json.dumps(codec.save(play.state)))):
        other.load(given)
        assert other.state == play.state
    env = momagames.make(ID)
    env.reset(options={"heap": 2, "shares": [1, 2], "to_move": 1})
    assert env.agent_selection == "second"
    assert env.get_state()["shares"] == [1, 2]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"heap": None}, "invalid heap=None: expected int32"),
        ({"heap": 1.5}, "invalid heap=1.5: expected int32"),
        ({"heap": "2"}, "invalid heap='2': expected int32"),
        ({"heap": True}, "invalid heap=True: expected int32"),
        ({"heap": 2**40}, f"invalid heap={2**40}: expected int32"),
        ({"shares": [1]}, r"invalid shares=\[1\]: expected int32 of shape \(2,\)"),
        ({"shares": [1, [2]]}, "invalid shares="),
        ({"size": 9}, "invalid size=9: expected 5, a parameter of the game"),
        ({"to_move": 2}, r"invalid to_move=2: expected an integer in 0\.\.1"),
        ({"gone": [0, 7]}, r"invalid gone=\[0, 7\]: expected an integer in 0\.\.1"),
        ({"truncated": 3}, r"invalid truncated=3: expected an integer in 0\.\.2"),
        ({"haep": 2}, "invalid key 'haep' of a position: .*did you mean 'heap'"),
    ],
)
def test_positions_that_are_rejected(change, why):
    play = Episode(game(ID))
    play.reset(0)
    before = play.state.copy()
    with pytest.raises(InvalidState, match=why):
        play.load({"heap": 2, "shares": [1, 2], **change})
    assert play.state == before


def test_a_position_needs_the_fields_of_the_game():
    with pytest.raises(InvalidState, match="a position needs 'shares'"):
        Episode(game(ID)).load({"heap": 2})


def test_a_field_named_like_a_parameter_cannot_be_changed():
    state = np.zeros(1, record(1, fog=("u1",)))[0]
    make_record_codec(state, ("fog",)).load(state, {"fog": 0})
    with pytest.raises(InvalidState, match="invalid fog=1: expected 0, a parameter of the game"):
        make_record_codec(state, ("fog",)).load(state, {"fog": 1})
    make_record_codec(state).load(state, {"fog": 1})
    assert state["fog"] == 1


def test_text_of_a_codec_without_text_is_json():
    codec = Codec(save=lambda state: {"heap": 3}, load=lambda state, given: None)
    assert codec.read(codec.show(None)) == {"heap": 3}
    assert Codec(codec.save, codec.load, show=str).show(3) == "3"


def test_long_text_is_wrapped_and_cut_off_in_a_picture():
    made = game(ID)
    state = made.make_state()[0]
    shapes = set()
    for text in ("", "short", "long " * 2000, "\n" * 100):
        codec = Codec(made.codec.save, made.codec.load, show=lambda state, text=text: text)
        shapes.add(draw_position(dataclasses.replace(made, codec=codec), state).shape)
    assert len(shapes) == 1
