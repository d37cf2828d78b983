"""Arguments of wrappers may be anything: they are used, or refused by one of our errors."""

import numpy as np
import pytest

from momagames import wrappers
from momagames.errors import InvalidParameter
from tests.wrappers.games import breakthrough, gemwalk

BAD = (1.5, object(), np.array(0), np.zeros(1, [("a", "u1")]), [[0], [1, 2]], {0: 1}, [10**400], 10**400, b"x", [None])
CALLS = {
    "teams": lambda env, given: wrappers.ShareTeamReward(env, given),
    "objectives": lambda env, given: wrappers.SelectObjectives(env, given),
    "normalized objectives": lambda env, given: wrappers.NormalizeReward(env, objectives=given),
    "state": lambda env, given: wrappers.NormalizeReward(env, state=given),
    "agents of a state": lambda env, given: wrappers.NormalizeReward(env, state={**STATE, "agents": given}),
    "means of a state": lambda env, given: wrappers.NormalizeReward(env, state={**STATE, "mean": given}),
    "epsilon": lambda env, given: wrappers.NormalizeReward(env, epsilon=given),
    "weights": lambda env, given: wrappers.Scalarize(env, given),
    "policy": lambda env, given: wrappers.HandleIllegal(env, given),
    "buffer_length": lambda env, given: wrappers.RecordEpisodeStatistics(env, given),
    "formats": lambda env, given: wrappers.RecordReplay(env, "x", given),
    "name": lambda env, given: wrappers.RecordReplay(env, "x", name=given),
    "folder": lambda env, given: wrappers.RecordReplay(env, given),
}
STATE = wrappers.NormalizeReward(breakthrough()).state_dict()


@pytest.mark.parametrize("case", CALLS)
def test_arguments_may_be_anything(case):
    refused = 0
    for given in BAD:
        try:
            CALLS[case](breakthrough(), given)
        except InvalidParameter:
            refused += 1
    assert refused >= len(BAD) - 1  # 1.5 is an epsilon, and {0: 1} names an objective


def test_a_utility_gives_a_number():
    env = wrappers.Scalarize(gemwalk(), utility=lambda vector: None)
    env.reset(seed=0)
    with pytest.raises(InvalidParameter, match="gave None"):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))


def test_tabular_observations_have_a_limit_of_integers():
    env = gemwalk("gymnasium")
    with pytest.raises(InvalidParameter, match="limit"):
        wrappers.TabularObservation(env, 2**63)
    wrappers.TabularObservation(env, np.int8(3))
