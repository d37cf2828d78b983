"""Scores on the 20 standard boards of SameGame with classic scoring: search, store the best games, continue from there.

    python benchmarks/fronts/samegame_standard.py --cpu-seconds 3600 --workers 2
    python benchmarks/fronts/samegame_standard.py --cpu-seconds 0

The boards come from a file of the user: SPEC.md of MO-SameGame, section 2.3. The first command searches for one CPU-hour on
two processes, the second one prints what is stored, after replaying it. A search takes turns: always the board with the least
CPU time so far gets one run with a new seed. Five runs in turn are `nrpa` from the start, each with another color removed late,
and improve their best game by `iterated_nrpa`; the sixth improves the best game so far. Each result is written at once to
samegame_standard.json beside this script: for each board the best game as actions, the rank of the color removed late, its
score, the CPU-seconds and runs so far, and the curve of scores over CPU-seconds. Ctrl-C loses the current runs only; the same
command continues from the file.

`--compare` gives methods, all or those of `--methods`, equal CPU time on some boards instead and stores nothing. `--fronts`
prints a table of the packaged fronts of points against moves instead; it needs no boards.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from math import inf
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import momagames
from momagames.baselines import method
from momagames.baselines.base import Plans
from momagames.baselines.search.iterated_nrpa import IteratedNrpa
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.engine.positions import load_state
from momagames.files.writing import write_file_atomically
from momagames.fronts import load_front
from momagames.games.samegame import standard_boards

ID, NUM_BOARDS = "mo-samegame-v0", 20
FILE = Path(__file__).with_name("samegame_standard.json")
CALIBRATION_STEPS = 300_000  # of a run that measures steps per second
RUN_STEPS = 60_000_000  # environment steps of a search, about 50 CPU-seconds
NRPA = {"divisions": 1, "levels": 3, "iterations": 50, "alpha": 1.0}
SELECTIVE = {**NRPA, "repetitions": 10, "selective": True}
NUM_COLORS = 5
FIRST_SEARCH = ("nrpa", {**SELECTIVE, "iterations": 100})
IMPROVEMENT = ("iterated_nrpa", {**SELECTIVE, "iterations": 200, "patience": 1000})
COMPARED: dict[str, tuple[str, dict[str, Any]]] = {
    "nrpa": ("nrpa", NRPA),
    "nrpa, selective": ("nrpa", {**NRPA, "selective": True}),
    "nrpa, selective, 100 iterations": ("nrpa", {**NRPA, "iterations": 100, "selective": True}),
    "nrpa, selective, 100 iterations, 10 repetitions": FIRST_SEARCH,
    **{
        f"nrpa, selective, 100 iterations, 10 repetitions, guide {k}": ("nrpa", {**FIRST_SEARCH[1], "guide": k})
        for k in range(1, NUM_COLORS)
    },
    "nrpa, selective, prior 0.2": ("nrpa", {**NRPA, "selective": True, "prior": 0.2}),
    "nrpa, selective, 4 playouts": ("nrpa", {**NRPA, "selective": True, "playouts": 4}),
    "nrpa, selective, 3 repetitions": ("nrpa", {**NRPA, "selective": True, "repetitions": 3}),
    "iterated_nrpa, selective": ("iterated_nrpa", {**NRPA, "selective": True, "patience": 100}),
    "local_search": ("local_search", {"divisions": 1, "keep": 1.0, "greed": 0.0, "patience": 3000}),
    "beam": ("beam", {"width": 4096, "estimate": "present"}),
}


def make_board(number: int) -> tuple[Game, NDArray[Any]]:
    """Return the game with the classic score as its only objective, and a standard board, 1 to 20, as record[1].

    The start is given, so that the compiled code is that of boards of any kind.
    """
    game = momagames.spec(ID, scoring="classic", color_rewards=False)
    return game, load_state(game, {"board": standard_boards.load_board(f"standard-{number}")})


def run_search(
    number: int, seed: int, steps: int, chosen: tuple[str, dict[str, Any]], known: Sequence[int] = ()
) -> tuple[Plans, float]:
    """Return the plans of a run, and its CPU-seconds.

    known   the actions of a game that the run improves, for `iterated_nrpa`
    """
    game, start = make_board(number)
    name, options = chosen
    begin = time.process_time()
    search = method(name)(**options)
    if known:
        assert isinstance(search, IteratedNrpa)
        found = search.improve(game, start, known, steps, seed)
    else:
        found = search.plan(game, start, steps, seed)
    return found, time.process_time() - begin


def search_board(number: int, seed: int, steps: int, guide: int, known: Sequence[int] = ()) -> tuple[int, list[int], float]:
    """Improve a known game, or the best one of a search from the start.

    Return the best score, its actions, and the CPU-seconds.
    steps    environment steps of each search
    guide    rank of the color that is removed late, by its number of tiles
    """
    actions, spent = tuple(known), 0.0
    for name, options in (IMPROVEMENT,) if known else (FIRST_SEARCH, IMPROVEMENT):
        found, seconds = run_search(number, seed, steps, (name, {**options, "guide": guide}), actions)
        best, spent = max(found.plans, key=lambda plan: plan.value[0]), spent + seconds
        actions = best.actions
    return int(best.value[0]), list(actions), spent


def replay(number: int, actions: list[int]) -> int:
    """Return the classic score of a game; ValueError unless its actions are legal and end it."""
    game, start = make_board(number)
    episode = Episode(game)
    episode.load(start[0])
    for action in actions:
        if not episode.is_legal(0, action):
            raise ValueError(f"standard-{number}: action {action} is not legal")
        episode.step(action)
    if not episode.state["over"]:
        raise ValueError(f"standard-{number}: the game is not over")
    return int(episode.returns[0, 0])


def read_results() -> dict[str, dict[str, Any]]:
    """Return what is stored for each board, by its number."""
    stored: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    empty = {"score": None, "actions": [], "guide": 0, "cpu_seconds": 0.0, "runs": 0, "curve": []}
    return {str(k): stored.get(str(k), empty) for k in range(1, NUM_BOARDS + 1)}


def write_results(results: dict[str, dict[str, Any]]) -> None:
    lines = [f" {json.dumps(number)}: {json.dumps(result)}" for number, result in results.items()]
    write_file_atomically(FILE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def add_run(result: dict[str, Any], score: int, actions: list[int], guide: int, seconds: float) -> dict[str, Any]:
    """Return the result of a board after one more run."""
    total = round(result["cpu_seconds"] + seconds, 1)
    if result["score"] is not None and score <= result["score"]:
        return {**result, "cpu_seconds": total, "runs": result["runs"] + 1}
    curve = [*result["curve"], [total, score]]
    return {
        "score": score, "actions": actions, "guide": guide, "cpu_seconds": total, "runs": result["runs"] + 1, "curve": curve,
    }  # fmt: skip


def search_boards(cpu_seconds: float, workers: int, steps: int) -> None:
    """Search for about that many CPU-seconds in all, and store every improvement."""
    results, spent = read_results(), 0.0
    with ProcessPoolExecutor(workers) as pool:
        running: dict[Any, tuple[int, int]] = {}  # number of a board and guide, by run
        try:
            while spent < cpu_seconds or running:
                while spent < cpu_seconds and len(running) < workers:
                    busy = {number for number, _ in running.values()}
                    free = [k for k in range(1, NUM_BOARDS + 1) if k not in busy]
                    number = min(free, key=lambda k: results[str(k)]["cpu_seconds"])
                    result = results[str(number)]
                    turn = result["runs"] % (NUM_COLORS + 1)
                    guide, known = (turn, ()) if turn < NUM_COLORS else (result["guide"], result["actions"])
                    running[pool.submit(search_board, number, result["runs"], steps, guide, known)] = number, guide
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    number, guide = running.pop(done)
                    score, actions, seconds = done.result()
                    before, spent = results[str(number)]["score"], spent + seconds
                    results[str(number)] = add_run(results[str(number)], score, actions, guide, seconds)
                    write_results(results)
                    news = "" if before is not None and score <= before else f", best so far (before: {before})"
                    print(f"standard-{number}: {score}{news}; {spent:.0f} of {cpu_seconds:.0f} CPU-seconds", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("interrupted; the same command continues")


def report() -> None:
    """Replay the stored games and print their scores, in the form of docs/samegame-standard.md."""
    results = read_results()
    for number, result in results.items():
        if result["score"] is not None and (score := replay(int(number), result["actions"])) != result["score"]:
            raise ValueError(f"standard-{number}: stored {result['score']}, replayed {score}")
    print(format_scores(results))
    print(format_curve(results))


def format_scores(results: dict[str, dict[str, Any]]) -> str:
    """Return a table of the best scores."""
    found = {number: result for number, result in results.items() if result["score"] is not None}
    score, seconds, runs = (sum(one[key] for one in found.values()) for key in ("score", "cpu_seconds", "runs"))
    rows = [
        f"| {k} | {one['score']:,} | {one['guide'] + 1} | {one['cpu_seconds']:,.0f} | {one['runs']} |"
        for k, one in found.items()
    ]
    head = ["| board | score | late color | CPU-seconds | runs |", "|---|---:|---:|---:|---:|"]
    return "\n".join([*head, *rows, f"| all {len(found)} | {score:,} | | {seconds:,.0f} | {runs} |"])


def format_curve(results: dict[str, dict[str, Any]]) -> str:
    """Return a table of the total score after equal CPU time on each board, doubling."""
    rows, seconds = ["| CPU-seconds for each board | total score |", "|---:|---:|"], 10
    while seconds <= min(result["cpu_seconds"] for result in results.values()):
        best = [[score for used, score in result["curve"] if used <= seconds][-1:] for result in results.values()]
        if all(best):
            rows.append(f"| {seconds} | {sum(score for (score,) in best):,} |")
        seconds *= 2
    return "\n".join(rows)


def format_move_fronts() -> str:
    """Return a table of the packaged fronts of points against moves."""
    limits = (40, 45, 50, 60)
    most = " | ".join(f"within {limit} moves" for limit in limits)
    rows = [f"| board | points of the front | fewest moves | {most} | most points |", "|---|" + "---:|" * (len(limits) + 3)]
    for k in range(1, NUM_BOARDS + 1):
        values = load_front(f"{ID}-standard-{k}-moves-best-known").values
        games = [(int(points), -int(move)) for points, move in values]  # both in ascending order
        best = [max((points for points, moves in games if moves <= limit), default=None) for limit in limits]
        (fewest, first), (top, last) = games[0], games[-1]
        cells = [f"{first} for {fewest:,}", *("" if one is None else f"{one:,}" for one in best), f"{top:,} in {last} moves"]
        rows.append(f"| {k} | {len(games)} | {' | '.join(cells)} |")
    return "\n".join(rows)


def compare(boards: list[int], cpu_seconds: float, labels: Sequence[str]) -> None:
    """Print the best scores of methods by label on some boards over CPU time: one run on each board, and its total score after
    an eighth, a quarter, half and all of its steps, which take about `cpu_seconds`."""
    shares = (1 / 8, 1 / 4, 1 / 2, 1)
    print(f"| method | {' | '.join(f'board {k}' for k in boards)} | {' | '.join(f'{s * cpu_seconds:g} s' for s in shares)} |")
    print("|---|" + "---:|" * (len(boards) + len(shares)))
    for label in labels:
        chosen = COMPARED[label]
        run_search(boards[0], 0, 1, chosen)  # compiles
        curves = []
        for number in boards:
            found, seconds = run_search(number, 1, CALIBRATION_STEPS, chosen)
            steps = max(int(found.steps / max(seconds, 1e-3) * cpu_seconds), CALIBRATION_STEPS)
            curves.append(best_after(run_search(number, 0, steps, chosen)[0], [int(steps * share) for share in shares]))
        last = " | ".join(f"{curve[-1]:,.0f}" for curve in curves)
        total = " | ".join(f"{sum(scores):,.0f}" if -inf not in scores else "" for scores in zip(*curves, strict=True))
        print(f"| {label} | {last} | {total} |", flush=True)


def best_after(found: Plans, steps: list[int]) -> list[float]:
    """Return the best score of a search after each number of steps; -inf before the first game."""
    games = [(one.step, float(one.value[0])) for one in (*found.plans, *found.dominated)]
    return [max((score for step, score in games if step <= limit), default=-inf) for limit in steps]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cpu-seconds", type=float, default=3600.0, help="CPU time in all; with --compare, of a method on a board"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--steps", type=int, default=RUN_STEPS, help="environment steps of a search")
    parser.add_argument("--compare", type=int, nargs="+", metavar="BOARD", help="compare methods on these boards")
    parser.add_argument("--methods", nargs="+", choices=COMPARED, default=list(COMPARED), help="with --compare: only these")
    parser.add_argument("--fronts", action="store_true", help="print the packaged fronts of points against moves")
    given = parser.parse_args()
    if given.fronts:
        print(format_move_fronts())
        return
    if given.compare:
        compare(given.compare, given.cpu_seconds, given.methods)
        return
    search_boards(given.cpu_seconds, given.workers, given.steps)
    report()


if __name__ == "__main__":
    main()
