"""Front files: verification of their claims, and messages of errors in them."""

import gzip
import hashlib
import json
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

import momagames
from momagames import fronts
from momagames.baselines.exact import Checkpoint, pareto_front
from momagames.benchmark import run_suite
from momagames.benchmark.choices import GameChoice, Opponent
from momagames.benchmark.store.store import Store
from momagames.cli.app import app
from momagames.errors import InvalidFile, InvalidParameter
from momagames.files.json_data import canonical_json
from momagames.fronts.game_front import Start, hash_position, read_header
from momagames.reports.data.panels import build_panels
from tests.benchmark.tiny import GREEDY, POLICIES, RANDOM, plans, suite

BOARD = GameChoice(id="mo-samegame-v0", params={"board_width": 5, "board_height": 5, "num_colors": 3})
DUEL = GameChoice(id="mo-breakthrough-v0", params={"board_width": 3, "board_height": 5, "objectives": ["win", "captures"]})
ENDING = {"board": ["...", "11.", ".2.", "2..", "..."], "next_agent": "player_0", "ply": 11}
OPEN = {"board": [".1.", "11.", "...", "22.", ".2."], "next_agent": "player_0", "ply": 0}
LIMITS = fronts.SearchLimits(10**6, 1 << 28)


def command(*arguments):
    return CliRunner().invoke(app, ["front", *map(str, arguments)])


@pytest.fixture(scope="module")
def made():
    return fronts.returns_front(BOARD, 3, LIMITS, "the command")


@pytest.fixture(scope="module")
def duels():
    greedy = Opponent(name="greedy", options={"weights": []})
    return [
        fronts.guaranteed_front(DUEL, ENDING, 1, LIMITS),
        fronts.response_front(DUEL, ENDING, "player_0", Opponent(name="random", options={}), LIMITS),
        fronts.response_front(DUEL, ENDING, "player_1", greedy, LIMITS),
    ]


def replace_content(front, **changes):
    """Return the front with other content and its hash."""
    return fronts.GameFront.model_validate_json(json.dumps({**front.content(), **changes}))


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_front_survives_writing_and_reading(made, tmp_path, name):
    fronts.write_front(tmp_path / name, made)
    again = fronts.read_front(tmp_path / name)
    assert again == made
    assert (tmp_path / name).read_bytes()[:2] == (b"\x1f\x8b" if name.endswith("gz") else b"{\n")
    fronts.verify(again)
    fronts.prove(again)


@pytest.mark.long
def test_strategies_survive_writing_and_reading(duels, tmp_path):
    for front in duels:
        fronts.write_front(tmp_path / "a.json", front)
        again = fronts.read_front(tmp_path / "a.json")
        fronts.verify(again)
        fronts.prove(again)


def test_changed_file_is_rejected(made, tmp_path):
    path = tmp_path / "a.json"
    fronts.write_front(path, made)
    path.write_text(path.read_text().replace("the command", "another command"))
    with pytest.raises(InvalidFile, match=r"invalid sha256=.*the file was changed"):
        fronts.read_front(path)
    files = {"{}": "'sha256' is missing", "[": "Expecting", '{"sha256": "", "schema": 9}': "update momagames"}
    for text, message in files.items():
        path.write_text(text)
        with pytest.raises(InvalidFile, match=message):
            fronts.read_front(path)
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b"{}" * 40)[:30])
    with pytest.raises(InvalidFile, match=r"b\.json\.gz"):
        fronts.read_front(tmp_path / "b.json.gz")


def test_wrong_points_are_rejected(made):
    points = made.content()["points"]
    better = [{**points[0], "value": [v + 1 for v in points[0]["value"]]}, *points[1:]]
    with pytest.raises(InvalidFile, match=r"point 0: invalid value=.*from its witness"):
        fronts.verify(replace_content(made, points=better))
    low = {"value": [0.0] * 3, "actions": points[0]["actions"]}
    with pytest.raises(InvalidFile, match=r"point \d+: .* is dominated by, or equal to, point"):
        fronts.verify(replace_content(made, points=[*points, low]))
    for actions, message in (
        (points[0]["actions"][:-1], "is not over after"),
        ([*points[0]["actions"], 0], "is over after"),
        ([999, *points[0]["actions"]], "action 0, 999, is not legal"),
    ):
        with pytest.raises(InvalidFile, match=f"point 0: .*{message}"):
            fronts.verify(replace_content(made, points=[{**points[0], "actions": actions}, *points[1:]]))


