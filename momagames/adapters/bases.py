"""Base classes of the PettingZoo environments: those of momaland if it is installed, as its wrappers and learners require."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING or not find_spec("momaland"):
    from pettingzoo import AECEnv as AECBase
    from pettingzoo import ParallelEnv as ParallelBase
else:
    from momaland.utils.env import MOAECEnv as AECBase
    from momaland.utils.env import MOParallelEnv as ParallelBase

__all__ = ["AECBase", "ParallelBase"]
