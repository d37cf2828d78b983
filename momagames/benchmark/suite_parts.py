"""Parts of suites with further methods: the same settings, budgets, episodes and reference sets, and complete files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from momagames.baselines.base import Method
from momagames.baselines.policy_names import parse_call
from momagames.benchmark.choices import PINNED, MethodChoice, label_methods
from momagames.benchmark.runner import Shard, name_game
from momagames.benchmark.suite_files import check_suite, validate_model
from momagames.benchmark.suites import Experiment, Suite
from momagames.errors import InvalidParameter
from momagames.files.yaml_data import format_yaml
from momagames.plugins import is_python_path


def take_part(suite: Suite, chosen: Shard, added: Sequence[MethodChoice] = ()) -> Suite:
    """Return the part of a suite with the chosen experiments, games, methods and seeds, and further methods.

    Those that make plans are for experiments of plans, and those with policies for experiments of policies. A further method of
    the package has the options that it does not state from the suite (see `MethodChoice.fill_options`). The part keeps the
    name of the suite and the labels of its methods, and runs that both have are the same runs. Raises
    InvalidParameter for names that no run has, and for further methods without an experiment of their kind
    """
    chosen.select(suite)
    parts = tuple(part for experiment in suite.experiments if (part := _take_experiment(experiment, chosen, added)))
    for one in added:
        if not any(_has_kind(one.find_method(part.games[0].make_game()), part) for part in parts):
            kinds = " or ".join(sorted({part.kind for part in parts}))
            raise InvalidParameter(f"{one.name} goes with no experiment: expected a method for experiments of kind {kinds}")
    return check_suite(suite.model_copy(update={"experiments": parts}), f"suite {suite.name}")


def _take_experiment(experiment: Experiment, chosen: Shard, added: Sequence[MethodChoice]) -> Experiment | None:
    """Return the part of an experiment; None if it has no run."""
    labels = label_methods(experiment.methods)

    def is_chosen(values: Sequence[Any], *names: Any) -> bool:
        return not values or any(name in values for name in names)

    games = tuple(one for one in experiment.games if is_chosen(chosen.games, *name_game(one)))
    methods = tuple(one for one in experiment.methods if is_chosen(chosen.methods, one.name, labels[one.key]))
    seeds = tuple(seed for seed in experiment.seeds if is_chosen(chosen.seeds, seed))
    if not (is_chosen(chosen.experiments, experiment.name) and games and methods and seeds):
        return None
    labeled = [one if labels[one.key] == one.name else one.model_copy(update={"label": labels[one.key]}) for one in methods]
    game = games[0].make_game()
    fitting = [one.fill_options(game, experiment.methods) for one in added if _has_kind(one.find_method(game), experiment)]
    names = {one.name for one in (*methods, *fitting)}
    update: dict[str, Any] = {"games": games, "methods": (*labeled, *fitting), "seeds": seeds}
    update["roles"] = {name: role for name, role in experiment.roles.items() if name in {labels[one.key] for one in methods}}
    if budgets := getattr(experiment, "budgets", {}):
        update["budgets"] = {name: steps for name, steps in budgets.items() if name in names}
    return experiment.model_copy(update=update)


def _has_kind(kind: type[Method], experiment: Experiment) -> bool:
    """Return whether a method makes what an experiment compares."""
    if experiment.kind == "plans":
        return kind.plan is not Method.plan
    return kind.trains or kind.policies is not Method.policies


def parse_method(text: str) -> MethodChoice:
    """Return the method of a text such as "mine:Player" or "mine:Player(weights=lattice, rate=0.1)".

    Raises InvalidParameter, InvalidFile.
    """
    name, values = parse_call(text, "method")
    own: dict[str, Any] = {key: values.pop(key) for key in ("weights", "label") if key in values}
    return validate_model(MethodChoice, {"name": name, "options": values, **own}, f"method {name}")


def format_suite(suite: Suite) -> str:
    """Return a suite as the YAML file that `load_suite` reads, with every option; your own code may change afterwards."""
    data = suite.model_dump(mode="json", exclude_defaults=True)
    for method in (method for experiment in data["experiments"] for method in experiment["methods"]):
        if is_python_path(method["name"]):
            method["options"].pop(PINNED, None)
    return format_yaml(data)
