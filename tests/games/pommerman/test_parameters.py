"""Ids, parameters and objectives of MO-Pommerman (SPEC §5, §8), and the words for its actions."""

import re

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.errors import IllegalAction, InvalidParameter
from momagames.games import pommerman
from momagames.registry import VERSIONS

pytestmark = pytest.mark.compiled

FFA, TEAM, RADIO, DUEL = (f"mo-pommerman-{name}-v0" for name in ("ffa", "team", "radio", "duel"))
FALLING = "mo-pommerman-ffa-collapse-v0"
IDS = [id for id in VERSIONS if id.startswith("mo-pommerman-")]


@pytest.mark.parametrize("id", IDS)
def test_every_size_has_defaults_that_are_allowed(id):
    for size in range(7, 17):
        game = momagames.spec(id, board_size=size)
        again = momagames.spec(id, **{name: value for name, value in game.params.items() if name != "objectives"})
        assert again.params == game.params
        play = Episode(game)
        play.reset(size)
        assert play.mask(0)[:6].all()


@pytest.mark.parametrize("size", [7, 11, 16])
def test_bounds_of_board_contents(size):
    """The largest number of each, one after the other, can be dealt."""
    params = {"board_size": size}
    for name in ("num_rigid", "num_wood", "num_items"):
        params[name] = next(int(p.high) for p in momagames.spec(FFA, **params).parameters if p.name == name)
    play = Episode(momagames.spec(FFA, **params))
    play.reset(1)
    saved = play.game.codec.save(play.state)
    assert [saved["board"].count(digit) for digit in "12"] == [params["num_rigid"], params["num_wood"]]
    assert len(saved["items"]) == params["num_items"]
    play.load(saved)  # and no more bombs can come of it than a position holds


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"board_size": 6}, "invalid board_size=6: expected an integer in 7..16"),
        (
            {"num_rigid": 37},
            "invalid num_rigid=37: .* 0..36 (on 11 x 11: with more walls, boards with reachable passages (G7) are rare)",
        ),
        ({"num_wood": 57}, "invalid num_wood=57: .* 0..56 (what 36 rigid walls leave on 11 x 11)"),
        ({"num_rigid": 35, "num_wood": 57}, "invalid num_wood=57: .* 0..56 (what 35 rigid walls leave"),
        ({"num_wood": 14, "num_items": 15}, "invalid num_items=15: .* 0..14 (one in each wooden wall, 60 at most)"),
        ({"num_wood": 0, "num_items": 13}, "invalid num_items=13: .* 0..12 (one in each"),
        ({"board_size": 16, "num_items": 61}, "invalid num_items=61: .* 0..60"),
        ({"first_collapse": 797}, "invalid first_collapse=797: .* 1..796, or None (at least 4 before max_steps=800)"),
        ({"first_collapse": 0}, "invalid first_collapse=0: "),
        (
            {"max_steps": 4, "first_collapse": 1},
            "invalid first_collapse=1: .* None (no ring can fall within max_steps=4, it takes 5)",
        ),
        ({"max_steps": 1}, "invalid max_steps=1: "),
        ({"agent_view_size": 0}, "invalid agent_view_size=0: .* 1..15"),
        ({"blast_strength": 0}, "invalid blast_strength=0: .* 1..16"),
        ({"dead": "go"}, "invalid dead='go': .*'stay' or 'leave'"),
        ({"credit": "none"}, "invalid credit='none': .*'full' or 'split'"),
        ({"observation": "array"}, "invalid observation='array': .*'dict' or 'planes'"),
        ({"egocentric": True}, "egocentric=True needs is_partially_observable=True"),
        ({"objectives": ["comm"]}, "the objective 'comm' is for games with radio"),
        ({"objectives": ["outcome", "comm_change"]}, "the objective 'comm_change' is for games with radio"),
        ({"objectives": ["team_kill"]}, "the objective 'team_kill' is for games with teams"),
        ({"objectives": ["team_bombs"]}, "the objective 'team_bombs' is for games with teams"),
        ({"objectives": ["mate_survival"]}, "the objective 'mate_survival' is for games with teams"),
        ({"objectives": ["kils"]}, "invalid objectives='kils'.*did you mean 'kills'"),
        ({"objectives": []}, "expected at least one objective"),
        ({"num_wod": 3}, "unexpected keyword argument 'num_wod'.*did you mean 'num_wood'"),
        ({"variant": "duel"}, "fixes 'variant'"),
    ],
    ids=str,
)
def test_refused(given, why):
    pattern = ".*".join(re.escape(part) for part in why.split(".*"))
    with pytest.raises(InvalidParameter, match=f"^{FFA}.*{pattern}"):
        momagames.spec(FFA, **given)


