"""Multi-objective PPO for two players: the learner of mo_ppo.py against itself and a pool of its earlier versions.

    python self_play.py --seed 1 --out self_play.pt

It trains on MO-Breakthrough for the objectives win and captures, and then plays matches. Letters as in mo_ppo.py.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass

import mo_ppo
import numpy as np
import torch

from momagames.benchmark import match

BOARD = {"board_width": 5, "board_height": 5, "objectives": ["win", "captures"], "canonical": True}


@dataclass
class Options(mo_ppo.Options):
    """Options of the learner, and of the pool."""

    env_id: str = "mo-breakthrough-v0"
    params: str = json.dumps(BOARD)
    out: str = "self_play.pt"
    total_steps: int = 1_000_000
    pool_size: int = 8
    pool_fraction: float = 0.5  # of the environments, in which a version of the pool plays one side
    pool_every: int = 5  # updates between two versions
    match_games: int = 200


class Pool:
    """Earlier versions of the agent, each in the seats of one player in some environments, for a whole episode at a time.

    seats    int64[N, A]: index of the version that plays an agent; -1: the agent that learns
    """

    def __init__(self, options: Options) -> None:
        self.options, self.rng = options, np.random.default_rng(options.seed + 1)
        self.versions: list[mo_ppo.Agent] = []
        self.teams = np.array(options.make_envs(1, "disabled").game.teams)
        self.seats = np.full((options.num_envs, len(self.teams)), -1)

    def start_episodes(self, ended) -> None:
        """Seat versions of the pool in new episodes, bool[N]."""
        count = int(ended.sum())
        self.seats[ended] = -1
        if self.versions:
            team, version = (
                self.rng.integers(self.teams.max() + 1, size=count),
                self.rng.integers(len(self.versions), size=count),
            )
            version[self.rng.random(count) >= self.options.pool_fraction] = -1
            self.seats[ended] = np.where(self.teams == team[:, None], version[:, None], -1)

    @torch.no_grad()
    def act(self, actions, actors, inputs, weights, masks):
        """Overwrite the actions of the agents that the pool plays; return which these are, bool[N * S]."""
        seated = self.seats[np.arange(len(actors))[:, None], actors].ravel()
        for index in np.unique(seated[seated >= 0]):
            rows = torch.from_numpy(seated == index)
            policy, _ = self.versions[index](inputs[rows], weights[rows], masks[rows])
            actions[rows] = policy.sample() * masks[rows].any(-1)
        return torch.from_numpy(seated >= 0)

    def add(self, agent: mo_ppo.Agent, number: int) -> None:
        """Add a version after every `pool_every` updates, in place of the oldest one if the pool is full."""
        if number % self.options.pool_every == 0:
            if len(self.versions) < self.options.pool_size:
                self.versions.append(copy.deepcopy(agent))
            else:
                self.versions[number // self.options.pool_every % self.options.pool_size] = copy.deepcopy(agent)


class Player(mo_ppo.Player):
    """A saved policy, see mo_ppo.py."""

    def __init__(self, game, agent, file: str = "self_play.pt", weights=(1.0, 0.0)) -> None:
        super().__init__(game, agent, file, weights)


def play_matches(options: Options, opponents=("random", "greedy")) -> dict[str, list[int]]:
    """Return wins and losses of the policy for winning alone, by opponent."""
    params, results = json.loads(options.params), {}
    for opponent in opponents:
        player = Player(options.make_envs(1, "disabled").game, None, options.out)
        result = match(options.env_id, [player, opponent], games=options.match_games, seed=options.eval_seed, **params)
        results[opponent] = list(result.wins)
    return results


if __name__ == "__main__":
    options = mo_ppo.read_options(Options)
    mo_ppo.train(options, Pool(options))
    for opponent, (wins, losses) in play_matches(options).items():
        print(f"against {opponent}: {wins} wins, {losses} losses")
