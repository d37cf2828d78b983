"""Stored scorers of candidate actions by name."""

from __future__ import annotations

from pathlib import Path

from momagames.baselines import CHECKPOINT
from momagames.baselines.candidates.policy import Scorer
from momagames.baselines.checkpoint import load_checkpoint
from momagames.baselines.checkpoint_policy import list_champions
from momagames.contract import Game
from momagames.errors import InvalidFile, InvalidParameter, invalid_value

CHAMPION = "champion"


def load_scorer(game: Game, name: str) -> Scorer:
    """Return the scorer of the champion of the game, or of the checkpoint of training at a path.

    Raises InvalidParameter if there is none that fits the game; InvalidFile if the file cannot be read
    """
    expected = f"{CHAMPION!r}, or the checkpoint ({CHECKPOINT}) of a training by cross_entropy or grpo for this game"
    if name != CHAMPION and not name.endswith(CHECKPOINT):
        raise InvalidParameter(f"{game.id}: {invalid_value('bias', name, expected)}")
    for checkpoint in list_champions(game) if name == CHAMPION else [load_checkpoint(Path(name))]:
        try:
            policies = checkpoint.make_policies(game)
        except InvalidFile:
            continue
        if isinstance(policies, Scorer):
            return policies
    raise InvalidParameter(f"{game.id}: {invalid_value('bias', name, expected)}")
