"""Training outside a suite: a folder with a checkpoint that can be taken up again, a log, and a front every now and then.

FOLDER/checkpoint.npz    see `momagames.baselines.moppo.checkpoint`
FOLDER/progress.jsonl    a line for each evaluation: steps, seconds, the policies' points, hypervolume, what training told
FOLDER/tensorboard       the same for TensorBoard, where it is installed; Weights & Biases if asked for: `boards`
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
from momagames.analysis.arrays import front
from momagames.analysis.indicators import hypervolume
from momagames.baselines.base import kernels_of, seat_of
from momagames.baselines.moppo.checkpoint import Saved, load, save
from momagames.baselines.moppo.method import Moppo
from momagames.benchmark.evaluate import nobody, play_from
from momagames.benchmark.plan import Opponent
from momagames.benchmark.training_loggers import boards, check_project
from momagames.contract import Game
from momagames.engine.playouts import deal
from momagames.engine.policies import Member
from momagames.errors import InvalidFile, InvalidParameter

CHECKPOINT, LOG = "checkpoint.npz", "progress.jsonl"
EVERY = 60.0  # seconds from one checkpoint to the next, at least

Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Training:
    """What is to be trained.

    game        with its parameters
    options     of the method
    seed        of all luck
    budget      steps of the engine
    seats       agents that it learns to play, by name
    opponents   whom it meets where not all sides learn, and in evaluations; none where there is one side
    deal        seed of the one deal that all games begin with, those of evaluations too; None: each game is a new deal
    """

    game: Game
    options: Moppo
    seed: int
    budget: int
    seats: tuple[str, ...]
    opponents: tuple[Opponent, ...]
    deal: int | None = None

    def head(self) -> dict[str, Any]:
        """As plain data, by which a checkpoint is known again."""
        game = self.game
        return {
            "game": game.id, "params": dict(game.params), "canonical": registry.spelled(game.id, game.params),
            "method": self.options.name, "options": self.options.options(), "seed": self.seed, "budget": self.budget,
            "seats": list(self.seats), "opponents": [one.model_dump() for one in self.opponents], "deal": self.deal,
        }  # fmt: skip

    def starts(self, seeds: NDArray[np.uint64]) -> NDArray[Any]:
        """Where games of evaluations begin, record[N]: the deals of these seeds, or the one deal."""
        return deal(self.game, seeds if self.deal is None else np.full(len(seeds), self.deal, np.uint64))

    def check(self) -> None:
        """InvalidParameter if this cannot be trained; MissingExtra without PyTorch."""
        self.options.check_installed()
        if self.deal is None:
            self.options.check_train(self.game)
        else:
            self.options.check_plan(self.game)

    def members(self) -> list[Member]:
        """The opponents as policies; nobody in particular if there are none."""
        return [one.member(self.game) for one in self.opponents] or [nobody(self.game)]


def train(
    training: Training,
    folder: Path,
    evaluations: int = 20,
    episodes: int = 32,
    tell: Tell | None = None,
    wandb: str | None = None,
) -> Saved:
    """Train, or go on with training in this folder, until the budget is spent.

    evaluations   number of times, spread over the budget, that the policies of the lattice play
    episodes      games that each plays then, against each opponent and from each seat
    tell          called after each update with its numbers, and "evaluation" where there was one
    wandb         project of Weights & Biases that is to show the log too
    Raises        InvalidParameter for a folder with other training; InvalidFile; MissingExtra without PyTorch, or without wandb
    """
    check_project(wandb)
    training.check()
    from momagames.baselines.moppo.trainer import Trainer

    game, ours = training.game, [seat_of(training.game, seat) for seat in training.seats]
    start = None if training.deal is None else training.starts(np.zeros(1, np.uint64))
    trainer = Trainer(game, training.options, ours, kernels_of(training.members()), training.budget, training.seed, start)
    place = folder / CHECKPOINT
    if place.exists():
        saved = load(place)
        _check_same(training, saved)
        trainer.take_up(saved.head["trainer"], saved.training)
    log = _Log(folder, trainer.steps, training.head(), wandb)
    marks = [training.budget * (i + 1) // evaluations for i in range(evaluations)]
    kept = time.monotonic()

    def keep() -> None:
        nonlocal kept
        facts, arrays = trainer.kept()
        head = {**training.head(), "version": __version__, "trainer": facts, "steps": trainer.steps}
        save(place, head, trainer.network.exported(), arrays)
        kept = time.monotonic()

    while not trainer.done:
        before = trainer.steps
        told: dict[str, Any] = trainer.advance()
        if any(before < mark <= trainer.steps for mark in marks) or trainer.done:
            policies = training.options.offered(trainer.policy())
            told["evaluation"] = evaluate(training, policies, episodes)
            log.write({**told, "seconds": sum(trainer.seconds.values())})
            keep()
        elif time.monotonic() - kept > EVERY:
            keep()
        if tell is not None:
            tell(told)
    log.close()
    return load(place)


def evaluate(training: Training, policies: Sequence[Member], episodes: int, seed: int = 0) -> dict[str, Any]:
    """Points of policies, their mean returns over all opponents, seats and games, by label; and the hypervolume of these.

    The games are those of no training, unless all begin with one deal: their seeds are drawn from `seed` by themselves.
    """
    points = returns_of(training, policies, episodes, seed).mean(axis=1)
    kept = front(points)
    return {
        "points": {one.label: point.tolist() for one, point in zip(policies, points, strict=True)},
        "hypervolume": hypervolume(kept, training.game.reference_point).value,
    }


def returns_of(
    training: Training, policies: Sequence[Member], episodes: int, seed: int = 0, rivals: Sequence[Member] = ()
) -> NDArray[np.float64]:
    """Returns float64[policies, games, K]: `episodes` games against each opponent, or rival if there are any, from each
    seat."""
    game = training.game
    luck = np.random.default_rng([seed, 1])
    starts = training.starts(luck.integers(2**63, size=episodes, dtype=np.uint64))
    words = luck.integers(2**63, size=(episodes, len(game.agents)), dtype=np.uint64)
    found = []
    for other in rivals or training.members():
        for seat in training.seats:
            at = seat_of(game, seat)
            done = play_from(game, tuple(policies), other, at, starts, words)
            found.append(done.returns[:, at].reshape(len(policies), episodes, -1))
    return np.concatenate(found, axis=1)


def opened(path: Path) -> tuple[Training, Saved]:
    """The training that a checkpoint, or the folder around it, belongs to. InvalidFile if it is none."""
    saved = load(path / CHECKPOINT if path.is_dir() else path)
    head = saved.head
    try:
        return (
            Training(
                saved.game(), Moppo(**head["options"]), head["seed"], head["budget"], tuple(head["seats"]),
                tuple(Opponent(**one) for one in head["opponents"]), head["deal"],
            ),
            saved,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFile(f"{saved.path}: no checkpoint of training: {error}") from None


def _check_same(training: Training, saved: Saved) -> None:
    for name, value in training.head().items():
        if json.loads(json.dumps(value)) != saved.head.get(name):
            raise InvalidParameter(
                f"{saved.path} is of other training: its {name} is {saved.head.get(name)!r}, asked for is {value!r}; give "
                "another folder, or the same again"
            )


class _Log:
    """The log of a folder, from a number of steps on: what was written behind them is written again."""

    def __init__(self, folder: Path, steps: int, head: dict[str, Any], wandb: str | None) -> None:
        self._path = folder / LOG
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lines = self._path.read_text().splitlines() if self._path.exists() else []
            known = [line for line in lines if _steps(line) <= steps]
            self._path.write_text("".join(f"{line}\n" for line in known))
        except OSError as error:
            raise InvalidFile(f"{self._path}: {error.strerror or error}") from None
        self._boards = boards(folder, steps, head, wandb)

    def write(self, told: dict[str, Any]) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(told) + "\n")
        numbers = {name: value for name, value in told.items() if isinstance(value, float)}
        numbers["hypervolume"] = told["evaluation"]["hypervolume"]
        for board in self._boards:
            board.write(numbers, told["steps"])

    def close(self) -> None:
        for board in self._boards:
            board.close()


def _steps(line: str) -> float:
    """The steps that a line of the log is about; infinite for one that was broken off."""
    try:
        return float(json.loads(line)["steps"])
    except ValueError:
        return float("inf")
