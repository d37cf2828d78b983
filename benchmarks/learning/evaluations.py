"""Results of trained policies in episodes that chose nothing, beside those of the strongest policies without training.

Each function takes the training, its policies, and a number of instances, of episodes of a level, or of games of a match. It
returns results by name. Those of policies without training are the same for all trainings, and are computed once,
but for MO-RoboticMail, where all play side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

import momagames
from benchmarks.learning.baselines import FIRST_INSTANCE, LEVELS, play
from benchmarks.learning.pommerman import play as play_pommerman
from benchmarks.learning.tables import make_openings, play_match
from momagames.analysis.arrays import filter_dominated
from momagames.analysis.controllability import compute_controllability
from momagames.analysis.indicators import hypervolume
from momagames.baselines import batch_policy, method
from momagames.baselines.candidates.nested import compile_nested
from momagames.baselines.candidates.policy import LinearScorer, Scorer
from momagames.baselines.exact import exact_front
from momagames.baselines.greedy import Greedy
from momagames.baselines.ntuple.tables import PatternTables
from momagames.baselines.search.beam import ESTIMATES, search_beam
from momagames.baselines.search.beam_estimate import BeamEstimate
from momagames.baselines.search.learned_estimate import LearnedEstimate, make_estimate
from momagames.baselines.trainer import TrainedPolicies, list_weights, train_to_end
from momagames.benchmark.training import Training, play_episodes
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.playouts import Estimate, generate_starts
from momagames.engine.policies import BatchPolicy, SeatedPolicies
from momagames.games.breakthrough.solver.proof_number import ProofNumberSearch, make_win_goal

DIVISIONS = {2: 200, 3: 10, 5: 4}  # of the lattice of weights, by number of objectives: 201, 66 and 70 vectors
UNSEEN_LEVELS = (1, 5, 7, 9, 11)
UCT = {100: 200, 1000: 200, 10_000: 20}  # simulations -> games at most
LOOK_AHEAD = 4  # moves, of policies that search
AT_DEPTH = f" at depth {LOOK_AHEAD}"
BEAM_WIDTH, BEAM_STEPS = 1024, 20_000  # on an instance of a small board
TRAINED_ESTIMATE = f"beam(estimate=trained), {BEAM_STEPS:,} steps"
EXACT = {"max_states": 40_000_000, "max_bytes": 4 << 30}

Results = dict[str, float]
Evaluate = Callable[[Training, TrainedPolicies, int], Results]


def compile_lattice(game: Game, trained: TrainedPolicies) -> tuple[NDArray[np.float64], list[BatchPolicy]]:
    """Return the weights of the lattice, float64[n, K], and the greedy policies for them."""
    lattice = list_weights(game, DIVISIONS[len(game.objectives)])
    return lattice, [trained.compile("trained", row.tolist(), greedy=True) for row in lattice]


def make_greedy(game: Game, estimate: Estimate) -> Sequence[BatchPolicy]:
    """Return the greedy policies for the weights of the lattice."""
    return Greedy(DIVISIONS[len(game.objectives)], estimate).policies(game)


def measure_volume(game: Game, policies: Sequence[BatchPolicy], instances: int) -> tuple[float, NDArray[np.float64]]:
    """Return the hypervolume of the mean returns, and these, float64[policies, K]."""
    points = play(game, policies, instances)[0].mean(axis=1)
    return hypervolume(points, game.reference_point).value, points


@cache
def measure_greedy_volume(estimate: Estimate, instances: int) -> float:
    """Return the hypervolume of greedy policies on the default board of MO-SameGame."""
    game = momagames.spec("mo-samegame-v0")
    return measure_volume(game, make_greedy(game, estimate), instances)[0]


def compare_with_greedy(training: Training, trained: TrainedPolicies, episodes: int) -> Results:
    """Compare the hypervolume of the mean returns over a lattice of weights with those of greedy policies."""
    lattice, policies = compile_lattice(training.game, trained)
    volume, points = measure_volume(training.game, policies, episodes)
    return {
        "over greedy": volume / measure_greedy_volume("none", episodes),
        "over greedy(estimate=both)": volume / measure_greedy_volume("both", episodes),
        "controllability": float(np.mean(compute_controllability(lattice, points))),
    }


def make_small_board(size: int, colors: int) -> Game:
    return momagames.spec("mo-samegame-v0", board_width=size, board_height=size, num_colors=colors)


@cache
def solve_fronts(size: int, colors: int, instances: int) -> list[NDArray[np.float64]]:
    """Return the points of the exact front of each instance of a small board, float64[n, K]."""
    game = make_small_board(size, colors)
    return [exact_front(game, seed=seed, **EXACT).points for seed in range(FIRST_INSTANCE, FIRST_INSTANCE + instances)]


def measure_exact_volumes(size: int, colors: int, instances: int) -> list[float]:
    """Return the hypervolume of the exact front of each instance of a small board."""
    reference_point = make_small_board(size, colors).reference_point
    return [hypervolume(points, reference_point).value for points in solve_fronts(size, colors, instances)]


def measure_linear_share(size: int, colors: int, instances: int) -> float:
    """Return the share of the exact hypervolume that the best points for each weight vector of the lattice have."""
    game = make_small_board(size, colors)
    lattice = list_weights(game, DIVISIONS[len(game.objectives)])
    shares = []
    for points in solve_fronts(size, colors, instances):
        best = points[np.argmax(points @ lattice.T, axis=0)]
        shares.append(hypervolume(best, game.reference_point).value / hypervolume(points, game.reference_point).value)
    return float(np.mean(shares))


def measure_share(game: Game, policies: Sequence[BatchPolicy], volumes: Sequence[float]) -> float:
    """Return the share of the exact hypervolumes that policies reach together, in the mean over instances."""
    returns = play(game, policies, len(volumes))[0]
    shares = [hypervolume(returns[:, i], game.reference_point).value / volume for i, volume in enumerate(volumes)]
    return float(np.mean(shares))


def measure_beam_share(game: Game, estimate: str | LearnedEstimate, volumes: Sequence[float]) -> float:
    """Return the share of the exact hypervolumes that beam search reaches with BEAM_STEPS, in the mean over instances."""
    chosen = ESTIMATES.index(estimate) if isinstance(estimate, str) else estimate
    shares = []
    for i, volume in enumerate(volumes):
        start = generate_starts(game, np.array([FIRST_INSTANCE + i], np.uint64))
        found = search_beam(game, start, BEAM_WIDTH, BEAM_STEPS, chosen, "beam")
        shares.append(hypervolume(found.values, game.reference_point).value / volume)
    return float(np.mean(shares))


@cache
def measure_plain_beam_share(size: int, colors: int, estimate: str, instances: int) -> float:
    """Return the share of beam search without anything learned."""
    return measure_beam_share(make_small_board(size, colors), estimate, measure_exact_volumes(size, colors, instances))


@cache
def measure_greedy_share(size: int, colors: int, estimate: Estimate, instances: int) -> float:
    """Return the share of greedy policies."""
    game = make_small_board(size, colors)
    return measure_share(game, make_greedy(game, estimate), measure_exact_volumes(size, colors, instances))


def compare_beams(training: Training, trained: LinearScorer, volumes: Sequence[float]) -> Results:
    """Return the shares of the exact hypervolumes that beam search reaches with what was trained, and with the heuristics."""
    game = training.game
    title = TRAINED_ESTIMATE if isinstance(training.options, BeamEstimate) else f"with beam, {BEAM_STEPS:,} steps"
    results = {title: measure_beam_share(game, make_estimate(game, trained), volumes)}
    for heuristic in ESTIMATES[1:]:
        share = measure_plain_beam_share(game.params["board_width"], game.params["num_colors"], heuristic, len(volumes))
        results[f"beam(estimate={heuristic}), {BEAM_STEPS:,} steps"] = share
    return results


def compare_with_exact_fronts(training: Training, trained: TrainedPolicies, episodes: int) -> Results:
    """Return the shares of the exact hypervolume that sets of policies or searches reach, in the mean over instances."""
    game = training.game
    board = game.params["board_width"], game.params["num_colors"]
    volumes = measure_exact_volumes(*board, episodes)

    beams = compare_beams(training, trained, volumes) if isinstance(trained, LinearScorer) else {}
    if isinstance(training.options, BeamEstimate):
        return beams
    lattice, policies = compile_lattice(game, trained)
    results = {"share of exact": measure_share(game, policies, volumes), **beams}
    if isinstance(trained, Scorer) and not beams:
        nested = [compile_nested(trained, weights, level=1) for weights in lattice]
        results["with nested_rollouts"] = measure_share(game, nested, volumes)
    for estimate in ("none", "both"):
        results[f"greedy(estimate={estimate})"] = measure_greedy_share(*board, estimate, episodes)
    results["best play for each of the weights"] = measure_linear_share(*board, episodes)
    return results


def make_levels(levels: Sequence[int], objectives: tuple[str, ...]) -> list[Game]:
    return [momagames.spec("mo-tileblast-v0", level=level, objectives=objectives) for level in levels]


def measure_completion(games: Sequence[Game], policy: Callable[[Game], BatchPolicy], episodes: int) -> float:
    """Return the share of completed episodes, in the mean over levels."""
    win = [one.name for one in games[0].objectives].index("win")
    return float(np.mean([play(game, [policy(game)], episodes)[0][0, :, win].mean() for game in games]))


@cache
def measure_lookahead(levels: tuple[int, ...], objectives: tuple[str, ...], episodes: int) -> float:
    """Return the share of episodes that "one_step_lookahead" completes."""
    games = make_levels(levels, objectives)
    return measure_completion(games, lambda game: batch_policy("one_step_lookahead", game), episodes)


def compare_on_levels(training: Training, trained: TrainedPolicies, episodes: int) -> Results:
    """Return the shares of completed episodes on the levels of training, and on others."""
    (own,) = training.select_policies(trained)
    names = tuple(one.name for one in training.game.objectives)
    results = {}
    for title, levels in (("levels of training", LEVELS), ("unseen levels", UNSEEN_LEVELS)):
        results[title] = measure_completion(make_levels(levels, names), lambda _: own, episodes)
        results[f"one_step_lookahead, {title}"] = measure_lookahead(levels, names, episodes)
    return results


def compare_on_board(training: Training, trained: TrainedPolicies, episodes: int) -> Results:
    """Return the shares of games won, in either seat, against greedy and UCT.

    Tables play with a look-ahead of one move and of LOOK_AHEAD moves, and also against a fifth of their training.
    """
    game = training.game
    opponents = [("greedy", batch_policy("greedy", game), episodes)]
    opponents += [(f"uct({n})", batch_policy("uct", game, simulations=n), min(count, episodes)) for n, count in UCT.items()]
    players: dict[str, TrainedPolicies] = {"": trained}
    if isinstance(trained, PatternTables):
        players[AT_DEPTH] = replace(trained, depth=LOOK_AHEAD)
    results = {}
    for suffix, player in players.items():
        (own,) = training.select_policies(player)
        for name, opponent, count in opponents:
            starts = generate_starts(game, np.zeros(count, np.uint64))
            results[f"won against {name}{suffix}"] = play_match(game, own, opponent, starts, FIRST_INSTANCE)[1]
    if isinstance(trained, PatternTables):
        shorter = replace(training, budget=training.budget // 5)
        trainer = shorter.options.make_trainer(shorter.make_setup())
        train_to_end(trainer)
        policies = training.select_policies(trained) + shorter.select_policies(trainer.make_policies())
        starts = make_openings(game, episodes, FIRST_INSTANCE)
        results["won against 1/5 of the training"] = play_match(game, *policies, starts, FIRST_INSTANCE)[1]
    return results


def collect_positions(game: Game, policy: BatchPolicy, games: int) -> NDArray[np.void]:
    """Return the distinct positions, record[N], of games that a policy plays with itself after random openings."""
    batch = Batch(game, games, autoreset="disabled")
    batch.load(make_openings(game, games, FIRST_INSTANCE))
    seated, found = SeatedPolicies(batch, [policy], [0, 0], FIRST_INSTANCE), []
    while not batch.states["over"].all():
        found.append(batch.states[batch.states["over"] == 0])
        batch.step(seated.act())
    states = np.concatenate(found)
    keys = np.column_stack([states["pieces"].reshape(len(states), -1), states["to_move"]])
    return states[np.unique(keys, axis=0, return_index=True)[1]]


def choose_actions(game: Game, policy: BatchPolicy, states: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the action of the policy in each position, int64[N]."""
    batch = Batch(game, len(states), autoreset="disabled")
    batch.load(states)
    return SeatedPolicies(batch, [policy], [0, 0], FIRST_INSTANCE).act()[:, 0, 0]


