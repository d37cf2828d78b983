"""The egocentric view for learners: equal to the observation where both show it, true to the rules, blind to what is hidden."""

import numpy as np
import pytest

import momagames
from momagames.games.pommerman.agents.egocentric_kernels import PLANES, RADIUS, SCALARS, SIDE, write_egocentric_view
from momagames.games.pommerman.agents.safety_kernels import HORIZON
from momagames.games.pommerman.rules import step
from momagames.games.pommerman.rules.observation import observe
from momagames.games.pommerman.rules.state import AGENT, EXTRA_BOMB, FLAMES, FOG, KICK, NO_AGENT, RIGID, WOOD
from momagames.kernels.jit import compile_entry_point
from tests.games.pommerman.hidden import change_hidden
from tests.games.pommerman.test_safety import walk

pytestmark = [pytest.mark.compiled, pytest.mark.long]  # plays games

IDS = ("mo-pommerman-duel-v0", "mo-pommerman-ffa-v0", "mo-pommerman-team-v0", "mo-pommerman-radio-v0")
PLAYERS = ("safe:random", "simple")


def _write(states, agent, planes, scalars):
    write_egocentric_view(states[0], agent, planes, scalars)


def _advance(states, actions, reward):
    step(states[0], actions, reward)


def _observe(states, agent, out):
    observe(states[0], agent, out)


write, advance, see = (compile_entry_point(f, f"tests.egocentric.{f.__name__}") for f in (_write, _advance, _observe))


def view(state, agent):
    """Return the planes by name, float32[SIDE, SIDE], and the scalars by name."""
    planes, scalars = np.full(len(PLANES) * SIDE * SIDE, np.nan, np.float32), np.full(len(SCALARS), np.nan, np.float32)
    write(np.array([state]), agent, planes, scalars)
    assert np.abs(planes).max() <= 1  # every number is written
    assert np.abs(scalars).max() <= 1
    return dict(zip(PLANES, planes.reshape(-1, SIDE, SIDE), strict=True)), dict(zip(SCALARS, scalars.tolist(), strict=True))


def positions(game, seed=0):
    """Yield states of games between PLAYERS and a live agent."""
    rng = np.random.default_rng(seed)
    agents = len(game.agents)
    for states in walk(game, [agent % 2 for agent in range(agents)], 4, names=PLAYERS):
        for state in states[:: 1 + int(rng.integers(2))]:
            agent = int(rng.integers(agents))
            if not state["over"] and state["alive"][agent]:
                yield state, agent


@pytest.mark.parametrize("id", IDS)
def test_shows_what_the_observation_shows(id):
    game = momagames.spec(id)
    size, checked = game.params["board_size"], 0
    for state, agent in positions(game):
        planes, scalars = view(state, agent)
        row = np.zeros(game.observation_bytes, np.uint8)
        see(np.array([state]), agent, row)
        fields = {name: value[0] for name, value in game.observation_views(row[None]).items()}
        y, x = fields["position"].astype(int)
        board = np.full((size + 2 * RADIUS,) * 2, RIGID)
        board[RADIUS:-RADIUS, RADIUS:-RADIUS] = fields["board"]
        crop = board[y : y + SIDE, x : x + SIDE]
        enemies = [code for code in fields["enemies"].tolist() if code != NO_AGENT]
        assert np.array_equal(planes["rigid"], crop == RIGID)
        assert np.array_equal(planes["wood"], crop == WOOD)
        assert np.array_equal(planes["fog"], crop == FOG)
        assert np.array_equal(planes["item"], (crop >= EXTRA_BOMB) & (crop <= KICK))
        assert np.array_equal(planes["enemy"], np.isin(crop, enemies))
        mate = int(np.ravel(fields["teammate"])[0])
        assert np.array_equal(planes["mate"], (crop == mate) & (crop != NO_AGENT))
        assert np.array_equal(planes["flame"] > 0, crop == FLAMES)
        life = np.zeros_like(board)
        life[RADIUS:-RADIUS, RADIUS:-RADIUS] = fields["bomb_life"]
        life = life[y : y + SIDE, x : x + SIDE]
        assert np.array_equal(planes["bomb_life"] * 16, np.where(life > 0, 11 - np.minimum(life, 10), 0))
        assert scalars["row"] * 16 == y
        assert scalars["column"] * 16 == x
        assert scalars["can_kick"] == float(np.ravel(fields["can_kick"])[0])
        alive = fields["alive"].astype(int)
        assert scalars["enemies"] * 4 == sum(alive[code - AGENT] for code in enemies)
        assert planes["distance"][RADIUS, RADIUS] == 1
        checked += 1
    assert checked > 100


def test_time_to_blast_is_that_of_the_rules():
    """Where all agents stand still, a cell burns for the first time in the predicted step."""
    game = momagames.spec("mo-pommerman-duel-v0")
    actions, reward = np.zeros((2, 1), np.int64), np.zeros((2, len(game.objectives)), np.float32)
    checked, size = 0, game.params["board_size"]
    for state, agent in positions(game):
        if not state["bombs"] or state["bomb_direction"][: state["bombs"]].any() or state["ply"] > 700:
            continue
        planes, _ = view(state, agent)
        states, expected = np.array([state]), np.zeros((size + 2 * RADIUS,) * 2)
        inside = expected[RADIUS:-RADIUS, RADIUS:-RADIUS]
        for number in range(1, HORIZON + 1):
            advance(states, actions, reward)
            burns = states["board"][0, : size * size].reshape(size, size) == FLAMES
            inside[burns & (inside == 0)] = 16 - number
        y, x = int(state["row"][agent]), int(state["col"][agent])
        assert np.array_equal(planes["time_to_blast"] * 16, expected[y : y + SIDE, x : x + SIDE])
        checked += 1
    assert checked > 30


@pytest.mark.parametrize("id", ["mo-pommerman-team-v0", "mo-pommerman-radio-v0"])
def test_hidden_information_changes_nothing(id):
    rng, checked = np.random.default_rng(0), 0
    for state, agent in positions(momagames.spec(id), 1):
        (planes, scalars), (other_planes, other_scalars) = (
            view(one, agent) for one in (state, change_hidden(state, agent, rng)[0])
        )
        assert scalars == other_scalars
        assert all(np.array_equal(planes[name], other_planes[name]) for name in PLANES)
        checked += 1
    assert checked > 100


def test_other_agents():
    """Agents in sight are shown by their offset; the mate has a place of its own."""
    game = momagames.spec("mo-pommerman-team-full-v0")
    state, agent = next(positions(game))
    for agent in range(4):
        _, scalars = view(state, agent)
        for name, other in (("enemy_0", agent + 1), ("mate", agent + 2), ("enemy_1", agent + 3)):
            other %= 4
            assert scalars[f"{name}_seen"] == 1
            assert scalars[f"{name}_down"] * 16 == int(state["row"][other]) - int(state["row"][agent])
            assert scalars[f"{name}_right"] * 16 == int(state["col"][other]) - int(state["col"][agent])
        assert scalars["enemy_2_alive"] == 0
