# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Pareto beam search: many unfinished games side by side, of which the non-dominated and least crowded go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive, is_nondominated
from momagames.baselines.base import Method, Plan, Plans, check_certain
from momagames.baselines.search.heuristics import KINDS, estimates
from momagames.contract import Game
from momagames.engine.episode import PASS
from momagames.engine.loops import keep_all, once_for_rules
from momagames.engine.playouts import buffers
from momagames.errors import InvalidParameter, check_choice, check_range
from momagames.kernels.jit import driver, kernel, quiet

MAX_WIDTH = 4096
MAX_BYTES = 2**31  # of the games that are looked at in one step
FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT, EMPTY = np.uint64(29), -1
Estimate = Literal["none", "optimistic", "present"]
SCORES = ("none", *KINDS)


@dataclass(frozen=True)
class Beam(Method):
    """Pareto beam search, in passes of doubling width until the budget or the greatest width is reached.

    A pass keeps `width` unfinished games. Each step tries the legal actions of each (of those that the game knows to do the
    same, one), drops games that are equal in position and rewards, and keeps those whose score (rewards so far, plus the
    estimate) lies on the first non-dominated fronts; the last front that does not fit is thinned by crowding distance. The
    complete games of all passes make the result. The first pass has width 1 and is finished even if the budget is smaller.

    width       greatest number of games kept after a step
    estimate    what is added to the rewards so far: "none"; "optimistic", an upper bound of what can still be won;
                "present", what the position offers as it stands, or a guess

    Source: beam search, Lowerre, "The HARPY speech recognition system", 1976; ranking and crowding, Deb et al., "A fast and
    elitist multiobjective genetic algorithm: NSGA-II", IEEE Trans. Evol. Comp. 6, 2002; doubling, Ginsberg and Harvey,
    "Iterative broadening", Artificial Intelligence 55, 1992.
    """

    name: ClassVar[str] = "beam"
    width: int
    estimate: Estimate

    def __post_init__(self) -> None:
        check_range(f"{self.name}: width", self.width, 1, MAX_WIDTH)
        check_choice(f"{self.name}: estimate", self.estimate, SCORES)

    def check_chance(self, game: Game) -> None:
        """Raise InvalidParameter if the search may not know what this game will draw."""
        check_certain(self.name, game)

    def check_plan(self, game: Game) -> None:
        self.check_chance(game)
        widest = MAX_BYTES // (game.mask_size * game.dtype.itemsize)
        if self.width > widest:
            raise InvalidParameter(
                f"{self.name}: width={self.width} needs more than {MAX_BYTES >> 30} GiB for {game.id}; allowed: 1..{widest}"
            )
        if self.estimate != "none" and estimates(game) is None:
            raise InvalidParameter(f"{self.name}: there is no estimate for {game.id}; allowed: estimate='none'")

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        search = _Search(game, start, self.width, SCORES.index(self.estimate), self.name)
        widths = [*(2**i for i in range(self.width.bit_length()) if 2**i < self.width), self.width]
        finished = 0
        for width in widths:
            finished += search.run(width, budget if finished else None)
            if search.used >= budget:
                break
        facts = {"passes": finished, "last_width": width}
        return Plans(search.archive.front(), search.used, facts=facts, passed=search.archive.passed)


