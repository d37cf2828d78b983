"""Who does how well against whom: every method against every opponent, from every seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momagames.analysis import ratings
from momagames.analysis.arrays import Array
from momagames.analysis.statistics import Interval, bootstrap
from momagames.benchmark.plan import Indicators
from momagames.contract import Game
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import Played
from momagames.reports.data.scores import measure

OUTCOME = "outcome"  # name of an objective that pays for winning, but where both can lose
ANCHOR = "random"  # whose rating is 0
WINS, VOLUMES = "win rate", "normalized HV"
Cells = Mapping[tuple[str, str, str], Interval]  # (seat, method, opponent) -> mean over runs


@dataclass(frozen=True)
class Ratings:
    """Of all who met; see `science.ratings`.

    of       entrant -> rating; the intervals are over episodes
    cycle    who goes round in a circle, and by how many points; None if no three met each other
    """

    of: Mapping[str, Interval]
    cycle: tuple[tuple[str, ...], float] | None


@dataclass(frozen=True)
class CrossPlay:
    """One game of a policies experiment.

    objective    that says who won; "" if none does
    policies     method -> its policy that wins most in the games for selection, by run; empty without such an objective
    tables       "win rate" (of that policy; a tie is half a win), if somebody wins, and "normalized HV" (of the method's
                 front against that opponent from that seat)
    same         methods that have an opponent of their own name
    gaps         table -> mean over methods against their own name less mean against the others, if methods and opponents have
                 the same names
    ratings      None for fewer than three entrants, and where wins are no opponent's losses
    """

    title: str
    objective: str
    policies: Mapping[str, tuple[str, ...]]
    seats: tuple[str, ...]
    methods: tuple[str, ...]
    opponents: tuple[str, ...]
    tables: Mapping[str, Cells]
    same: frozenset[tuple[str, str]]
    gaps: Mapping[str, Interval]
    ratings: Ratings | None


def crossplay(panel: Panel, wanted: Indicators) -> CrossPlay | None:
    """The cross-play behind a panel of all opponents and seats; None for plans, and where nobody else plays."""
    found = next(iter(panel.played.values()), {})
    matches = next(iter(found.values())).matches if found else ()
    opponents = _ordered(panel, [opponent for opponent, _ in matches])
    if not panel.primary or not matches or opponents == ("nobody",):
        return None
    decider = deciding(panel.game)
    chosen = {m: {s: _champion(panel.game, decider, one) for s, one in runs.items()} for m, runs in panel.played.items()}
    values: dict[str, dict[tuple[str, str, str], dict[int, float]]] = {WINS: {}, VOLUMES: {}} if decider >= 0 else {VOLUMES: {}}
    for method, runs in panel.played.items():
        for seed, games in runs.items():
            for place, (opponent, seat) in enumerate(matches):
                at = seat, method, opponent
                if decider >= 0:
                    own = wins(panel.game, decider, games.report[chosen[method][seed]])
                    values[WINS].setdefault(at, {})[seed] = float(own[:, place].mean())
                points = games.only((opponent, seat)).points()
                volume = measure("normalized_hypervolume", points.values, panel.references[seed]).value
                values[VOLUMES].setdefault(at, {})[seed] = volume
    methods = tuple(panel.played)
    tables = {name: {at: _interval(list(v.values()), wanted) for at, v in cells.items()} for name, cells in values.items()}
    same = frozenset((m, o) for m in methods for o in opponents if _plain(m) == _plain(o))
    whole = {_plain(m) for m in methods} == {_plain(o) for o in opponents} and len(opponents) > 1
    return CrossPlay(
        title=panel.title,
        objective=panel.game.objectives[decider].name if decider >= 0 else "",
        policies={m: tuple(panel.played[m][s].labels[i] for s, i in runs.items()) for m, runs in chosen.items()}
        if decider >= 0
        else {},
        seats=tuple(dict.fromkeys(seat for _, seat in matches)),
        methods=methods,
        opponents=opponents,
        tables=tables,
        same=same,
        gaps={name: _interval(_gaps(cells, same), wanted) for name, cells in values.items()} if whole else {},
        ratings=_ratings(panel, decider, chosen, wanted) if decider >= 0 else None,
    )


def _ordered(panel: Panel, opponents: Sequence[str]) -> tuple[str, ...]:
    """Each once, in the order of the methods of their names, so that these make a diagonal; then the others."""
    names = [_plain(method) for method in panel.played]
    return tuple(sorted(dict.fromkeys(opponents), key=lambda o: names.index(_plain(o)) if _plain(o) in names else len(names)))


def deciding(game: Game) -> int:
    """Which objective says who won: the first that is zero-sum, else one that pays for the outcome; -1: none."""
    told = [goal.zero_sum for goal in game.objectives]
    names = [goal.name for goal in game.objectives]
    if any(told):
        return told.index(True)
    return names.index(OUTCOME) if OUTCOME in names else -1


def wins(game: Game, decider: int, returns: Array) -> Array:
    """Returns float[..., K] as wins float[...]: 1 above the middle of the deciding objective's range, ½ in it, 0 below."""
    goal = game.objectives[decider]
    beyond = returns[..., decider] - (goal.return_low + goal.return_high) / 2
    return np.asarray(np.where(np.abs(beyond) < 1e-9, 0.5, beyond > 0), np.float64)


