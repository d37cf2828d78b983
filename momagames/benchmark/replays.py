"""Replays of the policy behind a point of a front: its stored episodes, or new ones.

A point is stored as data (`front.json`, `config.json`, `policies.npz`), so nothing is trained again. A replayed episode must
reproduce the stored returns.

allow_code    of each function: whether the directory may name Python code, such as methods "module:class", which is then
              imported
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import plugins
from momagames.baselines.base import list_team
from momagames.benchmark import evaluate
from momagames.benchmark.choices import label_methods
from momagames.benchmark.episode_sums import is_sum
from momagames.benchmark.episodes import SETS, list_opponents, make_episode_seeds
from momagames.benchmark.head_to_head import choose_player
from momagames.benchmark.runs import HeadToHeadRun, PoliciesRun, Run
from momagames.benchmark.store.policy_files import POLICIES, unpack_policy
from momagames.benchmark.store.run_front import FrontCollector
from momagames.benchmark.store.store import RUN, read_front, read_rows, read_run, verify_run
from momagames.benchmark.store.thinning import require_part
from momagames.contract import Game
from momagames.contract.agents import find_agent_name
from momagames.engine.batch import Batch
from momagames.engine.episode import Episode
from momagames.engine.lookahead import make_trial
from momagames.engine.playouts import GREEDY, compile_playouts, generate_starts
from momagames.engine.policies import BatchPolicy, SeatedPolicies, has_kernel_policy, policy_weights
from momagames.errors import InvalidFile, InvalidParameter, MissingExtra, check_range, first_of, invalid_value, nearest, one_of
from momagames.files.json_data import read_json
from momagames.files.reading import is_directory, is_file, refuse_content
from momagames.wrappers.recording import replay_data


@dataclass(frozen=True)
class Replay:
    """A stored episode that was replayed with the same returns.

    record    the record format of `momagames.wrappers`
    title     policy, method, seat, opponent and episode, as text
    """

    record: dict[str, Any]
    title: str


def load_points(folder: str | Path, allow_code: bool = False) -> list[dict[str, Any]]:
    """Return the points of a run's front, see `store.run_front`. Raises InvalidFile unless `folder` holds a finished run."""
    _check_run_directory(Path(folder))
    verify_run(Path(folder))
    path = Path(folder) / "front.json"
    if not path.is_file() and (run := _read_run(path.parent, allow_code)).kind == "plans":  # packed: the rows are the points
        plans = FrontCollector(run)
        for row in read_rows(path.parent):
            plans.add(row)
        return plans.compute_points()
    return read_front(path.parent)


def replay(
    folder: str | Path,
    point: int,
    episode: int | None = None,
    opponent: str | None = None,
    seat: str | int | None = None,
    allow_code: bool = False,
) -> Replay:
    """Replay a stored episode of a point.

    folder     directory of a finished run: runs/RUN in a results directory
    episode, opponent, seat     choice among the episodes of a policy; None: the first of the report set. Not for plans. The
               seat is the name or index of an agent
    Raises     InvalidFile if the directory cannot be read or the returns differ from the stored ones; InvalidParameter if there
               is no such point or episode
    """
    with refuse_content(folder, RUN):
        directory, run, entry = _find_point(folder, point, allow_code)
        game = run.game.make_game()
        row = _find_row(directory, run, game, entry, episode, opponent, seat)
        played = play_row(directory, run, game, row, entry)
        returns = own_return(run, game, row, played)
        if returns != row["return"]:
            raise InvalidFile(f"{directory}: point {point}: the returns are {returns}; stored: {row['return']}")
        title = f"{row['policy'] or run.method.name} of {run.method.name}"
        if run.kind == "policies":
            title += f" as {row['seat']} against {row['opponent']}, episode {row['episode']}"
    return Replay(replay_data(game, played.log or [], played.returns, None), title)


def play_row(directory: Path, run: Run, game: Game, row: Mapping[str, Any], entry: Mapping[str, Any]) -> Episode:
    """Return the episode of a row with its log; entry: its point, or its policy by label."""
    if run.kind == "plans":
        if "actions" not in entry:
            require_part(directory, "actions")
        start, actions = generate_starts(game, np.array([run.seed], np.uint64))[0], entry["actions"]
    else:
        start, actions = _replay_episode(run, game, row, _restore_policy(directory, run, entry))
    episode = Episode(game)
    episode.log = []
    episode.load(start)
    for action in actions:
        if episode.state["over"]:
            raise InvalidFile(f"{directory}: the game is over before the last action of {row['policy']!r}")
        parts = np.array(action, np.int64).reshape(episode.pending.shape)
        if run.kind == "plans":
            _check_legal(directory, episode, parts)
        episode.step(parts[0, 0] if parts.size == 1 else parts)
    return episode


