"""Sizes of Parquet files, read before a library decodes them: a small file can hold very many equal values.

A footer or a page may state other sizes than it has. Libraries allocate what the header of a page says, so that the headers are
compared with the footer, and the footer with the limits of the caller. Source: the Parquet format, https://parquet.apache.org.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from momagames.errors import InvalidFile

MAGIC, TAIL = b"PAR1", 8  # the last bytes: the length of the footer and the magic
MAX_FOOTER, MAX_DEPTH, MAX_NUMBER = 4 << 20, 8, 10  # bytes, structures or columns within each other, bytes of a number
INT32, INT64, DOUBLE = 1, 2, 5  # physical types
DATA, DICTIONARY, DATA_V2 = 0, 2, 3  # types of pages
PLAIN, PLAIN_DICTIONARY, RLE, DELTA_BINARY, RLE_DICTIONARY, BYTE_STREAM_SPLIT = 0, 2, 3, 5, 8, 9
# Not delta byte arrays, whose texts repeat parts of each other and can be very much longer than the page.
ENCODINGS = frozenset({PLAIN, PLAIN_DICTIONARY, RLE, DELTA_BINARY, RLE_DICTIONARY, BYTE_STREAM_SPLIT})
Struct = dict[int, Any]
Content = bytes | mmap.mmap


class Column(NamedTuple):
    """A column of all row groups: name up to a dot, physical types, values (also nulls) and bytes before compression."""

    name: str
    kinds: frozenset[int]
    values: int
    size: int


@dataclass(frozen=True)
class ParquetSizes:
    """The rows and columns of a file."""

    rows: int
    columns: Sequence[Column]


def measure_parquet(content: Content, place: str) -> ParquetSizes:
    """Return the sizes that a file states, if those of its pages fit. Raises InvalidFile; `place` names the file."""
    try:
        return _measure(content)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InvalidFile(f"{place}: not a Parquet file that is read: {' '.join(str(error).split())}") from None


def _measure(content: Content) -> ParquetSizes:
    length = int.from_bytes(content[-TAIL:-4], "little")
    end = len(content) - TAIL - length
    if content[:4] != MAGIC or content[-4:] != MAGIC or end < len(MAGIC):
        raise ValueError("its beginning or its end is missing, or it is encrypted")
    if length > MAX_FOOTER:
        raise ValueError(f"a footer of {length:,} bytes: expected at most {MAX_FOOTER:,}")
    footer = _Reader(content, end, end + length).read_struct()
    leaves = _count_leaves(footer[2])
    found: dict[int, list[Column]] = {}
    for group in footer.get(4, []):
        if len(group[1]) != leaves:
            raise ValueError(f"{len(group[1])} columns in a row group: expected {leaves}")
        for number, chunk in enumerate(group[1]):
            column = _measure_chunk(content, chunk, end)
            if not 0 <= group[3] <= column.values:
                raise ValueError(f"{group[3]:,} rows of {column.values:,} values")
            found.setdefault(number, []).append(column)
    rows = sum(group[3] for group in footer.get(4, []))
    if footer[3] != rows:
        raise ValueError(f"{footer[3]:,} rows: expected {rows:,}, those of the row groups")
    return ParquetSizes(rows, [_join(chunks) for chunks in found.values()])


def _count_leaves(schema: Sequence[Struct]) -> int:
    """Return the number of columns with values; ValueError for columns that are too deep within each other."""
    leaves, open_children = 0, [1]
    for element in schema:
        while open_children and not open_children[-1]:
            open_children.pop()
        open_children[-1] -= 1
        if children := element.get(5, 0):
            open_children.append(children)
        else:
            leaves += 1
        if len(open_children) > MAX_DEPTH or children < 0:
            raise ValueError(f"columns within each other: expected at most {MAX_DEPTH}")
    return leaves


def _join(chunks: Sequence[Column]) -> Column:
    kinds = frozenset[int]().union(*(chunk.kinds for chunk in chunks))
    return Column(chunks[0].name, kinds, sum(chunk.values for chunk in chunks), sum(chunk.size for chunk in chunks))


def _measure_chunk(content: Content, chunk: Struct, end: int) -> Column:
    """Return the sizes of a column in a row group; ValueError unless its pages have these sizes."""
    if 1 in chunk or 8 in chunk:
        raise ValueError("a column in another file, or encrypted")
    facts = chunk[3]
    values, size, start = facts[5], facts[6], min(facts[9], facts.get(11) or facts[9])
    if start < len(MAGIC) or facts[7] < 0 or start + facts[7] > end:
        raise ValueError("a column outside the file")
    counts, total = 0, 0
    for page in _list_pages(content, start, start + facts[7]):
        total += page[2]
        counts += _count_values(page)
    name = facts[3][0].decode().partition(".")[0]
    if counts != values or total > size:
        raise ValueError(
            f"column {name}: pages of {counts:,} values and {total:,} bytes: expected {values:,} and at most {size:,}"
        )
    return Column(name, frozenset({facts[1]}), values, size)


def _list_pages(content: Content, start: int, end: int) -> Iterator[Struct]:
    """Yield the headers of the pages between two places."""
    while start < end:
        reader = _Reader(content, start, end)
        page = reader.read_struct()
        start = reader.place + page[3]
        if page[2] < 0 or page[3] < 0 or start > end:
            raise ValueError("a page outside its column")
        yield page


def _count_values(page: Struct) -> int:
    """Return the number of values of a page of data, 0 of another one; ValueError for a number that it cannot hold."""
    if page[1] == DICTIONARY:
        if not 0 <= page[7][1] <= page[2]:
            raise ValueError(f"a dictionary of {page[7][1]:,} values in {page[2]:,} bytes")
        return 0
    if page[1] not in (DATA, DATA_V2):
        return 0
    header = page[5] if page[1] == DATA else page[8]
    encoding = header[2] if page[1] == DATA else header[4]
    if encoding not in ENCODINGS or header[1] < 0:
        raise ValueError(f"a page with encoding {encoding} that is not read, or of {header[1]:,} values")
    return int(header[1])


class _Reader:
    """Reads structures of the compact protocol of Thrift, in which footers and headers of pages are written."""

    def __init__(self, content: Content, place: int, end: int) -> None:
        self.content, self.place, self.end = content, place, end

    def read_struct(self, depth: int = MAX_DEPTH) -> Struct:
        """Return the fields of a structure by number."""
        if not depth:
            raise ValueError(f"structures within each other: expected at most {MAX_DEPTH}")
        fields: Struct = {}
        number = 0
        while head := self._read_byte():
            number = number + (head >> 4) if head >> 4 else self._read_integer()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._read_value(kind, depth)
        return fields

    def _read_value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):  # truth values in lists, bytes
            return self._read_byte()
        if kind in (4, 5, 6):
            return self._read_integer()
        if kind == 7:
            return self._read_bytes(8)
        if kind == 8:
            return self._read_bytes(self._read_number())
        if kind in (9, 10):
            return self._read_list(depth)
        if kind == 12:
            return self.read_struct(depth - 1)
        raise ValueError(f"a value of type {kind}")

    def _read_list(self, depth: int) -> list[Any]:
        if not depth:
            raise ValueError(f"structures within each other: expected at most {MAX_DEPTH}")
        head = self._read_byte()
        count = head >> 4 if head >> 4 < 15 else self._read_number()
        if count > self.end - self.place:
            raise ValueError(f"a list of {count:,} values outside its structure")
        return [self._read_value(head & 15, depth - 1) for _ in range(count)]

    def _read_byte(self) -> int:
        return self._read_bytes(1)[0]

    def _read_bytes(self, count: int) -> bytes:
        place, self.place = self.place, self.place + count
        if self.place > self.end:
            raise ValueError("a structure ends too early")
        return self.content[place : self.place]

    def _read_number(self) -> int:
        value = 0
        for k in range(MAX_NUMBER):
            byte = self._read_byte()
            value |= (byte & 127) << 7 * k
            if byte < 128:
                return value
        raise ValueError(f"a number of more than {MAX_NUMBER} bytes")

    def _read_integer(self) -> int:
        value = self._read_number()
        return value >> 1 ^ -(value & 1)
