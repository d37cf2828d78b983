"""Trained policies that come with the package: what they play, what their files say, and games without one."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import momagames
from momagames.analysis.controllability import compute_controllability
from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.baselines import batch_policy, method, policy
from momagames.baselines.checkpoint import load_checkpoint
from momagames.baselines.checkpoint_policy import list_champions
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.errors import InvalidFile, InvalidParameter
from momagames.kernels.rng import random_words
from momagames.registry import format_id
from tests.cli.test_app import momagames_command

pytestmark = pytest.mark.long  # kernels of methods in several games

MAX_BYTES = 1_000_000
POMMERMAN = tuple(f"mo-pommerman-{name}-v0" for name in ("ffa", "duel", "team", "radio"))
DEFAULTS = ("mo-samegame-v0", "mo-breakthrough-v0", "mo-connect4-v0", "mo-tileblast-v0", "mo-robotmail-v0", *POMMERMAN)
ROBOTS = tuple(f"mo-robotmail-{robots}-v0" for robots in (2, 4, 6, 12))


def mean_returns(game, policies, episodes, agent=0, seed=77):
    seats = np.tile(np.arange(len(policies)), (episodes, 1))
    starts = generate_starts(game, random_words(seed, episodes))
    words = random_words(seed + 1, episodes * len(game.agents)).reshape(episodes, -1)
    return play_policies(game, starts, policies, seats, words).returns[:, agent].mean(axis=0)


@pytest.mark.parametrize("id", DEFAULTS)
def test_files(id):
    game = momagames.spec(id)
    checkpoints = list_champions(game)
    if id not in POMMERMAN:  # these were trained for other objectives
        assert checkpoints[0].head["canonical"] == format_id(id, game.params)
    for checkpoint in checkpoints:
        assert checkpoint.path.stat().st_size < MAX_BYTES
        assert checkpoint.training == {}
        card, objectives = checkpoint.head["card"], checkpoint.make_game().objectives
        assert all(card[name] for name in ("data", "limits", "command", "threads", "episodes"))
        for result in card["results"]:
            names = [row[0] for row in result["rows"]]
            assert names[0] == checkpoint.head["method"]
            assert {"safe:simple" if id in POMMERMAN else "greedy", "random"} < set(names)
            count = len(game.objectives if checkpoint.head["weights"] and id in POMMERMAN else objectives)
            assert all(len(row) == len(result["head"]) == 3 + count for row in result["rows"])


TRADES = {"objectives": ("win", "captures", "losses")}
CORNERS = {"initial_map": "corners", "num_timesteps": 9, "reward_mode": "team"}
COLUMNS = {"board_width": 5, "board_height": 4, "objectives": ("column_0", "column_2", "column_4")}


@pytest.mark.parametrize(
    ("id", "params", "opponent"),
    [
        ("mo-samegame-v0", {"board_width": 7, "board_height": 7, "num_colors": 4}, "random"),
        ("mo-breakthrough-v0", TRADES, "greedy"),
        ("mo-breakthrough-v0", {"board_width": 6, "board_height": 6, **TRADES}, "greedy"),
        ("mo-pommerman-duel-v0", {"objectives": ("kicks", "bombs"), "max_steps": 200}, "safe:simple"),
        ("mo-pommerman-ffa-v0", {"objectives": ("kicks", "bombs"), "max_steps": 200}, "safe:simple"),
        ("mo-tileblast-v0", {"level": 4, "objectives": ("goals", "move", "score")}, "random"),
        ("mo-ingenious-v0", {"num_colors": 3, "rack_size": 3, "board_size": 4, "fully_observable": True}, "min_color"),
        ("mo-item-gathering-v0", CORNERS, "random"),
        ("mo-connect4-v0", COLUMNS, "alphabeta"),
        ("mo-robotmail-2-v0", {"objectives": ("delivery", "energy", "blocked")}, "astar"),
        ("mo-robotmail-4-v0", {"objectives": ("delivery", "energy", "blocked")}, "astar"),
    ],
)
def test_weights_steer(id, params, opponent):
    """In settings of the main track, and on the default board of MO-Breakthrough; only the first team has the weights."""
    game = momagames.spec(id, **params)
    lattice = simplex_lattice(len(game.objectives), 8 if len(game.objectives) == 2 else 3)
    other = batch_policy(opponent, game)
    returns = []
    for row in lattice.tolist():
        own = batch_policy("champion", game, weights=row)
        returns.append(mean_returns(game, [own if team == game.teams[0] else other for team in game.teams], 60))
    found = measure_tradeoffs(returns)
    assert compute_controllability(lattice, returns).mean() > 0.45  # in TileBlast goals are reached with nearly all weights
    assert found.single_share < 0.8
    assert found.points >= 5


def test_samegame_beats_the_best_greedy_policy():
    game = momagames.spec("mo-samegame-v0")
    for weights in ([1, 0, 0, 0, 0], [0.2] * 5):
        trained = mean_returns(game, [batch_policy("champion", game, weights=weights)], 40) @ weights
        greedy = mean_returns(game, [batch_policy("greedy", game, weights=weights, estimate="both")], 40) @ weights
        assert trained > 1.05 * greedy
    smaller = momagames.spec("mo-samegame-v0", board_width=5, board_height=5, num_colors=3)
    assert mean_returns(smaller, [batch_policy("champion", smaller)], 5).shape == (3,)


def test_breakthrough_beats_greedy():
    game = momagames.spec("mo-breakthrough-v0")
    for seat, opponent in ((0, "greedy"), (1, "random")):
        players = [batch_policy("champion", game), batch_policy(opponent, game)]
        assert mean_returns(game, players if seat == 0 else players[::-1], 20, seat)[0] == 1


@pytest.mark.parametrize("size", [5, 6])
def test_breakthrough_beats_greedy_on_small_boards(size):
    game = momagames.spec("mo-breakthrough-v0", board_width=size, board_height=size)
    for seat in (0, 1):
        players = [batch_policy("champion", game), batch_policy("greedy", game)]
        assert mean_returns(game, players if seat == 0 else players[::-1], 40, seat)[0] > 0.8


def test_connect4_beats_greedy():
    game = momagames.spec("mo-connect4-v0")
    for seat in (0, 1):
        players = [batch_policy("champion", game), batch_policy("greedy", game)]
        assert mean_returns(game, players if seat == 0 else players[::-1], 40, seat)[0] > 0.5


def test_tileblast_completes_more_levels_than_a_lookahead():
    games = [momagames.spec("mo-tileblast-v0", level=level) for level in (4, 8)]
    own, other = (
        np.mean([mean_returns(game, [batch_policy(name, game)], 60)[1] for game in games])
        for name in ("champion", "one_step_lookahead")
    )
    assert own > other + 0.05


def test_tileblast_plays_for_goals_moves_and_score():
    game = momagames.spec("mo-tileblast-v0", level=8, objectives=("goals", "move", "score"))
    for objective in (0, 1):
        weights = np.eye(3)[objective].tolist()
        own, other = (
            mean_returns(game, [batch_policy(name, game, weights=weights, **options)], 60)[objective]
            for name, options in (("champion", {}), ("greedy", {"estimate": "both"}))
        )
        assert own > other + 0.4
    best = [mean_returns(game, [batch_policy("champion", game, weights=row)], 60) for row in np.eye(3).tolist()]
    assert best[1][1] > best[2][1]  # fewer moves
    assert best[2][2] > best[1][2]  # more points


def play_pommerman(id, opponent, episodes=200, **options):
    """Shares of games that the champion wins and loses, in each seat in turn."""
    game = momagames.spec(id)
    seat, teams = np.arange(episodes) % len(game.agents), np.array(game.teams)
    players = [batch_policy("champion", game, **options), batch_policy(opponent, game)]
    starts = generate_starts(game, random_words(79, episodes))
    words = random_words(80, episodes * len(game.agents)).reshape(episodes, -1)
    played = play_policies(game, starts, players, (teams[None] != teams[seat][:, None]).astype(np.int64), words)
    wins = ((played.states["winners"] >> seat) & 1) != 0
    return wins.mean(), (~wins & (played.states["winners"] != 0)).mean()


@pytest.mark.parametrize("id", POMMERMAN)
def test_pommerman_beats_careless_and_careful_agents(id):
    """Against copies of an opponent; in a free for all one of three enemies wins a lost game."""
    won, lost = play_pommerman(id, "simple")
    assert won > 0.7
    assert lost < 0.2
    won, lost = play_pommerman(id, "safe:simple")
    assert won > lost / (3 if "ffa" in id else 1)


def test_radio_team_is_silent():
    """As its model card says."""
    game = momagames.spec("mo-pommerman-radio-v0", objectives=["comm"])
    assert mean_returns(game, [batch_policy("champion", game)] * len(game.agents), 20)[0] > -0.1


@pytest.mark.parametrize(
    ("id", "params"),
    [
        ("mo-pommerman-duel-v0", {"objectives": ["wood", "outcome"]}),
        ("mo-pommerman-ffa-collapse-v0", {}),
        ("mo-pommerman-team-full-v0", {"objectives": ["survival"], "dead": "leave"}),
        ("mo-pommerman-team-collapse-v0", {"observation": "planes"}),
        ("mo-pommerman-radio-v0", {"objectives": ["comm"], "board_size": 9}),
    ],
)
def test_pommerman_plays_the_same_for_all_objectives(id, params):
    """Weights do not change its play, and sampling is its default: it was trained for this."""
    game = momagames.spec(id, **params)
    weights = np.eye(len(game.objectives))[-1].tolist()
    seats = len(game.agents)
    own, other = (mean_returns(game, [batch_policy("champion", game, **one)] * seats, 4) for one in ({}, {"weights": weights}))
    assert np.array_equal(own, other)
    assert policy("champion", game, 0).policy.initial_memory[1] == ("greedy", 0)


def play_robots(game, name, episodes=300, **options):
    """Return the mean returns of the first player's robots against astar."""
    seats = np.tile(np.minimum(game.teams, 1), (episodes, 1))
    words = random_words(78, episodes * len(game.agents)).reshape(episodes, -1)
    players = [batch_policy(name, game, **options), batch_policy("astar", game)]
    returns = play_policies(game, generate_starts(game, random_words(77, episodes)), players, seats, words).returns
    return returns[:, seats[0] == 0].mean(axis=(0, 1))


