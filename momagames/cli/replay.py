"""Command `momagames replay`: replay the policy behind a point of a front."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import AllowCode, add_working_directory, console, parse_agent, print_line, table

if TYPE_CHECKING:
    from momagames.benchmark.replays import Replay


def replay(
    run: Annotated[Path, typer.Argument(help="Finished run: runs/RUN in a results directory.")],
    point: Annotated[int | None, typer.Option(help="Number of the point on the run's front [list them].", min=0)] = None,
    episode: Annotated[int | None, typer.Option(help="Episode of a policy [the first of the report set].", min=0)] = None,
    opponent: Annotated[str | None, typer.Option(help="Opponent of the policy [the first].")] = None,
    seat: Annotated[str | None, typer.Option(help="Name or index of the agent that the policy plays [the first].")] = None,
    gif: Annotated[Path | None, typer.Option(help="Output file of an animation.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Output file of a picture of the position after --step.")] = None,
    step: Annotated[int | None, typer.Option(help="Number of steps before the picture [all].", min=0)] = None,
    file: Annotated[Path | None, typer.Option("--json", help="Output file of the record.")] = None,
    window: Annotated[bool, typer.Option("--window", help="Display in a window (extra `render`).")] = False,
    rate: Annotated[float, typer.Option(help="Steps per second.", min=0.1, max=100)] = 4.0,
    again: Annotated[
        int, typer.Option("--again", help="Number of new episodes per opponent and seat, instead of a stored one.", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option(help="Random seed of the new episodes.", min=0)] = 0,
    allow_code: AllowCode = False,
) -> None:
    """Replay a stored episode of a point, in the terminal, a window or a file, and check its returns."""
    from momagames.benchmark import replays

    add_working_directory()
    if point is None:
        _print_points(run)
    elif again:
        _print_new_returns(run, point, again, seed)
    else:
        agent = None if seat is None else parse_agent(seat)
        _play_episode(replays.replay(run, point, episode, opponent, agent), gif, svg, step, file, window, rate)


def _print_points(run: Path) -> None:
    """Print the points of a run."""
    from momagames.benchmark import replays
    from momagames.benchmark.store.store import read_run

    points = replays.load_points(run)
    names = [objective.name for objective in read_run(run).game.make_game().objectives]
    listing = table("point", "policy", *names)
    for one in points:
        listing.add_row(str(one["point"]), one["policy"], *(f"{value:.4g}" for value in one["return"]))
    console().print(listing)
    console().print("--point N plays one of them", style="dim")


def _print_new_returns(run: Path, point: int, episodes: int, seed: int) -> None:
    """Print the mean returns of new episodes, with standard errors."""
    from momagames.benchmark import replays
    from momagames.benchmark.store.store import read_run

    names = [objective.name for objective in read_run(run).game.make_game().objectives]
    listing = table("opponent", "as", "games", *names)
    for (opponent, seat), returns in replays.evaluate_again(run, point, episodes, seed).items():
        count = len(returns)
        errors = returns.std(axis=0, ddof=1) / count**0.5 if count > 1 else returns[0] * 0
        pairs = zip(returns.mean(axis=0), errors, strict=True)
        cells = [f"{mean:.4g} ± {error:.2g}" if count > 1 else f"{mean:.4g}" for mean, error in pairs]
        listing.add_row(opponent, seat, str(count), *cells)
    console().print(listing)


def _play_episode(
    episode: Replay, gif: Path | None, svg: Path | None, step: int | None, file: Path | None, window: bool, rate: float
) -> None:
    import json

    from momagames.errors import check_range
    from momagames.files.writing import atomic_path, write_file_atomically
    from momagames.wrappers.recording import replay_from_data, write_video

    print_line(episode.title)
    if file is not None:
        write_file_atomically(file, json.dumps(episode.record, indent=1) + "\n")
    if gif is not None:
        frames = [env.render() for env in replay_from_data(episode.record, episode.title, "rgb_array")]
        with atomic_path(gif) as temporary:
            write_video(temporary, frames, "gif", rate)
    if svg is not None:
        steps = len(episode.record["actions"])
        chosen = steps if step is None else step
        check_range("step", chosen, 0, steps)
        positions = enumerate(replay_from_data(episode.record, episode.title, "svg"))  # the end is checked, too
        (document,) = [env.render() for number, env in positions if number == chosen]
        write_file_atomically(svg, document)
    if window or (gif is None and svg is None and file is None):
        for env in replay_from_data(episode.record, episode.title, "human" if window else "ansi"):
            _show_frame(env.render(), rate, window)
    for name in filter(None, (gif, svg, file)):
        print_line(f"written: {name}")
    agents, names = episode.record["agents"], episode.record["objectives"]
    for agent, values in zip(agents, episode.record["returns"], strict=True):
        print_line(f"{agent}: " + ", ".join(f"{name} {value:g}" for name, value in zip(names, values, strict=True)))
    print("the returns are as stored")


def _show_frame(text: Any, rate: float, window: bool) -> None:
    if not window:
        print(text, end="\n\n")
    if window or sys.stdout.isatty():
        time.sleep(1 / rate)
