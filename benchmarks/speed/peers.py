"""The games that are measured, ours and momaland's."""

from __future__ import annotations

import warnings
from typing import Any

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "SameGame 15x15x5": ("mo-samegame-v0", {}),
    "Breakthrough 8x8": ("mo-breakthrough-v0", {}),
    "Breakthrough 20x20": ("mo-breakthrough-v0", {"board_width": 20, "board_height": 20}),
    "Connect4 7x6": ("mo-connect4-v0", {}),
    "ItemGathering 8x8": ("mo-item-gathering-v0", {}),
    "Ingenious, 2 agents": ("mo-ingenious-v0", {}),
    "Beach, 100 agents": ("mo-beach-v0", {}),
    "GemMining, 20 agents": ("mo-gem-mining-v0", {}),
    "RouteChoice, 100 agents": ("mo-route-choice-v0", {"num_agents": 100}),
}
# times momaland
REQUIRED_BATCH = {
    "SameGame 15x15x5": 3000,
    "Breakthrough 8x8": 1000,
    "Breakthrough 20x20": 400,
    "Connect4 7x6": 300,
    "ItemGathering 8x8": 300,
    "Ingenious, 2 agents": 300,
    "Beach, 100 agents": 300,
}
REQUIRED_AEC = {"SameGame 15x15x5": 100, "Breakthrough 8x8": 10}


def momaland_env(case: str) -> Any:
    """The environment of momaland 0.2.0, AEC, but Parallel where AEC has a call for each of many agents.

    None without it, and for games that do not run there.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from momaland.envs.beach import mobeach_v0
            from momaland.envs.breakthrough import mobreakthrough_v0
            from momaland.envs.connect4 import moconnect4_v0
            from momaland.envs.ingenious import moingenious_v0
            from momaland.envs.item_gathering import moitem_gathering_v0
            from momaland.envs.samegame import mosame_game_v0
        except ImportError:
            return None
    id, params = CASES[case]
    if id == "mo-beach-v0":
        return mobeach_v0.parallel_env(**params)
    modules = {
        "mo-samegame-v0": mosame_game_v0,
        "mo-breakthrough-v0": mobreakthrough_v0,
        "mo-connect4-v0": moconnect4_v0,
        "mo-item-gathering-v0": moitem_gathering_v0,
        "mo-ingenious-v0": moingenious_v0,
    }
    return modules[id].env(**params) if id in modules else None
