"""Commands `momagames front`: compute, show and verify Pareto front files."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import (
    FAILED,
    AllowCode,
    Params,
    console,
    get_command_line,
    parse_agent,
    parse_parameters,
    print_facts,
    print_heading,
    show_progress,
    table,
)
from momagames.wording import count

if TYPE_CHECKING:
    from momagames.fronts import EnvironmentFront, GameFront

front = typer.Typer(help="Proven and best-known Pareto fronts.", no_args_is_help=True)


class Claim(StrEnum):
    """Claim of a front."""

    returns = "returns"
    clairvoyant = "clairvoyant"
    guaranteed = "guaranteed"
    response = "response"
    equilibrium = "equilibrium"
    subgame_perfect = "subgame-perfect"


Named = Annotated[str, typer.Argument(metavar="FILE|NAME", help="A front file, or a name of `momagames front list`.")]


@front.command("list")
def list_fronts() -> None:
    """List the packaged fronts."""
    from momagames import fronts

    listing = table("name", "kind", "claim", "agent", "objectives", "points", "positions")
    for name, path in fronts.packaged_fronts().items():
        one = fronts.read_front(path)
        objectives, states = str(len(one.objectives)), f"{one.method.states:,}" if one.method else ""
        agent = getattr(one, "agent", "-")  # environments of others have none
        listing.add_row(name, one.kind, one.claim, agent, objectives, str(len(one.points)), states)
    console().print(listing)


@front.command()
def show(source: Named, allow_code: AllowCode = False) -> None:
    """Show a front: claim, provenance, points."""
    from momagames import fronts

    one, screen = fronts.load_front(source), console()
    print_heading(screen, one.kind, f": {one.statement}")
    print_facts(screen, _list_facts(one))
    listing = table("point", *one.objectives, "witness")
    for number, point in enumerate(one.points):
        witness = "a strategy" if point.actions is None else count(len(point.actions), "action")
        listing.add_row(str(number), *(f"{value:.6g}" for value in point.value), witness)
    screen.print(listing)


def _list_facts(one: GameFront | EnvironmentFront) -> list[tuple[str, str]]:
    from momagames.fronts import GameFront

    if isinstance(one, GameFront):
        facts = [("game", one.subject)]
        facts.append(("start", f"seed {one.start.seed}" if one.start.seed is not None else str(one.position)))
        facts.append(("agent", one.agent + (f", against {one.opponent.label}" if one.opponent else "")))
        runs = one.runs
    else:
        facts = [("environment", one.subject), ("gamma", one.environment.gamma)]
        facts.append(("horizon", str(one.environment.horizon or "none")))
        facts.append(("states", f"{one.model.states:,}, {one.model.transitions:,} transitions"))
        facts.append(("certificates", str(len(one.certificates))))
        runs = ()
    if one.method:
        options = ", ".join(f"{name}={value}" for name, value in one.method.options.items())
        facts.append(("method", f"{one.method.name}({options})"))
        facts.append(
            ("cost", f"{count(one.method.states, 'position')}, {one.method.bytes:,} bytes, {one.method.seconds:.3g} s")
        )
    if runs:
        facts.append(("runs", f"{len(runs)}"))
    facts.append(("command", str(one.provenance.get("command", ""))))
    facts.append(("sha256", one.sha256))
    return facts


@front.command()
def make(
    id: Annotated[str, typer.Argument(help="Id of the game, see `momagames list`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Output file; gzip if it ends in .gz.")],
    claim: Annotated[
        Claim,
        typer.Option(
            help="Claim: attainable returns, returns with known random draws, guaranteed returns, responses, or equilibria."
        ),
    ] = Claim.returns,
    agent: Annotated[str | None, typer.Option(help="Name or index of the agent of the front [the first].")] = None,
    opponent: Annotated[str, typer.Option(help="Opponent of `response`: random or greedy (equal weights).")] = "random",
    seed: Annotated[int, typer.Option(help="Seed of the start position.", min=0)] = 0,
    state: Annotated[Path | None, typer.Option(help="File with a start position as text, instead of a seed.")] = None,
    max_states: Annotated[int, typer.Option(help="Maximum number of solved positions.", min=1)] = 100_000_000,
    max_gigabytes: Annotated[float, typer.Option(help="Memory limit in GiB.", min=0.001)] = 8.0,
    checkpoint: Annotated[Path | None, typer.Option(help="Checkpoint file, from which an interrupted search resumes.")] = None,
    every: Annotated[float, typer.Option(help="Seconds between checkpoints.", min=0.0)] = 60.0,
    param: Params = None,
) -> None:
    """Compute the proven front of a game and write it with a witness for each point."""
    from momagames import fronts
    from momagames.baselines.exact import Checkpoint
    from momagames.benchmark.choices import GameChoice, Opponent
    from momagames.files.reading import read_text

    screen = console()
    choice = GameChoice(id=id, params=parse_parameters(param))
    game = choice.make_game()
    own = 0 if agent is None else parse_agent(agent)
    start = seed if state is None else game.codec.read(read_text(state))
    with screen.status("compiling") as status:
        saved = Checkpoint(checkpoint, every) if checkpoint else None
        limits = fronts.SearchLimits(max_states, int(max_gigabytes * 2**30), _make_progress_callback(status), saved)
        if claim == Claim.returns:
            made = fronts.returns_front(choice, start, limits, get_command_line())
        elif claim == Claim.clairvoyant:
            made = fronts.clairvoyant_front(choice, start, limits, get_command_line())
        elif claim == Claim.response:
            other = Opponent(name=opponent, options={"weights": []} if opponent == "greedy" else {})
            made = fronts.response_front(choice, start, own, other, limits, get_command_line())
        elif claim in (Claim.equilibrium, Claim.subgame_perfect):
            perfect = claim == Claim.subgame_perfect
            made = fronts.equilibrium_front(choice, start, limits, get_command_line(), subgame_perfect=perfect)
        else:
            made = fronts.guaranteed_front(choice, start, own, limits, get_command_line())
    fronts.write_front(out, made)
    if checkpoint:
        checkpoint.unlink(missing_ok=True)
    assert made.method is not None
    summary = f"{count(len(made.points), 'point')}, {count(made.method.states, 'position')}, {made.method.seconds:.3g} s: {out}"
    screen.print(summary, soft_wrap=True)


def _make_progress_callback(status: Any) -> Callable[[int, int], None]:
    """Return a callback that shows the progress of a search."""
    began = time.monotonic()

    def describe(states: int, size: int) -> str:
        return f"{count(states, 'position')} solved, {size / 2**20:,.0f} MiB, {time.monotonic() - began:.0f} s"

    return show_progress(status, describe)


@front.command()
def union(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Results directories.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Output file (.json) for one game and start position, else a directory.")
    ],
    omit_positions: Annotated[
        bool, typer.Option("--omit-positions", help="Name start positions by seed and SHA-256 instead of writing them.")
    ] = False,
    allow_code: AllowCode = False,
) -> None:
    """Merge the points of archived runs into best-known fronts, one for each game and start position."""
    from momagames import fronts
    from momagames.errors import InvalidParameter
    from momagames.files.writing import make_folder

    found = fronts.union_fronts(folders, get_command_line(), omit_positions)
    if single := out.name.endswith((".json", ".json.gz")):
        if len(found) > 1:
            raise InvalidParameter(
                f"--out {out}: there are {len(found)} games and start positions, each with a front; expected a folder for them"
            )
    else:
        make_folder(out)
    for name, one in found.items():
        place = out if single else out / name
        fronts.write_front(place, one)
        summary = f"{count(len(one.points), 'point')} of {count(len(one.runs), 'run')}: {place}"
        console().print(summary, soft_wrap=True)


@front.command()
def verify(
    sources: Annotated[
        list[str], typer.Argument(metavar="FILE|NAME...", help="Front files or names; `all`: the packaged ones.")
    ],
    prove: Annotated[bool, typer.Option("--prove", help="Compute proven fronts again, and compare.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Verify fronts: the hash, that no point dominates another, that each witness attains its point, and certificates."""
    from momagames import fronts
    from momagames.errors import InvalidFile

    screen, wrong = console(), 0
    names = [name for source in sources for name in (fronts.packaged_fronts() if source == "all" else [source])]
    for name in names:
        try:
            one = fronts.load_front(name)
            if name not in sources and (reason := fronts.explain_missing_start(one)):
                screen.print(f"skipped {name}: {reason}", style="yellow", soft_wrap=True)
                continue
            fronts.verify(one)
            if prove:
                fronts.prove(one)
        except InvalidFile as error:
            wrong += 1
            message = str(error)
            screen.print(f"WRONG {message if message.startswith(name) else f'{name}: {message}'}", style="red", soft_wrap=True)
        else:
            check = "derived again" if prove and one.kind == "proven" else "witnesses played again"
            if getattr(one, "certificates", ()):
                check = f"witnesses played again, {len(one.certificates)} certificates"  # type: ignore[union-attr]
            screen.print(f"ok    {name}: {count(len(one.points), 'point')}, {check}", soft_wrap=True)
    if wrong:
        raise typer.Exit(FAILED)
