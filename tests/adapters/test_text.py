"""Text environments: prompts of every id, answers, preferences, batches."""

import pickle

import numpy as np
import pytest

import momagames
from momagames.adapters.text.answers import extract_action, parse_answer
from momagames.engine.episode import Episode
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, InvalidState, UnknownParameter
from momagames.fronts.packaged import load_front, packaged_fronts
from momagames.registry import find_exact_front
from momagames.wrappers import Scalarize

SMALL = {"board_width": 4, "board_height": 4, "num_colors": 2}
LISTED = "legal actions: "


def answer_first(observation):
    """A scripted model: it reads the list of legal actions, or the example, in what it sees, and answers in a sentence."""
    if LISTED in observation:
        first = observation.rpartition(LISTED)[2].split(" ")[0]
    else:
        first = observation.rpartition("such as '")[2].rpartition("'")[0]
    return f"Let me think.\nThe best one is <action>{first}</action>."


def play(env, answer):
    """Play an episode; return the sums of the rewards that `last` gave, by agent."""
    sums = {agent: np.zeros(len(env.game.objectives)) for agent in env.possible_agents}
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        sums[agent] += reward
        env.step(None if terminated or truncated else answer(observation))
    return sums


@pytest.mark.parametrize("id", momagames.ids())
def test_a_scripted_model_plays_every_game(id):
    env = momagames.make(id, api="text", max_cycles=5, preference=np.ones(len(momagames.spec(id).objectives)))
    env.reset(seed=3)
    system, user = env.messages(env.agent_selection)
    assert (system["role"], user["role"]) == ("system", "user")
    for words in (env.game.title, env.agent_selection, "Your preference: ", *(one.unit for one in env.game.objectives)):
        assert words in system["content"]
    assert user["content"] == env.last()[0]
    for agent in env.possible_agents:
        assert env.observation_space(agent).contains(env.observe(agent))
    sums = play(env, answer_first)
    for i, agent in enumerate(env.possible_agents):
        np.testing.assert_allclose(sums[agent], env.returns[i])


KNOWN = {"message", "delivered"}  # what agents know from before, as people do: their own words, the score
PARTIAL = [id for id in momagames.ids() if momagames.spec(id).information == "partial"]


def flatten(observation):
    return b"".join(
        np.asarray(part).tobytes() for value in observation.values() for part in np.atleast_1d(np.array(value, object))
    )


@pytest.mark.parametrize("id", PARTIAL)
def test_texts_show_what_the_agent_sees_alone(id):
    """A position that was changed in what an agent does not see has the same text."""
    env, arrays, rng = momagames.make(id, api="text"), momagames.make(id), np.random.default_rng(0)
    env.reset(seed=3)
    record, agent = env.record, env.agent_selection
    arrays.reset(seed=3)
    seen, text, unseen = flatten(arrays.observe(agent)), env.observe(agent), 0
    names = [name for name in record.dtype.names if name not in KNOWN]
    lists = [name for name, value in env.get_state().items() if isinstance(value, list) and np.array(value).dtype.kind == "i"]
    for _ in range(250):
        if lists and rng.integers(2):  # fields of the record that follow from others change with them
            changed = env.get_state()
            field = changed[lists[rng.integers(len(lists))]]
        else:
            changed = record.copy()
            field = changed[names[rng.integers(len(names))]].reshape(-1)
        field[rng.integers(len(field))] = int(rng.integers(8))
        try:
            arrays.reset(seed=3, options={"state": changed})
        except InvalidState:
            continue
        if arrays.record.tobytes() != record.tobytes() and flatten(arrays.observe(agent)) == seen:
            env.reset(seed=3, options={"state": changed})
            assert env.observe(agent) == text
            unseen += 1
    assert unseen
    assert env.observe(env.possible_agents[-1]) != text


def test_actions_are_those_of_the_aec_environment():
    text, aec = momagames.make("mo-breakthrough-v0", api="text", legal_actions="numbers"), momagames.make("mo-breakthrough-v0")
    text.reset(seed=0)
    aec.reset(seed=0)
    rng = np.random.default_rng(0)
    while not any(aec.terminations.values()):
        legal = np.flatnonzero(aec.last()[0]["action_mask"])
        chosen = int(rng.integers(len(legal)))
        assert f"{chosen + 1}. {aec.game.human.action_name(aec.record, legal[chosen])}" in text.last()[0].splitlines()
        text.step(f"{chosen + 1}.")
        aec.step(int(legal[chosen]))
        assert text.get_state() == aec.get_state()
        assert text.agent_selection == aec.agent_selection
    np.testing.assert_array_equal(text.returns, aec.returns)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("<action>1 2</action>", "1 2"),
        ("I try <action>0 0</action>, no: <ACTION>\n1 2 </ACTION> is better.\nDone.", "1 2"),
        ("Thinking\n\n 1   2 \n \n", "1 2"),
        ("", ""),
        (" \n ", ""),
        ("<action>1 2", "<action>1 2"),
        ("<action>1 <action>2</action> 3</action>", "2"),
        ("</action>1<action>2</action><action>3", "2"),
        ("<action>" * 120_000, "<action>" * 120_000),
        ("</action>" * 100_000 + "\n5", "5"),
    ],
    ids=range(10),
)
def test_extract_action(answer, expected):
    assert extract_action(answer) == expected


