"""Play at the terminal: typed input and printed output."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

import momagames
from momagames import registry
from momagames.errors import InvalidParameter, UnknownId
from momagames.play.terminal import TerminalSession, play
from tests import meteors

SAMEGAME, BREAKTHROUGH = "mo-samegame-v0", "mo-breakthrough-v0"
TINY = {"board_width": 4, "board_height": 5}


@pytest.fixture
def sit_down(monkeypatch):
    """Play with these typed lines; return the output and the returns."""

    def sit(id, *typed, **options):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        screen = io.StringIO()
        returns = play(id, console=Console(file=screen, width=options.pop("width", 3000)), **options)
        return screen.getvalue(), returns

    return sit


def boards(output):
    """The boards of a game, in order, each with its rows."""
    found, rows = [], []
    for line in output.splitlines():
        if re.match(r" ?\d ?[ \[][.VA\d]", line):
            rows.append(line)
        elif rows:
            found.append(rows)
            rows = []
    return found


def test_the_end_of_the_input_ends_the_game_politely(sit_down):
    output, returns = sit_down(SAMEGAME, seed=1)
    assert "You have left the game." in output
    assert "seed 1" in output
    assert returns.shape == (1, 5)
    assert not returns.any()


def test_the_text_of_a_game_without_a_view_is_wrapped(sit_down, monkeypatch):
    monkeypatch.setattr(registry, "spec", lambda id, **params: meteors.game(id, **params))
    output, _ = sit_down("meteors-v0", "q", seed=1, width=40)
    line = output.replace("\n", " ")
    position = json.loads(re.search(r"\{.*?\}", line).group())
    assert set(position) == {"place", "still", "word", "gone", "ply", "rng"}


def test_q_leaves(sit_down):
    output, _ = sit_down(BREAKTHROUGH, "q", "3 1 3", **TINY)
    assert "You have left the game." in output
    assert "plays" not in output


def test_a_single_agent_plays_to_the_end(sit_down):
    """Whatever is legal is listed; the first of it is played until the game is over."""
    game = momagames.spec(SAMEGAME, board_width=4, board_height=4, num_colors=2)
    env = momagames.make(SAMEGAME, board_width=4, board_height=4, num_colors=2)
    env.reset(seed=5)
    typed = []
    while env.agents and not env.terminations["agent_0"]:
        action = int(env.observe("agent_0")["action_mask"].argmax())
        typed.append(game.human.action_name(env.record, action))
        env.step(action)
    output, returns = sit_down(SAMEGAME, *typed, seed=5, board_width=4, board_height=4, num_colors=2)
    assert f"over after {len(typed)} plies" in output
    assert "You have left" not in output
    assert np.array_equal(returns, env.returns)
    assert boards(output)[0] == boards(sit_down(SAMEGAME, seed=5, board_width=4, board_height=4, num_colors=2)[0])[0]


@pytest.mark.parametrize("params", [{}, {"canonical": True, "human": "player_1"}])
def test_listed_moves_can_be_typed(sit_down, params):
    output, _ = sit_down(BREAKTHROUGH, "?", seed=3, **TINY, **params)
    listed = re.search(r"(\d+) legal moves: (.*)", output)
    names = listed[2].split()
    assert len(names) == int(listed[1]) > 5
    for name in names:
        output, _ = sit_down(BREAKTHROUGH, name, seed=3, **TINY, **params)
        assert f"{params.get('human', 'player_0')} plays {name}:" in output


def test_long_lists_are_cut(sit_down):
    output, _ = sit_down(SAMEGAME, "?", seed=0, board_width=30, board_height=30, num_colors=2)
    listed = re.search(r"(\d+) legal moves: ([^a]*) and (\d+) more", output)
    assert len(listed[2].split()) == 120
    assert int(listed[1]) == 120 + int(listed[3])


def test_rewards_are_shown_as_vectors(sit_down):
    output, returns = sit_down(BREAKTHROUGH, "1 1 1", "1 2 1", "1 2 0", seed=1, opponent="greedy", **TINY)
    assert "player_0 plays (1,1)-(1,2): no reward" in output
    assert "player_1 captures +0.125" in output
    assert "player_0 losses -0.125" in output
    assert returns[1, 2] >= 0.125


def test_undo_restores_the_position_and_the_returns(sit_down):
    output, returns = sit_down(BREAKTHROUGH, "1 1 1", "u", seed=1, opponent="greedy", **TINY)
    first, second, third, _ = boards(output)
    assert first == third != second
    assert "Taken back." in output
    assert not returns.any()
    output, _ = sit_down(BREAKTHROUGH, "u", seed=1, **TINY)
    assert "There is no move to take back." in output


def test_several_moves_are_taken_back_one_by_one(sit_down):
    output, _ = sit_down(BREAKTHROUGH, "0 1 0", "3 1 3", "u", "u", seed=2, **TINY)
    seen = boards(output)
    assert seen[0] == seen[4]
    assert seen[1] == seen[3]


def memories_after(monkeypatch, *typed):
    """What the scripted agents of MO-Pommerman remember after these typed lines, as bytes."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
    game = momagames.spec("mo-pommerman-ffa-v0")
    table = TerminalSession(game, "simple", 3, game.agents[:1], Console(file=io.StringIO(), width=200))
    table.run()
    return [policy.get_state()[1].tobytes() for policy in table.policies.values()]


