"""Episodes of a recipe: the same to the bit whenever and in whatever order they are played, on machines of one kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.datasets.recipes import Recipe
from momagames.datasets.shards import Shard, action_dtype
from momagames.engine.playouts import Episodes, generate_starts, play_episodes
from momagames.engine.policies import BatchPolicy, has_kernel_policy, play_policies, policy_weights

STARTS, PLAYERS, CHOICES = 1, 2, 3  # independent random streams: start positions, actions of policies, choice of policies


def play_shard(recipe: Recipe, part: int, shard: int) -> Shard:
    """Play the episodes of a file of data. Raises IllegalAction if a policy in Python returns one."""
    chosen, count = recipe.parts[part], recipe.count_episodes(part, shard)
    game = chosen.game.make_game()
    policies, agents = chosen.make_policies(game), len(game.agents)

    def draw(stream: int, size: int) -> NDArray[np.uint64]:
        words = np.random.SeedSequence([recipe.seed, part, shard, stream]).generate_state(size, np.uint64)
        return words.astype(np.uint64)

    seeds = draw(STARTS, count) >> np.uint64(1)  # seeds of environments have 63 bits
    teams = max(game.teams) + 1
    choices = (draw(CHOICES, count * teams) % np.uint64(len(policies))).astype(np.int64).reshape(count, teams)
    seats = choices[:, list(game.teams)]
    episodes = _play(game, generate_starts(game, seeds), policies, seats, draw(PLAYERS, count * agents).reshape(count, agents))
    actions = episodes.moves.reshape(count, episodes.moves.shape[1], game.actors, len(game.actions))
    is_played = np.arange(actions.shape[1]) < episodes.lengths[:, None]
    return Shard(
        seeds, seats.astype(np.uint16), episodes.returns, episodes.lengths.astype(np.int32),
        actions[is_played].astype(action_dtype(game)),
    )  # fmt: skip


def _play(
    game: Game, starts: NDArray[np.void], policies: tuple[BatchPolicy, ...], seats: NDArray[np.int64], words: NDArray[np.uint64]
) -> Episodes:
    if has_kernel_policy(policies) or game.actors > 1 or len(game.actions) > 1:
        return play_policies(game, starts, policies, seats, words, keep_moves=True)
    rules = np.array([policy.rule for policy in policies])
    return play_episodes(game, starts, rules[seats], policy_weights(game, policies)[seats], words, keep_moves=True)
