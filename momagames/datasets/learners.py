"""Baselines that learn from data alone, as methods of the benchmark: behavior cloning, conditioned on weights or on returns."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, TrainingResult
from momagames.baselines.moppo.encoder import make_network_encoder
from momagames.baselines.moppo.method import MAX_POLICIES
from momagames.baselines.moppo.network_policy import restore_policy
from momagames.baselines.moppo.options import DEFAULT_OPTIONS, MoppoOptions
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import check_lattice_size, format_weights, simplex_lattice
from momagames.contract import Game
from momagames.datasets.conditions import Conditions, ReturnConditions, WeightConditions
from momagames.datasets.dataset import Dataset, open_dataset, stack_preferences
from momagames.datasets.making import describe_policies
from momagames.datasets.manifest import MANIFEST
from momagames.datasets.playing import play_shard
from momagames.datasets.recipes import Recipe, load_recipe
from momagames.datasets.shards import Shard
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidParameter, check_range, invalid_value, nearest, one_of
from momagames.files.reading import is_file
from momagames.registry import format_id

PREFERENCE = "preference"  # array of a stored policy: its weights of the objectives


@dataclass(frozen=True)
class OfflineMethod(Method):
    """Behavior cloning of a network that is conditioned on K numbers, one policy for each weight vector of a lattice.

    The network is that of MOPPO; it is trained to repeat the actions of all agents of the data, and plays no episode. The
    budget of a run is the number of environment steps of its data, in whole episodes from the start of the dataset.

    data             folder of a dataset; or a recipe (name of a packaged one, or file), whose episodes are played in memory
    tier             of the dataset that is learned from
    divisions        of the lattice of weights
    epochs           passes over the data
    batch_size       decisions of an update
    learning_rate    of Adam at first; it falls linearly to 0
    channels, hidden, layers    size of the network, as of MOPPO
    greedy           play the most likely action instead of sampling one
    """

    trains: ClassVar[bool] = True
    # since 2: initial values that do not depend on the number of threads; since 3: views of boards from the side of the agent
    revision: ClassVar[int] = 3
    package: ClassVar[str] = "torch"
    extra: ClassVar[str] = "learn"
    file_option: ClassVar[str] = "data"
    data: str
    tier: str
    divisions: int
    epochs: int
    batch_size: int
    learning_rate: float
    channels: int
    hidden: int
    layers: int
    greedy: bool

    def __post_init__(self) -> None:
        for name, low in (("divisions", 1), ("epochs", 1), ("batch_size", 2)):
            check_range(f"{self.name}: {name}", getattr(self, name), low, 1_000_000, whole=True)
        self.network_options()

    @classmethod
    def find_file(cls, options: Mapping[str, Any]) -> Path | None:
        data = Path(str(options.get(cls.file_option)))
        return next((file for file in (data / MANIFEST, data) if is_file(file)), None)

    def network_options(self) -> MoppoOptions:
        """Return the options of the network. Raises InvalidParameter."""
        names = ("channels", "hidden", "layers", "learning_rate")
        own = {name: getattr(self, name) for name in names} | {"device": "cpu", "modulation": 0.0}
        return MoppoOptions(**{**DEFAULT_OPTIONS, **own})

    @abstractmethod
    def make_conditions(self, game: Game, shards: list[tuple[Shard, NDArray[np.float32]]]) -> Conditions:
        """Return what the network is conditioned on, for episodes with the preferences of their policies."""

    def check_train(self, game: Game) -> None:
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)
        make_network_encoder(game, self.network_options())
        _find_part(self.name, _find_recipe(self.data), self.tier, game)

    def train(self, setup: TrainingSetup) -> TrainingResult:
        self.check_installed()
        self.check_setup(setup)
        from momagames.datasets.cloning import clone_behavior

        game = setup.game
        shards = list(_read_data(self.name, self.data, self.tier, game, setup.budget))
        conditions = self.make_conditions(game, shards)
        policy, facts = clone_behavior(
            game, self.network_options(), [shard for shard, _ in shards], conditions, self.epochs, self.batch_size, setup.seed,
            setup.threads,
        )  # fmt: skip
        made = []
        for row in simplex_lattice(len(game.objectives), self.divisions):
            compiled = policy.compile(format_weights(row), conditions.choose(row).tolist(), self.greedy)
            made.append(_set_preference(compiled, row))
        facts |= {"episodes": sum(len(shard) for shard, _ in shards), "recipe_sha256": _find_recipe(self.data).digest}
        return TrainingResult(tuple(made), sum(shard.steps for shard, _ in shards), facts)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        preference = arrays.get(PREFERENCE, np.zeros(0))
        if preference.shape != (len(game.objectives),) or not np.isfinite(preference).all():
            raise InvalidParameter(f"{label!r} has no preference for the {len(game.objectives)} objectives of {game.id}")
        others = {name: array for name, array in arrays.items() if name != PREFERENCE}
        return _set_preference(restore_policy(game, label, others), preference)


@dataclass(frozen=True)
class BehaviorCloning(OfflineMethod):
    """Behavior cloning conditioned on the weights of the objectives that the policies of the data have.

    Decisions of policies without a preference count as those of equal weights. See `OfflineMethod` for the options.

    Source: Pomerleau, "ALVINN: an autonomous land vehicle in a neural network", NIPS 1988; conditioned on preferences as the
    baseline of Zhu, Dang and Grover, "Scaling Pareto-efficient decision making via offline multi-objective RL", ICLR 2023.
    """

    name: ClassVar[str] = "behavior_cloning"

    def make_conditions(self, game: Game, shards: list[tuple[Shard, NDArray[np.float32]]]) -> Conditions:
        return WeightConditions(shards)


@dataclass(frozen=True)
class ReturnConditioned(OfflineMethod):
    """Behavior cloning conditioned on the return of the agent in the episode of the data.

    A policy for weights asks for the mean return of the tenth of the episodes that is the best by these weights. See
    `OfflineMethod` for the options.

    Source: Emmons, Eysenbach, Kostrikov and Levine, "RvS: what is essential for offline RL via supervised learning?", ICLR
    2022; with vectors of returns as in Reymond, Bargiacchi and Nowé, "Pareto conditioned networks", AAMAS 2022.
    """

    name: ClassVar[str] = "return_conditioned"

    def make_conditions(self, game: Game, shards: list[tuple[Shard, NDArray[np.float32]]]) -> Conditions:
        return ReturnConditions([shard for shard, _ in shards])


def _set_preference(policy: CompiledPolicy, weights: NDArray[np.float64]) -> CompiledPolicy:
    return replace(policy, weights=tuple(weights.tolist()), arrays={**policy.arrays, PREFERENCE: weights})


@functools.lru_cache(maxsize=64)
def _find_recipe(data: str) -> Recipe:
    return open_dataset(data).manifest.recipe if is_file(Path(data) / MANIFEST) else load_recipe(data)


def _format_game(game: Game) -> str:
    return format_id(game.id, game.params)


def _find_part(name: str, recipe: Recipe, tier: str, game: Game) -> int:
    """Return the part of a recipe with this tier and the rules of a game."""
    found = [i for i, part in enumerate(recipe.parts) if _format_game(part.game.make_game()) == _format_game(game)]
    if not found:
        known = dict.fromkeys(_format_game(part.game.make_game()) for part in recipe.parts)
        raise InvalidParameter(f"{name}: no data of {_format_game(game)} in {recipe.name!r}: expected {one_of(known)}")
    tiers = {recipe.parts[i].tier: i for i in found}
    if tier not in tiers:
        raise InvalidParameter(invalid_value(f"{name}: tier", tier, one_of(tiers), nearest(tier, tiers)))
    return tiers[tier]


def _read_data(name: str, data: str, tier: str, game: Game, budget: int) -> Iterator[tuple[Shard, NDArray[np.float32]]]:
    """Yield episodes of up to `budget` environment steps, at least one, with the preferences of their policies."""
    recipe = _find_recipe(data)
    part = _find_part(name, recipe, tier, game)
    dataset: Dataset | None = open_dataset(data) if is_file(Path(data) / MANIFEST) else None
    policies = describe_policies(recipe, part) if dataset is None else dataset.manifest.policies[part]
    preferences = stack_preferences(game, policies)
    numbers = [shard for i, shard in recipe.list_shards() if i == part]
    infos = {} if dataset is None else {one.shard: one for one in dataset.manifest.shards if one.part == part}
    left, is_first = budget, True
    for number in numbers:
        shard = play_shard(recipe, part, number) if dataset is None else dataset.read_shard(infos[number])
        count = int(np.searchsorted(np.cumsum(shard.lengths, dtype=np.int64), left, side="right"))
        count = max(count, int(is_first))
        if count:
            yield shard.select_first(count), preferences
        left, is_first = left - shard.steps, False
        if left <= 0:
            return
