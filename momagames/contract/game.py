"""A game with its parameters: facts, compiled rules, and optional groups for positions, pictures, people and search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract.objectives import Objective
from momagames.contract.observations import Field
from momagames.contract.parameters import Parameter
from momagames.contract.positions import Codec, State, make_record_codec
from momagames.contract.symmetries import Symmetry, ViewSymmetry

# A line of text: parts with their styles ("bold #e93009"; "": no style)
Line = list[tuple[str, str]]
Cell = tuple[int, int]  # row and column
Slide = tuple[Cell, Cell]  # a piece goes from the first cell to the second one
Dynamics = Literal["sequential", "simultaneous"]
Chance = Literal["none", "start", "step"]
Information = Literal["perfect", "partial"]
Utility = Literal["cooperative", "individual", "zero_sum", "teams"]


@dataclass(frozen=True)
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
    """

    generate: Callable[..., None]
    legal: Callable[..., None]
    step: Callable[..., None]
    observe: Callable[..., None]


class Cells(NamedTuple):
    """Square cells of a picture: top, left and side of the first one in pixels, and their numbers."""

    top: int
    left: int
    side: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Animation:
    """Movements of pieces, for pictures between two positions.

    find_slides   (before, after, last action) -> slides of the step between two positions; a piece that enters comes from a
                  cell outside of the board. A piece has the size of a cell
    locate_cells  (state, size) -> where the cells are in a picture of this size
    `View.draw` has the keyword `hidden`: cells whose pieces are left out, in pictures without marks of the last action.
    """

    find_slides: Callable[[State, State, Any], list[Slide]]
    locate_cells: Callable[[State, int | None], Cells]


@dataclass(frozen=True)
class View:
    """Views of positions.

    draw             (state, last action or None) -> uint8[H, W, 3]; by default a picture of the text. Pictures of a game have
                     one size. One drawn with the functions of `momagames.render.canvas` alone is SVG where that is asked for
    text             (state, last action or None) -> lines, see `Line`; by default the text of the codec. With simultaneous
                     moves the last action is int64[A, P]
    render_options   further keywords of `draw` and `text`, all with defaults. The option "viewer", if there is one, is the
                     name of an agent whose observation is shown, or None
    picture_options  further keywords of `draw` and of `Human.point` alone, all with defaults
    animation        movements of pieces; None: positions fade into each other
    result           final state -> the result in a few words ("player_0 won"), or ""
    """

    draw: Callable[..., Any] | None = None
    text: Callable[..., list[Line]] | None = None
    render_options: tuple[Parameter, ...] = ()
    picture_options: tuple[Parameter, ...] = ()
    animation: Animation | None = None
    result: Callable[[State], str] = lambda state: ""


@dataclass(frozen=True)
class Keys:
    """Keyboard input in a window.

    choices   name of a key ("up", "space", "3") -> (parts, value): the parts of an action that it sets to that value, one
              after the other if there are several. Part 0 is reset after each step, the other parts keep their values
    help      a line of help text
    """

    choices: Mapping[str, tuple[tuple[int, ...], int]]
    help: str


def _name_action(state: State, action: Any) -> str:
    """Return the number of an action, or its parts."""
    return " ".join(map(str, np.ravel(action).tolist()))


def _read_action(state: State, text: str) -> Any:
    """Return an action from its number, or from its parts."""
    try:
        parts = [int(part) for part in text.replace(",", " ").split()]
    except ValueError:
        parts = []
    if not parts:
        raise ValueError(f"{text!r} is not an action: type its number, or the numbers of its parts")
    return parts[0] if len(parts) == 1 else np.array(parts, np.int64)


