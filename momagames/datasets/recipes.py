"""Recipes of datasets: everything that the episodes depend on, in a YAML file without hidden defaults."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from momagames.benchmark.choices import GameChoice, MethodChoice
from momagames.benchmark.data_models import FrozenModel, Name
from momagames.benchmark.suite_files import load_packaged_yaml, locate_errors, validate_model
from momagames.contract import Game
from momagames.datasets.shards import MAX_EPISODES
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidFile, InvalidParameter, invalid_value
from momagames.files.json_data import canonical_json
from momagames.files.packaged import find_packaged_folder
from momagames.plugins import USER, Origin

MAX_SHARDS, MAX_METHODS = 100_000, 2000  # of a recipe
MAX_POLICIES = 1 << 16  # of a recipe: the number of a policy in its part has two bytes


class Part(FrozenModel):
    """Episodes of one game by some policies.

    tier        name of their quality, such as "random", "medium" or "expert"; each game has a tier once
    episodes    number of episodes
    methods     methods without training, as in suites: their policies play, one for each preference. For each team of an
                episode one of all these policies is drawn at random
    """

    tier: Name
    game: GameChoice
    episodes: Annotated[int, Field(ge=1, le=1_000_000_000)]
    methods: Annotated[tuple[MethodChoice, ...], Field(min_length=1)]

    def make_policies(self, game: Game) -> tuple[BatchPolicy, ...]:
        """Return the policies. Raises InvalidParameter; UnknownId."""
        policies: list[BatchPolicy] = []
        for choice in self.methods:
            method = choice.pin_file(game).make_method(game)
            if method.trains:
                raise InvalidParameter(f"{choice.name} trains: expected methods that have policies without training")
            policies += method.policies(game)
            if len(policies) > MAX_POLICIES:
                raise InvalidParameter(f"{len(policies):,} policies: expected at most {MAX_POLICIES:,}")
        return tuple(policies)


class Recipe(FrozenModel):
    """A dataset: its parts and its randomness.

    seed              random seed: equal recipes give equal episodes
    shard_episodes    episodes of a file of data; the last file of a part has the remainder
    """

    name: Name
    description: Annotated[str, Field(min_length=1, max_length=10_000)]
    license: Annotated[str, Field(min_length=1, max_length=200)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    shard_episodes: Annotated[int, Field(ge=1, le=MAX_EPISODES)]
    parts: Annotated[tuple[Part, ...], Field(min_length=1, max_length=1000)]

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        files = sum(-(-part.episodes // self.shard_episodes) for part in self.parts)
        if files > MAX_SHARDS:
            raise ValueError(f"{files:,} files of data: expected at most {MAX_SHARDS:,}; take more episodes in a file")
        methods = sum(len(part.methods) for part in self.parts)
        if methods > MAX_METHODS:
            raise ValueError(f"{methods:,} methods: expected at most {MAX_METHODS:,} in all parts")
        return self

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the recipe."""
        return hashlib.sha256(canonical_json(self.model_dump(mode="json")).encode()).hexdigest()

    def list_shards(self) -> list[tuple[int, int]]:
        """Return the part and the number in the part of each file of data, in order."""
        return [(i, shard) for i, part in enumerate(self.parts) for shard in range(-(-part.episodes // self.shard_episodes))]

    def count_episodes(self, part: int, shard: int) -> int:
        """Return the number of episodes of a file of data."""
        return min(self.shard_episodes, self.parts[part].episodes - shard * self.shard_episodes)

    def find_first_episode(self, part: int, shard: int) -> int:
        """Return the number in the dataset of the first episode of a file of data."""
        return sum(one.episodes for one in self.parts[:part]) + shard * self.shard_episodes


def list_recipes() -> dict[str, Path]:
    """Return the packaged recipes, by name."""
    folder = find_packaged_folder("momagames.datasets", "recipes", "datasets")
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def load_recipe(source: str | Path | Mapping[str, Any] | Recipe, origin: Origin = USER) -> Recipe:
    """Load a recipe from a YAML file, the name of a packaged recipe, or a mapping of the same form.

    origin    where it comes from, if `source` is a mapping of a file of data, which may not name code
    Raises    InvalidFile, with file, key, allowed values and nearest match; UnknownId if `source` is neither a file nor a name
    """
    if isinstance(source, Recipe):
        return source
    if isinstance(source, Mapping):
        data, place = dict(source), "recipe"
    else:
        data, place = load_packaged_yaml(source, list_recipes(), Recipe, "recipe")
    recipe = validate_model(Recipe, data, place, "recipe", origin)
    known: set[tuple[str, str]] = set()
    parts, count = list[Part](), 0
    for i, part in enumerate(recipe.parts):
        at = f"{place}: parts[{i}]"
        with locate_errors(at):
            game = part.game.make_game()
            methods = tuple(choice.pin_file(game) for choice in part.methods)
            parts.append(part.model_copy(update={"game": part.game.embed_files(), "methods": methods}))
            count += len(parts[-1].make_policies(game))
            if count > MAX_POLICIES:
                raise InvalidParameter(f"{count:,} policies of this part and those before: expected at most {MAX_POLICIES:,}")
        if (key := (canonical_json(part.game.model_dump(mode="json")), part.tier)) in known:
            raise InvalidFile(invalid_value(f"{at}.tier", part.tier, "a tier that no other part of this game has"))
        known.add(key)
    return recipe.model_copy(update={"parts": tuple(parts)})
