"""What type checkers know about environments, games and policies; mypy checks this file with the package."""
# mypy: enable-error-code="unused-ignore"

from typing import Literal, assert_type

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.adapters.parallel import MultiObjectiveParallel
from momagames.adapters.vector import MultiObjectiveVectorEnv
from momagames.contract import Game, Policy
from momagames.registry import policy

assert_type(momagames.make("mo-samegame-v0", num_agents=2), MultiObjectiveAEC)
assert_type(momagames.make("mo-samegame-v0", "aec"), MultiObjectiveAEC)
assert_type(momagames.make("mo-samegame-v0", api="parallel"), MultiObjectiveParallel)
assert_type(momagames.make("mo-samegame-v0", api="gymnasium"), SingleAgentEnv)
assert_type(momagames.make("mo-samegame-v0", api="parallel"), SingleAgentEnv)  # type: ignore[assert-type]
assert_type(momagames.make_vec("mo-samegame-v0", 3), MultiObjectiveVectorEnv)
assert_type(momagames.spec("mo-samegame-v0"), Game)
assert_type(policy("random", momagames.spec("mo-samegame-v0")), Policy)


def make_any(api: Literal["aec", "parallel", "gymnasium"]) -> None:
    assert_type(momagames.make("mo-samegame-v0", api), MultiObjectiveAEC | MultiObjectiveParallel | SingleAgentEnv)