@dataclass(frozen=True)
class Human:
    """Support for human players.

    keys           actions by key, in a window
    pick           in sequential games: (state, pressed, released) -> the action of pressing a mouse button at one pixel (x, y)
                   of the picture and releasing it at another, or None
    point          (state, x, y) -> render options for a pointer at this pixel of the picture
    action_name    (state, action) -> short text; by default its number
    parse_action   (state, text) -> action; raises ValueError with the expected input
    legal_hint     (state, action, mask) -> the legal actions nearest to an illegal one, as text
    """

    keys: Keys | None = None
    pick: Callable[[State, tuple[float, float], tuple[float, float]], Any] | None = None
    point: Callable[[State, float, float], Mapping[str, Any]] | None = None
    action_name: Callable[[State, Any], str] = _name_action
    parse_action: Callable[[State, str], Any] = _read_action
    legal_hint: Callable[[State, Any, NDArray[np.int8]], str] = lambda state, action, mask: ""


@dataclass(frozen=True)
class TrainingDefaults:
    """What `momagames train` takes for a game unless it is given.

    options    of a learner, by name; others are as the learner chooses
    budget     environment steps, about two minutes on two cores; None: that of the learner
    """

    options: Mapping[str, Any]
    budget: int | None = None


@dataclass(frozen=True)
class LearningSupport:
    """Optional support for learners and for filtered policies.

    clear_unsafe_actions(state, agent, caution, mask)
                            kernel that clears in the mask of `agent` the actions after which it is lost as far as it can see,
                            from its observation alone; clears nothing if no action would remain. With caution 2 it allows for
                            more harm from other agents than with caution 1
    champions               files of trained policies that come with the package of the game, "package:file", the first that
                            fits is the policy "champion"

    training                defaults of `momagames train` for this game, by the name of the learner

    Features of candidate actions:
    objective_features      names of F features that a position has for each objective
    write_objective_features(state, out)
                            kernel that writes these features of a position before the end to out float64[F, K]. Learners use
                            their changes, instead of those of `SearchSupport.present` and `optimistic`. May overwrite the state
    extra_objective_features
                            names of further features, which make decisions better and slower, for learners with the option
                            `extra_features`: the same kernel writes them to the rows after the F, where `out` has these
    exchangeable_objectives sets of objectives, by index, that differ in their names only: the rules are invariant under a
                            permutation of the objectives of a set and of the matching parts of the position

    A board, for tables of cell patterns:
    write_cell_codes(state, agent, codes)
                            kernel that writes a code of each cell to codes uint8[n], n at least the number of cells, as
                            `agent` sees the board from its own side: positions that look the same have the same value for the
                            agent that sees them, so that one table serves all agents. Codes tell its own pieces from others
    cell_codes              number of codes: they are 0..cell_codes-1
    board_shape             (rows, columns): cell i is in row i // columns
    symmetries              of the board that an agent sees, without the identity

    An egocentric view, for small networks:
    write_egocentric_view(state, agent, planes, scalars)
                            kernel that writes P planes of the cells around the agent, one after the other, to planes
                            float32[P * side * side], side = 2 * egocentric_radius + 1, and V further numbers to scalars
                            float32[V], from what `agent` observes alone. The agent is in the middle; the game decides what
                            planes show beyond the board. Values are at most about 1 in magnitude, and most are zero
    egocentric_radius       cells from the agent's cell to the edge of a plane
    egocentric_planes       names of the P planes
    egocentric_scalars      names of the V numbers
    egocentric_symmetries   of the rules, as the view shows them, without the identity: see `make_square_symmetries` for
                            rotations and reflections
    """

    clear_unsafe_actions: Callable[..., None] | None = None
    champions: tuple[str, ...] = ()
    training: Mapping[str, TrainingDefaults] = field(default_factory=dict)
    objective_features: tuple[str, ...] = ()
    extra_objective_features: tuple[str, ...] = ()
    write_objective_features: Callable[..., None] | None = None
    exchangeable_objectives: tuple[tuple[int, ...], ...] = ()
    write_cell_codes: Callable[..., None] | None = None
    cell_codes: int = 0
    board_shape: tuple[int, int] = (0, 0)
    symmetries: tuple[Symmetry, ...] = ()
    write_egocentric_view: Callable[..., None] | None = None
    egocentric_radius: int = 0
    egocentric_planes: tuple[str, ...] = ()
    egocentric_scalars: tuple[str, ...] = ()
    egocentric_symmetries: tuple[ViewSymmetry, ...] = ()

    @property
    def egocentric_cells(self) -> int:
        """Return the cells of all planes of the egocentric view."""
        return len(self.egocentric_planes) * (2 * self.egocentric_radius + 1) ** 2

    @property
    def egocentric_size(self) -> int:
        """Return the numbers of the egocentric view, those of planes first; 0 without one."""
        return self.egocentric_cells + len(self.egocentric_scalars) if self.write_egocentric_view else 0


