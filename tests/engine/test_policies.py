"""Compiled policies: memories, random numbers, and equal play in every API."""

import contextlib
import copy
import threading
from dataclasses import replace
from types import FunctionType

import numpy as np
import pytest

import momagames
from momagames import registry
from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.baselines import POLICIES, batch_policy, policy
from momagames.benchmark.episodes import play_from_starts
from momagames.benchmark.seats import Seat, play_game
from momagames.engine import policies
from momagames.engine.batch import Batch
from momagames.engine.lookahead import can_look_ahead, supports_lookahead
from momagames.engine.playouts import generate_starts, play_episodes
from momagames.engine.policies import UNSEATED, AgentPolicy, CompiledPolicy, SeatedPolicies, play_policies, policy_weights
from momagames.engine.policy_sources import make_batch_policy
from momagames.errors import IllegalAction, InvalidParameter, UnknownId
from momagames.games.connect4.rules import place_token
from momagames.games.pommerman.policies import SIMPLE
from momagames.games.tileblast.rules import play_valid_tap
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, random_words
from tests import meteors

counted = np.dtype([("moves", "i4")])


@kernel
def count(state, agent, mask, parts, memory, word, action):
    """Moves always, and says 1 in its first and third move of a game, 2 in the second."""
    memory["moves"] += 1
    action[0] = 1
    action[1] = 2 if memory["moves"] == 2 else 1
    return advance(word)


@kernel
def mind(state, agent, mask, parts, memory, word, action):
    """Moves on, saying its own number."""
    action[0] = 2
    action[1] = agent
    return word


COUNTER, MINDER = CompiledPolicy("counter", count, counted), CompiledPolicy("minder", mind, rules=("tests.meteors",))


def meteor_batch(num_envs=4, **options):
    batch = Batch(meteors.game("meteors-v0", limit=4), num_envs, **options)
    batch.seed(0)
    batch.reset()
    return batch


@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_memories_are_empty_when_a_game_begins(autoreset):
    batch = meteor_batch(8, autoreset=autoreset)
    players = SeatedPolicies(batch, [COUNTER], [0, 0, 0])
    said = np.zeros(8, np.int64)  # moves of the running game, counted here
    for _ in range(20):
        fresh = batch.lengths == 0
        said[fresh] = 0
        actions = players.act()
        said += 1
        alive = (batch.states["gone"] == 0) & (batch.states["over"] == 0)[:, None]
        expected = np.where(said == 2, 2, 1)[:, None].repeat(3, 1)
        assert (actions[..., 1][alive] == expected[alive]).all()
        batch.step(actions)
    assert batch.finished.any() or (batch.lengths < 20).all()


def test_each_seat_has_its_policy_and_the_others_are_left_alone():
    batch = meteor_batch(2)
    actions = np.full((2, 3, 2), 7)
    SeatedPolicies(batch, [COUNTER, MINDER], [[0, UNSEATED, 1], [1, 1, UNSEATED]]).act(actions)
    assert actions.tolist() == [[[1, 1], [7, 7], [2, 2]], [[2, 0], [2, 1], [7, 7]]]


def test_policies_that_differ_in_their_first_memory_play_side_by_side():
    """They share one loop, also in one environment, with other policies between them."""
    late, later = (replace(COUNTER, initial_memory=(("moves", moves),)) for moves in (1, 2))
    batch = meteor_batch(3)
    players = SeatedPolicies(batch, [later, MINDER, COUNTER, late], [[0, 2, 3], [1, 3, 3], [2, UNSEATED, 0]])
    actions = np.full((3, 3, 2), 7)
    players.act(actions)
    assert actions[..., 1].tolist() == [[1, 1, 2], [0, 2, 2], [1, 7, 1]]
    players.act(actions)  # no step: the memories of the episode begin again
    assert actions[..., 1].tolist() == [[1, 1, 2], [0, 2, 2], [1, 7, 1]]
    batch.lengths[:] = 1
    players.act(actions)
    assert actions[..., 1].tolist() == [[1, 2, 1], [0, 1, 1], [2, 7, 1]]


