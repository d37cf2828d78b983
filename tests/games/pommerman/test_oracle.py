"""The rules against the oracle, step by step: positions, what is seen, rewards in every objective, ends."""

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.engine.positions import load_state
from momagames.games.pommerman.rules.state import OBJECTIVES
from tests.games.pommerman import naive
from tests.games.pommerman.dense_positions import random_position

NEEDS = {"comm": "radio", "comm_change": "radio", "team_kill": "team", "team_bombs": "team", "mate_survival": "team"}
CASES = {
    "ffa": ("ffa", {}),
    "ffa small": ("ffa", {"board_size": 7, "max_steps": 12, "num_rigid": 4, "credit": "split"}),
    "ffa large, falling": ("ffa", {"board_size": 16, "max_steps": 40, "first_collapse": 3, "blast_strength": 4}),
    "ffa fog": ("ffa", {"board_size": 9, "is_partially_observable": True, "agent_view_size": 2, "max_steps": 25}),
    "team": ("team", {"board_size": 8, "max_steps": 30}),
    "team full, split": ("team-full", {"board_size": 9, "credit": "split", "max_steps": 30}),
    "team falling": ("team-collapse", {"board_size": 10, "max_steps": 25, "first_collapse": 2}),
    "radio": ("radio", {"board_size": 8, "max_steps": 30}),
    "radio falling": ("radio", {"board_size": 9, "max_steps": 15, "first_collapse": 3}),
    "ffa, the dead leave": ("ffa", {"board_size": 8, "max_steps": 20, "dead": "leave"}),
    "ffa falling, the dead leave": ("ffa-collapse", {"board_size": 9, "max_steps": 12, "first_collapse": 2, "dead": "leave"}),
    "radio falling, the dead leave": ("radio", {"board_size": 8, "max_steps": 15, "first_collapse": 4, "dead": "leave"}),
    "team strong, split": (
        "team",
        {"board_size": 7, "max_steps": 20, "blast_strength": 9, "max_blast_strength": 3, "credit": "split"},
    ),
    "duel": ("duel", {"max_steps": 25}),
    "duel falling": ("duel", {"board_size": 7, "max_steps": 20, "first_collapse": 2}),
}


def make_game(case):
    """The game of a case with every objective that it can have."""
    name, params = CASES[case]
    kinds = {"ffa": (), "duel": (), "radio": ("radio", "team")}.get(name.split("-")[0], ("team",))
    objectives = [goal for goal in OBJECTIVES if goal not in NEEDS or NEEDS[goal] in kinds]
    return momagames.spec(f"mo-pommerman-{name}-v0", objectives=objectives, **params)


def make_oracle(game, start):
    params = game.params
    return naive.Game(
        start,
        game.id.split("-")[2],
        params["board_size"],
        params["max_steps"],
        params["max_blast_strength"],
        params["first_collapse"],
        params["agent_view_size"] if params["is_partially_observable"] else None,
        params["credit"],
        params["dead"],
    )


def mask_of(game, moves):
    """§3.2 The mask of an agent that may choose from these moves: words as well, if it has a choice of moves."""
    mask = [int(move in moves) for move in range(6)]
    for words in game.actions[1:]:
        mask += [int(bool(moves) and (word == 0 or len(moves) > 1)) for word in range(words)]
    return mask


def check_observations(game, batch, i, oracle):
    """Compare the observations and masks of all agents of environment i."""
    for seat, agent in enumerate(oracle.agents):
        assert batch.masks[i, seat].tolist() == mask_of(game, oracle.legal(seat))
        seen, wanted = game.observation_views(batch.observations[i, seat]), oracle.observe(seat)
        assert list(seen) == [field.name for field in game.fields]
        assert seen.keys() == wanted.keys()
        for name, value in wanted.items():
            assert seen[name].tolist() == value, (name, agent.cell)


def check_position(game, state, oracle):
    found = game.codec.save(state)
    del found["rng"]
    wanted = oracle.position()
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        assert found[key] == value, key
    assert game.infos(state) == {"result": oracle.result, "winners": [f"agent_{seat}" for seat in oracle.winners]}


def check_rewards(game, batch, i, oracle):
    """The reward vectors of the last step, which are inside their bounds."""
    expected = np.array([[row.get(goal.name, 0) for goal in game.objectives] for row in oracle.rewards])
    names = np.array([goal.name for goal in game.objectives])
    for seat, wrong in enumerate(~(np.abs(batch.rewards[i] - expected) <= 1e-6)):
        assert not wrong.any(), (seat, names[wrong])
    low, high = (np.array([getattr(goal, end) for goal in game.objectives]) for end in ("low", "high"))
    exceeding = (expected < low - 1e-6) | (expected > high + 1e-6)
    assert not exceeding.any(), names[exceeding.any(axis=0)]


