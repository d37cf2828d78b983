"""Head-to-head runs: the policy of a method meets those of the other methods, and responses are played against it.

A response is the policy with the most wins against it in the selection episodes, of methods that search or are trained
against it with a stated budget. Its wins beyond those of the policy against itself are a lower bound of exploitability, as in
`exploitability`, here in wins.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.analysis.arrays import Array
from momagames.benchmark.choices import MethodChoice, label_methods
from momagames.benchmark.episodes import SETS, list_opponents, make_episode_seeds, make_row, play_from_starts, train_policies
from momagames.benchmark.runs import HeadToHeadRun, PoliciesRun, parse_run
from momagames.contract import Game
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy
from momagames.files.json_data import canonical_json
from momagames.plugins import Origin

DECIDERS = ("outcome", "win")  # objectives that reward winning in games where all can lose, or more than two meet
RESPONSE = "response"  # the set of the episodes of responses
MAX_PLAYERS = 64  # kept in this process, for the other runs of the same games and seed


class Player(NamedTuple):
    """A policy, and the facts of its training and selection: environment steps of both."""

    policy: BatchPolicy
    facts: dict[str, Any]


def play_head_to_head(run: HeadToHeadRun, facts: dict[str, Any], policies: list[BatchPolicy]) -> Iterator[dict[str, Any]]:
    """Yield one row for each report episode against each player from each seat, and for each one of the response.

    policies    if empty, filled with the policy of the method

    Where two players meet, the one from each seat and the other from the other seat, episode e has the same start position and
    random numbers, so that in games of two teams both runs have the same games. In rows of the set "response" the response
    plays the seat, and the policy all others.
    """
    game = run.game.make_game()
    labels = label_methods(run.players)
    players = {label: choose_player(run, choice) for choice, label in zip(run.players, labels.values(), strict=True)}
    name = labels[run.method.key]
    if not policies:
        policies.append(players[name].policy)
        facts |= players[name].facts
    own, report = policies[0], slice(run.select_episodes, None)
    facts |= {"policies": 1, "steps": facts.get("training_steps", 0)}
    for label, player in players.items():
        other = own if label == name else player.policy
        yield from _play_episodes(run, game, own, (label, other), report, SETS[1], facts)
    response = train_response(run, own)
    facts["response_steps"] = response.facts["steps"]
    facts["steps"] += response.facts["steps"]
    yield from _play_episodes(run, game, response.policy, (name, own), report, RESPONSE, facts)


def choose_player(run: HeadToHeadRun, choice: MethodChoice) -> Player:
    """Return the policy of a method in a head-to-head run: trained once in a process for all runs of its games and seed."""
    return _choose_player(canonical_json(run.play_alone(method=choice).to_dict()), run.origin)


@functools.lru_cache(MAX_PLAYERS)
def _choose_player(content: str, origin: Origin) -> Player:
    run = parse_run(json.loads(content), origin=origin)
    assert isinstance(run, PoliciesRun)
    return train_player(run)


def train_player(run: PoliciesRun) -> Player:
    """Return the policy of the method of a run, trained anew."""
    game, facts = run.game.make_game(), dict[str, Any]()
    others = list_opponents(run, game)
    policies = train_policies(run, game, [other for _, other in others], facts, None)
    return Player(policies[_find_strongest(run, game, policies, others, facts)], facts)


def train_response(run: HeadToHeadRun, policy: BatchPolicy) -> Player:
    """Return the response to a policy with the most wins against it in the selection episodes."""
    game, responses, facts = run.game.make_game(), list[BatchPolicy](), {"steps": 0}
    for choice, label in label_methods(run.head_to_head.responses).items():
        training: dict[str, Any] = {}
        method = MethodChoice.model_validate_json(choice, context=run.origin)
        update = {"method": method, "budget": run.head_to_head.response_budget}
        trained = train_policies(run.model_copy(update=update), game, [policy], training, None)
        facts["steps"] += training.get("training_steps", 0)
        responses += [replace(response, label=f"{label}: {response.label}") for response in trained]
    everywhere = run.model_copy(update={"seats": run.head_to_head.list_seats(game)})
    return Player(responses[_find_strongest(everywhere, game, responses, [("", policy)], facts)], facts)


def _find_strongest(
    run: PoliciesRun,
    game: Game,
    policies: Sequence[BatchPolicy],
    others: Sequence[tuple[str, BatchPolicy]],
    facts: dict[str, Any],
) -> int:
    """Return the index of the policy with the most wins in the selection episodes; the first of equal ones."""
    seeds, words = make_episode_seeds(run, game)
    select, decider = run.select_episodes, find_deciding_objective(game)
    starts, wins = generate_starts(game, seeds[:select]), np.zeros(len(policies))
    for _, other in others if len(policies) > 1 else ():
        for agent in map(game.agents.index, run.seats):
            done = play_from_starts(game, tuple(policies), other, agent, starts, words[:select])
            facts["selection_steps"] = facts.get("selection_steps", 0) + int(done.steps.sum())
            wins += score_wins(game, decider, done.returns[:, agent]).reshape(len(policies), select).sum(axis=1)
    return int(wins.argmax())


def _play_episodes(
    run: HeadToHeadRun,
    game: Game,
    own: BatchPolicy,
    other: tuple[str, BatchPolicy],
    part: slice,
    name: str,
    facts: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part of the episodes, from each seat; the steps are added to `facts`."""
    seeds, words = make_episode_seeds(run, game)
    starts: NDArray[Any] = generate_starts(game, seeds[part])
    label, opponent = other
    for seat in run.head_to_head.list_seats(game):
        agent = game.agents.index(seat)
        done = play_from_starts(game, (own,), opponent, agent, starts, words[part])
        facts["steps"] += int(done.steps.sum())
        episodes = range(len(seeds))[part]
        for k, value, length in zip(episodes, done.returns[:, agent].tolist(), done.lengths.tolist(), strict=True):
            yield make_row(k, name, own.label, label, seat, seeds, value, length)


# ----------------------------------------------------------------------------------------------------------------- wins


def find_deciding_objective(game: Game) -> int:
    """Return the index of the objective that decides who won: the first zero-sum one, else that of DECIDERS, else -1."""
    zero_sum = [objective.zero_sum for objective in game.objectives]
    names = [objective.name for objective in game.objectives]
    if any(zero_sum):
        return zero_sum.index(True)
    return next((names.index(name) for name in DECIDERS if name in names), -1)


def score_wins(game: Game, decider: int, returns: Array) -> Array:
    """Convert returns float[..., K] to wins float[...]: 1 above the middle of the deciding objective's range, 0.5 at it."""
    objective = game.objectives[decider]
    margin = returns[..., decider] - (objective.return_low + objective.return_high) / 2
    return np.asarray(np.where(np.abs(margin) < 1e-9, 0.5, margin > 0), np.float64)
