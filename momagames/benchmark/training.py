"""Training outside of suites: a directory with a resumable checkpoint, a log, and regular evaluations.

DIRECTORY/checkpoint.npz    see `momagames.baselines.moppo.checkpoint`
DIRECTORY/progress.jsonl    one line for each evaluation: steps, seconds, points of the policies, hypervolume, metrics
DIRECTORY/tensorboard       the same for TensorBoard, where it is installed; see `training_loggers` for Weights & Biases
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import __version__, registry
from momagames.analysis.arrays import filter_dominated
from momagames.analysis.indicators import hypervolume
from momagames.baselines.base import find_agent
from momagames.baselines.moppo.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from momagames.baselines.moppo.method import Moppo
from momagames.benchmark.evaluate import make_default_opponent, play_from_starts
from momagames.benchmark.plan import Opponent
from momagames.benchmark.training_loggers import check_wandb, make_loggers
from momagames.contract import Game
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidFile, InvalidParameter

CHECKPOINT, LOG = "checkpoint.npz", "progress.jsonl"
CHECKPOINT_INTERVAL = 60.0  # minimum seconds between two checkpoints

OnUpdate = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Training:
    """Description of a training.

    game            with its parameters
    options         of the method
    seed            random seed
    budget          environment steps
    seats           names of the learning agents
    opponents       in training where not all teams learn, and in evaluations; empty in games with one team
    instance_seed   seed of the start position of all episodes, those of evaluations included; None: random start positions
    """

    game: Game
    options: Moppo
    seed: int
    budget: int
    seats: tuple[str, ...]
    opponents: tuple[Opponent, ...]
    instance_seed: int | None = None

    def describe(self) -> dict[str, Any]:
        """Return the description as JSON-able data, which identifies a checkpoint."""
        game = self.game
        return {
            "game": game.id, "params": dict(game.params), "canonical": registry.format_id(game.id, game.params),
            "method": self.options.name, "options": self.options.options(), "seed": self.seed, "budget": self.budget,
            "seats": list(self.seats), "opponents": [one.model_dump() for one in self.opponents],
            "instance_seed": self.instance_seed,
        }  # fmt: skip

    def make_starts(self, seeds: NDArray[np.uint64]) -> NDArray[Any]:
        """Return start positions record[N] of evaluations: those of the seeds, or N times that of `instance_seed`."""
        fixed = self.instance_seed
        return generate_starts(self.game, seeds if fixed is None else np.full(len(seeds), fixed, np.uint64))

    def check(self) -> None:
        """Raise InvalidParameter if the method does not support the game, MissingExtra without PyTorch."""
        self.options.check_installed()
        if self.instance_seed is None:
            self.options.check_train(self.game)
        else:
            self.options.check_plan(self.game)

    def make_opponents(self) -> list[BatchPolicy]:
        """Return the policies of the opponents; a placeholder if there are none."""
        return [one.make_policy(self.game) for one in self.opponents] or [make_default_opponent(self.game)]


def train(
    training: Training,
    directory: Path,
    evaluations: int = 20,
    episodes: int = 32,
    on_update: OnUpdate | None = None,
    wandb: str | None = None,
) -> Checkpoint:
    """Train, or resume the training in this directory, until the budget is used up.

    evaluations   number of evaluations of the policies of the lattice, evenly spaced over the budget
    episodes      episodes of each policy in an evaluation, against each opponent and in each seat
    on_update     called after each update with its metrics; "evaluation" and "seconds" are among them after an
                  evaluation
    wandb         Weights & Biases project to log to
    Raises        InvalidParameter for a directory of another training; InvalidFile; MissingExtra without PyTorch or wandb
    """
    check_wandb(wandb)
    training.check()
    from momagames.baselines.moppo.state import load_state_dict, state_dict
    from momagames.baselines.moppo.trainer import Trainer

    game, learning_agents = training.game, [find_agent(training.game, seat) for seat in training.seats]
    start = None if training.instance_seed is None else training.make_starts(np.zeros(1, np.uint64))
    opponents = training.make_opponents()
    trainer = Trainer(game, training.options, learning_agents, opponents, training.budget, training.seed, start)
    path = directory / CHECKPOINT
    if path.exists():
        checkpoint = load_checkpoint(path)
        _check_same_training(training, checkpoint)
        load_state_dict(trainer, checkpoint.head["trainer"], checkpoint.training)
    log = _ProgressLog(directory, trainer.steps, training.describe(), wandb)
    marks = [training.budget * (i + 1) // evaluations for i in range(evaluations)]
    saved_at = time.monotonic()

    def save() -> None:
        nonlocal saved_at
        state, arrays = state_dict(trainer)
        head = {**training.describe(), "version": __version__, "trainer": state, "steps": trainer.steps}
        save_checkpoint(path, head, trainer.model.network.export_actor(), arrays)
        saved_at = time.monotonic()

    while not trainer.is_done:
        before = trainer.steps
        metrics: dict[str, Any] = trainer.train_iteration()
        if any(before < mark <= trainer.steps for mark in marks) or trainer.is_done:
            policies = training.options.make_policies(trainer.make_policy())
            metrics["evaluation"] = evaluate(training, policies, episodes)
            metrics["seconds"] = sum(trainer.progress.seconds.values())
            log.write(metrics)
            save()
        elif time.monotonic() - saved_at > CHECKPOINT_INTERVAL:
            save()
        if on_update is not None:
            on_update(metrics)
    log.close()
    return load_checkpoint(path)


def evaluate(training: Training, policies: Sequence[BatchPolicy], episodes: int, seed: int = 0) -> dict[str, Any]:
    """Return the points of policies by label (mean returns over opponents, seats and episodes) and their hypervolume.

    The start positions are drawn from `seed`, independently of training, unless all episodes have the same one.
    """
    points = play_episodes(training, policies, episodes, seed).mean(axis=1)
    return {
        "points": {one.label: point.tolist() for one, point in zip(policies, points, strict=True)},
        "hypervolume": hypervolume(filter_dominated(points), training.game.reference_point).value,
    }


def play_episodes(
    training: Training, policies: Sequence[BatchPolicy], episodes: int, seed: int = 0, opponents: Sequence[BatchPolicy] = ()
) -> NDArray[np.float64]:
    """Play `episodes` episodes of each policy against each opponent and in each seat.

    opponents   by default those of the training

    Returns float64[policies, opponents * seats * episodes, K], the returns of the policies.
    """
    game = training.game
    rng = np.random.default_rng([seed, 1])
    starts = training.make_starts(rng.integers(2**63, size=episodes, dtype=np.uint64))
    words = rng.integers(2**63, size=(episodes, len(game.agents)), dtype=np.uint64)
    returns = []
    for opponent in opponents or training.make_opponents():
        for seat in training.seats:
            agent = find_agent(game, seat)
            played = play_from_starts(game, tuple(policies), opponent, agent, starts, words)
            returns.append(played.returns[:, agent].reshape(len(policies), episodes, -1))
    return np.concatenate(returns, axis=1)


def load_training(path: Path) -> tuple[Training, Checkpoint]:
    """Return the training of a checkpoint, given by its path or its directory. Raises InvalidFile."""
    checkpoint = load_checkpoint(path / CHECKPOINT if path.is_dir() else path)
    head = checkpoint.head
    try:
        training = Training(
            checkpoint.make_game(), Moppo(**head["options"]), head["seed"], head["budget"], tuple(head["seats"]),
            tuple(Opponent(**one) for one in head["opponents"]), head["instance_seed"],
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFile(f"{checkpoint.path}: not a training checkpoint: {error}") from None
    return training, checkpoint


def _check_same_training(training: Training, checkpoint: Checkpoint) -> None:
    for name, value in training.describe().items():
        if json.loads(json.dumps(value)) != checkpoint.head.get(name):
            raise InvalidParameter(
                f"{checkpoint.path} belongs to another training: its {name} is {checkpoint.head.get(name)!r}, given is "
                f"{value!r}; use another directory or the same arguments"
            )


class _ProgressLog:
    """Log of a training directory. Lines after `steps`, where training resumes, are removed."""

    def __init__(self, directory: Path, steps: int, config: dict[str, Any], wandb: str | None) -> None:
        self._path = directory / LOG
        try:
            directory.mkdir(parents=True, exist_ok=True)
            lines = self._path.read_text().splitlines() if self._path.exists() else []
            valid = [line for line in lines if _parse_steps(line) <= steps]
            self._path.write_text("".join(f"{line}\n" for line in valid))
        except OSError as error:
            raise InvalidFile(f"{self._path}: {error.strerror or error}") from None
        self._loggers = make_loggers(directory, steps, config, wandb)

    def write(self, metrics: dict[str, Any]) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(metrics) + "\n")
        scalars = {name: value for name, value in metrics.items() if isinstance(value, float)}
        scalars["hypervolume"] = metrics["evaluation"]["hypervolume"]
        for logger in self._loggers:
            logger.write(scalars, metrics["steps"])

    def close(self) -> None:
        for logger in self._loggers:
            logger.close()


def _parse_steps(line: str) -> float:
    """Return the steps of a log line; infinity for an incomplete line."""
    try:
        return float(json.loads(line)["steps"])
    except ValueError:
        return float("inf")