ILLEGAL = [None, 3, b"(0,0)", "", "x" * 2_000_000, "9" * 5_000, "-1", "1e9 1e9", "\0", "<action></action>"]


@pytest.mark.parametrize(
    ("id", "legal_actions"),
    [("mo-pommerman-radio-v0", "none")]
    + [(f"mo-{name}-v0", listed) for name in ("samegame", "breakthrough", "robotmail") for listed in ("names", "numbers")],
)
def test_illegal_answers_change_nothing(id, legal_actions):
    env = momagames.make(id, api="text", legal_actions=legal_actions)
    env.reset(seed=0)
    before = env.get_state()
    for answer in ILLEGAL:
        if answer == "-1" and legal_actions == "names" and env.game.allows_illegal:
            continue
        with pytest.raises(IllegalAction, match=r"illegal answer .*of .*: ") as caught:
            env.step(answer)
        assert len(str(caught.value)) < 500
        assert env.get_state() == before
    env.step(answer_first(env.observe(env.agent_selection)) if legal_actions != "numbers" else "1")


def test_answers_without_a_legal_action():
    """As the option says: the episode is forfeited, or another action is played."""
    for illegal in ("forfeit", "next", "random"):
        env = momagames.make("mo-breakthrough-v0", api="text", illegal=illegal)
        env.reset(seed=0)
        env.step("I do not know")
        assert env.terminations["player_0"] == (illegal == "forfeit")
        assert env.rewards["player_0"][0] == (-1 if illegal == "forfeit" else 0)
    with pytest.raises(InvalidParameter, match="invalid legal_actions='numbers': expected 'names' or 'none'"):
        momagames.make("mo-pommerman-radio-v0", api="text", legal_actions="numbers")
    with pytest.raises(InvalidParameter, match="invalid legal_actions='all'"):
        momagames.make("mo-samegame-v0", api="text", legal_actions="all")
    with pytest.raises(UnknownParameter):
        momagames.make("mo-samegame-v0", api="text", hue=1)


def test_preferences():
    env = momagames.make("mo-samegame-v0", api="text", **SMALL, preference={"color_2": 3})
    assert env.preferences["agent_0"].tolist() == [0, 1]
    assert "weights color_1 0, color_2 1" in env.instructions("agent_0")
    by_agent = {"player_0": {"win": 1}, "player_1": {"captures": 1, "win": 1}}
    duel = momagames.make("mo-breakthrough-v0", api="text", preference=by_agent)
    assert [duel.preferences[agent].tolist() for agent in duel.possible_agents] == [[1, 0, 0, 0], [0.5, 0, 0.5, 0]]
    for wrong in ([1], [1, -1], [0, 0], [np.nan, 1], {"hue": 1}, "equal", 1):
        with pytest.raises(InvalidParameter, match=r"invalid preference=.*expected weights of color_1, color_2: at least 0"):
            momagames.make("mo-samegame-v0", api="text", **SMALL, preference=wrong)
    silent = momagames.make("mo-samegame-v0", api="text", **SMALL)
    silent.reset(seed=0)
    assert "preference" not in silent.instructions("agent_0")
    with pytest.raises(InvalidCall, match=r"score.* without a preference"):
        silent.score("agent_0")


def test_regret_to_exact_fronts():
    """Plans of a proven front of the package: the best one for a preference has no regret, another one what it lacks."""
    name = next(name for name in packaged_fronts() if load_front(name).kind == "proven" and load_front(name).claim == "returns")
    front = load_front(name)
    weights = np.linspace(1, 2, len(front.objectives)) / np.linspace(1, 2, len(front.objectives)).sum()
    utilities = front.values @ weights
    for point in (int(utilities.argmax()), int(utilities.argmin())):
        env = momagames.make(front.game.id, api="text", **front.game.params, preference=weights)
        env.reset(seed=front.start.seed)
        for action in front.points[point].actions:
            env.step(env.game.human.action_name(env.record, action))
        score = env.score("agent_0")
        assert score.best == pytest.approx(utilities.max())
        assert score.regret == pytest.approx(utilities.max() - utilities[point])
    small = momagames.make("mo-samegame-v0", api="text", **SMALL)
    small.reset(seed=5)
    assert find_exact_front(small.game, small.record, 5) is not None  # computed
    unknown = momagames.make("mo-samegame-v0", api="text", **SMALL, num_agents=2, preference=[1, 1])
    unknown.reset(seed=0)
    assert (unknown.score("agent_0").best, unknown.score("agent_0").regret) == (None, None)