def test_an_unknown_variant_is_rejected():
    with pytest.raises(InvalidParameter, match=r"invalid variant='teams': expected .*did you mean 'team'"):
        pommerman.game("guest-v0", "teams")


def test_parameters_that_exclude_each_other():
    momagames.spec(FFA, is_partially_observable=True, egocentric=True)
    momagames.spec(RADIO, first_collapse=20, objectives=["comm", "comm_change"])
    assert momagames.spec(FALLING, first_collapse=None).params["first_collapse"] is None
    assert momagames.spec(FALLING, max_steps=4).params["first_collapse"] is None, "too short for rings"
    with pytest.raises(InvalidParameter, match="'comm' is for games with radio"):
        momagames.spec(TEAM, objectives=["comm"])


@pytest.mark.parametrize("id", [FFA, RADIO])
def test_actions_by_name(id):
    play = Episode(momagames.spec(id))
    play.reset(0)
    game, state = play.game, play.state
    for move, name in enumerate(("stop", "up", "down", "left", "right", "bomb")):
        action = [move, 3, 8] if id == RADIO else move
        assert game.human.action_name(state, action) == (f"{name} 3 8" if id == RADIO else name)
        assert game.human.parse_action(state, game.human.action_name(state, action)) == action
        silent = [move, 0, 0] if id == RADIO else move
        for text in (name, name.upper(), name[0], str(move)):
            assert game.human.parse_action(state, text) == silent
    for text in ("", "x", "6", "-1", "up 1", "up 1 9", "up x y", "up 1 2 3", *(["up 3 5"] if id == FFA else [])):
        with pytest.raises(ValueError, match="is not an action: type 'stop', 'up'"):
            game.human.parse_action(state, text)


def test_illegal_action_error_names_the_actions():
    env = momagames.make(FFA)
    env.reset(seed=1)
    with pytest.raises(
        IllegalAction, match=r"illegal action=6 of agent_0: expected one of 6 legal actions; moves are 0\.\.5: 'stop', 'up'"
    ):
        env.step(6)


def test_original_scalar_game():
    """A6 With weight 1 on `outcome` a game pays what the original pays in its last step."""
    play = Episode(momagames.spec(FFA, board_size=7, max_steps=40, objectives=["outcome", "outcome_original"]))
    chance = np.random.default_rng(1)
    for seed in range(10):
        play.reset(seed)
        while not play.state["over"]:
            play.step(chance.integers(6, size=(4, 1)))
        assert play.returns[:, 0].tolist() == play.reward[:, 1].tolist()


def test_R5_words_of_a_dead_mate():
    """Those of the step in which it dies are delivered; then both are zero. The published rules say zero at once (10.1)."""
    assert [id for id in IDS if "message" in {field.name for field in momagames.spec(id).fields}] == [RADIO]
    env, heard = momagames.make(RADIO, "parallel"), []
    env.reset(seed=0)
    rng, died = np.random.default_rng(0), {}
    while env.agents:
        observations = env.step({agent: np.array([rng.integers(6), 3, 8]) for agent in env.agents})[0]
        alive = env.aec_env.record["alive"]
        for seat, agent in enumerate(env.possible_agents):
            mate = (seat + 2) % 4
            if alive[seat] and not alive[mate]:
                died[mate] = died.get(mate, -1) + 1
                heard.append((died[mate], observations[agent]["message"].tolist()))
    assert {0, 1, 2} <= {steps for steps, _ in heard}
    assert all(words == ([0, 0] if steps else [3, 8]) for steps, words in heard)
