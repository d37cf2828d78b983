"""What a stranger does in the first ten minutes: from a clone to a checked submission of a network of her own.

    python benchmarks/leaderboard/first_submission.py                     clone, install in a new environment, and the rest
    python benchmarks/leaderboard/first_submission.py --installed FOLDER  with the installed package, in a folder

The network stands in one setting of the main track beside methods of the track, from their archive. The script prints the wall
time of each step, and the score of the network on all three ways, which must be equal: the report, the LaTeX table and the
leaderboard's check.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENT, GAME = "one agent against hardened agents", "mo-pommerman-duel-v0"
METHODS = ("--method", "random", "--method", "simple", "--method", "safe:simple")  # of which the archive has all seeds
WEIGHTS = "[[1, 0], [0, 1]]"
REPORT = """
from momagames.reports import report
panel = report("results", replays=False).primary[0]
print(panel.scores["my network"]["hypervolume_ratio"].interval.value)
"""
NETWORK = '''"""A small network that plays for weights, trained by the cross-entropy method."""
import numpy as np

import momagames

HIDDEN, POPULATION, ELITE, STEPS = 16, 16, 4, 20_000


def choose(genes, observation, mask, weights):
    """Return the likeliest legal action."""
    inputs = np.concatenate([*map(np.ravel, observation.values()), weights])
    first, second = genes[: inputs.size * HIDDEN], genes[inputs.size * HIDDEN :]
    logits = np.tanh(inputs @ first.reshape(-1, HIDDEN)) @ second.reshape(HIDDEN, -1)
    return int(np.where(mask, logits, -np.inf).argmax())


def play(env, genes, weights, seed):
    """Return the utility of an episode, and its steps."""
    observation, info = env.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    while not over:
        action = choose(genes, observation, info["action_mask"], weights)
        observation, reward, terminated, truncated, info = env.step(action)
        total, steps, over = total + weights @ reward, steps + 1, terminated or truncated
    return total, steps


class Network:
    name = "my network"

    def __init__(self, game, agent, weights, arrays):
        self.weights, self.genes = weights, arrays["genes"]

    def __call__(self, observation, mask, generator):
        return choose(self.genes, observation, mask, self.weights)

    @staticmethod
    def train(setup):
        generator, used = np.random.default_rng(setup.seed), 0
        env = momagames.make(setup.game.id, api="gymnasium", others="safe:simple", **setup.game.params)
        objectives, actions = len(setup.game.objectives), int(env.action_space.n)
        shapes = [part.shape for name, part in env.observation_space.items() if name != "action_mask"]
        inputs = sum(int(np.prod(shape)) for shape in shapes) + objectives
        mean = np.zeros((inputs + actions) * HIDDEN)
        while used < min(STEPS, setup.budget):
            genes = mean + 0.5 * generator.standard_normal((POPULATION, mean.size))
            weights = generator.dirichlet(np.ones(objectives))
            scores = []
            for one in genes:
                score, steps = play(env, one, weights, int(generator.integers(2**31)))
                scores.append(score)
                used += steps
            mean = genes[np.argsort(scores)[-ELITE:]].mean(axis=0)
        return {"genes": mean}, used
'''


def run_step(name: str, command: Sequence[str | Path], folder: Path) -> str:
    """Run a command in a folder, print its wall time, and return what it printed. Ends the script if it fails."""
    started = time.perf_counter()
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\n{name} failed with exit code {done.returncode}")
    return done.stdout


def install(folder: Path) -> Path:
    """Clone and install the package; return the command."""
    run_step("clone", ["git", "clone", "--quiet", ROOT, "clone"], folder)
    run_step("virtual environment", [sys.executable, "-m", "venv", "venv"], folder)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run_step("install", [python, "-m", "pip", "install", "--quiet", "./clone[analysis,figures]"], folder)
    return python.parent / "momagames"


def submit(momagames: Path, folder: Path, part: Sequence[str | Path]) -> list[float]:
    """Run, report and submit the network; return its score on the three ways.

    part    arguments of `bench run`: the suite, and what to run of it
    """
    (folder / "mine.py").write_text(NETWORK, encoding="utf-8")
    run_step(
        "suite", [momagames, "bench", "run", *part, "--add", f"mine:Network(weights={WEIGHTS})", "--out", "results"], folder
    )
    outputs = ["--latex", "table.tex", "--indicator", "hypervolume_ratio", "--figures", "figures"]
    run_step("table and figures", [momagames, "bench", "report", "results", "--no-replays", *outputs], folder)
    report = float(run_step("report from Python", [momagames.parent / "python", "-c", REPORT], folder))
    make = ["results", "mine:Network", "--suite", part[0], "--out", "entries"]
    run_step("submission", [momagames, "leaderboard", "make", *make], folder)
    entries = sorted((folder / "entries").iterdir())
    checked = json.loads(run_step("check", [momagames, "leaderboard", "check", *entries, "--run-code", "--json"], folder))
    rows = [line.split("&") for line in (folder / "table.tex").read_text(encoding="utf-8").splitlines()]
    heads = next(row for row in rows if row[0] == "game ")
    cell = rows[rows.index(heads) + 2][heads.index(" my network ")]
    return [report, float(re.findall(r"[\d.]+", cell)[0]), checked[0]["indicators"]["hypervolume_ratio"]["mean"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--installed", type=Path, metavar="FOLDER", help="use the installed package, in this folder")
    given = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.installed or Path(temporary)
        momagames = Path(sys.executable).parent / "momagames" if given.installed else install(folder)
        archive = ROOT / "benchmarks" / "fronts" / "policies.npz.xz"
        part = ["policies", "--experiment", EXPERIMENT, "--game", GAME, *METHODS, "--archive", str(archive)]
        report, latex, leaderboard = submit(momagames, folder, part)
    print(f"hypervolume ratio of the network: report {report:.3f}, LaTeX {latex:.3f}, leaderboard {leaderboard:.3f}")
    print(f"all: {time.perf_counter() - started:.0f} s")
    if not report or {f"{report:.3f}", f"{latex:.3f}"} != {f"{leaderboard:.3f}"}:
        sys.exit("the three ways differ")


if __name__ == "__main__":
    main()
