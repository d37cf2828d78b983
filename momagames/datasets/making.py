"""Making of datasets: the episodes of a recipe, file by file; what is there already is not made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import momagames
from momagames.benchmark.store.checksums import MAX_BYTES
from momagames.datasets.croissant import write_croissant
from momagames.datasets.dataset import Dataset, open_dataset, read_content, stack_preferences
from momagames.datasets.manifest import (
    FORMAT,
    MANIFEST,
    Manifest,
    PolicyInfo,
    ShardInfo,
    name_shard,
    read_manifest,
    write_manifest,
)
from momagames.datasets.playing import play_shard
from momagames.datasets.recipes import Recipe, load_recipe
from momagames.datasets.shards import import_pyarrow, parse_shard, write_shard
from momagames.errors import InvalidCall, InvalidFile, check_range
from momagames.files.json_data import read_json
from momagames.files.reading import hash_content, is_file, read_bytes
from momagames.files.writing import is_temporary, lock_folder, make_folder

Progress = Callable[["ShardInfo", int, int], None]


@dataclass(frozen=True)
class _Task:
    recipe: Recipe
    part: int
    shard: int
    path: Path
    first: int
    preferences: NDArray[np.float32]


def make(
    source: str | Path | Mapping[str, Any] | Recipe,
    folder: str | Path,
    processes: int = 1,
    show_progress: Progress | None = None,
) -> Dataset:
    """Make the dataset of a recipe in a folder. A dataset of the same recipe that is there is continued.

    source           file of a recipe, name of a packaged one, or its content
    processes        number of processes that play at the same time; the dataset is the same with any number
    show_progress    called with each file of data, the files finished so far, and the number of files
    Raises           InvalidFile; InvalidCall if the folder has the dataset of another recipe or version, or another process
                     makes it; MissingExtra
    """
    check_range("processes", processes, 1, 1024, whole=True)
    import_pyarrow()
    recipe, place = load_recipe(source), Path(folder)
    make_folder(place)
    with lock_folder(place):
        _make_in_folder(recipe, place, processes, show_progress)
    return open_dataset(place, allow_code=True)  # made from the recipe of the caller


def _make_in_folder(recipe: Recipe, place: Path, processes: int, show_progress: Progress | None) -> None:
    manifest = _resume(recipe, place)
    infos = {(one.part, one.shard): one for one in manifest.shards}
    due = recipe.list_shards()
    tasks = [
        _Task(
            recipe,
            *key,
            place / name_shard(*key),
            recipe.find_first_episode(*key),
            stack_preferences(recipe.parts[key[0]].game.make_game(), manifest.policies[key[0]]),
        )
        for key in due
        if key not in infos
    ]
    for info in _run_tasks(tasks, processes):
        infos[info.part, info.shard] = info
        shards = tuple(infos[key] for key in sorted(infos))
        write_manifest(place, manifest := manifest.model_copy(update={"shards": shards}))
        if show_progress:
            show_progress(info, len(infos), len(due))
    write_croissant(place, manifest)


def _resume(recipe: Recipe, place: Path) -> Manifest:
    """Return the manifest of the folder, without the files that are missing or damaged; a new one if there is none."""
    if not is_file(place / MANIFEST):
        if not all(is_temporary(path.name) for path in place.iterdir()):
            raise InvalidCall(f"{place}: expected an empty or new folder, or a dataset of this recipe")
        manifest = Manifest(
            format=FORMAT, version=momagames.__version__, recipe=recipe,
            policies=tuple(describe_policies(recipe, part) for part in range(len(recipe.parts))), shards=(),
        )  # fmt: skip
        write_manifest(place, manifest)
        return manifest
    is_same = read_json(place / MANIFEST).get("recipe") == recipe.model_dump(mode="json")
    manifest = read_manifest(place, allow_code=is_same)  # of the same recipe, the caller has named its code
    if manifest.recipe.digest != recipe.digest or manifest.version != momagames.__version__:
        given = f"recipe {recipe.name!r} and momagames {momagames.__version__}"
        raise InvalidCall(
            f"{place}: has a dataset of recipe {manifest.recipe.name!r} and momagames {manifest.version}, which differ from "
            f"{given}: expected another folder"
        )
    return manifest.model_copy(update={"shards": tuple(one for one in manifest.shards if _is_sound(place, one))})


def _is_sound(folder: Path, info: ShardInfo) -> bool:
    """Return whether a file of data has its checksum."""
    try:
        read_content(folder, info)
    except InvalidFile:
        return False
    return True


def describe_policies(recipe: Recipe, number: int) -> tuple[PolicyInfo, ...]:
    """Return the policies of a part of a recipe, in order."""
    part, found = recipe.parts[number], []
    game = part.game.make_game()
    for choice in part.methods:
        for policy in choice.make_method(game).policies(game):
            found.append(PolicyInfo(method=choice.name, policy=policy.label, preference=tuple(policy.weights)))
    return tuple(found)


def _run_tasks(tasks: Sequence[_Task], processes: int) -> Iterator[ShardInfo]:
    """Yield the finished files of data as they come."""
    if min(processes, len(tasks)) < 2:
        yield from map(_make_shard, tasks)
        return
    # new interpreters instead of forks: compiled code and threads of the caller do not survive a fork
    with ProcessPoolExecutor(min(processes, len(tasks)), get_context("spawn")) as pool:
        waiting = {pool.submit(_make_shard, task) for task in tasks}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _make_shard(task: _Task) -> ShardInfo:
    shard = play_shard(task.recipe, task.part, task.shard)
    write_shard(task.path, shard, task.first, task.preferences)
    content = read_bytes(task.path, MAX_BYTES)
    try:
        parse_shard(content, str(task.path), task.recipe.parts[task.part].game.make_game())
    except InvalidFile as error:  # very many equal episodes
        task.path.unlink()
        raise InvalidFile(f"{error}; expected fewer episodes in a file (shard_episodes)") from None
    return ShardInfo(
        part=task.part, shard=task.shard, steps=shard.steps, bytes=len(content), sha256=hash_content(content),
        content_sha256=shard.hash_content(),
    )  # fmt: skip
