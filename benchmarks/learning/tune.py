"""Tune the learners of a suite: random options, short trainings, and the options that are best in episodes of their own.

    python benchmarks/learning/tune.py SUITE FILE [--experiment NAME ...] [--method NAME ...] [--trials N]
    python benchmarks/learning/tune.py SUITE FILE --choose OPTIONS.yaml

Every trained method of an experiment gets the same number of trials in its first setting: the options of the suite, and random
ones from the ranges below. A trial trains with a share of the budget, for each tuning seed, and its policies play episodes that
neither training nor the suite's own runs see. Each training is one line of JSON in FILE; those that FILE has are left out, so
that an interrupted search goes on, and several processes may share the work by method. `--choose` scores all trials of FILE by
expected utility, scaled by the front of them all, and writes the best options of each method in each experiment.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from momagames.analysis.arrays import filter_dominated, normalize
from momagames.analysis.utilities import expected_utility, utility_weights
from momagames.benchmark import load_suite
from momagames.benchmark.choices import MethodChoice
from momagames.benchmark.evaluate import measure_policies
from momagames.benchmark.suites import PoliciesExperiment
from momagames.files.writing import write_file_atomically

SEEDS = 100, 101, 102  # those of suites are below 100
SHARE = 0.2  # of the budget
EPISODES = 100
EPISODE_SET = "tuning-1"


def spread(low: float, high: float) -> tuple[float, float]:
    """A range from which values are drawn uniformly on the logarithmic scale."""
    return low, high


# option -> a list of values, or a range
GRADIENT: dict[str, Any] = {"learning_rate": spread(3e-4, 5e-3), "update_epochs": [1, 2, 4]}
RANGES: dict[str, dict[str, Any]] = {
    "moppo": {
        **GRADIENT, "ent_coef": spread(1e-3, 3e-2), "gae_lambda": [0.9, 0.95, 0.98], "num_envs": [64, 128, 256, 512],
        "num_steps": [16, 32, 64, 128], "num_minibatches": [4, 8, 16], "modulation": [0.35, 0.7, 1.4],
        "concentration": [0.2, 0.4, 0.7, 1.0], "hidden": [64, 128], "gamma": [0.99, 0.997, 1.0],
        "self_play": [0.0, 0.25, 0.5], "clip_coef": [0.1, 0.2, 0.3],
    },
    "grpo": {
        **GRADIENT, "learning_rate": spread(1e-3, 3e-2), "hidden": [16, 32, 64], "groups": [4, 8, 16], "group_size": [4, 8, 16],
        "num_minibatches": [2, 4, 8], "clip_coef": [0.1, 0.2, 0.3],
    },
    "cross_entropy": {"population": [12, 20, 40], "elites": [4, 5, 8], "episodes": [2, 4, 8]},
    "nsga2": {"population": [12, 20, 40, 80], "episodes": [2, 4, 8, 16]},
    "cma": {"population": [6, 8, 12, 16], "episodes": [2, 4, 8, 16], "sigma": spread(0.1, 1.0)},
    "ntuple": {
        "alpha": spread(0.3, 3.0), "td_lambda": [0.4, 0.7, 0.9], "epsilon": [0.0, 0.05, 0.1], "opening": [0, 4, 8],
    },
    "pcn": {
        "learning_rate": spread(5e-4, 2e-2), "hidden_dim": [64, 128, 256], "batch_size": [128, 256, 512],
        "random_episodes": [20, 100, 400], "episodes": [10, 20], "updates": [20, 50], "max_buffer_size": [100, 200, 500],
    },
    "maskable_ppo": {
        **GRADIENT, "net_arch": [[64, 64], [128, 128]], "num_steps": [512, 1024, 2048, 4096], "batch_size": [64, 256, 512],
        "update_epochs": [2, 4, 10], "ent_coef": spread(1e-3, 3e-2), "gamma": [0.99, 0.997, 1.0],
    },
}  # fmt: skip
# of moppo where its network scores candidate actions, most of whose steps are look-ahead
CANDIDATE_RANGES: dict[str, Any] = {
    **RANGES["moppo"], "learning_rate": spread(3e-3, 3e-2), "hidden": [16, 32, 64], "num_envs": [32, 64, 128],
    "num_steps": [16, 32], "advantage_scaling": ["common", "weights"],
}  # fmt: skip


def draw_options(method: MethodChoice, trial: int) -> dict[str, Any]:
    """Return the options of a trial: those of the suite first, then random ones."""
    if not trial:
        return method.options
    rng = np.random.default_rng([trial, *method.name.encode()])
    drawn = {}
    ranges = CANDIDATE_RANGES if method.options.get("network") == "candidates" else RANGES[method.name]
    for name, values in ranges.items():
        if isinstance(values, tuple):
            drawn[name] = float(f"{np.exp(rng.uniform(*np.log(values))):.2g}")
        else:
            drawn[name] = values[rng.integers(len(values))]
    return {**method.options, **{name: value for name, value in drawn.items() if name in method.options}}


def list_trials(experiment: PoliciesExperiment, methods: list[str], trials: int) -> Iterator[tuple[int, MethodChoice]]:
    """Yield the trials of the trained methods of an experiment: all first ones, then all second ones."""
    game = experiment.games[0].make_game()
    tuned = [one for one in experiment.methods if one.name in RANGES and one.is_trained(game) and not one.find_file(game)]
    for trial in range(trials):
        for method in tuned:
            if not methods or method.name in methods:
                yield trial, method.model_copy(update={"options": draw_options(method, trial)})


def train_and_play(experiment: PoliciesExperiment, method: MethodChoice, share: float) -> Iterator[dict[str, Any]]:
    """Yield the lines of a trial, one for each seed."""
    changed = {
        "games": experiment.games[:1], "methods": (method,), "seeds": SEEDS, "budget": int(experiment.budget * share),
        "budgets": {name: int(steps * share) for name, steps in experiment.budgets.items()},
        "select_episodes": 1, "report_episodes": EPISODES, "episode_set": EPISODE_SET, "stored_episodes": None,
    }  # fmt: skip
    for run in experiment.model_copy(update=changed).list_runs():
        started = time.process_time()
        points = [values.round(5).tolist() for values in measure_policies(run).values()]
        yield {
            "seed": run.seed,
            "budget": run.budget,
            "returns": points,
            "cpu_seconds": round(time.process_time() - started, 1),
        }


def choose_options(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the best options of each method in each experiment, with expected utilities of them and of the suite's options."""
    chosen: dict[str, dict[str, Any]] = {}
    for experiment in dict.fromkeys(line["experiment"] for line in lines):
        own = [line for line in lines if line["experiment"] == experiment and "returns" in line]
        front = filter_dominated(np.concatenate([line["returns"] for line in own]))
        ends, weights = (front.min(axis=0), front.max(axis=0)), utility_weights(front.shape[1])
        for method in dict.fromkeys(line["method"] for line in own):
            scores: dict[str, list[float]] = {}
            for line in own:
                if line["method"] == method:
                    value = expected_utility(normalize(np.array(line["returns"]), *ends), weights)
                    scores.setdefault(json.dumps(line["options"]), []).append(value)
            means = {options: float(np.mean(values)) for options, values in scores.items()}
            best, first = max(means, key=means.__getitem__), next(iter(means))
            chosen.setdefault(experiment, {})[method] = {
                "trials": len({one["trial"] for one in lines if (one["experiment"], one["method"]) == (experiment, method)}),
                "expected_utility": round(means[best], 4), "before": round(means[first], 4),
                "options": json.loads(best),
            }  # fmt: skip
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("file", type=Path)
    parser.add_argument("--experiment", action="append", default=[])
    parser.add_argument("--method", action="append", default=[])
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--share", type=float, default=SHARE)
    parser.add_argument("--choose", type=Path)
    given = parser.parse_args()
    lines = [json.loads(line) for line in given.file.read_text().splitlines()] if given.file.exists() else []
    if given.choose:
        write_file_atomically(given.choose, yaml.safe_dump(choose_options(lines), sort_keys=False))
        return
    known = {(line["experiment"], line["method"], line["trial"]) for line in lines}
    for experiment in load_suite(given.suite).experiments:
        if not isinstance(experiment, PoliciesExperiment) or (given.experiment and experiment.name not in given.experiment):
            continue
        for trial, method in list_trials(experiment, given.method, given.trials):
            if (experiment.name, method.name, trial) in known:
                continue
            head = {"experiment": experiment.name, "method": method.name, "trial": trial, "options": method.options}
            try:
                found = [{**head, **line} for line in train_and_play(experiment, method, given.share)]
            except ValueError as error:  # options that do not go with the budget or with each other count as a trial
                found = [{**head, "error": str(error)}]
            with given.file.open("a") as out:
                out.writelines(json.dumps(line) + "\n" for line in found)
            seconds = sum(line.get("cpu_seconds", 0) for line in found)
            print(f"{experiment.name}, {method.name}, trial {trial}: {found[0].get('error', f'{seconds:.0f} s')}", flush=True)


if __name__ == "__main__":
    main()
