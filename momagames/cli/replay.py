"""The command `momagames replay`: the policy behind a point of a front, played again."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import console, see_own_code, table

if TYPE_CHECKING:
    from momagames.benchmark.replays import Replay


def replay(
    run: Annotated[Path, typer.Argument(help="A finished run: runs/RUN in a folder of results.")],
    point: Annotated[int | None, typer.Option(help="Number of the point on the run's front [list them].", min=0)] = None,
    episode: Annotated[int | None, typer.Option(help="Of a policy [the first of those for the report].", min=0)] = None,
    opponent: Annotated[str | None, typer.Option(help="Whom the policy meets [the first].")] = None,
    seat: Annotated[str | None, typer.Option(help="Which agent the policy plays [the first].")] = None,
    gif: Annotated[Path | None, typer.Option(help="Write pictures to this file.")] = None,
    file: Annotated[Path | None, typer.Option("--json", help="Write the record to this file.")] = None,
    window: Annotated[bool, typer.Option("--window", help="Show it in a window (extra `render`).")] = False,
    rate: Annotated[float, typer.Option(help="Steps a second.", min=0.1, max=100)] = 4.0,
    again: Annotated[int, typer.Option("--again", help="Instead: new games of the policy, so many a match.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Of those new games.", min=0)] = 0,
) -> None:
    """Play a stored game of a point again, in the terminal, a window or a file; its returns must come out as stored."""
    from momagames.benchmark import replays

    see_own_code()
    if point is None:
        _list(run)
    elif again:
        _again(run, point, again, seed)
    else:
        _play(replays.replay(run, point, episode, opponent, seat), gif, file, window, rate)


def _list(run: Path) -> None:
    """The points of a run."""
    from momagames.benchmark import replays
    from momagames.benchmark.store.store import read_run

    names = [goal.name for goal in read_run(run).game.game().objectives]
    shown = table("point", "policy", *names)
    for one in replays.points(run):
        shown.add_row(str(one["point"]), one["policy"], *(f"{value:.4g}" for value in one["return"]))
    console().print(shown)
    console().print("--point N plays one of them", style="dim")


def _again(run: Path, point: int, episodes: int, seed: int) -> None:
    """New games, with the standard errors of their means."""
    from momagames.benchmark import replays
    from momagames.benchmark.store.store import read_run

    names = [goal.name for goal in read_run(run).game.game().objectives]
    shown = table("opponent", "as", "games", *names)
    for (opponent, seat), returns in replays.evaluate_again(run, point, episodes, seed).items():
        count = len(returns)
        errors = returns.std(axis=0, ddof=1) / count**0.5 if count > 1 else returns[0] * 0
        pairs = zip(returns.mean(axis=0), errors, strict=True)
        cells = [f"{mean:.4g} ± {error:.2g}" if count > 1 else f"{mean:.4g}" for mean, error in pairs]
        shown.add_row(opponent, seat, str(count), *cells)
    console().print(shown)


def _play(shown: Replay, gif: Path | None, file: Path | None, window: bool, rate: float) -> None:
    import json

    from momagames.files import atomic_path
    from momagames.wrappers.recording import write_video, replay_from_data

    print(shown.title)
    if file is not None:
        with atomic_path(file) as temporary:
            temporary.write_text(json.dumps(shown.record, indent=1) + "\n", encoding="utf-8")
    if gif is not None:
        frames = [env.render() for env in replay_from_data(shown.record, shown.title, "rgb_array")]
        with atomic_path(gif) as temporary:
            write_video(temporary, frames, "gif", rate)
    if window or (gif is None and file is None):
        for env in replay_from_data(shown.record, shown.title, "human" if window else "ansi"):
            _show(env.render(), rate, window)
    for name in filter(None, (gif, file)):
        print(f"written: {name}")
    agents, names = shown.record["agents"], shown.record["objectives"]
    for agent, values in zip(agents, shown.record["returns"], strict=True):
        print(f"{agent}: " + ", ".join(f"{name} {value:g}" for name, value in zip(names, values, strict=True)))
    print("the returns are as stored")


def _show(text: Any, rate: float, window: bool) -> None:
    if not window:
        print(text, end="\n\n")
    if window or sys.stdout.isatty():
        time.sleep(1 / rate)
