"""Stored rows computed again, for the tests that compare them."""

from momagames.benchmark.choices import label_methods
from momagames.benchmark.episode_sums import is_sum
from momagames.benchmark.episodes import SETS
from momagames.benchmark.replays import find_episode, load_points, own_return, play_row
from momagames.benchmark.runs import HeadToHeadRun
from momagames.benchmark.store.policy_files import POLICIES
from momagames.benchmark.store.store import read_run
from momagames.errors import InvalidFile, one_of


def recompute_row(place, row):
    """Return a row of the run in this directory with all that determines it computed again: start, set, return and length.

    An archive may have left out its length.

    The actions of a plan are played again; in an episode the policy acts again.

    Raises InvalidFile if the policy of the row is not stored: of a trained method only those on the front are
    """
    run = read_run(place)
    game = run.game.make_game()
    found = {}
    chosen = row
    if run.kind == "policies":
        points = {point["policy"]: point for point in load_points(place)}
        if run.method.is_trained(game) and row["policy"] not in points:
            raise InvalidFile(f"{place}: the policy {row['policy']!r} is not stored; stored are {one_of(points)}")
        chosen = points.get(row["policy"], row)
        found["start"], _, found["set"] = find_episode(run, game, row)
    episode = play_row(place, run, game, row, chosen)
    if "length" in row:
        found["length"] = len(episode.log) - 1
    return {**row, **found, "return": own_return(run, game, row, episode)}


def can_recompute(place, row):
    """Return whether a row is a plan, or an episode whose policies are stored or defined by their methods."""
    if is_sum(row):
        return False
    run = read_run(place)
    game = run.game.make_game()
    if isinstance(run, HeadToHeadRun):
        labels = label_methods(run.players)
        opponents = [choice for choice in run.players if labels[choice.key] == row["opponent"]]
        if row["set"] not in SETS or any(choice != run.method and choice.is_trained(game) for choice in opponents):
            return False
    if run.kind == "plans" or not run.method.is_trained(game):
        return True
    return (place / POLICIES).is_file() and row["policy"] in {point["policy"] for point in load_points(place)}
