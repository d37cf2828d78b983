"""The methods of `momagames train`, and the choice among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from momagames.errors import InvalidParameter, MissingExtra, invalid_value, nearest, one_of
from momagames.plugins import load_object

if TYPE_CHECKING:
    from momagames.baselines.trainer import TrainerMethod
    from momagames.contract import Game

# name -> "module:class" of a method with a trainer, in the order of preference
LEARNERS = {
    "ntuple": "momagames.baselines.ntuple.method:Ntuple",
    "grpo": "momagames.baselines.candidates.grpo:Grpo",
    "cross_entropy": "momagames.baselines.candidates.cross_entropy:CrossEntropy",
    "beam_estimate": "momagames.baselines.search.beam_estimate:BeamEstimate",
    "bandit_joint": "momagames.baselines.bandits.method:BanditJoint",
    "bandit_ucb": "momagames.baselines.bandits.method:BanditUcb",
    "bandit_gradient": "momagames.baselines.bandits.method:BanditGradient",
    "moppo": "momagames.baselines.moppo.method:Moppo",
}


def find_learner(name: str) -> type[TrainerMethod]:
    """Return a method with a trainer by name, or raise InvalidParameter."""
    if name not in LEARNERS:
        raise InvalidParameter(invalid_value("method", name, one_of(LEARNERS), nearest(name, LEARNERS)))
    found: type[TrainerMethod] = load_object(LEARNERS[name])
    return found


def choose_learner(game: Game) -> type[TrainerMethod]:
    """Return the first method of LEARNERS that supports the game with its default options, and whose package is installed.

    Methods that need opponents are chosen for one team only. Raises InvalidParameter, or MissingExtra, if there is none.
    """
    reason: InvalidParameter | MissingExtra | None = None
    for name in LEARNERS:
        found = find_learner(name)
        if len(set(game.teams)) > 1 and not found.plays_itself:
            continue
        try:
            made = found(**found.default_options(game))
            made.check_train(game)
            made.check_installed()
        except (InvalidParameter, MissingExtra) as error:
            reason = error
        else:
            return found
    assert reason is not None
    raise reason