def measure_kept_wins(
    game: Game, search: ProofNumberSearch, player: BatchPolicy, policies: Mapping[str, BatchPolicy], games: int
) -> tuple[int, Results]:
    """Return the number of positions, and for each policy the share that stay won after its move.

    The positions are those of games of a player with itself, in which some moves win and others lose.
    """
    states = collect_positions(game, player, games)
    legal, won = search.find_good_moves(states, 0, make_win_goal())
    matters = won.any(axis=1) & (legal & ~won).any(axis=1)
    states, won = states[matters], won[matters]
    rows = np.arange(len(states))
    return len(states), {
        name: float(won[rows, choose_actions(game, policy, states)].mean()) for name, policy in policies.items()
    }


def compare_with_solved_values(training: Training, trained: TrainedPolicies, episodes: int) -> Results:
    """Return the shares of won positions that stay won after the move of a policy, where some moves win and others lose.

    Positions are those of games at random, and of the trained policy with itself.
    """
    assert isinstance(trained, PatternTables)
    game, search = training.game, ProofNumberSearch(training.game)
    (own,), (deep,) = training.select_policies(trained), training.select_policies(replace(trained, depth=3))
    policies = {"kept": own, "kept at depth 3": deep, **{name: batch_policy(name, game) for name in ("greedy", "random")}}
    policies["uct(1000)"] = batch_policy("uct", game, simulations=1000)
    results = {}
    for title, player in (("random play", policies["random"]), ("own play", own)):
        count, shares = measure_kept_wins(game, search, player, policies, episodes)
        results |= {f"{name}, {title}": value for name, value in shares.items()}
        results[f"positions, {title}"] = count
    return results


