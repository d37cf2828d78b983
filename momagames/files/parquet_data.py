"""Sizes that a Parquet file states, read before it is decoded: a small file can hold very many equal values.

pyarrow ends the process when it is asked for the columns of some damaged files, and polars when it decodes them; pyarrow's
decoder raises errors for these. Here the footer is read without a library: a struct of Thrift's compact protocol.

Source: https://github.com/apache/parquet-format, parquet.thrift; https://github.com/apache/thrift, "Thrift Compact Protocol".
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, BinaryIO

MAGIC, TAIL = b"PAR1", 8
MAX_FOOTER, MAX_DEPTH = 64 << 20, 16
# Types of the compact protocol
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
# Fields of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData
ROWS, GROUPS, COLUMNS, COLUMN, TYPE, PATH, VALUES, UNCOMPRESSED = 3, 4, 1, 3, 1, 3, 5, 6
PHYSICAL_TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")


@dataclass(frozen=True)
class ColumnSize:
    """What a file states of a column of a group of rows; `path`: the name of the column, and of parts within."""

    path: tuple[str, ...]
    physical_type: str
    values: int
    uncompressed_bytes: int


def read_sizes(file: BinaryIO) -> tuple[int, list[list[ColumnSize]]]:
    """Return the number of rows of a file, and the columns of each group of rows. Raises ValueError for a damaged footer."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TAIL))
    tail = file.read(TAIL)
    length = int.from_bytes(tail[:4], "little")
    if len(tail) < TAIL or tail[4:] != MAGIC or length > min(MAX_FOOTER, size - TAIL):
        raise ValueError("no footer of a Parquet file")
    file.seek(size - TAIL - length)
    try:
        footer = _Reader(file.read(length)).read_struct(MAX_DEPTH)
        return footer[ROWS], [[_read_column(column[COLUMN]) for column in group[COLUMNS]] for group in footer[GROUPS]]
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"a damaged footer: {type(error).__name__}: {error}") from None


def _read_column(data: dict[int, Any]) -> ColumnSize:
    path = tuple(part.decode() for part in data[PATH])
    return ColumnSize(path, PHYSICAL_TYPES[data[TYPE]], data[VALUES], data[UNCOMPRESSED])


class _Reader:
    """Reader of Thrift's compact protocol. Raises LookupError or ValueError for damaged content."""

    def __init__(self, content: bytes) -> None:
        self._content, self._place = content, 0

    def read_struct(self, depth: int) -> dict[int, Any]:
        """Return the values by the numbers of their fields; `depth`: of structs within it, at most."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._read_byte()) & 15:
            number = number + (head >> 4) if head >> 4 else self._read_integer()
            if number in fields:
                raise ValueError(f"a damaged footer: field {number} twice")
            fields[number] = self._read_value(head & 15, depth, is_field=True)
        return fields

    def _read_value(self, kind: int, depth: int, is_field: bool = False) -> Any:
        if kind in (TRUE, FALSE):
            return (kind if is_field else self._read_byte()) == TRUE
        if kind == BYTE:
            return self._read_byte()
        if kind in (I16, I32, I64):
            return self._read_integer()
        if kind in (DOUBLE, BINARY):
            length = 8 if kind == DOUBLE else self._read_varint()
            self._place += length
            if self._place > len(self._content):
                raise LookupError("it is cut")
            return self._content[self._place - length : self._place]
        if depth and kind in (LIST, SET):
            head = self._read_byte()
            count = self._read_varint() if head >> 4 == 15 else head >> 4
            return [self._read_value(head & 15, depth - 1) for _ in range(min(count, len(self._content) + 1))]
        if depth and kind == MAP:
            count = self._read_varint()
            kinds = self._read_byte() if count else 0
            return [
                (self._read_value(kinds >> 4, depth - 1), self._read_value(kinds & 15, depth - 1))
                for _ in range(min(count, len(self._content) + 1))
            ]
        if depth and kind == STRUCT:
            return self.read_struct(depth - 1)
        raise ValueError(f"a damaged footer: type {kind}")

    def _read_byte(self) -> int:
        self._place += 1
        return self._content[self._place - 1]

    def _read_varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._read_byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a damaged footer: a number of more than 64 bits")

    def _read_integer(self) -> int:
        value = self._read_varint()
        return (value >> 1) ^ -(value & 1)
