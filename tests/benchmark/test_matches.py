"""Matches: seats in turn, reruns of ties, Python players against the clock, and results that can be played again."""

import json
import threading
import time

import numpy as np
import pytest

import momagames
from momagames.benchmark import match
from momagames.benchmark.matches import assign_seats, check_match, tie_break_game
from momagames.engine.playouts import generate_starts
from momagames.errors import IllegalAction, InvalidParameter, UnknownId
from tests import meteors

DUEL = "mo-pommerman-duel-v0"
QUICK = {"max_steps": 40, "board_size": 7, "num_rigid": 4, "num_wood": 8, "num_items": 4}


def stand(seen, mask, rng):
    return 0


def lay(seen, mask, rng):
    return 5


def without_chance(result):
    data = result.to_json()
    return {name: data[name] for name in data if name not in ("seconds", "provenance")}


# ----------------------------------------------------------------------------------------------------------------- seats


@pytest.mark.parametrize(
    ("id", "players", "expected"),
    [
        ("mo-pommerman-team-v0", 2, [(0, 1, 0, 1), (1, 0, 1, 0), (0, 1, 0, 1)]),
        ("mo-pommerman-ffa-v0", 4, [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1)]),
        ("mo-pommerman-ffa-v0", 3, [(0, 1, 2, 0), (1, 2, 0, 1), (2, 0, 1, 2)]),
        ("mo-breakthrough-v0", 2, [(0, 1), (1, 0), (0, 1)]),
    ],
)
def test_players_move_on_by_one_side_and_team_mates_are_the_same(id, players, expected):
    game = momagames.spec(id)
    assert [assign_seats(game, players, bout) for bout in range(3)] == expected


@pytest.mark.parametrize("second", ["stationary", stand], ids=["batch", "one by one"])
def test_every_turn_of_the_players_has_the_same_deal(second):
    result = match(DUEL, ["random", second], games=6, max_reruns=0, **QUICK)
    seeds = [bout.games[0].seed for bout in result.bouts]
    assert seeds[0::2] == seeds[1::2]
    assert len(set(seeds)) == 3
    assert [bout.seats for bout in result.bouts] == [(0, 1), (1, 0)] * 3


# --------------------------------------------------------------------------------------------------------------- results


@pytest.mark.parametrize("first", [stand, "stationary"])
def test_who_blows_itself_up_loses_to_who_stands_still(first):
    """The one lays a bomb at its start and waits for it; the starts of a duel are too far apart for the other to notice."""
    result = match(DUEL, [first, lay], games=4)
    assert result.wins.tolist() == [4, 0]
    assert (result.ties, result.reruns) == (0, 0)
    assert {bout.games[0].steps for bout in result.bouts} == {10}
    assert [bout.winners for bout in result.bouts] == [(0,)] * 4
    assert [bout.games[0].winners for bout in result.bouts] == [(0,), (1,)] * 2
    outcome = [o.name for o in result.game.objectives].index("outcome")
    assert result.returns[:, outcome].tolist() == [1, -1]


def test_a_team_wins_together():
    result = match("mo-pommerman-team-v0", [lay, "stationary"], games=2)
    assert result.wins.tolist() == [0, 2]
    assert [bout.games[0].winners for bout in result.bouts] == [(1, 3), (0, 2)]


def test_players_with_options():
    board = {"board_width": 3, "board_height": 5}
    players = ["greedy(weights=[0, 0, 0, 1])", "greedy(weights={win: 1}, estimate=none)"]
    result = match("mo-breakthrough-v0", players, games=2, **board)
    assert result.players == tuple(players)
    assert result.returns.tolist() != match("mo-breakthrough-v0", ["greedy", "greedy"], games=2, **board).returns.tolist()
    for wrong, message in [("greedy(estimat=none)", "did you mean 'estimate'"), ("greedy(none)", r"expected NAME or NAME\(")]:
        with pytest.raises(InvalidParameter, match=message):
            match("mo-breakthrough-v0", ["random", wrong], games=2, **board)


def test_who_has_most_of_what_is_zero_sum_wins_where_infos_do_not_say():
    result = match("mo-breakthrough-v0", ["greedy", "random"], games=4, board_width=3, board_height=5)
    assert result.wins.sum() == 4
    for bout in result.bouts:
        (winner,) = bout.games[0].winners
        assert bout.games[0].returns[winner, 0] == 1
        assert bout.winners == (bout.seats[winner],)


