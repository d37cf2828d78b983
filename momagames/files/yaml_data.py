"""YAML of files and texts, within limits, as plain data: mappings, lists, texts, numbers, true, false and null."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, NoReturn

import yaml

from momagames.errors import InvalidFile

MAX_BYTES = 256 << 10
MAX_DEPTH = 50  # of lists and mappings within each other
MAX_NODES = 20_000  # keys, values and items of lists
MAX_DIGITS = 100  # characters of a number
EXPONENT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+$")
PLAIN = ("null", "bool", "int", "float", "str", "seq", "map")


class YamlLoader(yaml.SafeLoader):
    """Safe loader of plain data within limits. Every error is a MarkedYAMLError with line and column.

    Not accepted: aliases and tags, which let a small file unfold into a huge one or name other types; duplicate keys; infinite
    numbers. A date is a text.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._depth = self._nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            self._reject("aliases (*name) and anchors (&name) are not allowed", event)
        if event.tag:
            self._reject(f"tags ({event.tag.replace('tag:yaml.org,2002:', '!!')}) are not allowed", event)
        self._nodes += 1
        self._depth += 1
        if self._nodes > MAX_NODES:
            self._reject(f"more than {MAX_NODES:,} keys and values", event)
        if self._depth > MAX_DEPTH:
            self._reject(f"nested too deeply: expected at most {MAX_DEPTH} levels", event)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        known: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, (str, int, float, bool, type(None))):
                self._reject("a key is a list or a mapping", key_node)
            if key in known:
                self._reject(f"duplicate key {key!r}", key_node)
            known.add(key)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        return construct_scalar(node) if isinstance(node, yaml.ScalarNode) else super().construct_object(node, deep)

    def _reject(self, problem: str, place: Any) -> NoReturn:
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=place.start_mark)


# A word or number that looks like something else, such as a date or the merge key <<, is a text.
YamlLoader.yaml_implicit_resolvers = {
    first: matching
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    if (matching := [(tag, pattern) for tag, pattern in pairs if tag.rpartition(":")[2] in PLAIN])
}
# 1e-3 is a number in YAML 1.2 and everywhere else, but a text in YAML 1.1
YamlLoader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("+-.0123456789"))  # type: ignore[no-untyped-call]


def construct_scalar(node: yaml.ScalarNode) -> Any:
    """Return the data of a key or value. Raises MarkedYAMLError."""
    kind, problem = node.tag.rpartition(":")[2], ""
    if kind in ("int", "float") and len(node.value) > MAX_DIGITS:
        problem = f"a number of {len(node.value):,} characters: expected at most {MAX_DIGITS}"
    else:
        try:
            value = yaml.constructor.SafeConstructor().construct_object(node)
            if not isinstance(value, float) or isfinite(value):
                return value
            problem = f"invalid number {node.value}: expected a finite one"
        except (ValueError, OverflowError) as error:
            problem = f"invalid {kind} {node.value!r}: {error}"
    raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def parse_yaml(text: str, place: str) -> Any:
    """Return the data of a YAML text. Raises InvalidFile, with line and column; `place` names the text."""
    try:
        return yaml.load(text, YamlLoader)
    except yaml.YAMLError as error:
        problem, at = describe_error(error)
        raise InvalidFile(f"{place}: {'line {}, column {}: '.format(*at) if at else ''}{problem}") from None


def format_yaml(data: Any) -> str:
    """Return data as the text of a YAML file, short lists and mappings on one line."""
    return yaml.safe_dump(data, sort_keys=False, width=128, default_flow_style=None, allow_unicode=True)


def describe_error(error: yaml.YAMLError) -> tuple[str, tuple[int, int] | None]:
    """Return the problem as one line, and its line and column, from 1, if they are known."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or str(error)
    return " ".join(problem.split()), (mark.line + 1, mark.column + 1) if mark else None
