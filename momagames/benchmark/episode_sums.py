"""Sums over all episodes of a run, of which only the first ones are stored one by one (`PoliciesExperiment.stored_episodes`).

Rows without the number of an episode have, for a policy and a set of episodes:

    episodes    number of episodes
    sums        [K], sum of the returns against `opponent` from `seat`
    squares     [K], in the report episodes: sum over the episodes of the square of the return, which is added up over the
                matches of an episode that have the opponent and the seat of the row, or any where it has none

All means that reports compare follow from these, and their standard errors. Sums are rounded once, so that they do not depend
on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import fsum, inf
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.benchmark.episodes import SETS

Match = tuple[str, str]  # opponent and seat
Scope = tuple[str | None, str | None]  # opponent and seat of the matches that are compared; None: all of them


def is_sum(row: Mapping[str, Any]) -> bool:
    """Return whether a row has sums over episodes."""
    return "episode" not in row


def find_scope(matches: Sequence[Match]) -> Scope:
    """Return the scope of all matches between some opponents and some seats."""
    opponent, seat = (names[0] if len(set(names)) == 1 else None for names in zip(*matches, strict=True))
    return opponent, seat


def sum_episodes(returns: Mapping[Match, Array], labels: Sequence[str], select: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of sums.

    returns    match -> float[n, E, K], the returns of n policies in the selection episodes, then in those of the report
    labels     of the policies
    select     number of selection episodes
    """
    scopes = _list_scopes(list(returns))
    for i, label in enumerate(labels):
        for name, part in zip(SETS, (slice(select), slice(select, None)), strict=True):
            for scope, matches in scopes.items():
                inside = [returns[match][i, part] for match in matches]
                row = {"set": name, "policy": label, "episodes": len(inside[0])}
                row |= {key: value for key, value in zip(("opponent", "seat"), scope, strict=True) if value is not None}
                if scope in returns:
                    row["sums"] = _sum_columns(inside[0])
                if name == "report":
                    row["squares"] = _sum_columns(reduce(np.add, inside) ** 2)
                if "sums" in row or "squares" in row:
                    yield row


def _list_scopes(matches: Sequence[Match]) -> dict[Scope, list[Match]]:
    """Return the scopes that reports compare: all matches, those of each opponent, of each seat, and each match."""
    groups = [list(matches)]
    groups += [
        [match for match in matches if match[k] == name] for k in (0, 1) for name in dict.fromkeys(m[k] for m in matches)
    ]
    return {find_scope(group): group for group in (*groups, *([match] for match in matches))}


def _sum_columns(values: Array) -> list[float]:
    return [fsum(column) for column in values.T.tolist()]


@dataclass(frozen=True)
class EpisodeSums:
    """The sums of a run in some matches.

    rows        those of `sum_episodes`, by set, policy and scope
    labels      of the policies
    """

    rows: Mapping[tuple[str, str, Scope], Mapping[str, Any]]
    labels: Sequence[str]
    matches: tuple[Match, ...]

    @staticmethod
    def read_rows(rows: Iterable[Mapping[str, Any]], labels: Sequence[str], matches: Sequence[Match]) -> EpisodeSums | None:
        """Return the sums among the rows of a run; None if there are none."""
        found = {(row["set"], row["policy"], (row.get("opponent"), row.get("seat"))): row for row in rows if is_sum(row)}
        return EpisodeSums(found, labels, tuple(matches)) if found else None

    def select_matches(self, matches: Sequence[Match]) -> EpisodeSums:
        return replace(self, matches=tuple(matches))

    def compute_means(self, name: str) -> Array:
        """Return the mean returns float64[n, K] of a set of episodes over the matches."""
        count = len(self.matches) * self._count_episodes(name)
        return np.array([self._add_sums(name, label) for label in self.labels]) / count

    def compute_errors(self) -> Array:
        """Return the standard errors float64[n, K] of the means of the report; infinite for a single episode."""
        count, scope = self._count_episodes("report"), find_scope(self.matches)
        sums = np.array([self._add_sums("report", label) for label in self.labels])
        if count < 2:
            return np.full(sums.shape, inf)
        squares = np.array([self.rows["report", label, scope]["squares"] for label in self.labels])
        variances = np.maximum(squares - sums**2 / count, 0.0) / (count - 1)
        return np.asarray(np.sqrt(variances / count) / len(self.matches))

    def _count_episodes(self, name: str) -> int:
        return int(self.rows[name, self.labels[0], self.matches[0]]["episodes"])

    def _add_sums(self, name: str, label: str) -> list[float]:
        found = [self.rows[name, label, match]["sums"] for match in self.matches]
        return [fsum(values) for values in zip(*found, strict=True)]
