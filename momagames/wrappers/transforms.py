"""Transforms of rewards: pure functions on reward[..., A, K], and the classes that wrappers call.

A agents, K objectives, N environments (1 for a single environment). This module does not depend on PettingZoo or
Gymnasium. A transform is bound to the `RewardSpec` of its source and declares that of its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Objective
from momagames.contract.objective_weights import order_weights
from momagames.errors import InvalidCall, InvalidParameter, invalid_value, nearest, one_of
from momagames.plugins import is_python_path, load_object
from momagames.wrappers.reward_spec import RewardSpec

Utility = Callable[[NDArray[np.float64]], float]
Weights = Sequence[float] | NDArray[Any] | Mapping[str, Any] | Utility | str
PUBLISHED = "published"
FLOAT32 = np.dtype(np.float32)


@cache
def compiled_loops() -> Any:
    """Return the module of compiled loops, which imports numba: importing wrappers does not."""
    return import_module("momagames.wrappers.loops")


# ------------------------------------------------------------------------------------------------------ pure functions


def weighted_sum(reward: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weighted sums: reward[..., A, K], weights float64[A, K] -> float64[..., A, 1]."""
    sums: NDArray[np.float64] = (reward * weights).sum(axis=-1, keepdims=True)
    return sums


def share_rewards(reward: NDArray[Any], teams: Sequence[int]) -> NDArray[Any]:
    """Return the sums of teams for every agent: reward[..., A, K] -> [..., A, K]; rows of one team are equal."""
    team, shared = np.asarray(teams), np.empty_like(reward)
    if len(set(teams)) == 1:
        shared[:] = reward.sum(axis=-2, keepdims=True)
        return shared
    for t in set(teams):
        shared[..., team == t, :] = reward[..., team == t, :].sum(axis=-2, keepdims=True)
    return shared


def select_objectives(reward: NDArray[Any], chosen: Sequence[int]) -> NDArray[Any]:
    """Return some objectives, in this order: reward[..., K] -> [..., len(chosen)]."""
    part: NDArray[Any] = reward[..., list(chosen)]
    return part


def merge_objectives(reward: NDArray[Any], rest: int = 0) -> NDArray[Any]:
    """Return the sum of all objectives but the last `rest`, and these: reward[..., K] -> [..., 1 + rest]."""
    end = reward.shape[-1] - rest
    merged = np.asarray(reward[..., :end].sum(axis=-1, keepdims=True))
    return np.concatenate([merged, reward[..., end:]], axis=-1) if rest else merged


def split_objective(reward: NDArray[Any], color: NDArray[np.int64], colors: int) -> NDArray[Any]:
    """Split the first objective into one for each color: reward[N, A, 1 + rest], color int[N] -> [N, A, colors + rest]."""
    chosen = (np.arange(colors) == color[:, None]).astype(reward.dtype)
    parts: NDArray[Any] = reward[..., :1] * chosen[:, None, :]
    return np.concatenate([parts, reward[..., 1:]], axis=-1)


# ---------------------------------------------------------------------------------------------------------- transforms


@dataclass
class StepContext:
    """The context of a step that transforms may use besides its rewards.

    moved     bool[N], environments that stepped: not those that only started a new episode
    acting    bool[N, A], agents in the episode: none in an environment that only started a new episode
    ended     bool[N], environments whose episode ended
    observed  result of `observe_states` before the step
    actions   int64[N, S, P], for a transform with `needs_states`
    """

    moved: NDArray[np.bool_]
    acting: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    observed: Any = None
    actions: Any = None