def test_missing_point_fails_the_proof(made, duels):
    assert len(made.points) > 1
    with pytest.raises(InvalidFile, match="1 points of the front are missing"):
        fronts.prove(replace_content(made, points=made.content()["points"][1:]))
    for front in duels:
        if len(front.points) > 1:
            with pytest.raises(InvalidFile):
                fronts.prove(replace_content(front, points=front.content()["points"][1:]))


def test_large_board_is_proven_by_branch_and_bound():
    board = {"board_height": 7, "board_width": 6, "num_colors": 3}
    choice = GameChoice(id="mo-samegame-v0", params=board)
    front = fronts.returns_front(choice, 1, fronts.SearchLimits(10**6, 1 << 30))
    assert front.method.name == "branch and bound"
    fronts.verify(front)
    fronts.prove(front)
    with pytest.raises(InvalidFile, match="1 points of the front are missing"):
        fronts.prove(replace_content(front, points=front.content()["points"][1:]))
    plain = pareto_front(choice.make_game(), seed=1, max_states=10**6, max_bytes=1 << 30)
    assert front.values.tolist() == plain.points.tolist()


def test_strategy_with_too_high_a_value_is_rejected(duels):
    front = duels[0]
    points = front.content()["points"]
    points[0] = {**points[0], "value": [points[0]["value"][0], points[0]["value"][1] + 1]}
    with pytest.raises(InvalidFile, match="point 0: invalid value"):
        fronts.verify(replace_content(front, points=points[:1]))


@pytest.fixture(scope="module", params=[False, True], ids=["pareto-nash", "subgame-perfect"])
def equilibria(request):
    return fronts.equilibrium_front(DUEL, OPEN, LIMITS, subgame_perfect=request.param)


def test_equilibria_survive_writing_and_reading(equilibria, tmp_path):
    fronts.write_front(tmp_path / "a.json", equilibria)
    again = fronts.read_front(tmp_path / "a.json")
    assert again == equilibria
    assert again.agent == "all"
    assert again.objectives == ("player_0.win", "player_0.captures", "player_1.win", "player_1.captures")
    fronts.verify(again)
    fronts.prove(again)


def test_forged_equilibria_are_rejected(equilibria):
    points = equilibria.content()["points"]
    assert len(points) > 2
    pairs = [(one["strategy"], one["opponent_strategy"]) for one in points]
    better = {**points[0], "value": [v + 1 for v in points[0]["value"]]}
    alone = {key: value for key, value in points[0].items() if key != "opponent_strategy"}
    other = next(second for first, second in pairs if first != pairs[0][0])
    swapped = {**points[0], "opponent_strategy": points[0]["strategy"]}
    for forged, message in (
        ([better, *points[1:]], "point 0: invalid value=.*from its witness"),
        ([alone, *points[1:]], "point 0: invalid opponent_strategy: expected one"),
        ([{**points[0], "opponent_strategy": other}, *points[1:]], "point 0"),
        ([swapped, *points[1:]], "point 0"),
        ([points[0], *points], "a point is equal to another one"),
    ):
        with pytest.raises(InvalidFile, match=message):
            fronts.verify(replace_content(equilibria, points=forged))
    with pytest.raises(InvalidFile, match="1 points of the front are missing"):
        fronts.prove(replace_content(equilibria, points=points[1:]))
    statement = equilibria.statement.replace("all", "player_0")
    with pytest.raises(InvalidFile, match="invalid agent='player_0': expected 'all'"):
        fronts.verify(replace_content(equilibria, agent="player_0", statement=statement))


