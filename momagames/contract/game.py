"""A game with its parameters: facts, compiled rules, and optional groups of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from momagames.contract.objectives import Objective
from momagames.contract.observations import Field
from momagames.contract.parameters import Parameter
from momagames.contract.positions import Codec, State, make_record_codec
from momagames.contract.support import LearningSupport, SearchSupport
from momagames.contract.views import Human, View

Dynamics = Literal["sequential", "simultaneous"]
Chance = Literal["none", "start", "step"]
Information = Literal["perfect", "partial"]
Utility = Literal["cooperative", "individual", "zero_sum", "teams"]


@dataclass(frozen=True, kw_only=True)
class Kernels:
    """The compiled rules. Kernels work in place, allocate nothing, have no global state and raise nothing.

    generate(state)                start position; random draws use the generator word of the state
    legal(state, agent, mask)      int8[M]: 1 for each legal action of `agent` (for a MultiDiscrete action the parts one
                                   after the other); all zero for an agent that may not act (but see `Game.can_pass`), and
                                   when the game is over; if a limit ended it, the engine asks again as if it were not. With
                                   simultaneous moves an agent without a choice (at most one legal action in each part) does
                                   not act: its action is not checked, and `step` must not read it
    step(state, actions, reward)   one environment step. actions int64[S, P], P parts for each of S actors: S is 1 (the
                                   agent to move) in a sequential game, else the number of agents. reward float32[A, K]
    observe(state, agent, out)     the observation of `agent` as the bytes of its fields: uint8[B]
    sample_action(state, agent, word)
                                   optional, for actions of one part, where it is faster without the mask: the legal action
                                   that a uniform choice from the mask gives with this generator word (see
                                   `engine.masks.sample_legal`), 0 if none is legal
    """

    generate: Callable[..., None]
    legal: Callable[..., None]
    step: Callable[..., None]
    observe: Callable[..., None]
    sample_action: Callable[..., int] | None = None


@dataclass(frozen=True, kw_only=True)
class Solvers:
    """Solvers of small positions that belong to a game.

    policies   name -> "module:attribute" of a policy that plays perfectly where the game is small enough; such policies are no
               scripted players, which training and comparisons use unless others are named
    fronts     claim of a front that strategies prove, such as "guaranteed" or "equilibrium" -> "module:attribute" of its
               solver, see `momagames.baselines.front_solvers`; "returns" of a team: its strategies are joint actions
    """

    policies: Mapping[str, str] = field(default_factory=dict)
    fronts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class OriginalGame:
    """What users of the game that this one follows expect: its spaces, its scalar reward, and agents that are written for it.

    reward_bounds       (low, high) of the reward space in every objective, if the original declares one pair for all; by
                        default the reward space has the bounds of each objective
    mask_space          whether action masks are declared as Box(0, 1, int8) or as MultiBinary
    published_weights   weights of the objectives that give the scalar reward of the original, if there is one that the
                        objectives determine
    policy_prefixes     prefix -> "module:function" of a function (rest of the name, game) -> policy source, for names of
                        policies such as "prefix:rest"
    """

    reward_bounds: tuple[float, float] | None = None
    mask_space: Literal["box", "binary"] = "box"
    published_weights: tuple[float, ...] | None = None
    policy_prefixes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MatchRules:
    """Rules of matches.

    tie_break   game -> the game in which a match decides a tie that a rerun has not broken
    """

    tie_break: Callable[[Game], Game]


@dataclass(frozen=True, kw_only=True)
class ColorObjectives:
    """Objectives of colors, for `SplitColors`: the first ones of a game with a parameter `color_rewards`, or one for all.

    action_objectives   states record[N] -> int64[N, M], the index of the objective of a color that each action would reward
    """

    action_objectives: Callable[[NDArray[Any]], NDArray[np.int64]]


def _align8(nbytes: int) -> int:
    """Return the next multiple of 8."""
    return -(-nbytes // 8) * 8


@dataclass(frozen=True, kw_only=True)
class Game:
    """A game with its parameters: facts, and groups of functions that say what they are for.

    A group whose parts all have defaults is an empty one by default; any other is None unless a game has what it is for.

    id                  versioned id, e.g. "mo-samegame-v0"
    agents              names, in turn order
    chance              source of randomness: none, only `generate` ("start"), or also `step`
    actions             sizes of the parts of an action: (225,) is Discrete(225), (6, 9, 9) MultiDiscrete([6, 9, 9])
    agent_actions       optional, for actions of one part: the number of actions of each agent, at most actions[0]. Masks have
                        the same size for all agents; entries from the number of an agent on are never legal
    fields              fields of the observation; a single one is called "observation"
    max_episode_steps   proven bound on the steps of an episode
    factory             the function that made this game from its id and parameters
    blank_state         a state record with the parameters filled in and nothing generated

    Optional facts, beside agent_actions:
    params              every parameter with its value, but see `Parameter.omits_default`; `parameters` are the keywords of the
                        factory with their ranges
    information         whether observations contain the whole state ("perfect") or not ("partial")
    teams               for each agent the index of its team; by default each agent is a team
    rules_key           name of the compiled rules, by default the id: games with equal keys share compiled code
    policies            name -> "module:attribute" of a policy of the game, see `momagames.engine.policy_sources`; the names
                        are valid opponents and methods
    solvers             policies that play perfectly, and solvers of fronts
    original            what users of the original game expect
    match_rules         for matches
    color_objectives    for games with an objective for each color
    infos               state -> entries of the infos of single environments besides the mask. An entry "winners", a list of
                        names of agents, empty before the end and in a tie, decides matches; without it the highest return
                        in the first zero-sum objective does
    allows_illegal      whether actions outside the mask may be played: the rules define their effect
    can_pass            in sequential games: whether an agent without a legal action stays in the game. Its action is then a
                        pass, and the masks of waiting agents show the actions that would be legal in their turn
    variant             what tells the game from others of its title, for headings; {name} stands for the value of a parameter
    summary             one line for lists of games
    source              source of the rules, and how agreement was checked
    """

    id: str
    title: str
    agents: tuple[str, ...]
    dynamics: Dynamics
    chance: Chance
    objectives: tuple[Objective, ...]
    actions: tuple[int, ...]
    fields: tuple[Field, ...]
    max_episode_steps: int
    factory: Callable[..., Game]
    blank_state: State
    kernels: Kernels
    codec: Codec = None  # type: ignore[assignment]  # this and the defaults marked below: see __post_init__
    view: View = field(default_factory=View)
    human: Human = field(default_factory=Human)
    search: SearchSupport = field(default_factory=SearchSupport)
    learning: LearningSupport = field(default_factory=LearningSupport)
    params: Mapping[str, Any] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    information: Information = "perfect"
    agent_actions: tuple[int, ...] = ()  # () if all agents have equally many
    teams: tuple[int, ...] = ()  # see __post_init__
    rules_key: str = ""  # see __post_init__
    policies: Mapping[str, str] = field(default_factory=dict)
    solvers: Solvers = field(default_factory=Solvers)
    original: OriginalGame = field(default_factory=OriginalGame)
    match_rules: MatchRules | None = None
    color_objectives: ColorObjectives | None = None
    infos: Callable[[State], dict[str, Any]] | None = None
    allows_illegal: bool = False
    can_pass: bool = False
    variant: str = ""
    summary: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        values = vars(self)
        if self.agent_actions:
            self._check_agent_actions()
            values["agent_actions"] = () if set(self.agent_actions) == set(self.actions) else tuple(self.agent_actions)
        values["teams"] = self.teams or tuple(range(len(self.agents)))
        values["rules_key"] = self.rules_key or self.id
        values["codec"] = values["codec"] or make_record_codec(self.blank_state, tuple(self.params), len(self.agents))

    def _check_agent_actions(self) -> None:
        counts, most = self.agent_actions, self.actions[0]
        if len(self.actions) != 1 or self.allows_illegal:
            raise ValueError(f"{self.id}: agent_actions need actions of one part, and illegal ones that may not be played")
        if len(counts) != len(self.agents) or not all(1 <= count <= most for count in counts):
            raise ValueError(f"{self.id}: agent_actions={counts}: expected a number in 1..{most} for each of the agents")

    def __reduce__(self) -> Any:
        return _remake, (self.factory, self.id, dict(self.params))

    def __deepcopy__(self, memo: Any) -> Game:
        return self

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.blank_state.dtype
        return dtype

    @property
    def sequential(self) -> bool:
        return self.dynamics == "sequential"

    @property
    def actors(self) -> int:
        """Number of rows of an action array: one in a sequential game, else one for each agent."""
        return 1 if self.sequential else len(self.agents)

    def action_sizes(self, agent: int | None) -> tuple[int, ...]:
        """Return the sizes of the parts of the actions of an agent; None: of any agent, as masks have them."""
        return self.actions if agent is None or not self.agent_actions else (self.agent_actions[agent],)

    @property
    def utility(self) -> Utility:
        """Relation between the utilities of the agents, which follows from teams and objectives."""
        if len(set(self.teams)) == 1:
            return "cooperative"
        if all(objective.zero_sum for objective in self.objectives):
            return "zero_sum"
        return "teams" if len(set(self.teams)) < len(self.teams) else "individual"

    @property
    def reference_point(self) -> tuple[float, ...]:
        """Reference point of hypervolumes: the lowest return of each objective."""
        return tuple(objective.return_low for objective in self.objectives)

    @cached_property
    def mask_size(self) -> int:
        return sum(self.actions)

    @cached_property
    def observation_bytes(self) -> int:
        """Size of one observation in bytes: the fields one after the other, each aligned to 8 bytes."""
        if len(self.fields) == 1:
            return self.fields[0].nbytes
        return sum(_align8(f.nbytes) for f in self.fields)

    def observation_views(self, rows: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
        """Return views of the fields of observations in a buffer, uint8[..., observation_bytes]."""
        views, start = {}, 0
        for f in self.fields:
            views[f.name] = f.view(rows[..., start : start + f.nbytes])
            start += _align8(f.nbytes)
        return views

    @cached_property
    def reward_low(self) -> NDArray[np.float32]:
        """Lower bound of the reward space, float32[K]."""
        bounds = self.original.reward_bounds
        return np.array([bounds[0] if bounds else objective.low for objective in self.objectives], np.float32)

    @cached_property
    def reward_high(self) -> NDArray[np.float32]:
        """Upper bound of the reward space, float32[K]."""
        bounds = self.original.reward_bounds
        return np.array([bounds[1] if bounds else objective.high for objective in self.objectives], np.float32)

    def forfeit_reward(self, agent: int) -> NDArray[np.float32]:
        """Return the rewards of a forfeit, float32[A, K].

        The agent gets the lowest reward of each objective. Other agents get the negative of it in zero-sum objectives, else 0.
        """
        reward = np.zeros((len(self.agents), len(self.objectives)), np.float32)
        for k, objective in enumerate(self.objectives):
            if objective.zero_sum:
                reward[:, k] = -objective.low
            reward[agent, k] = objective.low
        return reward

    def make_state(self, seed: int = 0) -> NDArray[Any]:
        """Return a blank state, record[1], with its generator word set."""
        states = np.zeros(1, self.dtype)
        states[0] = self.blank_state
        states["rng"] = np.uint64(seed % 2**64)
        return states


def _remake(factory: Callable[..., Game], id: str, params: dict[str, Any]) -> Game:
    return factory(id, **params)
