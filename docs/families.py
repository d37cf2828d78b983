"""Families of games: ids whose rules are in one folder, and share a page and a specification."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from momagames import registry
from momagames.games import BENCHMARK


def spec_file(id: str) -> Path:
    """Return the SPEC.md of an id, which stands beside the module that makes the game."""
    module = import_module(registry.find_entry(id).factory.partition(":")[0])
    return Path(str(module.__file__)).parent / "SPEC.md"


def page_file(id: str) -> Path:
    """Return the PAGE.md of an id, which stands beside its SPEC.md."""
    return spec_file(id).with_name("PAGE.md")


def find_family(id: str) -> str:
    """Return the name of the family of an id, which is that of its page."""
    return spec_file(id).parent.name


def list_families() -> dict[str, list[str]]:
    """Return the ids of each family of the benchmark."""
    families: dict[str, list[str]] = {}
    for id in BENCHMARK:
        families.setdefault(find_family(id), []).append(id)
    return families
