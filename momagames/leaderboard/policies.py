"""The policies of a submission, and their episodes in a setting: those of the suite, with the same start positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from momagames.baselines import METHODS, POLICIES, batch_policy
from momagames.baselines.checkpoint import load_checkpoint
from momagames.baselines.policy_names import strip_safe
from momagames.benchmark.choices import MethodChoice
from momagames.benchmark.evaluate import evaluate_policies
from momagames.benchmark.executors.executor import enforce_time_limit
from momagames.benchmark.runs import PoliciesRun
from momagames.benchmark.store.policy_files import unpack_policy
from momagames.benchmark.suites import PoliciesExperiment
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidFile, InvalidParameter, MomagamesError, TooLarge, invalid_value, nearest, one_of
from momagames.files.reading import hash_content, read_bytes
from momagames.leaderboard.directory import METADATA
from momagames.leaderboard.errors import MislabeledSubmission, OversizedSubmission, TruncatedSubmission, UnsafeSubmission
from momagames.leaderboard.lock_files import check_installed_versions
from momagames.leaderboard.metadata import Metadata, PolicyChoice, is_checkpoint
from momagames.leaderboard.policy_process import PolicyProcess
from momagames.leaderboard.settings import Setting
from momagames.reports.data.panels import NO_OPPONENT
from momagames.reports.data.points import PolicyEpisodes, read_policy_episodes

WORD = re.compile(r"[A-Za-z0-9_-]*")
INVALID = (  # what damaged heads and options of wrong types raise
    MomagamesError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError,
)  # fmt: skip


def play_policies(
    folder: Path, metadata: Metadata, setting: Setting, run_code: bool, fresh_seed: int | None = None
) -> dict[int, PolicyEpisodes]:
    """Play the policies of a submission in the episodes of a setting; return the episodes by seed.

    run_code      whether policies that are code of the submission may run
    fresh_seed    of other episodes than those of the setting
    Raises      MislabeledSubmission for a policy that cannot play the game or is unknown; TruncatedSubmission for a damaged
                checkpoint and a seed without policies; UnsafeSubmission for code that may not run; ForgedSubmission for illegal
                actions of code; OversizedSubmission beyond the time limit of the setting's runs
    """
    assert isinstance(setting.experiment, PoliciesExperiment)
    choices = metadata.policies or ()
    _check_seeds(folder, choices, setting)
    opponents = tuple(one.label for one in setting.experiment.opponents) or (NO_OPPONENT,)
    found = {}
    with _make_policies(folder, metadata, setting, run_code) as policies:
        for run in setting.runs:
            assert isinstance(run, PoliciesRun)
            own = [one for one, choice in zip(policies, choices, strict=True) if choice.seed in (None, run.seed)]
            played = run if fresh_seed is None else change_seed(run, fresh_seed)
            rows = enforce_time_limit(evaluate_policies(played, {}, own), run.seconds)
            try:
                found[run.seed] = read_policy_episodes(rows, opponents, run.seats)
            except TooLarge as error:
                raise OversizedSubmission(f"{folder}: seed {run.seed}: {error} for a run") from None
    return found


def change_seed(run: PoliciesRun, fresh_seed: int) -> PoliciesRun:
    """Return the run with a seed that is drawn from its own and another one, and with start positions of that one."""
    seed = np.random.SeedSequence([run.seed, fresh_seed]).generate_state(1, np.uint64)[0] >> np.uint64(1)
    episode_set = None if run.episode_set is None else f"{run.episode_set}-{fresh_seed}"
    return run.model_copy(update={"seed": int(seed), "episode_set": episode_set})


def _check_seeds(folder: Path, choices: tuple[PolicyChoice, ...], setting: Setting) -> None:
    seeds = [run.seed for run in setting.runs]
    for i, choice in enumerate(choices):
        if choice.seed is not None and choice.seed not in seeds:
            place = f"{folder / METADATA}: policies[{i}].seed"
            raise MislabeledSubmission(invalid_value(place, choice.seed, f"a seed of the setting, {one_of(seeds)}"))
    for seed in seeds:
        if all(choice.seed not in (None, seed) for choice in choices):
            raise TruncatedSubmission(f"{folder / METADATA}: policies: none plays in the run of seed {seed}")


@contextmanager
def _make_policies(folder: Path, metadata: Metadata, setting: Setting, run_code: bool) -> Iterator[list[BatchPolicy]]:
    """Yield the policies, with distinct labels; processes of policies end afterwards."""
    place = folder / METADATA
    if metadata.lock is not None:
        if not run_code:
            raise UnsafeSubmission(
                f"{place}: its policies are code, which was not run: read the code, then allow it with --run-code, in a "
                "container without access to your files"
            )
        check_installed_versions(folder / metadata.lock)
    with ExitStack() as stack:
        process = stack.enter_context(PolicyProcess(folder, setting.runs[0].game, str(place))) if metadata.lock else None
        made = []
        for i, choice in enumerate(metadata.policies or ()):
            at = f"{place}: policies[{i}]"
            options = {name: str(folder / one) if is_checkpoint(one) else one for name, one in choice.options.items()}
            if choice.code is not None and process is not None:
                _check_module(folder, choice.code, f"{at}.code")
                policy: BatchPolicy = process.load_policy(choice.code, options, choice.arrays, choice.point)
            else:
                policy = _make_policy(folder, choice, options, setting.game, at)
            made.append(replace(policy, label=f"{i}: {policy.label}"))
        yield made


def _make_policy(folder: Path, choice: PolicyChoice, options: dict[str, Any], game: Game, place: str) -> BatchPolicy:
    """Return a registered policy, that of a checkpoint, or one of a method."""
    if choice.method is not None:
        return _make_policy_of_method(folder, choice, options, game, place)
    if choice.policy is not None:
        _check_name(choice.policy, [*POLICIES, *game.policies], f"{place}.policy")
    elif not is_checkpoint(choice.checkpoint):
        raise MislabeledSubmission(invalid_value(f"{place}.checkpoint", choice.checkpoint, "a file named *.npz"))
    name = choice.policy or str(folder / str(choice.checkpoint))
    for file in (name, *options.values()):
        if is_checkpoint(file):
            _check_checkpoint(Path(file))
    try:
        return batch_policy(name, game, **options)
    except INVALID as error:
        raise MislabeledSubmission(f"{place}: {error}") from None


def _make_policy_of_method(folder: Path, choice: PolicyChoice, options: dict[str, Any], game: Game, place: str) -> BatchPolicy:
    """Return the policy of a method by its label: as the method defines it, or trained and restored from its arrays."""
    name = str(choice.method)
    _check_name(name, [*METHODS, *game.policies], f"{place}.method")
    try:
        made = MethodChoice(name=name, options=options).make_method(game)
        policies = {} if made.trains else {policy.label: policy for policy in made.policies(game)}
        if made.trains and choice.arrays is not None:
            arrays = unpack_policy(path := folder / choice.arrays, hash_content(read_bytes(path)), choice.point)
            return made.restore(game, str(choice.label), arrays)
    except InvalidFile as error:
        raise TruncatedSubmission(str(error)) from None
    except INVALID as error:
        raise MislabeledSubmission(f"{place}: {error}") from None
    if made.trains or choice.arrays is not None:
        expected = "the parameters of a trained method" if made.trains else f"none: {name} is not trained"
        raise MislabeledSubmission(invalid_value(f"{place}.arrays", choice.arrays, expected))
    if choice.label not in policies:
        expected = f"a policy of {name}, {one_of(policies)}"
        raise MislabeledSubmission(invalid_value(f"{place}.label", choice.label, expected))
    return policies[choice.label]


def _check_name(name: str, known: Sequence[str], place: str) -> None:
    """Raise MislabeledSubmission unless a name is registered: names of files and modules are not allowed here."""
    try:
        inner = strip_safe(name)
    except InvalidParameter as error:
        raise MislabeledSubmission(f"{place}: {error}") from None
    if inner not in known:
        expected = f"a {place.rpartition('.')[2]} of the package, {one_of(known)}"
        raise MislabeledSubmission(invalid_value(place, name, expected, nearest(name, known)))


def _check_checkpoint(path: Path) -> None:
    """Check what can be said about a checkpoint without its game.

    Raises     TruncatedSubmission if it cannot be read; UnsafeSubmission if its game has parameters that name files
    """
    try:
        params = load_checkpoint(path).head.get("params")
    except InvalidFile as error:
        raise TruncatedSubmission(str(error)) from None
    for name, value in params.items() if isinstance(params, dict) else ():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not WORD.fullmatch(text):
                raise UnsafeSubmission(f"{path}: {invalid_value(f'params.{name}', value, 'no path of a file')}")


def _check_module(folder: Path, path: str, place: str) -> None:
    """Raise MislabeledSubmission unless a module is a file of the submission."""
    parts = PurePosixPath(*path.partition(":")[0].split("."))
    names = (parts.with_suffix(".py"), parts / "__init__.py")
    if not any((folder / name).is_file() for name in names):
        raise MislabeledSubmission(invalid_value(place, path, f"a module of the submission, {one_of(map(str, names))}"))