def compare(game, batch, i, oracle):
    """Environment i of a batch after a step against its oracle."""
    check_position(game, batch.states[i], oracle)
    check_observations(game, batch, i, oracle)
    check_rewards(game, batch, i, oracle)
    gone = [agent.gone for agent in oracle.agents]
    assert batch.terminated[i].tolist() == [left or (oracle.over and not oracle.cut) for left in gone]
    assert batch.truncated[i].tolist() == [oracle.cut and not left for left in gone]


def play(game, batch, steps, seed):
    """Random play of a batch and of its oracles."""
    rng = np.random.default_rng(seed)
    oracles = [make_oracle(game, game.codec.save(state)) for state in batch.states]
    for i, oracle in enumerate(oracles):
        check_position(game, batch.states[i], oracle)
        check_observations(game, batch, i, oracle)
    for _ in range(steps):
        over = [oracle.over for oracle in oracles]
        if all(over):
            break
        moves = rng.choice(6, (*batch.last_actions.shape[:2], 1), p=[0.1, 0.2, 0.2, 0.2, 0.2, 0.1])
        words = rng.integers(0, 9, (*batch.last_actions.shape[:2], len(game.actions) - 1)) * (rng.random() < 0.7)
        actions = np.concatenate([moves, words], axis=2)
        given = batch.actions(actions.squeeze(2) if len(game.actions) == 1 else actions)
        batch.step(given)
        for i, oracle in enumerate(oracles):
            if not over[i]:
                oracle.step(moves[i, :, 0].tolist(), words[i].tolist() if words.size else None)
                compare(game, batch, i, oracle)
    return oracles


@pytest.mark.parametrize("case", CASES)
def test_games_from_the_start(case, interpreted):
    game = make_game(case)
    batch = Batch(game, 2 if interpreted else 6, autoreset="disabled", views="all")
    batch.seed(5)
    batch.reset()
    play(game, batch, 60, seed=1)


@pytest.mark.parametrize("case", CASES)
def test_dense_positions(case, interpreted):
    game, count = make_game(case), 12 if interpreted else 40
    batch = Batch(game, count, autoreset="disabled", views="all")
    batch.seed(5)
    batch.load(np.concatenate([load_state(game, random_position(game, seed)) for seed in range(count)]))
    oracles = play(game, batch, 14, seed=2)
    assert sum(oracle.over for oracle in oracles) > count // 12


FAR = [[1, 10, 10, 1, 2, 0], [1, 0, 10, 1, 2, 0]]
SENT_BACK = {  # agents, bombs, joint actions: kicks that fail because another agent or bomb blocks the target, X2
    "by a bomb that stays": (
        [[1, 5, 5, 1, 2, 1], [1, 5, 6, 1, 2, 0], *FAR],
        [[6, 6, 9, 2, 3, 0]],
        [[0, 5, 0, 0], [4, 2, 0, 0], [0, 0, 0, 0]],
    ),
    "by a bomb that rolls": (
        [[1, 4, 5, 1, 2, 1], [1, 4, 6, 1, 2, 0], *FAR],
        [[5, 5, 9, 2, 3, 4], [5, 4, 9, 2, 3, 4]],
        [[2, 2, 0, 0], [0, 0, 0, 0]],
    ),
    "by a bomb that an agent stops": (
        [[1, 5, 4, 1, 2, 1], [1, 5, 7, 1, 2, 0], *FAR],
        [[5, 5, 9, 2, 3, 0], [5, 6, 9, 2, 3, 4]],
        [[4, 0, 0, 0], [0, 0, 0, 0]],
    ),
    "and bombs that would cross": (
        [[1, 3, 5, 1, 2, 0], [1, 8, 5, 1, 2, 0], *FAR],
        [[5, 5, 9, 2, 3, 4], [5, 6, 9, 2, 3, 3], [6, 2, 9, 2, 3, 2], [7, 2, 9, 2, 3, 1]],
        [[0, 0, 0, 0], [0, 0, 0, 0]],
    ),
}


@pytest.mark.parametrize("how", SENT_BACK)
def test_X2_K6_moves_are_undone(how):
    agents, bombs, moves = SENT_BACK[how]
    cells = [0] * 121
    for row, col, *_ in bombs:
        cells[row * 11 + col] = 3
    for seat, (_, row, col, *_) in enumerate(agents):
        cells[row * 11 + col] = 10 + seat
    start = {"board": "".join(f"{cell:x}" for cell in cells), "agents": agents, "bombs": bombs, "flames": [], "items": []}
    game = make_game("ffa")
    batch = Batch(game, 1, autoreset="disabled", views="all")
    batch.load(load_state(game, start))
    oracle = make_oracle(game, start)
    for joint in moves:
        batch.step(batch.actions(np.array([joint])))
        oracle.step(joint)
        compare(game, batch, 0, oracle)
