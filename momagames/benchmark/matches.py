"""Matches: policies against each other, with rotating seats; ties are played again.

from momagames.benchmark import match

result = match("mo-pommerman-team-v0", ["simple", "my_agents:careful"], games=100)
result.wins, result.ties, result.to_json()

A bout is one game and its reruns: a tie is played again, once by the same rules, then by those of `MatchRules.tie_break` (where
the game has any), until one side wins. Compiled policies play all their games in batches; with a Python policy among the
players, games are played one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.analysis.fairness import FAIRNESS_MEASURES
from momagames.baselines import find_policy
from momagames.baselines.policy_names import parse_call
from momagames.benchmark.seats import Seat, play_game
from momagames.benchmark.store.provenance import collect_env_info
from momagames.contract import Game, State
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy, CompiledPolicy, play_policies
from momagames.engine.policy_sources import PolicySource, check_source, is_python_source, make_batch_policy, make_policy
from momagames.errors import InvalidParameter

FIRST, RERUN, TIE_BREAK = "first", "rerun", "tie_break"
BATCH_SIZE = 256  # games side by side
STARTS, ACTIONS = 1, 2  # purposes of random numbers

Player = str | PolicySource  # the name of a policy, see `momagames.baselines`, or what such a name stands for


@dataclass(frozen=True)
class MatchGame:
    """One game.

    stage     "first"; "rerun"; or "tie_break", by the rules of `MatchRules.tie_break`
    seed      of its start position, as in reset(seed=...)
    returns   float64[A, K]
    winners   indices of the agents that have won; none: a tie
    late      number of late moves of each agent
    """

    stage: str
    seed: int
    steps: int
    returns: NDArray[np.float64]
    winners: tuple[int, ...]
    late: tuple[int, ...]


@dataclass(frozen=True)
class Bout:
    """A game and its reruns.

    seats     for each agent the index of the player
    winners   indices of the players that have won; none: a tie after the last rerun
    """

    seats: tuple[int, ...]
    games: tuple[MatchGame, ...]

    @property
    def winners(self) -> tuple[int, ...]:
        return tuple(sorted({self.seats[agent] for agent in self.games[-1].winners}))


@dataclass(frozen=True)
class Match:
    """Result of a match.

    players      labels
    time_limit   milliseconds for each move of a Python policy, or None
    seconds      wall time
    """

    game: Game
    players: tuple[str, ...]
    bouts: tuple[Bout, ...]
    seed: int
    max_reruns: int
    time_limit: float | None
    seconds: float

    @property
    def wins(self) -> NDArray[np.int64]:
        """int64[P], bouts won by each player."""
        return np.array([sum(bout.winners == (p,) for bout in self.bouts) for p in range(len(self.players))], np.int64)

    @property
    def ties(self) -> int:
        """Number of bouts without a single winner."""
        return sum(len(bout.winners) != 1 for bout in self.bouts)

    @property
    def reruns(self) -> int:
        """Number of games that repeated a tied one."""
        return sum(len(bout.games) - 1 for bout in self.bouts)

    @property
    def returns(self) -> NDArray[np.float64]:
        """float64[P, K], the mean return of an agent that a player played, over all games and reruns."""
        rows: list[list[NDArray[np.float64]]] = [[] for _ in self.players]
        for bout in self.bouts:
            for one in bout.games:
                for agent, player in enumerate(bout.seats):
                    rows[player].append(one.returns[agent])
        return np.array([np.mean(row, axis=0) for row in rows])

    @property
    def fairness(self) -> dict[str, float]:
        """How utility is divided among the agents of a game: means of `analysis.fairness.FAIRNESS_MEASURES` over all games.

        The utility of an agent is the mean of its normalized returns (0: reference point, 1: upper bound), as for a user who
        evaluates each game separately (ESR).
        """
        returns = np.array([one.returns for bout in self.bouts for one in bout.games])
        low = np.array(self.game.reference_point, np.float64)
        high = np.array([objective.return_high for objective in self.game.objectives], np.float64)
        utilities = ((returns - low) / np.where(high > low, high - low, 1.0)).mean(axis=2)
        return {name: float(measure(utilities).mean()) for name, measure in FAIRNESS_MEASURES.items()}

    @property
    def late(self) -> NDArray[np.int64]:
        """int64[P], moves of each player that came too late."""
        late = np.zeros(len(self.players), np.int64)
        for bout in self.bouts:
            for one in bout.games:
                np.add.at(late, list(bout.seats), list(one.late))
        return late

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON-able data."""
        names, game = self.game.agents, tie_break_game(self.game)
        return {
            "game": registry.format_id(self.game.id, self.game.params),
            "tie_break": registry.format_id(game.id, game.params),
            "objectives": [objective.name for objective in self.game.objectives],
            "players": list(self.players),
            "seed": self.seed,
            "max_reruns": self.max_reruns,
            "time_limit": self.time_limit,
            "seconds": round(self.seconds, 3),
            "wins": self.wins.tolist(),
            "ties": self.ties,
            "reruns": self.reruns,
            "late": self.late.tolist(),
            "returns": self.returns.tolist(),
            "fairness": self.fairness,
            "provenance": collect_env_info(),
            "bouts": [
                {
                    "seats": {name: self.players[player] for name, player in zip(names, bout.seats, strict=True)},
                    "winners": [self.players[player] for player in bout.winners],
                    "games": [
                        {
                            "stage": one.stage,
                            "seed": one.seed,
                            "steps": one.steps,
                            "winners": [names[agent] for agent in one.winners],
                            "returns": dict(zip(names, one.returns.tolist(), strict=True)),
                            "late": dict(zip(names, one.late, strict=True)),
                        }
                        for one in bout.games
                    ],
                }
                for bout in self.bouts
            ],
        }


