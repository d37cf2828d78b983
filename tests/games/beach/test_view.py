"""Pictures and texts of MO-Beach."""

import numpy as np

import momagames
from momagames.engine.positions import load_state
from momagames.games.beach import view

ID = "mo-beach-v0"
POSITION = {"types": [0, 1, 1, 0, 1], "sections": [0, 0, 0, 2, 2]}


def start(**params):
    game = momagames.spec(ID, num_agents=5, sections=3, capacity=2, **params)
    return load_state(game, POSITION)[0]


def count_discs(sheet, ink):
    """Return the number of pixels of a color."""
    return int((sheet == np.array(ink)).all(axis=2).sum())


def test_pictures_have_a_disc_for_each_agent():
    sheet = view.draw_picture(start())
    first, second = (count_discs(sheet, ink) for ink in view.INKS[:2])
    assert first > 0
    assert abs(second / first - 3 / 2) < 0.01
    assert not count_discs(sheet, view.GRAY)


def test_a_viewer_sees_its_section_alone():
    sheet = view.draw_picture(start(), viewer="agent_3")
    first, gray = count_discs(sheet, view.INKS[0]), count_discs(sheet, view.GRAY)
    assert first == gray > 0
    assert not count_discs(sheet, view.INKS[1])
    width = sheet.shape[1]
    assert not count_discs(sheet[:, : width // 2], view.INKS[0])
    text = "\n".join("".join(part for part, _ in line) for line in view.format_text(start(), viewer="agent_3"))
    assert "agent_3 of type 0 sees section 2" in text
    assert "2 agents, 0.500 of them of its type; capacity is largest with 2" in text


def test_texts_have_a_line_for_each_section():
    lines = ["".join(part for part, _ in line) for line in view.format_text(start())]
    assert lines[0] == "step 0 of 1: capacity 1.41, mixture 0.278"
    assert lines[1:] == [
        " 0: 1 2  capacity 0.669, mixture 0.333",
        " 1: 0 0  capacity 0.000, mixture 0.000",
        " 2: 1 1  capacity 0.736, mixture 0.500",
    ]


def test_discs_fit_into_sections():
    assert view.fit_discs(5, 80, 300) == (view.LARGEST, 1)
    for most, width, height in ((100, 80, 300), (1000, 70, 300), (1000, 8, 280), (10**6, 20, 20)):
        side, agents = view.fit_discs(most, width, height)
        assert (width // side) * (height // side) * agents >= most
    crowded = momagames.spec(ID, num_agents=1000, sections=32)
    state = load_state(crowded, {"types": [0, 1] * 500, "sections": [31] * 1000})[0]
    for size in (120, 300, 560, 4000):
        assert view.draw_picture(state, size=size).shape[1] == size
