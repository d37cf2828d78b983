# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Pareto beam search: keeps the non-dominated and least crowded unfinished games of each ply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive, is_nondominated
from momagames.baselines.base import Method, Plan, Plans
from momagames.baselines.checkpoint_policy import CHAMPION
from momagames.baselines.policy_names import find_checkpoint
from momagames.baselines.search.learned_estimate import (
    LearnedEstimate,
    ignore_estimate,
    load_estimate,
    make_estimate_kernel,
)
from momagames.contract import Game
from momagames.engine.episode import PASS
from momagames.engine.lookahead import make_heuristic, make_lookahead, make_trial
from momagames.engine.loops import cache_by_rules, make_distinct_legal
from momagames.errors import InvalidParameter, check_choice, check_range
from momagames.kernels.jit import compile_entry_point, kernel, wrapping_kernel

MAX_WIDTH = 4096
MAX_BYTES = 2**31  # largest memory of the children of one step
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
HASH_SHIFT, EMPTY = np.uint64(29), -1
ESTIMATES = ("none", "optimistic", "present")
LEARNED = len(ESTIMATES)  # the number of a learned estimate


@dataclass(frozen=True)
class Beam(Method):
    """Pareto beam search, in passes of doubling beam width until the budget or the maximum width is reached.

    A pass keeps `width` unfinished games. Each step expands their legal actions (one of each set of equivalent actions) and
    drops games with equal positions and returns. It keeps the games whose score, the return so far plus the estimate, lies on
    the first non-dominated fronts; the last front is truncated by crowding distance. The result holds the complete games of
    all passes. The first pass has width 1 and is completed even if the budget is smaller.

    width       maximum beam width
    estimate    added to the return so far: "none"; "optimistic", an upper bound of the remaining return; "present", a
                heuristic value of the position. "champion", or the path of a checkpoint of training by `beam_estimate`, or by
                `cross_entropy`: the score is what a linear scorer has learned, see `learned_estimate`

    Source: beam search, Lowerre, "The HARPY speech recognition system", 1976; ranking and crowding, Deb et al., "A fast and
    elitist multiobjective genetic algorithm: NSGA-II", IEEE Trans. Evol. Comp. 6, 2002; doubling, Ginsberg and Harvey,
    "Iterative broadening", Artificial Intelligence 55, 1992.
    """

    name: ClassVar[str] = "beam"
    file_option: ClassVar[str] = "estimate"
    width: int
    estimate: str

    def __post_init__(self) -> None:
        check_range(f"{self.name}: width", self.width, 1, MAX_WIDTH)
        if not self.is_learned:
            check_choice(f"{self.name}: estimate", self.estimate, (*ESTIMATES, CHAMPION))

    @property
    def is_learned(self) -> bool:
        """Whether the estimate is that of a trained scorer."""
        return self.estimate == CHAMPION or find_checkpoint(self.estimate) is not None

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)
        widest = MAX_BYTES // (game.mask_size * game.dtype.itemsize)
        if self.width > widest:
            raise InvalidParameter(
                f"{self.name}: invalid width={self.width}: expected 1..{widest} for {game.id}, "
                f"more needs over {MAX_BYTES >> 30} GiB"
            )
        if self.is_learned:
            load_estimate(game, self.estimate)
        elif self.estimate != "none" and getattr(game.search, self.estimate) is None:
            raise InvalidParameter(
                f"{self.name}: invalid estimate={self.estimate!r}: expected 'none', because {game.id} has no estimates"
            )

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        estimate = load_estimate(game, self.estimate) if self.is_learned else ESTIMATES.index(self.estimate)
        return search_beam(game, start, self.width, budget, estimate, self.name)


def search_beam(game: Game, start: NDArray[Any], width: int, budget: int, estimate: int | LearnedEstimate, label: str) -> Plans:
    """Search in passes of doubling width; see `Beam`.

    estimate    learned, or the number of one of ESTIMATES
    """
    search = _Search(game, start, width, estimate, label)
    finished, last = 0, 1
    for last in [*(2**i for i in range(width.bit_length()) if 2**i < width), width]:
        finished += search.run_pass(last, budget if finished else None)
        if search.steps >= budget:
            break
    facts = {"passes": finished, "last_width": last}
    return Plans(search.archive.front(), search.steps, info=facts, dominated=search.archive.dominated)


