"""Files of data name what the package and plugins register, and files in their own folder: nothing else is imported or read.

A module of the name that each file gives lies beside it, on the path of imports, as with `python -m momagames`.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import momagames
from momagames import datasets, fronts, plugins, registry, tabular, wrappers
from momagames.baselines import find_policy, policy
from momagames.baselines.checkpoint import save_checkpoint
from momagames.baselines.learners import find_learner
from momagames.baselines.policy_names import find_checkpoint
from momagames.baselines.strategies import encode_actions
from momagames.benchmark import replays, training
from momagames.benchmark.choices import GameChoice, Opponent
from momagames.benchmark.runs import parse_run
from momagames.benchmark.store.store import Store, read_run
from momagames.benchmark.suite_files import check_suite, load_suite
from momagames.cli.app import app
from momagames.datasets.manifest import FORMAT, MANIFEST
from momagames.errors import InvalidFile, InvalidParameter, MomagamesError, UnknownId
from momagames.files.json_data import canonical_json
from momagames.fronts.game_front import state_claim
from momagames.wrappers.recording import replay
from tests.benchmark.tiny import INDICATORS, POLICIES, RANDOM, plans
from tests.datasets.small import GEMWALK, part, recipe

MODULE = "planted_beside_a_file"
SOURCE = """
import pathlib
pathlib.Path(__file__).with_name("imported").touch()
from momagames.baselines.random import Random as Method, RANDOM_POLICY as POLICY
"""
OWN, CODE = {"name": f"{MODULE}:Method", "options": {}}, f"{MODULE}:POLICY"
DUEL = {"id": "mo-breakthrough-v0", "params": {"board_width": 3, "board_height": 5}}
LEVEL = {"id": "mo-tileblast-v0", "params": {"level": "/etc/passwd"}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / f"{MODULE}.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop(MODULE, None)


def write_results(folder, *methods, experiment=None):
    """Write the results directory of a suite without a run."""
    one = {**(experiment or plans([RANDOM])), "methods": list(methods)}
    content = {"name": "x", "description": "", "experiments": [one], "indicators": INDICATORS}
    (folder / "runs").mkdir()
    (folder / "suite.json").write_text(json.dumps({"schema": 2, "version": "0", "suite": content}))
    return folder


def write_front(folder, front, **changes):
    """Write a front of other content with the right hash."""
    content = {**front.content(), **changes}
    path = folder / "front.json"
    digest = type(front).model_validate_json(json.dumps(content)).sha256
    path.write_text(json.dumps({**content, "sha256": digest}))
    return path


def write_game_front(folder, name=None, game=None):
    """Write a front of responses to an opponent of this name, or of another game."""
    front = fronts.load_front("mo-samegame-v0-7x7x3-0")
    changes = {} if game is None else {"game": game}
    if name:
        opponent = Opponent(name=name, options={})
        statement = state_claim("proven", "response", front.agent, opponent)
        points = [{"value": front.points[0].value, "strategy": encode_actions([0])}]
        changes |= {"claim": "response", "opponent": opponent.model_dump(), "statement": statement, "points": points}
    return write_front(folder, front, **changes)


def write_environment_front(folder, id, params):
    choice = fronts.EnvironmentChoice(
        id="momagames/mo-samegame-v0", params={"board_width": 3, "board_height": 3}, gamma="1", seed=0
    )
    front = fronts.solve_environment(choice, None, tabular.Limits())
    return write_front(folder, front, environment={**front.content()["environment"], "id": id, "params": params})


def write_dataset(folder, *methods, game=GEMWALK, **changes):
    content = recipe(part("x", game, methods or [RANDOM]), **changes)
    policies = [[{"method": "x", "policy": "x", "preference": []}]]
    head = {"format": FORMAT, "version": "0", "recipe": content, "policies": policies, "shards": []}
    (folder / MANIFEST).write_text(json.dumps(head))
    return folder


def write_checkpoint(folder, **changes):
    options = find_learner("moppo").default_options(registry.spec(**DUEL["params"], id=DUEL["id"]))
    head = {
        "game": DUEL["id"], "params": DUEL["params"], "canonical": "x", "method": "moppo", "options": options, "seed": 0,
        "budget": 1, "seats": ["player_0"], "opponents": [], "instance_seed": None, "weights": None, "steps": 1, "version": "0",
        "decisions": 1, "seconds": 1.0,
    }  # fmt: skip
    save_checkpoint(folder / "x.npz", {**head, **changes}, {}, {})
    return folder / "x.npz"


def open_training(path):
    found, _ = training.load_training(path)
    found.make_opponents(found.game)


def resume(folder):
    check_suite(Store(folder).read_suite(), "suite.json")


HEAD = {**POLICIES, "opponents": [{"name": CODE, "options": {}}], "select_episodes": 1, "report_episodes": 1}
CODE_IN_FILES = {
    "results, method": lambda folder: resume(write_results(folder, OWN)),
    "results, filtered policy": lambda folder: resume(write_results(folder, {**OWN, "name": f"safe:{CODE}"}, experiment=HEAD)),
    "results, opponent": lambda folder: resume(write_results(folder, RANDOM, experiment=HEAD)),
    "results, address": lambda folder: resume(write_results(folder, {**RANDOM, "name": "http:127.0.0.1:1"})),
    "front, opponent": lambda folder: fronts.verify(fronts.read_front(write_game_front(folder, CODE))),
    "front, environment": lambda folder: fronts.verify(fronts.read_front(write_environment_front(folder, f"{MODULE}:Env", {}))),
    "front, policy of an environment": lambda folder: fronts.verify(
        fronts.read_front(write_environment_front(folder, "momagames/mo-breakthrough-v0", {"others": CODE}))
    ),
    "dataset": lambda folder: datasets.open_dataset(write_dataset(folder, OWN)),
    "dataset, address": lambda folder: datasets.open_dataset(write_dataset(folder, {**RANDOM, "name": "http:127.0.0.1:1"})),
    "checkpoint, opponent": lambda folder: open_training(write_checkpoint(folder, opponents=[{"name": CODE, "options": {}}])),
    "checkpoint, expert": lambda folder: open_training(write_checkpoint(folder, options={"expert": f"safe:{CODE}"})),
}
INSTALLED = {
    "results": lambda folder: resume(write_results(folder, {"name": "this:s", "options": {}})),
    "front": lambda folder: fronts.verify(fronts.read_front(write_game_front(folder, "this:s"))),
    "environment": lambda folder: fronts.verify(fronts.read_front(write_environment_front(folder, "this:s", {}))),
    "dataset": lambda folder: datasets.open_dataset(write_dataset(folder, {"name": "this:s", "options": {}})),
    "checkpoint": lambda folder: open_training(write_checkpoint(folder, opponents=[{"name": "this:s", "options": {}}])),
}
FILES_IN_FILES = {
    "results": lambda folder: resume(write_results(folder, RANDOM, experiment={**plans([RANDOM]), "games": [LEVEL]})),
    "results, checkpoint": lambda folder: resume(
        write_results(folder, {"name": "trained", "options": {"checkpoint": "../x.npz", "divisions": 1}}, experiment=POLICIES)
    ),
    "front": lambda folder: fronts.verify(fronts.read_front(write_game_front(folder, game=LEVEL))),
    "environment": lambda folder: fronts.verify(
        fronts.read_front(write_environment_front(folder, "momagames/mo-tileblast-v0", LEVEL["params"]))
    ),
    "dataset": lambda folder: datasets.open_dataset(write_dataset(folder, game=LEVEL)),
    "checkpoint": lambda folder: policy(
        str(write_checkpoint(folder, game=LEVEL["id"], params=LEVEL["params"])), registry.spec("mo-tileblast-v0")
    ),
}


@pytest.mark.parametrize("case", CODE_IN_FILES)
def test_code_that_a_file_names_is_not_imported(folder, case):
    with pytest.raises(InvalidFile, match=r"expected a name of the package or of an installed plugin.*--allow-code"):
        CODE_IN_FILES[case](folder)
    assert not (folder / "imported").exists()


@pytest.mark.parametrize("case", INSTALLED)
def test_installed_modules_are_not_imported(folder, case, monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    with pytest.raises(InvalidFile, match="this:s"):
        INSTALLED[case](folder)
    assert "this" not in sys.modules


@pytest.mark.parametrize("case", FILES_IN_FILES)
def test_files_elsewhere_are_not_read(folder, case):
    with pytest.raises(InvalidFile, match=r"expected a file in .*, without \.\. in its path") as caught:
        FILES_IN_FILES[case](folder)
    assert "root:x" not in str(caught.value)


def test_code_is_imported_where_the_caller_allows_it(folder):
    with plugins.allow_code():
        CODE_IN_FILES["results, method"](folder)
    assert (folder / "imported").exists()
    found = datasets.manifest.read_manifest(write_dataset(folder, OWN), allow_code=True)
    assert found.recipe.parts[0].methods[0].name == OWN["name"]
    assert CliRunner().invoke(app, ["dataset", "info", str(folder), "--allow-code"]).exit_code == 0
    with pytest.raises(InvalidFile):  # the permission has ended with the command
        datasets.open_dataset(folder)
    path = write_checkpoint(folder, opponents=[{"name": CODE, "options": {}}])
    found, _ = training.load_training(path, allow_code=True)
    assert len(found.make_opponents(found.game)) == 1


def test_own_results_are_read_without_their_methods(folder):
    """Status, report and comparison of a suite with a method of one's own, and the replay of its plans."""
    experiment = {**plans([RANDOM, OWN], seeds=[0]), "budget": 3}
    data = {"name": "x", "description": "", "experiments": [experiment], "indicators": INDICATORS}
    suite = load_suite(data)
    from momagames.benchmark import run_suite

    assert not run_suite(suite, folder / "out").failed
    (folder / "imported").unlink()
    (folder / f"{MODULE}.py").write_text("raise SystemExit('imported')")
    sys.modules.pop(MODULE)
    for words in (["status", "out"], ["report", "out", "--no-replays"], ["compare", "out", "out"], ["report", "out"]):
        done = CliRunner().invoke(app, ["bench", *words])
        assert done.exit_code == 0, (words, done.output, done.exception)
    [own] = [run for run in Store(folder / "out").finished_runs() if run.method.name == OWN["name"]]
    replays.replay(Store(folder / "out").run_directory(own), 0)
    with pytest.raises(InvalidFile, match="--allow-code"):
        resume(folder / "out")


