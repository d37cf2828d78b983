"""Games recorded with the original rbgame 0.0.3, replayed step by step through the AEC API.

data/robotmail.jsonl.gz: one game a line. `config` are the parameters, `colors` and `targets` the lines of the layout's files.
`init_draws` is what was drawn at the start, `init` the position then and the masks of all robots, a bit for each action.
`returns` are the sums of the original's rewards by robot.
Each of `steps` has
    a, e, r    the action, its events, and the original's reward of the robot that acted; others get nothing
    d          draws: ["mail", index] for the green cell that was left, ["turn", length]
    s, k       of the robots for which it has changed, by their number: what the position says of them, and the mask
    m, c       the mails if they have changed, by how much the clock has advanced
    l, next    steps left in the turn, and who is next, if the turn has passed
    o          what the robot saw before it acted (on boards of 9 x 9, where we see the same)
    end        whether the game was terminated, truncated; with `winner`
"""

from dataclasses import dataclass

import numpy as np
import pytest

import momagames
from tests.peers.records import read_records, replay_all

BOARDS = {"default": 15, "docs": 3, "ring": 9, "mini6": 6, "wide12": 3}
OBJECTIVES = (
    *("delivery", "pickup", "dock", "step_cost"),
    *("time", "energy", "charge", "blocked", "blocking", "balance", "rivalry", "outcome"),
)
ACCOUNTED = [name for name in OBJECTIVES if name not in ("blocked", "blocking")]
WEIGHTS = np.array([5, 1, 1, 0.1])  # of the first four, in the original's reward
CLOCK = ("delivery", "pickup", "dock", "time")
CLOCK_WEIGHTS = np.array([5.1, 1.1, 1.1, 0.1])
EVENTS = {
    "pickup": "pickup",
    "dropoff": "delivery",
    "reach_blue": "dock",
    "self_charge": "charge",
    "stand": "stand",
    "skip_illegal": "skip",
    "skip_nomove": "skip",
    "move": "move",
}


@dataclass
class Step:
    """One recorded step: who did what, and the position and all masks (lists of 0 and 1) before and after."""

    robot: int
    action: int
    before: dict
    after: dict
    masks: list
    new_masks: list
    reward: float
    event: str
    illegal: bool
    draws: list
    seen: list | None
    terminated: bool
    truncated: bool


def mask_of(bits):
    return [bits >> action & 1 for action in range(5)]


def play(record):
    """The steps of a record."""
    position = {key: value for key, value in record["init"].items() if key != "masks"}
    masks = [mask_of(bits) for bits in record["init"]["masks"]]
    for facts in record["steps"]:
        changed, moved = facts.get("k", {}), facts.get("s", {})
        after = {
            "robots": [moved.get(str(i), robot) for i, robot in enumerate(position["robots"])],
            "mails": facts.get("m", position["mails"]),
            "left": facts.get("l", position["left"] - 1),
            "n": position["n"] + 1,
            "clock": position["clock"] + facts["c"],
            "next": facts.get("next", position["next"]),
            "winner": facts.get("winner"),
        }
        new_masks = [mask_of(changed[str(i)]) if str(i) in changed else mask for i, mask in enumerate(masks)]
        event = next(name for kind, name in EVENTS.items() if kind in facts["e"])
        terminated, truncated = facts.get("end", (0, 0))
        yield Step(
            position["next"], facts["a"], position, after, masks, new_masks, facts["r"], event, "skip_illegal" in facts["e"],
            facts.get("d", []), facts.get("o"), bool(terminated), bool(truncated),
        )  # fmt: skip
        position, masks = after, new_masks


