"""Best-known fronts: the union of the points of archived runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from momagames import registry
from momagames.baselines.archive import is_nondominated
from momagames.benchmark.runs import Run
from momagames.benchmark.store.store import RUN, Store
from momagames.benchmark.store.thinning import require_part
from momagames.errors import InvalidFile
from momagames.files.reading import refuse_content
from momagames.fronts.front_content import Point
from momagames.fronts.game_front import Claim, GameFront, state_claim
from momagames.fronts.generation import collect_provenance, make_start


def union_fronts(folders: Iterable[str | Path], command: str = "", omit_positions: bool = False) -> dict[str, GameFront]:
    """Return the best-known front of each game and seed with runs of plans: file name -> front.

    Policies are excluded, because their values are means over episodes. The runs may come from other versions; `verify` replays
    every point with the installed one.

    folders           results directories of `bench run`
    omit_positions    whether the files name start positions by seed and SHA-256 instead of holding them
    Raises     InvalidFile if a directory cannot be read, is without actions or has no finished run of plans
    """
    runs: dict[tuple[str, int], dict[str, tuple[Store, Run]]] = {}
    for folder in folders:
        store, before = Store(folder), len(runs)
        for run in store.finished_runs():
            if run.kind == "plans":
                runs.setdefault((run.canonical, run.seed), {})[run.digest] = store, run
        if len(runs) == before and not any(run.kind == "plans" for run in store.finished_runs()):
            raise InvalidFile(f"{folder}: expected at least one finished run of plans")
    return {
        _file_name(next(iter(found.values()))[1]): _union(list(found.values()), command, omit_positions)
        for found in runs.values()
    }


def _union(found: list[tuple[Store, Run]], command: str, omit_positions: bool) -> GameFront:
    found = sorted(found, key=lambda pair: pair[1].digest)
    run = found[0][1]
    game = run.game.make_game()
    points = []
    for store, one in found:
        with refuse_content(store.run_directory(one), RUN):
            require_part(store.run_directory(one), "actions")
            rows = store.read_rows(one)
            points += [Point(value=tuple(row["return"]), actions=tuple(row["actions"]), run=one.digest) for row in rows]
    if not points:
        raise InvalidFile(f"{run.canonical}, seed {run.seed}: its runs have no points")
    mask = is_nondominated(np.array([point.value for point in points]))  # of equal points the first
    start = make_start(game, run.seed)
    claim: Claim = "clairvoyant" if game.chance == "step" else "returns"
    return GameFront(
        kind="best known",
        claim=claim,
        statement=state_claim("best known", claim, game.agents[0], None),
        game=run.game,
        canonical=registry.format_id(game.id, game.params),
        start=start.without_position() if omit_positions else start,
        agent=game.agents[0],
        opponent=None,
        objectives=tuple(objective.name for objective in game.objectives),
        points=tuple(sorted((p for p, selected in zip(points, mask, strict=True) if selected), key=lambda point: point.value)),
        method=None,
        runs=tuple(one.digest for _, one in found),
        provenance=collect_provenance(command),
    )


def _file_name(run: Run) -> str:
    """Return a file name from the id, the given parameters, and the seed."""
    given = "".join(f"-{name}_{value}" for name, value in sorted(run.game.params.items()))
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in f"{run.game.id}{given}")
    return f"{safe[:180]}-{run.seed}.json"
