"""Policy sources: the objects that names of policies stand for, and policies made from them.

A source is a `CompiledPolicy`; a `PolicyFactory`, which has options; or Python that sees observations: a function
(observation, mask, generator) -> action, or a class, of which an instance `cls(game, agent, **options)` is made for each agent
of each environment and called like a function. A method `reset()` of it is called at the start of an episode, a method
`set_return(value)` before each action, with the rewards of its agent so far. A `PythonPolicy` is a source as well.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, Policy, State, report_return, reset_policy
from momagames.contract.objective_weights import read_weights
from momagames.engine import loops
from momagames.engine.policies import AgentPolicy, BatchPolicy, CompiledPolicy, check_agent
from momagames.engine.python_policies import PythonPolicy
from momagames.errors import InvalidParameter, UnknownId, UnknownParameter, invalid_value, nearest, one_of

# parameters of own classes with a meaning, see `baselines.own`
WEIGHTS, ARRAYS = "weights", "arrays"


@dataclass(frozen=True, eq=False)
class PolicyFactory:
    """A compiled policy with options.

    make       (game, **options) -> policy; every option has a default
    variants   label -> options: the policies that it contributes as a method of the benchmark; empty: one, with the defaults
    optional   options that a suite may leave out
    file_option    option that may name a file of trained policies, as of `Method`
    """

    make: Callable[..., CompiledPolicy]
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    file_option: str = ""


PolicySource = CompiledPolicy | PolicyFactory | PythonPolicy | Callable[..., Any]


def check_source(name: str, source: Any) -> PolicySource:
    """Return an object as a policy source, or raise UnknownId."""
    if not isinstance(source, CompiledPolicy | PolicyFactory | PythonPolicy) and not callable(source):
        raise UnknownId(invalid_value("policy", name, "a CompiledPolicy, PolicyFactory or PythonPolicy, a function or a class"))
    found: PolicySource = source
    return found


def is_python_source(source: PolicySource) -> bool:
    """Return whether a source is Python."""
    return not isinstance(source, CompiledPolicy | PolicyFactory)


def optional_options(source: PolicySource) -> tuple[str, ...]:
    """Return the options of a source that a suite may leave out."""
    return source.optional if isinstance(source, PolicyFactory) else ()


def source_options(source: PolicySource) -> dict[str, Any]:
    """Return the options of a source with their defaults."""
    if isinstance(source, PolicyFactory):
        parameters = list(signature(source.make).parameters.values())[1:]
    else:
        parameters = _list_parameters(source)
    return {one.name: None if one.default is Parameter.empty else one.default for one in parameters}


def make_policy(name: str, source: PolicySource, game: Game, agent: int | None = None, **options: Any) -> Policy:
    """Return a policy for one agent; InvalidParameter if it cannot play this game or the options are wrong."""
    policy = make_batch_policy(name, source, game, **options)
    return make_agent_policy(policy, game, agent)


def make_agent_policy(policy: BatchPolicy, game: Game, agent: int | None) -> Policy:
    """Return a policy in the form of batches as one for one agent of one environment."""
    if isinstance(policy, PythonPolicy):
        return policy.make(game, agent)
    return policy.agent_policy(game, agent) if policy.agent_policy else AgentPolicy(policy, game, agent)


def make_batch_policy(name: str, source: PolicySource, game: Game, **options: Any) -> BatchPolicy:
    """Return a policy that can be seated in batches; errors as of `make_policy`."""
    known = source_options(source)
    for option in options:
        if option not in known:
            expected = f"expected {one_of(known)}" if known else "it has no options"
            raise UnknownParameter(f"{name}: unexpected keyword argument {option!r}: {expected}{nearest(option, known)}")
    if isinstance(source, PolicyFactory):
        recipe = partial(source.make, game, **options)
        source = replace(recipe(), recipe=recipe)
    if isinstance(source, CompiledPolicy):
        source.check(game)
    if isinstance(source, CompiledPolicy | PythonPolicy):
        return source
    python: Callable[..., Any] = source
    if missing := _list_missing(source, options):
        raise InvalidParameter(f"{name}: expected a value of {one_of(missing)}, as in {name}({missing[0]}=...)")
    if options.get(WEIGHTS) is not None:
        options[WEIGHTS] = read_weights(options[WEIGHTS], [one.name for one in game.objectives], name)

    def make(game: Game, agent: int | None) -> Policy:
        if not isinstance(python, type):
            return ObservationPolicy(python, game, agent)
        own = {key: value if key == ARRAYS else copy.deepcopy(value) for key, value in options.items()}
        return ObservationPolicy(python(game, agent, **own), game, agent)

    return PythonPolicy(name, make)


def _list_parameters(source: Any) -> list[Parameter]:
    """Return the parameters of a class of policies after the game and the agent; none for other sources."""
    return list(signature(source).parameters.values())[2:] if isinstance(source, type) else []


def _list_missing(source: Callable[..., Any], options: Container[str]) -> list[str]:
    """Return the options that a class of policies needs and does not get."""
    named = [one for one in _list_parameters(source) if one.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
    return [one.name for one in named if one.default is Parameter.empty and one.name not in options]


def make_variants(name: str, source: PolicySource, game: Game, **options: Any) -> tuple[BatchPolicy, ...]:
    """Return the policies that a source contributes as a method of the benchmark, with labels of their own.

    options   of a source without variants
    """
    if isinstance(source, PolicyFactory) and source.variants:
        made = {label: source.make(game, **options) for label, options in source.variants.items()}
        for policy in made.values():
            policy.check(game)
        return tuple(replace(policy, label=label) for label, policy in made.items())
    return (make_batch_policy(name, source, game, **options),)


class ObservationPolicy:
    """A Python function (observation, mask, generator) -> action as a `contract.Policy` for one agent.

    The observation is an array, or a dict of arrays for a game with several fields.
    """

    def __init__(self, function: Callable[..., Any], game: Game, agent: int | None) -> None:
        check_agent(game, agent)
        self.function, self.game, self.agent = function, game, agent
        self._states = np.zeros(1, game.dtype)
        self._mask = np.zeros(game.mask_size, np.int8)

    def reset(self) -> None:
        """Start a new episode."""
        reset_policy(self.function)

    def set_return(self, value: NDArray[np.float64]) -> None:
        """Report the rewards of its agent so far."""
        report_return(self.function, value)

    def get_state(self) -> Any:
        """Return a copy of the memory of the function, or of the function itself."""
        get_state = getattr(self.function, "get_state", None)
        return get_state() if get_state else copy.deepcopy(self.function)

    def set_state(self, state: Any) -> None:
        """Restore what `get_state` returned."""
        set_state = getattr(self.function, "set_state", None)
        if set_state:
            set_state(state)
        else:
            self.function = copy.deepcopy(state)

    def __call__(self, state: State, mask: NDArray[np.int8], rng: np.random.Generator) -> Any:
        self._states[0] = state
        agent = int(state["to_move"]) if self.agent is None else self.agent
        row = np.zeros(self.game.observation_bytes, np.uint8)
        loops.compile_episode_loops(self.game).observe(self._states, agent, row, self._mask)
        fields = self.game.observation_views(row)
        observation = next(iter(fields.values())) if len(fields) == 1 else fields
        return self.function(observation, mask.copy(), rng)
