"""The compiled game with the interface of `naive.Naive`, so that one set of checks serves both."""

import numpy as np

from momagames.contract import check_parameters
from momagames.engine.episode import Episode
from momagames.games import tileblast
from momagames.games.tileblast.infos import build_infos
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.rules.rewards import COMPONENTS

GAMES = {}


def make(level, strict_moves=True, max_taps=None, **params):
    """Return the game of a level with every objective; the level need not pass the linter."""
    key = (repr(level), strict_moves, max_taps, *params.items())
    if key not in GAMES:
        given = {"strict_moves": strict_moves, "max_taps": max_taps, **params}
        checked = check_parameters("mo-tileblast-v0", tileblast.PARAMETERS, given)
        loaded = loader.load(level, check=False)
        GAMES[key] = tileblast.build_game("mo-tileblast-v0", "general", loaded, checked, COMPONENTS)
    return GAMES[key]


class CompiledTileBlast:
    """One game, played by the compiled rules."""

    COUNTERS = ("moves", "taps", "invalid_taps", "score", "shuffles", "draws", "collected", "fed")

    def __init__(self, level, seed, strict_moves=True, max_taps=None):
        self.play = Episode(make(level, strict_moves, max_taps))
        self.play.reset(seed)

    @classmethod
    def from_position(cls, level, position, strict_moves=True, max_taps=None):
        self = cls(level, 0, strict_moves, max_taps)
        given = {key: position[key] for key in ("pieces", "covers", "rng")}
        self.play.load({**given, **{name: position["counters"][name] for name in cls.COUNTERS}})
        return self

    def copy(self):
        twin = object.__new__(CompiledTileBlast)
        twin.play = Episode(self.play.game)
        twin.play.states[:] = self.play.states
        twin.play._observe()
        return twin

    def valid(self):
        return np.flatnonzero(self.play.masks[0]).tolist()

    def tap(self, a):
        before = [getattr(self, name) for name in ("score", "shuffles", "draws")]
        self.play.step(a)
        infos, state = build_infos(self.play.state), self.play.state
        event = {
            name: infos[name] for name in ("valid", "hits", "cluster", "created", "used", "collected", "won", "lost", "dead")
        }
        event |= {"combo": int(infos["combo"]), "colors": state["cleared"].tolist(), "truncated": bool(state["truncated"])}
        for name, value in zip(("score", "shuffles", "draws"), before, strict=True):
            event[name] = getattr(self, name) - value
        return event

    def board(self, channels=24):
        if channels == 24:
            return self.play.observations[0].tolist()
        wide = Episode(tileblast.game("mo-tileblast-v0", "general", channels=channels))
        wide.states[:] = self.play.states
        wide.states["channels"] = channels
        wide._observe()
        return wide.observations[0][: channels * 117].tolist()

    def remaining(self):
        return build_infos(self.play.state)["goals_remaining"]

    def rewards(self, event):
        return dict(zip(COMPONENTS, self.play.reward[0].astype(int).tolist(), strict=True))

    def snapshot(self):
        saved = self.play.game.codec.save(self.play.state)
        ended = {name: said for name, said in build_infos(self.play.state).items() if name in ("won", "dead", "lost")}
        return {
            "pieces": saved["pieces"],
            "covers": saved["covers"],
            "counters": {name: saved[name] for name in self.COUNTERS} | ended,
            "rng": saved["rng"],
        }

    def __getattr__(self, name):
        if name in ("moves", "taps", "invalid_taps", "score", "shuffles", "draws"):
            return int(self.play.state[name])
        if name == "rng":
            return int(self.play.state["rng"])
        raise AttributeError(name)