def ledger(record, step):
    """Return the rewards of a step by robot, from its event and the positions, without `blocked` and `blocking`."""
    team = record["config"]["num_robots_per_player"]
    own = step.robot // team
    rows = [dict.fromkeys(OBJECTIVES, 0.0) for _ in step.before["robots"]]
    actor = rows[step.robot]
    actor["time"] = -float(step.event != "charge")
    if step.event in actor:
        actor[step.event] = 1.0
    elif step.event != "charge":
        actor["step_cost"] = -1.0
    for index, (row, old, new) in enumerate(zip(rows, step.before["robots"], step.after["robots"], strict=True)):
        mine = index // team == own
        row["charge"], row["energy"] = max(new[3] - old[3], 0.0), min(new[3] - old[3], 0.0)
        row["balance"] = spread(step.before, own, team) - spread(step.after, own, team) if mine else 0.0
        row["rivalry"] = -float(step.event == "delivery" and not mine)
        row["outcome"] = (1.0 if index // team == step.after["winner"] else -1.0) if step.terminated else 0.0
    return rows


def spread(position, player, team):
    """Most less fewest mails that a robot of the player has delivered."""
    counts = [robot[5] for robot in position["robots"][player * team : (player + 1) * team]]
    return max(counts) - min(counts)


def check_rewards(record, step, rewards):
    """The reward vectors of all robots (dicts), the core exactly."""
    actor = rewards[step.robot]
    for weights, names in ((WEIGHTS, OBJECTIVES[:4]), (CLOCK_WEIGHTS, CLOCK)):
        assert float(weights @ np.array([actor[name] for name in names], np.float64)) == step.reward
    for row, expected in zip(rewards, ledger(record, step), strict=True):
        for name in ACCOUNTED:
            assert abs(row[name] - expected[name]) <= 1e-6, name
    assert sum(row["blocked"] for row in rewards) == sum(row["blocking"] for row in rewards) == actor["blocked"]
    x, y, *_ = step.before["robots"][step.robot]
    for row, (u, v, *_) in zip(rewards, step.before["robots"], strict=True):
        assert row["blocking"] in ((0, -1) if abs(u - x) + abs(v - y) == 1 else (0,))


def test_all_records_are_here():
    records = read_records("robotmail")
    boards = [record["board"] for record in records]
    assert {board: boards.count(board) for board in set(boards)} == BOARDS
    steps = [step for record in records for step in play(record)]
    assert len(steps) == 10829
    assert {step.event for step in steps} == set(EVENTS.values())
    assert sum(step.terminated and step.truncated for step in steps) == 1
    assert sum(not any(step.masks[step.robot]) for step in steps) > 100


@pytest.mark.parametrize("board", BOARDS)
def test_replay(board):
    """Positions with batteries to the last bit, masks of all robots, rewards, flags, and what is seen on boards of 9 x 9."""
    replay_all("robotmail", replay, board=board)


def replay(record):
    """What was drawn is put into the position, since our chance is another."""
    layout = "\n".join(record["colors"]), "\n".join(record["targets"])
    env = momagames.make("mo-robotmail-v0", layout=layout, objectives=OBJECTIVES, always_legal=False, **record["config"])
    start = {key: value for key, value in record["init"].items() if key != "masks"}
    env.reset(seed=0, options={"state": start})
    robots = env.possible_agents
    illegal, returns = 0, np.zeros(len(robots))
    for step in play(record):
        agent = env.agent_selection
        assert robots.index(agent) == step.robot
        assert [env.observe(robot)["action_mask"].tolist() for robot in robots] == step.masks
        if step.seen is not None:
            assert env.observe(agent)["observation"].tolist() == np.array(step.seen, np.float32).tolist()
        env.step(step.action)
        rewards = [dict(zip(OBJECTIVES, env.rewards[robot].tolist(), strict=True)) for robot in robots]
        check_rewards(record, step, rewards)
        illegal += step.illegal
        returns[step.robot] += WEIGHTS @ env.rewards[agent][:4].astype(np.float64)
        assert env.terminations == dict.fromkeys(robots, step.terminated)
        assert env.truncations == dict.fromkeys(robots, step.truncated)
        found = env.get_state()
        assert found["event"] == step.event
        assert found["illegal"] == illegal
        drawn = {{"mail": "mails", "turn": "left"}[what] for what, _ in step.draws}
        assert {key: found[key] for key in step.after if key not in drawn} == {
            key: value for key, value in step.after.items() if key not in drawn
        }
        if step.terminated or step.truncated:
            masks = [env.observe(robot)["action_mask"] for robot in robots]
            assert not (step.terminated and any(mask.any() for mask in masks))
        elif drawn:
            env.reset(options={"state": step.after | {"illegal": illegal}})
    assert returns.tolist() == record["returns"]