def test_returns_are_means_over_games_and_agents():
    result = match("mo-pommerman-ffa-v0", ["random", "stationary"], games=6, max_reruns=1)
    rows = {0: [], 1: []}
    for bout in result.bouts:
        for one in bout.games:
            for agent, player in enumerate(bout.seats):
                rows[player].append(one.returns[agent])
    assert np.allclose(result.returns, [np.mean(rows[0], 0), np.mean(rows[1], 0)])
    assert result.returns[0, -1] < 0 == result.returns[1, -1]  # only one lays bombs


def test_fairness_is_a_mean_over_games():
    """In a game of MO-Breakthrough that random play loses, utilities are the mean of four returns, from 0 to 1 each."""
    result = match("mo-breakthrough-v0", ["greedy", "random"], games=4, board_width=3, board_height=5)
    games = [one.returns for bout in result.bouts for one in bout.games]
    low, high = np.array(result.game.reference_point), np.array([o.return_high for o in result.game.objectives])
    pairs = np.array([((returns - low) / (high - low)).mean(axis=1) for returns in games])
    assert result.fairness["mean utility"] == pytest.approx(pairs.mean())
    assert result.fairness["Gini"] == pytest.approx((np.abs(pairs[:, 0] - pairs[:, 1]) / (2 * pairs.sum(axis=1))).mean())
    assert result.fairness["Nash welfare"] == pytest.approx(np.sqrt(pairs.prod(axis=1)).mean())
    assert result.fairness["worst agent"] == pytest.approx(pairs.min(axis=1).mean())
    assert result.to_json()["fairness"] == result.fairness


# ---------------------------------------------------------------------------------------------------------------- reruns


@pytest.mark.parametrize("players", [["stationary", "stationary"], ["stationary", stand]], ids=["batch", "one by one"])
def test_a_tie_is_rerun_once_and_then_with_walls_that_close_in(players):
    result = match(DUEL, players, games=2, max_reruns=4, **QUICK)
    assert [[one.stage for one in bout.games] for bout in result.bouts] == [["first", "rerun", *["tie_break"] * 3]] * 2
    assert result.wins.tolist() == [0, 0]
    assert (result.ties, result.reruns) == (2, 8)
    steps = [one.steps for one in result.bouts[0].games]
    assert steps[:2] == [40, 40]
    assert max(steps[2:]) < 40  # the walls have reached them
    assert len({one.seed for bout in result.bouts for one in bout.games}) == 1 + 2 * 4


def test_reruns_end_with_the_first_win():
    walker = iter(range(10**9))

    def lays_in_the_second_game(seen, mask, rng):
        return 5 if next(walker) >= 40 else 0

    result = match(DUEL, ["stationary", lays_in_the_second_game], games=1, **QUICK)
    assert [one.stage for one in result.bouts[0].games] == ["first", "rerun"]
    assert result.wins.tolist() == [1, 0]


def test_without_reruns_a_tie_is_a_tie():
    result = match(DUEL, ["stationary", "stationary"], games=3, max_reruns=0, **QUICK)
    assert (result.ties, result.reruns) == (3, 0)


def test_tie_break_of_pommerman():
    game = momagames.spec("mo-pommerman-team-v0")
    assert {**tie_break_game(game).params, "first_collapse": None} == game.params
    assert tie_break_game(game).params["first_collapse"] == 500
    given = momagames.spec("mo-pommerman-team-v0", first_collapse=300)
    assert tie_break_game(given) is given
    for steps in range(2, 30):
        one = momagames.spec("mo-pommerman-ffa-v0", max_steps=steps)
        assert (tie_break_game(one) is one) == (steps <= 4)
    breakthrough = momagames.spec("mo-breakthrough-v0")
    assert tie_break_game(breakthrough) is breakthrough


# ------------------------------------------------------------------------------------------------------ the same again


@pytest.mark.parametrize("players", [["simple", "random"], ["simple", "tests.benchmark.test_matches:dice"]])
def test_a_seed_says_everything_and_bouts_do_not_depend_on_their_number(players):
    few, many = (match(DUEL, players, games=n, seed=3) for n in (3, 5))
    assert without_chance(few) == without_chance(match(DUEL, players, games=3, seed=3))
    assert few.to_json()["bouts"] == many.to_json()["bouts"][:3]
    other = match(DUEL, players, games=3, seed=4)
    assert {one.games[0].seed for one in few.bouts}.isdisjoint(one.games[0].seed for one in other.bouts)


