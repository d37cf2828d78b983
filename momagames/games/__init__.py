"""The games, and the only list of them. Strings, so that importing momagames imports no game and no compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Factory of a game: "module:function", called with the id and the parameters; the id sets the `fixed` ones."""

    factory: str
    fixed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Command:
    """Commands of a game.

    app     "module:attribute" of a `typer.Typer`, imported when one of its commands is called
    help    one line for `momagames --help`
    """

    app: str
    help: str


VERSIONS: dict[str, Entry] = {
    "mo-samegame-v0": Entry("momagames.games.samegame:game"),
    "mo-breakthrough-v0": Entry("momagames.games.breakthrough:game"),
    "mo-pommerman-ffa-v0": Entry("momagames.games.pommerman:game", {"variant": "ffa"}),
    "mo-pommerman-ffa-collapse-v0": Entry("momagames.games.pommerman:game", {"variant": "ffa-collapse"}),
    "mo-pommerman-team-v0": Entry("momagames.games.pommerman:game", {"variant": "team"}),
    "mo-pommerman-team-full-v0": Entry("momagames.games.pommerman:game", {"variant": "team-full"}),
    "mo-pommerman-team-collapse-v0": Entry("momagames.games.pommerman:game", {"variant": "team-collapse"}),
    "mo-pommerman-radio-v0": Entry("momagames.games.pommerman:game", {"variant": "radio"}),
    "mo-pommerman-duel-v0": Entry("momagames.games.pommerman:game", {"variant": "duel"}),
    "mo-tileblast-v0": Entry("momagames.games.tileblast:game", {"variant": "general"}),
    "mo-tileblast-goals-v0": Entry("momagames.games.tileblast:game", {"variant": "goals"}),
    "mo-tileblast-playtest-v0": Entry("momagames.games.tileblast:game", {"variant": "playtest"}),
    "mo-tileblast-colors-v0": Entry("momagames.games.tileblast:game", {"variant": "colors"}),
    "mo-robotmail-v0": Entry("momagames.games.robotmail:game", {"variant": "any"}),
    "mo-robotmail-2-v0": Entry("momagames.games.robotmail:game", {"variant": "2"}),
    "mo-robotmail-4-v0": Entry("momagames.games.robotmail:game", {"variant": "4"}),
    "mo-robotmail-6-v0": Entry("momagames.games.robotmail:game", {"variant": "6"}),
    "mo-robotmail-12-v0": Entry("momagames.games.robotmail:game", {"variant": "12"}),
    "mo-connect4-v0": Entry("momagames.games.connect4:game"),
    "mo-beach-v0": Entry("momagames.games.beach:game"),
    "mo-gem-mining-v0": Entry("momagames.games.gem_mining:game"),
    "mo-item-gathering-v0": Entry("momagames.games.item_gathering:game"),
    "mo-ingenious-v0": Entry("momagames.games.ingenious:game"),
    "mo-route-choice-v0": Entry("momagames.games.route_choice:game"),
    "mo-gemwalk-v0": Entry("momagames.games.gemwalk:game"),
}

# Retired ids: id -> the id that replaces it.
RETIRED: dict[str, str] = {}

# The reference game is for tests, documentation and examples. The benchmark consists of the other ids.
REFERENCE = "mo-gemwalk-v0"
CROWD = "mo-beach-v0"  # of interchangeable agents, for examples
BENCHMARK = tuple(id for id in VERSIONS if id != REFERENCE)

# `momagames NAME ...`
COMMANDS: dict[str, Command] = {
    "layout": Command("momagames.games.robotmail.cli:layout", "Check, show and make layouts of MO-RoboticMail."),
    "level": Command("momagames.games.tileblast.cli.levels:level", "Check, show and make levels of MO-TileBlast."),
    "serve": Command("momagames.games.tileblast.cli.serve:serve", "Serve a game over HTTP."),
}

# Gymnasium ids in the namespace momagames/ that are no games of their own -> "module:class"
GYMNASIUM_IDS: dict[str, str] = {"tap-to-blast-v0": "momagames.games.tileblast.original:TapToBlastEnv"}

# Modules of MOMAland -> ids, see `momagames.envs`.
MODULE_ALIASES = {
    "samegame.mosame_game_v0": "mo-samegame-v0",
    "breakthrough.mobreakthrough_v0": "mo-breakthrough-v0",
    "connect4.moconnect4_v0": "mo-connect4-v0",
    "beach.mobeach_v0": "mo-beach-v0",
    "gem_mining.mogem_mining_v0": "mo-gem-mining-v0",
    "item_gathering.moitem_gathering_v0": "mo-item-gathering-v0",
    "ingenious.moingenious_v0": "mo-ingenious-v0",
    "route_choice.moroute_choice_v0": "mo-route-choice-v0",
}

# Arguments of these modules that have another name here; None: they have no effect.
MODULE_ARGUMENTS: dict[str, dict[str, str | None]] = {
    "mo-gem-mining-v0": {"seed": "instance_seed", "num_timesteps": None},
    "mo-ingenious-v0": {"fully_obs": "fully_observable"},
    "mo-route-choice-v0": {"problem_name": "network", "num_timesteps": None},
}
