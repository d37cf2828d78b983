"""Pictures, texts, people and scripted agents of MO-Ingenious."""

import math

import numpy as np
import pytest
from momagames.envs.ingenious import moingenious_v0

import momagames
import momagames.baselines
from momagames.benchmark.matches import match
from momagames.games.ingenious import view
from momagames.games.ingenious.codec import find_geometry, format_placement, parse_placement
from momagames.render import canvas
from tests.games.ingenious.naive import Ingenious

ID = "mo-ingenious-v0"


def play(env, moves, seed=1):
    """Make random moves; return the last action."""
    env.reset(seed=seed)
    rng, last = np.random.default_rng(seed), None
    for _ in range(moves):
        if all(env.terminations.values()):
            break
        last = int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))
        env.step(last)
    return last


def make_racks(env):
    return env.get_state()["racks"][env.possible_agents.index(env.agent_selection)]


def test_names_of_placements_are_placements():
    env = momagames.make(ID)
    play(env, 5)
    state, rack, seen = env.unwrapped.record, make_racks(env), set()
    for action in np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist():
        name = format_placement(state, action)
        assert parse_placement(state, name) == action
        assert " " not in name
        other = parse_placement(state, name.partition("@")[0])
        assert (other // 6, rack[other % 6]) == (action // 6, rack[action % 6]) or rack[action % 6][0] == rack[action % 6][1]
        seen.add(name)
    assert len(seen) > 100
    pair, (a, b) = find_geometry(5).pairs[60], rack[0]
    turned = f"{b}({pair[1][0]},{pair[1][1]}){a}({pair[0][0]},{pair[0][1]})"
    assert parse_placement(state, turned) // 6 in (60, find_geometry(5).pairs.index(pair[::-1]))
    assert parse_placement(state, "17") == 17
    with pytest.raises(ValueError, match="expected colors with their cells"):
        parse_placement(state, "1 2")
    with pytest.raises(ValueError, match="expected a tile of the rack"):
        parse_placement(state, f"{a}(0,0){b}(2,2)")


def test_tiles_are_dragged_by_a_half_to_a_cell():
    env = momagames.make(ID, num_agents=3)
    play(env, 4)
    state, pairs = env.unwrapped.record, find_geometry(6).pairs
    layout, agent = view.measure(state, None), int(state["to_move"])
    for number in (0, 7, 100, 301):
        x, y = (layout.locate(cell) for cell in pairs[number])
        near = (x[0] + 0.3 * (y[0] - x[0]), x[1] + 0.3 * (y[1] - x[1]))
        for slot in range(6):
            assert view.pick(state, layout.locate_tile(agent, slot, 0), near) == number * 6 + slot
            turned = pairs.index(pairs[number][::-1])
            assert view.pick(state, layout.locate_tile(agent, slot, 1), near) == turned * 6 + slot
    assert view.pick(state, layout.locate((0, 0)), layout.locate((0, 1))) is None
    assert view.pick(state, layout.locate_tile(agent, 0, 0), layout.locate_tile(agent, 1, 0)) is None


def test_pictures_mark_the_last_placement_and_hide_racks():
    env = momagames.make(ID)
    last = play(env, 6)
    state = env.unwrapped.record
    plain, marked, hidden = (view.draw_picture(state, *one) for one in ((), (last,), (None, None, "agent_0")))
    assert plain.shape == marked.shape == hidden.shape
    changed = np.argwhere((plain != marked).any(axis=2))
    layout = view.measure(state, None)
    middles = [layout.locate(cell) for cell in find_geometry(5).pairs[last // 6]]
    assert all(min(math.dist((x, y), middle) for middle in middles) < layout.hexagon + 2 for y, x in changed[::7])
    rows = np.argwhere((plain != hidden).any(axis=2))[:, 0]
    assert len(rows)
    assert rows.min() > layout.bottom + view.ROW_HEIGHT - 5  # the rack of agent_1 alone
    with canvas.use_dark_paper(True):
        assert not np.array_equal(view.draw_picture(state), plain)


def test_colors_differ_by_symbols_in_pictures_and_digits_in_texts():
    symbols = [view._draw_symbol(color, 40) for color in range(1, 7)]
    shapes = [tuple((np.abs(one.astype(int) - one[0, 0]).sum(axis=2) > 120).ravel()) for one in symbols]
    assert len(set(shapes)) == 6
    env = momagames.make(ID, num_agents=3)
    play(env, 9)
    for viewer, racks in ((None, 3), ("agent_1", 1)):
        lines = ["".join(text for text, _ in line) for line in view.format_text(env.unwrapped.record, None, viewer)]
        assert len(lines) == 1 + 13 + 3
        assert sum(len(line.split()) > 13 for line in lines[-3:]) == racks


@pytest.mark.parametrize(
    ("params", "expected"),
    [({}, "won"), ({"reward_mode": "collaborative"}, "lowest color"), ({"num_agents": 4, "reward_mode": "two_teams"}, " and ")],
)
def test_the_result_names_the_winners(params, expected):
    params = {"num_agents": 2, "num_colors": 4, "board_size": 4, **params}
    env = momagames.make(ID, **params)
    for seed in range(20):
        play(env, 99, seed)
        state, infos = env.unwrapped.record, env.infos["agent_0"]
        winners = [f"agent_{i}" for i in Ingenious.given(env.get_state(), **params).winners()]
        assert infos["winners"] == winners
        assert view.describe(state).startswith("the game is over")
        if winners or "collaborative" in params.values():
            assert expected in view.describe_result(state)


def test_equal_scores_are_a_tie():
    env = momagames.make(ID, board_size=3, num_colors=2, rack_size=2)
    env.reset(options={"board": "4152222322262222221"[:16] + "221", "racks": [[[1, 1]], [[1, 1]]], "scores": [[3, 2], [2, 3]]})
    assert view.describe_result(env.unwrapped.record) == "tie"


def test_a_bonus_turn_counts_its_rewards_once():
    """The reward of `last` is that of the last action, also where the same agent made it."""
    env, bonus_turns = momagames.make(ID, num_colors=2, rack_size=2), 0
    env.reset(seed=1)
    rng, sums = np.random.default_rng(1), np.zeros((2, 2))
    for agent in env.agent_iter():
        observation, reward, terminated, _, _ = env.last()
        sums[env.possible_agents.index(agent)] += reward
        env.step(None if terminated else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        bonus_turns += not terminated and env.agent_selection == agent and not env.terminations[agent]
    assert bonus_turns >= 2
    assert (sums == env.returns).all()


def test_modules_take_the_arguments_of_momaland():
    env = moingenious_v0.env(num_agents=3, fully_obs=True)
    assert env.unwrapped.game.params["fully_observable"]
    assert moingenious_v0.parallel_env(num_agents=3).unwrapped.game.params["num_agents"] == 3


def test_min_color_raises_the_lowest_score():
    params = {"board_size": 4, "num_colors": 3, "rack_size": 3}
    env = momagames.make(ID, **params)
    play(env, 4, seed=5)
    policy = momagames.registry.policy("min_color", env.game, env.agent_selection)
    mask, mover = env.observe(env.agent_selection)["action_mask"], env.possible_agents.index(env.agent_selection)

    def score(action):
        oracle = Ingenious.given(env.get_state(), **params)
        oracle.step(action)
        return sorted(oracle.state()["scores"][mover])

    best = max(score(action) for action in np.flatnonzero(mask).tolist())
    for seed in range(3):
        assert score(int(policy(env.unwrapped.record, mask, np.random.default_rng(seed)))) == best


@pytest.mark.compiled
def test_scripted_agents_beat_random_play_and_balance_beats_both():
    for players, share in ((("min_color", "random"), 0.95), (("balanced", "greedy"), 0.5), (("balanced", "min_color"), 0.6)):
        result = match(ID, list(players), games=100)
        assert result.wins[0] / len(result.bouts) > share, players


def test_an_exponent_of_one_is_the_sum():
    params = {"board_size": 3, "num_colors": 2, "rack_size": 2}
    env = momagames.make(ID, **params)
    play(env, 2, seed=2)
    mask, mover = env.observe(env.agent_selection)["action_mask"], env.possible_agents.index(env.agent_selection)

    def gain(action):
        return sum(Ingenious.given(env.get_state(), **params).step(action)[mover])

    policy = momagames.baselines.policy("balanced", env.game, env.agent_selection, exponent=1.0)
    best = max(gain(action) for action in np.flatnonzero(mask).tolist())
    assert gain(int(policy(env.unwrapped.record, mask, np.random.default_rng(1)))) == best
