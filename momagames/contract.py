"""The contract between a game and everything else: declared facts, closed kernels, two text functions.

A game is one `Game`. Doors, wrappers, engine, baselines and reports read it and know nothing else of any game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidParameter, InvalidState, nearest, one_of

State = Any  # a NumPy record of the game's state dtype (np.void), or a compiled view of one
# Somebody who plays: (state record, action mask int8[M], generator) -> action. One that remembers has a method `begin()`,
# called when a game begins, and plays a single agent. If it also has `remembered()`, a copy of what it remembers, and
# `recall(memory)`, which takes such a copy, moves that people take back are forgotten.
Policy = Callable[[State, NDArray[np.int8], np.random.Generator], Any]
# A line of text for people: pieces of it with their styles ("bold #e93009"; "" is none)
Line = list[tuple[str, str]]
Dynamics = Literal["sequential", "simultaneous"]
Chance = Literal["none", "start", "step"]
Information = Literal["perfect", "partial"]
Utility = Literal["cooperative", "individual", "zero_sum", "teams"]


@dataclass(frozen=True)
class Objective:
    """One coordinate of the reward vector.

    low, high                 bounds of one step's reward
    return_low, return_high   bounds of an episode's sum
    source                    the section of SPEC.md that pays it
    zero_sum                  whether what one agent gains here the others lose here
    """

    name: str
    unit: str
    low: float
    high: float
    return_low: float
    return_high: float
    source: str
    zero_sum: bool = False


@dataclass(frozen=True)
class Field:
    """One field of an observation.

    shape   as users see it
    order   axes of `shape` in the order of memory (outermost first); None: as they come
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    low: float
    high: float
    order: tuple[int, ...] | None = None

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize

    def view(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """This field of a buffer of observations, without a copy.

        rows     uint8[..., nbytes], the bytes of this field
        Returns  dtype[..., *shape]
        """
        lead = rows.shape[:-1]
        order = self.order or tuple(range(len(self.shape)))
        memory = rows.view(self.dtype).reshape(lead + tuple(self.shape[axis] for axis in order))
        back = tuple(len(lead) + int(axis) for axis in np.argsort(order))
        return memory.transpose(tuple(range(len(lead))) + back)


@dataclass(frozen=True)
class Parameter:
    """A keyword of a game: numbers have a range, everything else a list of choices, or a function that reads it.

    optional   None is allowed as well
    convert    value -> plain data that says the same (raises InvalidParameter); `accepts` says in words what it takes
    """

    name: str
    default: Any
    doc: str
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] | None = None
    optional: bool = False
    convert: Callable[[Any], Any] | None = None
    accepts: str = ""

    @property
    def whole(self) -> bool:
        return isinstance(self.default, int) or (self.default is None and isinstance(self.low, int))

    @property
    def allowed(self) -> str:
        if self.convert is not None:
            return self.accepts
        if self.choices is not None:
            return one_of(self.choices)
        if self.optional and self.low is not None and self.high is not None and self.low > self.high:
            return "None"
        kind = "whole numbers" if self.whole else "numbers"
        return f"{kind} {self.low:g}..{self.high:g}" + (", or None" if self.optional else "")

    def check(self, game: str, value: Any) -> Any:
        """The value in the parameter's own type, or InvalidParameter."""
        good: bool
        if self.optional and value is None:
            return None
        if self.convert is not None:
            return self.convert(value)
        if isinstance(self.default, bool):
            good = isinstance(value, (bool, np.bool_))
            allowed = "True or False"
        elif self.choices is not None:
            good, allowed = value in self.choices, self.allowed
        else:
            kinds = (int, np.integer) if self.whole else (int, float, np.integer, np.floating)
            good = isinstance(value, kinds) and not isinstance(value, bool)
            good = good and self.low is not None and self.high is not None and self.low <= value <= self.high
            allowed = self.allowed
        if not good:
            raise InvalidParameter(f"{game}: {self.name}={value!r} is not possible; allowed: {allowed}")
        if self.default is None:
            return int(value) if self.whole else value
        return type(self.default)(value)