def test_trained_methods_are_known_without_their_code(tmp_path):
    """Whether a run has a budget, which is part of its name, follows from the runs that are there."""
    store = Store(write_results(tmp_path, OWN, experiment={**POLICIES, "budget": 7}))
    game = GameChoice(**POLICIES["games"][0]).make_game()
    [chosen] = store.read_suite().experiments[0].methods
    assert not chosen.is_trained(game)
    content = {
        "game": POLICIES["games"][0], "canonical": "x", "method": OWN, "seed": 0, "kind": "policies", "budget": 7,
        "opponents": [], "seats": [], "select_episodes": 1, "report_episodes": 1, "version": "0", "rows_format": 1,
    }  # fmt: skip
    run = parse_run(content)
    place = store.run_directory(run)
    place.mkdir()
    (place / "config.json").write_text(json.dumps({"schema": 2, "digest": run.digest, **run.to_dict()}))
    [chosen] = store.read_suite().experiments[0].methods
    assert chosen.is_trained(game)
    assert read_run(place).method.is_trained(game)


def test_levels_in_the_folder_of_a_file_are_read(folder):
    level = Path(str(registry.__file__)).parent / "games/tileblast/levels/data/02.yaml"
    (folder / "level.yaml").write_text(level.read_text())
    (folder / "damaged.yaml").write_text("secret: words")
    origin = plugins.Origin.of_file(folder / "x.json")
    assert registry.make_stored_game("mo-tileblast-v0", {"level": "level.yaml"}, origin).params["level"]["layout"]
    (folder / "link.yaml").symlink_to("/etc/passwd")
    for name, expected in (("damaged.yaml", "expected a file that fits"), ("link.yaml", "expected a file in")):
        with pytest.raises(InvalidFile, match=expected) as caught:
            registry.make_stored_game("mo-tileblast-v0", {"level": name}, origin)
        assert "secret" not in str(caught.value)
        assert "root:x" not in str(caught.value)