def test_undo_restores_the_memory_of_policies(monkeypatch):
    moves = ["stop"] * 12
    before = memories_after(monkeypatch, *moves)
    assert memories_after(monkeypatch, *moves, "stop") != before
    assert memories_after(monkeypatch, *moves, "stop", "u") == before
    assert memories_after(monkeypatch, *moves, *["u"] * 12) == memories_after(monkeypatch)


def test_undo_with_a_custom_policy(monkeypatch):
    """One that tells its memory gets it back; one that does not is left as it is."""

    class Counting:
        def __init__(self):
            self.seen = 0

        def __call__(self, state, mask, rng):
            self.seen += 1
            return int(mask.argmax())

    class Telling(Counting):
        def get_state(self):
            return self.seen

        def set_state(self, memory):
            self.seen = memory

    for one, seen in ((Counting(), 2), (Telling(), 1)):
        monkeypatch.setattr(sys, "stdin", io.StringIO("0 1 0\n3 1 3\nu\n"))
        TerminalSession(momagames.spec(BREAKTHROUGH, **TINY), one, 2, ("player_0",), Console(file=io.StringIO())).run()
        assert one.seen == seen


def test_invalid_input_changes_nothing(sit_down):
    output, returns = sit_down(BREAKTHROUGH, "hello", "0 0 0", "99999999999999999999", "[bold]", seed=1, **TINY)
    assert "'hello' is not a move" in output
    assert "'[bold]' is not a move" in output
    assert output.count("of player_0: expected one of") == 2
    assert "one of 10 legal actions" in output
    assert "plays" not in output
    assert len(set(map(tuple, boards(output)))) == 1
    assert not returns.any()


def test_the_person_may_play_any_agent_or_all(sit_down):
    output, _ = sit_down(BREAKTHROUGH, seed=1, human="player_1", **TINY)
    assert output.index("player_0 plays") < output.index("player_1>")
    output, _ = sit_down(BREAKTHROUGH, "0 1 0", "0 3 1", seed=1, human=["player_0", "player_1"], **TINY)
    assert "player_0 plays (0,1)-(0,2)" in output
    assert "player_1 plays (0,3)-(1,2)" in output


def test_watching_only_and_seeds(sit_down):
    games = [sit_down(BREAKTHROUGH, seed=seed, human=(), **TINY) for seed in (7, 7, 8)]
    assert all("over after" in output for output, _ in games)
    assert all(sorted(returns[:, 0]) == [-1, 1] for _, returns in games)
    assert games[0][0] == games[1][0]
    assert games[0][0].replace("seed 7", "") != games[2][0].replace("seed 8", "")
    starts = {tuple(boards(sit_down(SAMEGAME)[0])[0]) for _ in range(3)}
    assert len(starts) == 3


def test_a_custom_policy_may_play(sit_down):
    output, _ = sit_down(BREAKTHROUGH, "1 1 1", opponent=lambda state, mask, rng: int(mask.argmax()), seed=1, **TINY)
    assert "player_1 plays (0,3)-" in output


def test_wrong_names_are_rejected(sit_down):
    with pytest.raises(InvalidParameter, match="did you mean 'player_1'"):
        sit_down(BREAKTHROUGH, human="player1")
    with pytest.raises(UnknownId, match="did you mean 'greedy'"):
        sit_down(BREAKTHROUGH, opponent="gredy")
    with pytest.raises(UnknownId, match=BREAKTHROUGH):
        sit_down("mo-breakthru-v0")


def test_colors_only_where_the_terminal_has_them(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    screen = io.StringIO()
    play(SAMEGAME, seed=1, console=Console(file=screen, width=120, force_terminal=True, color_system="truecolor"))
    assert "\x1b[1;38;2;" in screen.getvalue()
    assert "48;2;238;147;0m" in screen.getvalue()


def test_simultaneous_moves_of_several_parts(monkeypatch):
    game = meteors.game("meteors-v0", cells=20)
    monkeypatch.setattr(sys, "stdin", io.StringIO("?\n7 7\n1 2\nu\n2 1\n"))
    screen = io.StringIO()
    table = TerminalSession(game, "random", 1, ("rover_1",), Console(file=screen, width=120))
    table.run()
    output = screen.getvalue()
    assert "part 1: 0 1 2" in output
    assert "illegal action=[7, 7] of rover_1" in output
    assert "rover_1 plays 1 2" in output
    assert "Taken back." in output
    assert table.episode.state["ply"] == 1
    assert table.last[1].tolist() == [2, 1]
    assert table.episode.state["word"][1] == 1


@pytest.mark.long
def test_through_a_pipe():
    code = f"from momagames.play.terminal import play; play({BREAKTHROUGH!r}, seed=1, board_width=4, board_height=5)"
    done = subprocess.run([sys.executable, "-c", code], input="1 1 1\n", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "player_0> 1 1 1\nplayer_0 plays (1,1)-(1,2)" in done.stdout
    assert "\x1b" not in done.stdout
