"""The oracle alone against the recorded games: what the rules are compared with is proved before."""

import numpy as np
import pytest

from tests.games.robotmail import naive
from tests.peers.records import replay_all
from tests.peers.test_recorded_robotmail import BOARDS, check_rewards, mask_of, play

pytestmark = pytest.mark.compiled


class Recorded:
    """Draws as they were recorded: a list of [what, choice]."""

    def __init__(self, draws):
        self.draws = draws

    def __call__(self, what, choices):
        recorded, choice = self.draws.pop(0)
        assert recorded == what
        assert choice in choices
        return choice


def begin(record, draw, position=None):
    config = record["config"]
    return naive.Game(
        [line.split(",") for line in record["colors"]],
        [[int(number) for number in line.split(",")] for line in record["targets"]],
        draw,
        position,
        players=config["num_players"],
        team=config["num_robots_per_player"],
        **{key: config[key] for key in ("required_mail", "with_battery", "random_num_steps", "max_step")},
    )


def same_position(oracle, wanted):
    found = oracle.position()
    assert {key: found[key] for key in wanted} == wanted


def test_start():
    """§2 What was drawn gives the recorded start; stands that the original has kept from the game before do not count."""
    replay_all("robotmail", check_start)


def check_start(record):
    places, *others = record["init_draws"]
    draw = Recorded([["place", tuple(cell)] for cell in places[1]] + others)
    oracle = begin(record, draw)
    assert not draw.draws
    start = {key: value for key, value in record["init"].items() if key != "masks"}
    same_position(oracle, start | {"robots": [[*robot[:6], 0] for robot in start["robots"]]})


@pytest.mark.parametrize("board", BOARDS)
def test_replay(board):
    """Positions, masks of all robots, rewards, flags and what is seen, step by step."""
    replay_all("robotmail", replay, board=board)


def replay(record):
    draw = Recorded([])
    oracle = begin(record, draw, record["init"])
    robots = range(len(oracle.robots))
    illegal, returns = 0, [0.0 for _ in robots]
    assert [oracle.mask(index) for index in robots] == [mask_of(bits) for bits in record["init"]["masks"]]
    for step in play(record):
        if step.seen is not None:
            assert np.array_equal(np.array(oracle.vector(step.robot), np.float32), np.array(step.seen, np.float32))
        draw.draws = list(step.draws)
        rewards = oracle.step(step.action)
        assert not draw.draws
        check_rewards(record, step, rewards)
        same_position(oracle, step.after)
        illegal += step.illegal
        assert (oracle.event, oracle.illegal) == (step.event, illegal)
        assert (oracle.terminated, oracle.truncated) == (step.terminated, step.truncated)
        assert oracle.over or [oracle.mask(index) for index in robots] == step.new_masks
        returns[step.robot] += step.reward
    assert returns == record["returns"]
