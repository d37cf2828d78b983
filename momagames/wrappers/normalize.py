"""Normalization of rewards by running statistics, the only stateful transform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidParameter, check_range, invalid_value, one_of
from momagames.wrappers.reward_spec import RewardSpec
from momagames.wrappers.transforms import StepContext, Transform, compiled_loops, list_objectives, objective_index


class NormalizeReward(Transform):
    """Divide each objective of each agent by the running standard deviation of its discounted return.

    As in Gymnasium and MO-Gymnasium, the mean is not subtracted. All environments of a batch update the same statistics. The
    zero rewards of waiting agents count: the statistics cover environment steps and are equal for every API.

    gamma        discount of that return
    epsilon      added to the variance
    objectives   objectives to normalize, by name or index (default: all)
    frozen       do not update the statistics, e.g. for evaluation
    """

    def __init__(
        self,
        source: RewardSpec,
        gamma: float = 0.99,
        epsilon: float = 1e-8,
        objectives: str | int | Sequence[str | int] | None = None,
        frozen: bool = False,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        check_range("gamma", gamma, 0, 1)
        check_range("epsilon", epsilon, 0, above=True)
        listed = source.names if objectives is None else list_objectives(source, objectives)
        self.chosen = sorted({objective_index(source, one) for one in listed})
        self.gamma, self.epsilon, self.frozen = float(gamma), float(epsilon), frozen
        shape = len(source.agents), len(self.chosen)
        self.mean, self.var, self.count = np.zeros(shape), np.ones(shape), np.full((shape[0], 1), 1e-4)
        self._columns = np.array(self.chosen, np.int64)
        self.running = np.zeros((1, *shape))  # discounted return of the episode so far, float64[N, A, chosen]
        low, high = source.low.copy(), source.high.copy()
        low[:, self.chosen] = np.where(low[:, self.chosen] < 0, -np.inf, 0.0)
        high[:, self.chosen] = np.where(high[:, self.chosen] > 0, np.inf, 0.0)
        scaled = tuple(
            replace(
                o,
                unit="standard deviations of the discounted return",
                low=float(low[:, k].min()),
                high=float(high[:, k].max()),
                return_low=-np.inf if o.return_low < 0 else 0.0,
                return_high=np.inf if o.return_high > 0 else 0.0,
            )
            if k in self.chosen
            else o
            for k, o in enumerate(source.objectives)
        )
        super().__init__(source, source.with_objectives(scaled, low, high, source.scalar))
        if state is not None:
            self.load_state_dict(state)

    def restart(self, chosen: NDArray[np.bool_]) -> None:
        if len(self.running) != len(chosen):
            self.running = np.zeros((len(chosen), *self.running.shape[1:]))
        self.running[chosen] = 0

    def apply(self, reward: NDArray[Any], context: StepContext) -> NDArray[Any]:
        normalized = np.empty_like(reward)
        compiled_loops().normalize(
            reward, self._columns, context.acting, context.ended, self.frozen, self.gamma, self.epsilon,
            self.running, self.mean, self.var, self.count, normalized,
        )  # fmt: skip
        return normalized

    def arguments(self) -> dict[str, Any]:
        return {
            "gamma": self.gamma,
            "epsilon": self.epsilon,
            "objectives": [self.source.names[k] for k in self.chosen],
            "frozen": bool(self.frozen),
            "state": self.state_dict(),
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the statistics as JSON-serializable data, to be saved with a policy."""
        return {
            "agents": list(self.source.agents),
            "objectives": [self.source.names[k] for k in self.chosen],
            "mean": self.mean.tolist(),
            "var": self.var.tolist(),
            "count": self.count[:, 0].tolist(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load saved statistics. Raises InvalidParameter, without any change, if agents or objectives differ."""
        now = self.state_dict()
        if not isinstance(state, Mapping):
            raise InvalidParameter(invalid_value("state", state, f"a dict of {one_of(now)}"))
        for key in now:
            if key not in state:
                raise InvalidParameter(
                    f"the state of NormalizeReward has no {key!r}; it has {one_of(state) if state else 'nothing'}"
                )
        for key in ("agents", "objectives"):
            given = list(state[key]) if isinstance(state[key], (list, tuple)) else state[key]
            if not isinstance(given, list) or given != now[key]:
                raise InvalidParameter(f"the state of NormalizeReward is of the {key} {given!r}; here they are {now[key]}")
        try:
            mean, var, count = (np.array(state[key], np.float64) for key in ("mean", "var", "count"))
        except (TypeError, ValueError, OverflowError):
            raise InvalidParameter("the state of NormalizeReward holds something else than numbers") from None
        if mean.shape != self.mean.shape or var.shape != self.var.shape or count.shape != (len(self.count),):
            raise InvalidParameter(
                f"the state of NormalizeReward has shapes {mean.shape}, {var.shape}, {count.shape}; needed: "
                f"{self.mean.shape} twice and {(len(self.count),)}"
            )
        if not (np.isfinite(mean).all() and np.isfinite(var).all() and (var >= 0).all() and (count > 0).all()):
            raise InvalidParameter(
                "the state of NormalizeReward is not one: means and variances must be finite, counts positive"
            )
        self.mean, self.var, self.count = mean, var, count[:, None]
