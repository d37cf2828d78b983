"""Files from elsewhere: whatever they hold, they are read within limits, or refused by one typed error with the place."""

import asyncio
import gzip
import io
import json
import lzma
import zipfile
from contextlib import suppress
from itertools import pairwise
from string import ascii_letters

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.benchmark import load_suite
from momagames.benchmark.replays import replay
from momagames.benchmark.runner import Shard
from momagames.benchmark.store.status import read_status
from momagames.benchmark.store.store import Store
from momagames.benchmark.training import load_training
from momagames.datasets import open_dataset
from momagames.errors import InvalidFile, InvalidParameter, InvalidState, MomagamesError
from momagames.files import npz_data
from momagames.files.json_data import parse_json, read_json
from momagames.files.npz_data import read_arrays, read_npz, write_npz
from momagames.files.reading import is_file, read_bytes, read_text
from momagames.files.yaml_data import parse_yaml
from momagames.fronts import load_front
from momagames.games.robotmail.layouts import loader as layouts
from momagames.games.tileblast.cli.levels import read_source
from momagames.games.tileblast.levels import loader as levels
from momagames.games.tileblast.serve.limits import read_chunks
from momagames.games.tileblast.serve.protocol import RequestError
from momagames.leaderboard import check_submission

LAUGHS = "\n".join(["a: &a [x, x]", *(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghi"))])

YAML = {
    "aliases": (LAUGHS, "line 1, column 4: aliases"),
    "tag of a type": ("a: !!bool abc", "line 1, column 4: tags"),
    "tag of a date": ("a: !!timestamp abc", "line 1, column 4: tags"),
    "python": ("a: !!python/object/apply:os.system [ls]", "line 1, column 4: tags"),
    "depth": ("[" * 3_000, "nested too deeply: expected at most 50 levels"),
    "closed": ("[" * 3_000 + "]" * 3_000, "nested too deeply"),
    "indented": ("\n".join(" " * k + "a:" for k in range(400)), "nested too deeply"),
    "digits": ("a: " + "9" * 5000, "line 1, column 4: a number of 5,000 characters"),
    "hexadecimal": ("a: 0x" + "f" * 5000, "a number of 5,002 characters"),
    "keys": ("\n".join(f"k{n}: 1" for n in range(21_000)), "more than 20,000 keys and values"),
    "duplicate": ("a: 1\nb: 2\na: 3", "line 3, column 1: duplicate key 'a'"),
    "key": ("? [1]\n: 2", "a key is a list or a mapping"),
    "infinite": ("a: .inf", "line 1, column 4: invalid number .inf: expected a finite one"),
    "integer": ("a: 0x_", "line 1, column 4: invalid int '0x_'"),
    "control character": ("a: \x00", "special characters are not allowed"),
    "syntax": ("a: [1\nb: 2", "line 2, column 2"),
    "documents": ("a: 1\n---\nb: 2", "line 2, column 1"),
}


def test_yaml_of_plain_data():
    text = "a: 1\nb: 2020-99-99\nc: 2020-01-01\nd: [x, 1.5, null, yes, 0x10, {e: '<<'}]\n<<: {f: 1}"
    expected = {"a": 1, "b": "2020-99-99", "c": "2020-01-01", "d": ["x", 1.5, None, True, 16, {"e": "<<"}], "<<": {"f": 1}}
    assert parse_yaml(text, "") == expected
    assert parse_yaml("", "") is None


JSON = {
    "depth": ("[" * 100_000, "nested too deeply: expected at most 100 levels"),
    "closed": ("[" * 500 + "]" * 500, "nested too deeply"),
    "digits": ("9" * 5000, "4300"),
    "syntax": ('{"a": 1,\n "b" 2}', "line 2, column 6: Expecting ':'"),
    "empty": ("", "line 1, column 1: Expecting value"),
    "not a number": ('{"a": NaN}', "invalid number NaN: expected a finite one"),
    "infinite": ('{"a": -1e999}', "invalid number -1e999: expected a finite one"),
    "duplicate": ('{"a": 1, "a": 2}', "duplicate key 'a'"),
}


@pytest.mark.parametrize(
    ("parse", "text", "why"),
    [
        pytest.param(parse, *case, id=f"{parse.__name__}-{name}")
        for parse, cases in ((parse_yaml, YAML), (parse_json, JSON))
        for name, case in cases.items()
    ],
)
def test_texts_are_refused_at_once(parse, text, why):
    with pytest.raises(InvalidFile) as error:
        parse(text, "name.ext")
    assert str(error.value).startswith("name.ext: ")
    assert why in str(error.value)
    assert len(str(error.value)) < 400


def test_json_of_files(tmp_path):
    path = tmp_path / "a.json"
    for content, why in [(b"[1]", "expected a JSON object, got list"), (b'{\n"a": "\xff"}', "line 2: not UTF-8")]:
        path.write_bytes(content)
        with pytest.raises(InvalidFile, match=why):
            read_json(path)
    path.write_text('{"a": [1, {"b": null}]}')
    assert read_json(path) == {"a": [1, {"b": None}]}


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "absent", tmp_path, tmp_path / ("x" * 300), tmp_path / "a\0b"):
        assert not is_file(path)
        with pytest.raises(InvalidFile):
            read_bytes(path)


READERS = {
    "suite": lambda path: load_suite(path), "results": lambda path: Store(path).read_suite(),
    "run": lambda path: replay(path, 0),
    "run of results": lambda path: replay(path / "runs" / "x", 0), "status": read_status, "front": load_front,
    "submission": check_submission, "dataset": open_dataset, "checkpoint": load_training,
    "level": lambda path: levels.load(path), "layout": lambda path: layouts.load(str(path)),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_names_that_no_file_can_have_are_those_of_no_file(tmp_path, name):
    for path in (tmp_path / ("x" * 5000), tmp_path / "a\0b"):
        with pytest.raises(MomagamesError):
            READERS[name](path)


def test_compressed_files_are_read_up_to_the_limit(tmp_path):
    for suffix, compress in ((".gz", gzip.compress), (".xz", lzma.compress)):
        bomb, good, bad = (tmp_path / f"{name}{suffix}" for name in ("bomb", "good", "bad"))
        bomb.write_bytes(compress(bytes(5_000_000)))
        good.write_bytes(compress(b"text"))
        bad.write_bytes(good.read_bytes()[:-6])
        assert read_text(good, 4) == "text"
        with pytest.raises(InvalidFile, match="larger than 1,000,000 bytes, the limit of such files"):
            read_bytes(bomb, 1_000_000)
        with pytest.raises(InvalidFile):
            read_bytes(bad)


ARRAYS = {
    "a": np.arange(6).reshape(2, 3, order="F"),
    "b": np.empty((0, 3)),
    "c": np.float32(3),
    "d": np.array(["a", "bc"]),
    "e": np.ones(2, [("x", "u1"), ("y", "f4", (2,))]),
}


def npz(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def npy(header: str, content: bytes = b"") -> bytes:
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def head(shape: str, dtype: str = "'<f8'") -> str:
    return f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}}}"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back(save):
    file = io.BytesIO()
    save(file, **ARRAYS)
    back = read_arrays(file.getvalue(), "a.npz")
    for name, array in ARRAYS.items():
        assert back[name].dtype == array.dtype
        assert np.array_equal(back[name], array)
        assert back[name].flags.writeable


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        npz(a=b""),
        npz(a=npy(head("(1000000000000,)"))),
        npz(a=npy(head("(-1,)"))),
        npz(a=npy(head("(1,)"), bytes(9))),
        npz(a=npy(head("(1,)", "'|O'"), bytes(8))),
        npz(a=npy(head("(" * 300))),
        npz(a=npy("{'descr': " + "[" * 200)),
        npz(a=npy("__import__('os').system('ls')")),
        npz(a=npy(head("('a',)"))),
        npz(a=b"\x93NUMPY\x09\x00"),
    ],
    ids=range(12),
)
def test_damaged_arrays_are_refused(content):
    with pytest.raises(InvalidFile, match=r"^a\.npz: "):
        read_arrays(content, "a.npz")