def test_suites_and_fronts_hold_the_levels_that_their_makers_name(folder):
    """So that they can be read elsewhere: no path is stored."""
    level = Path(str(registry.__file__)).parent / "games/tileblast/levels/data/02.yaml"
    choice = GameChoice(id="mo-tileblast-v0", params={"level": str(level)})
    assert choice.embed_files().params["level"] == choice.make_game().params["level"]
    assert choice.embed_files().make_game().params == choice.make_game().params


def test_replays_name_files_in_their_folder(folder):
    data = {"format": "momagames-record-1", **LEVEL, "start": {}, "actions": [], "returns": []}
    (folder / "x.json").write_text(json.dumps(data))
    with pytest.raises(InvalidFile, match="expected a file in"):
        next(replay(folder / "x.json"))
    (folder / "inner").mkdir()
    level = Path(str(registry.__file__)).parent / "games/tileblast/levels/data/02.yaml"
    env = momagames.make(LEVEL["id"], level=str(level))
    env.reset(seed=0)
    data |= {"params": {"level": str(level)}, "start": env.get_state(), "returns": env.returns.tolist()}
    path = folder / "inner" / "x.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InvalidFile, match="--allow-code"):
        list(wrappers.replay(path))
    [played] = wrappers.replay(path, allow_code=True)
    assert played.game.params == env.game.params
    with pytest.raises(InvalidFile, match="--allow-code"):  # the permission is that of one call
        list(wrappers.replay(path))


