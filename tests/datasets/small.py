"""The smallest recipe with one agent, two sides, agents that move at once, hidden information, and preferences."""

import json

GEMWALK = {"id": "mo-gemwalk-v0", "params": {"board_width": 4, "board_height": 5}}
SAMEGAME = {"id": "mo-samegame-v0", "params": {"board_width": 4, "board_height": 5, "num_colors": 2}}
BREAKTHROUGH = {"id": "mo-breakthrough-v0", "params": {"board_width": 5, "board_height": 6}}
RADIO = {"id": "mo-pommerman-radio-v0", "params": {}}
ROBOTS = {"id": "mo-robotmail-v0", "params": {}}
RANDOM, GREEDY = {"name": "random", "options": {}}, {"name": "greedy", "options": {"divisions": 1}}


def part(tier, game, methods=(RANDOM,), episodes=25):
    return {"tier": tier, "game": game, "episodes": episodes, "methods": list(methods)}


def recipe(*parts, **changes):
    parts = parts or (part("random", GEMWALK), part("medium", GEMWALK, [GREEDY]))
    head = {"name": "small", "description": "Small.", "license": "CC0-1.0", "seed": 7, "shard_episodes": 10}
    return json.loads(json.dumps({**head, "parts": list(parts), **changes}))  # no part is shared