def test_policies_are_not_called_without_a_choice():
    batch = meteor_batch(1)
    batch.masks[0, 1] = [0, 0, 1, 0, 1, 0]
    assert SeatedPolicies(batch, [COUNTER], [0, 0, 0]).act()[0].tolist() == [[1, 1], [2, 1], [1, 1]]
    batch.masks[0, 1] = 0
    assert SeatedPolicies(batch, [COUNTER], [0, 0, 0]).act()[0, 1].tolist() == [0, 0]


def test_random_draws_do_not_depend_on_the_batch():
    small, large = meteor_batch(2), meteor_batch(9)
    few, many = (SeatedPolicies(batch, [batch_policy("random", batch.game)], [0, 0, 0], seed=5) for batch in (small, large))
    for _ in range(3):
        assert (few.act() == many.act()[:2]).all()
    words = np.arange(6, dtype=np.uint64).reshape(2, 3)
    own = [SeatedPolicies(small, [batch_policy("random", small.game)], [0, 0, 0], words).act().copy() for _ in range(2)]
    assert (own[0] == own[1]).all()
    assert words.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_threads_do_not_change_actions(monkeypatch):
    """Shared or not, with seats in some environments only, memories, random draws and something to do meanwhile."""
    found = []
    for threads, shared_from in ((1, 0.0), (3, -1.0), (3, 1e9)):
        monkeypatch.setattr(policies, "SHARED_FROM", shared_from)
        batch = meteor_batch(9)
        seats = np.full((9, 3), UNSEATED)
        seats[4:, 0], seats[:, 1], seats[8, 2] = 0, 1, 0
        players = SeatedPolicies(batch, [COUNTER, batch_policy("random", batch.game)], seats, seed=5, threads=threads)
        rounds, callers = [], []
        for _ in range(5):
            actions = np.full((9, 3, 2), 7)
            rounds.append(players.act(actions, meanwhile=lambda callers=callers: callers.append(threading.get_ident())).copy())
            batch.step(actions % 2)
        assert callers == [threading.get_ident()] * 5
        found.append(np.stack(rounds))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    assert (found[0][:, :4, 0] == 7).all()


def test_random_covers_every_legal_action_and_no_other():
    batch = meteor_batch(200)
    batch.masks[:, :, 2] = 0
    actions = SeatedPolicies(batch, [batch_policy("random", batch.game)], [0, 0, 0]).act()
    assert np.unique(actions[..., 0]).tolist() == [0, 1]
    assert np.unique(actions[..., 1]).tolist() == [0, 1, 2]


def test_in_turns_the_mover_alone_moves():
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    for views in ("mover", "all"):
        batch = Batch(game, 30, views=views)
        batch.seed(0)
        batch.reset()
        batch.last_actions[:] = -1
        SeatedPolicies(batch, [batch_policy("random", game)], [UNSEATED, 0]).act()
        assert (batch.last_actions == -1).all()
        players = SeatedPolicies(batch, [batch_policy("random", game)], [0, 0])
        for _ in range(10):
            actions = players.act()
            assert batch.find_illegal_env(actions) == -1
            batch.step(actions)


def test_one_by_one_it_is_the_same_policy():
    game = meteors.game("meteors-v0")
    one, rng = AgentPolicy(COUNTER, game, agent=1), np.random.default_rng(0)
    state, mask = game.make_state(), np.ones(6, np.int8)
    before = state.tobytes()
    assert [one(state[0], mask, rng).tolist() for _ in range(3)] == [[1, 1], [1, 2], [1, 1]]
    assert state.tobytes() == before
    twin = copy.deepcopy(one)
    one.reset()
    assert one(state[0], mask, rng).tolist() == [1, 1]
    assert one(state[0], mask, rng).tolist() == [1, 2]
    assert twin(state[0], mask, rng).tolist() == [1, 1]  # the copy has a memory of its own


