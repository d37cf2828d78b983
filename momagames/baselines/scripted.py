"""Policies of a game as methods of the benchmark."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from momagames.baselines.base import Method
from momagames.baselines.policy_names import find_checkpoint
from momagames.baselines.weight_lattice import LATTICE, format_weights, list_usual_weights
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.engine.policy_sources import WEIGHTS, PolicyFactory, PolicySource, make_variants, source_options


def find_policy_file(name: str, source: PolicySource, options: Mapping[str, Any]) -> Path | None:
    """Return the file of trained policies that a policy is, or that its options name; None: none."""
    option = source.file_option if isinstance(source, PolicyFactory) else ""
    return find_checkpoint(name) or find_checkpoint(options.get(option))


@dataclass(frozen=True)
class Scripted(Method):
    """Play a policy of the game, in each of its variants (see `PolicyFactory`). A subclass sets the policy.

    With the option `weights="lattice"` it has a policy for each weight vector of `list_usual_weights`.
    """

    source: ClassVar[PolicySource]

    @classmethod
    def find_file(cls, options: Mapping[str, Any]) -> Path | None:
        return find_policy_file(cls.name, cls.source, options)

    def policies(self, game: Game) -> tuple[BatchPolicy, ...]:
        source, options = type(self).source, self.options()
        if options.get(WEIGHTS) != LATTICE:
            return make_variants(self.name, source, game, **options)
        rows = list_usual_weights(len(game.objectives)).tolist()
        return tuple(
            replace(policy, label=format_weights(row), weights=tuple(row))
            for row in rows
            for policy in make_variants(self.name, source, game, **{**options, WEIGHTS: row})
        )


@functools.lru_cache(maxsize=1024)  # a suite asks for the same few again and again
def make_scripted_method(name: str, source: PolicySource) -> type[Scripted]:
    """Return the method that plays a policy. It has the options of the policy, unless the policy has variants."""
    has_variants = isinstance(source, PolicyFactory) and bool(source.variants)
    options = {} if has_variants else source_options(source)
    columns = [(option, Any, field(default_factory=partial(copy.deepcopy, value))) for option, value in options.items()]
    method: type[Scripted] = make_dataclass(
        name, columns, bases=(Scripted,), namespace={"name": name, "source": source}, frozen=True
    )
    return method