@pytest.mark.parametrize("id", ROBOTS)
def test_robotmail_delivers_more_than_the_scripted_robots(id):
    game = momagames.spec(id)
    champion = play_robots(game, "champion", weights=[1, 0, 0, 0])[0]
    assert champion > play_robots(game, "astar")[0]
    both = momagames.spec(id, objectives=("delivery", "energy"))
    champion = play_robots(both, "champion", weights=[1, 0])[0]
    assert champion > play_robots(both, "astar")[0]


def test_robotmail_plays_every_layout_and_number_of_robots():
    for params in (
        {"layout": "tiny"},
        {"layout": "wide12", "num_players": 3, "num_robots_per_player": 6},
        {"num_players": 1, "random_num_steps": True, "always_legal": False},
    ):
        game = momagames.spec("mo-robotmail-v0", **params)
        assert mean_returns(game, [batch_policy("champion", game)] * len(game.agents), 4)[0] > 0


def test_plays_for_one_agent_and_by_command():
    game = momagames.spec("mo-samegame-v0")
    play = Episode(game)
    play.reset(1)
    assert play.mask(0)[policy("champion", game)(play.state, play.mask(0), np.random.default_rng(0))]
    played = momagames_command("match", "mo-breakthrough-v0", "champion", "random", "--games", "2")
    assert played.returncode == 0, played.stderr
    assert "champion" in played.stdout


