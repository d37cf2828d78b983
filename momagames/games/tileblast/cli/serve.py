"""Command `momagames serve`: the HTTP simulator of MO-TileBlast."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from momagames.cli.console import print_line

serve = typer.Typer(help="Serve a game over HTTP.", no_args_is_help=True)


@serve.callback()
def serve_group() -> None:
    """Serve a game over HTTP."""


@serve.command(epilog="Example: momagames serve tileblast --port 8090")
def tileblast(
    port: Annotated[int, typer.Option(help="Port; 0 chooses a free one.", min=0, max=65535)] = 8090,
    host: Annotated[str, typer.Option(help="Address to listen on; localhost accepts this machine only.")] = "localhost",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Name in the header Host that is served, in addition to localhost and --host; repeatable."),
    ] = None,
    levels: Annotated[
        list[Path] | None,
        typer.Option(help="Level file or folder of level files, numbered from 13 on; repeatable."),
    ] = None,
    max_sessions: Annotated[int, typer.Option(help="Session limit; one more closes the least recently used.", min=1)] = 10_000,
    idle: Annotated[float, typer.Option(help="Seconds until an unused session is closed; 0: never.", min=0)] = 0,
    rate: Annotated[float, typer.Option(help="Requests per second of one address; 0: unlimited.", min=0)] = 5000,
    max_body: Annotated[int, typer.Option(help="Largest size of a request in bytes.", min=1024)] = 65536,
) -> None:
    """Serve MO-TileBlast over the HTTP protocol of the tap-to-blast competition, until Ctrl-C."""
    from momagames.games.tileblast.serve.hosts import HostCheck
    from momagames.games.tileblast.serve.limits import Limits
    from momagames.games.tileblast.serve.server import listen, run_server, url  # names the missing extra
    from momagames.games.tileblast.serve.service import Service
    from momagames.games.tileblast.serve.sessions import Sessions
    from momagames.games.tileblast.serve.simulator import Levels

    hosts = HostCheck([host, *(allow_host or [])])
    found = Levels(levels or [])
    sockets = listen(host, port)
    print("momagames: compiling the rules; the first start takes a while", file=sys.stderr)
    found.warm_up()
    for level in found.from_files:
        print_line(f"level {level.index}: {level.name}")
    print(f"MO-TileBlast, levels 1 to {len(found)}: {url(host, sockets)} (stop with Ctrl-C)", flush=True)
    try:
        run_server(Service(found, Sessions(max_sessions, idle)), Limits(rate=rate, body=max_body), hosts, sockets)
    except KeyboardInterrupt:
        print("momagames: stopped", file=sys.stderr)
