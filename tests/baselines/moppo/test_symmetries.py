"""Symmetries in the updates of MOPPO: images of decisions are those of the rules, and are what the network learns from."""

from dataclasses import replace

import numpy as np
import pytest

import momagames
from momagames.baselines.moppo.encoder import make_egocentric_encoder
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.symmetries import Symmetries
from momagames.contract import ViewSymmetry
from momagames.errors import InvalidParameter
from tests.baselines.moppo.test_views import DUEL, RADIO, SMALL, clear_masks, make_batch, make_trainer
from tests.games.pommerman.cases import TIES, turn_state
from tests.games.test_view_symmetries import find_turn, list_entries

pytestmark = pytest.mark.compiled  # plays games


@pytest.mark.parametrize("id", [DUEL, RADIO])
def test_images_of_decisions(torch, id):
    """The images of views, masks of safe actions and actions are those of the images of positions."""
    from momagames.baselines.moppo.views import Views

    game = momagames.spec(id)
    encoder, batch = make_egocentric_encoder(game, safe_inputs=True), make_batch(game)
    images = make_batch(game)
    symmetries = Symmetries(game, encoder)
    assert len(symmetries.actions) == 8
    chosen = np.random.default_rng(0).integers(8, size=32)
    turns = [np.eye(2, dtype=int), *map(find_turn, game.learning.egocentric_view.symmetries)]
    images.load(np.array([turn_state(one, turns[g]) for one, g in zip(batch.states, chosen, strict=True)], batch.states.dtype))
    n, agents = np.arange(32), np.tile([0, 1], 16)
    weights = np.random.default_rng(1).dirichlet(np.ones(len(game.objectives)), 32).astype(np.float32)
    views = [Views(game, encoder, 32) for _ in range(2)]
    rows = [one.append(each.states, n, agents, weights) for one, each in zip(views, (batch, images), strict=True)]
    order = np.random.default_rng(2).permutation(32)
    found = views[0].transform(rows[0][order], symmetries, chosen[order]).expand(n)
    has_no_ties = np.ones(found.shape[1], np.bool_)
    has_no_ties[: game.learning.egocentric_view.size] = ~list_entries(game, TIES)
    assert np.array_equal(found[:, has_no_ties], views[1].expand(rows[1][order])[:, has_no_ties])
    masks, image_masks = (clear_masks(game, one, 2)[n, agents] for one in (batch, images))
    actions = np.stack([np.random.default_rng(3).integers(0, size, 32) for size in game.actions], axis=1)
    renamed_masks, renamed = symmetries.rename_actions(chosen, masks, actions)
    assert np.array_equal(renamed_masks, image_masks)
    moves = [symmetries.actions[g][action] for g, action in zip(chosen, actions[:, 0], strict=True)]
    assert renamed[:, 0].tolist() == moves
    assert np.array_equal(renamed[:, 1:], actions[:, 1:])  # words of messages


def test_updates_learn_from_images(torch):
    """The network gets images of the views, drawn from the generator of the trainer, and rows get the images of the rest."""
    trainer = make_trainer(momagames.spec(DUEL), symmetries=True, caution=1, self_play=1.0)
    rollout, learner, generator = trainer.collector.collect(False), trainer.learner, torch.Generator()
    indices = np.flatnonzero(rollout.is_decision.reshape(-1))
    before, rows = rollout.select(indices), rollout.select(indices)
    generator.set_state(trainer.generator.get_state())
    made = learner._make_images(rollout, indices, rows)
    logits, values = learner._forward(rollout, indices, made, slice(0, len(indices)))
    part = learner._forward(rollout, indices, made, slice(40, 60))
    chosen = torch.randint(8, (len(indices),), generator=generator).numpy()
    assert len(set(chosen.tolist())) == 8
    images = rollout.egocentric.transform(rollout.view_rows.reshape(-1)[indices], rollout.symmetries, chosen)
    expected = trainer.model.forward_views((images, np.arange(len(indices))))
    assert torch.equal(logits, expected[0])
    assert torch.equal(values, expected[1])
    assert torch.allclose(part[0], logits[40:60], atol=1e-6)
    assert torch.allclose(part[1], values[40:60], atol=1e-6)
    masks, actions = rollout.symmetries.rename_actions(chosen, before["masks"], before["actions"])
    assert np.array_equal(rows["masks"], masks)
    assert np.array_equal(rows["actions"], actions)
    assert np.take_along_axis(masks, actions, 1).all()
    assert (actions != before["actions"]).any()
    for name in before.keys() - {"masks", "actions"}:
        assert np.array_equal(rows[name], before[name])
    metrics = trainer.train_iteration()
    assert all(np.isfinite(value) for value in metrics.values())


def test_rejects_what_a_game_does_not_declare():
    game = momagames.spec(DUEL)
    size, mirror = game.learning.egocentric_view.size, game.learning.egocentric_view.symmetries[0]

    def check(game, **options):
        Moppo(**{**SMALL, "symmetries": True, **options}).check_train(game)

    def declare(game, *symmetries):
        view = replace(game.learning.egocentric_view, symmetries=symmetries)
        return replace(game, learning=replace(game.learning, egocentric_view=view))

    check(game)
    with pytest.raises(InvalidParameter, match="mo-samegame-v0: invalid symmetries=True: expected False: the network does not"):
        check(momagames.spec("mo-samegame-v0"))
    with pytest.raises(InvalidParameter, match="expected False: the network does not read an egocentric view"):
        check(game, network="convolutional")
    with pytest.raises(InvalidParameter, match="expected False: the game declares no symmetries of its egocentric view"):
        check(declare(game))
    wrong = "the game declares symmetries that are no permutations of its view and actions"
    for one in (
        replace(mirror, sources=(0,) * size),
        replace(mirror, signs=mirror.signs[1:]),
        replace(mirror, actions=(0, 0, 1, 2, 3, 4)),
        ViewSymmetry(mirror.sources[1:], mirror.signs[1:], mirror.offsets[1:], mirror.actions),
    ):
        with pytest.raises(InvalidParameter, match=wrong):
            check(declare(game, mirror, one))
    radio = momagames.spec(RADIO)
    moves = tuple(np.roll(range(radio.mask_size), 1).tolist())  # across the parts of the action
    across = replace(radio.learning.egocentric_view.symmetries[0], actions=moves)
    with pytest.raises(InvalidParameter, match=wrong):
        check(declare(radio, across))
