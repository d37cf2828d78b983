"""The parts of a reward wrapper that all APIs share."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from gymnasium import spaces

from momagames.errors import InvalidCall
from momagames.wrappers.introspection import base_env
from momagames.wrappers.normalize import NormalizeReward
from momagames.wrappers.recording import ReplayRecorder
from momagames.wrappers.reward_spec import RewardSpec, layers
from momagames.wrappers.transforms import Scalarize, StepContext, Transform, Weights

ONE, NONE = np.ones(1, np.bool_), np.zeros(1, np.bool_)


class RewardWrapperBase:
    """Base of the wrappers that transform rewards.

    transform     transform of the rewards
    reward_spec   rewards of the wrapped environment: agents, objectives, bounds
    """

    env: Any
    transform: Transform
    reward_spec: RewardSpec

    def _set_transform(self, transform: Transform) -> None:
        self.transform = transform
        self.reward_spec = transform.reward_spec
        self._all_agents = np.ones((1, len(transform.source.agents)), np.bool_)
        self._context = StepContext(ONE, self._all_agents, NONE)  # for a transform that does not need that of the step

    def set_weights(self, weights: Weights) -> None:
        """Change the weights or the utility of the wrapper Scalarize from the next step on."""
        if not isinstance(self.transform, Scalarize):
            raise InvalidCall(f"set_weights() is for Scalarize; this wrapper is {self.transform.name}")
        self._set_transform(Scalarize(self.transform.source, weights))

    def _find_normalizer(self) -> NormalizeReward:
        """Return the nearest NormalizeReward, from this wrapper inwards."""
        for layer in layers(self):
            transform = vars(layer).get("transform")
            if isinstance(transform, NormalizeReward):
                return transform
        raise InvalidCall(f"no NormalizeReward in {self}: there are no statistics to save, load or freeze")

    def state_dict(self) -> dict[str, Any]:
        """Return the running statistics of the nearest NormalizeReward as JSON-serializable data."""
        return self._find_normalizer().state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load statistics from `state_dict`."""
        self._find_normalizer().load_state_dict(state)

    def freeze(self, frozen: bool = True) -> None:
        """Stop (or continue) updating the statistics of the nearest NormalizeReward."""
        self._find_normalizer().frozen = frozen

    def _observe_states(self) -> Any:
        """Return what the transform needs of the states before a step."""
        inner = base_env(self.env, self.transform.name)
        return self.transform.observe_states(inner.batch.states if hasattr(inner, "batch") else inner.episode.states)

    def _apply_transform(self, rewards: Mapping[str, Any], ended: bool, observed: Any) -> dict[str, Any]:
        """Return the transformed rewards of a single environment by agent, as `RewardSpec.split` does."""
        transform, spec = self.transform, self.transform.source
        if isinstance(transform, Scalarize):
            sums = transform.sum_by_agent(rewards)
            if sums is not None:
                return sums
        context = self._context
        if transform.needs_context:
            complete = len(rewards) == len(spec.agents)
            present = self._all_agents if complete else np.array([[agent in rewards for agent in spec.agents]])
            actions = base_env(self.env, transform.name).episode.pending[None] if transform.needs_states else None
            context = StepContext(ONE, present, ONE if ended else NONE, observed, actions)
        reward = transform.apply(spec.gather(rewards), context)
        return self.reward_spec.split(reward.astype(self.reward_spec.dtype, copy=False))


class AgentWrapper:
    """Base of the wrappers of both PettingZoo APIs."""

    env: Any

    def clone(self) -> Self:
        """Return an independent copy of the wrappers and the environment, see `MultiObjectiveAEC.clone`.

        Raises     InvalidCall if a wrapper cannot be copied, or for another environment
        """
        return self._copy_stack("clone()", {})

    def _make_twin(self) -> Self:
        """Return a copy for `peek`, which records nothing."""
        values = [value for layer in layers(self) for value in vars(layer).values()]
        recorders = [value for value in values if isinstance(value, ReplayRecorder)]
        return self._copy_stack("peek()", {id(recorder): recorder.copy_without_recording() for recorder in recorders})

    def _copy_stack(self, call: str, known: dict[int, Any]) -> Self:
        base_env(self, call)
        try:
            twin = copy.deepcopy(self, known)
        except Exception as error:
            raise InvalidCall(f"the wrappers of {self} cannot be copied ({type(error).__name__}: {error})") from error
        for layer in layers(twin):
            if vars(layer).get("render_mode") == "human":
                layer.render_mode = None
        return twin


class AgentRewardWrapper(RewardWrapperBase):
    """Base of the wrappers of both PettingZoo APIs that transform rewards."""

    reward_spaces: dict[str, spaces.Box]

    def __init__(self, env: Any, transform: Transform) -> None:
        super().__init__(env)  # type: ignore[call-arg]
        self._set_transform(transform)

    def _set_transform(self, transform: Transform) -> None:
        super()._set_transform(transform)
        self.reward_spaces = {agent: reward_space(self.reward_spec, i) for i, agent in enumerate(self.reward_spec.agents)}

    def reward_space(self, agent: str) -> spaces.Box:
        """Return the bounds of the reward of one step of an agent: float32[K], or a float64 scalar."""
        return self.reward_spaces[agent]

    def __str__(self) -> str:
        return f"{self.transform.name}<{self.env}>"


def reward_space(spec: RewardSpec, agent: int) -> spaces.Box:
    if spec.scalar:
        return spaces.Box(spec.low[agent, 0], spec.high[agent, 0], (), np.float64)
    return spaces.Box(spec.low[agent].astype(np.float32), spec.high[agent].astype(np.float32), dtype=np.float32)
