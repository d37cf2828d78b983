"""Training of bandits: the pulls of all learners, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.trainer import Arrays, TrainedPolicies, restore_arrays
from momagames.baselines.training_setup import TrainingSetup

NO_HISTORY = np.zeros((0, 0), np.int16)


class Learner:
    """A learner.

    tables    its statistics, a NamedTuple of arrays
    word      generator word
    pulls     so far, each an environment step
    """

    tables: Any
    word: int
    pulls: int

    def pull(self, count: int, history: NDArray[np.int16] = NO_HISTORY) -> None:
        """Pull `count` times. The joint actions of the first pulls are written to history int16[n, A]."""
        raise NotImplementedError

    def state_dict(self) -> tuple[dict[str, int], dict[str, NDArray[Any]]]:
        """Return all that the next pull depends on, as JSON-able data and arrays."""
        return {"word": self.word, "pulls": self.pulls}, self.tables._asdict()

    def load_state_dict(self, data: Mapping[str, int], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state_dict` returned."""
        self.word, self.pulls = data["word"], data["pulls"]
        for name, own in self.tables._asdict().items():
            own[...] = arrays[name]


class BanditTrainer:
    """Learners with equal shares of the budget.

    make_policies    () -> the current policies
    return_scale     float64[K]
    chunk            pulls of all learners in an iteration, which Ctrl-C does not interrupt
    """

    def __init__(
        self, setup: TrainingSetup, learners: Sequence[Learner], make_policies: Callable[[], TrainedPolicies],
        return_scale: NDArray[np.float64], chunk: int,
    ) -> None:  # fmt: skip
        self.setup, self.learners, self.return_scale = setup, learners, return_scale
        self.make_policies = make_policies
        budget, count = setup.budget, len(learners)
        self._shares = [budget * (i + 1) // count - budget * i // count for i in range(count)]
        self._part = max(1, chunk // count)

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return sum(one.pulls for one in self.learners)

    @property
    def decisions(self) -> int:
        """Choices of all agents so far."""
        return self.steps * len(self.setup.game.agents)

    @property
    def is_done(self) -> bool:
        return all(one.pulls >= share for one, share in zip(self.learners, self._shares, strict=True))

    def train_iteration(self) -> dict[str, float]:
        """Pull the next part of the budget. Returns metrics."""
        for learner, share in zip(self.learners, self._shares, strict=True):
            learner.pull(min(self._part, share - learner.pulls))
        return {"steps": self.steps, "decisions": self.decisions}

    def summarize(self) -> dict[str, Any]:
        """Return counts that are stored with results."""
        return {"pulls": self.steps, "learners": len(self.learners)}

    def state_dict(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that the next iteration depends on, as JSON-able data and arrays."""
        return {"learners": [one.state_dict()[0] for one in self.learners]}, self._collect_arrays()

    def load_state_dict(self, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a trainer with the same setup and options. Raises InvalidFile if it does not fit."""
        given = restore_arrays(arrays, self._collect_arrays())
        for i, (learner, one) in enumerate(zip(self.learners, data["learners"], strict=True)):
            learner.load_state_dict(one, {name: given[f"{i}/{name}"] for name in learner.state_dict()[1]})

    def _collect_arrays(self) -> Arrays:
        return {f"{i}/{name}": array for i, one in enumerate(self.learners) for name, array in one.state_dict()[1].items()}
