"""Scores of head-to-head experiments: wins, ties and losses of every pair, ratings, mean returns, and responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.ratings import Cycle, find_clearest_cycle, rating_intervals
from momagames.analysis.statistics import Interval
from momagames.benchmark.head_to_head import find_deciding_objective, score_wins
from momagames.benchmark.suites import Indicators
from momagames.contract import Game
from momagames.reports.data.panels import Panel


@dataclass(frozen=True)
class HeadToHeadScores:
    """The games of one setting, with means over seats and intervals over the seeds that every player has.

    two_sided      whether the game has two teams, so that what the one wins the other loses
    wins           (player, opponent) -> share of the games that the player wins; of single agents against several opponents in
                   games of more than two teams
    ratings        player -> rating; see `rate_players`
    returns        player -> mean return of each objective against all players, itself included
    response       player -> share of the games that the response to its policy wins
    gain           player -> the same, minus the share that the policy wins against itself: a lower bound of exploitability
    cycle          see `ratings.find_clearest_cycle`; None without a cycle
    leaders        the player with the highest rating, and those whose difference to it has an interval that holds zero
    """

    title: str
    full_heading: str
    game: Game
    two_sided: bool
    players: tuple[str, ...]
    seeds: tuple[int, ...]
    wins: Mapping[tuple[str, str], Interval]
    ratings: Mapping[str, Interval]
    returns: Mapping[str, tuple[Interval, ...]]
    response: Mapping[str, Interval]
    gain: Mapping[str, Interval]
    cycle: Cycle | None
    leaders: tuple[str, ...]

    def total(self, player: str) -> tuple[float, float, float]:
        """Return the shares of wins, ties and losses against all other players, in games of two teams."""
        others = [other for other in self.players if other != player]
        won = float(np.mean([self.wins[player, other].value for other in others]))
        lost = float(np.mean([self.wins[other, player].value for other in others]))
        return won, max(0.0, 1 - won - lost), lost


def score_head_to_head(panel: Panel, settings: Indicators, anchor: str) -> HeadToHeadScores | None:
    """Return the scores of a primary panel of a head-to-head experiment; None for another one, and without a common seed."""
    runs = panel.policy_episodes
    if not panel.primary or not any(one.response is not None for by_seed in runs.values() for one in by_seed.values()):
        return None
    players = tuple(player for player in runs)
    seeds = tuple(sorted(set.intersection(*(set(by_seed) for by_seed in runs.values()))))
    if not seeds or len(players) < 2:
        return None
    game, decider = panel.game, find_deciding_objective(panel.game)
    shape = (len(seeds), len(players), len(players), panel.num_episodes)
    wins, decided = np.zeros(shape), np.zeros(shape)  # the latter without ties
    response = np.zeros((len(seeds), len(players), panel.num_episodes))
    returns = np.zeros((len(seeds), len(players), len(game.objectives)))
    for i, player in enumerate(players):
        for k, seed in enumerate(seeds):
            episodes = runs[player][seed]
            won = score_wins(game, decider, episodes.report[0])
            opponents = np.array([opponent for opponent, _ in episodes.matches])
            for j, other in enumerate(players):
                wins[k, i, j] = won[:, opponents == other].mean(axis=1)
                decided[k, i, j] = (won[:, opponents == other] == 1).mean(axis=1)
            returns[k, i] = episodes.report[0].mean(axis=(0, 1))
            assert episodes.response is not None
            response[k, i] = score_wins(game, decider, episodes.response).mean(axis=1)
    seats = len({seat for _, seat in next(iter(runs[players[0]].values())).matches})
    ratings = rate_players(wins, seats, players, anchor, settings)
    best = max(players, key=lambda player: ratings[player].value)
    beside = rate_players(wins, seats, players, best, settings)  # with a fixed rating of the best one
    level = (player for player in players if player != best and beside[player].high >= beside[best].value)
    rates, answers = wins.mean(axis=3), response.mean(axis=2)

    return HeadToHeadScores(
        title=panel.title,
        full_heading=panel.full_heading,
        game=game,
        two_sided=len(set(game.teams)) == 2,
        players=players,
        seeds=seeds,
        wins={(a, b): settings.bootstrap(rates[:, i, j]) for i, a in enumerate(players) for j, b in enumerate(players)},
        ratings=ratings,
        returns={a: tuple(map(settings.bootstrap, returns[:, i].T)) for i, a in enumerate(players)},
        response={a: settings.bootstrap(answers[:, i]) for i, a in enumerate(players)},
        gain={a: settings.bootstrap(answers[:, i] - rates[:, i, i]) for i, a in enumerate(players)},
        cycle=find_clearest_cycle(players, _list_units(decided), settings.confidence),
        leaders=(best, *level),
    )


def rate_players(wins: Array, games: int, players: Sequence[str], anchor: str, settings: Indicators) -> dict[str, Interval]:
    """Return the ratings of players with intervals.

    wins    float[S, N, N, E], share of the games that player i wins against j, in each episode of each seed
    games   number of games of a pair in an episode

    A game that neither wins is half a win for both: of two players, i has half of the games, and half of the difference of the
    wins. In games of more than two teams the wins of i alone against several j are compared with those of j alone against
    several i.
    """
    at = players.index(anchor) if anchor in players else 0
    found = rating_intervals(_list_units(games * (1 + wins - wins.swapaxes(1, 2)) / 2), at, settings.confidence)
    return dict(zip(players, found, strict=True))


def _list_units(wins: Array) -> Array:
    """Return wins float[S, N, N, E] without those of players against themselves by units, see `cluster_by_seed`."""
    return cluster_by_seed(np.moveaxis(wins, 3, 1) * (1 - np.eye(wins.shape[1])))


def cluster_by_seed(samples: Array) -> Array:
    """Return the units of a bootstrap of wins, float[S, E, N, N]: the sums of each seed, or the episodes of a single seed.

    The episodes of a seed share the trained policies, and in games without chance the start position, so that they are not
    independent.
    """
    return np.asarray(samples.sum(axis=1) if len(samples) > 1 else samples[0])
