"""Features of a candidate action: numbers about one step on a copy of the position.

Vectors with an entry for each objective: the reward of the step, and the changes of the features that the game declares
(`ObjectiveFeatures`), by default its heuristics `present` and `optimistic`. Each is contracted within every set of exchangeable
objectives (`ObjectiveFeatures.exchangeable_objectives`; other objectives are sets of their own) in two ways: weighted by the
weights of the objectives, and summed. So the features of a set do not depend on the order of its objectives. Then the weights
of the objectives that the step rewards, the change of the number of distinct actions, and whether the episode is over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.lookahead import supports_lookahead
from momagames.errors import InvalidParameter, invalid_value


class CandidateFeatures:
    """The features of the candidate actions of a game.

    sets     int64[K], the set of exchangeable objectives of each objective
    extra    whether the game's extra features are among them (`ObjectiveFeatures.extra_names`)
    vectors  names of the vectors besides the reward: the game's features for each objective
    titles   of the sets
    names    of the features
    Raises   InvalidParameter for a game without look-ahead, or with hidden information; for `extra`, if it has none
    """

    def __init__(self, game: Game, extra: bool = False) -> None:
        check_candidates(game)
        own = game.learning.objective_features
        if extra and not (own and own.extra_names):
            raise InvalidParameter(invalid_value(f"{game.id}: extra_features", extra, "False, because the game declares none"))
        self.sets = number_sets(game)
        heuristics = tuple(name for name in ("present", "optimistic") if getattr(game.search, name) is not None)
        self.vectors = (own.names + own.extra_names if extra else own.names) if own else heuristics
        titles = []
        for number in range(int(self.sets.max()) + 1):
            members = [one.name for one, own in zip(game.objectives, self.sets, strict=True) if own == number]
            titles.append(members[0] if len(members) == 1 else f"{members[0]}..{members[-1]}")
        self.titles, hows = tuple(titles), (" weighted", "")
        names = [f"reward {title}{how}" for title in titles for how in hows]
        names += [f"weight {title}" for title in titles]
        names += [f"change of {vector} {title}{how}" for vector in self.vectors for title in titles for how in hows]
        names += ["change of actions", "over"]
        self.names = tuple(names)

    @property
    def count(self) -> int:
        return len(self.names)


def number_sets(game: Game) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of the set of exchangeable objectives of each objective, int64[K], from 0."""
    leaders, features = list(range(len(game.objectives))), game.learning.objective_features
    for members in features.exchangeable_objectives if features else ():
        for k in members:
            leaders[k] = min(members)
    order = list(dict.fromkeys(leaders))
    return np.array([order.index(leader) for leader in leaders], np.int64)


def check_candidates(game: Game) -> None:
    """Raise InvalidParameter unless agents move in turn, an action is one number, and nothing is hidden."""
    if not supports_lookahead(game):
        raise InvalidParameter(
            f"{game.id}: candidate actions need a sequential game with discrete actions and perfect information; it is "
            f"{game.dynamics} with actions {game.actions} and {game.information} information"
        )


def root_mean_square(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the scale of each column of rows [R, F], float64[F]: the root mean square; 1 for 0."""
    return root_or_one(np.square(rows.astype(np.float64)).mean(axis=0))


def root_or_one(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the square roots; 1 for 0."""
    return np.where(squares > 0, np.sqrt(squares), 1.0)
