"""Parsers take a time that is linear in the length of a text, whatever it holds."""

import random
import time
from contextlib import suppress

import pytest

import momagames
from momagames.adapters.text.answers import extract_action
from momagames.benchmark.choices import MethodChoice, label_methods
from momagames.errors import MomagamesError
from momagames.files.json_data import parse_json
from momagames.files.yaml_data import parse_yaml
from momagames.games import board_codec
from momagames.games.robotmail.layouts import loader as layouts
from momagames.games.tileblast.levels import loader as levels

LENGTH, FACTOR = 1_500, 8
MOST = 4 * FACTOR  # of the factor of times; it would be FACTOR**2 in a parser of quadratic time
NOISE = 0.02  # seconds of a process
PIECES = [
    "<action>", "</action>", "<", "\n", " ", "a", "1", "-", "(", ")", ",", "[", "]", "{", "}", ": ", '"', "'", "|", "- ", "? ",
    "#", "\\", "=", "a=1 ", "0.", "\ufeff", "w,", "gr;", "k: v\n", "- |\n  a\n", "x: |\n  y\n",
]  # fmt: skip
LEVEL = {
    "id": 0, "title": "t", "moves": 3, "colors": ["red", "blue"], "goals": [{"collect": "basic", "amount": 1}],
    "layout": "\n".join(["." * 13] * 9),
}  # fmt: skip


def read_position(id):
    game = momagames.spec(id)
    return lambda text: game.codec.load(game.make_state()[0], game.codec.read(text))


PARSERS = {
    "answer": extract_action,
    "json": lambda text: parse_json(text, ""),
    "yaml": lambda text: parse_yaml(text, ""),
    "move": board_codec.parse_integers,
    "layout": lambda text: layouts.list_problems({"colors": text, "targets": text}),
    **{id: read_position(id) for id in ("mo-samegame-v0", "mo-tileblast-v0", "mo-robotmail-v0", "mo-pommerman-ffa-v0")},
}


def measure_time(parse, given):
    started = time.process_time()
    with suppress(MomagamesError):
        parse(given)
    return time.process_time() - started


def assert_linear(parse, make):
    """Compare the times of two sizes; a busy machine gets three attempts."""
    for _ in range(3):
        short, long = measure_time(parse, make(LENGTH)), measure_time(parse, make(LENGTH * FACTOR))
        if long < MOST * short + NOISE:
            return
    raise AssertionError(f"{short:.4f} s for {LENGTH}, {long:.4f} s for {LENGTH * FACTOR}")


@pytest.mark.long
@pytest.mark.parametrize("name", PARSERS)
def test_generated_nonsense(name):
    rng = random.Random(0)
    for unit in PIECES + ["".join(rng.choices(PIECES, k=2)) for _ in range(30)]:
        assert_linear(PARSERS[name], lambda length, unit=unit: unit * (length // len(unit)))


def write_duplicate(count):
    return "{" + "".join(f'"{i}": 0, ' for i in range(count)) + f'"{count - 1}": 0}}'


CASES = {
    "a duplicate key at the end": (PARSERS["json"], write_duplicate),
    "texts of several lines": (levels.Document, lambda count: "- |\n  a\n" * count),
    "colors": (levels.list_problems, lambda count: {**LEVEL, "colors": ["-"] * count + ["red"] * count}),
    "labels of methods": (
        label_methods,
        lambda count: [MethodChoice(name="random", options={"episodes": i}) for i in range(count // 8)],
    ),
    "legend": (levels.list_problems, lambda count: {**LEVEL, "legend": {chr(1000 + i): "rock" for i in range(count)}}),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_long_lists(name):
    assert_linear(*CASES[name])
