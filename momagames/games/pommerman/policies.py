"""Policies of MO-Pommerman."""

from momagames.engine.policies import CompiledPolicy
from momagames.games.pommerman.agents.simple_kernels import act, memory, stand_still

RULES = ("pommerman",)

STATIONARY = CompiledPolicy("stationary", stand_still, rules=RULES)
"""Agent that stands still and sends no message. Source: our own; an agent that lays no bombs cannot kill itself."""

SIMPLE = CompiledPolicy("simple", act, memory, RULES)
"""The scripted agent of the original.

Source: Resnick et al., "Pommerman: a multi-agent playground", 2018, from a summary of the agent's behavior.
"""