def check_parameters(game: str, parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter spelled out, in declared order; InvalidParameter for an unknown name or a value out of range."""
    names = [parameter.name for parameter in parameters]
    for name in given:
        if name not in names:
            raise InvalidParameter(f"{game} has no parameter {name!r}; it has {one_of(names)}{nearest(name, names)}")
    return {p.name: p.check(game, given[p.name]) if p.name in given else p.default for p in parameters}


def check_objectives(game: str, names: Any, known: Sequence[str]) -> tuple[str, ...]:
    """Objectives chosen by name, in that order (one name may stand alone); none for None. InvalidParameter for anything else."""
    if names is None:
        return ()
    if not isinstance(names, (str, list, tuple)):
        raise InvalidParameter(f"{game}: objectives={names!r} is not possible; allowed: None, or some of {one_of(known)}")
    chosen = (names,) if isinstance(names, str) else tuple(names)
    for name in chosen:
        if name not in known:
            raise InvalidParameter(f"{game} has no objective {name!r}; it has {one_of(known)}{nearest(name, known)}")
    if not chosen or len(set(chosen)) != len(chosen):
        raise InvalidParameter(
            f"{game}: objectives={chosen!r} must name at least one objective, each once; there are {one_of(known)}"
        )
    return chosen


def check_position(given: Mapping[str, Any], keys: Sequence[str], needed: str) -> None:
    """InvalidState if a position lacks the key `needed` or has a key that looks like a slip. Other keys are not read."""
    for name in given:
        slip = "" if name in keys else nearest(name, keys, alike=0.75)
        if slip:
            raise InvalidState(f"a position has no key {name!r}; it has {one_of(keys)}{slip}")
    if needed not in given:
        raise InvalidState(f"a position needs {needed!r}; given: {sorted(str(name) for name in given)}")


def position_number(given: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """A whole number of a position's dict form (in its text form they are text), `low` if left out; or InvalidState."""
    value = given.get(name, low)
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidState(f"{name}={value!r} is not possible here; allowed: whole numbers {low}..{high}")
    return int(value)


@dataclass(frozen=True)
class Keys:
    """What the keys of a keyboard do in a window.

    choices   name of a key ("up", "space", "3") -> (parts, value): the parts of an action that it sets to that value, in turn
              where there are several. Part 0 is chosen anew for each step, the others stay as they are until they are changed
    help      a line that says so
    """

    choices: Mapping[str, tuple[tuple[int, ...], int]]
    help: str


def begin_game(policy: Policy) -> None:
    """Tell a policy that remembers that a game begins."""
    begin = getattr(policy, "begin", None)
    if begin is not None:
        begin()


def _eights(nbytes: int) -> int:
    return -(-nbytes // 8) * 8


@dataclass(frozen=True)
class Kernels:
    """The rules, compiled. All work in place, allocate nothing, keep no globals and raise nothing.

    deal(state)                    start position; draws from the state's own random word
    legal(state, agent, mask)      int8[M]: 1 for each legal action of `agent` (for a MultiDiscrete action the parts one
                                   after the other); all zero for an agent that may not act (but see `Game.passes`), and
                                   when the game is over. Where all move at once an agent without a choice (at most one
                                   legal action in each part) does not act: its action is neither checked nor to be read
                                   by `step`
    step(state, actions, reward)   one environment step. actions int64[S, P], P parts for each of S actors: S is 1 (the
                                   agent to move) in a sequential game, else the number of agents. reward float32[A, K]
    observe(state, agent, out)     the observation of `agent` as the bytes of its fields: uint8[B]
    key(state, words)              optional: uint64[W], equal for positions with the same future, for search; or None
    thin(state, mask)              optional: from the mask of the agent to move clear actions that do what another one does
                                   that stays (it need not find all), for search; or None
    """

    deal: Callable[..., None]
    legal: Callable[..., None]
    step: Callable[..., None]
    observe: Callable[..., None]
    key: Callable[..., None] | None = None
    thin: Callable[..., None] | None = None


@dataclass(frozen=True)
class Game:
    """All that momagames knows of a game with its parameters.

    id               versioned id, e.g. "mo-samegame-v0"
    agents           names, in turn order
    teams            for each agent the index of its team
    actions          sizes of the parts of an action: (225,) is Discrete(225), (6, 9, 9) MultiDiscrete([6, 9, 9])
    fields           of the observation; the first is the one called "observation" where a game has only one
    max_plies        proven bound on the steps of an episode
    reference_point  worst return of each objective, for hypervolume
    params           every parameter, spelled out
    factory          the function that made this game from its id and parameters
    blank            a state record with the parameters filled in and nothing dealt
    kernels          the compiled rules; `rules_key` names them (games with equal keys share compiled code)
    load             (state, options) -> None: fill a copy of `blank` from the dict form, text or options of a game;
                     raises InvalidState and is called on a copy, so that a refusal changes nothing
    save             state -> JSON-able dict, the form that `load` takes
    show, read       state -> text, and text -> the dict form
    draw             (state, last action or None) -> uint8[H, W, 3]
    sketch           optional: (state, last action or None) -> the position as lines of text for people, see `Line`;
                     where there is none they see `show`. Where all move at once the last action is int64[A, P]
    render_options   further keywords of `draw` and `sketch`, all with defaults: ways to show a position. One that is called
                     "viewer" is the name of an agent, or None: show what this agent sees
    point            optional: (state, x, y) -> render options that a pointer at this pixel of the picture asks for
    keys             optional: what keys do, for people who play in a window
    pick             optional, in games of turns: (state, pressed, released) -> the action that somebody means who presses a
                     button of the mouse at one pixel (x, y) of the picture and releases it at another; None for no action
    action_name      (state, action) -> short text, and
    parse_action     (state, text) -> action (ValueError says what to type), for people at a terminal
    legal_hint       (state, action, mask) -> the legal actions nearest to an illegal one, as text
    action_colors    states record[N] -> int64[N, M], the index of the per-color objective that each action would pay;
                     for games with a parameter `color_rewards`, else None
    facts            optional: state -> what `infos` of the doors of one environment say besides the mask
    lenient          whether actions outside the mask are played as well: the rules then say what they do
    passes           in games of turns: whether an agent without a legal action stays in the game. What it says is then a pass,
                     and masks show what an agent could do if it were its turn
    mask_space       whether action masks are declared as Box(0, 1, int8) or as MultiBinary
    published_weights   one for each objective, with which the reward vector gives the scalar reward of the original, if
                     there is one and the objectives say enough
    parameters       the keywords that the factory takes, with their ranges
    position_keys    keys of the dict form of a position
    reward_bounds    (low, high) of the reward space in every objective, where the original declares one for all; without
                     it the reward space has the bounds of each objective
    key_words        length of the key of a position, see Kernels
    source           where the rules come from, and how that was checked
    """

    id: str
    title: str
    agents: tuple[str, ...]
    teams: tuple[int, ...]
    dynamics: Dynamics
    chance: Chance
    information: Information
    utility: Utility
    objectives: tuple[Objective, ...]
    actions: tuple[int, ...]
    fields: tuple[Field, ...]
    max_plies: int
    reference_point: tuple[float, ...]
    params: Mapping[str, Any]
    factory: Callable[..., Game]
    blank: State
    kernels: Kernels
    rules_key: str
    load: Callable[[State, Mapping[str, Any]], None]
    save: Callable[[State], dict[str, Any]]
    show: Callable[[State], str]
    read: Callable[[str], dict[str, Any]]
    draw: Callable[..., NDArray[np.uint8]]
    action_name: Callable[[State, Any], str]
    parse_action: Callable[[State, str], Any]
    legal_hint: Callable[[State, Any, NDArray[np.int8]], str] = lambda state, action, mask: ""
    action_colors: Callable[[NDArray[Any]], NDArray[np.int64]] | None = None
    sketch: Callable[..., list[Line]] | None = None
    render_options: tuple[Parameter, ...] = ()
    point: Callable[[State, float, float], Mapping[str, Any]] | None = None
    keys: Keys | None = None
    pick: Callable[[State, tuple[float, float], tuple[float, float]], Any] | None = None
    facts: Callable[[State], dict[str, Any]] | None = None
    lenient: bool = False
    passes: bool = False
    published_weights: tuple[float, ...] | None = None
    mask_space: Literal["box", "binary"] = "box"
    parameters: tuple[Parameter, ...] = ()
    position_keys: tuple[str, ...] = ()
    reward_bounds: tuple[float, float] | None = None
    key_words: int = 0
    source: str = ""

    def __reduce__(self) -> Any:
        return _remake, (self.factory, self.id, dict(self.params))

    def __deepcopy__(self, memo: Any) -> Game:
        return self

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.blank.dtype
        return dtype

    @property
    def sequential(self) -> bool:
        return self.dynamics == "sequential"

    @property
    def actors(self) -> int:
        """Rows of an action array: one in a sequential game, else one for each agent."""
        return 1 if self.sequential else len(self.agents)

    @cached_property
    def mask_size(self) -> int:
        return sum(self.actions)

    @cached_property
    def observation_bytes(self) -> int:
        """Bytes of one observation: the fields one after the other, each from a multiple of 8 bytes on."""
        if len(self.fields) == 1:
            return self.fields[0].nbytes
        return sum(_eights(f.nbytes) for f in self.fields)

    def observation_views(self, rows: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
        """The fields of observations in a buffer uint8[..., observation_bytes], without copies."""
        views, start = {}, 0
        for f in self.fields:
            views[f.name] = f.view(rows[..., start : start + f.nbytes])
            start += _eights(f.nbytes)
        return views

    @cached_property
    def reward_low(self) -> NDArray[np.float32]:
        """Lower bound of the reward space, float32[K]."""
        return np.array([self.reward_bounds[0] if self.reward_bounds else o.low for o in self.objectives], np.float32)

    @cached_property
    def reward_high(self) -> NDArray[np.float32]:
        return np.array([self.reward_bounds[1] if self.reward_bounds else o.high for o in self.objectives], np.float32)

    def forfeit_reward(self, offender: int) -> NDArray[np.float32]:
        """What giving up pays, float32[A, K]: the offender the worst of each objective, the others the opposite where an
        objective is zero-sum and nothing elsewhere."""
        reward = np.zeros((len(self.agents), len(self.objectives)), np.float32)
        for k, objective in enumerate(self.objectives):
            if objective.zero_sum:
                reward[:, k] = -objective.low
            reward[offender, k] = objective.low
        return reward

    def start(self, seed: int = 0) -> NDArray[Any]:
        """One undealt state, record[1], with its generator word set."""
        states = np.zeros(1, self.dtype)
        states[0] = self.blank
        states["rng"] = np.uint64(seed % 2**64)
        return states


def _remake(factory: Callable[..., Game], id: str, params: dict[str, Any]) -> Game:
    return factory(id, **params)