@cache
def measure_filtered(id: str, objectives: tuple[str, ...], opponent: str, games: int) -> float:
    """Return the share of games that the filtered agent wins."""
    game = momagames.spec(id, objectives=objectives)
    return play_pommerman(game, batch_policy("safe:simple", game), opponent, games)["won"]


def compare_in_pommerman(training: Training, trained: TrainedPolicies, episodes: int) -> Results:
    """Return what the policy and the filtered agent win, tie and lose against careless and careful agents, and kills."""
    names = tuple(one.name for one in training.game.objectives)
    game = momagames.spec(training.game.id, objectives=names)
    (own,) = training.select_policies(trained)
    results = {}
    for opponent in ("simple", "safe:simple"):
        found = play_pommerman(game, own, opponent, episodes)
        results |= {f"{name}, {opponent}": value for name, value in found.items()}
        results[f"won by safe:simple, {opponent}"] = measure_filtered(game.id, names, opponent, episodes)
    return results


def compare_deliveries(training: Training, trained: TrainedPolicies, episodes: int) -> Results:
    """Compare deliveries and the front of deliveries and energy with scripted robots, in the same seats against astar."""
    game = training.game
    astar, savers = batch_policy("astar", game), method("energy_saver", game)().policies(game)
    lattice, own = compile_lattice(game, trained)
    points = play_episodes(training, [*own, *savers, astar], episodes, FIRST_INSTANCE, [astar]).mean(axis=1)
    learned, saved = points[: len(own)], points[len(own) : -1]
    volume, other = (hypervolume(filter_dominated(one), game.reference_point).value for one in (learned, saved))
    is_dominated = (learned[:, None] >= saved).all(axis=2).any(axis=0)
    return {
        "deliveries over astar's": float(learned[:, 0].max() / points[-1, 0]),
        "deliveries over energy_saver's": float(learned[:, 0].max() / saved[:, 0].max()),
        "hypervolume over energy_saver's": volume / other,
        "share of energy_saver's points dominated": float(is_dominated.mean()),
        "controllability": float(np.mean(compute_controllability(lattice, learned))),
    }
