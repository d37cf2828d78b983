"""Hostile inputs from valid ones: changes of data, texts, bytes, arrays and arguments."""

from __future__ import annotations

import io
import json
import zipfile
from random import Random

import numpy as np

INF, NAN = float("inf"), float("nan")
PLAIN = (  # of JSON
    None, True, False, 0, -1, 1, 2, 255, 256, 65_536, 2**31, 2**32, 2**63, 2**64, -(2**63) - 1, 10**400, 0.5, -0.0, 1e-320,
    1e308,
    -1e308, INF, -INF, NAN, "", " ", "x", "0", "-1", "1e999", "9" * 5000, "NaN", "\0", "\x1b[31m", "[/x]", "[bold]", "{0}",
    "%s",
    "\u202e", "\ud800", "\ufeff", "a\nb", "é" * 300, "x" * 5000, "this:s", "os:sep", ":", "a:b:c", "original:a:b", "safe:x",
    "safe:" * 50 + "x", "../x", "../../x.npz", "/proc/version", "x.npz", "x/../..", [], [[]], [[0]], [None], [NAN], [-1, 2**63],
    [1] * 1000, {}, {"": 0}, {"a": 1}, {"id": "x"}, {"name": "random", "options": {}}, [{}], [[1], [1, 2]],
)  # fmt: skip
OBJECTS = (  # of Python
    b"", b"\0\1", bytearray(3), 1j, object(), range(3), {0}, {0: 1, 3: 1}, (), (0, 0), (NAN,), frozenset("a"), Exception("x"),
    np.int8(1), np.uint64(2**63), np.float32(NAN), np.bool_(1), np.str_("x"), np.array(0), np.array([]), np.array([0]),
    np.arange(3),
    np.array([None]), np.array("x"), np.array([NAN]), np.zeros((2, 0)), np.zeros((1, 1, 1)), np.ma.masked, np.datetime64("now"),
    np.zeros(1, [("a", "u1")]), np.full(3, 1e308), np.array([2**63], np.uint64), np.zeros(3, bool), iter([0, 0]),
    lambda *given: None,
)  # fmt: skip
FRAGMENTS = (
    "\0", "\n", "\r", "\t", " ", ",", ";", ":", "-", "--", "=", "|", "#", "*a", "&a ", "!!python/object:x ", "? ", "- ", "[",
    "]", "{", "}",
    "(", ")", "<", ">", "<action>", "</action>", "'", '"', "\\", "\\u0000", "\x1b[31m", "[/x]", "\u202e", "\ufeff", "é", "٣",
    "²", "NaN", "-1",
    "1e999", "9" * 20, "9" * 5000, "0x", ".", "../", "/", "safe:", "a:b", "null", "true", "[" * 300, "{\"a\":" * 300,
    "x" * 3000,
)  # fmt: skip
NUMBERS = (0, 1, 127, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
DTYPES = ("<u1", "<i1", "<i4", "<i8", "<u8", "<f4", "<f8", ">f8", "?", "<U3", "S2", "<c16", "<M8[s]", "V4")


class Valid:
    """The example as it is, to see that it is valid."""

    def choose(self, options):
        return next(iter(options))

    def data(self, value):
        return value

    text = raw = arrays = argument = data


class Hostile:
    """Changes that `rng` draws, so that they can be repeated."""

    depths = (40, 60, 120, 400)  # of lists and objects in each other

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def choose(self, options):
        return self.rng.choice(list(options))

    def data(self, value):
        """Return plain data with one to three changes; what it shares with `value` is not changed."""
        for _ in range(self.choose((1, 1, 1, 2, 3))):
            value = self._edit(value)
        return value

    def _edit(self, value):
        if not isinstance(value, (dict, list, tuple)) or not value or self.rng.random() < 0.05:
            return self._replace(value)
        parts = dict(value) if isinstance(value, dict) else list(value)
        keys = list(parts) if isinstance(parts, dict) else range(len(parts))
        key, other = self.choose(keys), self.choose(keys)
        match self.rng.randrange(12):
            case 0:
                del parts[key]
            case 1:
                parts[key], parts[other] = parts[other], parts[key]
            case 2 if isinstance(parts, dict):
                parts[self.choose(("x", "", "id", "seed", str(key) + "s", "\0", "[/x]"))] = parts[key]
            case 2:
                parts.insert(key, parts[other])
            case 3 if isinstance(parts, list):
                parts = parts[key:] + parts * self.choose((0, 1, 50))
            case _:
                parts[key] = self._edit(parts[key])
        return parts

    def _replace(self, value):
        match self.rng.randrange(6):
            case 0 if isinstance(value, (int, float)) and value == value:
                return self.choose((value + 1, value - 1, -value, value * 2, 0.5, ascii(value)[:5000], [value]))
            case 1 if isinstance(value, str) and value:
                return self.text(value)
            case 2:
                return [value] if self.rng.random() < 0.5 else {"x": value}
            case 3 if self.rng.random() < 0.1:
                for _ in range(self.choose(self.depths)):
                    value = [value] if self.rng.random() < 0.5 else {"a": value}
                return value
        return self.choose(PLAIN)

    def text(self, text):
        """Return a text with one to four changes: pieces removed, repeated, swapped, replaced or put in."""
        for _ in range(self.choose((1, 1, 2, 4))):
            start, end = sorted(self.rng.randrange(len(text) + 1) for _ in range(2))
            if self.rng.random() < 0.6:
                end = min(end, start + self.choose((0, 1, 1, 2, 8)))
            match self.rng.randrange(7):
                case 0:
                    text = text[:start] + text[end:]
                case 1:
                    text = text[:end] + text[start:end] * self.choose((1, 2, 100 if end - start < 100 else 1)) + text[end:]
                case 2:
                    text = text[end:] + text[start:end] + text[:start]
                case 3:
                    text = text[: self.choose((start, end))]
                case 4:
                    text = text[:start] + chr(self.choose((0, 9, 27, 48, 57, 127, 233, 0x4E00, 0x1F600))) + text[end:]
                case _:
                    text = text[:start] + self.choose(FRAGMENTS) + text[end:]
        return text

    def raw(self, content):
        """Return bytes with one to four changes: bits flipped, numbers written, pieces removed, repeated or swapped."""
        for _ in range(self.choose((1, 1, 2, 4))):
            start, end = sorted(self.rng.randrange(len(content) + 1) for _ in range(2))
            match self.rng.randrange(7):
                case 0 | 1 if start < len(content):
                    flipped = content[start] ^ (1 << self.rng.randrange(8))
                    content = content[:start] + bytes([flipped]) + content[start + 1 :]
                case 2:
                    size = self.choose((1, 2, 4, 8))
                    number = (self.choose(NUMBERS) % 256**size).to_bytes(size, self.choose(("little", "big")))
                    content = content[:start] + number + content[start + size :]
                case 3:
                    content = content[:start] + content[min(end, start + 8) :]
                case 4:
                    content = content[:start]
                case 5:
                    content = content[:end] + content[start : min(end, start + 100)] + content[end:]
                case _:
                    content = content[:start] + self.choose((b"\0", b"\xff", b"\xed\xa0\x80", b"PK\3\4")) * 4 + content[start:]
        return content

    def arrays(self, arrays):
        """Return arrays by name with one or two changes: of a value, the shape, the type, a name, or of JSON in bytes."""
        arrays = dict(arrays)
        heads = {name: array for name, array in arrays.items() if array.dtype == np.uint8 and array.tobytes()[:1] == b"{"}
        for _ in range(self.choose((1, 1, 2)) if arrays else 0):
            name = self.choose(arrays)
            array = arrays[name]
            match self.rng.randrange(8):
                case 0:
                    del arrays[name]
                    if not arrays:
                        break
                case 1:
                    arrays[self.choose((*arrays, "x", name + "/x", ""))] = array
                case 2:
                    arrays[name] = array.astype(np.uint8).astype(self.choose(DTYPES)) if array.dtype.kind in "biuf" else array
                case 3:
                    arrays[name] = self.choose(
                        (array[..., None], array.reshape(-1), array[None], np.array(0), np.zeros(0), array.T)
                    )
                case 4 if array.ndim:
                    arrays[name] = self.choose(
                        (array[:-1], array[:0], np.concatenate([array, array]), array[..., :-1], array[::-1])
                    )
                case 5 if name in heads and heads[name] is array:
                    arrays[name] = np.frombuffer(encode_json(self, json.loads(array.tobytes())), np.uint8)
                case _ if array.size and array.dtype.kind in "iuf":
                    changed = array.copy()
                    place = self.choose((slice(None), self.rng.randrange(array.size)))
                    values = (0, -1, NAN, INF, 1e308) if array.dtype.kind == "f" else NUMBERS
                    number = np.array(self.choose(values), np.float64 if array.dtype.kind == "f" else np.uint64)
                    with np.errstate(all="ignore"):
                        changed.reshape(-1)[place] = number.astype(array.dtype)
                    arrays[name] = changed
        return arrays

    def argument(self, valid):
        """Return the valid argument, a changed one, or anything else."""
        match self.rng.randrange(5):
            case 0 | 1:
                return valid
            case 2:
                return self.choose(OBJECTS)
            case 3 if isinstance(valid, (dict, list, tuple, str)):
                return self.data(valid)
        return self.choose(PLAIN)


def encode_json(source, value) -> bytes:
    """Return data as JSON: changed as data, as a text, or as bytes."""
    match source.choose(("data", "data", "data", "data", "text", "raw")):
        case "text":
            return source.text(dump_json(value)).encode("utf-8", "surrogatepass")
        case "raw":
            return source.raw(dump_json(value).encode())
    return dump_json(source.data(value)).encode()


def encode_text(source, text: str) -> bytes:
    """Return a changed text as bytes, which may not be UTF-8."""
    if source.choose((True, True, True, False)):
        return source.text(text).encode("utf-8", "surrogatepass")
    return source.raw(text.encode())


def encode_npz(source, arrays) -> bytes:
    """Return an archive of arrays: changed as arrays, as members behind right checksums, or as bytes."""
    way = source.choose(("arrays", "arrays", "arrays", "members", "raw"))
    file = io.BytesIO()
    np.savez(file, **(source.arrays(arrays) if way == "arrays" else arrays))
    content = file.getvalue()
    if way == "members":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        changed, file = source.choose(members), io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, member in members.items():
                archive.writestr(name, source.raw(member) if name == changed else member)
        content = file.getvalue()
    return source.raw(content) if way == "raw" else content


def dump_json(value) -> str:
    try:
        return json.dumps(value)
    except ValueError:  # a number of more digits than Python writes
        return json.dumps(str(type(value)))
