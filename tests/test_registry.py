"""Ids, versions, parameters, and games that come from elsewhere."""

from __future__ import annotations

import copy
import functools
import os
import pickle
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import momagames
from momagames import registry
from momagames.errors import InvalidParameter, MomagamesError, UnknownId, UnknownParameter
from momagames.games import RETIRED, VERSIONS, Entry

IDS = tuple(VERSIONS)


@pytest.fixture
def guests(monkeypatch):
    """A registry that forgets what the test registers."""
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    return registry._entries


def test_ids_are_full_and_stand_in_the_order_of_versions():
    assert momagames.ids()[: len(IDS)] == IDS
    assert all(re.fullmatch(r"[a-z0-9-]+-v\d+", id) for id in momagames.ids())


@pytest.mark.parametrize("id", IDS)
def test_every_entry_resolves(id):
    game = momagames.spec(id)
    assert game.id == id
    assert set(game.params) <= {parameter.name for parameter in game.parameters}
    assert len(game.agents) == len(game.teams)
    assert len(game.reference_point) == len(game.objectives)
    assert game.reference_point == tuple(objective.return_low for objective in game.objectives)


@pytest.mark.parametrize("id", IDS)
def test_a_copied_or_pickled_game_is_the_same_game(id):
    game = momagames.spec(id)
    again = pickle.loads(pickle.dumps(game))
    assert registry.format_id(again.id, again.params) == registry.format_id(game.id, game.params)
    assert again.blank_state.tobytes() == game.blank_state.tobytes()
    assert copy.deepcopy(game) is game


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("mo-samgame-v0", "mo-samegame-v0"),
        ("mo-samegame-v1", "mo-samegame-v0"),
        ("mo-samegame", "mo-samegame-v0"),
        ("mo_breakthrough_v0", "mo-breakthrough-v0"),
    ],
)
@pytest.mark.parametrize("call", [momagames.spec, momagames.make, momagames.canonical, lambda id: momagames.make_vec(id, 2)])
def test_an_unknown_id_names_the_nearest(call, given, meant):
    with pytest.raises(UnknownId, match=f"'{given}'; did you mean '{meant}'"):
        call(given)


def test_an_id_like_no_other_lists_them_all():
    with pytest.raises(UnknownId, match="no game 'qqq'; there are 'mo-samegame-v0'"):
        momagames.spec("qqq")


def test_an_unknown_id_is_a_key_error_with_a_readable_message():
    with pytest.raises(KeyError) as caught:
        momagames.spec("qqq")
    assert isinstance(caught.value, MomagamesError)
    assert not str(caught.value).startswith('"')


def test_a_retired_id_names_its_successor(monkeypatch):
    monkeypatch.setitem(RETIRED, "mo-samegame-v00", "mo-samegame-v0")
    with pytest.raises(UnknownId, match="retired; use 'mo-samegame-v0'"):
        momagames.spec("mo-samegame-v00")


def test_canonical_spells_every_parameter_out():
    assert momagames.canonical("mo-samegame-v0", board_height=9) == (
        "mo-samegame-v0(board_width=15,board_height=9,num_colors=5,num_agents=1,team_rewards=False,color_rewards=True,"
        "clear_bonus=0.0)"
    )
    assert momagames.canonical("mo-breakthrough-v0") == (
        "mo-breakthrough-v0(board_width=8,board_height=8,num_objectives=4,canonical=False)"
    )


@pytest.mark.parametrize("id", IDS)
def test_canonical_reads_back_as_the_same_game(id):
    text = momagames.canonical(id)
    params = eval(f"dict{text.removeprefix(id)}")
    assert momagames.canonical(id, **params) == text


def test_numbers_of_any_kind_mean_the_same_game():
    plain = momagames.canonical("mo-samegame-v0", board_width=9, clear_bonus=5, team_rewards=True)
    numpys = momagames.canonical(
        "mo-samegame-v0", board_width=np.int64(9), clear_bonus=np.float32(5), team_rewards=np.bool_(True)
    )
    assert plain == numpys


@pytest.mark.parametrize("id", IDS)
def test_the_ends_of_a_range_are_allowed_and_nothing_beyond(id):
    for parameter in momagames.spec(id).parameters:
        if parameter.low is not None and not parameter.shape:
            check_range(id, parameter)


def check_range(id, parameter):
    kind = int if parameter.whole else float
    end, _, pair = parameter.name.partition("_")  # the largest value of a pair is not below the least one
    limits = {one.name: one for one in momagames.spec(id).parameters}
    others = {"min": (f"max_{pair}", "high"), "max": (f"min_{pair}", "low")}.get(end, ("", ""))
    beside = {others[0]: getattr(limits[others[0]], others[1])} if others[0] in limits else {}
    for value in (parameter.low, parameter.high):
        assert momagames.spec(id, **beside, **{parameter.name: kind(value)}).params[parameter.name] == value
    if parameter.optional:
        assert momagames.spec(id, **{parameter.name: None}).params[parameter.name] is None
    bad = (
        kind(parameter.low - 1),
        kind(parameter.high + 1),
        "many",
        True,
        float("nan"),
        *([] if parameter.optional else [None]),
    )
    for value in bad:
        with pytest.raises(InvalidParameter, match=re.escape(f"invalid {parameter.name}={value!r}: expected ")):
            momagames.spec(id, **{parameter.name: value})