class Transform:
    """A transform of rewards."""

    reward_spec: RewardSpec  # of the result
    needs_states = False  # whether to call `observe_states` before a step
    needs_context = True  # whether `apply` uses the context

    def __init__(self, source: RewardSpec, spec: RewardSpec) -> None:
        self.source, self.reward_spec = source, spec

    @property
    def name(self) -> str:
        return type(self).__name__

    def apply(self, reward: NDArray[Any], context: StepContext) -> NDArray[Any]:
        """Return the transformed rewards of reward[N, A, K]; called exactly once for every step."""
        raise NotImplementedError

    def observe_states(self, states: NDArray[Any]) -> Any:
        """Return what `apply` needs of the states record[N] before the step."""
        return None

    def restart(self, chosen: NDArray[np.bool_]) -> None:
        """Start new episodes in these environments, bool[N]."""

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that make this transform, as it is now, again."""
        return {}


def _require_vector(source: RewardSpec, name: str) -> None:
    """Raise InvalidCall for scalar rewards."""
    if source.scalar:
        raise InvalidCall(f"{name} needs reward vectors, but the rewards are scalar: use Scalarize({name}(env), ...)")


class Scalarize(Transform):
    """A scalar reward: a weighted sum, or a utility function of the reward vector of the step.

    weights   float[K] for all agents, or by the names of objectives, such as {"win": 1}; a function float64[K] -> float; a dict
              of either by agent; or "published", the weights of the scalar reward of the original game
              (`OriginalGame.published_weights`)
    """

    def __init__(
        self,
        source: RewardSpec,
        weights: Weights | None = None,
        utility: Utility | str | Mapping[str, Utility | str] | None = None,
    ) -> None:
        _require_vector(source, self.name)
        if (weights is None) == (utility is None):
            raise InvalidParameter("Scalarize needs weights=... or utility=..., one of them")
        if isinstance(weights, str):
            weights = _published_weights(source, weights)
        if weights is None:
            listed = [load_function(one) for one in _list_by_agent(source, utility)]
            if not all(callable(one) for one in listed):
                raise InvalidParameter(f"invalid utility={utility!r}: expected a function of a reward vector, or one by agent")
        else:
            if isinstance(weights, Mapping) and any(name in source.names for name in weights):
                weights = order_weights(weights, source.names)
            listed = _list_by_agent(source, weights)
        self.rules: list[NDArray[np.float64] | Utility] = [
            one if callable(one) else _check_weights(source, agent, one)
            for agent, one in zip(source.agents, listed, strict=True)
        ]
        linear = [rule for rule in self.rules if not callable(rule)]
        self.weights = np.stack(linear) if len(linear) == len(self.rules) else None
        self.needs_context = self.weights is None
        self._terms: list[tuple[str, list[float]]] = []  # of sums in the order of NumPy, which takes lanes for long vectors
        if self.weights is not None and len(source.objectives) < compiled_loops().LANES:
            self._terms = list(zip(source.agents, self.weights.tolist(), strict=True))
        super().__init__(source, self._make_scalar_spec(source))

    def _make_scalar_spec(self, source: RewardSpec) -> RewardSpec:
        low, high, lowest, highest = [], [], [], []
        returns = np.array([(o.return_low, o.return_high) for o in source.objectives])
        for rule, lows, highs in zip(self.rules, source.low, source.high, strict=True):
            if callable(rule):
                bounds, ends = (-np.inf, np.inf), (-np.inf, np.inf)
            else:
                bounds, ends = _sum_bounds(rule, lows, highs), _sum_bounds(rule, returns[:, 0], returns[:, 1])
            low.append([bounds[0]])
            high.append([bounds[1]])
            lowest.append(ends[0])
            highest.append(ends[1])
        objective = Objective("utility", "utility", min(low)[0], max(high)[0], min(lowest), max(highest), "Scalarize")
        return source.with_objectives((objective,), low, high, scalar=True)

    def sum_by_agent(self, rewards: Mapping[str, Any]) -> dict[str, float] | None:
        """Return the weighted sums of the vectors of agents, as `apply` does; None where it is needed.

        Numbers of Python are faster than arrays of a few numbers: half of the time of a wrapped step.
        """
        sums, nothing = {}, self.source.nothing
        for agent, weights in self._terms:
            vector = rewards.get(agent, nothing)
            if type(vector) is not np.ndarray or vector.dtype is not FLOAT32 or vector.shape != nothing.shape:
                return None
            total = 0.0
            for weight, number in zip(weights, vector.tolist()):  # noqa: B905 - as long as each other
                total += number * weight
            sums[agent] = total
        return sums or None

    def apply(self, reward: NDArray[Any], context: StepContext) -> NDArray[np.float64]:
        if self.weights is not None:
            sums = np.empty((*reward.shape[:2], 1))
            compiled_loops().weigh(reward, self.weights, sums)
            return sums
        scalars = np.zeros((*reward.shape[:2], 1))
        for agent, rule in enumerate(self.rules):
            if not callable(rule):
                scalars[:, agent] = weighted_sum(reward[:, agent], rule)
                continue
            for env in np.flatnonzero(context.acting[:, agent]):
                scalars[env, agent, 0] = self._apply_utility(rule, agent, reward[env, agent])
        return scalars

    def arguments(self) -> dict[str, Any]:
        rules = [rule if callable(rule) else rule.tolist() for rule in self.rules]
        name = "utility" if all(callable(rule) for rule in rules) else "weights"
        return {name: rules[0] if len(rules) == 1 else dict(zip(self.source.agents, rules, strict=True))}

    def _apply_utility(self, rule: Utility, agent: int, vector: NDArray[Any]) -> float:
        value = rule(vector.astype(np.float64))
        number = np.asarray(value)
        if number.ndim or number.dtype.kind not in "biuf" or not np.isfinite(number):
            raise InvalidParameter(
                f"the utility of {self.source.agents[agent]} gave {value!r} for {vector.tolist()}; needed: a finite number"
            )
        return float(value)


def load_function(given: Any) -> Any:
    """Return a function that is given by its name, "module:name"; anything else as it is. Raises UnknownId."""
    return load_object(given) if isinstance(given, str) and is_python_path(given) else given


def _published_weights(source: RewardSpec, weights: str) -> list[float]:
    """Return the published weights of the objectives of the source. Raises InvalidParameter if there are none for them."""
    if weights != PUBLISHED:
        raise InvalidParameter(f"invalid weights={weights!r}: expected one number for each objective, or {PUBLISHED!r}")
    game = source.game
    known = {}
    if game is not None and game.original.published_weights is not None:
        names = [objective.name for objective in game.objectives]
        known = dict(zip(names, game.original.published_weights, strict=True))
    missing = [name for name, weight in known.items() if weight and name not in source.names]
    if not known or missing or any(name not in known for name in source.names):
        reason = (
            f"{one_of(missing)} is left out"
            if missing
            else f"{game.id if game else 'this environment'} has none for its objectives"
        )
        raise InvalidParameter(
            f"invalid weights={weights!r}: expected one number for each of {one_of(source.names)}, because {reason}"
        )
    return [known[name] for name in source.names]


def _list_by_agent(source: RewardSpec, given: Any) -> list[Any]:
    if not isinstance(given, Mapping):
        return [given] * len(source.agents)
    for agent in given:
        if agent not in source.agents:
            raise InvalidParameter(
                f"weights name the agent {agent!r}; there are {one_of(source.agents)}, and the objectives "
                f"{one_of(source.names)}{nearest(agent, (*source.agents, *source.names))}"
            )
    missing = [agent for agent in source.agents if agent not in given]
    if missing:
        raise InvalidParameter(
            f"weights name no weights for {one_of(missing)}; every agent needs some, or give one vector for all"
        )
    return [given[agent] for agent in source.agents]


def _check_weights(source: RewardSpec, agent: str, given: Any) -> NDArray[np.float64]:
    given = order_weights(given, source.names, f"weights of {agent}")
    try:
        weights = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(
            f"weights={given!r} of {agent} are not numbers; needed: one for each of {one_of(source.names)}"
        ) from None
    if weights.shape != (len(source.objectives),):
        raise InvalidParameter(
            f"weights of {agent} have shape {weights.shape}; needed: ({len(source.objectives)},), one for each of "
            f"{', '.join(source.names)}"
        )
    if not np.isfinite(weights).all():
        raise InvalidParameter(f"weights={weights.tolist()} of {agent} are not finite numbers")
    return weights


def _sum_bounds(weights: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least and greatest weighted sum of vectors between low and high; infinite bounds times 0 count as 0."""
    least = weighted_sum(np.where(weights > 0, low, np.where(weights < 0, high, 0.0)), weights)
    greatest = weighted_sum(np.where(weights > 0, high, np.where(weights < 0, low, 0.0)), weights)
    return float(least[0]), float(greatest[0])


