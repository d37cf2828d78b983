"""Decisions of learning agents per second of training, updates included, for the learners of targets.py.

python -m benchmarks.learning.rates                                   # one core: per CPU second, whatever else runs
python -m benchmarks.learning.rates samegame tileblast --seconds 20   # some targets, longer
python -m benchmarks.learning.rates --threads 2                       # an idle machine: compare the rates per second

Compilation and the first iteration are not measured. Budgets are those of the targets, so that all is as in these trainings.
"""

from __future__ import annotations

import argparse
import os
import time

from benchmarks.learning.targets import FIRST_SEED, TARGETS, Target

# target -> learners; the bars, in decisions per second on two cores
RATES = {
    "samegame": (("grpo", "cross_entropy"), 25_000),
    "pommerman-duel": (("moppo",), 30_000),
    "breakthrough": (("ntuple",), 200_000),
    "tileblast": (("grpo", "cross_entropy"), 25_000),
    "robotmail-4": (("moppo",), 30_000),
}


def measure(target: Target, learner: str, seconds: float, threads: int) -> tuple[float, float]:
    """Return decisions per CPU second and per second, over at least that many CPU seconds and two iterations."""
    training = target.make_training(learner, FIRST_SEED, None)
    trainer = training.options.make_trainer(training.make_setup(threads))
    trainer.train_iteration()
    first, cpu, wall, iterations = trainer.decisions, time.process_time(), time.perf_counter(), 0
    while iterations < 2 or time.process_time() - cpu < seconds:
        trainer.train_iteration()
        iterations += 1
    decisions = trainer.decisions - first
    return decisions / (time.process_time() - cpu), decisions / (time.perf_counter() - wall)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="TARGET", help=f"{', '.join(RATES)} (all)")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds of each learner (10)")
    parser.add_argument("--threads", type=int, default=1, help="number of threads (1)")
    given = parser.parse_args()
    print("| target | learner | decisions per CPU second | per second | bar on two cores | load |\n|---|---|---|---|---|---|")
    for name in given.names or RATES:
        learners, bar = RATES[name]
        for learner in learners:
            per_cpu, per_second = measure(TARGETS[name], learner, given.seconds, given.threads)
            load = os.getloadavg()[0]
            print(f"| {name} | {learner} | {per_cpu:,.0f} | {per_second:,.0f} | {bar:,} | {load:.1f} |", flush=True)


if __name__ == "__main__":
    main()
