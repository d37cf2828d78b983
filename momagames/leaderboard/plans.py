"""The file of plans of a submission: sequences of actions, which the engine replays from the start positions of a setting.

    {"schema": 1, "runs": {"0": [{"actions": [3, 1, 4], "return": [2.0, 0.0]}, ...], "1": ...}}

There is a run for each seed of the experiment. The return of a plan may be left out; if it is given it must be that of the
replay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from momagames.benchmark.data_models import FrozenModel
from momagames.benchmark.runs import Run
from momagames.engine.episode import Episode
from momagames.errors import InvalidFile, first_of
from momagames.files.json_data import read_json
from momagames.fronts.verify import replay_actions
from momagames.leaderboard.directory import check_size
from momagames.leaderboard.errors import (
    ForgedSubmission,
    InvalidSubmission,
    MislabeledSubmission,
    OversizedSubmission,
    TruncatedSubmission,
)
from momagames.leaderboard.settings import Setting
from momagames.reports.data.points import Points, read_plan_points

MAX_BYTES = 32 << 20
MAX_PLANS = 5_000  # of a run


class SubmittedPlan(FrozenModel):
    """A plan, with the return that it is claimed to have."""

    actions: tuple[int, ...]
    value: tuple[float, ...] | None = Field(default=None, alias="return")


class PlansFile(FrozenModel):
    """The content of a file of plans, by seed."""

    schema_: Literal[1] = Field(alias="schema")
    runs: dict[Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)$")], tuple[SubmittedPlan, ...]]


def replay_plans(path: Path, setting: Setting) -> dict[int, Points]:
    """Replay every plan of a file and return the points by seed.

    Raises     TruncatedSubmission for a cut file or a missing run; MislabeledSubmission for a run of another seed;
               OversizedSubmission; ForgedSubmission for a plan that cannot be played to the end of the game, and no further,
               or that has another return
    """
    runs = _read_plans(path)
    known = {str(run.seed): run for run in setting.runs}
    for seed in runs:
        if seed not in known:
            raise MislabeledSubmission(f"{path}: runs.{seed}: the setting has no such seed: expected {', '.join(known)}")
    for seed in known:
        if not runs.get(seed):
            raise TruncatedSubmission(f"{path}: runs.{seed}: no plan: expected one or more for each of {', '.join(known)}")
    return {run.seed: _replay_run(f"{path}: runs.{seed}", run, setting, runs[seed]) for seed, run in known.items()}


def _read_plans(path: Path) -> Mapping[str, tuple[SubmittedPlan, ...]]:
    check_size(path, MAX_BYTES)
    try:
        data = read_json(path, MAX_BYTES)
    except InvalidFile as error:
        raise TruncatedSubmission(str(error)) from None
    try:
        return PlansFile.model_validate_json(json.dumps(data)).runs
    except ValidationError as error:
        problems = [f"{path}: {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
        raise InvalidSubmission(first_of(problems)) from None


def _replay_run(place: str, run: Run, setting: Setting, plans: tuple[SubmittedPlan, ...]) -> Points:
    if len(plans) > MAX_PLANS:
        raise OversizedSubmission(f"{place}: {len(plans):,} plans: expected at most {MAX_PLANS:,}")
    start = Episode(setting.game)
    start.reset(run.seed)
    rows = []
    for number, plan in enumerate(plans):
        at, longest = f"{place}[{number}]", setting.game.max_episode_steps
        if len(plan.actions) > longest:
            raise OversizedSubmission(f"{at}: {len(plan.actions):,} actions: expected at most {longest:,}")
        try:
            value = replay_actions(start, plan.actions).tolist()
        except InvalidFile as error:
            raise ForgedSubmission(f"{at}: {error}") from None
        if plan.value is not None and list(plan.value) != value:
            raise ForgedSubmission(f"{at}: invalid return={list(plan.value)}: expected {value}, that of the replay")
        rows.append({"policy": "", "actions": plan.actions, "return": value})
    return read_plan_points(rows)