class ShareTeamReward(Transform):
    """Give every agent the sum of the rewards of its team.

    teams   None: the declared teams of the game; "all": one team of all agents; or the team of each agent, in order or by
            name. Games without teams that have the parameter `team_rewards` are one team.
    """

    needs_context = False

    def __init__(self, source: RewardSpec, teams: str | Sequence[int] | Mapping[str, int] | None = None) -> None:
        if not source.covers_all_agents:
            raise InvalidCall("ShareTeamReward needs the rewards of all agents: wrap an AEC, parallel or vector environment")
        if source.game is not None and source.game.params.get("team_rewards"):
            raise InvalidCall(f"{source.game.id} already gives every agent the reward of its team (team_rewards=True)")
        shared = source.with_params(team_rewards=True)
        self.teams = _parse_teams(source, teams, known=shared is not None)
        if shared is not None and source.is_unchanged and len(set(self.teams)) == 1:
            super().__init__(source, shared)
            return
        count = np.array([self.teams.count(team) for team in self.teams])
        objectives = tuple(
            replace(o, low=o.low * most, high=o.high * most, return_low=o.return_low * most, return_high=o.return_high * most)
            for o, most in ((o, int(count.max())) for o in source.objectives)
        )
        spec = source.with_objectives(
            objectives, share_rewards(source.low, self.teams), share_rewards(source.high, self.teams), source.scalar
        )
        super().__init__(source, replace(spec, teams=self.teams))

    def apply(self, reward: NDArray[Any], context: StepContext) -> NDArray[Any]:
        return share_rewards(reward, self.teams)

    def arguments(self) -> dict[str, Any]:
        return {"teams": list(self.teams)}


