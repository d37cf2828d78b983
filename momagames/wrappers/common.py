"""What the hosts have in common: the parts of a reward wrapper that no API changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.errors import InvalidCall
from momagames.wrappers.kinds import door
from momagames.wrappers.normalize import NormalizeReward
from momagames.wrappers.reward_spec import Form, layers
from momagames.wrappers.transforms import Moment, Scalarize, Transform, Weights

ONE, NONE = np.ones(1, np.bool_), np.zeros(1, np.bool_)


class RewardHost:
    """A wrapper that pays what its transform says.

    transform     what happens to the rewards
    reward_form   what is paid then: agents, objectives, bounds
    """

    env: Any
    transform: Transform
    reward_form: Form

    def _bind(self, transform: Transform) -> None:
        self.transform = transform
        self.reward_form = transform.form
        self._everybody = np.ones((1, len(transform.source.agents)), np.bool_)

    def set_weights(self, weights: Weights) -> None:
        """Other weights or another utility from the next step on, for the wrapper Scalarize."""
        if not isinstance(self.transform, Scalarize):
            raise InvalidCall(f"set_weights() is for Scalarize; this wrapper is {self.transform.name}")
        self._bind(Scalarize(self.transform.source, weights))

    def _normalizer(self) -> NormalizeReward:
        """The nearest NormalizeReward from here inwards."""
        for layer in layers(self):
            transform = vars(layer).get("transform")
            if isinstance(transform, NormalizeReward):
                return transform
        raise InvalidCall(f"no NormalizeReward in {self}: there are no statistics to save, load or freeze")

    def state_dict(self) -> dict[str, Any]:
        """The running statistics of the nearest NormalizeReward, as JSON-able data to be saved with a policy."""
        return self._normalizer().state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over statistics that `state_dict` gave."""
        self._normalizer().load_state_dict(state)

    def freeze(self, frozen: bool = True) -> None:
        """Stop (or go on with) updating the statistics of the nearest NormalizeReward."""
        self._normalizer().frozen = frozen

    def _look(self) -> Any:
        """What the transform wants to know of the position before a step."""
        if not self.transform.looks:
            return None
        inner = door(self.env, self.transform.name)
        return self.transform.look(inner.batch.states if hasattr(inner, "batch") else inner.play.states)

    def _single(self, rewards: Mapping[str, Any], ended: bool, seen: Any) -> NDArray[Any]:
        """What is paid in place of rewards by agent in a single environment, [1, A, K]."""
        form = self.transform.source
        everybody = len(rewards) == len(form.agents)
        present = self._everybody if everybody else np.array([[agent in rewards for agent in form.agents]])
        played = door(self.env, self.transform.name).play.pending[None] if self.transform.looks else None
        moment = Moment(ONE, present, ONE if ended else NONE, seen, played)
        return self.transform.apply(form.gather(rewards), moment).astype(self.reward_form.dtype, copy=False)


def reward_spaces(form: Form) -> dict[str, spaces.Box]:
    """The space of each agent's reward: float32[K], or a float64 number."""
    return {agent: reward_space(form, i) for i, agent in enumerate(form.agents)}


def reward_space(form: Form, agent: int) -> spaces.Box:
    if form.scalar:
        return spaces.Box(form.low[agent, 0], form.high[agent, 0], (), np.float64)
    return spaces.Box(form.low[agent].astype(np.float32), form.high[agent].astype(np.float32), dtype=np.float32)