class _Search:
    """The passes over one start position, with their buffers and what they found."""

    def __init__(self, game: Game, start: NDArray[Any], width: int, ahead: int, label: str) -> None:
        self._game, self._start, self._ahead, self._label = game, start, ahead, label
        goals = len(game.objectives)
        room = width * max(1, game.mask_size)
        self._expand = expander(game)
        # never filled in advance: the system hands out memory only for what is written
        self._children = np.empty(room, game.dtype)
        self._values, self._scores = np.empty((room, goals)), np.empty((room, goals))
        self._parents, self._actions = np.empty(room, np.int32), np.empty(room, np.int32)
        self._table = np.empty(2 << room.bit_length(), np.int32)
        self.used = 0
        self.archive = Archive(goals)

    def run(self, width: int, budget: int | None) -> bool:
        """One pass. Returns whether it came to its end before the budget did."""
        beam, values = self._start.copy(), np.zeros((1, self._values.shape[1]))
        history: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []  # for each ply: parent in the beam, action
        while len(beam):
            limit = 2**62 if budget is None else budget - self.used
            made = self._step(beam, values, limit)
            over = self._children["over"][:made] != 0
            self._collect(np.flatnonzero(over), history)
            if budget is not None and self.used >= budget:
                return False
            going = np.flatnonzero(~over)
            chosen = going[select(self._scores[going], width)]
            history.append((self._parents[chosen], self._actions[chosen]))
            beam, values = self._children[chosen], self._values[chosen]
        return True

    def _step(self, beam: NDArray[Any], values: NDArray[np.float64], limit: int) -> int:
        """Fill the buffers with the different children of the beam; returns their number."""
        size = 1 << (4 * len(beam) * self._game.mask_size).bit_length()
        table = self._table[: min(size, 1 << (len(self._table).bit_length() - 1))]
        table[:] = EMPTY
        mask = np.zeros(self._game.mask_size, np.int8)
        words = self._children.view(np.uint64).reshape(len(self._children), -1)
        made, steps = self._expand(
            beam, values, limit, self._ahead, self._children, words, self._values, self._scores, self._parents,
            self._actions, table, np.zeros(1, self._game.dtype), mask, *buffers(self._game),
        )  # fmt: skip
        self.used += steps
        return int(made)

    def _collect(self, ended: NDArray[np.int64], history: list[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> None:
        def plan(i: int) -> Plan:
            child = ended[i]
            actions, parent = [int(self._actions[child])], int(self._parents[child])
            for parents, moves in reversed(history):
                actions.append(int(moves[parent]))
                parent = int(parents[parent])
            return Plan(tuple(reversed(actions)), self._values[child].copy(), self.used, self._label)

        if len(ended):
            self.archive.add(self._values[ended], plan)


def select(scores: NDArray[np.float64], width: int) -> NDArray[np.int64]:
    """Rows of float64[n, K] to keep, at most `width`: whole non-dominated fronts, the last one thinned by crowding."""
    if len(scores) <= width:
        return np.arange(len(scores))
    return np.sort(np.concatenate(list(_fronts(scores, width))))


def _fronts(scores: NDArray[np.float64], width: int) -> Iterator[NDArray[np.int64]]:
    left = np.arange(len(scores))
    while width > 0 and len(left):
        first = is_nondominated(scores[left])
        front = left[first]
        left = left[~first]
        if len(front) > width:
            spread = crowding(scores[front])
            front = front[np.argsort(-spread, kind="stable")[:width]]
        width -= len(front)
        yield front


def crowding(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Crowding distance of each row of float64[n, K]: the sides of the box up to its neighbors; infinite at the ends."""
    spread = np.zeros(len(scores))
    for column in scores.T:
        order = np.argsort(column, kind="stable")
        ranked = column[order]
        reach = ranked[-1] - ranked[0]
        if reach > 0:
            spread[order[1:-1]] += (ranked[2:] - ranked[:-2]) / reach
        spread[order[[0, -1]]] = np.inf
    return spread


@quiet
def stir(word, more):
    """Take 64 bits more into a hash."""
    word = (word ^ more) * FACTOR
    return word ^ (word >> SHIFT)


@quiet
def digest(words, row):
    """A hash of a row of uint64[n, W]: four chains side by side, so that the processor need not wait for each step."""
    end = words.shape[1] - words.shape[1] % 4
    a, b, c, d = FACTOR, FACTOR, FACTOR, FACTOR
    for w in range(0, end, 4):
        a, b = stir(a, words[row, w]), stir(b, words[row, w + 1])
        c, d = stir(c, words[row, w + 2]), stir(d, words[row, w + 3])
    for w in range(end, words.shape[1]):
        a = stir(a, words[row, w])
    return stir(stir(a, b), stir(c, d))


@kernel
def nothing(state, out):
    out[:] = 0.0


@kernel
def or_pass(mask):
    """Who has no legal action, and stays in the game, passes (see `Game.can_pass`)."""
    if not mask.any():
        mask[PASS] = 1


@once_for_rules
def expander(game: Game) -> Callable[..., Any]:
    """The compiled step of a beam, for this game's rules."""
    legal, step = game.kernels.legal, game.kernels.step
    thin = game.search.prune_equivalent_actions or keep_all
    optimistic, present = estimates(game) or (nothing, nothing)

    @kernel
    def equal(words, values, a, b):
        for k in range(values.shape[1]):
            if values[a, k] != values[b, k]:
                return False
        for w in range(words.shape[1]):  # noqa: SIM110 - compiled without generators
            if words[a, w] != words[b, w]:
                return False
        return True

    def expand(
        beam, values, limit, ahead, children, words, child_values, scores, parents, actions, table, trial, mask, action, reward
    ):  # fmt: skip
        made = 0
        steps = 0
        top = np.uint64(table.shape[0] - 1)
        for i in range(beam.shape[0]):
            agent = np.int64(beam[i]["to_move"])
            legal(beam[i], agent, mask)
            thin(beam[i], mask)
            or_pass(mask)
            for a in range(mask.shape[0]):
                if mask[a] == 0:
                    continue
                if steps >= limit:
                    return made, steps
                children[made] = beam[i]
                action[0, 0] = a
                step(children[made], action, reward)
                steps += 1
                for k in range(values.shape[1]):
                    child_values[made, k] = values[i, k] + reward[agent, k]
                slot = digest(words, made) & top
                while table[slot] >= 0 and not equal(words, child_values, table[slot], made):
                    slot = (slot + np.uint64(1)) & top
                if table[slot] < 0:
                    table[slot] = made
                    parents[made] = i
                    actions[made] = a
                    scores[made] = 0.0
                    if ahead:
                        trial[0] = children[made]
                        if ahead == 1:
                            optimistic(trial[0], scores[made])
                        else:
                            present(trial[0], scores[made])
                    for k in range(values.shape[1]):
                        scores[made, k] += child_values[made, k]
                    made += 1
        return made, steps

    return driver(expand, f"{game.rules_key}.expand")
