"""Calls in any order with anything as an argument: they work, or raise one of our errors and change nothing."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

import momagames
from momagames.baselines import method, policy
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, MomagamesError
from momagames.play.session import human_agents

SMALL = {
    "mo-samegame-v0": {"board_width": 3, "board_height": 3, "num_colors": 2},
    "mo-breakthrough-v0": {"board_width": 3, "board_height": 5},
    "mo-pommerman-ffa-v0": {"max_steps": 6},
    "mo-pommerman-radio-v0": {"max_steps": 4},
    "mo-robotmail-v0": {"max_step": 12},
}
ANYTHING = (
    None, True, 0, 1, -1, 3, 2**63, 2**64, -(2**70), 1.0, 1.5, float("nan"), float("inf"), 1j, "", "0", "text", b"0",
    [], [0], (0, 0, 0), {}, {"agent_0": 0}, {0: 1}, object(), len, {0: 1, 3: 1, 5: 1}, b"\0\1\2", {0, 1, 2}, range(3),
    [[0], [1, 2]], [2**63, 0, 0],
    np.int8(1), np.uint64(2**63), np.float32(1.5), np.bool_(1), np.array(0), np.array([0]), np.array([0, 1, 2]),
    np.array([]), np.array("x"), np.array([None]), np.ma.masked, np.ma.array([1], mask=[1]),
)  # fmt: skip


def play_to_the_end(env):
    env.reset(seed=0)
    while env.agents:
        mask = env.last()[0]["action_mask"]
        finished = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
        env.step(None if finished else env.action_space(env.agent_selection).sample(mask))
    return env


@pytest.mark.parametrize("id", SMALL)
def test_calls_after_the_end_say_so(id):
    env = play_to_the_end(momagames.make(id, **SMALL[id]))
    for call in (env.last, lambda: env.step(0), lambda: env.step(None)):
        with pytest.raises(InvalidCall, match="all agents have finished, call reset"):
            call()
    env.reset(seed=1)
    assert env.agents


@pytest.mark.parametrize("id", SMALL)
def test_parallel_actions_are_a_dict(id):
    env = momagames.make(id, "parallel", **SMALL[id])
    env.reset(seed=0)
    before = env.get_state()
    for actions in (None, [0, 1], "text", 3, np.zeros(2)):
        with pytest.raises(IllegalAction, match=r"invalid actions=.*expected a dict with an action of each live agent"):
            env.step(actions)
        assert env.get_state() == before


PARTS = (
    {0: 1, 1: 1, 2: 1},
    b"\0\1\2",
    bytearray(3),
    {0, 1, 2},
    range(3),
    [2**63, 0, 0],
    [[0], [1, 2]],
    "012",
    2**63,
    -(2**63) - 1,
)


@pytest.mark.parametrize("id", ["mo-pommerman-radio-v0", "mo-pommerman-ffa-v0", "mo-breakthrough-v0"])
def test_actions_of_opponents_are_checked(id):
    for given in (*PARTS, 99, -1, None, 1.5):
        env = momagames.make(id, "gymnasium", others=lambda state, mask, rng, given=given: given)
        _, info = env.reset(seed=0)
        with pytest.raises(IllegalAction, match="illegal action="):
            env.step(env.action_space.sample(info["action_mask"]))
        with pytest.raises(InvalidParameter, match="invalid others="):
            momagames.make(id, "gymnasium", others=3)


def test_agents_have_names_and_indices():
    game = momagames.spec("mo-pommerman-ffa-v0")
    for agent in ("agent_1", 1, np.int64(1)):
        assert policy("simple", game, agent=agent).agent == 1
        assert momagames.make(game.id, "gymnasium", agent=agent).agent == "agent_1"
        assert momagames.make(game.id, "gymnasium", others={agent: "simple", 2: "random", "agent_3": "random"})
        assert human_agents(game, [agent, 0]) == ("agent_1", "agent_0")
        assert human_agents(game, agent) == ("agent_1",)
    assert policy("random", game)
    for agent in ("agent_9", "1", 4, -1, True, 1.0, [1], b"agent_1"):
        for name in ("random", "simple"):
            with pytest.raises(InvalidParameter, match=r"invalid agent=.*: expected 'agent_0', .*, or an index 0\.\.3"):
                policy(name, game, agent)
        with pytest.raises(InvalidParameter, match="invalid agent="):
            momagames.make(game.id, "gymnasium", agent=agent)
        with pytest.raises(InvalidParameter, match="invalid human="):
            human_agents(game, [agent])
    with pytest.raises(InvalidParameter, match=r"others: invalid agent='agent_9'.*did you mean 'agent_"):
        momagames.make(game.id, "gymnasium", others={"agent_9": "simple"})


STARTED = momagames.make("mo-pommerman-ffa-v0")
STARTED.reset(seed=0)
TEXT = momagames.make("mo-breakthrough-v0", "text")
TEXT.reset(seed=0)
BATCH = momagames.make_text_batch("mo-breakthrough-v0", 2)
BATCH.reset(seed=0)
ARRAYS = (np.array(["a", "b"]), np.zeros(1, [("a", "u1")]), np.array(0), [[0], [1, 2]], {"a": 1})
CALLS = {
    "observation_space": STARTED.observation_space, "action_space": STARTED.action_space, "reward_space": STARTED.reward_space,
    "observe": STARTED.observe, "forfeit": STARTED.forfeit, "text": TEXT.observe, "instructions": TEXT.instructions,
    "score": TEXT.score, "answers": lambda given: BATCH.step([given] * 3),
    "group_size": lambda given: BATCH.reset(group_size=given),
    "api": lambda given: momagames.make("mo-breakthrough-v0", given),
    "policy": lambda given: policy(given, STARTED.game, 0), "method": lambda given: method(given, STARTED.game),
    "divisions": lambda given: method("greedy")(given),
    "reset_mask": lambda given: momagames.make_vec("mo-breakthrough-v0", 2).reset(options={"reset_mask": given}),
    **{
        option: lambda given, option=option: momagames.make("mo-breakthrough-v0", **{option: given})
        for option in ("render_mode", "illegal", "numeric_infos", "max_cycles")
    },
    "team": lambda given: momagames.make("mo-breakthrough-v0", "gymnasium", team=given),
    "render_options": lambda given: momagames.make("mo-breakthrough-v0", render_options=given),
    "legal_actions": lambda given: momagames.make("mo-breakthrough-v0", "text", legal_actions=given),
    "preference": lambda given: momagames.make("mo-breakthrough-v0", "text", preference=given),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_arguments_may_be_arrays_and_what_has_no_hash(case):
    for given in ARRAYS:
        with pytest.raises(MomagamesError):
            CALLS[case](given)


def test_sizes_may_be_small_integers_of_numpy():
    batch = momagames.make_text_batch("mo-breakthrough-v0", np.int8(2))
    batch.reset(seed=200, group_size=np.int8(2))
    envs = momagames.make_vec("mo-breakthrough-v0", np.int8(100))
    assert type(envs.num_envs) is int


def test_agents_without_an_action_are_named():
    env = momagames.make("mo-pommerman-ffa-v0", "parallel")
    env.reset(seed=0)
    with pytest.raises(
        IllegalAction, match="illegal action=None of agent_0, agent_2, agent_3: expected an action of each live agent"
    ):
        env.step({"agent_1": 0})
    env = momagames.make("mo-breakthrough-v0", "parallel")
    env.reset(seed=0)
    with pytest.raises(IllegalAction, match="illegal action=None of player_0: expected one of"):
        env.step({})


@pytest.mark.parametrize("id", SMALL)
def test_options_are_a_dict(id):
    made = [momagames.make(id, api, **SMALL[id]) for api in ("aec", "parallel", "gymnasium")]
    for env in (*made, momagames.make_vec(id, num_envs=2, **SMALL[id])):
        env.reset(seed=0)
        for options in (1.5, "text", np.zeros(3), [1], 0):
            with pytest.raises(InvalidParameter, match=r"invalid options=.*: expected a dict or None"):
                env.reset(options=options)


@pytest.mark.parametrize("id", momagames.ids())
def test_parameters_may_be_anything(id):
    for parameter in momagames.spec(id).parameters:
        for value in ANYTHING:
            try:
                momagames.spec(id, **{parameter.name: value})
            except MomagamesError as error:
                assert parameter.name in str(error)  # noqa: PT017


class AnyCalls(RuleBasedStateMachine):
    """Calls of one AEC environment in any order. A game that was refused a call goes on as if nothing had happened."""

    id = ""

    def __init__(self):
        super().__init__()
        self.env = momagames.make(self.id, **SMALL[self.id])
        self.is_started = False

    def make_call(self, call):
        before = self.env.get_state() if self.is_started else None
        try:
            call()
        except MomagamesError:
            if self.is_started:
                assert self.env.get_state() == before
            return False
        return True

    @rule(seed=st.sampled_from(ANYTHING), options=st.sampled_from(ANYTHING))
    def reset(self, seed, options):
        self.is_started |= self.make_call(lambda: self.env.reset(seed=seed, options=options))

    @rule(seed=st.integers(0, 5))
    def start(self, seed):
        self.env.reset(seed=seed)
        self.is_started = True

    @rule(action=st.sampled_from(ANYTHING))
    def step(self, action):
        self.make_call(lambda: self.env.step(action))

    @precondition(lambda self: self.is_started and self.env.agents)
    @rule()
    def play(self):
        observation, _, terminated, truncated, _ = self.env.last()
        space = self.env.action_space(self.env.agent_selection)
        self.env.step(None if terminated or truncated else space.sample(observation["action_mask"]))

    @rule(agent=st.sampled_from(ANYTHING))
    def look(self, agent):
        try:
            hash(agent)
        except TypeError:
            agent = "stranger"
        for call in (self.env.observe, self.env.action_space, self.env.observation_space):
            self.make_call(lambda: call(agent))  # noqa: B023

    @rule()
    def read(self):
        for call in (self.env.last, self.env.get_state, self.env.render, self.env.state):
            self.make_call(call)


@pytest.mark.parametrize("id", SMALL)
def test_any_calls_in_any_order(id):
    machine = type("AnyCallsOf", (AnyCalls,), {"id": id})
    machine.TestCase.settings = settings(max_examples=12, stateful_step_count=25)
    machine.TestCase().runTest()
