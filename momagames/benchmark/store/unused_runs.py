"""Reasons why stored runs are not those of a suite: other games, methods, options, revisions, budgets or episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from momagames.benchmark.runs import Run
from momagames.contract.titles import join_words

MAX_REASONS = 6  # in a line
FIELDS = {"method": "options", "revisions": "revisions", "rows_format": "format of rows", "version": "format of rows"}


def count_unused_runs(configs: Iterable[Mapping[str, Any]], runs: Sequence[Run]) -> dict[str, int]:
    """Return how many stored runs are none of these runs, by reason, the most frequent one first.

    configs    content of the config.json of each stored run
    """
    digests, wanted = {run.digest for run in runs}, dict[tuple[str, str], list[dict[str, Any]]]()
    versions: dict[str, set[str]] = {}  # name of a game -> its ids
    for run in runs:
        wanted.setdefault((run.canonical, run.method.name), []).append(run.to_dict())
        versions.setdefault(_strip_version(run.game.id), set()).add(run.game.id)
    games, found = {game for game, _ in wanted}, Counter[str]()
    for config in configs:
        game, id, method = config["canonical"], config["game"]["id"], config["method"]["name"]
        if config.get("digest") in digests:
            continue
        if game in games:
            changes = sorted((_list_changes(config, one) for one in wanted.get((game, method), ())), key=len)
            found[f"other {join_words(changes[0])}" if changes else "other methods"] += 1
        else:
            ids = versions.get(_strip_version(id), {id})
            found["other games or parameters" if id in ids else "other versions of the rules"] += 1
    return dict(found.most_common())


def describe_reasons(reasons: Mapping[str, int]) -> str:
    """Return the reasons of `count_unused_runs` as text: "12 with other methods, 3 with other budget"."""
    parts = [f"{number:,} with {reason}" for reason, number in reasons.items()]
    more = len(parts) - MAX_REASONS
    return ", ".join([*parts[:MAX_REASONS], *([f"and {more} more reasons"] if more > 0 else [])])


def _strip_version(id: str) -> str:
    return id.rpartition("-v")[0]


def _list_changes(config: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields in which a stored run differs from another run of its game and method."""
    names = sorted({*config, *wanted} - {"schema", "digest"})
    return sorted({FIELDS.get(name, name) for name in names if config.get(name) != wanted.get(name)})