def test_replays_of_own_policies_load_them_where_the_caller_allows_it(folder):
    data = {
        "name": "x",
        "description": "",
        "experiments": [{**POLICIES, "methods": [OWN], "seeds": [0]}],
        "indicators": INDICATORS,
    }
    from momagames.benchmark import run_suite

    assert not run_suite(load_suite(data), folder / "out").failed
    [run] = Store(folder / "out").finished_runs()
    place = Store(folder / "out").run_directory(run)
    for call in (
        lambda **allowed: replays.replay(place, 0, **allowed),
        lambda **allowed: replays.evaluate_again(place, 0, 1, 5, **allowed),
    ):
        with pytest.raises(InvalidFile, match="--allow-code"):
            call()
        assert call(allow_code=True)
    for call in (
        lambda **allowed: replays.load_points(place, **allowed),
        lambda **allowed: replays.find_typical_episode(place, 0, **allowed),
    ):
        assert call(allow_code=True)


@pytest.mark.parametrize("start", [["momagames"], [sys.executable, "-m", "momagames"]])
@pytest.mark.long
def test_commands_import_nothing_beside_a_file(folder, start):
    for name in ("results", "data"):
        (folder / name).mkdir()
    write_results(folder / "results", OWN)
    write_dataset(folder / "data", OWN)
    front, checkpoint = write_game_front(folder, CODE), write_checkpoint(folder, opponents=[{"name": CODE, "options": {}}])
    commands = (
        ["bench", "status", "results"], ["bench", "report", "results"], ["bench", "resume", "results"],
        ["dataset", "info", "data"], ["dataset", "verify", "data"], ["front", "verify", str(front)], ["eval", str(checkpoint)],
    )  # fmt: skip
    for words in commands:
        done = subprocess.run([*start, *words], capture_output=True, text=True, timeout=300, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        assert not (folder / "imported").exists(), words


# --------------------------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize("times", [11, 2000, 300_000])
def test_filters_of_policies_are_few(times):
    name = "safe:" * times
    game = registry.spec("mo-pommerman-ffa-v0")
    with pytest.raises(InvalidParameter, match="expected at most 10 times 'safe:' before a name"):
        find_policy(name + "random", game)
    with pytest.raises(InvalidParameter, match="expected at most 10 times"):
        find_checkpoint(name + "x.npz")
    assert find_checkpoint("safe:safe:x.npz") == Path("x.npz")


def test_heads_of_checkpoints_without_a_game_are_typed_errors(tmp_path):
    game = registry.spec(DUEL["id"], **DUEL["params"])
    for changes in ({"game": ["a"]}, {"params": []}, {"game": None}, {"params": {"id": 1}}, {"params": {"levle": 1}}):
        path = write_checkpoint(tmp_path, **changes)
        with pytest.raises(MomagamesError):
            policy(str(path), game)
        with pytest.raises(InvalidFile):
            training.load_training(path)


@pytest.mark.parametrize(
    "changes",
    [{"budget": None}, {"steps": "many"}, {"version": None}, {"instance_seed": "x"}, {"instance_seed": -5}, {"seed": 2**64},
     {"canonical": 1}, {"options": []}, {"opponents": [1]}, {"seats": 1}, {"weights": 1}, {"other_games": [1]}],
)  # fmt: skip
def test_wrong_heads_of_checkpoints_are_typed_errors(tmp_path, changes):
    with pytest.raises(InvalidFile, match=r"x\.npz"):
        training.load_training(write_checkpoint(tmp_path, **changes))


def test_a_dataset_of_many_files_is_refused_before_they_are_listed(tmp_path):
    write_dataset(tmp_path, shard_episodes=1)
    text = (tmp_path / MANIFEST).read_text().replace('"episodes": 25', '"episodes": 1000000000')
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(InvalidFile, match="1,000,000,000 files of data: expected at most 100,000"):
        datasets.open_dataset(tmp_path)


@pytest.mark.long
def test_sizes_of_suites_and_recipes_are_checked_before_their_parts_are_made(tmp_path):
    store = Store(write_results(tmp_path, *[RANDOM] * 400, experiment=plans([RANDOM], seeds=range(1000))))
    with pytest.raises(InvalidFile, match="400,000 runs: expected at most 100,000"):
        store.read_suite()
    with pytest.raises(InvalidFile, match="2,001 methods: expected at most 2,000 in all parts"):
        datasets.open_dataset(write_dataset(tmp_path, *[RANDOM] * 2001))
    many = {"name": "greedy", "options": {"divisions": 60}}  # 39,711 policies
    with pytest.raises(InvalidFile, match="79,422 policies: expected at most 65,536"):
        datasets.open_dataset(write_dataset(tmp_path, *[many] * 2000, game=DUEL))
    for divisions, expected in ((100, "expected at most 65,536"), (10**1300, "expected at most 1,000,000")):
        with pytest.raises(InvalidFile, match=expected):
            datasets.open_dataset(write_dataset(tmp_path, {"name": "greedy", "options": {"divisions": divisions}}, game=DUEL))


def test_weights_of_any_size_are_typed_errors(tmp_path):
    with pytest.raises(InvalidParameter, match="expected 4 finite numbers"):
        policy("greedy", registry.spec(DUEL["id"], **DUEL["params"]), weights=[10**400, 0, 0, 0])
    path = write_front(tmp_path, fronts.load_front("mo-samegame-v0-7x7x3-0"))
    content = json.loads(path.read_text())
    content["method"]["seconds"] = 10**400
    path.write_text(json.dumps(content))
    with pytest.raises(InvalidFile, match="not JSON compliant"):
        fronts.read_front(path)


def test_names_of_code_have_two_names():
    for name in ("a-b:c", ".a:b", "cuda:0", ":", "a:", ":b", "a:b:c"):
        assert not plugins.is_python_path(name)
        with pytest.raises((UnknownId, InvalidFile)):
            find_policy(name, registry.spec("mo-samegame-v0"))
    assert plugins.is_python_path("a.b_1:C")


def test_models_are_equal_wherever_they_come_from(tmp_path):
    one = Opponent(name="random", options={})
    other = Opponent.model_validate_json(one.model_dump_json(), context=plugins.Origin.of_file(tmp_path / "x"))
    assert one == other
    assert not other.origin.allows_all
    assert other.model_copy(update={"name": "x"}).origin == other.origin
    assert canonical_json(one.model_dump()) == canonical_json(other.model_dump())
