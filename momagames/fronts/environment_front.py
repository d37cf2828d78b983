"""Front files of Gymnasium environments: a Pareto front or a convex coverage set with witnesses and certificates.

They share the format of `GameFront`: one JSON object with a `sha256`. The key `environment` stands in the place of `game`.
States are numbered breadth first from the start, see `momagames.tabular.explore`; `model.sha256` names this numbering.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from momagames import plugins, tabular
from momagames.baselines.strategies import StoredStrategy, encode_actions
from momagames.benchmark.data_models import FrozenModel, NamingModel
from momagames.errors import InvalidFile, InvalidParameter, MomagamesError, invalid_value
from momagames.fronts.front_content import FrontContent, Method, Point, parse_content, read_content
from momagames.fronts.game_front import GameFront
from momagames.fronts.generation import collect_provenance
from momagames.tabular.environments import check_environment_class
from momagames.tabular.evaluation import Policy, reach_by_policy
from momagames.tabular.model import Vector
from momagames.tabular.proofs import nondominated
from momagames.tabular.replay import play_policy, replay_actions

PACKAGES = ("mo_gymnasium", "gymnasium")
MAX_DIGITS, MAX_EXPONENT = 50, 3  # characters of a discount, and of its exponent
MAX_DISCOUNT_DIGITS = 200_000  # of the last discount of a witness; of several, the root of the sum of squares, as the work
MAX_ACTIONS = 100_000  # of all witnesses of a file: each is played
EPISODES = 10  # of each policy, in which every step must be an outcome of the model
EnvironmentClaim = Literal["deterministic", "coverage"]
STATEMENTS: dict[EnvironmentClaim, str] = {
    "deterministic": "The Pareto front of the returns of all deterministic policies from the start state{ends}, discounted by "
    "{gamma}. Policies may depend on the history.",
    "coverage": "The convex coverage set of the expected returns of all policies from the start state{ends}, discounted by "
    "{gamma}: the vectors that are best for some range of weights of the objectives, none of them negative. No policy has a "
    "higher weighted sum for any weights.",
}


class EnvironmentChoice(NamingModel):
    """An environment: an id of Gymnasium's registry or "module:name", and its parameters.

    state_attributes    names of the attributes that hold its state, where the user gave them
    seed                seed of the start state; None: all seeds have the same
    horizon             number of actions after which an episode ends; None: the dynamics without the time limit of the registry
    gamma               discount as a decimal, such as "0.98"; the reward of action t, from 0, counts gamma^t
    """

    id: str
    params: dict[str, Any]
    state_attributes: tuple[str, ...] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    horizon: Annotated[int, Field(ge=1, le=100_000)] | None = None
    gamma: Annotated[str, Field(max_length=MAX_DIGITS)]

    @field_validator("gamma")
    @classmethod
    def _check_gamma(cls, text: str) -> str:
        parse_gamma(text)
        return text

    @field_validator("params")
    @classmethod
    def _check_params(cls, params: dict[str, Any]) -> dict[str, Any]:
        if "render_mode" in params:
            raise ValueError("unexpected 'render_mode': expected parameters of the dynamics")
        return params

    @property
    def discount(self) -> Fraction:
        return parse_gamma(self.gamma)

    def make(self) -> Any:
        """Return the gymnasium.Env; errors as in `make_environment`."""
        return tabular.make_environment(self.id, self.params, self.origin)

    def explore(self, limits: tabular.Limits) -> tabular.TabularModel:
        """Return the model of the environment, with the horizon; errors as in `explore` and `limit_horizon`."""
        description = {
            "id": self.id,
            "params": self.params,
            "state_attributes": self.state_attributes and list(self.state_attributes),
        }
        model = tabular.explore(self.make_simulator(), limits, description, self.seed, self.horizon)
        return model if self.horizon is None else tabular.limit_horizon(model, self.horizon, limits.max_states)

    def make_simulator(self) -> tabular.Simulator:
        return tabular.make_simulator(self.make(), self.state_attributes)

    def state(self, claim: EnvironmentClaim) -> str:
        """Return a claim as a sentence."""
        ends = f" within {self.horizon} actions" if self.horizon else ""
        return STATEMENTS[claim].format(ends=ends, gamma=self.gamma)


def parse_gamma(text: str) -> Fraction:
    """Return a discount, such as "0.98" or "1"; InvalidParameter."""
    exponent = text.lower().partition("e")[2]  # a number of its size in digits
    with contextlib.suppress(ValueError, ZeroDivisionError):
        if len(text) <= MAX_DIGITS and len(exponent) <= MAX_EXPONENT and 0 < (gamma := Fraction(text)) <= 1:
            return gamma
    raise InvalidParameter(invalid_value("gamma", text, "a decimal above 0, to 1, such as 0.98"))


class ModelFacts(FrozenModel):
    """The enumerated dynamics.

    states           number of states, or of pairs of state and time with a horizon
    transitions      number of outcomes
    deterministic    whether every action has one outcome
    sha256           hash of all outcomes with their probabilities and rewards
    """

    states: int
    transitions: int
    deterministic: bool
    sha256: str

    @classmethod
    def from_model(cls, model: tabular.TabularModel) -> Self:
        return cls(
            states=model.num_states,
            transitions=len(model.next_states),
            deterministic=model.is_deterministic,
            sha256=model.digest(),
        )


class StoredCertificate(FrozenModel):
    """A policy whose values prove that no policy exceeds the points at a corner of their surface, see `check_coverage_set`.

    weights     of the corner, rounded; the verification computes them again
    strategy    the action of every state in ascending order, packed as in `Point`
    """

    weights: tuple[float, ...]
    strategy: str


class EnvironmentFront(FrontContent):
    """The content of a front file of an environment.

    points          with actions for the claim "deterministic"; with a strategy for "coverage": the actions of the states that
                    the policy reaches, in the order of a breadth-first traversal
    certificates    in ascending order of the weights, for the claim "coverage"
    """

    schema_: Literal[2] = Field(default=2, alias="schema")
    kind: Literal["proven"]
    claim: EnvironmentClaim
    environment: EnvironmentChoice
    model: ModelFacts
    points: Annotated[tuple[Point, ...], Field(min_length=1)]
    certificates: tuple[StoredCertificate, ...]
    method: Method

    @model_validator(mode="after")
    def _check_claim(self) -> Self:
        self.check_statement(self.environment.state(self.claim))
        has_actions = self.claim == "deterministic"
        if (count := sum(len(point.actions or ()) for point in self.points)) > MAX_ACTIONS:
            raise ValueError(f"{count:,} actions of witnesses: expected at most {MAX_ACTIONS:,}")
        digits = [len(self.environment.gamma) * len(point.actions or ()) for point in self.points]
        if self.environment.discount != 1 and (whole := math.hypot(*digits)) > MAX_DISCOUNT_DIGITS:
            raise ValueError(f"discounts of {whole:,.0f} digits: expected at most {MAX_DISCOUNT_DIGITS:,}")
        if any((point.actions is not None) != has_actions for point in self.points):
            raise ValueError(f"expected {'actions' if has_actions else 'strategies'} as witnesses of claim {self.claim!r}")
        if bool(self.certificates) == has_actions:
            raise ValueError("expected certificates for the claim coverage, and for no other claim")
        return self

    @property
    def subject(self) -> str:
        """Text that names the environment."""
        params = ", ".join(f"{name}={value}" for name, value in self.environment.params.items())
        return f"{self.environment.id}({params})" if params else self.environment.id


def solve_environment(
    choice: EnvironmentChoice, claim: EnvironmentClaim | None, limits: tabular.Limits, command: str = ""
) -> EnvironmentFront:
    """Return the proven front of an environment.

    Each witness is replayed in an environment that is made anew.

    claim     None: "deterministic" if every action has one outcome, else "coverage"
    Raises    as `explore`, `find_pareto_front` and `find_coverage_set`; InvalidParameter if a witness has another result
    """
    start = time.perf_counter()
    model = choice.explore(limits)
    claim = claim or ("deterministic" if model.is_deterministic else "coverage")
    certificates: list[StoredCertificate] = []
    if claim == "deterministic":
        front = tabular.find_pareto_front(model, choice.discount, limits)
        points = [Point(value=to_floats(v), actions=tuple(a)) for v, a in zip(front.vectors, front.actions, strict=True)]
        name, options = front.method, {"labels": front.labels, "stationary": front.is_stationary}
    else:
        found = tabular.find_coverage_set(model, choice.discount, limits)
        points = [
            Point(value=to_floats(vector), strategy=encode_actions([int(policy[s]) for s in reach_by_policy(model, policy)]))
            for vector, policy in zip(found.vectors, found.policies, strict=True)
        ]
        certificates = [
            StoredCertificate(weights=to_floats(one.weights), strategy=encode_actions(one.policy.tolist()))
            for one in found.certificates
        ]
        name, options = "optimistic linear support", {"corners": len(certificates)}
    made = EnvironmentFront(
        kind="proven",
        claim=claim,
        statement=choice.state(claim),
        environment=choice,
        model=ModelFacts.from_model(model),
        objectives=tuple(f"objective_{k + 1}" for k in range(model.num_objectives)),
        points=tuple(points),
        certificates=tuple(certificates),
        method=Method(
            name=name, options=options, states=model.num_states, bytes=model.num_bytes, seconds=time.perf_counter() - start
        ),
        provenance={**collect_provenance(command), "environments": environment_versions()},
    )
    for number, point in enumerate(points):
        try:
            _evaluate(made, model, number, point)
        except InvalidFile as error:
            raise InvalidParameter(f"{choice.id}: another result when a witness is played again: {error}") from None
    return made


def environment_versions() -> dict[str, str]:
    """Return the versions of the packages that hold environments."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def to_floats(vector: Vector) -> tuple[float, ...]:
    """Return the floats that are nearest to exact numbers. Raises InvalidParameter if one is too large for a float."""
    try:
        return tuple(float(x) for x in vector)
    except OverflowError:
        raise InvalidParameter("a return is too large for a float64: expected rewards within about 1e150") from None


