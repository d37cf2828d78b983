"""Datasets of Minari from the episodes of games with one agent.

A Minari dataset holds one agent: its observations, actions and rewards in each step. Rewards are stored here as vectors,
float32[T, K]: its files hold them, its functions that add up scores expect numbers. The masks of legal actions are infos, and
the preference, policy and tier of an episode are in the options of its reset.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import gymnasium

from momagames.adapters.spaces import action_space, observation_space
from momagames.datasets.dataset import Dataset, Episode
from momagames.errors import InvalidParameter, MissingExtra

CHUNK = 256  # episodes in memory


def export_minari(dataset: Dataset, name: str, tier: str | None = None, game: str | None = None) -> Any:
    """Write episodes as a dataset of Minari, and return it, a minari.MinariDataset.

    name          of the new dataset, such as "momagames/samegame-v0"; Minari chooses the folder
    tier, game    as of `Dataset.episodes`; they select one game
    Raises        InvalidParameter if the game has several agents, or several games are selected; MissingExtra
    """
    try:
        minari: Any = import_module("minari")
        buffers: Any = import_module("minari.data_collector")
        import_module("h5py")
    except ImportError:
        raise MissingExtra('the export needs Minari: pip install "minari[hdf5]"') from None
    chosen = {one.part for one in dataset.select_shards(tier, game)}
    games = {(dataset.games[i].id, str(dataset.games[i].params)): dataset.games[i] for i in chosen}
    if len(games) > 1 or len(next(iter(games.values())).agents) > 1:
        known = ", ".join(f"{one.id} with {len(one.agents)} agents" for one in games.values())
        raise InvalidParameter(f"Minari has datasets of one game with one agent: selected are {known}; use tier or game")
    made = next(iter(games.values()))
    part = dataset.manifest.recipe.parts[min(chosen)]
    spec = gymnasium.make(f"momagames/{made.id}", **part.game.params).spec
    count = sum(made.action_sizes(0))
    episodes = (_make_buffer(buffers.EpisodeBuffer, one, count) for one in dataset.episodes(tier, game))
    result: Any = None
    for chunk in _split(episodes):
        if result is None:
            result = minari.create_dataset_from_buffers(
                name, chunk, env=spec, action_space=action_space(made, 0), observation_space=observation_space(made),
                algorithm_name=", ".join(dict.fromkeys(one.method for i in chosen for one in dataset.manifest.policies[i])),
                description=dataset.manifest.recipe.description, jpeg_encoding=False,
            )  # fmt: skip
        else:
            result.update_dataset_from_buffer(chunk)
    return result


def _split(episodes: Iterator[Any]) -> Iterator[list[Any]]:
    while chunk := list(islice(episodes, CHUNK)):
        yield chunk


def _make_buffer(make: Any, episode: Episode, num_actions: int) -> Any:
    fields = {name: array[:, 0] for name, array in episode.observations.items()}
    actions = episode.actions[:, 0]
    return make(
        seed=episode.seed,
        options={"tier": episode.tier, "policy": episode.policies[0], "preference": episode.preferences[0]},
        observations=next(iter(fields.values())) if len(fields) == 1 else fields,
        actions=actions[:, 0] if actions.shape[1] == 1 else actions,
        rewards=list(episode.rewards[:, 0]),
        terminations=episode.terminated[:, 0].tolist(),
        truncations=episode.truncated[:, 0].tolist(),
        infos={"action_mask": episode.masks[:, 0, :num_actions]},
    )
