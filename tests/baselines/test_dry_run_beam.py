"""Plans for one deal of a game that draws during play: real ones, all where all can be tried, and none for other games."""

import numpy as np
import pytest

import momagames
from momagames.baselines import compiled, method
from momagames.baselines.archive import undominated
from momagames.baselines.players import Players, play_kernels
from momagames.baselines.rollouts import deal
from momagames.baselines.tileblast_estimates import optimistic, present
from momagames.engine.batch import Batch
from momagames.engine.play import Play
from momagames.errors import InvalidParameter
from momagames.games.tileblast.pay import COMPONENTS
from momagames.kernels.jit import driver
from tests.baselines.test_tileblast_agents import distance, level

ID = "mo-tileblast-v0"
PLANNERS = [
    ("dry_run_random", {}),
    ("dry_run_beam", {"width": 8, "estimate": "none"}),
    ("dry_run_beam", {"width": 8, "estimate": "optimistic"}),
    ("dry_run_beam", {"width": 8, "estimate": "present"}),
    ("dry_run_local_search", {"divisions": 1, "keep": 1.0, "greed": 0.1, "patience": 20}),
    ("dry_run_nrpa", {"divisions": 1, "levels": 2, "iterations": 10, "alpha": 1.0}),
    ("dry_run_pareto_nrpa", {"num_policies": 2, "levels": 2, "iterations": 10, "alpha": 1.0}),
]
BOARD = ["rbyrb", "rryby", "brbyr"]
RED = [{"collect": "basic.red", "amount": 7}]


def beam(width, estimate="present"):
    return method("dry_run_beam")(width=width, estimate=estimate)


def dealt(game, seed):
    return deal(game, np.array([seed], np.uint64))


@pytest.mark.parametrize(("name", "options"), PLANNERS)
@pytest.mark.parametrize(
    "params",
    [
        {"level": 7, "objectives": ["moves_saved", "score", "created"]},
        {"level": 10, "objectives": ["goals", "move", "score", "used"], "normalise": True},
        {"level": 5, "objectives": ["win", "step"], "strict_moves": False, "max_taps": 30},
    ],
)
def test_plans_bring_what_they_say(name, options, params):
    game = momagames.spec(ID, **params)
    start = dealt(game, 3)
    found = method(name)(**options).plan(game, start, 4000, 1)
    assert found.plans
    assert found.steps <= 4000
    assert not found.complete
    for plan in found.plans:
        one = Play(game)
        one.deal(3)
        for action in plan.actions:
            assert one.is_legal(0, action)
            one.turn(action)
        assert one.state["over"]
        assert np.allclose(one.returns[0], plan.value, rtol=0, atol=1e-6)
        assert (found.values >= plan.value).all(axis=1).sum() == 1  # itself alone
    again = method(name)(**options).plan(game, start, 4000, 1)
    assert [plan.actions for plan in again.plans] == [plan.actions for plan in found.plans]


def every_value(game, start):
    """The values of all plays, by trying every valid tap of every position."""
    one = Play(game)

    def rest_of(state):
        if state["over"]:
            return {(0.0,) * len(game.objectives)}
        values = set()
        one.load(state)
        for action in np.flatnonzero(one.mask(0)):
            one.load(state)
            one.turn(int(action))
            paid, after = one.reward[0].copy(), one.state.copy()
            values |= {tuple((np.array(value) + paid).tolist()) for value in rest_of(after)}
        return values

    return np.array(sorted(rest_of(start[0])))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("estimate", ["none", "present"])
def test_the_front_of_a_tiny_level_is_whole(seed, estimate):
    data = level(BOARD, [{"collect": "basic.red", "amount": 4}], moves=3)
    game = momagames.spec(ID, level=data, objectives=["goals", "move", "score", "created"])
    start = dealt(game, seed)
    values = every_value(game, start)
    front = values[undominated(values)]
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
def test_taps_that_do_the_same_are_tried_once(row, steps):
    game = momagames.spec(ID, level=level([row], RED, moves=1))
    assert beam(1, "none").plan(game, dealt(game, 0), 10**9, 0).steps == steps


@pytest.mark.parametrize("budget", [1, 3000, 20_000])
def test_the_budget_is_kept_after_the_first_pass(budget):
    game = momagames.spec(ID, level=4, objectives=["goals", "move", "score"])
    found = beam(64).plan(game, dealt(game, 0), budget, 0)
    first = beam(1).plan(game, dealt(game, 0), 10**9, 0)
    assert found.plans
    assert found.steps <= max(budget, first.steps)


@pytest.mark.parametrize("number", [1, 4, 7])
def test_a_narrow_beam_wins_where_lookahead_does_and_sooner(number):
    game = momagames.spec(ID, level=number, objectives=["moves_saved", "score", "created"])
    starts = deal(game, np.arange(3, dtype=np.uint64))
    seats, words = np.zeros((3, 1), np.int64), np.zeros((3, 1), np.uint64)
    played = play_kernels(game, starts, [compiled("lookahead", game)], seats, words).returns[:, 0]
    assert played[:, 0].max() > 0
    for start, reached in zip(starts, played, strict=True):
        values = beam(16).plan(game, start.reshape(1), 10**9, 0).values
        assert (values >= reached).all(axis=1).any()
        assert values[:, 0].max() > reached[0] or reached[0] == 15  # the fifth tap is the first that can win


# ------------------------------------------------------------------------------------------------------------- estimates