def search_once(
    game: Game, start: NDArray[Any], width: int, estimate: int | LearnedEstimate
) -> tuple[NDArray[np.float64], int]:
    """Return the returns of the complete games of one pass, float64[n, K], and its environment steps."""
    search = _ReturnSearch(game, start, width, estimate, "")
    search.run_pass(width, None)
    return np.concatenate(search.returns), search.steps


def score_children(game: Game, positions: NDArray[Any], estimate: int | LearnedEstimate) -> NDArray[np.float64]:
    """Return the scores of the positions after one move from any of these, record[n], in an order of their own, [m, K]."""
    search = _Search(game, positions[:1], len(positions), estimate, "")
    count = search._expand_beam(positions, np.zeros((len(positions), len(game.objectives))), 2**62)
    return search._scores[:count]


class _Search:
    """Passes over one start position, with their buffers and the archive."""

    def __init__(self, game: Game, start: NDArray[Any], width: int, estimate: int | LearnedEstimate, label: str) -> None:
        self._game, self._start, self._label = game, start, label
        self._learned = () if isinstance(estimate, int) else estimate
        self._estimate_kind = estimate if isinstance(estimate, int) else LEARNED
        num_objectives = len(game.objectives)
        capacity = width * max(1, game.mask_size)
        self._expand = make_expander(game, bool(self._learned))
        # not initialized: the system allocates only the pages that are written
        self._children = np.empty(capacity, game.dtype)
        self._values, self._scores = np.empty((capacity, num_objectives)), np.empty((capacity, num_objectives))
        self._parents, self._actions = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
        self._table = np.empty(2 << capacity.bit_length(), np.int32)
        self._trial = make_trial(game)
        self.steps = 0
        self.archive = Archive(num_objectives)

    def run_pass(self, width: int, budget: int | None) -> bool:
        """Run one pass; return whether it completed within the budget."""
        beam, values = self._start.copy(), np.zeros((1, self._values.shape[1]))
        history: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []  # for each ply: parent in the beam, action
        while len(beam):
            limit = 2**62 if budget is None else budget - self.steps
            num_children = self._expand_beam(beam, values, limit)
            over = self._children["over"][:num_children] != 0
            self._collect(np.flatnonzero(over), history)
            if budget is not None and self.steps >= budget:
                return False
            unfinished = np.flatnonzero(~over)
            selected = unfinished[select_beam(self._scores[unfinished], width)]
            history.append((self._parents[selected], self._actions[selected]))
            beam, values = self._children[selected], self._values[selected]
        return True

    def _expand_beam(self, beam: NDArray[Any], values: NDArray[np.float64], limit: int) -> int:
        """Fill the buffers with the distinct children of the beam; return their number."""
        size = 1 << (4 * len(beam) * self._game.mask_size).bit_length()
        table = self._table[: min(size, 1 << (len(self._table).bit_length() - 1))]
        table[:] = EMPTY
        rows = self._children.view(np.uint64).reshape(len(self._children), -1)
        num_children = self._expand(
            beam, values, limit, self._estimate_kind, self._learned, self._children, rows, self._values, self._scores,
            self._parents, self._actions, table, self._trial,
        )  # fmt: skip
        self.steps += int(self._trial.steps[0])
        return int(num_children)

    def _collect(self, terminal: NDArray[np.int64], history: list[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> None:
        def plan(i: int) -> Plan:
            child = terminal[i]
            actions, parent = [int(self._actions[child])], int(self._parents[child])
            for parents, moves in reversed(history):
                actions.append(int(moves[parent]))
                parent = int(parents[parent])
            return Plan(tuple(reversed(actions)), self._values[child].copy(), self.steps, self._label)

        if len(terminal):
            self.archive.add(self._values[terminal], plan)


class _ReturnSearch(_Search):
    """A search for returns alone, without the cost of plans."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.returns: list[NDArray[np.float64]] = []

    def _collect(self, terminal: NDArray[np.int64], history: list[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> None:
        self.returns.append(self._values[terminal])


def select_beam(scores: NDArray[np.float64], width: int) -> NDArray[np.int64]:
    """Select at most `width` rows of float64[n, K]: whole non-dominated fronts, the last one truncated by crowding distance."""
    if len(scores) <= width:
        return np.arange(len(scores))
    return np.sort(np.concatenate(list(_select_fronts(scores, width))))


def _select_fronts(scores: NDArray[np.float64], width: int) -> Iterator[NDArray[np.int64]]:
    remaining = np.arange(len(scores))
    while width > 0 and len(remaining):
        first = is_nondominated(scores[remaining])
        front = remaining[first]
        remaining = remaining[~first]
        if len(front) > width:
            distance = crowding_distance(scores[front])
            front = front[np.argsort(-distance, kind="stable")[:width]]
        width -= len(front)
        yield front


def crowding_distance(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the crowding distance of each row of float64[n, K]; it is infinite at the ends of an objective."""
    distance = np.zeros(len(scores))
    for column in scores.T:
        order = np.argsort(column, kind="stable")
        ranked = column[order]
        value_range = ranked[-1] - ranked[0]
        if value_range > 0:
            distance[order[1:-1]] += (ranked[2:] - ranked[:-2]) / value_range
        distance[order[[0, -1]]] = np.inf
    return distance


@wrapping_kernel
def mix_hash(word, data):
    """Mix 64 bits of data into a hash."""
    word = (word ^ data) * HASH_FACTOR
    return word ^ (word >> HASH_SHIFT)


@wrapping_kernel
def hash_row(rows, row):
    """Hash a row of uint64[n, W] in four independent chains, which the processor computes in parallel."""
    end = rows.shape[1] - rows.shape[1] % 4
    a, b, c, d = HASH_FACTOR, HASH_FACTOR, HASH_FACTOR, HASH_FACTOR
    for w in range(0, end, 4):
        a, b = mix_hash(a, rows[row, w]), mix_hash(b, rows[row, w + 1])
        c, d = mix_hash(c, rows[row, w + 2]), mix_hash(d, rows[row, w + 3])
    for w in range(end, rows.shape[1]):
        a = mix_hash(a, rows[row, w])
    return mix_hash(mix_hash(a, b), mix_hash(c, d))


@kernel
def allow_pass(mask):
    """Make the pass legal where no other action is (see `Game.can_pass`)."""
    if not mask.any():
        mask[PASS] = 1


@cache_by_rules
def make_expander(game: Game, learned: bool = False) -> Callable[..., Any]:
    """Compile the expansion of a beam for this game's rules, with or without a learned estimate."""
    write_scores = make_estimate_kernel(game) if learned else ignore_estimate
    play_copy, write_legal = make_lookahead(game).play_copy, make_distinct_legal(game)
    write_optimistic, write_present = make_heuristic(game.search.optimistic), make_heuristic(game.search.present)

    @kernel
    def equal(rows, values, a, b):
        for k in range(values.shape[1]):
            if values[a, k] != values[b, k]:
                return False
        for w in range(rows.shape[1]):  # noqa: SIM110 - compiled without generators
            if rows[a, w] != rows[b, w]:
                return False
        return True

    def expand(
        beam, values, limit, estimate_kind, learned, children, rows, child_values, scores, parents, actions, table, trial
    ):  # fmt: skip
        mask, reward, num_children = trial.mask, trial.reward, 0
        trial.steps[0] = 0
        top = np.uint64(table.shape[0] - 1)
        for i in range(beam.shape[0]):
            agent = np.int64(beam[i]["to_move"])
            write_legal(beam[i], mask)
            allow_pass(mask)
            for a in range(mask.shape[0]):
                if mask[a] == 0:
                    continue
                if trial.steps[0] >= limit:
                    return num_children
                play_copy(beam[i], a, children, num_children, trial)
                for k in range(values.shape[1]):
                    child_values[num_children, k] = values[i, k] + reward[agent, k]
                slot = hash_row(rows, num_children) & top
                while table[slot] >= 0 and not equal(rows, child_values, table[slot], num_children):
                    slot = (slot + np.uint64(1)) & top
                if table[slot] < 0:
                    table[slot] = num_children
                    parents[num_children] = i
                    actions[num_children] = a
                    scores[num_children] = 0.0
                    if estimate_kind:
                        if estimate_kind == 1:
                            write_optimistic(children[num_children], trial, scores[num_children])
                        elif estimate_kind == 2:
                            write_present(children[num_children], trial, scores[num_children])
                        else:
                            trial.states[0] = children[num_children]
                            write_scores(trial, child_values[num_children], learned, scores[num_children])
                    if estimate_kind < LEARNED:
                        for k in range(values.shape[1]):
                            scores[num_children, k] += child_values[num_children, k]
                    num_children += 1
        return num_children

    return compile_entry_point(expand, f"{game.rules_key}.expand{'.learned' if learned else ''}")
