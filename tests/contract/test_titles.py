"""Names of games for headings."""

import pytest

import momagames
from momagames.contract.titles import describe_game
from momagames.games.tileblast.levels.generator import generate


@pytest.mark.parametrize("id", momagames.ids())
def test_every_id_has_a_name_of_its_own(id):
    others = {describe_game(momagames.spec(other)) for other in momagames.ids() if other not in (id, *ALIKE.get(id, ()))}
    assert describe_game(momagames.spec(id)) not in others


ALIKE = {"mo-robotmail-v0": ("mo-robotmail-2-v0",), "mo-robotmail-2-v0": ("mo-robotmail-v0",)}


@pytest.mark.parametrize(
    ("id", "params", "expected"),
    [
        ("mo-samegame-v0", {}, "MO-SameGame 15x15, 5 colors"),
        ("mo-samegame-v0", {"board_width": 5, "num_agents": 2, "team_rewards": True},
         "MO-SameGame 5x15, 5 colors, num agents 2, team rewards on"),
        ("mo-breakthrough-v0", {"objectives": ("win", "captures", "losses")}, "MO-Breakthrough 8x8: win, captures and losses"),
        ("mo-breakthrough-v0", {"num_objectives": 2}, "MO-Breakthrough 8x8: win and speed"),
        ("mo-pommerman-team-v0", {"objectives": ["kills", "bombs"]}, "MO-Pommerman team: kills and bombs"),
        ("mo-robotmail-12-v0", {}, "MO-RoboticMail 12 robots"),
        ("mo-robotmail-4-v0", {"layout": "ring"}, "MO-RoboticMail 4 robots, layout ring"),
        ("mo-tileblast-goals-v0", {"level": 3}, "MO-TileBlast goals, level 3"),
        ("mo-tileblast-v0", {"level": generate(7)}, 'MO-TileBlast level "Generated 7"'),
    ],
)  # fmt: skip
def test_names(id, params, expected):
    assert describe_game(momagames.spec(id, **params)) == expected
