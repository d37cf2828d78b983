# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The loops of `layers`: children of positions, each different one once; and the labels that reach them.

A label is a way to a position: its return so far (float64[K]), the label that it came from, and the action. It is hopeless
if its return and the most that can follow, the position's bound, are together no more than a value that is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.baselines.search.beam import digest, nothing, or_pass
from momagames.baselines.search.heuristics import estimates
from momagames.contract import Game
from momagames.engine.loops import keep_all, once_for_rules
from momagames.kernels.jit import driver, kernel


@kernel
def seat_of(words, row, table):
    """The slot of a row of uint64[n, W] in a table of rows, or the free slot that it may have (-1 there)."""
    top = np.uint64(table.shape[0] - 1)
    slot = digest(words, row) & top
    while table[slot] >= 0:
        known = np.int64(table[slot])
        same = True
        for w in range(words.shape[1]):
            if words[known, w] != words[row, w]:
                same = False
                break
        if same:
            return slot
        slot = (slot + np.uint64(1)) & top
    return slot


@kernel
def no_worse(vectors, at, vector):
    """Whether label `at` is at least the vector everywhere."""
    for k in range(vector.shape[0]):  # noqa: SIM110 - compiled without generators
        if vectors[at, k] < vector[k]:
            return False
    return True


@kernel
def no_better(vectors, at, vector):
    """Whether the vector is at least label `at` everywhere."""
    for k in range(vector.shape[0]):  # noqa: SIM110
        if vectors[at, k] > vector[k]:
            return False
    return True


@kernel
def hopeless(vector, bound, known):
    """Whether a row of float64[n, K] is at least the vector and the bound together. It is looked at sooner next time."""
    for i in range(known.shape[0]):
        beaten = True
        for k in range(vector.shape[0]):
            if known[i, k] < vector[k] + bound[k]:
                beaten = False
                break
        if beaten:
            for k in range(vector.shape[0]):
                known[i, k], known[i // 2, k] = known[i // 2, k], known[i, k]
            return True
    return False


def _enter(words, made, table):
    for row in range(made):
        table[seat_of(words, row, table)] = row


def _merge(
    first, last, order, starts, edges, gains, spans, vectors, bounds, known, found, parents, actions, ends, top, trial
):  # fmt: skip
    """The labels of the positions first..last-1 that are neither dominated nor hopeless. Returns the first position that
    was not dealt with, for want of room, and the number of labels made.

    order, starts    the edges by child: those of child c are order[starts[c] : starts[c + 1]]
    edges            int32[E, 3]: parent, action, child; gains float64[E, K]
    spans            int64[P, 2]: the labels of each parent, from and to, in `vectors`
    bounds, known    float64[C, K], of each child; float64[n, K]
    found, parents, actions, ends    the labels made, and where those of each child end
    """
    for child in range(first, last):
        here = top
        room = 0
        for e in range(starts[child], starts[child + 1]):
            parent = edges[order[e], 0]
            room += spans[parent, 1] - spans[parent, 0]
        if top + room > found.shape[0]:
            return child, top
        for e in range(starts[child], starts[child + 1]):
            edge = order[e]
            parent = edges[edge, 0]
            for label in range(spans[parent, 0], spans[parent, 1]):
                for k in range(trial.shape[0]):
                    trial[k] = vectors[label, k] + gains[edge, k]
                beaten = False
                for other in range(here, top):
                    if no_worse(found, other, trial):
                        beaten = True
                        break
                if beaten or hopeless(trial, bounds[child], known):
                    continue
                kept = here
                for other in range(here, top):
                    if not no_better(found, other, trial):
                        for k in range(trial.shape[0]):
                            found[kept, k] = found[other, k]
                        parents[kept] = parents[other]
                        actions[kept] = actions[other]
                        kept += 1
                for k in range(trial.shape[0]):
                    found[kept, k] = trial[k]
                parents[kept] = label
                actions[kept] = edges[edge, 1]
                top = kept + 1
        ends[child] = top
    return last, top


enter: Callable[..., Any] = driver(_enter, "layers.enter")  # the first rows of some into an empty table
merge: Callable[..., Any] = driver(_merge, "layers.merge")


@once_for_rules
def expander(game: Game) -> Callable[..., Any]:
    """The compiled step from one layer to the next, for this game's rules."""
    legal, step = game.kernels.legal, game.kernels.step
    thin = game.search.prune_equivalent_actions or keep_all

    optimistic, _ = estimates(game) or (nothing, nothing)

    @kernel
    def has_hope(label, end, vectors, gain, bound, known, trial):
        """Whether one of the labels label..end-1, with a gain, is not hopeless."""
        while label < end:
            for k in range(gain.shape[0]):
                trial[k] = vectors[label, k] + gain[k]
            if not hopeless(trial, bound, known):
                return True
            label += 1
        return False

    def expand(
        positions, first, last, spans, vectors, known, children, words, bounds, made, table, edges, gains, count,
        mask, action, reward, spare, trial,
    ):  # fmt: skip
        """The children of the positions first..last-1 that have hope, after the `made` that there are. Returns their number
        now, and that of the edges; there is room for all."""
        for i in range(first, last):
            agent = np.int64(positions[i]["to_move"])
            legal(positions[i], agent, mask)
            thin(positions[i], mask)
            or_pass(mask)
            for a in range(mask.shape[0]):
                if mask[a] == 0:
                    continue
                children[made] = positions[i]
                action[0, 0] = a
                step(children[made], action, reward)
                for k in range(gains.shape[1]):
                    gains[count, k] = reward[agent, k]
                if known.shape[0]:
                    bounds[made] = 0.0
                    if not children[made]["over"]:
                        spare[0] = children[made]
                        optimistic(spare[0], bounds[made])
                    if not has_hope(spans[i, 0], spans[i, 1], vectors, gains[count], bounds[made], known, trial):
                        continue
                slot = seat_of(words, made, table)
                if table[slot] < 0:
                    table[slot] = made
                    made += 1
                edges[count, 0] = i
                edges[count, 1] = a
                edges[count, 2] = table[slot]
                count += 1
        return made, count

    return driver(expand, f"{game.rules_key}.layer")
