"""Policies that play one game by rules of its own: as opponents, by name, and as methods of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from momagames.baselines.base import Method
from momagames.contract import Game
from momagames.engine.playouts import KERNEL
from momagames.engine.policies import Compiled, CompiledPolicy, Member
from momagames.errors import InvalidParameter
from momagames.games.pommerman.agents.simple_kernels import act, memory, stand
from momagames.games.robotmail.agents.robot_kernels import astar, nearest, notebook, thrifty, wariness
from momagames.games.robotmail.rules.state import MAX_STANDS
from momagames.games.tileblast.agents.tap_kernels import contacts, lookahead

POMMERMAN = ("pommerman",)
TILEBLAST = ("tileblast", "tileblast.strict")
ROBOTMAIL = ("robotmail",)
PATIENCE = (0, 1, 2, 3, 5)  # of the policies of the method "thrifty"


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


class NearestPolicy(CompiledPolicy):
    """MO-RoboticMail: the shortest way to where it is needed."""

    compiled = Compiled("nearest", nearest, rules=ROBOTMAIL)


class AstarPolicy(CompiledPolicy):
    """MO-RoboticMail: the scripted agent of the original."""

    compiled = Compiled("astar", astar, wariness, ROBOTMAIL)


class ThriftyPolicy(CompiledPolicy):
    """MO-RoboticMail: little energy for each mail; see `Thrifty` for what it may be told."""

    compiled = Compiled("thrifty", thrifty, notebook, ROBOTMAIL)

    def __init__(self, game: Game, agent: int | None = None, patience: int = 0, fair: bool = False) -> None:
        self.compiled = frugal(patience, fair)  # type: ignore[misc]  # of this one
        super().__init__(game, agent)


def frugal(patience: int = 0, fair: bool = False) -> Compiled:
    """The policy "thrifty", more or less patient, and perhaps fair."""
    if not isinstance(patience, int) or not 0 <= patience <= MAX_STANDS:
        raise InvalidParameter(f"thrifty: invalid patience={patience!r}: expected 0..{MAX_STANDS}")
    return replace(ThriftyPolicy.compiled, begins=(("patience", patience), ("fair", int(fair))))


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

    Source: Resnick et al., "Pommerman: a multi-agent playground", 2018, from a summary of the agent's behavior.
    """

    name: ClassVar[str] = "simple"

    def policies(self, game: Game) -> tuple[Member, ...]:
        return (_member(SimplePolicy.compiled, game),)


@dataclass(frozen=True)
class Contacts(Method):
    """Taps the group that touches most of what the goals of the level ask for (MO-TileBlast).

    A group counts its neighbors that it hurts and that a goal asks for, its own tiles where a goal asks for their color,
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


@dataclass(frozen=True)
class Nearest(Method):
    """The shortest way to where the robot is needed (MO-RoboticMail).

    With a low battery to a charger, with a mail to its receiver, otherwise to a green cell, round the other robots; where there
    is no way round it waits, and where it must not wait it moves by lot.

    Source: our own; breadth-first search as in Cormen et al., "Introduction to Algorithms".
    """

    name: ClassVar[str] = "nearest"

    def policies(self, game: Game) -> tuple[Member, ...]:
        return (_member(NearestPolicy.compiled, game),)


@dataclass(frozen=True)
class Astar(Method):
    """The scripted agent of the original (MO-RoboticMail), made right for every layout.

    It heads for the nearest charger, receiver or green cell as the crow flies, for another if a crowd is there, and finds its
    way by A* search round the other robots.

    Source: the built-in agent of rbgame 0.0.3, from a description of its behavior and its recorded games; Hart, Nilsson and
    Raphael, "A formal basis for the heuristic determination of minimum cost paths", 1968.
    """

    name: ClassVar[str] = "astar"

    def policies(self, game: Game) -> tuple[Member, ...]:
        return (_member(AstarPolicy.compiled, game),)


@dataclass(frozen=True)
class Thrifty(Method):
    """Little energy for each mail (MO-RoboticMail): few moves, late charging, no way round who will be gone soon.

    Several policies: with patience 0 to 5, so often in a row it stands before each move, which costs nothing but time; and a
    fair one, which keeps its mail while its robot has delivered more than another of the team.

    Source: our own.
    """

    name: ClassVar[str] = "thrifty"

    def policies(self, game: Game) -> tuple[Member, ...]:
        patient = [_member(frugal(patience), game, f"patience {patience}") for patience in PATIENCE]
        return (*patient, _member(frugal(fair=True), game, "fair"))


def _member(kernel: Compiled, game: Game, label: str | None = None) -> Member:
    kernel.check(game)
    return Member(label or kernel.name, KERNEL, (0.0,) * len(game.objectives), kernel)