def _parse_teams(source: RewardSpec, given: Any, known: bool) -> tuple[int, ...]:
    count = len(source.agents)
    if given is None:
        if len(set(source.teams)) < count:
            return source.teams
        if not known and count > 1:
            raise InvalidParameter(
                f"no teams are declared for {one_of(source.agents)}; give teams='all', or the team of each agent"
            )
        return (0,) * count
    if isinstance(given, str):
        if given != "all":
            raise InvalidParameter(f"invalid teams={given!r}: expected None, 'all', or the team of each agent")
        return (0,) * count
    try:
        chosen = [given.get(agent) for agent in source.agents] if isinstance(given, Mapping) else list(given)
        order = list(dict.fromkeys(chosen))
    except TypeError:  # no sequence, or teams that cannot be compared
        chosen, order = [], []
    if len(chosen) != count or (isinstance(given, Mapping) and len(given) != count) or any(one is None for one in order):
        raise InvalidParameter(invalid_value("teams", given, f"one team for each of {one_of(source.agents)}"))
    return tuple(order.index(team) for team in chosen)


class SelectObjectives(Transform):
    """Select objectives, by name or index, in the given order."""

    needs_context = False

    def __init__(self, source: RewardSpec, objectives: str | int | Sequence[str | int]) -> None:
        _require_vector(source, self.name)
        listed = list_objectives(source, objectives)
        self.chosen = [objective_index(source, one) for one in listed]
        if not listed or len(set(self.chosen)) != len(listed):
            raise InvalidParameter(
                f"objectives={objectives!r} must name at least one objective, each once; there are {one_of(source.names)}"
            )
        chosen = tuple(source.objectives[k] for k in self.chosen)
        super().__init__(
            source,
            source.with_objectives(
                chosen, select_objectives(source.low, self.chosen), select_objectives(source.high, self.chosen)
            ),
        )

    def apply(self, reward: NDArray[Any], context: StepContext) -> NDArray[Any]:
        return select_objectives(reward, self.chosen)

    def arguments(self) -> dict[str, Any]:
        return {"objectives": [self.source.names[k] for k in self.chosen]}


