"""The oracle alone against the recorded games: what the rules are compared with is proved before."""

import numpy as np
import pytest

from tests.games.pommerman import naive
from tests.peers.test_recorded_pommerman import (
    RECORDS,
    RESULTS,
    Ledger,
    check_observations,
    check_position,
    check_rewards,
    several_owners,
)

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


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_replay(record):
    """Positions, observations, ends, results and every objective, step by step."""
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


@pytest.mark.parametrize("record", [record for record in RECORDS if several_owners(record)], ids=lambda record: record["id"])
def test_split_credit(record):
    names = ["kills", "self_kill", "wood", "item_waste"]
    oracle, ledger = begin(record, "split"), Ledger(record, split=True)
    for step in record["steps"]:
        play(oracle, step)
        check_rewards(rewards_of(oracle, names), names, ledger.account(step))
