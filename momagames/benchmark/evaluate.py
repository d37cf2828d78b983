"""Execution of one run: search for plans or evaluation of policies. Yields rows, one for each plan or episode."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import momagames
from momagames.analysis.arrays import Array
from momagames.benchmark.cpu_budgets import measure_search, search_for_seconds
from momagames.benchmark.episode_sums import Match, sum_episodes
from momagames.benchmark.episodes import SETS, list_opponents, make_episode_seeds, make_row, play_from_starts, train_policies
from momagames.benchmark.head_to_head import play_head_to_head
from momagames.benchmark.runs import HeadToHeadRun, PlansRun, PoliciesRun, Run
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy

Row = dict[str, Any]


def evaluate_run(run: Run, facts: dict[str, Any], policies: list[BatchPolicy] | None = None) -> Iterator[Row]:
    """Yield the rows of a run. Counts of the whole run are added to `facts`, the evaluated policies to `policies`.

    Every row holds the canonical game, method, options, seed, version, episode, policy, return and length. A plan also has
    its actions and `step`, the number of environment steps taken when it was found. An episode has opponent, seat, set and
    start seed. Rows of sums have no episode, return and length.
    """
    head = {
        "game": run.canonical,
        "method": run.method.name,
        "options": run.method.options,
        "seed": run.seed,
        "version": momagames.__version__,
    }
    for row in evaluate_plans(run, facts) if run.kind == "plans" else evaluate_policies(run, facts, policies):
        yield {**head, **row}


def measure_policies(run: Run) -> dict[str, Array]:
    """Return the mean returns of the policies of a run in its report episodes, float64[K] by label.

    run    of policies, which stores every episode
    """
    found: dict[str, list[list[float]]] = {}
    for row in evaluate_run(run, {}):
        if row["set"] == "report":
            found.setdefault(row["policy"], []).append(row["return"])
    return {label: np.mean(returns, axis=0) for label, returns in found.items()}


def evaluate_plans(run: PlansRun, facts: dict[str, Any]) -> Iterator[Row]:
    """Yield one row for each non-dominated plan of the run."""
    game = run.game.make_game()
    start, method = generate_starts(game, np.array([run.seed], np.uint64)), run.method.pin_file(game).make_method(game)
    if run.cpu_seconds is None:
        search = measure_search(method, game, start, run.budget, run.seed)
    else:
        search = search_for_seconds(method, game, start, run.budget, run.cpu_seconds, run.seed)
        facts["budget"] = search.budget
    result = search.plans
    facts |= {"steps": result.steps, "complete": result.complete, "search_cpu_s": search.seconds, **(result.info or {})}
    facts["dominated"] = [[one.step, *one.value.tolist()] for one in result.dominated]
    for i, plan in enumerate(result.plans):
        yield {
            "episode": i,
            "policy": plan.label,
            "return": plan.value.tolist(),
            "length": len(plan.actions),
            "step": plan.step,
            "actions": list(plan.actions),
        }


def evaluate_policies(run: PoliciesRun, facts: dict[str, Any], policies: list[BatchPolicy] | None = None) -> Iterator[Row]:
    """Yield one row for each episode of each policy, opponent and seat.

    policies    if empty, filled with the policies that the method defines or trains

    Episode e has the same start position and random numbers for every policy, opponent and seat. The two sets have different
    episodes. Where a method has several episodes in each of E start positions, episode e is in that of number e modulo E.
    If only the first episodes are stored, rows with sums over all of them follow (see `episode_sums`).
    """
    policies = [] if policies is None else policies
    if isinstance(run, HeadToHeadRun):
        yield from play_head_to_head(run, facts, policies)
        return
    game = run.game.make_game()
    others = list_opponents(run, game)
    if not policies:
        seeds, _ = make_episode_seeds(run, game)
        starts = None if run.plays is None else generate_starts(game, seeds[: run.select_episodes])
        policies += train_policies(run, game, [other for _, other in others], facts, starts)
    seeds, words = make_episode_seeds(run, game, math.ceil((run.plays or 1) / len(policies)))
    starts = generate_starts(game, seeds)
    weights = {policy.label: list(policy.weights) for policy in policies if any(policy.weights)}
    facts |= {"policies": len(policies), "steps": facts.get("training_steps", 0), "weights": weights}
    every: dict[Match, Array] = {}
    for label, other in others:
        for seat in run.seats:
            done = play_from_starts(game, tuple(policies), other, game.agents.index(seat), starts, words)
            facts["steps"] += int(done.steps.sum())
            returns = done.returns[:, game.agents.index(seat)]
            for i, (value, length) in enumerate(zip(returns.tolist(), done.lengths.tolist(), strict=True)):
                episode = i % len(seeds)
                is_report = episode % run.episodes >= run.select_episodes
                if run.stored_episodes is None or episode - is_report * run.select_episodes < run.stored_episodes:
                    policy = policies[i // len(seeds)].label
                    yield make_row(episode, SETS[is_report], policy, label, seat, seeds, value, length)
            every[label, seat] = returns.reshape(len(policies), len(seeds), -1)
    if run.stored_episodes is not None:
        yield from sum_episodes(every, [policy.label for policy in policies], run.select_episodes)
