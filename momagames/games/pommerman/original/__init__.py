"""Agents and scripts that are written for the original package: as policies here, and the environment in their form.

`make_policy` and `make_http_policy` make policies of agents; `make` makes the environment. See docs/agents.md.
"""

from momagames.games.pommerman.original.constants import Action, GameType, Item, Result
from momagames.games.pommerman.original.environment import REGISTRY, OriginalEnv, make
from momagames.games.pommerman.original.http_agent import HttpAgent
from momagames.games.pommerman.original.policies import make_http_policy, make_policy

__all__ = [
    "REGISTRY",
    "Action",
    "GameType",
    "HttpAgent",
    "Item",
    "OriginalEnv",
    "Result",
    "make",
    "make_http_policy",
    "make_policy",
]