def read_front(path: str | Path, allow_code: bool = False) -> GameFront | EnvironmentFront:
    """Read a front file of a game or an environment and check its hash; InvalidFile with the location of an error.

    allow_code    whether the front may name Python code, such as an environment "module:class", when it is verified
    """
    data, claimed = read_content(path)
    kind: type[GameFront] | type[EnvironmentFront] = EnvironmentFront if "environment" in data else GameFront
    with plugins.allow_code(allow_code):
        return parse_content(kind, data, claimed, path)


# --------------------------------------------------------------------------------------------------------- verification


def verify_environment_front(front: EnvironmentFront, limits: tabular.Limits | None = None) -> None:
    """Enumerate the environment again, replay every witness in it, and check the certificates; InvalidFile.

    Actions are replayed, and policies play episodes in which every step must be an outcome of the model. The values of the
    points must be those of their witnesses, rounded to the nearest float. No point may dominate another. For the claim
    "coverage" the certificates show that no policy exceeds the points.
    """
    limits = limits or tabular.Limits()
    model, vectors = _evaluate_points(front, limits)
    if len(nondominated(vectors)) < len(vectors):
        raise InvalidFile("a point is dominated by, or equal to, another one")
    if front.claim == "coverage":
        policies = [unpack_policy(one.strategy) for one in front.certificates]
        tabular.check_coverage_set(model, front.environment.discount, vectors, policies, limits)