def test_threats_make_no_subgame_perfect_equilibrium():
    start = {"board": ["..1", "...", "221", "1..", "..."], "next_agent": "player_0", "ply": 10}
    nash, perfect = (fronts.equilibrium_front(DUEL, start, LIMITS, subgame_perfect=value) for value in (False, True))
    assert (len(nash.points), len(perfect.points)) == (5, 4)
    assert {point.value for point in perfect.points} < {point.value for point in nash.points}
    with pytest.raises(InvalidFile, match=r"point \d: .* is not on the front that the solver finds"):
        fronts.prove(replace_content(perfect, points=nash.content()["points"]))
    fronts.prove(perfect)


def test_other_claims_have_one_strategy(duels):
    points = [{**one, "opponent_strategy": one["strategy"]} for one in duels[0].content()["points"]]
    with pytest.raises(InvalidFile, match="point 0: invalid opponent_strategy"):
        fronts.verify(replace_content(duels[0], points=points))


def test_wrong_game_seed_or_agent_is_rejected(made):
    with pytest.raises(InvalidFile, match="seed 4 generates another position"):
        fronts.verify(replace_content(made, start={**made.content()["start"], "seed": 4}))
    with pytest.raises(InvalidFile, match="canonical"):
        fronts.verify(replace_content(made, canonical="mo-samegame-v0()"))
    with pytest.raises(InvalidFile, match="invalid agent='player_9'"):
        fronts.verify(replace_content(made, agent="player_9", statement=made.statement.replace(made.agent, "player_9")))


def test_the_statement_must_be_that_of_the_claim(made, tmp_path):
    path = tmp_path / "front.json"
    for changes in ({"statement": made.statement.replace("Pareto", "whole")}, {"agent": "player_9"}, {"claim": "clairvoyant"}):
        content = {**made.content(), **changes}
        sha256 = hashlib.sha256(canonical_json(content).encode()).hexdigest()
        path.write_text(json.dumps({**content, "sha256": sha256}))
        with pytest.raises(InvalidFile, match=r"invalid statement='The .*': expected 'The .*', which is what the claim says"):
            fronts.read_front(path)


LONG = [  # their witnesses are tables of strategies, whose replay takes seconds
    *(f"mo-breakthrough-v0-3x5-win-captures-{claim}" for claim in ("equilibrium", "subgame-perfect")),
    "mo-breakthrough-v0-3x5-speed-captures-player_0-to-greedy",
]


def test_fronts_of_the_package():
    """All fronts can be read and match their game; the witnesses of small ones are replayed, here or in the long test below."""
    found = fronts.packaged_fronts()
    assert len(found) > 20
    assert sum(path.stat().st_size for path in found.values()) < 3_500_000
    for name, path in found.items():
        one = fronts.read_front(path)
        assert (one.kind == "best known") == ("best-known" in name)
        if isinstance(one, fronts.EnvironmentFront):
            continue  # see test_environment_fronts.py
        if fronts.explain_missing_start(one):
            assert "standard" in name  # boards that the package may not hold
            continue
        one.make_game()
        if "5x5" in name or "6x6" in name or ("captures" in name and name not in LONG):
            fronts.verify(one)
    game = momagames.spec("mo-samegame-v0", board_width=6, board_height=6, num_colors=3)
    known = fronts.find_packaged_front(momagames.registry.format_id(game.id, game.params), 2)
    assert known is not None
    assert (known.values == pareto_front(game, seed=2, max_states=10**6, max_bytes=1 << 28).points).all()
    assert fronts.find_packaged_front(known.canonical, 99) is None


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_packaged_strategies_have_the_returns_of_the_file(name):
    fronts.verify(fronts.load_front(name))


