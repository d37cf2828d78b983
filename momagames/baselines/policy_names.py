"""Names of policies that stand for files, and their parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from momagames.contract import Game
from momagames.errors import InvalidParameter, invalid_value
from momagames.files.yaml_data import parse_yaml
from momagames.plugins import Origin, is_python_path, list_texts

CHECKPOINT = ".npz"  # suffix of the files of trained policies
MAX_FILTERS = 10  # of a policy, one in another
CLOSING = {"(": ")", "[": "]", "{": "}"}
SAFE = "safe:"  # prefix of policies that are filtered by the safe actions that a game declares


def strip_safe(name: str) -> str:
    """Return the name of the policy that is filtered, without any "safe:" before it. Raises InvalidParameter for too many."""
    inner = name[len(re.match(f"({SAFE})*", name).group()) :]  # type: ignore[union-attr]  # it matches every text
    if (len(name) - len(inner)) // len(SAFE) > MAX_FILTERS:
        raise InvalidParameter(invalid_value("policy", name, f"at most {MAX_FILTERS} times {SAFE!r} before a name"))
    return inner


def parse_call(text: str, what: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a text such as "greedy" or "mine:Player(weights=lattice, rate=0.1)"; values are YAML.

    what      is named, for errors
    Raises    InvalidParameter, InvalidFile
    """
    name, bracket, rest = text.partition("(")
    values: dict[str, Any] = {}
    if bracket and not rest.endswith(")"):
        raise InvalidParameter(invalid_value(what, text, "NAME or NAME(OPTION=VALUE, ...)"))
    for part in _split_options(rest.removesuffix(")")):
        option, equals, value = part.partition("=")
        if not equals or not option.strip():
            raise InvalidParameter(invalid_value(what, text, "NAME or NAME(OPTION=VALUE, ...)"))
        values[option.strip()] = parse_yaml(value, f"option {option.strip()} of {name}")
    return name.strip(), values


def _split_options(text: str) -> Iterator[str]:
    """Yield the parts of a text between the commas outside of brackets."""
    part, open_brackets = "", list[str]()
    for letter in text:
        if letter in CLOSING:
            open_brackets.append(CLOSING[letter])
        elif open_brackets and letter == open_brackets[-1]:
            open_brackets.pop()
        if letter == "," and not open_brackets:
            yield part
            part = ""
        else:
            part += letter
    if part.strip():
        yield part


def find_checkpoint(name: Any) -> Path | None:
    """Return the file that a name of trained policies stands for, such as "FILE.npz" or "safe:FILE.npz"; None: no file."""
    return Path(strip_safe(name)) if isinstance(name, str) and name.endswith(CHECKPOINT) else None


def check_stored_options(name: str, options: Mapping[str, Any], game: Game, origin: Origin, pinned: Path | None = None) -> None:
    """Raise InvalidFile for options that their origin may not say: names of code and addresses, and of files elsewhere.

    pinned    a file that may be elsewhere, because its checksum is compared
    """
    if origin.allows_all:
        return
    for option, value in options.items():
        for text in list_texts(value):
            inner, what = strip_safe(text), f"{name}.{option}"
            if is_python_path(inner) or inner.partition(":")[0] in game.original.policy_prefixes:
                origin.check_name(what, text)
            if (path := find_checkpoint(inner)) and path != pinned:
                origin.check_file(what, path)
