"""Policies that play one game by rules of its own: as opponents, by name, and as methods of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from momagames.baselines.base import KERNEL, Member, Method
from momagames.baselines.players import Compiled, CompiledPolicy
from momagames.baselines.pommerman_agents import act, memory, stand
from momagames.contract import Game

POMMERMAN = ("pommerman",)


class StaticPolicy(CompiledPolicy):
    """MO-Pommerman: stands still and says nothing."""

    compiled = Compiled("static", stand, rules=POMMERMAN)


class SimplePolicy(CompiledPolicy):
    """MO-Pommerman: the scripted agent of the original, see pommerman_agents.py."""

    compiled = Compiled("simple", act, memory, POMMERMAN)


@dataclass(frozen=True)
class Static(Method):
    """Stands still and says nothing (MO-Pommerman).

    Source: our own; who does nothing cannot blow itself up.
    """

    name: ClassVar[str] = "static"

    def policies(self, game: Game) -> tuple[Member, ...]:
        return (_member(StaticPolicy.compiled, game),)


@dataclass(frozen=True)
class Simple(Method):
    """The scripted agent of the original (MO-Pommerman).

    Source: Resnick et al., "Pommerman: a multi-agent playground", 2018, from a summary of the agent's behaviour.
    """

    name: ClassVar[str] = "simple"

    def policies(self, game: Game) -> tuple[Member, ...]:
        return (_member(SimplePolicy.compiled, game),)


def _member(kernel: Compiled, game: Game) -> Member:
    kernel.check(game)
    return Member(kernel.name, KERNEL, (0.0,) * len(game.objectives), kernel)
