"""Numbers of methods, from which figures take colors and symbols (`figures.theme`): equal in every report and on every page."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from momagames import registry
from momagames.baselines import SAFE
from momagames.benchmark.choices import label_methods
from momagames.benchmark.suites import Suite

# Those of one comparison are in different columns where possible: colors differ most between columns of the first row, and
# numbers of a column with different symbols may share a color. The methods of a family in a suite have different colors.
KNOWN = (
    ("random", "greedy", "greedy(estimate=both)", "pareto_uct", "uct", "nsga2",
     "cma", "cross_entropy", "grpo", "moppo", "champion", "ntuple"),
    ("hindsight_random", "", "pcn", "maskable_ppo", "local_search", "beam",
     "", "nrpa", "pareto_nrpa", "", "exact", "nested_rollouts"),
    ("solved", "", "", "", "", "",
     "", "envelope", "gpi_ls", "", "", ""),
    ("", "", "", "", "hindsight_local_search", "hindsight_beam",
     "hindsight_nrpa", "safe:random", "hindsight_pareto_nrpa", "", "", ""),
)  # fmt: skip
COLUMNS = len(KNOWN[0])
SCRIPTED_COLUMNS, SAFE_COLUMNS = (11, 6, 8), (1, 2, 3)  # of a game's own policies in their order, and of them with a filter
COLOR_ROWS = 3  # after so many rows below the first one the colors of a column begin again
FIRST_OTHER = COLUMNS * 7  # number of the first method that is not known here


def number_methods(suite: Suite) -> dict[str, int]:
    """Return the number of each method of a suite, in order of appearance.

    Known methods and the policies of games have the same number in every suite. Others have numbers of colors that no method
    before them has, as long as there are any.
    """
    names = dict.fromkeys(name for experiment in suite.experiments for name in label_methods(experiment.methods).values())
    return assign_numbers(names)


def assign_numbers(names: Iterable[str]) -> dict[str, int]:
    """Return the number of each method by its name (see `number_methods`)."""
    known = {**_number_known(), **_number_scripted()}
    given = list(names)
    found = {name: known[name] for name in given if name in known}
    for name in given:
        if name not in found:
            number = known.get(name.partition("(")[0])
            found[name] = _choose_free(found) if number is None or number in found.values() else number
    return {name: found[name] for name in given}


def _number_known() -> dict[str, int]:
    return {name: i for i, name in enumerate(name for row in KNOWN for name in row) if name}


@cache
def _number_scripted() -> dict[str, int]:
    """Return the numbers of the policies of games: a color for each place in a game, a symbol for each family of games."""
    families: dict[str, dict[str, None]] = {}
    for id in registry.ids():
        game = registry.spec(id)
        families.setdefault(game.title, {}).update(dict.fromkeys(game.policies))
    found: dict[str, int] = {}
    for row, policies in enumerate(filter(None, families.values())):
        for place, name in enumerate(policies):
            for prefix, columns in (("", SCRIPTED_COLUMNS), (SAFE, SAFE_COLUMNS)):
                rows = len(KNOWN) + row + place // len(columns)
                column = columns[(place + row // COLOR_ROWS) % len(columns)]
                found.setdefault(prefix + name, rows * COLUMNS + column)
    return found


def _choose_free(found: dict[str, int]) -> int:
    """Return a number for another method, of a color without a method if there is one."""
    colors = {number % COLUMNS for number in found.values()}
    numbers = set(range(FIRST_OTHER, FIRST_OTHER + COLUMNS * (1 + len(found)))) - set(found.values())
    return min(numbers, key=lambda number: (number % COLUMNS in colors, number))
