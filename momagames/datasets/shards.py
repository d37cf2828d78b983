"""Files of data: episodes as start seeds, actions and returns, in Parquet. All else is computed from the actions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.errors import InvalidFile, MissingExtra
from momagames.files.parquet_data import DOUBLE, INT32, INT64, Column, measure_parquet
from momagames.files.writing import atomic_path

COMPRESSION, LEVEL = "zstd", 3
MAX_EPISODES, MAX_VALUES = 1_000_000, 1 << 27  # episodes and parts of actions of a file
SMALL_VALUES, VALUES_PER_BYTE = 1 << 25, 32  # of all columns of a small file, and for each byte of a larger one
VALUE_BYTES, PAGE_BYTES = 16, 1 << 20  # of an encoded value, and of a column besides, at most


@dataclass(frozen=True)
class Shard:
    """E episodes of one part of a recipe, S steps in all; A agents, K objectives, actors and parts of an action as in `Batch`.

    seeds      uint64[E], of the start positions: `reset(seed=...)` gives the same
    policies   uint16[E, A], index of the policy that plays an agent, in the policies of the part
    returns    float64[E, A, K]
    lengths    int32[E], steps of each episode
    actions    uint[S, actors, parts], the steps of the episodes one after the other
    """

    seeds: NDArray[np.uint64]
    policies: NDArray[np.uint16]
    returns: NDArray[np.float64]
    lengths: NDArray[np.int32]
    actions: NDArray[Any]

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def steps(self) -> int:
        return len(self.actions)

    def select_first(self, count: int) -> Shard:
        """Return the first episodes."""
        steps = int(self.lengths[:count].sum(dtype=np.int64))
        return Shard(
            self.seeds[:count], self.policies[:count], self.returns[:count], self.lengths[:count], self.actions[:steps]
        )  # fmt: skip

    def hash_content(self) -> str:
        """Return the SHA-256 of the episodes, which does not depend on the format of the file."""
        digest = hashlib.sha256()
        for array in (self.seeds, self.policies, self.returns, self.lengths, self.actions):
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            digest.update(f"{little.dtype.str}{little.shape}".encode())
            digest.update(little.tobytes())
        return digest.hexdigest()


def action_dtype(game: Game) -> np.dtype[Any]:
    """Return the smallest unsigned dtype of all parts of an action."""
    return np.min_scalar_type(max(game.actions) - 1)


def import_pyarrow() -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet. Raises MissingExtra."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra('datasets need pyarrow: pip install "momagames[datasets]"') from None
    return pyarrow, pyarrow.parquet


def write_shard(path: Path, shard: Shard, first: int, preferences: NDArray[np.float32]) -> None:
    """Write a file of data atomically. Raises InvalidFile if that fails.

    first          number of its first episode in the dataset
    preferences    float32[policies, K], written for readers of the file alone
    """
    arrow, parquet = import_pyarrow()
    count = len(shard)
    step_size = max(1, shard.actions[0].size) if shard.steps else 1
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(shard.lengths, out=offsets[1:])

    def fixed(array: NDArray[Any]) -> Any:
        flat = arrow.array(np.ascontiguousarray(array).reshape(-1))
        return arrow.FixedSizeListArray.from_arrays(flat, array.reshape(count, -1).shape[1])

    lists = arrow.LargeListArray if offsets[-1] * step_size >= 2**31 else arrow.ListArray
    index = arrow.array(offsets * step_size, arrow.int64() if lists is arrow.LargeListArray else arrow.int32())
    table = arrow.table(
        {
            "episode": np.arange(first, first + count),
            "seed": shard.seeds,
            "length": shard.lengths,
            "policies": fixed(shard.policies),
            "preferences": fixed(preferences[shard.policies]),
            "returns": fixed(shard.returns),
            "actions": lists.from_arrays(index, arrow.array(shard.actions.reshape(-1))),
        }
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary:
            parquet.write_table(table, temporary, compression=COMPRESSION, compression_level=LEVEL)
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror or error}") from None


def parse_shard(content: bytes, place: str, game: Game) -> Shard:
    """Return the episodes of the content of a file. Raises InvalidFile if it is no such file for this game.

    Sizes are checked before columns are decoded: a small file can hold very many equal values.
    """
    arrow, parquet = import_pyarrow()
    agents, step_size = len(game.agents), game.actors * len(game.actions)
    found = measure_parquet(content, f"{place}: not a file of a dataset")
    rows = found.rows
    try:
        if rows > MAX_EPISODES:
            raise ValueError(f"{rows:,} episodes: expected at most {MAX_EPISODES:,}")
        sizes = {
            "seed": rows, "length": rows, "policies": rows * agents, "returns": rows * agents * len(game.objectives),
            "actions": min(MAX_VALUES, rows * game.max_episode_steps * step_size),
        }  # fmt: skip
        _check_sizes(found.columns, sizes, max(SMALL_VALUES, VALUES_PER_BYTE * len(content)))
        table = parquet.ParquetFile(arrow.BufferReader(content)).read(columns=list(sizes), use_threads=False)
        columns = {name: table.column(name).combine_chunks() for name in sizes}
        if any(column.null_count or column.flatten().null_count for column in columns.values() if column.type.num_fields):
            raise ValueError("missing values")
        arrays = {
            name: (column.flatten() if column.type.num_fields else column).to_numpy(zero_copy_only=True)
            for name, column in columns.items()
        }
        lengths, counts = arrays["length"], np.diff(columns["actions"].offsets.to_numpy())
        if not np.array_equal(counts, lengths * np.int64(step_size)):
            raise ValueError("the lengths are not those of the actions")
        if lengths.max(initial=0) > game.max_episode_steps:
            raise ValueError(f"an episode of {lengths.max():,} steps: expected at most {game.max_episode_steps:,}")
        count = len(lengths)
        shard = Shard(
            arrays["seed"], arrays["policies"].reshape(count, agents),
            arrays["returns"].reshape(count, agents, len(game.objectives)), lengths,
            arrays["actions"].reshape(-1, game.actors, len(game.actions)),
        )  # fmt: skip
    except (arrow.ArrowException, AttributeError, KeyError, ValueError, TypeError, OSError) as error:
        raise InvalidFile(f"{place}: not a file of a dataset: {' '.join(str(error).split())}") from None
    dtypes = [array.dtype for array in (shard.seeds, shard.policies, shard.returns, shard.lengths, shard.actions)]
    if dtypes != [np.uint64, np.uint16, np.float64, np.int32, action_dtype(game)] or (shard.lengths < 0).any():
        raise InvalidFile(f"{place}: not a file of a dataset of {game.id}: columns of {', '.join(map(str, dtypes))}")
    return shard


def _check_sizes(columns: Sequence[Column], sizes: Mapping[str, int], limit: int) -> None:
    """Raise ValueError unless columns are of numbers, with at most as many values as expected and the bytes of these.

    limit    of the values of all columns
    """
    if (total := sum(column.values for column in columns if column.name in sizes)) > limit:
        raise ValueError(f"{total:,} values: expected at most {limit:,}")
    for name, size in sizes.items():
        own = [column for column in columns if column.name == name]
        if not all(column.kinds <= {INT32, INT64, DOUBLE} for column in own):
            raise ValueError(f"column {name}: expected numbers")
        count, found = sum(column.values for column in own), sum(column.size for column in own)
        if count > size:
            raise ValueError(f"{count:,} values of {name}: expected at most {size:,}")
        if found > VALUE_BYTES * count + PAGE_BYTES:
            raise ValueError(f"{found:,} bytes of {name}: expected those of {count:,} values")
