"""Generate the front files of the package, each by its command.

python benchmarks/fronts/ship.py                     # missing files
python benchmarks/fronts/ship.py --again samegame    # files whose name contains this word, again
python benchmarks/fronts/ship.py --best-known DIRECTORY  # best-known fronts of large boards, from runs of the suite paper
python benchmarks/fronts/ship.py --standard DIRECTORY    # best-known fronts of the standard boards, from runs of their suite
python benchmarks/fronts/ship.py --games             # add the games of samegame_standard.json to these fronts

The files hold time and memory. The searches run in this process, so that compiled code is loaded once.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from momagames.baselines.archive import is_nondominated
from momagames.cli.app import app
from momagames.engine.episode import Episode
from momagames.fronts import GameFront, write_front
from momagames.fronts.front_content import Point
from momagames.fronts.game_front import EQUILIBRIUM_CLAIMS, read_game_front
from momagames.fronts.verify import replay_actions

try:
    import resource
except ImportError:  # Windows
    resource = None

DATA = Path(__file__).resolve().parents[2] / "momagames/fronts/data"
GAMES = Path(__file__).resolve().with_name("samegame_standard.json")
LARGE = ("mo-samegame-v0", "mo-samegame-v0-board_height_10-board_width_10-num_colors_4")
SIZES = {"5x5x2": range(5), "6x6x3": range(5), "7x7x3": range(5), "8x8x3": range(12), "10x10x3": (1,)}
BOARD = ["-p", "board_width=3", "-p", "board_height=5"]
SMALLEST = ("-p", "board_width=4", "-p", "board_height=4")  # of MO-Connect4
YARD = {"colors": ["w,w,y", "gr,b,w", "w,w,w"], "targets": ["0,0,1", "0,0,0", "0,0,0"]}  # one receiver: no randomness
ROBOT = {"num_players": 1, "max_step": 40}


def level(title: str, moves: int, red: int, blue: int, rows: list[str]) -> dict[str, Any]:
    """Return a small level of MO-TileBlast."""
    goals = [{"collect": "basic.red", "amount": red}, {"collect": "basic.blue", "amount": blue}]
    head = {"id": 900, "title": title, "moves": moves, "colors": ["red", "blue", "yellow"], "goals": goals}
    return {**head, "layout": "".join(row + "\n" for row in rows)}


EDGE = "#" * 13
SQUARE = level("Five by five", 5, 8, 6, [EDGE, *["####.....####"] * 5, *[EDGE] * 3])
FIRST = level("Four taps", 4, 15, 15, [EDGE, *["###.......###"] * 7, EDGE])  # a part of the first level
CLAIRVOYANT: dict[str, tuple[str, dict[str, Any]]] = {  # name -> id, parameters; five instances each
    "mo-robotmail-v0-tiny": ("mo-robotmail-v0", {"layout": "tiny", **ROBOT, "objectives": ["delivery", "energy"]}),
    "mo-robotmail-v0-yard": ("mo-robotmail-v0", {"layout": YARD, **ROBOT, "objectives": ["delivery", "energy", "charge"]}),
    "mo-tileblast-v0-5x5": ("mo-tileblast-v0", {"level": SQUARE, "objectives": ["goals", "move", "score"]}),
    "mo-tileblast-v0-first": ("mo-tileblast-v0", {"level": FIRST, "objectives": ["moves_saved", "score", "created"]}),
}
GATHERING = {"default": (6, 7, 8, 10), "corners": (9,), "orchard": (7,), "alone": (12,)}  # map -> numbers of steps
INGENIOUS = {"2-colors": (2, range(5)), "3-colors": (3, (0,))}  # name -> number of colors, seeds; boards of side 3
# agents by type, sections, capacity: the published settings, with as many steps as the beach is long
BEACHES = {"50": ([35, 15], 5, 3), "100": ([70, 30], 5, 5)}
RESPONSES = (
    ("player_0", "greedy", ("win", "captures")),
    ("player_1", "greedy", ("win", "captures")),
    ("player_0", "greedy", ("speed", "captures")),
    ("player_0", "random", ("win", "speed")),
)


def list_commands() -> dict[str, list[str]]:
    """Return name -> arguments of `momagames front make`, without the file."""
    found = {}
    for size, seeds in SIZES.items():
        height, width, colors = size.split("x")
        for seed in seeds:
            given = [f"board_height={height}", f"board_width={width}", f"num_colors={colors}"]
            params = [word for pair in given for word in ("-p", pair)]
            found[f"mo-samegame-v0-{size}-{seed}"] = ["mo-samegame-v0", *params, "--seed", str(seed)]
    for stem, (id, parameters) in CLAIRVOYANT.items():
        given = [word for name, value in parameters.items() for word in ("-p", f"{name}={json.dumps(value)}")]
        for seed in range(5):
            found[f"{stem}-{seed}"] = [id, *given, "--claim", "clairvoyant", "--seed", str(seed)]
    for name, horizons in GATHERING.items():
        for steps in horizons:
            given = [f"initial_map={name}", f"num_timesteps={steps}", "control=central"]
            params = [word for pair in given for word in ("-p", pair)]
            found[f"mo-item-gathering-v0-{name}-{steps}"] = ["mo-item-gathering-v0", *params]
    for stem, (colors, seeds) in INGENIOUS.items():
        given = [f"num_colors={colors}", "rack_size=2", "board_size=3", "reward_mode=collaborative", "fixed_bag=True"]
        params = [word for pair in given for word in ("-p", pair)]
        for seed in seeds:
            found[f"mo-ingenious-v0-{stem}-{seed}"] = ["mo-ingenious-v0", *params, "--seed", str(seed)]
    for name, (counts, sections, capacity) in BEACHES.items():
        given = [f"num_agents={sum(counts)}", f"type_counts={counts}", f"sections={sections}", f"capacity={capacity}"]
        given += [f"num_timesteps={sections - 1}", "reward_mode=team"]
        found[f"mo-beach-v0-{name}"] = ["mo-beach-v0", *(word for pair in given for word in ("-p", pair)), "--seed", "0"]
    for agent in ("player_0", "player_1"):
        given = ["--claim", "guaranteed", "--agent", agent]
        found[f"mo-breakthrough-v0-3x5-guaranteed-{agent}"] = ["mo-breakthrough-v0", *BOARD, *given]
        found[f"mo-connect4-v0-4x4-guaranteed-{agent}"] = ["mo-connect4-v0", *SMALLEST, *given]
    for claim in EQUILIBRIUM_CLAIMS:
        given = [*SMALLEST, "-p", "objectives=[win, column_0, column_1]", "--claim", claim]
        found[f"mo-connect4-v0-4x4-win-columns-{claim}"] = ["mo-connect4-v0", *given]
        given = [*BOARD, "-p", "objectives=[win, captures]", "--claim", claim]
        found[f"mo-breakthrough-v0-3x5-win-captures-{claim}"] = ["mo-breakthrough-v0", *given]
    for agent, opponent, objectives in RESPONSES:
        given = [*BOARD, "-p", f"objectives=[{', '.join(objectives)}]", "--claim", "response", "--agent", agent]
        name = f"mo-breakthrough-v0-3x5-{'-'.join(objectives)}-{agent}-to-{opponent}"
        found[name] = ["mo-breakthrough-v0", *given, "--opponent", opponent]
    return found


def run_command(arguments: list[str]) -> None:
    sys.argv = ["momagames", *arguments]  # the command in the provenance of the file
    app(arguments, standalone_mode=False)


def write_best_known(results: Path, out: Path) -> None:
    """Write the unions of runs of the suite paper, for boards that are too large for a proof."""
    with contextlib.chdir(results.resolve().parent), tempfile.TemporaryDirectory(dir=".") as place:
        run_command(["front", "union", results.name, "-o", place])
        for name in LARGE:
            for seed in range(10):
                content = (Path(place) / f"{name}-{seed}.json").read_bytes()
                (out / f"{name}-best-known-{seed}.json.gz").write_bytes(gzip.compress(content, mtime=0))


def write_standard(results: Path, out: Path) -> None:
    """Write the unions of runs of samegame-standard.yaml, of the fronts so far, and of the games in samegame_standard.json,
    without the boards, which the package may not hold."""
    games = json.loads(GAMES.read_text(encoding="utf-8"))
    with contextlib.chdir(results.resolve().parent), tempfile.TemporaryDirectory(dir=".") as place:
        run_command(["front", "union", results.name, "-o", place, "--omit-positions"])
        for path in Path(place).glob("*.json"):
            number = path.name.partition("-instance_standard-")[2].partition("-")[0]
            front = read_game_front(path)
            kind = "-moves" if front.game.params.get("move_rewards") else ""
            target = out / f"mo-samegame-v0-standard-{number}{kind}-best-known.json.gz"
            points = read_game_front(target).points if target.exists() else ()
            before = [point.actions for point in points if point.actions]
            front = add_plans(front, [*before, tuple(games[number]["actions"])])
            write_front(target, front.model_copy(update={"provenance": omit_out(front.provenance)}))


def add_games(out: Path) -> None:
    """Add the games in samegame_standard.json to the best-known fronts of the standard boards."""
    games = json.loads(GAMES.read_text(encoding="utf-8"))
    for path in sorted(out.glob("mo-samegame-v0-standard-*-best-known.json.gz")):
        number = path.name.removeprefix("mo-samegame-v0-standard-").partition("-")[0]
        before = read_game_front(path)
        front = add_plans(before, [tuple(games[number]["actions"])])
        write_front(path, front)
        print(f"{path.name}: {len(before.points)} points before, {len(front.points)} now", flush=True)


def omit_out(provenance: dict[str, Any]) -> dict[str, Any]:
    """Return the provenance of a front with a command without a temporary directory."""
    return {**provenance, "command": f"{provenance['command'].partition(' -o ')[0]} --omit-positions"}


def add_plans(front: GameFront, plans: Iterable[tuple[int, ...]]) -> GameFront:
    """Return a best-known front with more games, each as its actions."""
    game = front.make_game()
    assert front.start.seed is not None
    start = Episode(game)
    start.reset(front.start.seed)
    known = {point.actions for point in front.points}
    new = dict.fromkeys(actions for actions in plans if actions not in known)
    values = [replay_actions(start, actions).tolist() for actions in new]
    points = [*front.points, *(Point(value=tuple(value), actions=actions) for value, actions in zip(values, new, strict=True))]
    mask = is_nondominated(np.array([point.value for point in points]))
    found = sorted((point for point, selected in zip(points, mask, strict=True) if selected), key=lambda point: point.value)
    return front.model_copy(update={"points": tuple(found)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--best-known", type=Path, metavar="DIRECTORY", help="Results directory of the suite paper.")
    parser.add_argument("--standard", type=Path, metavar="DIRECTORY", help="Results directory of samegame-standard.yaml.")
    parser.add_argument("--games", action="store_true", help="Add the stored games to the fronts of the standard boards.")
    parser.add_argument("--out", type=Path, default=DATA, help="Directory of the files: by default that of the package.")
    given = parser.parse_args()
    if given.best_known:
        write_best_known(given.best_known, given.out.resolve())
        return
    if given.standard:
        write_standard(given.standard, given.out.resolve())
        return
    if given.games:
        add_games(given.out.resolve())
        return
    loaded: set[str] = set()
    for name, arguments in list_commands().items():
        path = given.out / f"{name}.json{'.gz' if name.endswith(EQUILIBRIUM_CLAIMS) else ''}"  # long strategies
        if given.word not in name or (path.exists() and not given.again):
            continue
        for _ in range(1 if arguments[0] in loaded else 2):  # the first search of a game loads its compiled code
            began = time.process_time()
            run_command(["front", "make", *arguments, "-o", path.name])
            spent = time.process_time() - began
        loaded.add(arguments[0])
        Path(path.name).replace(path)
        memory = f", peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB" if resource else ""
        print(f"{name}: {spent:.3f} s CPU{memory}", flush=True)


if __name__ == "__main__":
    main()
