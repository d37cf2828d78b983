"""Pictures and texts of MO-ItemGathering."""

import numpy as np

import momagames
from momagames.adapters.render import Renderer
from momagames.engine.episode import Episode
from momagames.games.item_gathering import view
from momagames.render import shapes

ID = "mo-item-gathering-v0"


def start(**params):
    episode = Episode(momagames.spec(ID, **params))
    episode.reset(0)
    return episode


def text(episode, last=None):
    return Renderer(episode.game, "ansi").render(episode.state, last, episode.returns)


def find_cell(picture, episode, row, column, size=None):
    top, left, side, *_ = episode.game.view.animation.locate_cells(episode.state, size)
    return picture[top + row * side : top + (row + 1) * side, left + column * side : left + (column + 1) * side]


def has(cell, ink):
    return (cell == np.array(ink)).all(axis=2).any()


def test_texts_count_items_and_name_those_under_agents():
    episode = start(initial_map=["1.23", "...1"], pickup_probabilities=[0, 1])
    assert "step 0 of 10; left: 1 of item_1, 1 of item_2" in text(episode)
    for joint in ([[4], [1]], [[4], [0]]):
        episode.step(np.array(joint))
    assert "0  . . A B" in text(episode)
    assert "under agents: A item_1" in text(episode)
    assert "left: 1 of item_1, 0 of item_2" in text(episode)


def test_results():
    episode = start(initial_map=["12"], num_timesteps=3)
    assert episode.game.view.result(episode.state) == "1 item left"
    episode.step(np.array([[4]]))
    assert "over after 1 ply: all items taken" in text(episode)
    episode = start(initial_map=["123"], num_timesteps=1)
    episode.step(np.array([[0]]))
    assert "cut off after 1 ply: 2 items left" in text(episode)


def test_pictures_show_items_agents_and_where_they_wanted_to_go():
    episode = start(initial_map=["1.2", "..3"])
    plain = episode.game.view.draw(episode.state)
    assert has(find_cell(plain, episode, 0, 0), view.BODY)
    assert has(find_cell(plain, episode, 0, 2), shapes.COLORS[0])
    assert has(find_cell(plain, episode, 1, 2), shapes.COLORS[1])
    seen = {find_cell(episode.game.view.draw(episode.state, np.array([[a]])), episode, 0, 0).tobytes() for a in range(5)}
    assert len(seen) == 5
    hidden = episode.game.view.draw(episode.state, hidden=[(0, 0)])
    assert not has(find_cell(hidden, episode, 0, 0), view.BODY)
    assert find_cell(plain, episode, 1, 0).tobytes() == find_cell(hidden, episode, 1, 0).tobytes()


def test_joint_actions_are_drawn_for_each_agent():
    central, apart = start(initial_map="corners", control="central"), start(initial_map="corners")
    one = central.game.view.draw(central.state, 1 + 5 * 4)
    assert np.array_equal(one, apart.game.view.draw(apart.state, np.array([[1], [4]])))


def test_agents_slide():
    episode = start(initial_map="corners")
    before = episode.state.copy()
    episode.step(np.array([[1], [0]]))
    assert episode.game.view.animation.find_slides(before, episode.state, None) == [((3, 2), (2, 2))]


def test_the_legend_of_many_types_has_rows():
    episode = start(initial_map=["1.2345", "6789.."])
    assert len({view._legend_corner(2, 6, 40, k)[0] for k in range(8)}) > 1
    assert episode.game.view.draw(episode.state, size=200).shape[1] >= 200
