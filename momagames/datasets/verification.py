"""Checks of datasets: the checksums of all files, and the same episodes again from the recipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import momagames
from momagames.datasets.dataset import Dataset
from momagames.datasets.manifest import read_manifest
from momagames.datasets.playing import play_shard
from momagames.errors import InvalidFile, check_range

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Verification:
    """Result of `verify`.

    problems       a line for each file that is missing, damaged, or other than its recipe; empty: the dataset is sound
    files          files of data whose checksums were compared
    regenerated    files of data whose episodes were played again, and the number of these episodes
    """

    problems: tuple[str, ...]
    files: int
    regenerated: int
    episodes: int


def verify(
    folder: str | Path,
    regenerate: int | None = 0,
    seed: int = 0,
    show_progress: Progress | None = None,
    allow_code: bool = False,
) -> Verification:
    """Compare the files of a dataset with their checksums, and episodes with those of the recipe.

    regenerate       number of files of data, drawn at random, whose episodes are played again and compared to the bit; None:
                     all of them
    seed             of this choice
    show_progress    called with the name of each file, the steps finished so far, and the number of steps
    allow_code       whether its recipe may name Python code, which is then imported
    Raises           InvalidFile if the folder has no dataset
    """
    place = Path(folder)
    manifest = read_manifest(place, allow_code)
    dataset, shards = Dataset(place, manifest), manifest.shards
    if regenerate is not None:
        check_range("regenerate", regenerate, 0, whole=True)
    count = len(shards) if regenerate is None else min(regenerate, len(shards))
    chosen = set(np.random.default_rng(seed).permutation(len(shards))[:count].tolist())
    missing = len(manifest.recipe.list_shards()) - len(shards)
    problems = [f"{place}: {missing} files of data are not made yet"] if missing else []
    total, done, episodes = len(shards) + len(chosen), 0, 0

    def report(name: str) -> None:
        nonlocal done
        done += 1
        if show_progress:
            show_progress(name, done, total)

    for number, info in enumerate(shards):
        problem = ""
        try:
            if dataset.read_shard(info).hash_content() != info.content_sha256:
                problem = f"{place / info.file}: its episodes are not those of its checksum"
        except InvalidFile as error:
            problem = str(error)
        report(info.file)
        if number in chosen:
            again = play_shard(manifest.recipe, info.part, info.shard)
            episodes += len(again)
            if again.hash_content() != info.content_sha256 and not problem:
                version = (
                    ""
                    if manifest.version == momagames.__version__
                    else (f"; made by momagames {manifest.version}, played again by {momagames.__version__}")
                )
                problem = f"{place / info.file}: the recipe gives other episodes{version}"
            report(f"{info.file}, again")
        if problem:
            problems.append(problem)
    return Verification(tuple(problems), len(shards), len(chosen), episodes)
