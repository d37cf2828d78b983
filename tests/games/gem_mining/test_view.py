"""Texts and pictures of MO-GemMining."""

import numpy as np
import pytest

import momagames
from momagames.adapters.render import Renderer
from momagames.engine.episode import Episode
from momagames.render import shapes

ID = "mo-gem-mining-v0"
SMALL = {"num_agents": 2, "max_connectivity": 2, "workers": [3, 1], "connectivity": [2, 1], "probabilities": [[0.2, 0.4]] * 3}
AFTER = {"mines": [1, 1], "gems": [[], [1], []]}


def render(position, mode="ansi", options=None, **params):
    episode = Episode(momagames.spec(ID, **SMALL, **params))
    episode.load(position)
    return Renderer(episode.game, mode, options or {}).render(episode.state, None, episode.returns)


def test_texts():
    before, after = render({"workers": [3, 1]}), render(AFTER)
    assert "4 workers in 2 villages, 3 mines" in before
    assert "village 0: 3 workers, mines 0 to 1\n" in before
    assert "mine 1: 0.200 0.400" in before
    assert "workers in 1 mines, gems by type: 0, 1" in after
    assert "village 1: 1 workers, mines 1 to 1, all to mine 1" in after
    assert "mine 1: 0.219 0.437  4 workers, gems of type 1" in after
    assert "gems expected: 0.219, 0.437" in render({"mines": [1, 1]}, reward_mode="expected")


def test_an_agent_sees_its_rewards_alone():
    text = render(AFTER, options={"viewer": "agent_1"})
    assert "agent_1 reaches the mines 1 to 1; it sees nothing but its rewards" in text
    assert "workers" not in text
    full, own = (render(AFTER, "rgb_array", {"viewer": viewer}) for viewer in (None, "agent_1"))
    colors = [np.array(ink) for ink in (shapes.COLORS[0], shapes.COLORS[1])]
    assert all((full == ink).all(axis=2).any() for ink in colors)
    assert not any((own == ink).all(axis=2).any() for ink in colors)


@pytest.mark.parametrize("agents", [1, 7, 60, 500])
def test_pictures_of_any_number_of_villages(agents):
    for size in (200, 900):
        env = momagames.make(ID, "parallel", num_agents=agents, render_mode="rgb_array", render_options={"size": size})
        env.reset(seed=0)
        env.step(dict.fromkeys(env.agents, 0))
        picture = env.render()
        assert picture.shape[1] >= size
        assert (picture == shapes.COLORS[0]).all(axis=2).any()
