"""The oracle alone against the recorded games: what the rules are compared with is proved before."""

import numpy as np
import pytest

from tests.games.pommerman import naive
from tests.peers.records import read_records, replay_all, replay_each
from tests.peers.test_recorded_pommerman import (
    IDS,
    RESULTS,
    SHARED,
    Ledger,
    check_observations,
    check_position,
    check_rewards,
    several_owners,
)

pytestmark = pytest.mark.compiled

KINDS = {"radio": "radio", "one_vs_one": "duel", "ffa": "ffa", "ffa_collapse": "ffa"}


def begin(record, credit="full"):
    config = record["config"]
    return naive.Game(
        record["initial"],
        KINDS.get(record["variant"], "team"),
        config["board_size"],
        config["max_steps"],
        config["max_blast_strength"],
        config.get("first_collapse"),
        config["agent_view_size"] if config["is_partially_observable"] else None,
        credit,
    )


def play(oracle, step):
    words = step.get("m") or [None] * len(step["a"])
    oracle.step(step["a"], [said or (0, 0) for said in words])


def seen(oracle):
    """Return the observations of all agents, as arrays by name."""
    names = range(len(oracle.agents))
    return {f"agent_{seat}": {key: np.array(value) for key, value in oracle.observe(seat).items()} for seat in names}


def rewards_of(oracle, names):
    """The rewards of the last step, by agent and in the order of these objectives."""
    rows = enumerate(oracle.rewards)
    return {f"agent_{seat}": np.array([row.get(name, 0) for name in names]) for seat, row in rows}


@pytest.mark.parametrize("variant", IDS)
def test_replay(variant):
    """Positions, observations, ends, results and every objective, step by step."""
    replay_all("pommerman", replay, variant=variant)


def replay(record):
    oracle, ledger = begin(record), Ledger(record)
    names = ledger.names()
    check_observations(seen(oracle), record["initial_obs"])
    items = record["initial"]["items"]
    for step in record["steps"]:
        words, amounts = ledger.said(step), ledger.account(step)
        play(oracle, step)
        items = step.get("it", items)
        check_position(oracle.position(), step, items, words)
        check_rewards(rewards_of(oracle, names), names, amounts)
        if "o" in step:
            check_observations(seen(oracle), step["o"])
        assert oracle.over == bool(step["d"])
        assert oracle.result == RESULTS[step["i"]["result"]]
        assert oracle.winners == step["i"].get("winners", [])


def test_split_credit():
    replay_each(filter(several_owners, read_records("pommerman")), replay_split)


def replay_split(record):
    oracle, ledger = begin(record, "split"), Ledger(record, split=True)
    for step in record["steps"]:
        play(oracle, step)
        check_rewards(rewards_of(oracle, SHARED), SHARED, ledger.account(step))