def test_the_gymnasium_api_resets_the_memory_of_each_agent(monkeypatch):
    calls = {"made": [], "reset": []}

    class Observed(AgentPolicy):
        def __init__(self, game, agent=None):
            super().__init__(COUNTER, game, agent)
            calls["made"].append(agent)

        def reset(self):
            super().reset()
            calls["reset"].append(self.agent)

    monkeypatch.setattr(registry, "policy", lambda name, game, agent: Observed(game, agent))
    env = SingleAgentEnv(meteors.game("meteors-v0", limit=5), others="counter")
    assert calls["made"] == [1, 2]
    for seed in range(4):
        env.reset(seed=seed)
        over, heard = False, []
        while not over:
            over = any(env.step([1 + len(heard) % 2, 0])[2:4])
            heard.append(env.episode.state["word"][1:].tolist())
            gone = env.episode.state["gone"][1:]
            expected = 2 if len(heard) == 2 else 1
            assert [word for word, left in zip(heard[-1], gone, strict=True) if not left] == [expected] * (2 - int(gone.sum()))
    assert calls["reset"] == [1, 2] * 4


class Collector:
    """Plays its first legal action, and collects the returns that are reported to it."""

    def __init__(self, game, agent):
        self.values = []
        COLLECTORS.append(self)

    def set_return(self, value):
        self.values.append(value.tolist())

    def __call__(self, observation, mask, rng):
        return int(np.flatnonzero(mask)[0])


COLLECTORS = []
COLLECTOR = f"{__name__}:Collector"


def test_policies_read_their_returns_in_batches_environments_and_matches():
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5, objectives=("captures", "losses"))
    COLLECTORS.clear()
    seats = [Seat(policy(COLLECTOR, game, agent)) for agent in (0, 1)]
    play_game(game, seats, 0, [np.random.default_rng(0)] * 2)
    expected = [one.values for one in COLLECTORS]
    assert all(values[0] == [0, 0] and values[-1] != [0, 0] for values in expected)

    COLLECTORS.clear()
    play_policies(
        game, generate_starts(game, np.array([0], np.uint64)), [batch_policy(COLLECTOR, game)], [0, 0], np.ones(2, np.uint64)
    )
    assert [one.values for one in COLLECTORS] == expected

    COLLECTORS.clear()
    env = SingleAgentEnv(game, others=COLLECTOR)
    env.reset(seed=0)
    over = False
    while not over:
        over = env.step(int(np.flatnonzero(env.action_masks())[0]))[2]
    assert [one.values for one in COLLECTORS] == expected[1:]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda batch: SeatedPolicies(batch, [COUNTER], [0, 0]), r"shape \(2,\)"),
        (lambda batch: SeatedPolicies(batch, [COUNTER], [0, 0, 1]), r"expected -1\.\.0"),
        (lambda batch: SeatedPolicies(batch, [COUNTER], [0.0, 0.0, 0.0]), "expected integers"),
        (lambda batch: SeatedPolicies(batch, [COUNTER], [0, 0, 0], np.zeros(3, np.uint64)), r"uint64\[4, 3\]"),
        (lambda batch: SeatedPolicies(batch, [SIMPLE], [0, 0, 0]), "simple only plays"),
        (lambda batch: AgentPolicy(COUNTER, batch.game), "the argument agent is missing"),
        (lambda batch: AgentPolicy(COUNTER, batch.game, agent=3), "agent=3"),
        (lambda batch: policy("momagames.games.pommerman.policies:SIMPLE", batch.game, 0), "simple only plays"),
    ],
)
def test_what_cannot_be(call, said):
    with pytest.raises(InvalidParameter, match=said):
        call(meteor_batch())