def match(
    id: str,
    players: Sequence[Player],
    games: int = 100,
    seed: int = 0,
    *,
    max_reruns: int = 10,
    time_limit: float | None = None,
    progress: Callable[[int], None] | None = None,
    **params: Any,
) -> Match:
    """Let players meet in `games` bouts.

    players      from two to one for each side of the game (a team, or an agent that plays for itself); fewer players than
                 sides play several. Each is the name of a policy, see `momagames.baselines`, with options such as
                 "greedy(estimate=both)"; or Python: a function
                 (observation, action mask int8[M], numpy Generator) -> action; or a class, of which an instance
                 cls(game, agent) is made for each seat of each game and called like a function
    games        bouts. A start position is played with every rotation of the players, so that a multiple of their
                 number is fairest
    max_reruns   of a bout: one of the same game, then of `MatchRules.tie_break`; 0: a tie is a tie
    time_limit   milliseconds for each move of a Python player; for one that is late its first legal action is played
                 (Stop and silence, where there is such an action), and it is not asked again before it has answered
    progress     called with the number of finished bouts
    params       of the game
    Raises       UnknownId, InvalidParameter; IllegalAction for an illegal action of a Python player
    """
    began = time.monotonic()
    game = registry.spec(id, **params)
    check_match(game, players, games, max_reruns, time_limit)
    labels = tuple(_make_labels(players))
    sources = [_find_player(game, label, player) for label, player in zip(labels, players, strict=True)]
    bouts: list[Bout] = []
    for low in range(0, games, BATCH_SIZE):
        numbers = range(low, min(low + BATCH_SIZE, games))
        bouts += _play_bouts(game, sources, numbers, seed, max_reruns, time_limit, progress)
    return Match(game, labels, tuple(bouts), seed, max_reruns, time_limit, time.monotonic() - began)


def check_match(game: Game, players: Sequence[Player], games: int, max_reruns: int, time_limit: float | None) -> None:
    """Raise InvalidParameter for an invalid match."""
    sides = len(set(game.teams))
    if sides < 2:
        raise InvalidParameter(f"{game.id} has one team: a match needs two or more")
    if not 2 <= len(players) <= sides:
        expected = "2" if sides == 2 else f"2 to {sides}"
        raise InvalidParameter(f"{game.id}: invalid number of players, {len(players)}: expected {expected}, one for each team")
    if not has_winners(game):
        raise InvalidParameter(
            f"{game.id} has no winners: expected an objective with zero_sum=True, or Game.infos with the entry 'winners'"
        )
    if games < 1 or max_reruns < 0:
        raise InvalidParameter(f"invalid games={games!r}, max_reruns={max_reruns!r}: expected 1 or more, and 0 or more")
    if time_limit is not None and time_limit <= 0:
        raise InvalidParameter(f"invalid time_limit={time_limit!r}: expected milliseconds above 0, or None")


def has_winners(game: Game) -> bool:
    """Return whether the game names winners, by its infos or by an objective with zero_sum=True."""
    return _infos_have_winners(game) or any(objective.zero_sum for objective in game.objectives)


def assign_seats(game: Game, players: int, bout: int) -> tuple[int, ...]:
    """Return the player of each agent in a bout: players rotate by one team from bout to bout."""
    sides = sorted(set(game.teams))
    return tuple((sides.index(team) + bout) % players for team in game.teams)


def tie_break_game(game: Game) -> Game:
    """Return the game in which ties are decided, by `MatchRules.tie_break`; else the game itself."""
    return game.match_rules.tie_break(game) if game.match_rules else game


