"""Policies of a game as methods of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from momagames.baselines.base import Method
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.engine.policy_sources import PolicySource, make_variants


@dataclass(frozen=True)
class Scripted(Method):
    """Play a policy of the game, in each of its variants (see `PolicyFactory`). A subclass sets the policy."""

    source: ClassVar[PolicySource]

    def policies(self, game: Game) -> tuple[BatchPolicy, ...]:
        return make_variants(self.name, type(self).source, game)


def make_scripted_method(name: str, source: PolicySource) -> type[Scripted]:
    """Return the method that plays a policy; it has no options."""
    return type(name, (Scripted,), {"name": name, "source": source})