def test_names():
    game = momagames.spec("mo-breakthrough-v0")
    assert batch_policy("greedy", game).name == "greedy"
    assert batch_policy("random", game).name == "random"
    with pytest.raises(UnknownId, match="mo-breakthrough-v0: invalid policy='simple': expected 'solved', 'random', "):
        batch_policy("simple", game)
    with pytest.raises(UnknownId, match="did you mean 'simple'"):
        batch_policy("simpl", momagames.spec("mo-pommerman-ffa-v0"))


@pytest.mark.parametrize("action", [-1, 3, 10**6])
def test_illegal_actions_of_python_policies_are_errors(action):
    game = registry.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    starts, words = generate_starts(game, np.arange(2, dtype=np.uint64)), np.arange(4, dtype=np.uint64).reshape(2, 2)
    policies = [batch_policy("random", game), make_batch_policy("mine", lambda observation, mask, rng: action, game)]
    with pytest.raises(IllegalAction, match=f"illegal action={action} of player_1 in episode 0"):
        play_policies(game, starts, policies, np.array([[0, 1], [0, 1]]), words)


# --------------------------------------------------------------------------------------------------- steps of look-ahead


RULES = [
    ("mo-samegame-v0", {"board_width": 5, "board_height": 4, "num_colors": 3}),
    ("mo-samegame-v0", {"board_width": 4, "board_height": 4, "num_colors": 2, "num_agents": 2, "scoring": "classic"}),
    ("mo-breakthrough-v0", {"board_width": 3, "board_height": 5}),
    ("mo-pommerman-duel-v0", {"board_size": 7, "max_steps": 60}),
    pytest.param("mo-tileblast-v0", {"level": 1}, marks=pytest.mark.long),  # 14 seconds to compile
]


@pytest.mark.parametrize(("id", "params"), RULES, ids=lambda value: value if isinstance(value, str) else "")
def test_both_ways_to_play_episodes_are_equal(id, params):
    """`play_episodes` without Python between two moves, and the kernels of the same policies in a batch.

    The players of these games nearly always have a choice: without one only the first way draws.
    """
    game = momagames.spec(id, **params)
    n, agents = 12, len(game.agents)
    players = [batch_policy("random", game)]
    if can_look_ahead(game):
        weights = np.arange(1.0, len(game.objectives) + 1)
        players += [batch_policy("greedy", game), batch_policy("greedy", game, weights=weights)]
    if game.search.present and len(set(game.teams)) == 1:
        players += [batch_policy("greedy", game, estimate="both")]
    rng = np.random.default_rng(0)
    seats, words = rng.integers(len(players), size=(n, agents)), rng.integers(2**64, size=(n, agents), dtype=np.uint64)
    seats[: len(players)] = np.arange(len(players))[:, None]
    starts = generate_starts(game, np.arange(n, dtype=np.uint64))
    rules, keeps = np.array([one.rule for one in players])[seats], game.sequential
    whole = play_episodes(game, starts, rules, policy_weights(game, players)[seats], words, keep_moves=keeps)
    seated = play_policies(game, starts, players, seats, words, keep_moves=keeps)
    for one in ("states", "returns", "lengths", "steps"):
        assert getattr(whole, one).tobytes() == getattr(seated, one).tobytes(), one
    assert not keeps or np.array_equal(whole.moves[:, : whole.lengths.max()], seated.moves)
    assert (whole.steps > whole.lengths).any() == can_look_ahead(game)


