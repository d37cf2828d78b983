"""What the settings of a suite test: whether their reference fronts are trade-offs, see `momagames.analysis.tradeoffs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.tradeoffs import Tradeoffs, measure_tradeoffs
from momagames.baselines.random import Random
from momagames.baselines.scripted import Scripted
from momagames.benchmark.choices import GameChoice, MethodChoice, label_methods
from momagames.benchmark.evaluate import measure_policies
from momagames.benchmark.reference_sets import load_reference_set
from momagames.benchmark.suites import PoliciesExperiment, Suite
from momagames.contract import Game
from momagames.errors import InvalidParameter
from momagames.registry import format_id

SCRIPTED = "scripted agent"  # role of methods that stand for the scripted policies of a game


@dataclass(frozen=True)
class SettingTradeoffs:
    """What one setting of a suite shows.

    experiment, game    of the suite
    simple              labels of the policies that are taken for simple
    """

    experiment: str
    game: Game
    simple: tuple[str, ...]
    tradeoffs: Tradeoffs

    def to_dict(self) -> dict[str, Any]:
        """Return it with names and numbers, for files."""
        found = self.tradeoffs
        return {
            "experiment": self.experiment,
            "game": format_id(self.game.id, self.game.params),
            "objectives": [one.name for one in self.game.objectives],
            "single_share": found.single_share,
            "max_single_share": found.max_single_share,
            "points": found.points,
            "losses": list(found.losses),
            "simple_share": found.simple_share,
            "simple": list(self.simple),
            "lacking": found.list_failures(),
        }


def list_tradeoff_settings(suite: Suite) -> list[tuple[PoliciesExperiment, GameChoice]]:
    """Return the settings of a suite with a reference set. Raises InvalidParameter if there are none."""
    found = [
        (experiment, choice)
        for experiment in suite.experiments
        if isinstance(experiment, PoliciesExperiment) and experiment.reference_set is not None
        for choice in experiment.games
    ]
    if not found:
        raise InvalidParameter(
            f"the suite {suite.name} has no reference fronts: expected experiments of policies with a reference_set, "
            "such as those of policies"
        )
    return found


def measure_setting(experiment: PoliciesExperiment, choice: GameChoice) -> SettingTradeoffs:
    """Play the simple policies of a setting in its report episodes, and return what its reference front shows."""
    game = choice.make_game()
    known = load_reference_set(experiment, game)
    assert known is not None  # see list_tradeoff_settings
    simple = _play_simple_policies(experiment, choice, game)
    returns = np.array(list(simple.values())) if simple else None
    return SettingTradeoffs(experiment.name, game, tuple(simple), measure_tradeoffs(known[1], returns))


def list_simple_methods(experiment: PoliciesExperiment, game: Game) -> tuple[MethodChoice, ...]:
    """Return random play, scripted policies, and what has their role."""
    labels, roles = label_methods(experiment.methods), experiment.roles

    def is_simple(method: MethodChoice) -> bool:
        kind = method.find_method(game)
        is_scripted = issubclass(kind, Scripted) and method.find_file(game) is None
        return kind is Random or is_scripted or SCRIPTED in (roles.get(method.name), roles.get(labels[method.key]))

    return tuple(filter(is_simple, experiment.methods))


def _play_simple_policies(experiment: PoliciesExperiment, choice: GameChoice, game: Game) -> dict[str, Array]:
    """Return the mean returns of simple policies in the report episodes of the first seed, float64[K] by label."""
    found: dict[str, Array] = {}
    if methods := list_simple_methods(experiment, game):
        alone = experiment.model_copy(
            update={"games": (choice,), "methods": methods, "seeds": experiment.seeds[:1], "stored_episodes": None}
        )
        labels = label_methods(experiment.methods)
        for run in alone.list_runs():
            name = labels[run.method.key]
            found |= {f"{name}: {label}": values for label, values in measure_policies(run).items()}
    return found
