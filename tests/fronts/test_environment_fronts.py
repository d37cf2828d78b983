"""Front files of environments: witnesses are replayed, certificates are checked, and forged files are refused."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from momagames import fronts, tabular
from momagames.cli.app import app
from momagames.errors import InvalidFile, InvalidParameter
from momagames.fronts import environment_front
from momagames.fronts.environment_front import discount_rewards, to_floats
from momagames.fronts.game_front import read_header
from momagames.tabular.replay import play_policy, replay_actions

CORRIDOR = "tests.tabular.problems:Corridor"
LIMITS = tabular.Limits()
SLIPPERY = {"id": CORRIDOR, "params": {"slip": 0.25}, "state_attributes": ["cell"], "gamma": "0.9"}
SURE = {"id": CORRIDOR, "params": {}, "gamma": "1"}


def solve(claim=None, **choice):
    return fronts.solve_environment(
        fronts.EnvironmentChoice.model_validate_json(json.dumps(choice)), claim, LIMITS, "the command"
    )


@pytest.fixture(scope="module")
def made():
    return [
        solve(**SURE),
        solve(**SLIPPERY),
        solve(**{**SLIPPERY, "horizon": 3, "gamma": "1"}),
        solve("coverage", **{**SURE, "gamma": "0.5"}),
    ]


def replace_content(front, **changes):
    return fronts.EnvironmentFront.model_validate_json(json.dumps({**front.content(), **changes}))


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_fronts_survive_writing_and_reading(made, tmp_path, name):
    assert [front.claim for front in made] == ["deterministic", "coverage", "coverage", "coverage"]
    assert made[0].values.tolist() == [[1, 0], [3, -1], [4, -2]]
    for front in made:
        fronts.write_front(tmp_path / name, front)
        again = fronts.read_front(tmp_path / name, allow_code=True)
        assert again == front
        assert read_header(tmp_path / name)["environment"]["id"] == CORRIDOR
        fronts.verify(again)
        fronts.prove(again)
    path = tmp_path / "b.json"
    fronts.write_front(path, made[0])
    path.write_text(path.read_text().replace("the command", "another command"))
    with pytest.raises(InvalidFile, match="the file was changed"):
        fronts.read_front(path)


def test_forged_actions_are_refused(made):
    front = made[0]
    points = front.content()["points"]

    def expect_refusal(message, *changed):
        with pytest.raises(InvalidFile, match=message):
            fronts.verify(replace_content(front, points=[*changed, *points[1:]]))

    expect_refusal("point 0: invalid value=.*from its witness", {**points[0], "value": [1.5, 0.0]})
    expect_refusal("point 0: the episode is not over", {**points[0], "actions": [0]})
    expect_refusal("point 0: the episode ends after 1 of 2", {**points[0], "actions": [1, 1]})
    expect_refusal(r"point 0: action 0, 7, is not in Discrete\(2\)", {**points[0], "actions": [7]})
    expect_refusal("dominated by, or equal to", points[0], points[0])
    with pytest.raises(InvalidFile, match="1 points of the front are missing"):
        fronts.prove(replace_content(front, points=points[1:]))


def test_forged_coverage_sets_are_refused(made):
    for front in made[1:]:
        data = front.content()
        points, certificates = data["points"], data["certificates"]
        assert len(points) > 1
        with pytest.raises(InvalidFile, match="point 0: invalid value"):
            fronts.verify(replace_content(front, points=[{**points[0], "value": [9.0, 9.0]}, *points[1:]]))
        with pytest.raises(InvalidFile, match=r"point 0: (invalid value|the strategy)"):
            fronts.verify(replace_content(front, points=[{**points[0], "strategy": points[1]["strategy"]}, *points[1:]]))
        with pytest.raises(InvalidFile, match="point 0: the strategy cannot be read"):
            fronts.verify(replace_content(front, points=[{**points[0], "strategy": "!"}, *points[1:]]))
        with pytest.raises(InvalidFile, match=r"certificates: expected|a better policy exists|the optimum is"):
            fronts.verify(replace_content(front, points=points[1:]))
        with pytest.raises(InvalidFile, match=r"certificates: expected|a better policy exists|the optimum is"):
            fronts.verify(replace_content(front, certificates=certificates[1:]))
        with pytest.raises(InvalidFile, match="a better policy exists"):
            fronts.verify(replace_content(front, certificates=certificates[::-1]))


def test_wrong_facts_are_refused(made):
    front, data = made[1], made[1].content()
    for changes, message in (
        ({"model": {**data["model"], "sha256": "0"}}, "the environment differs from that of the file"),
        ({"model": {**data["model"], "states": 5}}, "the environment differs"),
        ({"environment": {**data["environment"], "params": {"slip": 0.2}}}, "the environment differs"),
        ({"environment": {**data["environment"], "params": {"slap": 0.2}}}, "environment: .*unexpected keyword"),
        ({"environment": {**data["environment"], "id": "x.y:z"}}, "environment: cannot load"),
        ({"environment": {**data["environment"], "id": "os:system", "params": {"command": "exit"}}}, "a subclass of"),
        ({"model": {**data["model"], "states": 1}}, "more than max_states=2"),
    ):
        with pytest.raises(InvalidFile, match=message):
            fronts.verify(replace_content(front, **changes))
    for changes, message in (
        ({"statement": "All is well."}, "which is what the claim says"),
        ({"certificates": []}, "expected certificates for the claim coverage"),
        ({"claim": "deterministic"}, "which is what the claim says"),
        ({"environment": {**data["environment"], "gamma": "1.5"}}, "a decimal above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            replace_content(front, **changes)


def test_model_with_other_dynamics_than_the_environment_is_refused(made, monkeypatch):
    """A simulator that hides an outcome: the policies of the file meet it in the environment itself."""
    original = tabular.simulators.AttributeSimulator.outcomes

    def hide(self, snapshot, action):
        return [(1, *one[1:]) for one in original(self, snapshot, action)[-1:]]

    monkeypatch.setattr(tabular.simulators.AttributeSimulator, "outcomes", hide)
    with pytest.raises(InvalidParameter, match="an outcome that the model does not have"):
        solve("coverage", **SLIPPERY)
    monkeypatch.setattr(environment_front, "_evaluate", lambda *_: None)
    forged = solve("coverage", **SLIPPERY)
    monkeypatch.undo()
    monkeypatch.setattr(tabular.simulators.AttributeSimulator, "outcomes", hide)
    with pytest.raises(InvalidFile, match="an outcome that the model does not have"):
        fronts.verify(forged)


@pytest.mark.parametrize("text", ["1e-999999999", "1E-9999", "1e+999999999", "0" * 51, "0.5e-+9", "1/0", "x", "2", "0"])
def test_discounts_are_short_decimals(text):
    with pytest.raises(InvalidParameter, match="expected a decimal above 0, to 1"):
        environment_front.parse_gamma(text)
    assert environment_front.parse_gamma("98e-2") == environment_front.parse_gamma("0.98")


def test_limits_of_witnesses_are_checked_before_they_are_played(made, monkeypatch):
    points = made[0].content()["points"]
    with pytest.raises(ValueError, match="100,001 actions of witnesses: expected at most 100,000"):
        replace_content(made[0], points=[{**points[0], "actions": [0] * 100_001}])
    long = {**made[3].content()["environment"], "gamma": "0." + "9" * 48}
    with pytest.raises(ValueError, match="discounts of 500,000 digits: expected at most 200,000"):
        replace_content(
            made[0],
            environment=long,
            points=[{**points[0], "actions": [0] * 10_000}],
            statement=made[0].statement.replace("by 1", f"by {long['gamma']}"),
        )
    environment = {**made[0].content()["environment"], "params": {"render_mode": "human"}}
    with pytest.raises(ValueError, match="unexpected 'render_mode'"):
        replace_content(made[0], environment=environment)
    monkeypatch.setattr(environment_front, "replay_actions", None)  # no environment is made
    with pytest.raises(InvalidFile, match="3 actions: expected at most 2"):
        environment_front._replay(made[0].environment.model_copy(update={"horizon": 2}), [0] * 3)


def test_command(tmp_path):
    def run(*words):
        return CliRunner().invoke(app, list(map(str, words)))

    path = tmp_path / "corridor.json"
    done = run("exact", CORRIDOR, "--gamma", "0.5", "-p", "treasures=[1, 8]", "-o", path)
    assert done.exit_code == 0
    assert "2 points, 2 states" in done.output
    assert fronts.read_front(path).values.tolist() == [[1, 0], [4, -1]]
    assert "ok" in run("front", "verify", path, "--prove", "--allow-code").output
    output = run("front", "show", path).output
    assert "tests.tabular.problems:Corridor(treasures=[1, 8])" in output
    assert "label setting" in output
    path.write_text(path.read_text().replace("[1.0, 0.0]", "[2.0, 0.0]"))
    assert run("front", "verify", path).exit_code == 1
    slippery = [
        "exact",
        CORRIDOR,
        "-p",
        "slip=0.5",
        "--state-attribute",
        "cell",
        "--horizon",
        "4",
        "--checkpoint",
        tmp_path / "c.npz",
    ]
    assert "convex coverage set" in run(*slippery).output
    assert isinstance(run("exact", CORRIDOR, "--gamma", "2").exception, InvalidParameter)


def test_own_games_agree_with_their_own_search():
    """A board of MO-SameGame through its Gymnasium environment, and through the search of the package."""
    board = {"board_width": 4, "board_height": 3, "num_colors": 3}
    choice = fronts.EnvironmentChoice(id="momagames/mo-samegame-v0", params=board, seed=5, gamma="1")
    made = fronts.solve_environment(choice, None, LIMITS)
    from momagames.benchmark.choices import GameChoice

    own = fronts.returns_front(GameChoice(id="mo-samegame-v0", params=board), 5, fronts.SearchLimits(10**6, 1 << 28))
    assert made.values.tolist() == own.values.tolist()
    fronts.verify(made)


LARGE = (
    "four-room-v0-gamma-1",
    "four-room-v0-gamma-0.99",
)  # 593,920 states: minutes, see test_witnesses_of_a_large_environment
PACKAGED = [name for name in fronts.packaged_fronts() if "-gamma-" in name and name not in LARGE]
QUICK = [
    "deep-sea-treasure-v0-gamma-1",
    "deep-sea-treasure-concave-v0-gamma-1",
    "fruit-tree-v0-depth-5-gamma-0.99",
    "resource-gathering-v0-gamma-0.9",
]


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in PACKAGED if name not in QUICK)]
)
def test_packaged_fronts_are_proven(name):
    pytest.importorskip("mo_gymnasium")
    front = fronts.load_front(name)
    assert "+changes" not in (front.provenance["commit"] or "")
    fronts.verify(front)
    fronts.prove(front)


def test_witnesses_of_a_large_environment():
    pytest.importorskip("mo_gymnasium")
    for name, number in zip(LARGE, (1, 240), strict=True):
        front = fronts.load_front(name)
        assert len(front.points) == number
        for point in front.points:
            rewards, is_over = replay_actions(front.environment.make(), point.actions, None)
            assert is_over
            assert to_floats(discount_rewards(rewards, front.environment.discount)) == point.value
    assert fronts.load_front(LARGE[0]).values.tolist() == [[5, 5, 5]]


def test_resource_gathering_by_hand():
    """The vertices at gamma 0.9, written as routes: 9 and 11 steps, with one or two enemies on the way."""
    front = fronts.load_front("resource-gathering-v0-gamma-0.9")
    g = 0.9
    expected = [
        (-0.1 * g**2 - 0.09 * g**4, 0.81 * g**7, 0),  # gold, through the enemy on both ways
        (-0.1 * g**6 - 0.09 * g**8, 0.81 * g**11, 0.81 * g**11),  # both, through both enemies
        (-0.1 * g**6, 0.9 * g**13, 0.9 * g**13),  # both, around the first enemy
        (-0.1 * g**6, 0.9 * g**9, 0),  # gold, through the enemy on one way: as late as possible
        (0, 0, g**9),  # diamond
        (0, g**11, 0),  # gold, around the enemies
    ]
    assert np.allclose(front.values, sorted(expected), rtol=0, atol=1e-12)


def test_both_resources_without_an_enemy():
    """A route of 18 actions, which the published front of resource-gathering lacks."""
    pytest.importorskip("mo_gymnasium")
    choice = fronts.load_front("resource-gathering-v0-gamma-0.99").environment
    actions = [0, 0, 2, 0, 0, 3, 2, 1, 1, 3, 3, 0, 3, 1, 1, 1, 2, 2]  # 0 up, 1 down, 2 left, 3 right
    rewards, is_over = replay_actions(choice.make(), actions, 0)
    assert is_over
    assert rewards[-1] == (0, 1, 1)


@pytest.mark.long
def test_policies_attain_their_points_on_average():
    """Mean returns of 1,000 episodes in the environment are within five standard errors of the points."""
    pytest.importorskip("mo_gymnasium")
    for name in ("resource-gathering-v0-gamma-0.9", "breakable-bottles-v0-gamma-0.9"):
        front = fronts.load_front(name)
        choice = front.environment
        model = choice.explore(LIMITS)
        for point in front.points:
            policy = environment_front.expand_strategy(model, environment_front.unpack_policy(point.strategy))
            episodes = play_policy(choice.make(), choice.make_simulator(), model, policy, 1000, None)
            returns = np.array([[float(x) for x in discount_rewards(rewards, choice.discount)] for rewards in episodes])
            error = returns.std(axis=0) / np.sqrt(len(returns))
            assert (np.abs(returns.mean(axis=0) - point.value) <= 5 * error + 1e-9).all()


def test_witnesses_are_replayed_before_a_front_is_made():
    """In an environment that is made anew."""
    with pytest.raises(InvalidParameter, match="another result when a witness is played again: point 0"):
        solve(**{**SURE, "id": "tests.tabular.problems:Remade"})
