"""The page of the command line: every command with its arguments, options and example, from what --help prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from game_pages import table, update_file

from momagames import registry
from momagames.cli.app import app
from momagames.cli.examples import GROUPS, OTHERS
from momagames.plugins import load_object

HEAD = """\
# Command line

Every command with its options, as `momagames COMMAND --help` prints them. `-p NAME=VALUE` and `-O NAME=VALUE` may be repeated.
`momagames --version` prints the version.
"""


def escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def name_parameter(parameter: Any) -> str:
    """Return the names of an option, or of an argument as it is written, with the placeholder of its value."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    return names if parameter.is_flag or not parameter.metavar else f"{names} {escape(parameter.metavar)}"


def describe_parameter(parameter: Any) -> str:
    """Return the help text of a parameter, with its choices and its default."""
    text = escape(parameter.help or "")
    choices = [str(one) for one in getattr(parameter.type_descriptor.annotation, "__args__", ()) if isinstance(one, str)]
    text += f" One of {', '.join(f'`{one}`' for one in choices)}." if choices else ""
    default = parameter.default
    is_plain = default is not None and default is not False and default != "" and not callable(default)
    return f"{text} Default: `{default}`." if is_plain else text


def describe_command(name: str, command: Any) -> Iterator[str]:
    """Yield the section of a command, or those of the commands of a group."""
    if hasattr(command, "commands"):
        yield from (f"### momagames {name}", "", escape(command.help or ""), "")
        for part in command.commands:
            yield from describe_command(f"{name} {part}", command.commands[part])
        return
    depth = "####" if " " in name else "###"
    yield from (
        f"{depth} momagames {name}",
        "",
        *(line for text in (command.help or "").split("\n\n") for line in (escape(text), "")),
    )
    rows = [(name_parameter(one), describe_parameter(one)) for one in command.params if one.name != "help" and not one.hidden]
    if rows:
        yield from table(("option", "meaning"), rows)
    if command.epilog:
        yield from ("```console", f"$ {command.epilog.removeprefix('Example: ')}", "```", "")


def write_command_page(page: Path) -> list[str]:
    """Write the page; return its name if it has changed."""
    main, lines = typer.main.get_command(app), [HEAD]
    commands: dict[str, Any] = dict(main.commands)  # type: ignore[attr-defined]
    for name, one in registry.commands().items():
        commands[name] = typer.main.get_group(load_object(one.app))
    for group, names in {**GROUPS, OTHERS: tuple(registry.commands())}.items():
        lines += [f"## {group}", ""]
        for name in names:
            lines += describe_command(name, commands[name])
    return [page.name] if update_file(page, "\n".join(lines)) else []