def prove_environment_front(front: EnvironmentFront) -> None:
    """Derive a Pareto front again by backward induction, or check the certificates of a coverage set; InvalidFile."""
    limits = tabular.Limits()
    if front.claim == "coverage":
        verify_environment_front(front, limits)
        return
    model, vectors = _evaluate_points(front, limits)
    tabular.check_pareto_front(model, front.environment.discount, vectors, limits)


def _evaluate_points(front: EnvironmentFront, limits: tabular.Limits) -> tuple[tabular.TabularModel, list[Vector]]:
    """Return the model of the environment, and the exact values of the witnesses."""
    model = _load_model(front, limits)
    return model, [_evaluate(front, model, number, point) for number, point in enumerate(front.points)]


def _load_model(front: EnvironmentFront, limits: tabular.Limits) -> tabular.TabularModel:
    """Return the model; InvalidFile unless it is the one of the file."""
    try:
        check_environment_class(front.environment.id, front.environment.origin)  # before anything of the file is called
        limits = replace(limits, max_states=min(limits.max_states, front.model.states + 1))
        model = front.environment.explore(limits)
    except InvalidFile:
        raise
    except MomagamesError as error:
        raise InvalidFile(f"environment: {error}") from None
    if (facts := ModelFacts.from_model(model)) != front.model:
        raise InvalidFile(
            f"invalid model.sha256={front.model.sha256!r}: expected {facts.sha256!r}; the environment differs from that of "
            f"the file, made with {front.provenance.get('environments')}"
        )
    return model