def _check_legal(directory: Path, episode: Episode, parts: NDArray[np.int64]) -> None:
    """Raise InvalidFile for a stored action int64[S, P] that is not legal: the rules trust what they are given."""
    agents = [episode.mover] if episode.game.sequential else range(len(episode.game.agents))
    for agent, action in zip(agents, parts, strict=True):
        if episode.mask(agent).any() and not episode.is_legal(agent, action if action.size > 1 else int(action[0])):
            raise InvalidFile(f"{directory}: the action {action.tolist()} of a plan is not legal")


def own_return(run: Run, game: Game, row: Mapping[str, Any], episode: Episode) -> list[float]:
    """Return what the agent of a row has got in its episode."""
    returns: list[float] = episode.returns[0 if run.kind == "plans" else game.agents.index(row["seat"])].tolist()
    return returns


@dataclass(frozen=True)
class TypicalEpisode:
    """The most representative stored episode of a point.

    choice      episode, opponent and seat, for `replay`; empty for plans
    episodes    number of report episodes, whose mean is the point; 0 for plans
    """

    choice: dict[str, Any]
    episodes: int


def find_typical_episode(folder: str | Path, point: int, allow_code: bool = False) -> TypicalEpisode:
    """Return the report episode of a policy whose return is nearest to the mean, in standard deviations of each objective."""
    with refuse_content(folder, RUN):
        directory, run, entry = _find_point(folder, point, allow_code)
        if run.kind == "plans":
            return TypicalEpisode({}, 0)
        rows = [row for row in _read_episodes(directory, run, entry) if row["set"] == "report"]
        returns = np.array([row["return"] for row in rows], np.float64)
        spread = returns.std(axis=0)
        distances = np.abs(returns - returns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        nearest_row = rows[int(distances.sum(axis=1).argmin())]
        return TypicalEpisode({name: nearest_row[name] for name in ("episode", "opponent", "seat")}, entry["episodes"])


def evaluate_again(
    folder: str | Path, point: int, episodes: int, seed: int, allow_code: bool = False
) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Evaluate the policy of a point on new episodes: (opponent, seat) -> returns float64[episodes, K].

    A plan has no new episodes: its single return is that of its own start position.
    """
    directory, run, entry = _find_point(folder, point, allow_code)
    if run.kind == "plans":
        again = replay(directory, point, allow_code=allow_code)
        return {("none", run.game.make_game().agents[0]): np.array(again.record["returns"][:1], np.float64)}
    check_range("episodes", episodes, 1)
    episodes_alone = {"select_episodes": 0, "report_episodes": episodes, "episode_set": None}
    fresh = run.play_alone(seed=seed, **episodes_alone, plays=None, stored_episodes=None)
    with refuse_content(folder, RUN):
        policy = _restore_policy(directory, run, entry)
    returns: dict[tuple[str, str], list[list[float]]] = {}
    for row in evaluate.evaluate_policies(fresh, {}, [policy]):
        returns.setdefault((row["opponent"], row["seat"]), []).append(row["return"])
    return {match: np.array(values, np.float64) for match, values in returns.items()}


def _check_run_directory(directory: Path) -> None:
    """Raise InvalidFile, with the runs that there are, unless this is the directory of a finished run."""
    if is_file(directory / "config.json"):
        return
    for runs in (directory / "runs", directory, directory.parent):
        if (
            runs.name == "runs"
            and is_directory(runs)
            and (known := sorted(path.parent.name for path in runs.glob("*/config.json")))
        ):
            problem = f"{directory}: not a finished run: expected a folder of {runs}{nearest(directory.name, known)}"
            raise InvalidFile("\n".join([problem, first_of(known, 10)]))
    raise InvalidFile(f"{directory}: not a finished run: expected a folder runs/RUN of a results directory")


def _read_run(directory: Path, allow_code: bool) -> Run:
    with plugins.allow_code(allow_code):
        return read_run(directory)


def _find_point(folder: str | Path, point: int, allow_code: bool) -> tuple[Path, Run, dict[str, Any]]:
    directory = Path(folder)
    with refuse_content(folder, RUN):
        known, run = load_points(directory, allow_code), _read_run(directory, allow_code)
    if not 0 <= point < len(known):
        raise InvalidParameter(invalid_value(f"{directory}: point", point, f"0..{len(known) - 1}"))
    return directory, run, known[point]


def _find_row(
    directory: Path,
    run: Run,
    game: Game,
    entry: dict[str, Any],
    episode: int | None,
    opponent: str | None,
    seat: str | int | None,
) -> dict[str, Any]:
    """Return the stored row of the chosen episode."""
    wanted = {"episode": episode, "opponent": opponent, "seat": seat}
    if run.kind == "plans":
        if wrong := [name for name, value in wanted.items() if value is not None]:
            raise InvalidParameter(f"a plan has no {wrong[0]}: it plays one start position")
        return entry
    if seat is not None:
        wanted["seat"] = find_agent_name(game, seat, "seat")
    rows = _read_episodes(directory, run, entry)
    for name, value in wanted.items():
        if value is None and name == "episode":
            rows = [row for row in rows if row["set"] == "report"] or rows
        elif value is not None:
            known = list(dict.fromkeys(str(row[name]) for row in rows))
            rows = [row for row in rows if row[name] == value]
            if not rows:
                raise InvalidParameter(
                    f"no {name} {value!r} in this run; there are {one_of(known)}{nearest(str(value), known)}"
                )
    return rows[0]


def _read_episodes(directory: Path, run: PoliciesRun, entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the policy of a point. Packed rows that cannot be read without an extra are computed again."""
    try:
        every = [row for row in read_rows(directory) if row["policy"] == entry["policy"] and row["set"] in SETS]
    except MissingExtra:
        every = list(evaluate.evaluate_policies(run, {}, [_restore_policy(directory, run, entry)]))
    rows = [row for row in every if not is_sum(row)]
    if not rows:
        raise InvalidFile(f"{directory}: no episode of {entry['policy']!r} is stored")
    return rows


def _restore_policy(directory: Path, run: Run, entry: Mapping[str, Any]) -> BatchPolicy:
    """Return the policy of a point: as the method defines it, or restored from its file."""
    game, label = run.game.make_game(), entry["policy"]
    method = run.method.make_method(game)
    if method.trains:
        require_part(directory, "policies")
        path = directory / "front.json"
        arrays = unpack_policy(directory / POLICIES, read_json(path).get("policies"), entry["point"])
        try:
            return method.restore(game, label, arrays)
        except InvalidParameter as error:
            raise InvalidFile(f"{directory / POLICIES}: {error}") from None
    policies = {policy.label: policy for policy in method.policies(game)}
    if label not in policies:
        raise InvalidFile(f"{run.method.name} has no policy {label!r} any more; it has {one_of(policies)}")
    return policies[label]


# -------------------------------------------------------------------------------------------------------------- actions


def _replay_episode(
    run: PoliciesRun, game: Game, row: Mapping[str, Any], own: BatchPolicy
) -> tuple[Any, list[NDArray[np.int64]]]:
    """Return the start position and the actions int64[S, P] of a stored episode, computed step by step."""
    method = run.method.make_method(game)
    policies = (own,) if method.trains or isinstance(run, HeadToHeadRun) else method.policies(game)
    other = _find_opponent(run, game, row["opponent"], own)
    seed, episode_words, _ = find_episode(run, game, row)
    start = generate_starts(game, np.array([seed], np.uint64))
    team = list_team(game, game.agents.index(row["seat"]))
    if has_kernel_policy((*policies, other)):
        return start[0].copy(), _replay_with_kernels(game, start, own, other, team, episode_words)
    return start[0].copy(), _replay_with_rules(game, start, own, other, team, episode_words)


def _find_opponent(run: PoliciesRun, game: Game, label: str, own: BatchPolicy) -> BatchPolicy:
    """Return an opponent by its label; head to head it is the policy of another method, or the own one."""
    if not isinstance(run, HeadToHeadRun):
        return dict(list_opponents(run, game))[label]
    labels = label_methods(run.players)
    if label == labels[run.method.key]:
        return own
    return next(choose_player(run, choice).policy for choice in run.players if labels[choice.key] == label)


def find_episode(run: PoliciesRun, game: Game, row: Mapping[str, Any]) -> tuple[int, NDArray[np.uint64], str]:
    """Return the seed of the start position of an episode, the words uint64[1, A] of its policies, and its set."""
    episode = row["episode"]
    seeds, words = make_episode_seeds(run, game, episode // run.episodes + 1)
    return int(seeds[episode]), words[episode, None].copy(), SETS[episode % run.episodes >= run.select_episodes]


def _replay_with_rules(
    game: Game, states: NDArray[Any], own: BatchPolicy, other: BatchPolicy, team: list[int], words: NDArray[np.uint64]
) -> list[NDArray[np.int64]]:
    agents = range(len(game.agents))
    rules = np.array([[own.rule if agent in team else other.rule for agent in agents]])
    both = policy_weights(game, (own, other))
    weights = np.array([[both[0 if agent in team else 1] for agent in agents]])
    step, trial = compile_playouts(game, bool((rules > GREEDY).any())), make_trial(game)
    played = []
    while not states["over"][0]:
        totals = np.zeros((1, len(game.agents), len(game.objectives))), np.zeros(1, np.int64), np.zeros(1, np.int64)
        step(states, rules, weights, words, 1, np.array(game.actions, np.int64), trial, *totals, np.zeros((1, 0), np.int32))
        played.append(trial.actions.copy())
    return played


def _replay_with_kernels(
    game: Game, states: NDArray[Any], own: BatchPolicy, other: BatchPolicy, team: list[int], words: NDArray[np.uint64]
) -> list[NDArray[np.int64]]:
    batch = Batch(game, 1, autoreset="disabled")
    batch.load(states)
    seats = [0 if agent in team else 1 for agent in range(len(game.agents))]
    players = SeatedPolicies(batch, [own, other], seats, words)
    played = []
    while not batch.states["over"][0]:
        actions = players.act()
        played.append(actions[0].copy())
        batch.step(actions)
    return played