def test_unions_are_best_known_and_reports_use_proven_fronts(tmp_path):
    params = {"board_width": 5, "board_height": 5}
    results = tmp_path / "results"
    run_suite(suite(plans([RANDOM, GREEDY], id="mo-samegame-v0", **params, num_colors=2), POLICIES), results)
    found = fronts.union_fronts([results])
    assert len(found) == 2
    for one in found.values():
        fronts.verify(one)
        assert (one.kind, len(one.runs)) == ("best known", 2)
        assert "not the true front" in one.statement
        assert {point.run for point in one.points} <= set(one.runs)
    store = Store(results)
    (panel,) = [panel for panel in build_panels(store, store.read_suite()) if panel.kind == "plans"]
    for seed, reference in panel.references.items():  # the package has both instances
        assert reference.tag == "exact"
        assert (reference.values == fronts.find_packaged_front(panel.canonical, seed).values).all()
    assert command("union", results, "-o", tmp_path / "hidden", "--omit-positions").exit_code == 0
    for path in (tmp_path / "hidden").iterdir():
        one, stored = fronts.load_front(path), found[path.name]
        fronts.verify(one)
        assert "board" not in json.dumps(one.content()["start"])
        assert one.start.sha256 == hash_position(stored.start.position)
        assert one.points == stored.points
        with pytest.raises(InvalidFile, match="the file does not hold the start position"):
            _ = one.position
        with pytest.raises(InvalidFile, match="generates a position with another sha256"):
            fronts.verify(one.model_copy(update={"start": Start(seed=one.start.seed, sha256="0" * 64)}))
    with pytest.raises(ValueError, match="expected a position, or its sha256 and the seed"):
        Start(seed=None, sha256="0" * 64)
    with pytest.raises(InvalidFile, match="at least one finished run of plans"):
        fronts.union_fronts([tmp_path / "nothing"])
    assert command("union", results, "-o", tmp_path / "one.json").exit_code != 0
    assert command("union", results, "-o", tmp_path / "all").exit_code == 0
    assert command("verify", *sorted((tmp_path / "all").iterdir())).exit_code == 0


@pytest.mark.long
def test_commands(tmp_path):
    out = tmp_path / "a.json"
    size = ["-p", "board_width=4", "-p", "board_height=4", "-p", "num_colors=2"]
    assert command("make", "mo-samegame-v0", *size, "--seed", 1, "-o", out).exit_code == 0
    done = command("verify", "--prove", out)
    assert (done.exit_code, "derived again" in done.stdout) == (0, True)
    out.write_text(out.read_text().replace('"seed": 1', '"seed": 2'))
    done = command("verify", out, "mo-samegame-v0-5x5x2-0", tmp_path / "none.json")
    assert done.exit_code == 1
    assert done.stdout.count("WRONG") == 2
    assert "ok    mo-samegame-v0-5x5x2-0" in done.stdout
    assert "mo-samegame-v0-5x5x2-0" in command("list").stdout
    assert "proven" in command("show", "mo-samegame-v0-5x5x2-0").stdout
    with pytest.raises(InvalidParameter, match="invalid checkpoint"):
        fronts.guaranteed_front(DUEL, ENDING, "player_0", fronts.SearchLimits(10, 10, None, Checkpoint(tmp_path / "c")))


@pytest.mark.long
def test_killed_search_resumes_from_its_checkpoint(tmp_path):
    """A process is killed after it wrote a checkpoint; a second search resumes from it and finds the same front."""
    game = momagames.spec("mo-samegame-v0", board_width=7, board_height=7, num_colors=3)
    path = tmp_path / "solved.npz"
    code = (
        "import momagames, sys; from pathlib import Path\n"
        "from momagames.baselines.exact import Checkpoint, pareto_front\n"
        "game = momagames.spec('mo-samegame-v0', board_width=7, board_height=7, num_colors=3)\n"
        "pareto_front(game, seed=0, max_states=10**7, max_bytes=1 << 30, checkpoint=Checkpoint(Path(sys.argv[1]), 0.0))\n"
    )
    working = subprocess.Popen([sys.executable, "-c", code, str(path)])
    deadline = time.monotonic() + 120
    while not path.exists() and working.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    working.kill()
    working.wait()
    head, _ = Checkpoint(path).load()
    limits = {"max_states": 10**7, "max_bytes": 1 << 30}
    whole = pareto_front(game, seed=0, **limits)
    assert 0 < head["states"] < whole.states
    reports = []
    again = pareto_front(
        game, seed=0, **limits, checkpoint=Checkpoint(path, 1000), progress=lambda states, size: reports.append(states)
    )
    assert reports[0] >= head["states"]
    assert again.states == whole.states
    assert (again.points == whole.points).all()
    assert again.witnesses == whole.witnesses
    with pytest.raises(InvalidFile, match="from another start"):
        pareto_front(game, seed=1, **limits, checkpoint=Checkpoint(path))
    path.write_bytes(b"nothing")
    with pytest.raises(InvalidFile, match="not a checkpoint"):
        pareto_front(game, seed=0, **limits, checkpoint=Checkpoint(path))


