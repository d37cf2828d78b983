"""Optional support for search and learners: the groups `SearchSupport` and `LearningSupport` of a game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from momagames.contract.symmetries import Symmetry


@dataclass(frozen=True)
class TrainingDefaults:
    """What `momagames train` takes for a game unless it is given.

    options    of a learner, by name; others are as the learner chooses
    budget     environment steps, about two minutes on two cores; None: that of the learner
    """

    options: Mapping[str, Any]
    budget: int | None = None


@dataclass(frozen=True, kw_only=True)
class ObjectiveFeatures:
    """Features that a position has for each objective; their changes are features of candidate actions (`grpo` and others).

    names        of F features
    write(state, out)
                 kernel that writes the features of a position before the end to out float64[F, K]. May overwrite the state
    extra_names  of further features, which make decisions better and slower, for learners with the option `extra_features`:
                 the same kernel writes them to the rows after the F, where `out` has these
    exchangeable_objectives
                 sets of objectives, by index, that differ in their names only: the rules are invariant under a permutation of
                 the objectives of a set and of the matching parts of the position
    """

    names: tuple[str, ...]
    write: Callable[..., None]
    extra_names: tuple[str, ...] = ()
    exchangeable_objectives: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class BoardTables:
    """A board, for tables of cell patterns (`ntuple`).

    write_codes(state, agent, codes)
                 kernel that writes a code of each cell to codes uint8[n], n at least the number of cells, as `agent` sees the
                 board from its own side: positions that look the same have the same value for the agent that sees them, so
                 that one table serves all agents. Codes tell its own pieces from others
    num_codes    codes are 0..num_codes-1
    shape        (rows, columns): cell i is in row i // columns
    symmetries   of the board that an agent sees, without the identity
    """

    write_codes: Callable[..., None]
    num_codes: int
    shape: tuple[int, int]
    symmetries: tuple[Symmetry, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EgocentricView:
    """What small networks read instead of the observation (`moppo`), from what the agent observes alone.

    write(state, agent, planes, scalars)
                 kernel that writes P planes, one after the other, to planes float32[P * rows * columns], and V further numbers
                 to scalars float32[V]. Planes show the cells around the agent, which is in the middle, or the board as the
                 agent sees it from its own side; the game decides what they show beyond the board. Values are at most about 1
                 in magnitude, and most are zero
    shape        (rows, columns) of a plane
    planes       names of the P planes
    scalars      names of the V numbers
    actions      for each agent, a permutation of the M actions: its number i is the game's action that the agent sees as i,
                 where a view from its own side turns the board. Empty: all agents see the actions as they are
    """

    write: Callable[..., None]
    shape: tuple[int, int]
    planes: tuple[str, ...]
    scalars: tuple[str, ...] = ()
    actions: tuple[tuple[int, ...], ...] = ()

    @property
    def cells(self) -> int:
        """Return the cells of all planes."""
        return len(self.planes) * self.shape[0] * self.shape[1]

    @property
    def size(self) -> int:
        """Return the numbers of the view, those of planes first."""
        return self.cells + len(self.scalars)


@dataclass(frozen=True)
class RewardFactor:
    """A local reward: a part of the reward of a team that depends on the actions of few agents.

    agents     their indices
    classes    for each of them the class, from 0, of each of its actions: actions of one class make no difference to this
               reward. Empty: each action is a class
    """

    agents: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class RewardFactors:
    """The coordination graph of a team with one step: its reward is a sum of local rewards (`bandit_joint`).

    factors              F local rewards
    write(state, out)    kernel that writes them to out float64[F, K], from the position after the step
    """

    factors: tuple[RewardFactor, ...]
    write: Callable[..., None]


@dataclass(frozen=True, kw_only=True)
class LearningSupport:
    """Optional support for learners and for filtered policies.

    clear_unsafe_actions(state, agent, caution, mask)
                        kernel that clears in the mask of `agent` the actions after which it is lost as far as it can see, from
                        its observation alone; clears nothing if no action would remain. With caution 2 it allows for more harm
                        from other agents than with caution 1
    champions           files of trained policies that come with the package of the game, "package:file", the first that fits
                        is the policy "champion"
    training            defaults of `momagames train` for this game, by the name of the learner
    objective_features  for candidate actions, instead of `SearchSupport.present` and `optimistic`
    board               for tables of cell patterns
    egocentric_view     for small networks
    write_differences(state, actions, out)
                        kernel, for games of one step: writes to out float64[A, K], from the position after the step with
                        actions int64[A, 1], the difference reward of each agent: the reward of its team, minus what it would
                        be without the agent; for agents with rewards of their own the sum of all of them, minus what it would
                        be, divided by A. Where rewards are drawn, its expected value is that of expected rewards. May
                        overwrite the state
    reward_factors      local rewards, for learners of joint actions
    """

    clear_unsafe_actions: Callable[..., None] | None = None
    champions: tuple[str, ...] = ()
    training: Mapping[str, TrainingDefaults] = field(default_factory=dict)
    objective_features: ObjectiveFeatures | None = None
    board: BoardTables | None = None
    egocentric_view: EgocentricView | None = None
    write_differences: Callable[..., None] | None = None
    reward_factors: RewardFactors | None = None


@dataclass(frozen=True, kw_only=True)
class ExactSearch:
    """Positions that are equal for the future, for searches that visit each once (`exact`, strategies as data).

    write_key(state, words)   kernel: uint64[W], equal for positions with the same future
    key_words                 W
    compact(game, start)      the same game on a smaller record, and start, record[1], in that form; None if the position does
                              not fit. Actions and rewards stay the same
    """

    write_key: Callable[..., None]
    key_words: int
    compact: Callable[[Any, NDArray[Any]], tuple[Any, NDArray[Any]] | None] | None = None


@dataclass(frozen=True, kw_only=True)
class SearchGuidance:
    """Kernels for searches that learn which moves are good (`nrpa`, `pareto_nrpa`, `local_search`).

    move_codes(state, actions, count, codes)
                     moves of equal codes share their weights. Writes a nonzero code to codes uint64[n] for each of the first
                     `count` of actions int64[n] of the agent to move. May drop actions that are equivalent to an earlier one;
                     the others move up. May overwrite the state. Returns the number of remaining actions
    selective_moves(state, guide, actions, count, codes, grades)
                     as `move_codes`, for playouts that leave unpromising moves out: drops their actions as well, but not all,
                     and writes an integer 0..15 to grades int64[n] for each remaining action, higher for better moves
    playout_guide(state, rank)
                     for `selective_moves`: an integer `guide` of the playouts from a position: the most promising one for
                     rank 0, the next for 1, and so on; after the last one the first again
    """

    move_codes: Callable[..., int]
    selective_moves: Callable[..., int] | None = None
    playout_guide: Callable[..., int] | None = None


@dataclass(frozen=True, kw_only=True)
class SearchSupport:
    """Optional support for search.

    prune_equivalent_actions(state, mask)
                             kernel that clears in the mask of the agent to move actions that are equivalent to a remaining one
                             (not necessarily all)
    optimistic(state, out)   kernel; out float64[K]: an upper bound of the future return in each objective. May overwrite the
                             state
    present(state, out)      kernel; out float64[K]: an estimate of the future return from the present position. May overwrite
                             the state
    exact                    for exact search
    guidance                 for searches that learn
    """

    prune_equivalent_actions: Callable[..., None] | None = None
    optimistic: Callable[..., None] | None = None
    present: Callable[..., None] | None = None
    exact: ExactSearch | None = None
    guidance: SearchGuidance | None = None
