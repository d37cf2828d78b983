"""Matches: policies against each other, seats in turn, ties played again until somebody wins.

from momagames.benchmark import match

result = match("mo-pommerman-team-v0", ["simple", "my_agents:careful"], games=100)
result.wins, result.ties, result.to_json()

A bout is one game, and what is played again because nobody won it: a tie is rerun once as it was, then with collapsing
walls (where the game has them) until somebody wins. Policies that exist as kernels play all their games in batches; as
soon as one of them is Python, games are played one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.baselines import POLICIES, compiled, is_policy, policy
from momagames.benchmark.seats import PythonSeat, Seat, play_one
from momagames.benchmark.store.provenance import provenance
from momagames.contract import Game, State
from momagames.engine.playouts import deal as dealt
from momagames.engine.policies import Compiled, play_kernels
from momagames.errors import InvalidParameter, UnknownId, nearest, one_of
from momagames.plugins import found, is_outside

FIRST, RERUN, COLLAPSE = "first", "rerun", "collapse"
SHARE_BEFORE_COLLAPSE = 5 / 8  # 500 of 800 steps, as in the original
RINGS = 4  # that fall in the rest of the game
BATCH = 256  # games side by side
DEALS, LOTS = 1, 2  # purposes of random numbers

# A player: the name of a built-in policy, "module:function" or "module:class", or a function or class
Entrant = str | Callable[..., Any]
# How somebody plays an agent: (game, agent) -> Seat
Chair = Callable[[Game, int], Seat]


@dataclass(frozen=True)
class Played:
    """One game.

    stage     "first"; "rerun"; or "collapse", with walls that close in
    seed      reset(seed=...) deals its board
    returns   float64[A, K]
    winners   agents that have won, by index; nobody: a tie
    late      moves of each agent that came too late
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
    winners   the players that have won, by index; nobody: still a tie after the last rerun
    """

    seats: tuple[int, ...]
    games: tuple[Played, ...]

    @property
    def winners(self) -> tuple[int, ...]:
        return tuple(sorted({self.seats[agent] for agent in self.games[-1].winners}))


@dataclass(frozen=True)
class Match:
    """What came out.

    players      labels
    time_limit   milliseconds that a Python policy had for a move, or None
    seconds      that it took
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
        """Bouts that nobody won, or several players together."""
        return sum(len(bout.winners) != 1 for bout in self.bouts)

    @property
    def reruns(self) -> int:
        """Games that were played because others had been tied."""
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
    def late(self) -> NDArray[np.int64]:
        """int64[P], moves of each player that came too late."""
        late = np.zeros(len(self.players), np.int64)
        for bout in self.bouts:
            for one in bout.games:
                np.add.at(late, list(bout.seats), list(one.late))
        return late

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON-able data."""
        names = self.game.agents
        return {
            "game": registry.format_id(self.game.id, self.game.params),
            "collapsing": registry.format_id(*_id_and_params(collapsing(self.game))),
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
            "provenance": provenance(),
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
    players: Sequence[Entrant],
    games: int = 100,
    seed: int = 0,
    *,
    max_reruns: int = 10,
    time_limit: float | None = None,
    tell: Callable[[int], None] | None = None,
    **params: Any,
) -> Match:
    """Let players meet in `games` bouts.

    players      from two to one for each side of the game (a team, or an agent that plays for itself); fewer than there
                 are sides take several. Each is the name of a built-in policy or Python: a function (observation, action
                 mask int8[M], numpy Generator) -> action; or a class, of which one is made for each seat of each game,
                 cls(game, agent), that is called like a function. Either may be given as "module:name"
    games        bouts. One deal is played with all the turns of the players around the sides, so a multiple of their
                 number is fairest
    max_reruns   of a bout: one as it was, the others with collapsing walls; 0: a tie is a tie
    time_limit   milliseconds for each move of a Python player; for one that is late its first legal action is played
                 (Stop and silence, where there is such an action), and it is not asked again before it has answered
    tell         called with the number of bouts that are over
    params       of the game
    Raises       UnknownId, InvalidParameter; IllegalAction for what a Python player may not do
    """
    began = time.monotonic()
    game = registry.spec(id, **params)
    check(game, players, games, max_reruns, time_limit)
    chairs = [_Chair(entrant, game, time_limit) for entrant in players]
    bouts: list[Bout] = []
    for low in range(0, games, BATCH):
        numbers = range(low, min(low + BATCH, games))
        bouts += _bouts(game, chairs, numbers, seed, max_reruns, tell)
    labels = tuple(_labels(players))
    return Match(game, labels, tuple(bouts), seed, max_reruns, time_limit, time.monotonic() - began)


def check(game: Game, players: Sequence[Entrant], games: int, max_reruns: int, time_limit: float | None) -> None:
    """InvalidParameter for a match that cannot be."""
    sides = len(set(game.teams))
    if sides < 2:
        raise InvalidParameter(f"nobody plays against anybody in {game.id}")
    if not 2 <= len(players) <= sides:
        allowed = "2" if sides == 2 else f"2 to {sides}"
        raise InvalidParameter(f"{len(players)} players were given; {game.id} has {sides} sides; allowed: {allowed} players")
    if not _says_who_won(game) and not any(objective.zero_sum for objective in game.objectives):
        raise InvalidParameter(f"nobody wins in {game.id}: its infos name no winners, and it has no objective that is zero-sum")
    if games < 1 or max_reruns < 0:
        raise InvalidParameter(f"games={games!r}, max_reruns={max_reruns!r} are not possible; allowed: 1 or more, 0 or more")
    if time_limit is not None and time_limit <= 0:
        raise InvalidParameter(f"invalid time_limit={time_limit!r}: expected milliseconds above 0, or None")


def seats_of(game: Game, players: int, bout: int) -> tuple[int, ...]:
    """For each agent the player that has its side in this bout: players move on by one side from bout to bout."""
    sides = sorted(set(game.teams))
    return tuple((sides.index(team) + bout) % players for team in game.teams)


def collapsing(game: Game) -> Game:
    """The game with walls that close in; the game itself where it has none, has them anyway or is too short."""
    if "first_collapse" not in game.params or game.params["first_collapse"] is not None:
        return game
    steps = game.params["max_steps"]
    first = min(int(SHARE_BEFORE_COLLAPSE * steps), steps - RINGS)
    if first < 1:
        return game
    return game.factory(game.id, **{**registry.find_entry(game.id).fixed, **game.params, "first_collapse": first})


def winners(game: Game, state: State, returns: NDArray[np.float64]) -> tuple[int, ...]:
    """The agents that have won a game that is over, by index: as its infos say, or who has most of what is zero-sum."""
    if game.infos is not None and _says_who_won(game):
        return tuple(game.agents.index(name) for name in game.infos(state)["winners"])
    column = next(k for k, objective in enumerate(game.objectives) if objective.zero_sum)
    best = returns[:, column].max()
    won = np.flatnonzero(returns[:, column] == best)
    return tuple(won.tolist()) if len(won) < len(game.agents) else ()


def _says_who_won(game: Game) -> bool:
    return game.infos is not None and "winners" in game.infos(game.start()[0])


# ------------------------------------------------------------------------------------------------------------- playing


def _bouts(
    game: Game,
    chairs: Sequence[_Chair],
    numbers: range,
    seed: int,
    max_reruns: int,
    tell: Callable[[int], None] | None,
) -> list[Bout]:
    """Bouts by number, each with the reruns that it needs."""
    seats = {bout: seats_of(game, len(chairs), bout) for bout in numbers}
    played: dict[int, list[Played]] = {bout: [] for bout in numbers}
    due = list(numbers)
    over = numbers.start
    for attempt in range(max_reruns + 1):
        stage = (FIRST, RERUN)[attempt] if attempt < 2 else COLLAPSE
        now = game if attempt < 2 else collapsing(game)
        tied = []
        for bout, one in _games(now, chairs, [(bout, seats[bout]) for bout in due], seed, attempt, stage):
            played[bout].append(one)
            if one.winners or attempt == max_reruns:
                over += 1
                if tell is not None:
                    tell(over)
            else:
                tied.append(bout)
        due = tied
        if not due:
            break
    return [Bout(seats[bout], tuple(played[bout])) for bout in numbers]


def _games(
    game: Game,
    chairs: Sequence[_Chair],
    due: Sequence[tuple[int, tuple[int, ...]]],
    seed: int,
    attempt: int,
    stage: str,
) -> Iterator[tuple[int, Played]]:
    """Play a game for each bout of (number, seats)."""
    deals = [_word(seed, DEALS, bout // len(chairs) if attempt == 0 else bout, attempt) for bout, _ in due]
    kernels = [chair.kernel for chair in chairs]
    if all(kernel is not None for kernel in kernels):
        lots = np.array([_words(seed, LOTS, bout, attempt, count=len(game.agents)) for bout, _ in due])
        seats = np.array([row for _, row in due])
        yield from zip(
            [bout for bout, _ in due],
            _side_by_side(game, [k for k in kernels if k], seats, np.array(deals, np.uint64), lots, stage),
            strict=True,
        )
        return
    for (bout, row), deal in zip(due, deals, strict=True):
        luck = np.random.SeedSequence([seed, LOTS, bout, attempt])
        taken = [chairs[player](game, agent) for agent, player in enumerate(row)]
        play, steps = play_one(game, taken, deal, [np.random.default_rng(child) for child in luck.spawn(len(row))])
        late = tuple(seat.late for seat in taken)
        yield bout, Played(stage, deal, steps, play.returns.copy(), winners(game, play.state, play.returns), late)


def _side_by_side(
    game: Game,
    kernels: Sequence[Compiled],
    seats: NDArray[np.int64],
    deals: NDArray[np.uint64],
    lots: NDArray[np.uint64],
    stage: str,
) -> Iterator[Played]:
    """Games in a batch, seats int64[N, A], deals uint64[N] and lots uint64[N, A]."""
    played = play_kernels(game, dealt(game, deals), kernels, seats, lots)
    for i, seed in enumerate(deals.tolist()):
        returns = played.returns[i].copy()
        won = winners(game, played.states[i], returns)
        yield Played(stage, seed, int(played.lengths[i]), returns, won, (0,) * len(game.agents))


def _words(seed: int, *purpose: int, count: int) -> NDArray[np.uint64]:
    return np.random.SeedSequence([seed, *purpose]).generate_state(count, np.uint64).astype(np.uint64)


def _word(seed: int, *purpose: int) -> int:
    return int(_words(seed, *purpose, count=1)[0] >> np.uint64(1))


# ------------------------------------------------------------------------------------------------------------- players


class _Chair:
    """A player, ready to take any seat.

    kernel   the policy as a kernel, if it is built in and has this form
    """

    def __init__(self, entrant: Entrant, game: Game, time_limit: float | None) -> None:
        self._time_limit = time_limit
        self._name = entrant if isinstance(entrant, str) and not is_outside(entrant) else None
        self.kernel: Compiled | None = None
        if self._name is not None:
            if not is_policy(self._name):
                raise UnknownId(
                    f"no policy {self._name!r}; there are {one_of(POLICIES)}, checkpoints of training (.npz), and "
                    "Python as 'module:function'"
                    f"{nearest(self._name, POLICIES)}"
                )
            self.kernel = compiled(self._name, game)
            policy(self._name, game, 0)  # refuses games that it cannot play
        else:
            self._python = _callable(entrant) if isinstance(entrant, str) else entrant

    def __call__(self, game: Game, agent: int) -> Seat:
        if self._name is not None:
            return Seat(policy(self._name, game, agent))
        made = self._python(game, agent) if isinstance(self._python, type) else self._python
        return PythonSeat(made, self._time_limit)


def _callable(path: str) -> Callable[..., Any]:
    """What "module:name" names, or UnknownId."""
    value: Callable[..., Any] = found(path)
    if not callable(value):
        raise UnknownId(f"{path!r} is no function and no class")
    return value


def _labels(players: Sequence[Entrant]) -> Iterator[str]:
    """Names of players, numbered where one comes more than once."""
    seen: dict[str, int] = {}
    for player in players:
        name = player if isinstance(player, str) else getattr(player, "__name__", type(player).__name__)
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


def _id_and_params(game: Game) -> tuple[str, Any]:
    return game.id, game.params
