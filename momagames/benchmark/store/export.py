"""Export of all rows of a results directory as one flat table."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from momagames.benchmark.runs import Run
from momagames.benchmark.store.packed_rows import RETURN, VECTORS, import_polars
from momagames.benchmark.store.store import RUN, Store
from momagames.files.json_data import canonical_json
from momagames.files.reading import refuse_content
from momagames.files.writing import atomic_path

FlatRow = dict[str, Any]
# Column -> type. "return_NAME" of each objective follows, then the columns of LAST. Missing values are empty.
COLUMNS: dict[str, type] = {
    "run": str,  # name of the run's directory
    "experiment": str,  # first experiment of the suite with this run
    "kind": str,
    "game": str,  # canonical id
    "id": str,
    "method": str,
    "options": str,  # as JSON
    "seed": int,
    "budget": int,
    "episode": int,
    "set": str,
    "policy": str,
    "opponent": str,
    "seat": str,
    "start": str,  # a number of 64 bits, as text: some programs would round it
    "step": int,
    "length": int,
}
ACTIONS: dict[str, type] = {"actions": list}  # of a plan, in Parquet only
COMPRESSION_LEVEL = 12  # of zstd in Parquet files: a fifth smaller than by default
TRAILING_COLUMNS: dict[str, type] = {"version": str, "commit": str}


def export(folder: str | Path, file: str | Path, form: str) -> int:
    """Write every row of every finished run of a results directory to a file: "csv", "jsonl" or "parquet" (extra `analysis`).

    Return the number of rows. Raises InvalidFile, MissingExtra
    """
    store = Store(folder)
    store.read_suite()
    runs = list(store.finished_runs())
    columns = list_columns(runs)
    write: Callable[[Path], int] = {
        "csv": lambda path: _write_csv(path, columns, _flatten_rows(store, runs)),
        "jsonl": lambda path: _write_jsonl(path, columns, _flatten_rows(store, runs)),
        "parquet": lambda path: write_parquet(path, make_table(store, runs)),
    }[form]
    with atomic_path(Path(file)) as temporary:
        return write(temporary)


def list_columns(runs: Sequence[Run]) -> dict[str, type]:
    """Return the columns of the rows of runs, but for the actions of plans."""
    names = {objective.name: None for run in runs for objective in run.game.make_game().objectives}
    has_sums = any(run.kind == "policies" and run.stored_episodes for run in runs)
    vectors = {f"{prefix}{name}": float for prefix in (VECTORS if has_sums else (RETURN,)) for name in names}
    return {**COLUMNS, **({"episodes": int} if has_sums else {}), **vectors, **TRAILING_COLUMNS}


def order_columns(names: Sequence[str]) -> list[str]:
    """Return names of columns in the order of tables; those of objectives are sorted."""
    inner = sorted(name for name in names if name not in {**COLUMNS, **TRAILING_COLUMNS, **ACTIONS})
    return [name for name in (*COLUMNS, *inner, *TRAILING_COLUMNS, *ACTIONS) if name in names]


def _flatten_rows(store: Store, runs: Sequence[Run]) -> Iterator[FlatRow]:
    suite, versions = store.read_suite(), store.read_versions()
    experiments: dict[str, str] = {}
    for experiment in suite.experiments:
        for run in experiment.list_runs(versions):
            experiments.setdefault(run.digest, experiment.name)
    for run in runs:
        head = {
            "run": run.folder,
            "experiment": experiments.get(run.digest),
            "kind": run.kind,
            "id": run.game.id,
            "budget": run.budget,
            "commit": store.read_metadata(run).get("commit"),
        }
        names = [objective.name for objective in run.game.make_game().objectives]
        for row in store.read_rows(run):
            with refuse_content(store.run_directory(run), RUN):
                start = str(row["start"]) if "start" in row else None
                vectors = {
                    f"{prefix}{name}": value
                    for prefix, key in VECTORS.items()
                    if key in row
                    for name, value in zip(names, row[key], strict=True)
                }
                flat = {**row, **head, **vectors, "options": canonical_json(row["options"]), "start": start}
            yield flat


def _write_csv(path: Path, columns: dict[str, type], rows: Iterator[FlatRow]) -> int:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        return _count_written(rows, writer.writerow)


def _write_jsonl(path: Path, columns: dict[str, type], rows: Iterator[FlatRow]) -> int:
    def write(row: FlatRow, file: TextIO) -> None:
        file.write(json.dumps({name: row.get(name) for name in columns}, allow_nan=False) + "\n")

    with path.open("w", encoding="utf-8", newline="\n") as file:
        return _count_written(rows, lambda row: write(row, file))


def _count_written(rows: Iterator[FlatRow], write: Callable[[FlatRow], Any]) -> int:
    count = 0
    for row in rows:
        write(row)
        count += 1
    return count


def make_table(store: Store, runs: Sequence[Run]) -> Any:
    """Return the rows of runs of a results directory as a table of polars. Raises MissingExtra."""
    library = import_polars("Parquet needs polars", "; --csv and --jsonl need nothing")
    whole_numbers, columns = library.Int64, {**list_columns(runs), **ACTIONS}
    kinds = {str: library.String, int: whole_numbers, float: library.Float64, list: library.List(whole_numbers)}
    values: dict[str, list[Any]] = {name: [] for name in columns}
    for row in _flatten_rows(store, runs):
        for name, column in values.items():
            column.append(row.get(name))
    return library.DataFrame(values, schema={name: kinds[kind] for name, kind in columns.items()})


def write_parquet(path: Path, table: Any) -> int:
    """Write a table of polars; return its number of rows."""
    table.write_parquet(path, compression="zstd", compression_level=COMPRESSION_LEVEL)
    return int(table.height)
