"""Episodes of policies in a run: their randomness, the opponents, the training before them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import list_team
from momagames.baselines.random import RANDOM_POLICY
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark.runs import PoliciesRun
from momagames.contract import Game
from momagames.engine.playouts import Episodes, play_episodes
from momagames.engine.policies import BatchPolicy, CompiledPolicy, has_kernel_policy, play_policies, policy_weights

# Independent random streams: start positions, actions of policies, training
STARTS, PLAYERS, TRAINING = 1, 2, 3
SETS = ("select", "report")


def list_opponents(run: PoliciesRun, game: Game) -> list[tuple[str, BatchPolicy]]:
    """Return the opponents of a run with their labels."""
    return [(choice.label, choice.make_policy(game)) for choice in run.opponents] or [("none", make_default_opponent(game))]


def train_policies(
    run: PoliciesRun, game: Game, others: list[BatchPolicy], facts: dict[str, Any], starts: NDArray[Any] | None
) -> tuple[BatchPolicy, ...]:
    """Train the method of a run against the policies of other agents; add what the training reports to `facts`.

    starts    record[S], the start positions of training; None: new ones
    """
    method = run.method.pin_file(game).make_method(game)
    seed = int(np.random.SeedSequence([run.seed, TRAINING]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    learning_agents = [game.agents.index(seat) for seat in run.seats]
    result = method.train(TrainingSetup([game], run.budget or 0, seed, learning_agents, others, starts=starts))
    if method.trains:
        facts |= {"training_steps": result.steps, **(result.info or {})}
    return result.policies


def make_episode_seeds(run: PoliciesRun, game: Game, plays: int = 1) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the randomness of the episodes of a run: seeds of start positions uint64[E], words of policies uint64[E, A].

    plays    episodes of each policy in each start position: one in each of them first, then a second one in each

    With training instances, the seeds of the report episodes are drawn first, so that they do not depend on their number.
    """
    own = run.seed if run.episode_set is None else int.from_bytes(run.episode_set.encode(), "big")
    seeds = np.random.SeedSequence([own, STARTS]).generate_state(run.episodes, np.uint64)
    if run.plays is not None:
        seeds = np.roll(seeds, run.select_episodes)
    words = np.random.SeedSequence([run.seed, PLAYERS]).generate_state(run.episodes * plays * len(game.agents), np.uint64)
    return np.tile(seeds.astype(np.uint64), plays), words.astype(np.uint64).reshape(-1, len(game.agents))


def make_row(
    episode: int, name: str, policy: str, opponent: str, seat: str, seeds: NDArray[np.uint64], value: list[float], length: int
) -> dict[str, Any]:
    """Return the row of an episode of the set `name`; seeds[episode] generates its start position."""
    return {
        "episode": episode,
        "set": name,
        "policy": policy,
        "opponent": opponent,
        "seat": seat,
        "start": int(seeds[episode]),
        "return": value,
        "length": length,
    }


def make_default_opponent(game: Game) -> CompiledPolicy:
    """Return the policy of the other agents in a run without opponents: random actions."""
    return replace(RANDOM_POLICY, label="none")


def play_from_starts(
    game: Game,
    policies: tuple[BatchPolicy, ...],
    opponent: BatchPolicy,
    seat: int,
    starts: NDArray[Any],
    words: NDArray[np.uint64],
    threads: int = 1,
) -> Episodes:
    """Play every episode with every policy at one seat and the seats of its team mates; episodes are the inner loop."""
    seats = np.full((len(policies) * len(starts), len(game.agents)), len(policies))
    seats[:, list_team(game, seat)] = np.repeat(np.arange(len(policies)), len(starts))[:, None]
    states, words = np.tile(starts, len(policies)), np.tile(words, (len(policies), 1))
    seated = (*policies, opponent)
    if has_kernel_policy(seated):
        return play_policies(game, states, seated, seats, words, threads=threads)
    rules = np.array([policy.rule for policy in seated])
    return play_episodes(game, states, rules[seats], policy_weights(game, seated)[seats], words)
