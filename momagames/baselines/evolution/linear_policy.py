"""A compact linear policy for every game: as a kernel with its numbers in its memory, for methods that look for good ones.

Where agents take turns, an action is one number and everything is seen, it plays each legal action on a copy of the game and
takes the one after which a weighted sum is highest: of the agent's rewards, whether the game is over, and what the agent
then sees (see `linear_sight`). The copy has luck of its own, so that it does not tell what the game will draw. Elsewhere each
value of each part of an action has a sum of its own over what the agent sees now, and a constant. Ties are broken by lot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.evolution.linear_features import Sight
from momagames.baselines.evolution.linear_kernels import ahead_act, look, now_act
from momagames.baselines.observation_layout import room
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.playouts import KERNEL, buffers, looks_ahead
from momagames.engine.policies import Compiled, Member
from momagames.errors import InvalidParameter
from momagames.kernels.rng import stream

SAMPLED, PLIES = 64, 100  # games of random play by which numbers are brought to one scale, and their length
MAX_NUMBERS = 8192
FEWEST = 32  # numbers in a memory, so that most games share compiled code


class LinearPolicy:
    """The linear policies of a game.

    rows     for each agent which row of the numbers it plays by; agents with equal ones are of one mind
    size     numbers in a row
    """

    def __init__(self, game: Game, rows: Sequence[int]) -> None:
        self.game, self.rows = game, np.array(rows, np.int64)
        self.sight = Sight(game)
        self.ahead = is_ahead(game)
        goals = len(game.objectives)
        self.size = goals + 1 + self.sight.count if self.ahead else game.mask_size * (1 + self.sight.count)
        if self.rows.shape != (len(game.agents),) or self.rows.min() < 0:
            raise InvalidParameter(f"invalid rows={rows!r}: expected {len(game.agents)} numbers, 0 or more")
        self.minds = int(self.rows.max()) + 1
        if self.minds * self.size > MAX_NUMBERS:
            raise InvalidParameter(
                f"a linear policy of {game.id} has {self.minds * self.size} numbers; allowed: at most {MAX_NUMBERS}"
            )
        held = max(FEWEST, 1 << (self.minds * self.size - 1).bit_length())
        self.memory = np.dtype([("numbers", "f8", (held,)), ("looked", "i8")])

    def kernel(self, numbers: NDArray[np.float64] | None = None) -> Compiled:
        """The policy with these numbers, float64[minds, size]; without: one whose memory somebody else fills."""
        name, make = ("linear.ahead", ahead_act) if self.ahead else ("linear.now", now_act)
        begins = () if numbers is None else (("numbers", tuple(self.begun(numbers[None])["numbers"][0].tolist())),)
        return Compiled(name, make(self.game), self.memory, (self.game.rules_key,), begins, self._scratch)

    def begun(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        """Memories, record[n], when a game begins, of policies with numbers float64[n, minds, size]."""
        memories = np.zeros(len(numbers), self.memory)
        memories["numbers"][:, : self.minds * self.size] = numbers.reshape(len(numbers), -1)
        return memories

    def member(self, label: str, numbers: NDArray[np.float64]) -> Member:
        """One of them, as it plays and as it is stored."""
        goals = len(self.game.objectives)
        return Member(
            label, KERNEL, (0.0,) * goals, self.kernel(numbers), {"numbers": numbers.copy(), "rows": self.rows.copy()}
        )

    def _scratch(self, game: Game) -> tuple[Any, ...]:
        return (
            self.rows, self.sight.pieces, np.zeros(self.sight.count), room(game), np.array([self.size]),
            np.zeros(1, game.dtype), np.zeros(game.mask_size, np.int8), *buffers(game),
        )  # fmt: skip

    def scale(self, seed: int, budget: int) -> tuple[NDArray[np.float64], int]:
        """What a number of a row is to be divided by, float64[size], and the steps that it took to find out.

        By random play: for looking ahead the root mean square of what a step changes, else the deviation
        """
        game = self.game
        batch = Batch(game, SAMPLED)
        batch.seed(seed)
        batch.reset()
        words = stream(seed, SAMPLED)
        plies = max(2, min(PLIES, budget // SAMPLED))
        seen, paid, fresh = [], [], []
        for _ in range(plies):
            batch.step(batch.choose(words))
            seen.append(self.seen(batch.states))
            paid.append(batch.rewards.copy())
            fresh.append(batch.lengths == 0)
        steps = plies * SAMPLED
        if not self.ahead:
            spread = np.concatenate(seen).reshape(-1, self.sight.count).std(axis=0)
            return np.tile([1.0, *np.where(spread > 0, spread, 1.0)], game.mask_size), steps
        same = ~np.array(fresh)[1:]
        changes = (np.array(seen)[1:] - np.array(seen)[:-1])[same]
        rows: list[NDArray[Any]] = [np.array(paid).reshape(-1, len(game.objectives)), changes.reshape(-1, self.sight.count)]
        found = np.concatenate([np.sqrt((row**2).sum(axis=0) / max(1, len(row))) for row in rows])
        found = np.insert(np.where(found > 0, found, 1.0), len(game.objectives), 1.0)
        return found, steps

    def seen(self, states: NDArray[Any]) -> NDArray[np.float64]:
        """What each agent sees in each of the states record[N], float64[N, A, count]."""
        out = np.zeros((len(states), len(self.game.agents), self.sight.count))
        look(self.game)(states, self.sight.pieces, room(self.game), out)
        return out


def is_ahead(game: Game) -> bool:
    """Whether a linear policy plays the actions of this game on a copy."""
    return looks_ahead(game) and game.information == "perfect"
