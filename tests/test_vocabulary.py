"""The words of the project: retired ones must not come back, in identifiers, docstrings, comments, messages or pages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve()
SOURCES = sorted(
    file for folder in ("momagames", "tests", "docs", "benchmarks") for file in (ROOT / folder).rglob("*.py") if file != HERE
)
PAGES = sorted(
    file
    for pattern in ("*.md", "docs/**/*.md", "momagames/**/*.md", "benchmarks/**/*.md", "configs/**/*.yaml",
                    "benchmarks/leaderboard/**/*.yaml", "momagames/**/*.yaml", "momagames/**/*.html", "momagames/**/*.js")
    for file in ROOT.glob(pattern)
)  # fmt: skip

# Words of prose, whatever the case: idioms of the project's first days, and British spellings.
RETIRED_WORDS = frozenset(
    [
        "door",
        "doors",
        "luck",
        "lucky",
        "told",
        "whom",
        "somebody",
        "nobody",
        "everybody",
        "colour",
        "colours",
        "coloured",
        "colouring",
        "neighbour",
        "neighbours",
        "neighbouring",
        "behaviour",
        "behaviours",
        "catalogue",
        "catalogues",
        "favour",
        "favours",
        "centre",
        "centres",
        "centred",
        "grey",
        "greys",
        "artefact",
        "artefacts",
        "normalise",
        "normalised",
        "normalises",
        "normalising",
        "normalisation",
        "scalarise",
        "scalarised",
        "scalarises",
        "scalarising",
        "scalarisation",
        "centralise",
        "centralised",
        "maximise",
        "maximised",
        "maximises",
        "maximising",
        "minimise",
        "minimised",
        "minimises",
        "minimising",
        "optimise",
        "optimised",
        "optimises",
        "optimising",
        "optimisation",
        "penalise",
        "penalised",
        "vectorise",
        "vectorised",
        "vectorising",
        "recognise",
        "recognised",
        "generalise",
        "generalised",
        "generalises",
        "generalisation",
        "initialise",
        "initialised",
        "initialisation",
        "summarise",
        "summarised",
        "serialise",
        "serialised",
        "randomised",
        "analyse",
        "analysed",
        "analysing",
        "modelled",
        "labelled",
    ]
)
RETIRED_PHRASES = re.compile(
    r"\b(?:by lot|lots are drawn|draws? lots|of one mind|broken off|goes on where|go on where|pays? a number|pays numbers"
    r"|steps of the engine|who against whom|worst quarter|takes? folders)\b"
)
WORD = re.compile(r"[A-Za-z]+")
NAME_PART = re.compile(r"([A-Z]?[a-z]+)")  # of a name in CamelCase
# Names: left column of the table that the project agreed on.
RETIRED_NAMES = re.compile(
    r"_?(?:lucks?|lots?|told\w*|kept|taken|shown|aside|hire|judge|bury|stand_as|take_up|thin|sight|headed|harvest|outside|crew"
    r"|foreseen\w*|misfits?|lawful|tell|paid|pay|refuse|attempt|hand_out|sibling|wakeful|patience_s|looks_at|whom|nobody|somebody"
    r"|everybody|laid_out|dry_run_\w+|spread_bits|find_equal|copy_few|spread_few|max_plies|utopia|headline|carry_out|parcel|seat_of|of_text)",
)
RETIRED_CLASSES = frozenset(
    [
        "Play",
        "Shown",
        "Bed",
        "Compiled",
        "Member",
        "Entrant",
        "PythonSeat",
        "Players",
        "Declared",
        "OneAgent",
        "Form",
        "Books",
        "Moment",
        "Crew",
        "Keeper",
        "NotWhole",
        "Site",
        "BadFile",
        "BadLevel",
        "BadState",
        "BadParameter",
        "BadCall",
        "LayoutError",
        "SameDeal",
        "NumberObservations",
        "FillIllegal",
        "Scalarise",
        "Centralise",
        "Record",
        "RecordEpisode",
        "ByAgent",
    ]
)


def retired_words(text: str) -> list[str]:
    low = text.lower().replace("maximise=", "")  # an argument of moocore
    return [word for word in WORD.findall(low) if word in RETIRED_WORDS] + RETIRED_PHRASES.findall(" ".join(low.split()))


def defined_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Names that a source defines: functions, classes, parameters, variables, attributes, imported aliases."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def retired_names(source: str) -> list[str]:
    return [
        f"line {line}: {name}"
        for line, name in defined_names(ast.parse(source))
        if RETIRED_NAMES.fullmatch(name)
        or name in RETIRED_CLASSES
        or retired_words(NAME_PART.sub(r" \1", name).replace("_", " "))
    ]


def prose_of(source: str) -> Iterator[tuple[int, str]]:
    """Comments and strings of a source, docstrings and messages among them."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string


def found_in_source(source: str) -> list[str]:
    words = [f"line {line}: {word}" for line, text in prose_of(source) for word in retired_words(text)]
    return words + retired_names(source)


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.long
def test_sources_use_the_words_of_the_field():
    assert not [f"{name_of(file)} {where}" for file in SOURCES for where in found_in_source(file.read_text())]


def test_pages_use_the_words_of_the_field():
    assert not [f"{name_of(file)}: {word}" for file in PAGES for word in retired_words(file.read_text())]


def test_file_names_use_the_words_of_the_field():
    stems = [file.stem for file in (*SOURCES, *PAGES)]
    assert not [stem for stem in stems if RETIRED_NAMES.fullmatch(stem) or retired_words(stem.replace("_", " "))]


@pytest.mark.parametrize(
    "text",
    ["through every door", "ties are broken by lot", "its luck goes on", "two colours", "to normalise", "steps of the engine"],
)
def test_a_planted_word_is_found(text):
    assert retired_words(text)
    assert found_in_source(f'"""{text.capitalize()}."""')
    assert found_in_source(f"x = 1  # {text}")
    assert found_in_source(f"raise ValueError('{text}')")


@pytest.mark.parametrize(
    "source",
    [
        "def told(): ...",
        "class Bed: ...",
        "def f(luck): ...",
        "kept = 1",
        "self.taken = 2",
        "VECTOR_DOOR = 3",
        "class OpenDoors: ...",
    ],
)
def test_a_planted_name_is_found(source):
    assert found_in_source(source)


def test_words_of_the_field_pass():
    assert not retired_words("The outdoor scene colors an optimistic outlook; pluck the initial vector and the utility.")
    assert not found_in_source('def resolve_action(action):\n    """Return the action that is played."""')