@pytest.mark.parametrize("call", [momagames.make, momagames.spec, functools.partial(momagames.make_vec, num_envs=2)])
def test_an_unknown_keyword_is_a_type_error_too(call):
    with pytest.raises(UnknownParameter) as caught:
        call("mo-samegame-v0", bord_width=5)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, InvalidParameter)
    for part in ("unexpected keyword argument 'bord_width'", "expected 'board_width'", "did you mean 'board_width'?"):
        assert part in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_registering_a_variant(guests):
    momagames.register("mo-tinygame-v0", "momagames.games.samegame:game", board_width=4, board_height=3, num_colors=2)
    game = momagames.spec("mo-tinygame-v0", num_agents=2)
    assert (game.id, game.actions, game.agents) == ("mo-tinygame-v0", (12,), ("agent_0", "agent_1"))
    assert "mo-tinygame-v0" in momagames.ids()
    with pytest.raises(InvalidParameter, match="mo-tinygame-v0 fixes 'board_width'"):
        momagames.spec("mo-tinygame-v0", board_width=5)
    momagames.register("mo-tinygame-v0", "momagames.games.samegame:game", board_width=4, board_height=3, num_colors=2)
    with pytest.raises(InvalidParameter, match="'mo-tinygame-v0' is taken"):
        momagames.register("mo-tinygame-v0", "momagames.games.samegame:game", board_width=5)


@pytest.mark.parametrize("id", ["mo-tinygame", "-v0", "mo-tinygame-v", "mo-tinygame-vx", "v0", ""])
def test_an_id_needs_a_name_and_a_version(guests, id):
    with pytest.raises(InvalidParameter, match="is not of the form 'name-vN'"):
        momagames.register(id, "momagames.games.samegame:game")
    assert id not in momagames.ids()


PLUGIN = """
import momagames

def announce():
    momagames.register("guest-game-v3", "momagames.games.breakthrough:game", board_width=3, board_height=5)
"""


def test_games_of_other_packages_are_found_by_entry_point(guests, monkeypatch, tmp_path):
    (tmp_path / "momagames_guest_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("guest", "momagames_guest_plugin:announce", "momagames.games")
    asked = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: asked.append(group) or [point])
    monkeypatch.setattr(registry, "_load_plugins", functools.cache(registry._load_plugins.__wrapped__))
    assert momagames.spec("guest-game-v3").actions == (45,)
    assert "guest-game-v3" in momagames.ids()
    assert asked == ["momagames.games"]


def test_our_own_ids_do_not_wait_for_plugins(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: pytest.fail("plugins were looked for"))
    monkeypatch.setattr(registry, "_load_plugins", functools.cache(registry._load_plugins.__wrapped__))
    assert registry.find_entry("mo-samegame-v0") == Entry("momagames.games.samegame:game")


GUEST = """
import numpy as np
from momagames.contract import Field, Game, Kernels, Objective
from momagames.engine import loops
from momagames.kernels.jit import kernel
from momagames.kernels.record import record

dtype = record(1, heap=("i4",))
HEAP = 3

@kernel
def deal(state):
    state["heap"] = HEAP

@kernel
def legal(state, agent, mask):
    mask[:] = 1

def game(id):
    return Game(
        id=id, title="Guest", agents=("a",), dynamics="sequential", chance="none",
        objectives=(Objective("x", "points", 0, 1, 0, 1, "1"),), actions=(2,),
        fields=(Field("observation", (1,), "int8", 0, 9),),
        max_episode_steps=9, factory=game, blank_state=np.zeros(1, dtype)[0],
        kernels=Kernels(generate=deal, legal=legal, step=legal, observe=legal),
    )

made = game("guest-v0")
states = made.make_state()
loops.compile_episode_loops(made).generate(states)
print(states["heap"][0])
"""


@pytest.mark.long
def test_edited_rules_of_a_guest_are_compiled_anew(tmp_path):
    """The disk cache knows the sources of a game that lives outside the package."""
    file = tmp_path / "guest_rules.py"
    source = os.pathsep.join([str(tmp_path), str(Path(momagames.__file__).parent.parent)])
    environment = {**os.environ, "MOMAGAMES_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": source}
    heaps = []
    for heap in ("3", "7"):
        file.write_text(GUEST.replace("HEAP = 3", f"HEAP = {heap}"))
        run = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        heaps.append(run.stdout.strip())
    assert heaps == ["3", "7"]
    assert any((tmp_path / "cache").rglob("*.nbc")) or os.environ.get("NUMBA_DISABLE_JIT")
