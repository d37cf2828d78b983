"""Policies that play one game by rules of its own: as opponents, by name, and as methods of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from momagames.baselines.base import KERNEL, Member, Method
from momagames.baselines.players import Compiled, CompiledPolicy
from momagames.baselines.pommerman_agents import act, memory, stand
from momagames.baselines.tileblast_agents import contacts, lookahead
from momagames.contract import Game

POMMERMAN = ("pommerman",)
TILEBLAST = ("tileblast", "tileblast.strict")


class StaticPolicy(CompiledPolicy):
    """MO-Pommerman: stands still and says nothing."""

    compiled = Compiled("static", stand, rules=POMMERMAN)


class SimplePolicy(CompiledPolicy):
    """MO-Pommerman: the scripted agent of the original, see pommerman_agents.py."""

    compiled = Compiled("simple", act, memory, POMMERMAN)


class ContactsPolicy(CompiledPolicy):
    """MO-TileBlast: the group that touches most of what the goals ask for."""

    compiled = Compiled("contacts", contacts, rules=TILEBLAST)


class LookaheadPolicy(CompiledPolicy):
    """MO-TileBlast: tries every group out and takes the tap that brings the goals nearest."""

    compiled = Compiled("lookahead", lookahead, rules=TILEBLAST)


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


@dataclass(frozen=True)
class Contacts(Method):
    """Taps the group that touches most of what the goals of the level ask for (MO-TileBlast).

    A group counts its neighbours that it hurts and that a goal asks for, its own tiles where a goal asks for their colour,
    the bubbles on them where a goal asks for those, and 4 if it has 5 tiles or more; a power piece counts 3.5. Ties are broken
    by lot.

    Source: our own.
    """

    name: ClassVar[str] = "contacts"

    def policies(self, game: Game) -> tuple[Member, ...]:
        return (_member(ContactsPolicy.compiled, game),)


@dataclass(frozen=True)
class Lookahead(Method):
    """Plays one tap on each group, and each power piece, on a copy of the game, and taps what was best (MO-TileBlast).

    The value of a tap is 10 for every point by which the goals come nearer, 6 for a power piece that it makes, -5 for each
    that it uses, 0.5 for each hit, and 1000 for a win; among equals it taps the lowest. The distance of a goal is what is
    left of it, and the hit points of its pieces beyond one each, doubled where only power effects hit them. The copy has
    the luck of the game, so that the new pieces that fall in are known: this is more than a player can see.

    Source: our own.
    """

    name: ClassVar[str] = "lookahead"

    def policies(self, game: Game) -> tuple[Member, ...]:
        return (_member(LookaheadPolicy.compiled, game),)


def _member(kernel: Compiled, game: Game) -> Member:
    kernel.check(game)
    return Member(kernel.name, KERNEL, (0.0,) * len(game.objectives), kernel)