def test_scalarized_rewards():
    env = Scalarize(momagames.make("mo-samegame-v0", api="text", **SMALL), weights=[1, 2])
    env.reset(seed=0)
    observation, _, *_ = env.last()
    env.step(answer_first(observation))
    assert env.rewards["agent_0"] == env.unwrapped.rewards["agent_0"] @ [1, 2] > 0


def test_pickled_environments_go_on():
    env = momagames.make("mo-samegame-v0", api="text", **SMALL)
    env.reset(seed=0)
    env.step(answer_first(env.observe("agent_0")))
    copied = pickle.loads(pickle.dumps(env))
    assert copied.last()[0] == env.last()[0]


def test_batches_equal_single_environments():
    batch = momagames.make_text_batch("mo-samegame-v0", 4, **SMALL, preference="random")
    conversations = batch.reset(7, group_size=2)
    assert [one[1] for one in conversations[0::2]] == [one[1] for one in conversations[1::2]]
    assert conversations[0] == conversations[1]
    assert conversations[0][0] != conversations[2][0]
    singles = [momagames.make("mo-samegame-v0", api="text", **SMALL, preference=one) for one in batch.preferences]
    for i, env in enumerate(singles):
        env.reset(seed=7 + i // 2)
        assert env.messages("agent_0") == conversations[i]
    observations = [one[-1]["content"] for one in conversations]
    ended = np.zeros(4, bool)
    while not ended.all():
        step = batch.step([answer_first(text) for text in observations])
        for i, env in enumerate(singles):
            if ended[i]:
                assert not step.rewards[i].any()
                assert step.observations[i]["content"] == ""
                continue
            env.step(answer_first(observations[i]))
            np.testing.assert_array_equal(step.rewards[i], env.rewards["agent_0"])
            assert step.observations[i] == {"role": "user", "content": env.observe("agent_0")}
            assert step.terminateds[i] == env.terminations["agent_0"]
            if step.terminateds[i]:
                score = env.score("agent_0")
                found = step.metadata[i]
                assert (found["utility"], found["best"], found["regret"]) == (score.utility, score.best, score.regret)
                assert list(found["returns"].values()) == env.returns[0].tolist()
        ended, observations = step.terminateds, [one["content"] for one in step.observations]
    assert step.rewards.shape == (4, 2)
    assert step.rewards.dtype == np.float32


def test_batches_against_policies():
    batch = momagames.make_text_batch("mo-pommerman-duel-v0", 2, others="simple", max_cycles=3)
    batch.reset(0)
    step = batch.step(["stop", "I jump"])
    assert step.answers == ["stop", None]
    assert step.terminateds.tolist() == [False, True]
    assert "illegal answer 'I jump' of agent_0" in step.metadata[1]["reason"]
    assert set(step.metadata[1]["returns"]) == {one.name for one in batch.game.objectives}
    assert step.next_stop_strings == [None, None]
    batch.step(["stop", ""])
    assert batch.step(["stop", ""]).terminateds.all()


def test_invalid_batches():
    with pytest.raises(InvalidParameter, match="invalid illegal='raise'"):
        momagames.make_text_batch("mo-samegame-v0", 2, illegal="raise")
    with pytest.raises(InvalidParameter, match="batch_size"):
        momagames.make_text_batch("mo-samegame-v0", 0)
    batch = momagames.make_text_batch("mo-samegame-v0", 4, **SMALL)
    with pytest.raises(InvalidCall, match="reset"):
        batch.step([""] * 4)
    for group_size in (0, 3, 8, 1.5, True):
        with pytest.raises(InvalidParameter, match=r"group_size=.*a divisor of batch_size=4"):
            batch.reset(0, group_size)
    batch.reset(0)
    for seed in (-1, 1.5):
        with pytest.raises(InvalidParameter, match="invalid seed="):
            batch.reset(seed)
    for answers in ("1 1 1 1", ["1"], None, 4, b"1234", dict.fromkeys("1234"), {"1"}, iter("1234")):
        with pytest.raises(InvalidParameter, match=r"answers=.*a sequence of 4 texts"):
            batch.step(answers)


def test_parse_answer_of_several_parts():
    episode = Episode(momagames.spec("mo-pommerman-radio-v0"))
    episode.reset(0)
    episode.masks[0] = 1
    assert parse_answer(episode, 0, "up 3 5", False) == [1, 3, 5]
    episode.masks[0, 1] = 0
    with pytest.raises(IllegalAction, match="illegal answer 'up 3 5' of agent_0: expected one of the legal actions"):
        parse_answer(episode, 0, "up 3 5", False)