def _champion(game: Game, decider: int, games: Played) -> int:
    """The policy that wins most in the games for selection, all matches together; the first of several."""
    return int(wins(game, decider, games.select).mean(axis=(1, 2)).argmax()) if decider >= 0 else 0


def _plain(label: str) -> str:
    """A name without its options."""
    return label.partition("(")[0]


def _interval(values: Sequence[float], wanted: Indicators) -> Interval:
    return bootstrap(values, wanted.confidence, wanted.resamples)


def _gaps(cells: Mapping[tuple[str, str, str], Mapping[int, float]], same: frozenset[tuple[str, str]]) -> list[float]:
    """For each run the mean on the diagonal less that off it."""
    seeds = sorted(set.intersection(*(set(values) for values in cells.values())))
    on = [values for (_, m, o), values in cells.items() if (m, o) in same]
    off = [values for (_, m, o), values in cells.items() if (m, o) not in same]
    return [float(np.mean([v[seed] for v in on]) - np.mean([v[seed] for v in off])) for seed in seeds]


# -------------------------------------------------------------------------------------------------------------- ratings


def _ratings(panel: Panel, decider: int, chosen: Mapping[str, Mapping[int, int]], wanted: Indicators) -> Ratings | None:
    """Everybody is rated by all games of all seats. A method with one policy is the opponent of its name."""
    if not panel.game.objectives[decider].zero_sum or len(set(panel.game.teams)) != 2:
        return None
    runs = panel.played
    seeds = sorted(set.intersection(*(set(found) for found in runs.values())))
    matches = next(iter(next(iter(runs.values())).values())).matches
    single = {m for m, found in runs.items() if all(len(games.labels) == 1 for games in found.values())}
    names = {o: o if o in single or o not in runs else f"{o} (opponent)" for o, _ in matches}
    entrants = list(dict.fromkeys([*runs, *names.values()]))
    if len(entrants) < 3 or not seeds:
        return None
    place = {name: i for i, name in enumerate(entrants)}
    count = panel.episodes
    samples = np.zeros((len(seeds) * count, len(entrants), len(entrants)))
    for method, found in runs.items():
        for k, seed in enumerate(seeds):
            won = wins(panel.game, decider, found[seed].report[chosen[method][seed]])
            episodes = slice(k * count, (k + 1) * count)
            for column, (opponent, _) in enumerate(matches):
                i, j = place[method], place[names[opponent]]
                if i != j:
                    samples[episodes, i, j] += won[:, column]
                    samples[episodes, j, i] += 1 - won[:, column]
    anchor = place.get(ANCHOR, 0)
    cycle = ratings.largest_cycle(samples.sum(axis=0))
    return Ratings(
        dict(zip(entrants, ratings.intervals(samples, anchor, wanted.confidence), strict=True)),
        (tuple(entrants[i] for i in cycle.entrants), cycle.residual) if cycle else None,
    )
