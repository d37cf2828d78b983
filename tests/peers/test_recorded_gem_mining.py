"""Expected rewards of MO-GemMining that others computed by formula, and its exact fronts.

data/gem_mining.jsonl.gz: one instance a line, with the parameters of the original; each step is a joint action (mines by
number) with the workers at each mine and the expected rewards for both exponents of the bonus.
data/gem_mining_fronts.json.gz: instances with the exact fronts of expected rewards for both exponents.
"""

import pytest

import momagames
from tests.peers.records import read_records

EXPONENTS = {"all": "expected", "others": "expected_exponent_minus_1"}


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_replay(exponent):
    records = read_records("gem_mining")
    assert len(records) == 64
    for record in records:
        options = {"reward_mode": "expected", "bonus_exponent": exponent, "connectivity": record["start"]["connectivity"]}
        env = momagames.make("mo-gem-mining-v0", "parallel", **record["params"], **options)
        for step in record["steps"]:
            env.reset(options={"state": record["start"]})
            _, rewards, terminations, truncations, _ = env.step(
                {agent: mine - i for i, (agent, mine) in enumerate(zip(env.agents, step["actions"], strict=True))}
            )
            assert env.get_state()["workers_at_mine"] == step["workers_at_mine"]
            for reward in rewards.values():
                assert reward.tolist() == pytest.approx(step[EXPONENTS[exponent]], rel=1e-6)
            assert all(terminations.values())
            assert not any(truncations.values())
