"""The pictures of the games in docs/_static: content and pages of each. make_pictures.py draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import momagames

WHOLE = range(100_000)  # all positions of a game


@dataclass(frozen=True)
class Picture:
    """A position of a game between policies, or several as an animation.

    file             in docs/_static: .png, or .gif for an animation
    text             alternative text and caption
    id               id of the environment
    policies         names of policies, by agent
    steps            number of steps before the position, or a range of them
    pages            ids on whose pages it stands
    params           parameters of the environment
    render_options   render options
    seed             random seed of the start position and of the policies
    weights          of the objectives for the first policy; none: its own
    is_board         the cells of the board alone, on a transparent square
    """

    file: str
    text: str
    id: str
    policies: tuple[str, ...]
    steps: int | range
    pages: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    render_options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 4
    weights: tuple[float, ...] = ()
    is_board: bool = False


@dataclass(frozen=True)
class Legend:
    """A legend of the cells of a game; the fields are those of `Picture`."""

    file: str
    text: str
    pages: tuple[str, ...]


GEM_MINING = "mo-gem-mining-v0"
SAMEGAME, BREAKTHROUGH, CONNECT4 = "mo-samegame-v0", "mo-breakthrough-v0", "mo-connect4-v0"
INGENIOUS = "mo-ingenious-v0"
BEACH = "mo-beach-v0"
ROUTE_CHOICE = "mo-route-choice-v0"
FFA, FFA_COLLAPSE = "mo-pommerman-ffa-v0", "mo-pommerman-ffa-collapse-v0"
TEAM, TEAM_FULL, TEAM_COLLAPSE = "mo-pommerman-team-v0", "mo-pommerman-team-full-v0", "mo-pommerman-team-collapse-v0"
RADIO, DUEL = "mo-pommerman-radio-v0", "mo-pommerman-duel-v0"
POMMERMAN = (FFA, FFA_COLLAPSE, TEAM, TEAM_FULL, TEAM_COLLAPSE, RADIO, DUEL)
TILEBLAST, TILEBLAST_GOALS = "mo-tileblast-v0", "mo-tileblast-goals-v0"
TILEBLAST_TEST, TILEBLAST_COLORS = "mo-tileblast-playtest-v0", "mo-tileblast-colors-v0"
GATHERING = "mo-item-gathering-v0"
ROBOTMAIL = "mo-robotmail-v0"
ROBOTMAILS = (ROBOTMAIL, *(f"mo-robotmail-{robots}-v0" for robots in (2, 4, 6, 12)))
ASTAR = ("astar",)
SIMPLE, CHATTER = ("simple",) * 4, ("random", "simple", "random", "simple")
SHORT = {"max_steps": 160}  # the first ring falls after 100 steps
FOGGED = "The observation of agent_0: without distant cells, owners of bombs and items of other agents"


def show_ends(
    name: str,
    id: str,
    params: Mapping[str, Any],
    objectives: tuple[int, int],
    others: tuple[str, ...] = (),
    steps: range = WHOLE,
) -> tuple[Picture, Picture]:
    """Return games of the trained policy with all weight on one objective, and on another one, given by their indices."""
    names = [one.name for one in momagames.spec(id, **params).objectives]
    policies = ("champion", *others)
    first, second = (
        Picture(
            f"{name}-{names[k]}.gif", f"All weight on {names[k]}", id, policies, steps, (), params,
            weights=tuple(float(i == k) for i in range(len(names))),
        )
        for k in objectives
    )  # fmt: skip
    return first, second


# Games from both ends of the front of a trained policy, in a setting of the main track for each family
ENDS = (
    show_ends("samegame", SAMEGAME, {"board_width": 7, "board_height": 7, "num_colors": 4}, (0, 3)),
    show_ends("breakthrough", BREAKTHROUGH, {"board_width": 6, "board_height": 6, "objectives": ("win", "captures", "losses")},
              (1, 2), ("greedy",)),
    show_ends("pommerman", DUEL, {"objectives": ("kicks", "bombs"), "max_steps": 200}, (0, 1), ("safe:simple",), range(10, 60)),
    show_ends("tileblast", TILEBLAST, {"level": 4, "objectives": ("goals", "move", "score")}, (1, 2)),
    show_ends("robotmail", ROBOTMAILS[1], {"objectives": ("delivery", "energy", "blocked")}, (0, 1), ASTAR, range(70)),
)  # fmt: skip
# Of each family, the moving board of README.md and of the first page
BOARDS = (
    Picture("samegame-board.gif", "MO-SameGame", SAMEGAME, ("greedy",), WHOLE, (),
            {"board_width": 8, "board_height": 8, "num_colors": 4}, is_board=True),
    Picture("breakthrough-board.gif", "MO-Breakthrough", BREAKTHROUGH, ("greedy", "random"), WHOLE, (),
            {"board_width": 6, "board_height": 6}, is_board=True),
    Picture("connect4-board.gif", "MO-Connect4", CONNECT4, ("alphabeta", "safe:random"), WHOLE, (), is_board=True),
    Picture("pommerman-board.gif", "MO-Pommerman", FFA, SIMPLE, range(24, 46), (), seed=1, is_board=True),
    Picture("tileblast-board.gif", "MO-TileBlast", TILEBLAST, ("greedy",), WHOLE, (), {"level": 2}, is_board=True),
    Picture("robotmail-board.gif", "MO-RoboticMail", ROBOTMAILS[2], ASTAR * 4, range(60, 100), (), is_board=True),
)  # fmt: skip
# In the order of a page, after its animations
PICTURES: tuple[Picture | Legend, ...] = (
    *BOARDS,
    Legend("trade-off.png", "Policies of one network between speed and captures", ()),
    Legend("report.png", "The report of the benchmark `quick`", ()),
    Legend("training.png", "Curves of a training", ()),
    Legend("bandits.png", "Regret of bandits in MO-GemMining", ()),
    Legend("front.png", "What the policies of one network cover in MO-Breakthrough, and the best of them alone", ()),
    Picture("samegame.gif", "A game of a greedy agent, move by move", SAMEGAME, ("greedy",), WHOLE, (SAMEGAME,),
            {"board_width": 8, "board_height": 6, "num_colors": 4}),
    Picture("samegame.png", "A position of two agents", SAMEGAME, ("greedy", "greedy"), 12, (SAMEGAME,), {"num_agents": 2}),
    Picture("breakthrough.gif", "A greedy against a random agent, move by move", BREAKTHROUGH, ("greedy", "random"), WHOLE,
            (BREAKTHROUGH,), {"board_width": 5, "board_height": 6}),
    Picture("breakthrough.png", "A position", BREAKTHROUGH, ("greedy", "random"), 12, (BREAKTHROUGH,)),
    Picture("connect4.gif", "Tree search against a random agent that lets no line be completed, move by move", CONNECT4,
            ("alphabeta", "safe:random"), WHOLE, (CONNECT4,)),
    Picture("connect4.png", "A position", CONNECT4, ("alphabeta", "alphabeta"), 20, (CONNECT4,)),
    Picture("item_gathering.gif", "Two agents that leave items to each other by distance, step by step", GATHERING,
            ("weighted",) * 2, WHOLE, (GATHERING,), {"initial_map": "orchard", "num_timesteps": 20}),
    Picture("item_gathering.png", "Four agents; marks point where they wanted to go", GATHERING, ("nearest",) * 4, 2,
            (GATHERING,), {"initial_map": "crowd"}),
    Picture("ingenious.gif", "Two agents that make all scores grow, move by move", INGENIOUS, ("balanced",) * 2, WHOLE,
            (INGENIOUS,)),
    Picture("ingenious.png", "A position of four agents", INGENIOUS, ("balanced",) * 4, 40, (INGENIOUS,), {"num_agents": 4}),
    Picture("beach.gif", "A team of 50 agents in two types, each with best responses, step by step", BEACH,
            ("best_response",) * 50, WHOLE, (BEACH,), {"num_agents": 50, "type_counts": (35, 15), "sections": 5, "capacity": 3,
            "num_timesteps": 14, "reward_mode": "team"}),
    Picture("beach.png", "A first position of 100 agents; bars are shares of the best capacity and mixture", BEACH,
            ("random",) * 100, 0, (BEACH,)),
    Picture("gem-mining.png", "Villages that respond to each other, the mines they chose, and the gems found", GEM_MINING,
            ("village_response",) * 20, 1, (GEM_MINING,)),
    Picture("gem-mining-start.png", "Villages and mines with four types of gems", GEM_MINING, ("random",) * 8, 0, (GEM_MINING,),
            {"num_agents": 8, "num_objectives": 4}),
    Picture("route-choice.png", "OW after the step: 600 drivers, each with the best route beside those before it", ROUTE_CHOICE,
            ("best_response",) * 600, 1, (ROUTE_CHOICE,), {"network": "OW", "num_agents": 600}),
    Picture("pommerman-ffa.gif", "Some steps of a game of four scripted agents", FFA, SIMPLE, range(24, 46), (FFA,), seed=1),
    Picture("pommerman-duel.gif", "A duel of two scripted agents, step by step", DUEL, SIMPLE[:2],
            range(8, 100_000), (DUEL,), seed=12),
    Picture("pommerman-ffa.png", "A position of the game above", FFA, SIMPLE, 27, (FFA,), seed=1),
    Picture("pommerman-blasts.png", "The same, striped where bombs can reach (`blasts=True`)", FFA, SIMPLE, 27, (FFA,),
            render_options={"blasts": True}, seed=1),
    Picture("pommerman-team.png", "A position of a team game, with everything in sight", TEAM, SIMPLE, 38, (TEAM, TEAM_FULL),
            seed=14),
    Picture("pommerman-fog.png", FOGGED, TEAM, SIMPLE, 38, (TEAM,), render_options={"viewer": "agent_0"}, seed=14),
    Picture("pommerman-radio.png", "A radio game: the column shows the messages; agents 0 and 2 play at random", RADIO,
            CHATTER, 6, (RADIO,), seed=3),
    Picture("pommerman-radio-fog.png", "The observation of agent_0, with its own words and those of its teammate", RADIO,
            CHATTER, 6, (RADIO,), render_options={"viewer": "agent_0"}, seed=3),
    Picture("pommerman-ring.png", "The outermost ring is about to fall (a game of 160 steps)", FFA_COLLAPSE, SIMPLE, 100,
            (FFA_COLLAPSE,), SHORT, seed=23),
    Picture("pommerman-fallen.png", "One step later it is wall, and agent_0 is dead", FFA_COLLAPSE, SIMPLE, 101,
            (FFA_COLLAPSE,), SHORT, seed=23),
    Picture("pommerman-team-ring.png", "The outermost ring is about to fall (a game of 160 steps)", TEAM_COLLAPSE, SIMPLE,
            100, (TEAM_COLLAPSE,), SHORT, seed=24),
    Picture("pommerman-ring-fog.png", FOGGED, TEAM_COLLAPSE, SIMPLE, 100, (TEAM_COLLAPSE,), SHORT, {"viewer": "agent_0"},
            24),
    Legend("pommerman-cells.png", "Legend of the cells", POMMERMAN),
    Picture("tileblast.gif", "Level 2, played by a greedy agent, tap by tap", TILEBLAST, ("greedy",), WHOLE, (TILEBLAST,),
            {"level": 2}),
    Picture("tileblast-garden.png", "Level 12 after some taps; tiles that burst together are joined", TILEBLAST_GOALS,
            ("greedy",), 15, (TILEBLAST, TILEBLAST_GOALS), {"level": 12}),
    Picture("tileblast-picnic.png", "Level 11 after some taps", TILEBLAST_TEST, ("random",), 12, (TILEBLAST_TEST,),
            {"level": 11}),
    Picture("tileblast-weeds.png", "Level 10 after some taps", TILEBLAST_COLORS, ("greedy",), 10,
            (TILEBLAST_COLORS,), {"level": 10}),
    Legend("tileblast-levels.png", "The twelve levels, generated with seed 0",
           (TILEBLAST, TILEBLAST_GOALS, TILEBLAST_TEST, TILEBLAST_COLORS)),
    Legend("tileblast-pieces.png", "The pieces and their properties",
           (TILEBLAST, TILEBLAST_GOALS, TILEBLAST_TEST, TILEBLAST_COLORS)),
    Picture("robotmail.gif", "Two robots without batteries on a small board, step by step, until one has brought three mails",
            ROBOTMAIL, ASTAR * 2, WHOLE, (ROBOTMAIL,), {"layout": "tiny", "with_battery": False, "required_mail": 3}),
    Picture("robotmail.png", "A position of a game of two robots that play `astar`", ROBOTMAIL, ASTAR * 2, 118, ROBOTMAILS[:2]),
    Picture("robotmail-viewer.png", "The observation of robot_0: without the mails on green cells", ROBOTMAIL, ASTAR * 2,
            118, ROBOTMAILS[:2], render_options={"viewer": "robot_0"}),
    Picture("robotmail-4.png", "Two players with two robots each, turns of one to five steps, on `layout=\"ring\"`",
            ROBOTMAILS[2], ASTAR * 4, 90, ROBOTMAILS[2:3], {"layout": "ring", "random_num_steps": True}),
    Picture("robotmail-6.png", "Three players with two robots each on `layout=\"wide12\"`", ROBOTMAILS[3], ASTAR * 6, 160,
            ROBOTMAILS[3:4], {"layout": "wide12"}),
    Picture("robotmail-12.png", "Four players with three robots each", ROBOTMAILS[4], ASTAR * 12, 260, ROBOTMAILS[4:]),
    Legend("robotmail-cells.png", "Legend of cells and robots", ROBOTMAILS),
    Legend("robotmail-layouts.png", "The layouts of the package, and a generated one", ROBOTMAILS),
)  # fmt: skip


def animations(id: str) -> list[Picture]:
    """Return the animations on the page of an id."""
    return [one for one in PICTURES if id in one.pages and isinstance(one, Picture) and isinstance(one.steps, range)]


def stills(id: str) -> list[Picture]:
    """Return the positions on the page of an id."""
    return [one for one in PICTURES if id in one.pages and isinstance(one, Picture) and isinstance(one.steps, int)]


def legends(id: str) -> list[Legend]:
    """Return the legends on the page of an id."""
    return [one for one in PICTURES if id in one.pages and isinstance(one, Legend)]