@dataclass(frozen=True)
class SearchSupport:
    """Optional support for search. All but `compact` are kernels.

    state_key(state, words)                 uint64[W], equal for positions with the same future
    key_words                               W
    prune_equivalent_actions(state, mask)   clears in the mask of the agent to move actions that are equivalent to a remaining
                                            one (not necessarily all)
    optimistic(state, out)                  out float64[K]: an upper bound of the future return in each objective. May
                                            overwrite the state
    present(state, out)                     out float64[K]: an estimate of the future return from the present position. May
                                            overwrite the state
    move_codes(state, actions, count, codes)
                                            for searches that learn: moves of equal codes share their weights. Writes a nonzero
                                            code to codes uint64[n] for each of the first `count` of actions int64[n] of the
                                            agent to move. May drop actions that are equivalent to an earlier one; the others
                                            move up. May overwrite the state. Returns the number of remaining actions
    selective_moves(state, guide, actions, count, codes, grades)
                                            as `move_codes`, for playouts that leave unpromising moves out: drops their
                                            actions as well, but not all, and writes an integer 0..15 to grades int64[n] for
                                            each remaining action, higher for better moves
    playout_guide(state, rank)              an integer `guide` of the playouts from a position: the most promising one for rank
                                            0, the next for 1, and so on; after the last one the first again
    compact(game, start)                    the same game on a smaller record, and start, record[1], in that form, for exact
                                            search; None if the position does not fit. Actions and rewards stay the same
    sample_action(state, agent, word)       the legal action that a uniform choice from the mask of `agent` gives with this
                                            generator word (see `engine.masks.sample_legal`), 0 if none is legal, where it is
                                            faster without the mask. For actions of one part
    """

    state_key: Callable[..., None] | None = None
    key_words: int = 0
    prune_equivalent_actions: Callable[..., None] | None = None
    optimistic: Callable[..., None] | None = None
    present: Callable[..., None] | None = None
    move_codes: Callable[..., int] | None = None
    selective_moves: Callable[..., int] | None = None
    playout_guide: Callable[..., int] | None = None
    compact: Callable[[Game, NDArray[Any]], tuple[Game, NDArray[Any]] | None] | None = None
    sample_action: Callable[..., int] | None = None


