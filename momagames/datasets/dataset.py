"""Reader of datasets: episodes one by one, or decisions in batches, streamed from the files of data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.benchmark.store.checksums import MAX_BYTES
from momagames.contract import Game
from momagames.datasets.decisions import Decisions, iterate_decisions
from momagames.datasets.manifest import Manifest, PolicyInfo, ShardInfo, read_manifest
from momagames.datasets.replaying import Block, replay_shard
from momagames.datasets.shards import Shard, parse_shard
from momagames.errors import InvalidFile, InvalidParameter, check_range, invalid_value, nearest, one_of
from momagames.files.json_data import canonical_json
from momagames.files.reading import hash_content, read_bytes
from momagames.registry import format_id


@dataclass(frozen=True)
class Episode:
    """One episode: T steps of a game with A agents and K objectives, seen by V agents in each step.

    V is 1 in games where agents move in turn: the agent to move. It is A where all agents move at once. S actors choose P parts
    of an action in each step; S is V.

    number          of the episode in the dataset
    tier            quality of the policies, a name
    seed            of the start position: `reset(seed=seed)` of an environment gives the same
    policies        label of the policy of each agent
    preferences     float32[A, K], weights of the objectives that the policy of each agent has; NaN for one without
    observations    field -> [T + 1, V, ...], what each agent sees before a step, and at the end
    masks           int8[T + 1, V, M], its legal actions: 1 legal, 0 illegal
    agents          int64[T + 1, V], the agent of each view
    actions         int64[T, S, P]
    rewards         float32[T, A, K], in the units of the objectives
    terminated      bool[T, A], whether the episode is over for an agent after a step
    truncated       bool[T, A], whether a limit of steps ended it
    returns         float64[A, K], sum of the rewards
    """

    game: Game
    number: int
    tier: str
    seed: int
    policies: tuple[str, ...]
    preferences: NDArray[np.float32]
    observations: dict[str, NDArray[Any]]
    masks: NDArray[np.int8]
    agents: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    returns: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.actions)


class Dataset:
    """A dataset in a folder; see `open_dataset`.

    folder      of the dataset
    manifest    content of dataset.json
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest

    def __len__(self) -> int:
        """Return the number of episodes."""
        return sum(part.episodes for part in self.manifest.recipe.parts)

    @property
    def num_steps(self) -> int:
        """Number of environment steps."""
        return sum(one.steps for one in self.manifest.shards)

    @property
    def num_bytes(self) -> int:
        """Size of the files of data."""
        return sum(one.bytes for one in self.manifest.shards)

    @cached_property
    def games(self) -> tuple[Game, ...]:
        """The game of each part."""
        return tuple(part.game.make_game() for part in self.manifest.recipe.parts)

    @property
    def tiers(self) -> tuple[str, ...]:
        """The distinct tiers."""
        return tuple(dict.fromkeys(part.tier for part in self.manifest.recipe.parts))

    def select_shards(self, tier: str | None = None, game: str | None = None) -> list[ShardInfo]:
        """Return the files of data of a tier and of a game by id; None: of all. Raises InvalidParameter if there are none."""
        for name, value, known in (
            ("tier", tier, self.tiers), ("game", game, tuple(dict.fromkeys(one.id for one in self.games))),
        ):  # fmt: skip
            if value is not None and value not in known:
                raise InvalidParameter(f"{self.folder}: {invalid_value(name, value, one_of(known), nearest(value, known))}")
        parts = self.manifest.recipe.parts
        chosen = [one for one in self.manifest.shards if tier in (None, parts[one.part].tier)]
        chosen = [one for one in chosen if game in (None, self.games[one.part].id)]
        if not chosen:
            raise InvalidParameter(f"{self.folder}: no episodes of tier={tier!r} and game={game!r}")
        return chosen

    def read_shard(self, info: ShardInfo) -> Shard:
        """Return the episodes of a file of data. Raises InvalidFile if it is missing or damaged."""
        path, game = self.folder / info.file, self.games[info.part]
        content = read_content(self.folder, info)
        count, policies = self.manifest.recipe.count_episodes(info.part, info.shard), self.manifest.policies[info.part]
        shard = parse_shard(content, str(path), game)
        if len(shard) != count or shard.steps != info.steps or shard.policies.max(initial=0) >= len(policies):
            raise InvalidFile(f"{path}: expected {count} episodes by {len(policies)} policies, of {info.steps} steps")
        return shard

    def episodes(self, tier: str | None = None, game: str | None = None) -> Iterator[Episode]:
        """Yield the episodes in order; of one tier, or of one game by id.

        Raises InvalidFile if a file is damaged, or if an episode differs from the stored one when it is played again
        """
        for info in self.select_shards(tier, game):
            shard = self.read_shard(info)
            for block in replay_shard(self.games[info.part], shard, str(self.folder / info.file)):
                for i in range(len(block.lengths)):
                    yield self._make_episode(info, shard, block, i)

    def batches(
        self, batch_size: int, tier: str | None = None, game: str | None = None, seed: int | None = None
    ) -> Iterator[Decisions]:
        """Yield the decisions of all agents in batches; the last one of a block of episodes may be smaller.

        batch_size    decisions of a batch
        tier, game    as of `episodes`; a dataset of several games needs one
        seed          of the order of the files of data, and of the decisions within each block of episodes (up to 1,024
                      episodes or 64 MiB); None: in order
        Raises        as of `episodes`; InvalidParameter
        """
        check_range("batch_size", batch_size, 1, whole=True)
        infos = self.select_shards(tier, game)
        parts = self.manifest.recipe.parts
        if len({canonical_json(parts[one.part].game.model_dump(mode="json")) for one in infos}) > 1:
            known = tuple(dict.fromkeys(format_id(self.games[one.part].id, self.games[one.part].params) for one in infos))
            raise InvalidParameter(
                f"{self.folder}: batches of {one_of(known)}: expected a game or tier that selects one of them"
            )
        rng = None if seed is None else np.random.default_rng(seed)
        order = range(len(infos)) if rng is None else rng.permutation(len(infos)).tolist()
        for i in order:
            shard, info = self.read_shard(infos[i]), infos[i]
            blocks = replay_shard(self.games[info.part], shard, str(self.folder / info.file))
            preferences = self.list_preferences(info.part)
            first = self.manifest.recipe.find_first_episode(info.part, info.shard)
            yield from iterate_decisions(self.games[info.part], shard, blocks, preferences, first, batch_size, rng)

    def list_preferences(self, part: int) -> NDArray[np.float32]:
        """Return the preferences of the policies of a part, float32[policies, K]; NaN for a policy without."""
        return stack_preferences(self.games[part], self.manifest.policies[part])

    def _make_episode(self, info: ShardInfo, shard: Shard, block: Block, i: int) -> Episode:
        game, steps, row = self.games[info.part], int(block.lengths[i]), block.first + i
        recipe, policies = self.manifest.recipe, shard.policies[row]
        return Episode(
            game, recipe.find_first_episode(info.part, info.shard) + row, recipe.parts[info.part].tier, int(shard.seeds[row]),
            tuple(self.manifest.policies[info.part][one].policy for one in policies.tolist()),
            self.list_preferences(info.part)[policies],
            game.observation_views(np.ascontiguousarray(block.observations[: steps + 1, i])),
            block.masks[: steps + 1, i], block.agents[: steps + 1, i], block.actions[:steps, i], block.rewards[:steps, i],
            block.terminated[:steps, i], block.truncated[:steps, i], shard.returns[row].copy(),
        )  # fmt: skip


