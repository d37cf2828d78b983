"""Level files as text (SPEC §10.1): YAML or JSON as plain data, with the place of every part in the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from momagames.files.yaml_data import YamlLoader, construct_scalar, describe_error
from momagames.games.tileblast.levels.problem import Path, Problem

LITERAL = "|"


@dataclass
class Document:
    """A parsed text.

    data      mappings with text as keys (also where YAML would read a number), lists, texts, numbers
    places    path of a part -> its line and column, from 1
    problems  syntax errors and duplicate keys
    """

    text: str
    data: Any = None
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines = self.text.splitlines()
        try:
            # JSON allows tabs as space, YAML does not; JSON has no tabs within its strings
            node = yaml.compose(self.text.replace("\t", " "), Loader=YamlLoader)
            self.data = self.read_node(node, ()) if node else None
        except yaml.YAMLError as error:
            problem, at = describe_error(error)
            self.problems.append(Problem((), f"invalid YAML: {problem}", at))

    def read_node(self, node: yaml.Node, path: Path, key: yaml.Node | None = None) -> Any:
        """Return the data of a node; store its place, or that of its key."""
        self.places[path] = start_position(key or node)
        if isinstance(node, yaml.MappingNode):
            data = {}
            for key, part in node.value:
                name = key.value if isinstance(key, yaml.ScalarNode) else str(key.value)
                if name in data:
                    self.problems.append(Problem((*path, name), f"duplicate key {name!r}", start_position(key)))
                data[name] = self.read_node(part, (*path, name), key)
            return data
        if isinstance(node, yaml.SequenceNode):
            return [self.read_node(part, (*path, k)) for k, part in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        if node.style == LITERAL:
            self.locate_lines(node, path)
        return construct_scalar(node)

    def locate_lines(self, node: yaml.ScalarNode, path: Path) -> None:
        """Store the places of the lines of a multi-line text."""
        first = node.start_mark.line + 1
        indent = min((len(line) - len(line.lstrip(" ")) for line in self._lines[first : first + 1]), default=0)
        for k in range(len(node.value.splitlines())):
            self.places[(*path, k)] = (first + 1 + k, indent + 1)

    def locate(self, problem: Problem) -> Problem:
        """Return the problem with its place, or with the place of the part that contains it."""
        for length in range(len(problem.path), -1, -1):
            if (place := self.places.get(problem.path[:length])) and not problem.place:
                line, column = place
                if problem.cell and length == 2:  # the place of the line is known
                    column += int(problem.path[2])
                return problem.with_place((line, column))
        return problem


def start_position(node: yaml.Node) -> tuple[int, int]:
    """Return line and column of a node, from 1."""
    return node.start_mark.line + 1, node.start_mark.column + 1


class Dumper(yaml.SafeDumper):
    """YAML dumper that writes multi-line texts line by line."""


Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style=LITERAL if "\n" in text else None),
)


def format_level(data: dict[str, Any]) -> str:
    """Return the text of a level file with these data."""
    return str(yaml.dump(data, Dumper=Dumper, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120))
