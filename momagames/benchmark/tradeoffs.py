"""What the settings of a suite test: whether their reference fronts are trade-offs, see `momagames.analysis.tradeoffs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.tradeoffs import Tradeoffs, measure_tradeoffs
from momagames.benchmark.choices import GameChoice, MethodChoice, label_methods
from momagames.benchmark.evaluate import measure_policies
from momagames.benchmark.reference_sets import load_reference_set
from momagames.benchmark.suites import PoliciesExperiment, Suite
from momagames.contract import Game
from momagames.errors import InvalidParameter
from momagames.registry import format_id

AHEAD_EPISODES = 100  # at most, of policies that look ahead, which may be slow


@dataclass(frozen=True)
class SettingTradeoffs:
    """What one setting of a suite shows.

    experiment, game    of the suite
    simple              labels of the policies that are taken for simple
    ahead               labels of the other policies without training: they look ahead, and play fewer episodes
    """

    experiment: str
    game: Game
    simple: tuple[str, ...]
    ahead: tuple[str, ...]
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
            "untrained_share": found.untrained_share,
            "ahead": list(self.ahead),
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
    """Play the policies without training in report episodes of a setting, and return what its reference front shows."""
    game = choice.make_game()
    known = load_reference_set(experiment, game)
    assert known is not None  # see list_tradeoff_settings
    methods = list_untrained_methods(experiment, game)
    short = experiment.model_copy(update={"report_episodes": min(experiment.report_episodes, AHEAD_EPISODES)})
    simple, ahead = _play_methods(experiment, choice, methods[0]), _play_methods(short, choice, methods[1])
    returns = [np.array(list(found.values())) if found else None for found in (simple, ahead)]
    return SettingTradeoffs(experiment.name, game, tuple(simple), tuple(ahead), measure_tradeoffs(known.values, *returns))


def list_untrained_methods(experiment: PoliciesExperiment, game: Game) -> tuple[list[MethodChoice], list[MethodChoice]]:
    """Return the methods without training, in the run or beforehand: simple ones, and those that look ahead.

    A policy looks ahead if it tries moves on a copy of the game.
    """
    simple, ahead = list[MethodChoice](), list[MethodChoice]()
    for choice in experiment.methods:
        if not (choice.is_trained(game) or choice.uses_champion or choice.find_file(game)):
            policies = choice.make_method(game).policies(game)
            (ahead if any(policy.looks_ahead for policy in policies) else simple).append(choice)
    return simple, ahead


def _play_methods(experiment: PoliciesExperiment, choice: GameChoice, methods: Sequence[MethodChoice]) -> dict[str, Array]:
    """Return the mean returns of their policies in report episodes of the first seed, float64[K] by label."""
    found: dict[str, Array] = {}
    if methods:
        alone = experiment.model_copy(
            update={"games": (choice,), "methods": tuple(methods), "seeds": experiment.seeds[:1], "stored_episodes": None}
        )
        labels = label_methods(experiment.methods)
        for run in alone.list_runs():
            name = labels[run.method.key]
            found |= {f"{name}: {label}": values for label, values in measure_policies(run).items()}
    return found