def test_random_numbers_differ_by_seed_bout_and_seat():
    drawn = []

    def draws(seen, mask, rng):
        drawn.append(int(rng.integers(2**62)))
        return 5

    for seed in (1, 2):
        match("mo-pommerman-team-v0", [draws, "stationary"], games=2, seed=seed, max_reruns=0)
    assert len(drawn) == len(set(drawn)) == 2 * 2 * 2 * 10  # seeds, bouts, seats, steps


def dice(seen, mask, rng):
    return int(rng.choice(np.flatnonzero(mask)))


def test_the_seeds_deal_the_boards():
    boards = []

    class Looks:
        def __init__(self, game, agent):
            self.fresh = True

        def __call__(self, seen, mask, rng):
            if self.fresh:
                boards.append(seen["board"].tolist())
            self.fresh = False
            return 5

    result = match(DUEL, [Looks, "stationary"], games=4, max_reruns=0)
    for bout, board in zip(result.bouts, boards, strict=True):
        start = generate_starts(result.game, np.array([bout.games[0].seed], np.uint64))
        assert start["board"][0, :64].reshape(8, 8).tolist() == board


def test_json_holds_all_of_it():
    result = match(DUEL, ["stationary", lay], games=2, time_limit=10_000)
    data = json.loads(json.dumps(result.to_json()))
    assert data["game"].startswith("mo-pommerman-duel-v0(board_size=8")
    assert "first_collapse=500" in data["tie_break"]
    assert (data["players"], data["wins"], data["time_limit"]) == (["stationary", "lay"], [2, 0], 10_000)
    assert data["provenance"]["momagames"] == momagames.__version__
    bout = data["bouts"][1]
    assert bout["seats"] == {"agent_0": "lay", "agent_1": "stationary"}
    assert bout["winners"] == ["stationary"]
    assert bout["games"][0]["winners"] == ["agent_1"]
    assert bout["games"][0]["returns"]["agent_1"][0] == 1
    assert bout["games"][0]["seed"] == result.bouts[1].games[0].seed


def test_the_same_player_twice_has_two_names():
    assert match(DUEL, ["stationary", "stationary"], games=1, max_reruns=0, **QUICK).players == ("stationary", "stationary (2)")


def test_progress():
    reported = []
    match(DUEL, ["random", "stationary"], games=5, progress=reported.append)
    assert reported == [1, 2, 3, 4, 5]


# -------------------------------------------------------------------------------------------------------- Python players


def test_a_python_player_sees_what_its_agent_sees():
    seen_by = {}

    def looks(seen, mask, rng):
        seen_by[tuple(seen["position"])] = seen
        assert mask.tolist() == [1] * 6
        assert isinstance(rng, np.random.Generator)
        return 5

    match("mo-pommerman-team-v0", [looks, "stationary"], games=1, max_reruns=0)
    assert sorted(seen_by) == [(1, 1), (9, 9)]
    assert (seen_by[1, 1]["board"][6:] == 5).all()  # fog
    single = match("mo-breakthrough-v0", [first_legal, "random"], games=2, board_width=3, board_height=5)
    assert single.wins.sum() == 2


def first_legal(seen, mask, rng):
    assert isinstance(seen, np.ndarray)
    return int(mask.argmax())


def test_a_class_is_made_for_each_seat_of_each_game():
    made = []

    class Careful:
        def __init__(self, game, agent):
            made.append([game.agents[agent], 0])
            self.mine = made[-1]

        def reset(self):
            self.mine[1] += 1

        def __call__(self, seen, mask, rng):
            return 5

    match("mo-pommerman-team-v0", [Careful, "stationary"], games=2, max_reruns=0)
    assert made == [["agent_0", 1], ["agent_2", 1], ["agent_1", 1], ["agent_3", 1]]


def test_on_the_radio_actions_have_three_parts():
    heard = []

    class Talks:
        def __init__(self, game, agent):
            self.agent = agent

        def __call__(self, seen, mask, rng):
            heard.append(seen["message"].tolist())
            return [5, 1 + self.agent, 7]

    match("mo-pommerman-radio-v0", [Talks, "stationary"], games=1, max_reruns=0)
    assert heard[2:4] == [[3, 7], [1, 7]]