def _evaluate(front: EnvironmentFront, model: tabular.TabularModel, number: int, point: Point) -> Vector:
    """Return the exact value of a witness."""
    choice = front.environment
    try:
        if point.actions is not None:
            vector = _replay(choice, list(point.actions))
        else:
            policy = expand_strategy(model, unpack_policy(point.strategy or ""))
            vector = tabular.evaluate_policy(model, policy, choice.discount)
            play_policy(choice.make(), choice.make_simulator(), model, policy, EPISODES, choice.seed)
    except (InvalidFile, InvalidParameter) as error:
        raise InvalidFile(f"point {number}: {error}") from None
    if to_floats(vector) != point.value:
        raise InvalidFile(
            f"point {number}: invalid value={list(point.value)}: expected {list(to_floats(vector))} from its witness"
        )
    return vector


def _replay(choice: EnvironmentChoice, actions: list[int]) -> Vector:
    """Return the discounted return of an episode in the environment itself."""
    if choice.horizon is not None and len(actions) > choice.horizon:
        raise InvalidFile(f"{len(actions)} actions: expected at most {choice.horizon}")
    rewards, is_over = replay_actions(choice.make(), actions, choice.seed)
    if not is_over and len(actions) != choice.horizon:
        raise InvalidFile(f"the episode is not over after {len(actions)} actions")
    return discount_rewards(rewards, choice.discount)


def discount_rewards(rewards: Sequence[Vector], gamma: Fraction) -> Vector:
    """Return the discounted sum of rewards, exact."""
    return tuple(_discount(column, gamma) for column in zip(*rewards, strict=True))


def _discount(rewards: Sequence[Fraction], gamma: Fraction) -> Fraction:
    """Return a discounted sum. Fractions are reduced at the end only, as their digits grow with the number of rewards."""
    shared = math.lcm(*(reward.denominator for reward in rewards))
    total, power = 0, 1  # the sum is total / (shared * power)
    for reward in reversed(rewards):
        total = gamma.numerator * total + reward.numerator * (shared // reward.denominator) * power * gamma.denominator
        power *= gamma.denominator
    return Fraction(total, shared * power)


def unpack_policy(text: str) -> Policy:
    """Return the actions of a stored strategy, int64[n]; InvalidFile."""
    return StoredStrategy(text).actions


def expand_strategy(model: tabular.TabularModel, actions: NDArray[np.int64]) -> Policy:
    """Return a policy with an action for each state from those of the states that it reaches, in breadth-first order."""
    policy = np.full(model.num_states, -1, np.int64)
    seen, queue = {0}, [0]
    for position, state in enumerate(queue):
        if position >= len(actions):
            raise InvalidFile(f"the strategy ends after {len(actions)} actions; an episode continues")
        policy[state] = actions[position]
        for one in model.outcomes(state, int(actions[position])) if 0 <= actions[position] < model.num_actions else ():
            if one.next_state != tabular.END and one.next_state not in seen:
                seen.add(one.next_state)
                queue.append(one.next_state)
    if len(queue) != len(actions):
        raise InvalidFile(f"the strategy has {len(actions)} actions: expected {len(queue)}")
    return policy