def _estimate(states, out, ahead):
    for i in range(states.shape[0]):
        if ahead == 1:
            optimistic(states[i], out[i])
        else:
            present(states[i], out[i])


estimate = driver(_estimate, "tests.tileblast_estimates")


@pytest.mark.parametrize("name", ["random", "lookahead", "anything"])
@pytest.mark.parametrize(
    "params",
    [
        {"level": 1, "normalise": True},
        {"level": 5, "strict_moves": False, "max_taps": 60},
        {"level": 9},
        {"level": 10},
        {"level": 12, "strict_moves": False, "max_taps": 30},
    ],
)
def test_no_game_wins_more_than_the_optimistic_estimate(name, params):
    """In every component, from every position of games of a policy, or of taps valid or not."""
    game = momagames.spec(ID, **params, objectives=list(COMPONENTS))
    batch, rng = Batch(game, 8, autoreset="disabled"), np.random.default_rng(0)
    batch.seed(1)
    batch.reset()
    players = None if name == "anything" else Players(batch, [compiled(name, game)], [0])
    won, bounds, sums = np.zeros((8, len(COMPONENTS))), [], []
    while not batch.states["over"].all():
        out = np.zeros((8, len(COMPONENTS)))
        estimate(batch.states.copy(), out, 1)
        bounds.append(out)
        sums.append(won.copy())
        going = batch.states["over"][:, None] == 0
        batch.step(players.act() if players else rng.integers(117, size=(8, 1, 1)))
        won += batch.rewards[:, 0] * going
    for bound, before in zip(bounds, sums, strict=True):
        assert (won - before <= bound + 1e-4).all()
    out = np.ones((8, len(COMPONENTS)))
    estimate(batch.states.copy(), out, 1)
    assert (out == 0).all()  # nothing comes after the end


def guide(data, **params):
    """What "present" says of the start of a level, by component."""
    game = momagames.spec(ID, level=data, objectives=list(COMPONENTS), **params)
    out = np.zeros((1, len(COMPONENTS)))
    estimate(dealt(game, 0), out, 2)
    return dict(zip(COMPONENTS, out[0], strict=True)), dealt(game, 0)[0]


def test_the_guide_by_hand():
    data = level(["rrrybbyd-"], [{"collect": "dandelion", "amount": 1}, *RED], moves=10, legend={"d": "dandelion"})
    said, state = guide(data)
    need = distance(state) / 1.5  # 1 dandelion, 7 red tiles
    assert need == pytest.approx(8 / 1.5)
    assert (said["goals"], said["goal_1"], said["goal_2"], said["win"]) == (8, 1, 7, 1)
    assert said["move"] == said["step"] == pytest.approx(-need)
    assert said["moves_saved"] == pytest.approx(10 - need)
    assert said["score"] == 3 + 1 + 2 + 10  # groups of three and two, a rocket
    assert said["used"] == 1
    assert [said[name] for name in ("created", "combo", "invalid", "goal_3", "color_1")] == [0] * 5


def test_the_guide_where_there_are_too_few_moves():
    said, state = guide(level(["rrrybby"], RED, moves=2), normalise=True)
    done = 2 / (distance(state) / 1.5)
    assert said["win"] == pytest.approx(done)
    assert said["goals"] == said["goal_1"] == pytest.approx(done)
    assert said["move"] == pytest.approx(-1)
    assert said["moves_saved"] == 0


# --------------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("name", "options", "id", "params", "said"),
    [
        ("beam", {"width": 1, "estimate": "none"}, ID, {}, r"beam plans where nothing .* draws during play \(dry_run_beam"),
        ("random", {}, ID, {}, "dry_run_random plan for one deal"),
        ("dry_run_beam", {"width": 1, "estimate": "none"}, ID, {"num_agents": 2}, "2 agents with rewards of their own"),
        (
            "dry_run_random",
            {},
            "mo-breakthrough-v0",
            {},
            "dry_run_random plans for one agent, or for several that all get every reward",
        ),
        ("dry_run_beam", {"width": 1, "estimate": "none"}, "mo-pommerman-team-v0", {}, "rewards of their own"),
        (
            "dry_run_beam",
            {"width": 4096, "estimate": "none"},
            "mo-samegame-v0",
            {"board_width": 30, "board_height": 30},
            r"width=4096 needs more than 2 GiB .*; allowed: 1\.\.\d+",
        ),
    ],
)
def test_refused_games(name, options, id, params, said):
    with pytest.raises(InvalidParameter, match=said):
        method(name)(**options).check_plan(momagames.spec(id, **params))


def test_agents_that_gain_together_are_planned_for():
    team = momagames.spec(ID, level=4, num_agents=2, team_rewards=True, objectives=["goals", "move", "score"])
    alone = momagames.spec(ID, level=4, objectives=["goals", "move", "score"])
    assert (
        beam(4).plan(team, dealt(team, 5), 3000, 0).values.tolist()
        == beam(4).plan(alone, dealt(alone, 5), 3000, 0).values.tolist()
    )


def test_wrong_options_name_the_method():
    with pytest.raises(InvalidParameter, match=r"dry_run_beam: invalid width=0: .*1\.\.4096"):
        beam(0)
    with pytest.raises(InvalidParameter, match=r"dry_run_beam: invalid estimate='presnt': .*did you mean 'present'"):
        beam(1, "presnt")
    with pytest.raises(InvalidParameter, match="dry_run_random has no policies"):
        method("dry_run_random")().policies(momagames.spec(ID))