def test_as_a_method():
    """One policy for each weight vector, or one if the weights of the training were fixed; weights are stored with results."""
    game = momagames.spec("mo-samegame-v0", board_width=5, board_height=5, num_colors=3)
    policies = method("champion")(divisions=2).policies(game)
    assert [one.weights for one in policies] == [tuple(row) for row in simplex_lattice(3, 2).tolist()]
    assert len({one.label for one in policies}) == 6
    chosen = batch_policy("champion", game, weights=policies[1].weights)
    assert (mean_returns(game, [chosen], 8) == mean_returns(game, [policies[1]], 8)).all()
    for id in ("mo-breakthrough-v0", "mo-pommerman-duel-v0", "mo-tileblast-v0"):
        assert len(method("champion")().policies(momagames.spec(id))) == 1
    with pytest.raises(InvalidParameter, match=r"champion: invalid divisions=99 .*, expected at most 1,000"):
        method("champion")(divisions=99).policies(game)


def test_games_without_one():
    with pytest.raises(InvalidParameter, match=r"mo-breakthrough-v0: no trained policy .* fits .*; there is one for 'mo-br"):
        policy("champion", momagames.spec("mo-breakthrough-v0", board_width=5))


def test_weights_belong_to_the_objectives():
    """A network plays the objectives that it was trained for, in their order."""
    for objectives in (("energy", "delivery"), "clock"):
        with pytest.raises(InvalidParameter, match="no trained policy of the package fits"):
            policy("champion", momagames.spec("mo-robotmail-v0", objectives=objectives))
    game = momagames.spec("mo-robotmail-v0", objectives="clock")
    with pytest.raises(InvalidFile, match="objectives delivery, pickup, dock, time; expected delivery, pickup, dock"):
        list_champions(game)[0].make_policies(game)


def test_own_champion(tmp_path):
    """Games of other packages name their files in the same way; a file that is missing is an error with its path."""
    game = momagames.spec("mo-samegame-v0")
    other = replace(game, learning=replace(game.learning, champions=("momagames.games.samegame:nowhere.npz",)))
    with pytest.raises(InvalidFile, match=r"nowhere\.npz: not a training checkpoint"):
        policy("champion", other)


def test_every_file_belongs_to_a_game():
    found = sorted(Path(str(files("momagames.games"))).rglob("*.npz"))
    named = {one.path for id in momagames.ids() for one in list_champions(momagames.spec(id))}
    assert named == set(found)
    assert all(load_checkpoint(path).head["canonical"] for path in found)
