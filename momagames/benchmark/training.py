"""Training outside of suites: a directory with a resumable checkpoint, a log, and regular evaluations.

DIRECTORY/checkpoint.npz    see `momagames.baselines.checkpoint`
DIRECTORY/progress.jsonl    one line for each evaluation: steps, decisions, seconds, CPU seconds, metrics of the last
                            iteration, and the evaluation, see `evaluate`
DIRECTORY/tensorboard       the same for TensorBoard, where it is installed; see `training_loggers` for Weights & Biases
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from momagames import __version__, plugins, registry
from momagames.analysis.arrays import filter_dominated
from momagames.analysis.controllability import compute_controllability
from momagames.analysis.indicators import hypervolume
from momagames.baselines.base import first_agents
from momagames.baselines.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from momagames.baselines.policy_names import check_stored_options
from momagames.baselines.trainer import TrainedPolicies, Trainer, TrainerMethod, list_weights
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark.choices import Opponent
from momagames.benchmark.data_models import FrozenModel
from momagames.benchmark.episodes import make_default_opponent, play_from_starts
from momagames.benchmark.executors.processes import count_cores
from momagames.benchmark.suite_files import validate_model
from momagames.benchmark.training_loggers import check_wandb, make_loggers
from momagames.contract import Game
from momagames.contract.agents import find_agent
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy, CompiledPolicy
from momagames.errors import InvalidFile, InvalidParameter, check_range
from momagames.files.reading import is_directory, read_text, refuse_content
from momagames.files.writing import make_folder, write_file_atomically

CHECKPOINT, LOG = "checkpoint.npz", "progress.jsonl"
OTHER_GAMES, FIXED_SCALE = "other_games", "fixed_return_scale"  # fields of a checkpoint; older files have none
CHECKPOINT_INTERVAL = 60.0  # minimum seconds between two checkpoints

OnUpdate = Callable[[dict[str, Any]], None]


class _Head(FrozenModel):
    """What the head of a checkpoint says about its training, see `Training` and `describe_state`."""

    canonical: str
    method: str
    version: str
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    budget: Annotated[int, Field(ge=1, lt=2**63)]
    steps: Annotated[int, Field(ge=0, lt=2**63)]
    decisions: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    seats: Annotated[tuple[str, ...], Field(min_length=1)]
    opponents: tuple[Opponent, ...]
    instance_seed: Annotated[int, Field(ge=0, lt=2**64)] | None
    weights: tuple[float, ...] | None


@dataclass(frozen=True)
class Training:
    """Description of a training.

    game            with its parameters
    options         the method, with its options
    seed            random seed
    budget          environment steps
    seats           names of the learning agents
    opponents       in training where not all teams learn, and in evaluations; empty in games with one team
    instance_seed   seed of the start position of all episodes, those of evaluations included; None: random start positions
    weights         of the objectives in all episodes, and of the only policy; None: all weights
    other_games     further games of the episodes of training and evaluations, which differ in their start positions only,
                    or also in their agents, as far as the method supports it
    return_scale    divisors of the returns, to which weights refer; None: chosen by the method
    """

    game: Game
    options: TrainerMethod
    seed: int
    budget: int
    seats: tuple[str, ...]
    opponents: tuple[Opponent, ...]
    instance_seed: int | None = None
    weights: tuple[float, ...] | None = None
    other_games: tuple[Game, ...] = ()
    return_scale: tuple[float, ...] | None = None

    @property
    def games(self) -> tuple[Game, ...]:
        return (self.game, *self.other_games)

    def list_seats(self, game: Game) -> tuple[str, ...]:
        """Return the names of the learning agents in one of the games: one of each team where its agents are others."""
        return self.seats if game.agents == self.game.agents else first_agents(game)

    def describe(self) -> dict[str, Any]:
        """Return the description as JSON-able data, which identifies a checkpoint."""
        game = self.game
        return {
            "game": game.id, "params": dict(game.params), "canonical": registry.format_id(game.id, game.params),
            "method": self.options.name, "options": self.options.options(), "seed": self.seed, "budget": self.budget,
            "seats": list(self.seats), "opponents": [one.model_dump() for one in self.opponents],
            "instance_seed": self.instance_seed, "weights": None if self.weights is None else list(self.weights),
            OTHER_GAMES: [{"game": one.id, "params": dict(one.params)} for one in self.other_games],
            FIXED_SCALE: None if self.return_scale is None else list(self.return_scale),
        }  # fmt: skip

    def make_starts(self, game: Game, seeds: NDArray[np.uint64]) -> NDArray[Any]:
        """Return start positions record[N] of evaluations: those of the seeds, or N times that of `instance_seed`."""
        fixed = self.instance_seed
        return generate_starts(game, seeds if fixed is None else np.full(len(seeds), fixed, np.uint64))

    def make_setup(self, threads: int = 1) -> TrainingSetup:
        """Return what a trainer needs. Raises InvalidParameter if the method does not support it; MissingExtra."""
        self.options.check_installed()
        start = None if self.instance_seed is None else self.make_starts(self.game, np.zeros(1, np.uint64))
        learning_agents = [find_agent(self.game, seat) for seat in self.seats]
        setup = TrainingSetup(
            self.games,
            self.budget,
            self.seed,
            learning_agents,
            self.make_opponents(self.game),
            threads,
            self.weights,
            start,
            None if self.return_scale is None else np.array(self.return_scale),
        )
        self.options.check_setup(setup)
        return setup

    def select_policies(self, trained: TrainedPolicies) -> tuple[CompiledPolicy, ...]:
        """Return the policies for the weights of the lattice, or for those of the training."""
        return self.options.select_policies(self.game, trained, self.weights)

    def make_opponents(self, game: Game) -> list[BatchPolicy]:
        """Return the policies of the opponents; a placeholder if there are none."""
        return [one.make_policy(game) for one in self.opponents] or [make_default_opponent(game)]


def count_threads() -> int:
    """Return the number of threads in OMP_NUM_THREADS, which limits PyTorch and other numerical libraries, or of cores."""
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # of nested levels, the first
    return int(given) if given.isdecimal() and int(given) else count_cores()


def train(
    training: Training,
    directory: Path,
    evaluations: int = 20,
    episodes: int = 32,
    on_update: OnUpdate | None = None,
    wandb: str | None = None,
    threads: int | None = None,
) -> Checkpoint:
    """Train, or resume the training in this directory, until the budget is used up.

    evaluations   number of evaluations of the policies of the lattice, evenly spaced over the budget
    episodes      episodes of each policy in an evaluation, against each opponent and in each seat
    on_update     called after each iteration with its metrics, and "evaluation", see `evaluate`, after an evaluation
    wandb         Weights & Biases project to log to
    threads       number of threads; None: that of OMP_NUM_THREADS, or one for each core
    Raises        InvalidParameter for a directory of another training; InvalidFile; MissingExtra without a package that the
                  method needs, or wandb
    """
    check_wandb(wandb)
    setup = training.make_setup(count_threads() if threads is None else threads)
    trainer = training.options.make_trainer(setup)
    path, times = directory / CHECKPOINT, {"seconds": 0.0, "cpu_seconds": 0.0}
    if path.exists():
        checkpoint = load_checkpoint(path)
        _check_same_training(training, checkpoint)
        with refuse_content(path, "a checkpoint of this training"):
            trainer.load_state_dict(checkpoint.head["trainer"], checkpoint.training)
            check_range("steps", trainer.steps, 0, whole=True)
            times = {name: float(checkpoint.head.get(name, 0.0)) for name in times}  # older checkpoints have no CPU time
    log = _ProgressLog(directory, trainer.steps, training.describe(), wandb)
    marks = [training.budget * (i + 1) // evaluations for i in range(evaluations)]
    saved_at = time.monotonic()

    def save() -> None:
        nonlocal saved_at
        save_checkpoint(path, *describe_state(training, trainer, times))
        saved_at = time.monotonic()

    while not trainer.is_done:
        before, started, cpu_started = trainer.steps, time.perf_counter(), time.process_time()
        metrics: dict[str, Any] = trainer.train_iteration()
        times["seconds"] += time.perf_counter() - started
        times["cpu_seconds"] += time.process_time() - cpu_started
        metrics |= times
        if any(before < mark <= trainer.steps for mark in marks) or trainer.is_done:
            metrics["evaluation"] = evaluate(
                training, training.select_policies(trainer.make_policies()), episodes, threads=setup.threads
            )
            log.write(metrics)
            save()
        elif time.monotonic() - saved_at > CHECKPOINT_INTERVAL:
            save()
        if on_update is not None:
            on_update(metrics)
    log.close()
    return load_checkpoint(path)


def describe_state(
    training: Training, trainer: Trainer, times: Mapping[str, float]
) -> tuple[dict[str, Any], Mapping[str, NDArray[Any]], Mapping[str, NDArray[Any]]]:
    """Return the head, the arrays of the policies and the arrays of the training state of a checkpoint.

    times   name -> seconds that iterations took, without evaluations
    """
    state, arrays = trainer.state_dict()
    head = {
        **training.describe(), "version": __version__, "trainer": state, "steps": trainer.steps,
        "decisions": trainer.decisions, "return_scale": trainer.return_scale.tolist(), **times,
    }  # fmt: skip
    return head, trainer.make_policies().arrays, arrays


def evaluate(
    training: Training, policies: Sequence[BatchPolicy], episodes: int, seed: int = 0, threads: int = 1
) -> dict[str, Any]:
    """Play episodes of policies against the opponents of a training.

    The start positions are drawn from `seed`, independently of training, unless all episodes have the same one.

    Returns JSON-able data: "points", mean returns by label over opponents, seats and episodes; their "hypervolume"; and, if the
    policies have different weights, "controllability" by objective, see `analysis.controllability`
    """
    points = play_episodes(training, policies, episodes, seed, threads=threads).mean(axis=1)
    result = {
        "points": {one.label: point.tolist() for one, point in zip(policies, points, strict=True)},
        "hypervolume": measure_volume(training.game, points),
    }
    weights = [one.weights for one in policies]
    if len(set(weights)) > 1:
        values = compute_controllability(np.array(weights), points).tolist()
        names = [objective.name for objective in training.game.objectives]
        result["controllability"] = dict(zip(names, values, strict=True))
    return result


def measure_volume(game: Game, points: NDArray[np.float64]) -> float:
    """Return the hypervolume of mean returns, float64[n, K]."""
    return hypervolume(filter_dominated(points), game.reference_point).value


def play_episodes(
    training: Training, policies: Sequence[BatchPolicy], episodes: int, seed: int = 0,
    opponents: Sequence[BatchPolicy] = (), threads: int = 1,
) -> NDArray[np.float64]:  # fmt: skip
    """Play `episodes` episodes of each policy in each game, against each opponent and in each seat.

    opponents   by default those of the training

    Returns float64[policies, games * opponents * seats * episodes, K], the returns of the policies.
    """
    rng = np.random.default_rng([seed, 1])
    seeds = rng.integers(2**63, size=episodes, dtype=np.uint64)
    agents = max(len(game.agents) for game in training.games)
    words = rng.integers(2**63, size=(episodes, agents), dtype=np.uint64)
    returns = []
    for game in training.games:
        starts = training.make_starts(game, seeds)
        for opponent in opponents or training.make_opponents(game):
            for seat in training.list_seats(game):
                agent = find_agent(game, seat)
                played = play_from_starts(
                    game, tuple(policies), opponent, agent, starts, words[:, : len(game.agents)].copy(), threads
                )
                returns.append(played.returns[:, agent].reshape(len(policies), episodes, -1))
    return np.concatenate(returns, axis=1)


def load_training(path: Path, allow_code: bool = False) -> tuple[Training, Checkpoint]:
    """Return the training of a checkpoint, given by its path or its directory. Raises InvalidFile.

    allow_code    whether it may name Python code, such as opponents "module:class"
    """
    with plugins.allow_code(allow_code):
        checkpoint = load_checkpoint(path / CHECKPOINT if is_directory(path) else path)
    head, origin = checkpoint.head, checkpoint.origin
    stated = {name: head[name] for name in _Head.model_fields if name in head}
    checked = validate_model(_Head, stated, f"{checkpoint.path}: not a training checkpoint", "training checkpoint", origin)
    try:
        game = checkpoint.make_game()
        check_stored_options(head["method"], head["options"], game, origin)
        for seat in checked.seats:
            find_agent(game, seat)
        if checked.weights is not None:
            list_weights(game, 1, checked.weights)  # raises for invalid ones
        training = Training(
            game, checkpoint.make_method(), checked.seed, checked.budget, checked.seats, checked.opponents,
            checked.instance_seed, checked.weights,
            tuple(registry.make_stored_game(one["game"], one["params"], origin) for one in head.get(OTHER_GAMES, ())),
            None if head.get(FIXED_SCALE) is None else tuple(head[FIXED_SCALE]),
        )  # fmt: skip
    except InvalidFile:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidFile(f"{checkpoint.path}: not a training checkpoint: {error}") from None
    return training, checkpoint


def _check_same_training(training: Training, checkpoint: Checkpoint) -> None:
    head = {OTHER_GAMES: [], **checkpoint.head, "options": checkpoint.make_method().options()}
    for name, value in training.describe().items():
        if json.loads(json.dumps(value)) != head.get(name):
            raise InvalidParameter(
                f"{checkpoint.path} belongs to another training: its {name} is {head.get(name)!r}, given is {value!r}; "
                "use another directory or the same arguments"
            )


class _ProgressLog:
    """Log of a training directory. Lines after `steps`, where training resumes, are removed."""

    def __init__(self, directory: Path, steps: int, config: dict[str, Any], wandb: str | None) -> None:
        self._path = directory / LOG
        make_folder(directory)
        valid = [json.dumps(metrics) for metrics in read_log(self._path) if metrics["steps"] <= steps]
        write_file_atomically(self._path, "".join(f"{line}\n" for line in valid))
        self._loggers = make_loggers(directory, steps, config, wandb)

    def write(self, metrics: dict[str, Any]) -> None:
        try:
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(metrics) + "\n")
        except OSError as error:
            raise InvalidFile(f"{self._path}: {error.strerror or error}") from None
        scalars = {name: value for name, value in metrics.items() if isinstance(value, float)}
        scalars["hypervolume"] = metrics["evaluation"]["hypervolume"]
        for logger in self._loggers:
            logger.write(scalars, metrics["steps"])

    def close(self) -> None:
        for logger in self._loggers:
            logger.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a training log, without a last one that is incomplete; none if there is no log yet.

    Raises InvalidFile, with the line
    """
    text = read_text(path) if path.exists() else ""
    lines, found = text.splitlines(), list[dict[str, Any]]()
    for number, line in enumerate(lines, 1):
        try:
            found.append(_parse_line(line, f"{path}: line {number}"))
        except InvalidFile:
            if number < len(lines) or text.endswith("\n"):
                raise  # else the process was killed while it wrote the line, or the disk was full
    return found


def _parse_line(line: str, place: str) -> dict[str, Any]:
    try:
        metrics = json.loads(line)  # metrics may be NaN
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{place}: not JSON: {error}") from None
    steps = metrics.get("steps") if isinstance(metrics, dict) else None
    if isinstance(steps, bool) or not isinstance(steps, (int, float)):
        raise InvalidFile(f"{place}: expected the metrics of an evaluation, with 'steps'")
    return dict(metrics)
