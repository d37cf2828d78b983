"""Best-known fronts of policies, which belong to suites: files of mean returns with names that hold their version.

Reports divide by these fronts instead of the union of what was run, so that scores of later runs and of other methods compare
with earlier ones. A set is never changed: better fronts get a new name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.benchmark.suites import PoliciesExperiment
from momagames.contract import Game
from momagames.errors import InvalidFile, InvalidParameter, UnknownId, invalid_value, nearest, one_of
from momagames.files.json_data import read_json
from momagames.files.packaged import find_packaged_folder
from momagames.registry import format_id

SCHEMA = 1


@dataclass(frozen=True)
class Setting:
    """What fronts of policies depend on apart from the policies: mean returns of other settings do not compare."""

    game: str
    opponents: tuple[str, ...]
    seats: tuple[str, ...]
    episode_set: str | None
    report_episodes: int

    @staticmethod
    def of(experiment: PoliciesExperiment, game: Game) -> Setting:
        return Setting(
            game=format_id(game.id, game.params),
            opponents=tuple(opponent.label for opponent in experiment.opponents),
            seats=experiment.seats or game.agents,
            episode_set=experiment.episode_set,
            report_episodes=experiment.report_episodes,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "game": self.game,
            "opponents": list(self.opponents),
            "seats": list(self.seats),
            "episode_set": self.episode_set,
            "report_episodes": self.report_episodes,
        }


@dataclass(frozen=True)
class ReferenceFront:
    """A front of a set.

    name       of the set
    values     mean returns, float64[n, K]
    methods    whose policies are on it; empty: it is proven
    """

    name: str
    values: Array
    methods: tuple[str, ...]

    @property
    def tag(self) -> str:
        """What it is, for `analysis.reference.Reference`."""
        return f"{'best known' if self.methods else 'exact'} ({self.name})"


def find_suite_folder() -> Path:
    """Return the folder of the packaged suites, or that of a checkout."""
    return find_packaged_folder("momagames.benchmark", "suites", "suites")


def list_reference_sets() -> dict[str, Path]:
    """Return the packaged sets by name."""
    return {path.stem: path for path in sorted((find_suite_folder() / "references").glob("*.json"))}


def read_reference_set(name: str) -> dict[Setting, ReferenceFront]:
    """Return the front of each setting of a packaged set. Raises UnknownId, InvalidFile."""
    known = list_reference_sets()
    if name not in known:
        raise UnknownId(invalid_value("reference_set", name, one_of(known), nearest(name, known)))
    path = known[name]
    data = read_json(path)
    try:
        if data["schema"] != SCHEMA:
            raise InvalidFile(f"{path}: " + invalid_value("schema", data["schema"], str(SCHEMA)))
        return {
            Setting(
                entry["game"],
                tuple(entry["opponents"]),
                tuple(entry["seats"]),
                entry["episode_set"],
                int(entry["report_episodes"]),
            ): ReferenceFront(
                name,
                np.array(entry["returns"], np.float64).reshape(len(entry["returns"]), -1),
                () if entry["methods"] == ["exact"] else tuple(entry["methods"]),
            )
            for entry in data["fronts"]
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFile(f"{path}: {error!r}: expected a set of fronts") from None


def format_reference_set(fronts: Mapping[Setting, tuple[Array, Sequence[str]]], source: str) -> dict[str, Any]:
    """Return the content of a file: for each setting its front and the methods on it.

    source    the runs that the fronts are from, for people
    """
    entries = [
        {**setting.to_dict(), "methods": list(methods), "returns": values.tolist()}
        for setting, (values, methods) in fronts.items()
    ]
    return {"schema": SCHEMA, "source": source, "fronts": entries}


def load_reference_set(experiment: PoliciesExperiment, game: Game) -> ReferenceFront | None:
    """Return the front that the reference set of an experiment has of a game; None without a set. Raises as below."""
    return None if experiment.reference_set is None else find_reference(experiment.reference_set, experiment, game)


def find_reference(name: str, experiment: PoliciesExperiment, game: Game) -> ReferenceFront:
    """Return the front of a set in the setting of a game. Raises UnknownId, InvalidFile; InvalidParameter if it is missing."""
    setting, fronts = Setting.of(experiment, game), read_reference_set(name)
    if setting not in fronts:
        expected = f"a set with a front of {setting.game} in this setting"
        raise InvalidParameter(invalid_value("reference_set", name, expected))
    return fronts[setting]
