"""Agents and scripts that are written for the original package: as policies here, and the environment in their form.

`original` and `http` make policies of agents; `make` is the environment, see docs/agents.md.
"""

from momagames.games.pommerman.original.constants import Action, GameType, Item, Result
from momagames.games.pommerman.original.environment import REGISTRY, OriginalEnv, make
from momagames.games.pommerman.original.http_agent import HttpAgent
from momagames.games.pommerman.original.policies import http, original

__all__ = ["REGISTRY", "Action", "GameType", "HttpAgent", "Item", "OriginalEnv", "Result", "http", "make", "original"]