def _align8(nbytes: int) -> int:
    """Return the next multiple of 8."""
    return -(-nbytes // 8) * 8


@dataclass(frozen=True)
class Game:
    """A game with its parameters.

    id                  versioned id, e.g. "mo-samegame-v0"
    agents              names, in turn order
    chance              source of randomness: none, only `generate` ("start"), or also `step`
    actions             sizes of the parts of an action: (225,) is Discrete(225), (6, 9, 9) MultiDiscrete([6, 9, 9])
    fields              fields of the observation; a single one is called "observation"
    max_episode_steps   proven bound on the steps of an episode
    factory             the function that made this game from its id and parameters
    blank_state         a state record with the parameters filled in and nothing generated

    Optional facts:
    params              every parameter with its value, but see `Parameter.omits_default`; `parameters` are the keywords of the
                        factory with their ranges
    information         whether observations contain the whole state ("perfect") or not ("partial")
    teams               for each agent the index of its team; by default each agent is a team
    utility             by default derived from teams and objectives
    reference_point     for hypervolume; by default the lowest return of each objective
    rules_key           name of the compiled rules, by default the id: games with equal keys share compiled code
    reward_bounds       (low, high) of the reward space in every objective, if the original game declares one pair for all; by
                        default the reward space has the bounds of each objective
    published_weights   weights of the objectives that give the scalar reward of the original game, if there is one that the
                        objectives determine
    policies            name -> "module:attribute" of a policy of the game, see `momagames.engine.policy_sources`; the names
                        are valid opponents and methods
    policy_prefixes     prefix -> "module:function" of a function (rest of the name, game) -> policy source, for names of
                        policies such as "prefix:rest": agents that are written for another program
    exact_policies      the same for policies that play perfectly where the game is small enough; they are no scripted players,
                        which training and comparisons use unless others are named
    front_solvers       claim of a front that strategies prove, such as "guaranteed" or "equilibrium" -> "module:attribute"
                        of its solver, see `momagames.baselines.front_solvers`
    tie_break           game -> the game in which a match decides a tie that a rerun has not broken
    action_objectives   states record[N] -> int64[N, M], the index of the per-color objective that each action would reward;
                        for games with a parameter `color_rewards`, whose first objectives are those of the colors, or one
    infos               state -> entries of the infos of single environments besides the mask. An entry "winners", a list of
                        names of agents, empty before the end and in a tie, decides matches; without it the highest return
                        in the first zero-sum objective does
    allows_illegal      whether actions outside the mask may be played: the rules define their effect
    can_pass            in sequential games: whether an agent without a legal action stays in the game. Its action is then a
                        pass, and the masks of waiting agents show the actions that would be legal in their turn
    mask_space          whether action masks are declared as Box(0, 1, int8) or as MultiBinary
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
    teams: tuple[int, ...] = ()  # see __post_init__
    utility: Utility = None  # type: ignore[assignment]  # see __post_init__
    reference_point: tuple[float, ...] = ()  # see __post_init__
    rules_key: str = ""  # see __post_init__
    reward_bounds: tuple[float, float] | None = None
    published_weights: tuple[float, ...] | None = None
    policies: Mapping[str, str] = field(default_factory=dict)
    policy_prefixes: Mapping[str, str] = field(default_factory=dict)
    exact_policies: Mapping[str, str] = field(default_factory=dict)
    front_solvers: Mapping[str, str] = field(default_factory=dict)
    tie_break: Callable[[Game], Game] | None = None
    action_objectives: Callable[[NDArray[Any]], NDArray[np.int64]] | None = None
    infos: Callable[[State], dict[str, Any]] | None = None
    allows_illegal: bool = False
    can_pass: bool = False
    mask_space: Literal["box", "binary"] = "box"
    variant: str = ""
    summary: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        given = vars(self)
        given["teams"] = self.teams or tuple(range(len(self.agents)))
        given["utility"] = given["utility"] or _derive_utility(self.teams, self.objectives)
        given["reference_point"] = self.reference_point or tuple(objective.return_low for objective in self.objectives)
        given["rules_key"] = self.rules_key or self.id
        given["codec"] = given["codec"] or make_record_codec(self.blank_state, tuple(self.params), len(self.agents))

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
        return np.array([self.reward_bounds[0] if self.reward_bounds else o.low for o in self.objectives], np.float32)

    @cached_property
    def reward_high(self) -> NDArray[np.float32]:
        return np.array([self.reward_bounds[1] if self.reward_bounds else o.high for o in self.objectives], np.float32)

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


def _derive_utility(teams: tuple[int, ...], objectives: tuple[Objective, ...]) -> Utility:
    """Return the relation between the utilities of the agents."""
    if len(set(teams)) == 1:
        return "cooperative"
    if all(objective.zero_sum for objective in objectives):
        return "zero_sum"
    return "teams" if len(set(teams)) < len(teams) else "individual"


def _remake(factory: Callable[..., Game], id: str, params: dict[str, Any]) -> Game:
    return factory(id, **params)
