"""The metadata file of a submission (submission.yaml)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from momagames.baselines.policy_names import CHECKPOINT
from momagames.benchmark.choices import GameChoice
from momagames.benchmark.data_models import FrozenModel
from momagames.benchmark.suite_files import list_keys, validate_model
from momagames.benchmark.suites import IndicatorName
from momagames.errors import InvalidFile, one_of
from momagames.files.reading import read_text
from momagames.files.yaml_data import parse_yaml
from momagames.leaderboard.directory import METADATA, check_file_name, check_size
from momagames.leaderboard.errors import InvalidSubmission, OversizedSubmission

MAX_BYTES = 128 << 10
MAX_POLICIES = 300
LINK = re.compile(r"https://[A-Za-z0-9.-]+(?:/[A-Za-z0-9._~/?=&%+:#@-]*)?")
PYTHON_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def is_checkpoint(value: Any) -> bool:
    """Return whether the value of an option names a checkpoint."""
    return isinstance(value, str) and value.endswith(CHECKPOINT)


def _expect(what: str, fits: Callable[[str], Any]) -> AfterValidator:
    """Return a validator of texts."""

    def check(text: str) -> str:
        if not fits(text):
            raise ValueError(f"expected {what}")
        return text

    return AfterValidator(check)


_ONE_LINE = _expect("one line of printable characters", lambda text: text.isprintable() and text == text.strip())
Name = Annotated[str, Field(min_length=1, max_length=60), _ONE_LINE]
Line = Annotated[str, Field(min_length=1, max_length=200), _ONE_LINE]
Link = Annotated[str, Field(max_length=300), _expect("a link that begins with https://", LINK.fullmatch)]
Date = Annotated[str, _expect("a date such as 2026-01-31", lambda text: date.fromisoformat(text).isoformat() == text)]
PythonPath = Annotated[str, Field(max_length=200), _expect("module:class", PYTHON_PATH.fullmatch)]


class SettingChoice(FrozenModel):
    """A game of an experiment of a packaged suite."""

    suite: str
    experiment: str
    game: GameChoice


class PolicyChoice(FrozenModel):
    """A policy: registered, trained, of a method of the package, or your own.

    policy        a name that the package registers, such as "champion" or "greedy"
    checkpoint    a file of the submission, written by `momagames train`
    code          "module:class" of a file of the submission
    method        a method of the package, which has a policy of the name `label` for the game, or has trained it in a suite
    arrays        of a trained method or code: a file of the submission with parameters of points, the policies.npz of a run
    point         number of the point in that file
    options       of the policy; a text that ends in .npz names a checkpoint of the submission
    seed          the run that the policy belongs to; None: it plays in every run
    """

    policy: str | None = None
    checkpoint: str | None = None
    code: PythonPath | None = None
    method: str | None = None
    label: Line | None = None
    arrays: str | None = None
    point: Annotated[int, Field(ge=0)] = 0
    options: dict[str, Any] = Field(default_factory=dict)
    seed: int | None = None

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if sum(source is not None for source in (self.policy, self.checkpoint, self.code, self.method)) != 1:
            raise ValueError("expected one of policy, checkpoint, code and method")
        if (self.method is None) != (self.label is None) or (self.arrays and self.method is None and self.code is None):
            raise ValueError("expected method and label together, and arrays with them or with code")
        return self


class Metadata(FrozenModel):
    """The content of the metadata file.

    description    for example options of the method; None: there is none
    paper, code    links; None: there is none
    budget         environment steps of each run, training and look-ahead included
    plans          name of the file of plans
    policies       the policies; either these or plans
    lock           name of the file of exact versions that policies of your own need
    claims         indicator -> claimed mean: compared with the computed one, and never used
    """

    schema_: Literal[1] = Field(alias="schema")
    method: Name
    description: Line | None = None
    paper: Link | None
    code: Link | None
    date: Date
    budget: Annotated[int, Field(ge=0, lt=2**63)]
    hardware: Line
    setting: SettingChoice
    plans: str | None = None
    policies: Annotated[tuple[PolicyChoice, ...], Field(min_length=1)] | None = None
    lock: str | None = None
    claims: dict[IndicatorName, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if (self.plans is None) == (self.policies is None):
            raise ValueError("expected either plans or policies")
        if self.runs_code != (self.lock is not None):
            raise ValueError("expected a lock file for policies by module:class, and for no others")
        return self

    @property
    def runs_code(self) -> bool:
        """Whether a policy is code of the submission."""
        return any(choice.code is not None for choice in self.policies or ())

    def list_used_files(self) -> dict[str, str]:
        """Return the files that are named, each with the key that names it."""
        named = {"plans": self.plans, "lock": self.lock}
        for i, choice in enumerate(self.policies or ()):
            named[f"policies[{i}].checkpoint"] = choice.checkpoint
            named[f"policies[{i}].arrays"] = choice.arrays
            named |= {f"policies[{i}].options.{key}": value for key, value in choice.options.items() if is_checkpoint(value)}
        return {name: key for key, name in named.items() if name is not None}


def load_metadata(folder: Path) -> Metadata:
    """Read the metadata file of a submission. Raises InvalidSubmission, with the key; OversizedSubmission; UnsafeSubmission."""
    path = folder / METADATA
    check_size(path, MAX_BYTES)
    try:
        data = parse_yaml(read_text(path, MAX_BYTES), str(path))
    except InvalidFile as error:
        raise InvalidSubmission(str(error)) from None
    if not isinstance(data, dict):
        raise InvalidSubmission(f"{path}: expected a mapping with the keys {one_of(list_keys(Metadata))}")
    try:
        metadata = validate_model(Metadata, data, str(path), "submission")
    except InvalidFile as error:
        raise InvalidSubmission(str(error)) from None
    if len(metadata.policies or ()) > MAX_POLICIES:
        raise OversizedSubmission(f"{path}: policies: {len(metadata.policies or ()):,}: expected at most {MAX_POLICIES}")
    for name, key in metadata.list_used_files().items():
        check_file_name(name, f"{path}: {key}")
    return metadata
