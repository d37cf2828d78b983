"""The smallest suite that has everything, and a run that fails: shared by the tests of runner, store and report."""

from momagames.benchmark.store.checksums import hash_files, write_checksums
from momagames.benchmark.store.store import HASHED
from momagames.benchmark.suite_files import load_suite

INDICATORS = {
    "names": [
        "hypervolume",
        "normalized_hypervolume",
        "hypervolume_ratio",
        "igd_plus",
        "epsilon",
        "expected_utility",
        "sampled_utility",
        "maximum_utility_loss",
        "cardinality",
        "rounded_cardinality",
        "sparsity",
        "controllability",
        "ordering_score",
        "delivered_utility",
        "coverage_utility",
        "utility_regret",
    ],
    "margin": 0.01,
    "confidence": 0.95,
    "resamples": 500,
}


def plans(methods, seeds=(0, 1), id="mo-gemwalk-v0", **params):
    return {
        "name": "boards 0",
        "kind": "plans",
        "ideal_point": "reference",
        "games": [{"id": id, "params": params}],
        "methods": methods,
        "seeds": list(seeds),
        "seconds": 300,
        "budget": 300,
    }


RANDOM = {"name": "random", "options": {}}
GREEDY = {"name": "greedy", "options": {"divisions": 2}}
EXACT = {"name": "exact", "options": {"max_states": 100_000, "max_bytes": 100_000_000}}
HOPELESS = {"name": "exact", "options": {"max_states": 1, "max_bytes": 100_000_000}}
POLICIES = {
    "name": "seats",
    "kind": "policies",
    "ideal_point": "declared",
    "games": [{"id": "mo-breakthrough-v0", "params": {"board_width": 3, "board_height": 5}}],
    "methods": [RANDOM, {"name": "greedy", "options": {"divisions": 1}}],
    "opponents": [{"name": "random", "options": {}}, {"name": "greedy", "options": {"weights": [0.0, 0.0, 1.0, 0.0]}}],
    "seats": [],
    "seeds": [0, 1],
    "seconds": 300,
    "budget": 0,
    "select_episodes": 3,
    "report_episodes": 5,
}


def seal(place):
    """Make the files of a run what they would be if they had been written like this."""
    write_checksums(place, hash_files(place, HASHED))


def suite(*experiments):
    return load_suite(
        {"name": "tiny", "description": "<tests> & more", "experiments": list(experiments), "indicators": INDICATORS}
    )


def whole():
    return suite(plans([RANDOM, GREEDY]), POLICIES)


def broken():
    return suite(plans([RANDOM, HOPELESS], seeds=[0]))
