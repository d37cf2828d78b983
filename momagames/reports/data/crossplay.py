"""Head-to-head results (cross-play): every method against every opponent, from every seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momagames.analysis import ratings
from momagames.analysis.named_indicators import measure_clipped
from momagames.analysis.statistics import Interval
from momagames.benchmark.head_to_head import find_deciding_objective, score_wins
from momagames.benchmark.suites import Indicators
from momagames.contract import Game
from momagames.reports.data.head_to_head import HeadToHeadScores, cluster_by_seed, score_head_to_head
from momagames.reports.data.panels import NO_OPPONENT, Panel
from momagames.reports.data.points import PolicyEpisodes

ANCHOR = "random"  # the player whose rating is 0
WIN_RATE, NORMALIZED_HV = "win rate", "normalized HV"
Cell = tuple[str, str, str]  # (seat, method, opponent)
Cells = Mapping[Cell, Interval]  # means over runs


@dataclass(frozen=True)
class Ratings:
    """Ratings of all players that met; see `analysis.ratings`.

    by_player    player -> rating; the intervals are over seeds, or over the episodes of a single seed
    cycle        see `ratings.find_clearest_cycle`; None without a cycle
    seeds        number of seeds
    """

    by_player: Mapping[str, Interval]
    cycle: ratings.Cycle | None
    seeds: int


@dataclass(frozen=True)
class CrossPlay:
    """The head-to-head results of one game.

    objective         the objective that decides who won; "" if none does
    policies          method -> the policy with the most wins in the selection episodes, by run; empty without `objective`
    tables            "win rate" of that policy (a tie is half a win; only with `objective`), and "normalized HV" of the front
                      of the method against that opponent from that seat
    same_name         pairs of a method and the opponent of its name
    same_name_gaps    table -> mean over the pairs of `same_name` minus mean over the others, if methods and opponents have the
                      same names
    ratings           None for fewer than three players, and for games that are not zero-sum unless all players meet each other
    head_to_head      of experiments in which the methods meet each other
    """

    title: str
    objective: str
    policies: Mapping[str, tuple[str, ...]]
    seats: tuple[str, ...]
    methods: tuple[str, ...]
    opponents: tuple[str, ...]
    tables: Mapping[str, Cells]
    same_name: frozenset[tuple[str, str]]
    same_name_gaps: Mapping[str, Interval]
    ratings: Ratings | None
    head_to_head: HeadToHeadScores | None = None


def compute_crossplay(panel: Panel, settings: Indicators) -> CrossPlay | None:
    """Return the head-to-head results of a primary panel; None for plans, and for games without opponents."""
    runs_by_method = panel.policy_episodes
    first = next(iter(runs_by_method.values()), {})
    matches = next(iter(first.values())).matches if first else ()
    opponents = _sort_opponents(panel, [opponent for opponent, _ in matches])
    if not panel.primary or not matches or opponents == (NO_OPPONENT,):
        return None
    decider = find_deciding_objective(panel.game)
    selected = {
        method: {seed: _select_policy(panel.game, decider, episodes) for seed, episodes in runs.items()}
        for method, runs in runs_by_method.items()
    }
    values: dict[str, dict[Cell, dict[int, float]]] = {WIN_RATE: {}} if decider >= 0 else {}
    values[NORMALIZED_HV] = {}
    for method, runs in runs_by_method.items():
        for seed, episodes in runs.items():
            for column, (opponent, seat) in enumerate(matches):
                cell = seat, method, opponent
                if decider >= 0:
                    wins = score_wins(panel.game, decider, episodes.report[selected[method][seed]])
                    values[WIN_RATE].setdefault(cell, {})[seed] = float(wins[:, column].mean())
                points = episodes.select_matches([(opponent, seat)]).nondominated_points()
                volume = measure_clipped(points.values, panel.references[seed]).value
                values[NORMALIZED_HV].setdefault(cell, {})[seed] = volume
    methods = tuple(runs_by_method)
    tables = {
        name: {cell: settings.bootstrap(list(by_seed.values())) for cell, by_seed in cells.items()}
        for name, cells in values.items()
    }
    same = frozenset((m, o) for m in methods for o in opponents if _base_name(m) == _base_name(o))
    square = {_base_name(m) for m in methods} == {_base_name(o) for o in opponents} and len(opponents) > 1
    gaps = {name: settings.bootstrap(_compute_gaps(cells, same)) for name, cells in values.items()} if square else {}
    policies = {m: tuple(runs_by_method[m][seed].labels[i] for seed, i in runs.items()) for m, runs in selected.items()}
    scores = score_head_to_head(panel, settings, ANCHOR)
    if scores:
        rated: Ratings | None = Ratings(scores.ratings, scores.cycle, len(scores.seeds))
    else:
        rated = _rate_players(panel, decider, selected, settings) if decider >= 0 else None
    return CrossPlay(
        title=panel.full_heading,
        objective=panel.game.objectives[decider].name if decider >= 0 else "",
        policies=policies if decider >= 0 else {},
        seats=tuple(dict.fromkeys(seat for _, seat in matches)),
        methods=methods,
        opponents=opponents,
        tables=tables,
        same_name=same,
        same_name_gaps=gaps,
        ratings=rated,
        head_to_head=scores,
    )


def _sort_opponents(panel: Panel, opponents: Sequence[str]) -> tuple[str, ...]:
    """Return each opponent once: first those with the name of a method, in the order of the methods, then the others."""
    names = [_base_name(method) for method in panel.policy_episodes]
    rank = {name: i for i, name in reversed(list(enumerate(names)))}
    return tuple(sorted(dict.fromkeys(opponents), key=lambda opponent: rank.get(_base_name(opponent), len(names))))


def _select_policy(game: Game, decider: int, episodes: PolicyEpisodes) -> int:
    """Return the index of the policy with the most wins in the selection episodes of all matches; the first of equal ones."""
    return int(score_wins(game, decider, episodes.select).mean(axis=(1, 2)).argmax()) if decider >= 0 else 0


def _base_name(label: str) -> str:
    """Return a name without its options."""
    return label.partition("(")[0]


def _compute_gaps(cells: Mapping[Cell, Mapping[int, float]], same: frozenset[tuple[str, str]]) -> list[float]:
    """Return, for each run, the mean over the cells of `same` minus the mean over the others."""
    seeds = sorted(set.intersection(*(set(values) for values in cells.values())))
    on = [values for (_, m, o), values in cells.items() if (m, o) in same]
    off = [values for (_, m, o), values in cells.items() if (m, o) not in same]
    return [float(np.mean([v[seed] for v in on]) - np.mean([v[seed] for v in off])) for seed in seeds]


# -------------------------------------------------------------------------------------------------------------- ratings


def _rate_players(
    panel: Panel, decider: int, selected: Mapping[str, Mapping[int, int]], settings: Indicators
) -> Ratings | None:
    """Rate all players by the episodes of all seats. A method with a single policy is the opponent of its name."""
    if not panel.game.objectives[decider].zero_sum or len(set(panel.game.teams)) != 2:
        return None
    runs = panel.policy_episodes
    seeds = sorted(set.intersection(*(set(by_seed) for by_seed in runs.values())))
    matches = next(iter(next(iter(runs.values())).values())).matches
    single = {m for m, by_seed in runs.items() if all(len(episodes.labels) == 1 for episodes in by_seed.values())}
    names = {o: o if o in single or o not in runs else f"{o} (opponent)" for o, _ in matches}
    players = list(dict.fromkeys([*runs, *names.values()]))
    if len(players) < 3 or not seeds:
        return None
    index = {name: i for i, name in enumerate(players)}
    count = next(iter(next(iter(runs.values())).values())).report.shape[1]
    samples = np.zeros((len(seeds), count, len(players), len(players)))
    decided = np.zeros(samples.shape)  # without ties
    for method, by_seed in runs.items():
        for k, seed in enumerate(seeds):
            wins = score_wins(panel.game, decider, by_seed[seed].report[selected[method][seed]])
            for column, (opponent, _) in enumerate(matches):
                i, j = index[method], index[names[opponent]]
                if i != j:
                    samples[k, :, i, j] += wins[:, column]
                    samples[k, :, j, i] += 1 - wins[:, column]
                    decided[k, :, i, j] += wins[:, column] == 1
                    decided[k, :, j, i] += wins[:, column] == 0
    anchor = index.get(ANCHOR, 0)
    found = ratings.rating_intervals(cluster_by_seed(samples), anchor, settings.confidence)
    cycle = ratings.find_clearest_cycle(players, cluster_by_seed(decided), settings.confidence)
    return Ratings(dict(zip(players, found, strict=True)), cycle, len(seeds))
