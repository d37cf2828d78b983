"""The commands `momagames list` and `momagames info`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames import registry
from momagames.cli.console import AsJson, Params, console, parse_parameters, print_facts, print_heading, print_json, table

if TYPE_CHECKING:
    from momagames.contract import Game, Parameter


def list_games(as_json: AsJson = False) -> None:
    """List the environments."""
    games = [registry.spec(id) for id in registry.ids()]
    if as_json:
        print_json([_summarize_game(game) for game in games])
        return
    listing = table("id", "agents", "objectives", "dynamics", "chance")
    for game in games:
        listing.add_row(game.id, str(len(game.agents)), str(len(game.objectives)), game.dynamics, game.chance)
    console().print(listing)


def info(
    id: Annotated[str, typer.Argument(help="Id of the environment, see `momagames list`.")],
    param: Params = None,
    as_json: AsJson = False,
) -> None:
    """Show the facts of an environment: objectives, spaces, parameters, versions, source."""
    game = registry.spec(id, **parse_parameters(param))
    if as_json:
        print_json(_describe_game(game))
        return
    screen = console()
    print_heading(screen, game.title, f"  {game.id}")
    screen.print(registry.format_id(game.id, game.params), style="dim")
    print_facts(screen, _format_facts(game))
    screen.print(_make_objectives_table(game))
    screen.print(_make_parameters_table(game))


def _summarize_game(game: Game) -> dict[str, Any]:
    """Return the facts that tell the environments apart, as plain data."""
    return {
        "id": game.id, "title": game.title, "agents": list(game.agents),
        "objectives": [objective.name for objective in game.objectives],
        "dynamics": game.dynamics, "chance": game.chance, "utility": game.utility,
    }  # fmt: skip


def _describe_game(game: Game) -> dict[str, Any]:
    """Return all facts of a game as plain data."""
    return {
        **_summarize_game(game),
        "canonical": registry.format_id(game.id, game.params), "information": game.information, "teams": list(game.teams),
        "actions": list(game.actions), "agent_actions": list(game.agent_actions),
        "observation": [
            {"name": one.name, "dtype": str(one.dtype), "shape": list(one.shape), "low": one.low, "high": one.high}
            for one in game.fields
        ],
        "max_episode_steps": game.max_episode_steps, "reference_point": list(game.reference_point),
        "versions": _list_versions(game), "source": game.source,
        "objectives": [
            {"name": one.name, "unit": one.unit, "low": one.low, "high": one.high, "return_low": one.return_low,
             "return_high": one.return_high, "source": one.source}
            for one in game.objectives
        ],
        "parameters": [
            {"name": one.name, "value": game.params.get(one.name, one.default), "default": one.default,
             "allowed": _format_allowed(one), "meaning": one.doc}
            for one in game.parameters
        ],
    }  # fmt: skip


def _format_facts(game: Game) -> list[tuple[str, str]]:
    size = f"Discrete({game.actions[0]})" if len(game.actions) == 1 else f"MultiDiscrete({list(game.actions)})"
    if counts := game.agent_actions:
        size = f"Discrete({min(counts)}) to Discrete({max(counts)}), by agent"
    teams = "each its own" if len(set(game.teams)) == len(game.agents) else str(list(game.teams))
    teams = "one" if len(game.agents) > 1 and len(set(game.teams)) == 1 else teams
    agents = ", ".join(game.agents) if len(game.agents) <= 16 else f"{game.agents[0]} .. {game.agents[-1]}"
    return [
        ("agents", f"{agents} (teams: {teams})"),
        ("kind", f"{game.dynamics}, chance: {game.chance}, {game.information} information, utility: {game.utility}"),
        ("actions", f"{size}, legal ones in the action mask"),
        ("observation", "; ".join(f"{f.name} {f.dtype}{list(f.shape)} in {f.low:g}..{f.high:g}" for f in game.fields)),
        ("longest episode", f"{game.max_episode_steps} environment steps"),
        ("reference point", "(" + ", ".join(f"{v:g}" for v in game.reference_point) + ")"),
        ("versions", ", ".join(_list_versions(game))),
        ("source", game.source),
    ]


def _list_versions(game: Game) -> list[str]:
    name, _, _ = game.id.rpartition("-v")
    return [id for id in registry.ids() if id.rpartition("-v")[0] == name]


def _make_objectives_table(game: Game) -> Any:
    listing = table("objective", "unit", "one step", "an episode", "SPEC")
    for objective in game.objectives:
        step, episode = f"{objective.low:g}..{objective.high:g}", f"{objective.return_low:g}..{objective.return_high:g}"
        listing.add_row(objective.name, objective.unit, step, episode, objective.source)
    return listing


def _make_parameters_table(game: Game) -> Any:
    listing = table("parameter", "value", "default", "allowed", "meaning")
    for one in game.parameters:
        value = game.params.get(one.name, one.default)
        listing.add_row(one.name, repr(value), repr(one.default), _format_allowed(one), one.doc)
    return listing


def _format_allowed(parameter: Parameter) -> str:
    return "True or False" if isinstance(parameter.default, bool) else parameter.allowed