def read_content(folder: Path, info: ShardInfo) -> bytes:
    """Return the content of a file of data. Raises InvalidFile if it is missing or has another checksum."""
    content = read_bytes(path := folder / info.file, MAX_BYTES)
    if hash_content(content) != info.sha256:
        raise InvalidFile(f"{path}: changed since it was written")
    return content


def stack_preferences(game: Game, policies: tuple[PolicyInfo, ...]) -> NDArray[np.float32]:
    """Return the preferences of policies, float32[n, K]; NaN for a policy without. Raises InvalidFile for another length."""
    objectives = len(game.objectives)
    if wrong := [one.policy for one in policies if len(one.preference) not in (0, objectives)]:
        raise InvalidFile(f"preference of policy {wrong[0]!r}: expected {objectives} weights for {game.id}")
    rows = [one.preference or (np.nan,) * objectives for one in policies]
    return np.array(rows, np.float32).reshape(len(rows), objectives)


def open_dataset(folder: str | Path, allow_code: bool = False) -> Dataset:
    """Open the dataset in a folder. Raises InvalidFile if it is missing, damaged or incomplete.

    allow_code    whether its recipe may name Python code, such as methods "module:class", which is then imported
    """
    place = Path(folder)
    manifest = read_manifest(place, allow_code)
    if not manifest.is_complete:
        due = len(manifest.recipe.list_shards())
        raise InvalidFile(
            f"{place}: {len(manifest.shards)} of {due} files of data are made: continue with `momagames dataset make`"
        )
    return Dataset(place, manifest)
