"""Size and ground of pictures: options of every game, which texts and the pointer know."""

import pytest

import momagames
from momagames.errors import InvalidParameter
from momagames.render import canvas

IDS = [
    "mo-samegame-v0", "mo-breakthrough-v0", "mo-connect4-v0", "mo-pommerman-duel-v0", "mo-tileblast-v0", "mo-robotmail-4-v0",
    "mo-ingenious-v0",
    "mo-gem-mining-v0",
    "mo-item-gathering-v0",
    "mo-beach-v0",
    "mo-route-choice-v0",
]  # fmt: skip
COLUMNS = {"mo-pommerman-duel-v0": (8, 22), "mo-tileblast-v0": (13, 66), "mo-robotmail-4-v0": (9, 22)}  # and pixels above


def make(id, mode="rgb_array", **options):
    env = momagames.make(id, render_mode=mode, render_options=options)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("id", IDS)
def test_pictures_have_the_size_that_is_asked_for(id):
    sides = [max(make(id, size=size).render().shape[:2]) for size in (400, 800, 1600)]
    assert 700 < sides[2] - sides[1] < 900  # whole pixels for each cell
    assert sides[0] < sides[1]
    assert make(id).render().shape == make(id, size=None).render().shape


@pytest.mark.parametrize("id", IDS)
def test_texts_do_not_depend_on_it(id):
    assert make(id, "ansi", size=900).render() == make(id, "ansi").render()
    with pytest.raises(InvalidParameter, match=r"invalid size=5: expected an integer in 120[.][.]4000, or None"):
        make(id, size=5)


@pytest.mark.parametrize("id", COLUMNS)
def test_the_pointer_finds_the_cell_in_pictures_of_any_size(id):
    env = make(id)
    columns, above = COLUMNS[id]
    sides = [(size, (size - 22) // columns) for size in (700, 1400)]
    small, large = (env.game.human.point(env.record, 22 + 3.5 * side, above + 3.5 * side, size=size) for size, side in sides)
    assert small == large
    assert small["cell"] >= 0


@pytest.mark.parametrize("id", IDS[:6])  # whose boards have colors of their own
def test_pictures_on_dark_paper(id):
    light, dark = make(id).render(), make(id, dark=True).render()
    assert light.shape == dark.shape
    assert tuple(light[0, 0]) == canvas.PAPER
    assert tuple(dark[0, 0]) == canvas.DARK_COLORS[canvas.PAPER]
    assert (light == dark).all(axis=2).mean() > 0.2  # the board
    assert (make(id).render() == light).all()  # what was drawn is not used on another ground
    assert make(id, "ansi", dark=True).render() == make(id, "ansi").render()
    with pytest.raises(InvalidParameter, match="invalid dark='yes': expected True or False"):
        make(id, dark="yes")
