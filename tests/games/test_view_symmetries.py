"""Symmetries of egocentric views are those of the rules.

From any position, random or scripted play and its image have equal rewards and ends, and masks, safe actions and views that are
images of each other. Generator words are the same in both, so that what is drawn during play is the same.
"""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.engine.batch import Batch
from momagames.engine.loops import cache_by_rules
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies
from momagames.kernels.jit import compile_entry_point
from tests.cases import SMALL, cases_of
from tests.games.turns import DIRECTIONS

pytestmark = pytest.mark.compiled  # plays games

CASES = [(id, params) for id, kinds in SMALL.items() for params in kinds]
CASES = [(id, params) for id, params in CASES if momagames.spec(id, **params).learning.egocentric_view]
STARTS = 6


@cache_by_rules
def compile_views(game):
    write, cells = game.learning.egocentric_view.write, game.learning.egocentric_view.cells
    clear = game.learning.clear_unsafe_actions

    def run(states, views, masks):
        for n in range(states.shape[0]):
            for agent in range(views.shape[1]):
                write(states[n], agent, views[n, agent, :cells], views[n, agent, cells:])
                for caution in range(1, 3):
                    clear(states[n], agent, caution, masks[n, agent, caution - 1])

    return compile_entry_point(run, f"{game.rules_key}.tests.view_symmetries")


def look(batch):
    """The views float32[N, A, F] of all agents, and their masks of legal and safe actions, int8[N, A, 3, M]."""
    game, agents = batch.game, len(batch.game.agents)
    views = np.zeros((batch.num_envs, agents, game.learning.egocentric_view.size), np.float32)
    masks = np.ones((batch.num_envs, agents, 3, game.mask_size), np.int8)
    if not game.sequential:
        masks[:] = batch.masks[:, :, None]
    compile_views(game)(batch.states, views, masks[:, :, 1:])
    if game.sequential:  # the mask of the agent to move
        masks[np.arange(batch.num_envs), batch.to_move, 0] = batch.masks[:, 0]
    return views, masks


def find_turn(symmetry):
    """The matrix of a symmetry, from the images of the moves 1..4."""
    down, right = (DIRECTIONS[symmetry.actions[move] - 1] for move in (2, 4))
    return np.array([down, right]).T


def list_entries(game, names):
    """Whether a number of the view belongs to a plane or scalar of these names, bool[F]."""
    view = game.learning.egocentric_view
    of_planes = np.repeat(np.isin(view.planes, names), view.cells // len(view.planes))
    return np.concatenate([of_planes, np.isin(view.scalars, names)])


@pytest.mark.long
@pytest.mark.parametrize(("id", "params"), CASES, ids=lambda value: str(value))
def test_symmetries_are_those_of_the_rules(id, params):
    game, cases = momagames.spec(id, **params), cases_of(id)
    symmetries = game.learning.egocentric_view.symmetries
    assert len({symmetry.actions[:5] for symmetry in symmetries} - {(0, 1, 2, 3, 4)}) == 7
    has_ties = list_entries(game, cases.TIES)
    plain, images = Batch(game, STARTS, autoreset="disabled"), Batch(game, STARTS * 7, autoreset="disabled")
    plain.load(generate_starts(game, np.arange(STARTS, dtype=np.uint64)))
    turned = [cases.turn_state(state, find_turn(symmetry)) for symmetry in symmetries for state in plain.states]
    images.load(np.array(turned, plain.states.dtype))
    policies = [batch_policy(name, game) for name in ("safe:random", next(iter(game.policies)))]
    players = SeatedPolicies(plain, policies, np.arange(len(game.agents)) % 2)
    places, compared, is_alike = np.cumsum((0, *game.actions))[:-1], 0, []
    while not plain.states["over"].all():
        (views, masks), (image_views, image_masks) = look(plain), look(images)
        actions = players.act()
        for g, symmetry in enumerate(symmetries):
            part, renamed = slice(g * STARTS, (g + 1) * STARTS), np.array(symmetry.actions)
            expected = np.array(symmetry.signs) * views[:, :, list(symmetry.sources)] + np.array(symmetry.offsets)
            is_equal = expected == image_views[part]
            assert is_equal[..., ~has_ties].all()
            is_alike.append(is_equal[..., has_ties].mean())
            assert np.array_equal(image_masks[part][..., renamed], masks)
            images.last_actions[part] = renamed[actions + places] - places
        plain.step(actions)
        images.step(images.last_actions)
        for image, of in ((images.rewards, plain.rewards), (images.terminated, plain.terminated)):
            assert np.array_equal(image.reshape(7, *of.shape), np.broadcast_to(of, (7, *of.shape)))
        compared += 1
    assert compared > 10
    assert np.mean(is_alike) > 0.9