def find_winners(game: Game, state: State, returns: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the indices of the winners of a finished game: those of its infos, or with the highest zero-sum return."""
    if game.infos is not None and _infos_have_winners(game):
        return tuple(game.agents.index(name) for name in game.infos(state)["winners"])
    column = next(k for k, objective in enumerate(game.objectives) if objective.zero_sum)
    best = returns[:, column].max()
    best_agents = np.flatnonzero(returns[:, column] == best)
    return tuple(best_agents.tolist()) if len(best_agents) < len(game.agents) else ()


def _infos_have_winners(game: Game) -> bool:
    return game.infos is not None and "winners" in game.infos(game.make_state()[0])


# ------------------------------------------------------------------------------------------------------------- playing


def _play_bouts(
    game: Game,
    sources: Sequence[NamedPolicy],
    numbers: range,
    seed: int,
    max_reruns: int,
    time_limit: float | None,
    progress: Callable[[int], None] | None,
) -> list[Bout]:
    """Play bouts by number, each with its reruns."""
    seats = {bout: assign_seats(game, len(sources), bout) for bout in numbers}
    played: dict[int, list[MatchGame]] = {bout: [] for bout in numbers}
    due = list(numbers)
    over = numbers.start
    for game_number in range(max_reruns + 1):
        stage = (FIRST, RERUN)[game_number] if game_number < 2 else TIE_BREAK
        current = game if game_number < 2 else tie_break_game(game)
        tied = []
        for bout, one in _play_games(
            current, sources, [(bout, seats[bout]) for bout in due], seed, game_number, stage, time_limit
        ):
            played[bout].append(one)
            if one.winners or game_number == max_reruns:
                over += 1
                if progress is not None:
                    progress(over)
            else:
                tied.append(bout)
        due = tied
        if not due:
            break
    return [Bout(seats[bout], tuple(played[bout])) for bout in numbers]


def _play_games(
    game: Game,
    sources: Sequence[NamedPolicy],
    due: Sequence[tuple[int, tuple[int, ...]]],
    seed: int,
    game_number: int,
    stage: str,
    time_limit: float | None,
) -> Iterator[tuple[int, MatchGame]]:
    """Play a game for each bout of (number, seats)."""
    starts = [_random_seed(seed, STARTS, bout // len(sources) if game_number == 0 else bout, game_number) for bout, _ in due]
    policies = [make_batch_policy(one.label, one.source, game, **one.options) for one in sources]
    if all(isinstance(policy, CompiledPolicy) for policy in policies):
        words = np.array([_random_words(seed, ACTIONS, bout, game_number, count=len(game.agents)) for bout, _ in due])
        seats = np.array([row for _, row in due])
        yield from zip(
            [bout for bout, _ in due],
            _play_batch(game, policies, seats, np.array(starts, np.uint64), words, stage),
            strict=True,
        )
        return
    for (bout, row), start in zip(due, starts, strict=True):
        sequence = np.random.SeedSequence([seed, ACTIONS, bout, game_number])
        seated = [_make_seat(sources[player], game, agent, time_limit) for agent, player in enumerate(row)]
        episode, steps = play_game(game, seated, start, [np.random.default_rng(child) for child in sequence.spawn(len(row))])
        returns, late = episode.returns.copy(), tuple(seat.late for seat in seated)
        yield bout, MatchGame(stage, start, steps, returns, find_winners(game, episode.state, returns), late)


def _play_batch(
    game: Game,
    policies: Sequence[BatchPolicy],
    seats: NDArray[np.int64],
    starts: NDArray[np.uint64],
    words: NDArray[np.uint64],
    stage: str,
) -> Iterator[MatchGame]:
    """Play games in a batch. seats int64[N, A], seeds of the starts uint64[N], generator words uint64[N, A]."""
    played = play_policies(game, generate_starts(game, starts), policies, seats, words)
    for i, seed in enumerate(starts.tolist()):
        returns = played.returns[i].copy()
        winners = find_winners(game, played.states[i], returns)
        yield MatchGame(stage, seed, int(played.lengths[i]), returns, winners, (0,) * len(game.agents))


def _random_words(seed: int, *purpose: int, count: int) -> NDArray[np.uint64]:
    return np.random.SeedSequence([seed, *purpose]).generate_state(count, np.uint64).astype(np.uint64)


def _random_seed(seed: int, *purpose: int) -> int:
    return int(_random_words(seed, *purpose, count=1)[0] >> np.uint64(1))


# ------------------------------------------------------------------------------------------------------------- players


class NamedPolicy(NamedTuple):
    """What the name of a player stands for, with options."""

    label: str
    source: PolicySource
    options: Mapping[str, Any]


def _find_player(game: Game, label: str, player: Player) -> NamedPolicy:
    if not isinstance(player, str):
        return NamedPolicy(label, check_source(label, player), {})
    name, options = parse_call(player, "policy") if player.endswith(")") else (player, {})
    return NamedPolicy(label, find_policy(name, game), options)


def _make_seat(player: NamedPolicy, game: Game, agent: int, time_limit: float | None) -> Seat:
    """Return a seat with a new policy; only Python has a time limit."""
    policy = make_policy(player.label, player.source, game, agent, **player.options)
    return Seat(policy, time_limit if is_python_source(player.source) else None, player.label)


def _make_labels(players: Sequence[Player]) -> Iterator[str]:
    """Names of players, numbered where one comes more than once."""
    seen: dict[str, int] = {}
    for player in players:
        name = player if isinstance(player, str) else getattr(player, "__name__", type(player).__name__)
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"
