"""What each game declares for the shared tests, in tests/games/<game>/cases.py.

ORACLE   class of the oracle, an independent implementation of the rules in tests/games/<game>/naive.py. Only test_oracle.py
         of the game and tests/perft use it
SMALL    id -> list of parameters for small and quick games (but of more than 3 steps), of different shapes
GOLDEN   id -> name of a golden file -> seed and parameters ("by": the policy that plays; at random by default)
PERFT    optional, for sequential games with positions {"board": ..., "next_agent": ...}: id -> list of (parameters, board,
         index of the agent to move, depth). The oracle counts sequences of actions; it needs given(board, mover, **parameters),
         mover, legal(agent) and step(action). `python -m tests.perft.count` writes the counts
letters  optional: function (game, objective) -> letters in the formulas of SPEC.md and their values, besides the parameters

A package that is not this one names its ids in the environment variable MOMAGAMES_TEST_IDS, for tests/test_every_game.py and
tests/adapters.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pytest

import momagames
from momagames.contract import Game
from momagames.games import VERSIONS


def folder_of(id: str) -> str:
    """The folder of a built-in game, such as "samegame"."""
    return VERSIONS[id].factory.partition(":")[0].rpartition(".")[2]


def find_problems(id: str) -> list[str]:
    """Sentences that say which declarations of an id are missing, and what to write."""
    folder = f"tests/games/{folder_of(id)}"
    name = f"{folder.replace('/', '.')}.cases"
    if find_spec(folder.replace("/", ".")) is None or find_spec(name) is None:
        return [f"{folder}/cases.py is missing: declare ORACLE, SMALL and GOLDEN there, see tests/cases.py"]
    module = import_module(name)
    problems = []
    if not isinstance(getattr(module, "ORACLE", None), type):
        problems.append(
            f"{folder}/cases.py: set ORACLE to the class of the oracle that {folder}/naive.py implements from SPEC.md"
        )
    if find_spec(f"{folder.replace('/', '.')}.test_oracle") is None:
        problems.append(f"{folder}/test_oracle.py is missing: play whole games by the rules and by the oracle and compare them")
    if not getattr(module, "SMALL", {}).get(id):
        problems.append(f"{folder}/cases.py: add SMALL[{id!r}], a list of parameters for small games ([{{}}] for the defaults)")
    if not getattr(module, "GOLDEN", {}).get(id):
        example = '{"default": {"seed": 1}}'
        problems.append(f"{folder}/cases.py: add GOLDEN[{id!r}] = {example} and run python -m tests.playthrough {id}")
    return problems


def cases_of(id: str) -> ModuleType | None:
    """The case file of a game, or None if it is incomplete; tests/games/test_cases.py says what is missing."""
    return None if find_problems(id) else import_module(f"tests.games.{folder_of(id)}.cases")


def collect(table: str) -> dict[str, Any]:
    """The entries of one table for every id that has them, in the order of the ids."""
    found = {id: getattr(cases_of(id), table, {}).get(id) for id in VERSIONS}
    return {id: entry for id, entry in found.items() if entry}


def group_families(games: Iterable[Any]) -> list[list[Any]]:
    """Games, or ids, in groups of the same rules and number of parts of an action; they differ in parameters only."""
    groups: dict[tuple[str, int], list[Any]] = {}
    for one in games:
        game = momagames.spec(one) if isinstance(one, str) else one
        groups.setdefault((game.rules_key.partition(".")[0], len(game.actions)), []).append(one)
    return list(groups.values())


def pick_pairs(games: Iterable[Any], ways: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Pairs (game, way) for tests of what every game shares: each game is in a pair, and each family meets every way."""
    ways = list(ways)
    return [
        (family[i % len(family)], ways[i % len(ways)])
        for family in group_families(games)
        for i in range(max(len(family), len(ways)))
    ]


def name_case(value: Any) -> str | None:
    """The name of a game in the id of a test: its id and the number of agents; None for other values."""
    return f"{value.id}-{len(value.agents)}" if isinstance(value, Game) else None


def mark_variants(cases: Iterable[Any]) -> list[Any]:
    """Games, or tuples that begin with one, as parameters: those of variants of the rules that others have are long.

    A variant, such as `tileblast.strict`, is compiled by itself, which takes seconds for the loops of a batch.
    """
    tuples = [case if isinstance(case, tuple) else (case,) for case in cases]
    keys = {case[0].rules_key for case in tuples}
    variants = {key for key in keys if key.partition(".")[0] in keys - {key}}
    return [pytest.param(*case, marks=[pytest.mark.long] if case[0].rules_key in variants else []) for case in tuples]


SMALL: dict[str, list[dict[str, Any]]] = collect("SMALL")
SMALL |= {id: [{}] for id in os.environ.get("MOMAGAMES_TEST_IDS", "").split()}
GAMES = [momagames.spec(id, **params) for id, kinds in SMALL.items() for params in kinds]
ONE_OF_EACH = [family[0] for family in group_families(SMALL)]  # an id of each family
GOLDEN: dict[str, dict[str, dict[str, Any]]] = collect("GOLDEN")
PERFT: dict[str, list[Any]] = collect("PERFT")
