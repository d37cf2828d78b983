"""Sizes in the footers of Parquet files, and files whose bytes were changed: errors, whatever libraries do with them."""

import io

import numpy as np
import pytest

import momagames
from momagames.datasets.shards import Shard, parse_shard, write_shard
from momagames.errors import InvalidFile
from momagames.files.parquet_data import read_sizes

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
GAME = momagames.spec("mo-samegame-v0", board_width=4, board_height=4, num_colors=2)


def write_table(path):
    """Write columns of all kinds, in many groups of rows."""
    count = 1000
    columns = {
        "a": range(count), "b": [{"x": i, "y": ["a"]} for i in range(count)], "c": [True, None] * (count // 2),
        "d": [0.5] * count,
    }  # fmt: skip
    table = pyarrow.table(columns).append_column("m", pyarrow.array([[("k", 1)]] * count, pyarrow.map_("string", "int8")))
    parquet.write_table(table, path, row_group_size=100, write_page_index=True, sorting_columns=[parquet.SortingColumn(0)])


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    """The content of a file of a dataset: two episodes of one step."""
    path = tmp_path_factory.mktemp("shard") / "x.parquet"
    arrays = np.zeros(2, np.uint64), np.zeros((2, 1), np.uint16), np.zeros((2, 1, len(GAME.objectives)))
    actions = np.zeros((2, GAME.actors, len(GAME.actions)), np.uint8)
    write_shard(path, Shard(*arrays, np.ones(2, np.int32), actions), 0, np.zeros((1, len(GAME.objectives)), np.float32))
    return path.read_bytes()


def test_sizes_are_those_of_the_library(tmp_path):
    path = tmp_path / "x.parquet"
    write_table(path)
    known = parquet.read_metadata(path)
    with path.open("rb") as file:
        rows, groups = read_sizes(file)
    assert (rows, len(groups)) == (known.num_rows, known.num_row_groups) == (1000, 10)
    for number, columns in enumerate(groups):
        expected = [known.row_group(number).column(k) for k in range(known.num_columns)]
        found = [(".".join(one.path), one.physical_type, one.values, one.uncompressed_bytes) for one in columns]
        assert found == [
            (one.path_in_schema, one.physical_type, one.num_values, one.total_uncompressed_size) for one in expected
        ]


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"\0" * 20, b"\xff\xff\xff\xffPAR1", b"\x5c" * 50 + b"\x32\0\0\0PAR1", b"\0\0\0\0\0PAR1"]
)
def test_damaged_footers_are_errors(content):
    with pytest.raises(ValueError, match="footer"):
        read_sizes(io.BytesIO(content))


def test_an_intact_file_is_read(shard):
    assert len(parse_shard(shard, "x", GAME)) == 2


@pytest.mark.long
@pytest.mark.parametrize("flip", [1, 4, 32])
def test_flipped_bytes_of_a_footer_end_no_process(shard, flip):
    """The columns of some of these files end the process when pyarrow describes them."""
    length = int.from_bytes(shard[-8:-4], "little")
    for place in range(len(shard) - 8 - length, len(shard)):
        try:
            parse_shard(shard[:place] + bytes([shard[place] ^ flip]) + shard[place + 1 :], "x", GAME)
        except InvalidFile as error:
            assert str(error).startswith("x: not a file of a dataset")  # noqa: PT017
