"""Checked submissions: what they claim is computed again from their plans or policies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from momagames.analysis.arrays import Array
from momagames.benchmark.store.checksums import CHECKSUMS
from momagames.errors import invalid_value
from momagames.files.json_data import canonical_json
from momagames.files.reading import hash_content, read_bytes
from momagames.leaderboard.directory import METADATA, README, verify_checksums
from momagames.leaderboard.errors import InvalidSubmission, MislabeledSubmission, TruncatedSubmission
from momagames.leaderboard.metadata import Metadata, load_metadata
from momagames.leaderboard.plans import replay_plans
from momagames.leaderboard.policies import play_policies
from momagames.leaderboard.settings import Setting, find_setting
from momagames.reports.data.points import Points


@dataclass(frozen=True)
class Entry:
    """A submission that was checked.

    name              of its directory
    points            seed -> the returns of its plans, or the mean returns of the policies that were selected
    counts            seed -> number of plans or policies
    files             path -> SHA-256 of its files, without the file of checksums
    sha256            of the file of checksums, and so of the whole submission
    returns_sha256    of all computed returns
    fresh_seed        of the episodes of its policies; None: those of the setting
    """

    name: str
    metadata: Metadata
    setting: Setting
    points: Mapping[int, Points]
    counts: Mapping[int, int]
    files: Mapping[str, str]
    sha256: str
    returns_sha256: str
    fresh_seed: int | None = None

    @property
    def exceeds_budget(self) -> bool:
        """Whether its budget is larger than that of the setting."""
        return self.metadata.budget > self.setting.experiment.budget


def check_submission(folder: str | Path, run_code: bool = False, fresh_seed: int | None = None) -> Entry:
    """Check a submission: replay its plans, or play its policies in the episodes of its setting.

    run_code      whether policies that are code of the submission may run; they then have all rights of the user
    fresh_seed    of other episodes for policies, which shows whether they are as good where nothing was tuned on; plans
                  belong to the start positions of the setting
    Raises        InvalidSubmission, by its kinds: ForgedSubmission, TruncatedSubmission, MislabeledSubmission,
                  OversizedSubmission and UnsafeSubmission, with file and place
    """
    place = Path(folder)
    files = verify_checksums(place)
    metadata = load_metadata(place)
    _check_used_files(place, metadata, files)
    setting = find_setting(metadata.setting, f"{place / METADATA}: setting")
    kind = "policies" if metadata.plans is None else "plans"
    fresh_seed = None if kind == "plans" else fresh_seed
    if setting.experiment.kind != kind:
        expected = f"{setting.experiment.kind}, as in the experiment {setting.experiment.name!r}"
        raise MislabeledSubmission(invalid_value(f"{place / METADATA}: kind", kind, expected))
    if metadata.plans is not None:
        points = replay_plans(place / metadata.plans, setting)
        counts = {seed: len(one.labels) for seed, one in points.items()}
        returns = {seed: one.values for seed, one in points.items()}
    else:
        episodes = play_policies(place, metadata, setting, run_code, fresh_seed)
        points = {seed: one.nondominated_points() for seed, one in episodes.items()}
        counts = {seed: len(one.labels) for seed, one in episodes.items()}
        returns = {seed: one.report for seed, one in episodes.items()}
    if verify_checksums(place) != files:
        raise InvalidSubmission(f"{place}: its files changed during the check")
    sha256 = hash_content(read_bytes(place / CHECKSUMS))
    return Entry(
        place.resolve().name, metadata, setting, points, counts, files, sha256, hash_returns(returns), fresh_seed
    )  # fmt: skip


def _check_used_files(place: Path, metadata: Metadata, files: Mapping[str, str]) -> None:
    """Raise TruncatedSubmission for a file that is named and missing, MislabeledSubmission for one that is not used."""
    used = metadata.list_used_files()
    for name, key in used.items():
        if name not in files:
            raise TruncatedSubmission(f"{place / METADATA}: {key}: {name!r} is missing")
    for name in files:
        if name not in (METADATA, README, *used) and not metadata.runs_code:
            raise MislabeledSubmission(f"{place / name}: {METADATA} does not name this file")


def hash_returns(returns: Mapping[int, Array]) -> str:
    """Return the SHA-256 of returns by seed, as canonical JSON."""
    data = {str(seed): array.tolist() for seed, array in returns.items()}
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()