def test_compressed_arrays_are_limited(monkeypatch):
    monkeypatch.setattr(npz_data, "MAX_BYTES", 1 << 20)
    bomb = npz(a=npy(head("(1000000,)"), bytes(8_000_000)))
    with pytest.raises(InvalidFile, match="1 arrays of 8,000"):
        read_arrays(bomb, "a.npz")


@pytest.mark.parametrize("header", ["[" * 100_000, "[1]", '{"schema": 2}', "\xff"])
def test_headers_are_checked(tmp_path, header):
    path = tmp_path / "a.npz"
    np.savez(path, head=np.frombuffer(header.encode("latin1"), np.uint8))
    with pytest.raises(InvalidFile, match=r"a\.npz: not a front"):
        read_npz(path, 1, "front")
    write_npz(path, 1, {"x": 2}, {"a": ARRAYS["a"]})
    assert read_npz(path, 1, "front")[0] == {"schema": 1, "x": 2}
    assert read_npz(path, 1, "front")[1].keys() == {"a"}


@given(data=st.data())
def test_flipped_bytes_give_the_same_arrays_or_an_error(data):
    file = io.BytesIO()
    np.savez(file, **ARRAYS)
    content = bytearray(file.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        back = read_arrays(bytes(content), "a.npz")
    except InvalidFile:
        return
    assert all(back[name].tobytes() == array.tobytes() for name, array in ARRAYS.items() if name in back)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(ascii_letters),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(ascii_letters), parts),
)


@given(PLAIN)
def test_any_json_is_yaml(data):
    text = json.dumps(data)
    assert parse_json(text, "") == data
    assert parse_yaml(text, "") == data


@given(st.text("[]{}&*!:,-? \n\"'|>%@ab1.#<=~", max_size=200))
def test_any_text_is_data_or_an_invalid_file(text):
    for parse in (parse_json, parse_yaml):
        with suppress(InvalidFile):
            parse(text, "file")


def test_messages_quote_long_values_in_part():
    error = MomagamesError("invalid name=" + "x" * 1_000_000 + "\nsecond line")
    assert len(str(error)) < 2200
    assert "(1,000,013 characters)" in str(error)
    assert str(error).endswith("second line")


DIGITS = "9" * 5000  # more than int() reads


def test_numbers_of_thousands_of_digits_are_refused():
    """Wherever a text is read as a number, with the error of its format."""
    game = momagames.spec("mo-samegame-v0")
    state = game.make_state()[0]
    position = game.codec.read(game.codec.show(state).replace("ply=0", f"ply={DIGITS}"))
    with pytest.raises(InvalidState, match="invalid ply="):
        game.codec.load(state, position)
    with pytest.raises(InvalidState, match="a position of 1,001 keys: expected at most 1,000"):
        game.codec.load(state, dict.fromkeys(map(str, range(1001))))
    with pytest.raises(InvalidParameter, match="invalid shard="):
        Shard.parse(f"1/{DIGITS}")
    (problem,) = (one for one in levels.list_problems({"legend": {"x": f"rock:{DIGITS}"}}) if one.path[:1] == ("legend",))
    assert "expected whole numbers" in problem.text
    assert read_source(DIGITS) == DIGITS
    with pytest.raises(RequestError, match="too large"):
        asyncio.run(read_chunks(None, DIGITS, 1000))  # before any part is read