def list_objectives(source: RewardSpec, given: Any) -> list[Any]:
    """Return names or indices of objectives as a list. Raises InvalidParameter for something else."""
    if isinstance(given, (str, int, np.integer)):
        return [given]
    if not isinstance(given, Iterable) or (isinstance(given, np.ndarray) and not given.ndim):
        raise InvalidParameter(invalid_value("objectives", given, f"some of {one_of(source.names)}"))
    return list(given)


def objective_index(source: RewardSpec, given: str | int) -> int:
    """Return the index of an objective from its name or index."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < len(source.objectives):
        return int(given)
    if not isinstance(given, str) or given not in source.names:
        raise InvalidParameter(
            invalid_value(
                "objective", given, f"{one_of(source.names)} or 0..{len(source.names) - 1}", nearest(given, source.names)
            )
        )
    return source.names.index(str(given))


def _with_color_rewards(source: RewardSpec, name: str, split: bool) -> RewardSpec:
    """Return the rewards of the same game with color_rewards=split. Raises InvalidCall for other games or changed rewards."""
    _require_vector(source, name)
    current, target = source.with_params(color_rewards=not split), source.with_params(color_rewards=split)
    if current is None or target is None:
        raise InvalidCall(
            f"{name} needs a game with the parameter color_rewards; {', '.join(source.names)} are the objectives here"
        )
    if not source.covers_all_agents:
        raise InvalidCall(
            f"{name} needs the rewards of every ply: wrap an AEC environment, or make the game with color_rewards={split}"
        )
    if source.objectives != current.objectives:
        state = "already" if source.objectives == target.objectives else "or have been changed by another wrapper"
        raise InvalidCall(f"{name}: the objectives are {', '.join(source.names)} {state}; put {name} directly around the game")
    return replace(target, teams=source.teams)


class MergeColors(Transform):
    """Replace the objectives of all colors by one: the rewards of color_rewards=False."""

    needs_context = False

    def __init__(self, source: RewardSpec) -> None:
        super().__init__(source, _with_color_rewards(source, self.name, split=False))

    def apply(self, reward: NDArray[Any], context: StepContext) -> NDArray[Any]:
        return merge_objectives(reward, len(self.reward_spec.objectives) - 1)


class SplitColors(Transform):
    """Replace one objective by one for each color: the rewards of color_rewards=True."""

    needs_states = True

    def __init__(self, source: RewardSpec) -> None:
        spec = _with_color_rewards(source, self.name, split=True)
        colors = spec.game.color_objectives if spec.game else None
        if colors is None:
            raise InvalidCall(
                f"SplitColors needs a game that declares color_objectives; {source.game and source.game.id} does not"
            )
        self._action_objectives = colors.action_objectives
        super().__init__(source, spec)

    def observe_states(self, states: NDArray[Any]) -> NDArray[np.int64]:
        """Return the color objective of every action, int64[N, M]."""
        return self._action_objectives(states)

    def apply(self, reward: NDArray[Any], context: StepContext) -> NDArray[Any]:
        color = context.observed[np.arange(len(reward)), context.actions[:, 0, 0]]
        return split_objective(reward, color, len(self.reward_spec.objectives) - len(self.source.objectives) + 1)
