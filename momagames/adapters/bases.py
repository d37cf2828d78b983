"""What our PettingZoo environments derive from: momaland's classes where it is installed, so that its wrappers and
learners accept them, else PettingZoo's own."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING or not find_spec("momaland"):
    from pettingzoo import AECEnv as AECBase
    from pettingzoo import ParallelEnv as ParallelBase
else:
    from momaland.utils.env import MOAECEnv as AECBase
    from momaland.utils.env import MOParallelEnv as ParallelBase

__all__ = ["AECBase", "ParallelBase"]