def test_look_ahead_counts_beside_every_policy():
    """Greedy against a rule and against a kernel; each playout of the tree search has one step."""
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    greedy, n = batch_policy("greedy", game), 8
    starts = generate_starts(game, np.arange(n, dtype=np.uint64))
    words = np.arange(2 * n, dtype=np.uint64).reshape(n, 2)
    for name, options, each in (("random", {}, 0), ("uct", {"simulations": 7, "horizon": 1}, 7)):
        other = batch_policy(name, game, **options)
        done = play_from_starts(game, (greedy,), other, 0, starts, words)
        batch, tried = Batch(game, n, autoreset="disabled"), np.zeros(n, np.int64)
        batch.load(starts)
        seated = SeatedPolicies(batch, [greedy, other], [0, 1], words)
        while not batch.states["over"].all():
            legal, running = batch.masks[:, 0].sum(axis=1), batch.states["over"] == 0
            tried += running * np.where(batch.states["to_move"] == 0, legal, each * (legal > 1))
            batch.step(seated.act())
        assert (done.steps - done.lengths).tolist() == tried.tolist()
        assert seated.lookahead_steps().tolist() == tried.tolist()
        own = np.zeros((n, 2), np.bool_)
        own[:, 1] = True
        assert (seated.lookahead_steps(own) > 0).all() == (each > 0)


@pytest.mark.long  # 14 seconds to compile
def test_taps_that_are_tried_are_steps():
    game = momagames.spec("mo-tileblast-v0", level=1)
    starts = generate_starts(game, np.arange(3, dtype=np.uint64))
    looking, contact = (batch_policy(name, game) for name in ("one_step_lookahead", "greedy_contact"))
    done = [play_policies(game, starts, [one], [0], np.ones((3, 1), np.uint64)) for one in (looking, contact)]
    assert (done[0].steps >= 3 * done[0].lengths).all()
    assert (done[1].steps == done[1].lengths).all()


def list_functions(function):
    """All Python functions that a kernel can call."""
    found, rest = set(), [function]
    while rest:
        one = rest.pop()
        one = getattr(one, "py_func", None) or getattr(one, "__wrapped__", None) or one
        if isinstance(one, FunctionType) and one not in found:
            found.add(one)
            names = one.__code__.co_names
            rest += [cell.cell_contents for cell in one.__closure__ or ()]
            rest += [one.__globals__[name] for name in names if name in one.__globals__]
    return found


@pytest.mark.parametrize("id", momagames.ids())
def test_every_policy_that_steps_a_game_counts_its_steps(id):
    """By the kernels that a policy reaches."""
    params = {"board_width": 5, "board_height": 5} if "breakthrough" in id else {}
    game = momagames.spec(id, **params)
    stepping = {getattr(one, "py_func", one) for one in (game.kernels.step, play_valid_tap, place_token)}
    made = []
    for name in {**POLICIES, **game.policies, **game.solvers.policies}:
        with contextlib.suppress(InvalidParameter):  # not in this game
            made.append(batch_policy(name, game))
    assert len(made) > 2
    for one in made:
        assert bool(list_functions(one.act) & stepping) == ("lookahead_steps" in one.memory.names), one.name
    assert any("lookahead_steps" in one.memory.names for one in made) or not supports_lookahead(game)


@pytest.mark.long
def test_a_forced_move_is_no_look_ahead():
    """In both ways to play an episode; robots are often left without a choice."""
    game = momagames.spec("mo-robotmail-2-v0", max_step=200)
    greedy, n = batch_policy("greedy", game), 4
    starts, words = generate_starts(game, np.arange(n, dtype=np.uint64)), random_words(0, 2 * n).reshape(n, 2)
    seats = np.zeros((n, 2), np.int64)
    weights = policy_weights(game, [greedy])[seats]
    whole = play_episodes(game, starts, np.full((n, 2), greedy.rule), weights, words, keep_moves=True)
    seated = play_policies(game, starts, [greedy], seats, words, keep_moves=True)
    for done in (whole, seated):
        batch, tried, forced = Batch(game, n, autoreset="disabled"), np.zeros(n, np.int64), 0
        batch.load(starts)
        for t in range(done.lengths.max()):
            legal, running = batch.masks[:, 0].sum(axis=1), batch.states["over"] == 0
            forced += (running & (legal == 1)).sum()
            tried += running * legal * (legal > 1)
            batch.step(done.moves[:, t].reshape(n, 1, 1).astype(np.int64))
        assert (done.steps - done.lengths).tolist() == tried.tolist()
        assert forced > 10
