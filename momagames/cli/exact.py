"""Command `momagames exact`: the exact front of a small environment of Gymnasium."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from momagames.cli.console import (
    Params,
    add_working_directory,
    console,
    get_command_line,
    parse_parameters,
    show_progress,
    table,
)
from momagames.wording import count


class Claim(StrEnum):
    """Kind of front."""

    auto = "auto"
    deterministic = "deterministic"
    coverage = "coverage"


def exact(
    id: Annotated[
        str, typer.Argument(metavar="ENV_ID", help="Id of Gymnasium's registry, or your own environment as module:name.")
    ],
    gamma: Annotated[str, typer.Option(help="Discount, a decimal.")] = "1",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Output file; gzip if it ends in .gz.")] = None,
    claim: Annotated[
        Claim,
        typer.Option(
            help="Pareto front of deterministic policies, or convex coverage set of all policies "
            "[the first, if every action has one outcome]."
        ),
    ] = Claim.auto,
    horizon: Annotated[int | None, typer.Option(help="Actions after which an episode ends [no limit].", min=1)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the start state [the same for all seeds].", min=0)] = None,
    state_attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Attribute that holds the state, such as position or cart.speed; several times."),
    ] = None,
    max_states: Annotated[int, typer.Option(help="Maximum number of states.", min=1)] = 2_000_000,
    max_labels: Annotated[
        int, typer.Option(help="Maximum number of labels of the search for a Pareto front.", min=1)
    ] = 20_000_000,
    max_seconds: Annotated[float, typer.Option(help="Time limit of the enumeration, and of the solver.", min=0.0)] = 86_400.0,
    max_gigabytes: Annotated[float, typer.Option(help="Memory limit of the process in GiB.", min=0.001)] = 8.0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Checkpoint file, from which an interrupted enumeration resumes.")
    ] = None,
    every: Annotated[float, typer.Option(help="Seconds between checkpoints.", min=0.0)] = 60.0,
    param: Params = None,
) -> None:
    """Compute the exact Pareto front or convex coverage set of a small environment with vector rewards."""
    add_working_directory()
    from momagames import fronts, registry, tabular
    from momagames.baselines.exact import Checkpoint
    from momagames.errors import UnknownId
    from momagames.fronts.environment_front import parse_gamma

    parse_gamma(gamma)  # before any work
    if id in registry.ids():
        raise UnknownId(f"{id} is a game of momagames: `momagames front make {id}` computes its exact fronts")
    names = tuple(state_attribute) if state_attribute else None
    choice = fronts.EnvironmentChoice(
        id=id, params=parse_parameters(param), state_attributes=names, seed=seed, horizon=horizon, gamma=gamma
    )
    chosen: fronts.EnvironmentClaim | None = None
    if claim is not Claim.auto:
        chosen = "deterministic" if claim is Claim.deterministic else "coverage"
    screen = console()
    with screen.status("states") as status:
        saved = Checkpoint(checkpoint, every) if checkpoint else None
        progress, max_bytes = show_progress(status, "{}: {:,}".format), max_gigabytes * 2**30
        limits = tabular.Limits(max_states, max_labels, max_seconds, max_bytes, progress, saved)
        made = fronts.solve_environment(choice, chosen, limits, get_command_line())
    screen.print(made.statement)
    listing = table("point", *made.objectives)
    for number, point in enumerate(made.points):
        listing.add_row(str(number), *(f"{value:.6g}" for value in point.value))
    screen.print(listing)
    summary = f"{count(len(made.points), 'point')}, {count(made.model.states, 'state')}, {made.method.seconds:.3g} s"
    if out is not None:
        fronts.write_front(out, made)
        summary += f": {out}"
    if checkpoint:
        checkpoint.unlink(missing_ok=True)
    screen.print(summary, soft_wrap=True)