def test_ctrl_c_ends_a_search():
    game = momagames.spec("mo-samegame-v0", board_width=8, board_height=8, num_colors=3)
    started = []

    def stop(states, size):
        if not started:
            started.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        pareto_front(game, seed=0, max_states=10**8, max_bytes=1 << 31, progress=stop)
    assert time.monotonic() - started[0] < 2


# -------------------------------------------------------------------------------------------------------- single instances


YARD = {"colors": ["w,w,y", "gr,b,w", "w,w,w"], "targets": ["0,0,1", "0,0,0", "0,0,0"]}
ROBOT = GameChoice(
    id="mo-robotmail-v0", params={"layout": YARD, "num_players": 1, "max_step": 12, "objectives": ["delivery", "energy"]}
)


@pytest.mark.long
def test_clairvoyant_front_is_proven_two_ways(tmp_path):
    one = fronts.clairvoyant_front(ROBOT, 1, LIMITS)
    fronts.write_front(tmp_path / "a.json", one)
    again = fronts.read_front(tmp_path / "a.json")
    fronts.verify(again)
    fronts.prove(again)
    less = replace_content(again, points=again.content()["points"][1:])
    with pytest.raises(InvalidFile, match="1 points of the front are missing"):
        fronts.prove(less)
    with pytest.raises(InvalidParameter, match="invalid checkpoint"):
        fronts.clairvoyant_front(ROBOT, 1, fronts.SearchLimits(10, 10, checkpoint=Checkpoint(tmp_path / "c", 1)))


def test_backward_induction_detects_a_wrong_front(monkeypatch):
    one = fronts.clairvoyant_front(BOARD, 3, LIMITS)
    checks = sys.modules["momagames.fronts.verify"]
    plain = checks.backward_induction_front
    monkeypatch.setattr(checks, "backward_induction_front", lambda *args, **more: plain(*args, **more)[1:])
    with pytest.raises(InvalidFile, match=r"point 0: .* is not on the front"):
        fronts.prove(one)


def test_packaged_fronts_of_single_instances():
    names = [name for name in fronts.packaged_fronts() if "robotmail" in name or "tileblast" in name]
    assert len(names) == 20
    for name in names[::5]:
        one = fronts.load_front(name)
        fronts.verify(one)
        assert fronts.find_packaged_front(one.canonical, one.start.seed) == one


@pytest.mark.long
def test_make_command_of_a_clairvoyant_front(tmp_path):
    out = tmp_path / "robot.json"
    given = ["mo-robotmail-v0", "-p", "layout=tiny", "-p", "num_players=1", "-p", "max_step=8", "-o", out]
    done = command("make", *given, "--claim", "clairvoyant", "-p", "objectives=[delivery, energy]")
    assert done.exit_code == 0, done.output
    assert command("verify", "--prove", out).exit_code == 0
    rejected = command("make", *given)
    assert "chance during play" in str(rejected.exception)


def test_headers_are_read_without_the_points(made, tmp_path):
    for name in ("a.json", "a.json.gz"):
        fronts.write_front(tmp_path / name, made)
        head = read_header(tmp_path / name)
        assert "points" not in head
        assert (head["canonical"], head["start"]["seed"], head["kind"]) == (made.canonical, 3, "proven")


def test_best_known_fronts_of_large_boards():
    game = momagames.spec("mo-samegame-v0")
    one = fronts.find_packaged_front(momagames.registry.format_id(game.id, game.params), 4)
    assert one.kind == "best known"
    assert len(one.runs) >= 6
    fronts.verify(one)
