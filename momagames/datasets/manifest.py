"""The file dataset.json: the recipe, and the files of data with their checksums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from momagames.benchmark.data_models import FrozenModel
from momagames.benchmark.suite_files import locate_errors, validate_model
from momagames.datasets.recipes import Recipe, load_recipe
from momagames.errors import InvalidFile
from momagames.files.json_data import read_json
from momagames.files.writing import write_file_atomically
from momagames.plugins import Origin
from momagames.plugins import allow_code as allow_code_in_files

MANIFEST = "dataset.json"
FORMAT: Literal["momagames-dataset-1"] = "momagames-dataset-1"
Count = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class PolicyInfo(FrozenModel):
    """A policy of a part.

    preference    weights of the objectives; empty: it has none
    """

    method: str
    policy: str
    preference: tuple[float, ...]


class ShardInfo(FrozenModel):
    """A file of data.

    bytes, sha256     of the file
    content_sha256    of the episodes, whatever the format of the file, see `Shard.hash_content`
    """

    part: Count
    shard: Count
    steps: Count
    bytes: Count
    sha256: Digest
    content_sha256: Digest

    @property
    def file(self) -> str:
        """Path of the file in the folder of the dataset."""
        return name_shard(self.part, self.shard)


class Manifest(FrozenModel):
    """Content of dataset.json. Files that are not listed are still to be made.

    version     of momagames
    policies    of each part, in the order of their numbers in the data
    """

    format: Literal["momagames-dataset-1"]
    version: str
    recipe: Recipe
    policies: tuple[tuple[PolicyInfo, ...], ...]
    shards: tuple[ShardInfo, ...]

    @property
    def is_complete(self) -> bool:
        return len(self.shards) == len(self.recipe.list_shards())


def name_shard(part: int, shard: int) -> str:
    """Return the path of a file of data in the folder of its dataset."""
    return f"data/part-{part:03d}/{shard:06d}.parquet"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write dataset.json atomically."""
    write_file_atomically(folder / MANIFEST, json.dumps(manifest.model_dump(mode="json"), indent=1) + "\n")


def read_manifest(folder: Path, allow_code: bool = False) -> Manifest:
    """Read dataset.json. Raises InvalidFile, with the key that is wrong.

    allow_code    whether its recipe may name Python code, such as methods "module:class"
    """
    with allow_code_in_files(allow_code):
        return _read_manifest(folder / MANIFEST)


def _read_manifest(path: Path) -> Manifest:
    data = read_json(path)
    if data.get("format") != FORMAT:
        raise InvalidFile(f"{path}: not a dataset that this version can read: format {data.get('format')!r}")
    origin = Origin.of_file(path)
    manifest = validate_model(Manifest, data, str(path), "dataset", origin)
    with locate_errors(str(path)):
        recipe = load_recipe(manifest.recipe.model_dump(mode="json"), origin)
    due = recipe.list_shards()
    listed = [(one.part, one.shard) for one in manifest.shards]
    if len(set(listed)) < len(listed) or not set(listed) <= set(due):
        raise InvalidFile(f"{path}: shards: expected distinct files of the recipe")
    if [len(policies) for policies in manifest.policies] != [
        len(part.make_policies(part.game.make_game())) for part in recipe.parts
    ]:
        raise InvalidFile(f"{path}: policies: expected those of the recipe; this version may have others")
    return manifest
