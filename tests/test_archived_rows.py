"""The numbers of docs/results come from archived rows: a random sample of them is computed again.

The sample is another one in each run. MOMAGAMES_SAMPLE_SEED repeats one; its seed is printed, also in the message of a failure.
"""

import json
import os
from collections import defaultdict
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from momagames.benchmark import run_suite
from momagames.benchmark.evaluate import evaluate_run
from momagames.benchmark.store.archive_file import unpack_archive
from momagames.benchmark.store.checksums import hash_files, write_checksums
from momagames.benchmark.store.packed_rows import PACKED
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidFile
from tests.benchmark.test_generalization import EXPERIMENT
from tests.benchmark.tiny import POLICIES, RANDOM, plans, suite
from tests.recomputed_rows import can_recompute, recompute_row

polars = pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')
ARCHIVES = sorted((Path(__file__).resolve().parents[1] / "benchmarks" / "fronts").glob("*.npz.xz"))
RUNS, ROWS = 2, 2  # sampled in each family, and in each of these runs
CHEAP = 0.5  # seconds of a run that is computed again as a whole; trainings are not, as other processors round otherwise


def trains(run):
    game, players = run.game.make_game(), getattr(run, "players", ())
    return run.kind == "policies" and any(choice.is_trained(game) for choice in (run.method, *players))


def draw_seed():
    return int(os.environ.get("MOMAGAMES_SAMPLE_SEED", np.random.SeedSequence().entropy % 2**32))


def list_families(store, left_out=()):
    """Return the finished runs by family: the suite of a collection and the family of games, but for some games."""
    families, suite, versions = defaultdict(list), store.read_suite(), store.read_versions()
    for experiment in suite.experiments:
        titles = {choice.model_dump_json(): choice.make_game().title for choice in experiment.games}
        for run in experiment.list_runs(versions):
            if store.has_run(run) and not any(game in run.game.id for game in left_out):
                families[experiment.name.partition(": ")[0], titles[run.game.model_dump_json()]].append(run)
    return families


def sample_rows(store, families, rng):
    """Yield the directories and rows of some runs of each family."""
    for runs in families.values():
        yield from islice(sample_family(store, runs, rng), RUNS * ROWS)


def sample_family(store, runs, rng):
    """Yield the directories and rows, up to ROWS of a run, of runs in random order whose policies or plans are stored."""
    for i in rng.permutation(len(runs)):
        place = store.run_directory(runs[i])
        rows = [row for row in store.read_rows(runs[i]) if runs[i].kind == "policies" or "actions" in row]
        stored = (rows[k] for k in rng.permutation(len(rows)) if can_recompute(place, rows[k]))
        yield from ((place, row) for row in islice(stored, ROWS))


def find_differences(store, families, seed):
    """Return the sampled rows that differ when they are computed again, and the number of sampled rows."""
    sample = list(sample_rows(store, families, np.random.default_rng(seed)))
    return [(place.name, row) for place, row in sample if recompute_row(place, row) != row], len(sample)


@pytest.mark.long
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_archived_rows_are_computed_again(archive, tmp_path, other_games):
    seed = draw_seed()
    print(f"MOMAGAMES_SAMPLE_SEED={seed}")
    unpack_archive(archive, tmp_path / "all")
    store = Store(tmp_path / "all")
    families = list_families(store, other_games)
    different, count = find_differences(store, families, seed)
    assert not different, f"MOMAGAMES_SAMPLE_SEED={seed}: {len(different)} of {count} rows differ, such as {different[0]}"
    assert count >= RUNS * len(families)

    rng = np.random.default_rng(seed)
    for runs in group_cheap_runs(store, families).values():
        run = runs[rng.integers(len(runs))]
        stored = list(store.read_rows(run))
        again = [json.loads(json.dumps({**row, "version": stored[0]["version"]})) for row in evaluate_run(run, {})]
        pairs = list(zip(again, stored, strict=True))
        different = [
            old
            for new, old in pairs
            if restrict(new, old) != restrict(old, old) or new.get("step", 0) > old.get("step", np.inf)
        ]
        assert not different, f"MOMAGAMES_SAMPLE_SEED={seed}: {run.folder}: {different[0]}"


def restrict(row, names):
    """Return a row with these entries alone, but for its step, which an archive rounds up."""
    return {name: row[name] for name in names if name != "step"}


def group_cheap_runs(store, families):
    """Return the runs that take the same rows everywhere and little time, by family and once more by method."""
    groups = defaultdict(list)
    for family, runs in families.items():
        for run in runs:
            if getattr(run, "cpu_seconds", None) or trains(run):
                continue
            if store.read_metadata(run)["cpu_s"] < CHEAP:
                groups[family].append(run)
                groups[run.method.name].append(run)
    return groups


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    boards = plans([RANDOM], id="mo-samegame-v0", board_width=4, board_height=4, num_colors=2)
    assert not run_suite(suite(boards, POLICIES, EXPERIMENT), folder).failed
    pack(folder)
    return folder


def test_rows_of_each_family_are_sampled(results):
    store = Store(results)
    families = list_families(store)
    assert [experiment for experiment, _ in families] == ["boards 0", "seats", "unseen boards"]
    assert [experiment for experiment, _ in list_families(store, ["samegame"])] == ["seats"]
    assert sum(map(len, families.values())) == len(list(store.finished_runs())) == 12
    samples = [list(sample_rows(store, families, np.random.default_rng(seed))) for seed in (0, 1)]
    for _, rows in ((place, [row for one, row in samples[0] if one == place]) for place, _ in samples[0]):
        assert 1 <= len(rows) <= ROWS
    games = {row["game"].partition("(")[0] for _, row in samples[0]}
    assert {game.partition("/")[0] for game in games} == {"mo-samegame-v0", "mo-breakthrough-v0"}
    assert samples[0] != samples[1]
    assert find_differences(store, families, 0)[0] == []


@pytest.mark.parametrize("column", ["return_color_1", "length", "start"])
def test_a_changed_row_is_found(results, tmp_path, column):
    """Every value of a column is changed, with checksums that fit."""
    unpacked = tmp_path / "changed"
    unpacked.mkdir()
    for path in results.rglob("*"):
        if path.is_file():
            copy = unpacked / path.relative_to(results)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    table = polars.read_parquet(unpacked / PACKED)
    value = polars.col(column) + 1 if column != "start" else polars.lit("5").alias("start")
    table.with_columns(polars.when(polars.col(column).is_not_null()).then(value).alias(column)).write_parquet(unpacked / PACKED)
    write_checksums(unpacked, hash_files(unpacked, [PACKED]))
    changed = Store(unpacked)
    different, _ = find_differences(changed, list_families(changed), 0)
    affected = {"start": lambda row: "start" in row, "return_color_1": lambda row: "samegame" in row["game"]}
    sample = [row for _, row in sample_rows(changed, list_families(changed), np.random.default_rng(0))]
    assert [row for _, row in different] == list(filter(affected.get(column, lambda _: True), sample))
    assert {row.get("set") for _, row in different} >= {"select", "report"}
    assert find_differences(Store(results), list_families(Store(results)), 0)[0] == []


def test_policies_that_are_not_stored_cannot_be_computed_again(results):
    store = Store(results)
    run = next(run for run in store.finished_runs() if run.method.name == "cross_entropy")
    row = {**next(iter(store.read_rows(run))), "policy": "another"}
    assert not can_recompute(store.run_directory(run), row)
    with pytest.raises(InvalidFile, match="the policy 'another' is not stored; stored are"):
        recompute_row(store.run_directory(run), row)
