"""Exact fronts of MO-Gymnasium's small environments: files of the package, and comparisons (docs/mo-gymnasium-fronts.md).

python benchmarks/fronts/environments.py                       # missing files, each by `momagames exact`
python benchmarks/fronts/environments.py --again resource      # files whose name contains this word, again
python benchmarks/fronts/environments.py --compare             # tables: what was solved, and what MO-Gymnasium ships
python benchmarks/fronts/environments.py --minecart            # the points of minecart's convex_coverage_set()
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import mo_gymnasium
import numpy as np

from momagames import fronts
from momagames.cli.app import app
from momagames.tabular.coverage_set import find_cell, is_vertex
from momagames.tabular.proofs import list_corners

DATA = Path(__file__).resolve().parents[2] / "momagames/fronts/data"
TOLERANCE = 1e-6  # of published values: MO-Gymnasium's rewards are float32
CASES: dict[str, list[str]] = {  # name -> arguments of `momagames exact`
    f"{id}{suffix}-gamma-{gamma}": [id, *options, "--gamma", gamma]
    for id, suffix, options, gammas in (
        ("deep-sea-treasure-v0", "", [], ("1", "0.99")),
        ("deep-sea-treasure-concave-v0", "", [], ("1", "0.99")),
        ("deep-sea-treasure-mirrored-v0", "", [], ("1", "0.99")),
        ("fruit-tree-v0", "-depth-5", ["-p", "depth=5"], ("0.99",)),
        ("fruit-tree-v0", "-depth-6", [], ("0.99",)),
        ("fruit-tree-v0", "-depth-7", ["-p", "depth=7"], ("0.99",)),
        ("resource-gathering-v0", "", [], ("0.9", "0.99")),
        ("breakable-bottles-v0", "", [], ("0.9", "0.99")),
        ("breakable-bottles-v0", "-horizon-20", ["--horizon", "20"], ("1",)),
        ("fishwood-v0", "", [], ("1", "0.99")),
        ("four-room-v0", "", ["--claim", "deterministic"], ("1", "0.99")),  # 600,000 states: minutes
    )
    for gamma in gammas
}


def make_files(word: str, again: bool, out: Path) -> None:
    for name, arguments in CASES.items():
        path = out / f"{name}.json.gz"
        if word not in name or (path.exists() and not again):
            continue
        words = ["exact", *arguments, "-o", f"{name}.json.gz"]
        sys.argv = ["momagames", *words]  # the command in the provenance of the file
        app(words, standalone_mode=False)
        Path(f"{name}.json.gz").replace(path)


def compare_files(out: Path) -> None:
    """Print a row for each file, and a row for each point that MO-Gymnasium ships for it."""
    print("| environment | gamma | horizon | claim | points | states | seconds | certificates | bytes of the file |")
    print("|---|---|---|---|---|---|---|---|---|")
    found = {name: fronts.read_front(out / f"{name}.json.gz") for name in CASES if (out / f"{name}.json.gz").exists()}
    for name, front in found.items():
        choice = front.environment
        print(
            f"| `{front.subject}` | {choice.gamma} | {choice.horizon or 'none'} | {front.claim} | {len(front.points)} | "
            f"{front.model.states:,} | {front.method.seconds:.2f} | {len(front.certificates)} | "
            f"{(out / f'{name}.json.gz').stat().st_size:,} |"
        )
    for name, front in found.items():
        published = read_published(front)
        if published is not None:
            print(f"\n{name}: {describe_comparison(front, published)}")
            if "resource" in name:  # its formulas count the first reward with gamma
                gamma = float(front.environment.gamma)
                print(f"divided by gamma: {describe_comparison(front, published / gamma)}")


def read_published(front: fronts.EnvironmentFront) -> np.ndarray[Any, Any] | None:
    """Return MO-Gymnasium's `pareto_front(gamma)`, float64[n, K], or None."""
    inner = front.environment.make().unwrapped
    if not hasattr(inner, "pareto_front"):
        return None
    return np.array(inner.pareto_front(gamma=float(front.environment.gamma)), np.float64)


def describe_comparison(front: fronts.EnvironmentFront, published: np.ndarray[Any, Any]) -> str:
    """Return how the points that are published compare with the front."""
    lines = []
    for point in published:
        gap = np.abs(front.values - point).max(axis=1)
        shape = f"({', '.join(f'{x:.6g}' for x in point)})"
        if gap.min() <= TOLERANCE:
            lines.append((shape, "equal"))
        elif (front.values >= point - TOLERANCE).all(axis=1).any():
            better = front.values[(front.values >= point - TOLERANCE).all(axis=1)][0]
            lines.append((shape, f"dominated by ({', '.join(f'{x:.6g}' for x in better)})"))
        else:
            lines.append((shape, "not dominated by a single point"))
    equal = sum(text == "equal" for _, text in lines)
    new = sum((np.abs(published - value).max(axis=1) > TOLERANCE).all() for value in front.values)
    summary = f"{len(published)} published points, {equal} equal; {new} of {len(front.points)} points are not published"
    return "\n".join([summary, *(f"  {shape}: {text}" for shape, text in lines if text != "equal")])


def check_minecart(gamma: float) -> None:
    """Print for each point of `convex_coverage_set` whether it is best for some weights, exactly."""
    env = mo_gymnasium.make("minecart-deterministic-v0").unwrapped
    points = [tuple(Fraction(repr(float(x))) for x in point) for point in env.convex_coverage_set(gamma=gamma)]
    print(f"minecart-deterministic-v0, gamma {gamma}: {len(points)} points of convex_coverage_set()")
    for point in points:
        others = [other for other in points if other != point]
        if is_vertex(point, others):
            corners = find_cell(point, others)
            weights = [sum(w[k] for w in corners) / len(corners) for k in range(len(point))]
            text = f"best for weights ({', '.join(f'{float(w):.4f}' for w in weights)})"
        else:
            text = "best for no weights"
            rest = [p for p in others if is_vertex(p, [q for q in others if q != p])]
            short = min(height - sum(a * b for a, b in zip(w, point, strict=True)) for w, height in list_corners(rest).items())
            text += f": at least {float(short):.6f} below the best at every weight"
        print(f"  ({', '.join(f'{float(x):.6f}' for x in point)}): {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--minecart", action="store_true")
    parser.add_argument("--out", type=Path, default=DATA, help="Directory of the files: by default that of the package.")
    given = parser.parse_args()
    if given.minecart:
        check_minecart(0.98)
    elif given.compare:
        compare_files(given.out)
    else:
        make_files(given.word, given.again, given.out.resolve())


if __name__ == "__main__":
    main()