def test_the_clock_stops_who_is_late():
    """The slow one would lay a bomb; late, it stands still, and no agent loses."""

    def slow(seen, mask, rng):
        time.sleep(0.03)
        return 5

    result = match(DUEL, [slow, "stationary"], games=1, max_reruns=0, time_limit=3, **QUICK)
    assert result.late.tolist() == [40, 0]
    assert result.ties == 1
    patient = match(DUEL, [slow, "stationary"], games=1, max_reruns=0, time_limit=2000, **QUICK)
    assert patient.late.tolist() == [0, 0]
    assert patient.wins.tolist() == [0, 1]


def test_a_policy_that_never_answers_delays_no_other_move():
    asked, forever = [], threading.Event()

    def stuck(seen, mask, rng):
        asked.append(1)
        forever.wait()

    result = match(DUEL, [stuck, "stationary"], games=1, max_reruns=0, time_limit=2, **QUICK)
    forever.set()
    assert result.late.tolist() == [40, 0]
    assert len(asked) == 1  # not asked again before it has answered


def test_who_is_late_once_goes_on_with_the_next_position():
    steps, third = [], threading.Event()

    def slow_at_first(seen, mask, rng):
        steps.append(int(seen["step_count"][0]))
        if len(steps) > 1:
            return 0
        third.wait()
        return 5

    def go_on(seen, mask, rng):
        if seen["step_count"][0] >= 3:
            third.set()
        return 0

    result = match(DUEL, [slow_at_first, go_on], games=1, max_reruns=0, time_limit=50, **QUICK)
    assert steps[0] == 0
    assert steps[1] >= 3
    assert steps == sorted(set(steps))
    assert result.late[0] >= 40 - len(steps) + 1  # more on a busy machine
    assert result.ties == 1  # the bomb, its answer to the position of step 0, is not laid later


@pytest.mark.parametrize("limit", [None, 1000])
def test_what_a_python_player_does_wrong_is_said(limit):
    def broken(seen, mask, rng):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        match(DUEL, [broken, "stationary"], games=1, time_limit=limit)
    for wrong in (6, -1, 2.5, [0, 0]):
        with pytest.raises(IllegalAction, match=r"illegal action=.* of agent_0"):
            match(DUEL, [lambda seen, mask, rng, wrong=wrong: wrong, "stationary"], games=1, time_limit=limit)


# ----------------------------------------------------------------------------------------------------------- bad matches


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: match(DUEL, ["simple"]), InvalidParameter, "expected 2,"),
        (lambda: match("mo-pommerman-ffa-v0", ["random"] * 5), InvalidParameter, "expected 2 to 4,"),
        (lambda: match("mo-gemwalk-v0", ["random", "random"]), InvalidParameter, "has one team"),
        (lambda: match(DUEL, ["simple", "stationary"], games=0), InvalidParameter, "games=0"),
        (lambda: match(DUEL, ["simple", "stationary"], max_reruns=-1), InvalidParameter, "max_reruns=-1"),
        (lambda: match(DUEL, ["simple", "stationary"], time_limit=0), InvalidParameter, "time_limit=0"),
        (lambda: match(DUEL, ["simple", "statc"]), UnknownId, "did you mean 'stationary'"),
        (lambda: match(DUEL, ["simple", "greedy"]), InvalidParameter, "greedy"),
        (lambda: match("mo-breakthrough-v0", ["simple", "random"]), UnknownId, "invalid policy='simple'"),
        (lambda: match(DUEL, ["simple", "nowhere:f"]), UnknownId, "No module named 'nowhere'"),
        (lambda: match(DUEL, ["simple", "json:f"]), UnknownId, "json:f"),
        (lambda: match(DUEL, ["simple", "json:__name__"]), UnknownId, "a function or a class"),
        (lambda: match(DUEL, ["simple", "stationary"], board_sise=9), InvalidParameter, "board_size"),
    ],
)
def test_a_match_that_cannot_be(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


def test_a_game_without_a_winner():
    game = meteors.game("meteors-v0")
    assert game.infos is not None
    with pytest.raises(InvalidParameter, match="has no winners: expected an objective with zero_sum=True, or"):
        check_match(game, ["random", "random"], 1, 0, None)
