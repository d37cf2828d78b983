"""Clairvoyant plans for one instance of a game with chance: replays, brute force on tiny levels, and unsupported games."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method
from momagames.baselines.archive import is_nondominated
from momagames.engine.batch import Batch
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies, play_policies
from momagames.errors import InvalidParameter
from momagames.games.tileblast.heuristics import optimistic, present
from momagames.games.tileblast.rules.rewards import COMPONENTS
from momagames.kernels.jit import compile_entry_point
from tests.games.tileblast.test_agents import distance, level

pytestmark = pytest.mark.long  # kernels of methods in several games

ID = "mo-tileblast-v0"
PLANNERS = [
    ("hindsight_random", {}),
    ("hindsight_beam", {"width": 8, "estimate": "none"}),
    ("hindsight_beam", {"width": 8, "estimate": "optimistic"}),
    ("hindsight_beam", {"width": 8, "estimate": "present"}),
    ("hindsight_local_search", {"divisions": 1, "keep": 1.0, "greed": 0.1, "patience": 20}),
    ("hindsight_nrpa", {"divisions": 1, "levels": 2, "iterations": 10, "alpha": 1.0}),
    ("hindsight_pareto_nrpa", {"num_policies": 2, "levels": 2, "iterations": 10, "alpha": 1.0}),
]
BOARD = ["rbyrb", "rryby", "brbyr"]
RED = [{"collect": "basic.red", "amount": 7}]


def beam(width, estimate="present"):
    return method("hindsight_beam")(width=width, estimate=estimate)


def make_start(game, seed):
    return generate_starts(game, np.array([seed], np.uint64))


@pytest.mark.parametrize(("name", "options"), PLANNERS)
@pytest.mark.parametrize(
    "params",
    [
        {"level": 7, "objectives": ["moves_saved", "score", "created"]},
        {"level": 10, "objectives": ["goals", "move", "score", "used"], "normalize": True},
        {"level": 5, "objectives": ["win", "step"], "strict_moves": False, "max_taps": 30},
    ],
)
def test_plans_attain_their_values(name, options, params):
    game = momagames.spec(ID, **params)
    start = make_start(game, 3)
    found = method(name)(**options).plan(game, start, 4000, 1)
    assert found.plans
    assert found.steps <= 4000
    assert not found.complete
    for plan in found.plans:
        one = Episode(game)
        one.reset(3)
        for action in plan.actions:
            assert one.is_legal(0, action)
            one.step(action)
        assert one.state["over"]
        assert np.allclose(one.returns[0], plan.value, rtol=0, atol=1e-6)
        assert (found.values >= plan.value).all(axis=1).sum() == 1  # only the plan itself
    again = method(name)(**options).plan(game, start, 4000, 1)
    assert [plan.actions for plan in again.plans] == [plan.actions for plan in found.plans]


def enumerate_values(game, start):
    """Enumerate the values of all games by trying every valid tap of every position."""
    one = Episode(game)

    def enumerate_from(state):
        if state["over"]:
            return {(0.0,) * len(game.objectives)}
        values = set()
        one.load(state)
        for action in np.flatnonzero(one.mask(0)):
            one.load(state)
            one.step(int(action))
            reward, after = one.reward[0].copy(), one.state.copy()
            values |= {tuple((np.array(value) + reward).tolist()) for value in enumerate_from(after)}
        return values

    return np.array(sorted(enumerate_from(start[0])))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("estimate", ["none", "present"])
def test_finds_the_whole_front_of_a_tiny_level(seed, estimate):
    data = level(BOARD, [{"collect": "basic.red", "amount": 4}], moves=3)
    game = momagames.spec(ID, level=data, objectives=["goals", "move", "score", "created"])
    start = make_start(game, seed)
    values = enumerate_values(game, start)
    front = values[is_nondominated(values)]
    assert len(values) > len(front) > 2
    assert beam(4096, estimate).plan(game, start, 10**9, 0).values.tolist() == sorted(front.tolist())


@pytest.mark.parametrize(
    ("row", "steps"),
    [
        ("rrrybby", 2),  # a group, whatever its cell
        ("rrrrryb", 5),  # the power piece lies where the tap was
        ("rr-ybby", 3),
    ],
)
def test_equivalent_taps_are_tried_once(row, steps):
    game = momagames.spec(ID, level=level([row], RED, moves=1))
    assert beam(1, "none").plan(game, make_start(game, 0), 10**9, 0).steps == steps


@pytest.mark.parametrize("budget", [1, 3000, 20_000])
def test_respects_the_budget_after_the_first_pass(budget):
    game = momagames.spec(ID, level=4, objectives=["goals", "move", "score"])
    found = beam(64).plan(game, make_start(game, 0), budget, 0)
    first = beam(1).plan(game, make_start(game, 0), 10**9, 0)
    assert found.plans
    assert found.steps <= max(budget, first.steps)


@pytest.mark.parametrize("number", [1, 4, 7])
def test_a_narrow_beam_wins_where_lookahead_does_and_sooner(number):
    game = momagames.spec(ID, level=number, objectives=["moves_saved", "score", "created"])
    starts = generate_starts(game, np.arange(3, dtype=np.uint64))
    seats, words = np.zeros((3, 1), np.int64), np.zeros((3, 1), np.uint64)
    played = play_policies(game, starts, [batch_policy("one_step_lookahead", game)], seats, words).returns[:, 0]
    assert played[:, 0].max() > 0
    for start, reached in zip(starts, played, strict=True):
        values = beam(16).plan(game, start.reshape(1), 10**9, 0).values
        assert (values >= reached).all(axis=1).any()
        assert values[:, 0].max() > reached[0] or reached[0] == 15  # the fifth tap is the first that can win


# ------------------------------------------------------------------------------------------------------------- estimates


def _estimate(states, out, kind):
    for i in range(states.shape[0]):
        if kind == 1:
            optimistic(states[i], out[i])
        else:
            present(states[i], out[i])


estimate = compile_entry_point(_estimate, "tests.tileblast_estimates")


@pytest.mark.parametrize("name", ["random", "one_step_lookahead", "anything"])
@pytest.mark.parametrize(
    "params",
    [
        {"level": 1, "normalize": True},
        {"level": 5, "strict_moves": False, "max_taps": 60},
        {"level": 9},
        {"level": 10},
        {"level": 12, "strict_moves": False, "max_taps": 30},
    ],
)
def test_optimistic_estimate_is_an_upper_bound(name, params):
    """In every component, from every position of games of a policy, or of taps valid or not."""
    game = momagames.spec(ID, **params, objectives=list(COMPONENTS))
    batch, rng = Batch(game, 8, autoreset="disabled"), np.random.default_rng(0)
    batch.seed(1)
    batch.reset()
    players = None if name == "anything" else SeatedPolicies(batch, [batch_policy(name, game)], [0])
    returns, bounds, sums = np.zeros((8, len(COMPONENTS))), [], []
    while not batch.states["over"].all():
        out = np.zeros((8, len(COMPONENTS)))
        estimate(batch.states.copy(), out, 1)
        bounds.append(out)
        sums.append(returns.copy())
        unfinished = batch.states["over"][:, None] == 0
        batch.step(players.act() if players else rng.integers(117, size=(8, 1, 1)))
        returns += batch.rewards[:, 0] * unfinished
    for bound, before in zip(bounds, sums, strict=True):
        assert (returns - before <= bound + 1e-4).all()
    out = np.ones((8, len(COMPONENTS)))
    estimate(batch.states.copy(), out, 1)
    assert (out == 0).all()  # no return after the end


def estimate_start(data, **params):
    """Return the estimate "present" of the start of a level by component, and the start."""
    game = momagames.spec(ID, level=data, objectives=list(COMPONENTS), **params)
    out = np.zeros((1, len(COMPONENTS)))
    estimate(make_start(game, 0), out, 2)
    return dict(zip(COMPONENTS, out[0], strict=True)), make_start(game, 0)[0]


def test_present_estimate_by_hand():
    data = level(["rrrybbyd-"], [{"collect": "dandelion", "amount": 1}, *RED], moves=10, legend={"d": "dandelion"})
    message, state = estimate_start(data)
    need = distance(state) / 1.5  # 1 dandelion, 7 red tiles
    assert need == pytest.approx(8 / 1.5)
    assert (message["goals"], message["goal_1"], message["goal_2"], message["win"]) == (8, 1, 7, 1)
    assert message["move"] == message["step"] == pytest.approx(-need)
    assert message["moves_saved"] == pytest.approx(10 - need)
    assert message["score"] == 3 + 1 + 2 + 10  # groups of three and two, a rocket
    assert message["used"] == 1
    assert [message[name] for name in ("created", "combo", "invalid", "goal_3", "color_1")] == [0] * 5


def test_present_estimate_with_too_few_moves():
    message, state = estimate_start(level(["rrrybby"], RED, moves=2), normalize=True)
    done = 2 / (distance(state) / 1.5)
    assert message["win"] == pytest.approx(done)
    assert message["goals"] == message["goal_1"] == pytest.approx(done)
    assert message["move"] == pytest.approx(-1)
    assert message["moves_saved"] == 0


# --------------------------------------------------------------------------------------------------------------- errors


def test_rejects_unsupported_games():
    for name, options, id, params, message in [
        (
            "beam",
            {"width": 1, "estimate": "none"},
            ID,
            {},
            r"beam needs a game without chance .* draws during play \(hindsight_beam",
        ),
        ("random", {}, ID, {}, "hindsight_random plan with known chance outcomes"),
        ("hindsight_beam", {"width": 1, "estimate": "none"}, ID, {"num_agents": 2}, "2 agents with rewards of their own"),
        (
            "hindsight_random",
            {},
            "mo-breakthrough-v0",
            {},
            "hindsight_random needs one agent, or several that share all rewards",
        ),
        ("hindsight_beam", {"width": 1, "estimate": "none"}, "mo-pommerman-team-v0", {}, "rewards of their own"),
        (
            "hindsight_beam",
            {"width": 4096, "estimate": "none"},
            "mo-samegame-v0",
            {"board_width": 30, "board_height": 30},
            r"invalid width=4096: expected 1\.\.\d+ .* more needs over 2 GiB",
        ),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            method(name)(**options).check_plan(momagames.spec(id, **params))


def test_team_plans_equal_those_of_one_agent():
    team = momagames.spec(ID, level=4, num_agents=2, team_rewards=True, objectives=["goals", "move", "score"])
    alone = momagames.spec(ID, level=4, objectives=["goals", "move", "score"])
    assert (
        beam(4).plan(team, make_start(team, 5), 3000, 0).values.tolist()
        == beam(4).plan(alone, make_start(alone, 5), 3000, 0).values.tolist()
    )


def test_wrong_options_name_the_method():
    with pytest.raises(InvalidParameter, match=r"hindsight_beam: invalid width=0: expected 1\.\.4096"):
        beam(0)
    with pytest.raises(InvalidParameter, match=r"hindsight_beam: invalid estimate='presnt'.* did you mean 'present'"):
        beam(1, "presnt")
    with pytest.raises(InvalidParameter, match="hindsight_random has no policies"):
        method("hindsight_random")().policies(momagames.spec(ID))
