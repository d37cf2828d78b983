"""Help pages: every command has a group and an example, and the example is a valid call of this command."""

import re
import shlex

import pytest
import typer

from momagames import registry
from momagames.cli.app import app
from momagames.cli.examples import GROUPS
from momagames.plugins import load_object


def list_commands():
    """Yield the words and the command of everything that can be called."""
    main = typer.main.get_command(app)
    roots = {name: main.commands[name] for name in main.commands}
    roots |= {name: typer.main.get_group(load_object(one.app)) for name, one in registry.commands().items()}
    for name, command in roots.items():
        parts = getattr(command, "commands", {None: command})
        for part, inner in parts.items():
            yield (name, *([part] if part else [])), inner


COMMANDS = dict(list_commands())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_a_valid_example(words):
    command = COMMANDS[words]
    (example,) = re.findall(r"^Example: momagames (.*)$", command.epilog or "")
    given = shlex.split(example)
    assert given[: len(words)] == list(words)
    command.make_context(words[-1], given[len(words) :])  # raises for options and arguments that it does not have


def test_every_command_is_in_a_group():
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(names) == sorted(typer.main.get_command(app).commands)
