"""Methods of one's own beside those of the package: from a file in the current folder, with nothing installed."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import momagames
from momagames.baselines import batch_policy, method, policy
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark import list_suites
from momagames.benchmark.choices import MethodChoice, label_methods
from momagames.benchmark.replays import replay
from momagames.benchmark.runner import Shard, run_suite
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_files import load_suite
from momagames.benchmark.suite_parts import format_suite, parse_method, take_part
from momagames.errors import InvalidFile, InvalidParameter, UnknownId, UnknownParameter
from momagames.reports.report import report
from tests.benchmark.tiny import GREEDY, POLICIES, RANDOM, plans, suite
from tests.cli.test_app import momagames_here

PAGE = (Path(__file__).parents[2] / "docs" / "own-method.md").read_text()
MODULE = "mine_of_these_tests"
CODE = """
import sys

import numpy as np

SEEN = []


def first(observation, mask, generator):
    SEEN.append(observation)
    return int(mask.argmax())


class Chooser:
    name = "my chooser"

    def __init__(self, game, agent, weights, noise=0.5, tags=("a",)):
        assert weights.dtype == np.float64
        self.weights, self.tags = weights, tags

    def __call__(self, observation, mask, generator):
        legal = mask.nonzero()[0]
        return int(legal[int(self.weights[0] * (len(legal) - 1))])


class Learner:
    calls = []

    def __init__(self, game, agent, arrays, weights=None, rate=1.0):
        self.skip = int(arrays["skip"][0])

    @staticmethod
    def train(setup, rate):
        Learner.calls.append((setup.budget, rate))
        return {"skip": np.array([setup.seed % 3])}, setup.budget - 1

    def __call__(self, observation, mask, generator):
        legal = mask.nonzero()[0]
        return int(legal[self.skip % len(legal)])


class Specialist(Learner):
    name = "specialist"

    @staticmethod
    def train(setup, weights):
        Learner.calls.append((setup.budget, weights.tolist()))
        return {"skip": (10 * weights).astype(np.int64)}


class Broken:
    def __init__(self, game, agent):
        pass

    def __call__(self, observation, mask, generator):
        return 1 // 0  # line 56


class Leaver(Broken):
    def __call__(self, observation, mask, generator):
        sys.exit("enough")


class Shaped:
    name = "shaped"

    def __init__(self, game, agent, bonus=len, rate=1.0):
        self.bonus = bonus

    def __call__(self, observation, mask, generator):
        return int(mask.nonzero()[0][self.bonus(())])


class Reserved:
    def __init__(self, game, agent, plan=1):
        pass

    def __call__(self, observation, mask, generator):
        return 0


number = 3
"""
PARAMS = {"board_width": 3, "board_height": 5, "objectives": ["win", "speed"]}
BOARD = {"games": [{"id": "mo-breakthrough-v0", "params": PARAMS}], "opponents": [RANDOM]}


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / f"{MODULE}.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    return tmp_path


def mine(name, **more):
    return {"name": f"{MODULE}:{name}", "options": {}, **more}


def own_suite(*methods, **more):
    return suite({**POLICIES, **BOARD, "seeds": [0], "methods": [*methods], **more})


def labels(loaded):
    return list(label_methods(loaded.experiments[0].methods).values())


# ------------------------------------------------------------------------------------------------------------ policies


def test_a_function_sees_what_its_agent_observes(place):
    results = run_suite(own_suite(mine("first")), place / "out")
    assert not results.failed
    seen = sys.modules[MODULE].SEEN
    space = momagames.make("mo-breakthrough-v0", api="gymnasium", **PARAMS).observation_space
    assert len(seen) > 20
    assert all(observation in space for observation in seen)


def test_a_class_plays_for_weights(place):
    listed = mine("Chooser", weights=[[3, 1], [0, 1]], options={"noise": 0.1})
    loaded = own_suite(RANDOM, mine("Chooser", weights="lattice"), listed)
    assert labels(loaded) == ["random", "my chooser", "my chooser(noise=0.1)"]
    assert loaded.experiments[0].methods[1].own_options == {"noise": 0.5, "tags": ("a",)}
    assert not run_suite(loaded, place / "out").failed
    store = Store(place / "out")
    weights = [store.read_metadata(run)["facts"]["weights"] for run in store.finished_runs() if "Chooser" in run.method.name]
    lattice, listed = sorted(weights, key=len, reverse=True)
    assert (len(lattice), list(listed.values())) == (21, [[0.75, 0.25], [0.0, 1.0]])
    panel = report(place / "out", replays=False, allow_code=False).panels[0]  # reading results loads no code
    assert {"my chooser", "my chooser(noise=0.1)"} <= set(panel.points)
    assert "controllability" in panel.scores["my chooser"]


@pytest.mark.parametrize(
    ("chosen", "calls", "skips", "steps"),
    [
        (mine("Learner", options={"rate": 2.0}), [(600, 2.0)], 1, 599),
        (mine("Learner", weights=[[1, 0], [0, 1]]), [(600, 1.0)], 2, 599),
        (mine("Specialist", weights=[[1, 0], [0, 1]]), [(300, [1.0, 0.0]), (300, [0.0, 1.0])], 2, 600),
    ],
)
def test_a_class_trains_within_a_run(place, chosen, calls, skips, steps):
    loaded = own_suite(chosen, budget=600, budgets={})
    assert [run.budget for run in loaded.list_runs()] == [600]
    assert not run_suite(loaded, place / "out").failed
    assert sys.modules[MODULE].Learner.calls == calls
    store = Store(place / "out")
    (run,) = store.finished_runs()
    facts = store.read_metadata(run)["facts"]
    assert (facts["policies"], facts["training_steps"]) == (skips, steps)
    assert replay(store.run_directory(run), 0, allow_code=True)  # with the stored arrays, or the returns would differ


def test_methods_of_one_name_have_rows_of_their_own(place):
    code = "class Random(Chooser):\n    name = 'random'\n\n\nclass Twin(Chooser):\n    pass\n"
    (place / f"{MODULE}.py").write_text(CODE + code)
    row = {"weights": [[1, 0]]}
    loaded = own_suite(RANDOM, mine("Random", **row), mine("Chooser", **row), mine("Twin", **row))
    assert labels(loaded) == [
        "random", f"random ({MODULE}:Random)", f"my chooser ({MODULE}:Chooser)", f"my chooser ({MODULE}:Twin)",
    ]  # fmt: skip
    assert not run_suite(loaded, place / "out").failed
    assert set(report(place / "out", replays=False).panels[0].points) == set(labels(loaded))


def test_weights_are_arrays_everywhere(place):
    game = momagames.spec("mo-breakthrough-v0", **PARAMS)
    for weights in ([1, 0], {"win": 1}, np.array([1, 0])):
        made = policy(f"{MODULE}:Chooser", game, "player_0", weights=weights)
        assert made.function.weights.tolist() == [1, 0]
    with pytest.raises(InvalidParameter, match="expected 2 finite numbers, for win, speed"):
        policy(f"{MODULE}:Chooser", game, weights=[1, 0, 0])


def test_what_objects_share_cannot_be_changed(place):
    game = momagames.spec("mo-breakthrough-v0", **PARAMS)
    own = method(f"{MODULE}:Learner")(rate=1.0)
    (trained,) = own.train(TrainingSetup([game], 10)).policies
    for one in (trained, own.restore(game, "x", trained.arrays)):
        with pytest.raises(ValueError, match="read-only"):
            one.arrays["skip"][0] = 7
    listed = [1]
    made = [batch_policy(f"{MODULE}:Chooser", game, weights=[1, 0], tags=listed).make(game, 0).function for _ in range(2)]
    assert made[0].tags == [1]
    assert made[0].tags is not made[1].tags


WRONG = """
class NoCall:
    def __init__(self, game, agent): pass

class NoAgent(First):
    def __init__(self, game): pass

class NoArrays(First):
    def __init__(self, game, agent): pass
    @staticmethod
    def train(setup): return {}

class NotStatic(First):
    def __init__(self, game, agent, arrays): pass
    def train(self, setup): return {}

class Extra(First):
    def __init__(self, game, agent, arrays): pass
    @staticmethod
    def train(setup, rate): return {}

class NoTrain(First):
    def __init__(self, game, agent, arrays): pass

def two(observation, mask): return 0
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NoCall", r"has no method __call__\(self, observation, mask, generator\)"),
        ("NoAgent", r"expected a class with __init__\(self, game, agent, \.\.\.\)"),
        ("NoArrays", "has train, but no parameter arrays"),
        ("NotStatic", "has a parameter arrays, but no static method train"),
        ("Extra", "'rate' is none"),
        ("NoTrain", "but no static method train"),
        ("two", r"too many positional arguments: expected a function \(observation, mask, generator\)"),
    ],
)
def test_signatures_are_checked_before_anything_runs(place, name, message):
    first = "class First:\n    def __call__(self, observation, mask, generator): return 0\n"
    (place / "wrong_of_these_tests.py").write_text(first + WRONG)
    sys.modules.pop("wrong_of_these_tests", None)
    with pytest.raises(InvalidParameter, match=message):
        method(f"wrong_of_these_tests:{name}")


def test_a_module_of_pytorch_is_a_policy(place):
    """It has methods `__call__` and `train` of its own."""
    pytest.importorskip("torch")
    code = (
        "import torch\n\n\nclass Module(torch.nn.Module):\n    def __init__(self, game, agent):\n        super().__init__()\n\n"
    )
    code += "    def forward(self, observation, mask, generator):\n        return int(mask.argmax())\n"
    (place / "modules_of_these_tests.py").write_text(code)
    assert not run_suite(own_suite({"name": "modules_of_these_tests:Module", "options": {}}), place / "out").failed


@pytest.mark.parametrize("steps", [-1, 10**9])
def test_steps_of_a_training_are_checked(place, steps, monkeypatch):
    own = method(f"{MODULE}:Learner")
    monkeypatch.setattr(sys.modules[MODULE].Learner, "train", staticmethod(lambda setup: ({"skip": [1]}, steps)))
    with pytest.raises(InvalidParameter, match=r"took .* environment steps: expected 0\.\.10, the budget"):
        own(rate=1.0).train(TrainingSetup([momagames.spec("mo-breakthrough-v0", **PARAMS)], 10))


@pytest.mark.parametrize("returned", [None, [1, 2], {"a": [object()]}, {"weights": [1.0]}, ({"a": [1]}, "many"), {1: [1.0]}])
def test_what_a_training_returns_is_checked(place, returned, monkeypatch):
    own = method(f"{MODULE}:Learner")
    monkeypatch.setattr(sys.modules[MODULE].Learner, "train", staticmethod(lambda setup: returned))
    with pytest.raises(InvalidParameter, match="Learner: train returned"):
        own(rate=1.0).train(TrainingSetup([momagames.spec("mo-breakthrough-v0", **PARAMS)], 10))


def test_options_of_a_class_are_checked(place):
    for chosen, error, message in [
        (mine("Chooser"), InvalidFile, "plays for weights: expected weights: lattice, or a list of weight vectors"),
        (mine("Chooser", weights="even"), InvalidFile, r"weights='even': expected 'lattice', or a list"),
        (mine("Chooser", weights=[[1, 0, 0]]), InvalidFile, r"invalid weights=.*: expected 2 finite numbers"),
        (mine("Chooser", weights="lattice", options={"nois": 1}), InvalidFile, "unknown option 'nois': .*did you mean 'noise'"),
        (mine("first", weights="lattice"), InvalidFile, "unknown option 'weights'"),
        (mine("Learner"), InvalidFile, "budget=0: expected 1 or more, because .*:Learner trains"),
        (mine("Reserved"), UnknownParameter, "invalid parameter 'plan': methods have an attribute of this name"),
    ]:
        with pytest.raises((error, InvalidFile), match=message):
            own_suite(chosen)


def test_a_policy_that_reads_the_record_is_refused(place):
    source = "from momagames.engine.python_policies import PythonPolicy\nSEER = PythonPolicy('x', lambda game, agent: None)\n"
    (place / "seers_of_these_tests.py").write_text(source)
    with pytest.raises(InvalidParameter, match="a PythonPolicy, which reads the record of the game"):
        method("seers_of_these_tests:SEER")


def test_an_error_names_the_line_and_the_file_of_the_traceback(place):
    file = place / "mine.yaml"
    file.write_text(format_suite(own_suite(RANDOM, mine("Broken"))))
    done = momagames_here("bench", "run", "mine.yaml", "--out", "out", "--executor", "here", cwd=place, COLUMNS="200")
    assert done.returncode == 1
    line = CODE.splitlines().index("        return 1 // 0  # line 56") + 1
    assert f"ZeroDivisionError: integer division or modulo by zero ({place / MODULE}.py, line {line})" in done.stdout
    (trace,) = re.findall(r"whole traceback: (\S+)", done.stdout)
    assert "return 1 // 0" in (place / trace).read_text()


def test_exit_in_a_policy_fails_its_run_alone(place):
    done = run_suite(own_suite(mine("Leaver"), RANDOM), place / "out")
    assert [outcome.error.partition(" (")[0] for outcome in done.failed] == ["SystemExit: enough"]
    assert [run.method.name for run in done.finished] == ["random"]


def test_defaults_that_no_suite_can_state_are_no_options(place):
    loaded = own_suite(mine("Shaped", options={"rate": 2.0}))
    assert loaded.experiments[0].methods[0].own_options == {"rate": 2.0}
    assert not run_suite(loaded, place / "out").failed
    with pytest.raises(InvalidFile, match=r"unknown option 'bonus': expected 'rate'"):
        own_suite(mine("Shaped", options={"bonus": 1}))


def test_weights_by_the_names_of_objectives(place):
    added = parse_method(f"{MODULE}:Chooser(weights=[{{win: 3, speed: 1}}, {{speed: 2}}])")
    loaded = own_suite(added.model_dump(mode="json"))
    assert not run_suite(loaded, place / "out").failed
    (run,) = Store(place / "out").finished_runs()
    assert list(Store(place / "out").read_metadata(run)["facts"]["weights"].values()) == [[0.75, 0.25], [0.0, 1.0]]
    (again,) = load_suite(write(place, format_suite(loaded))).experiments[0].methods
    assert again.weights == added.weights
    with pytest.raises(InvalidFile, match=r"weights name the objective 'wine'.*did you mean 'win'"):
        own_suite(mine("Chooser", weights=[{"wine": 1}]))


def write(place, text):
    (place / "written.yaml").write_text(text)
    return place / "written.yaml"


def test_an_edited_policy_is_run_again(place):
    loaded = own_suite(mine("first"))
    assert len(run_suite(loaded, place / "out").finished) == 1
    assert len(run_suite(own_suite(mine("first")), place / "out").skipped) == 1
    text = format_suite(loaded)
    assert "sha256" not in text
    (place / f"{MODULE}.py").write_text(CODE.replace("argmax", "argmin"))
    assert len(run_suite(load_suite(write(place, text)), place / "out").finished) == 1
    with pytest.raises(InvalidFile, match=f"{MODULE}.py: has changed since the suite was read"):
        loaded.experiments[0].methods[0].pin_file(momagames.spec("mo-breakthrough-v0", **PARAMS))


def test_a_policy_is_run_again_after_an_edit_of_what_it_imports(place):
    """Files beside it, also indirectly, and those of a package."""
    (place / f"{MODULE}.py").write_text(f"import numpy\nfrom {MODULE}_beside import helper\n{CODE}")
    (place / f"{MODULE}_beside.py").write_text(f"import {MODULE}_package.part\n\nhelper = 1\n")
    (place / f"{MODULE}_package").mkdir()
    (place / f"{MODULE}_package" / "__init__.py").write_text("")
    (place / f"{MODULE}_package" / "part.py").write_text("number = 1\n")
    assert len(run_suite(own_suite(mine("first")), place / "out").finished) == 1
    assert len(run_suite(own_suite(mine("first")), place / "out").skipped) == 1
    (place / f"{MODULE}_package" / "part.py").write_text("number = 2\n")
    assert len(run_suite(own_suite(mine("first")), place / "out").finished) == 1


# -------------------------------------------------------------------------------------------------------------- labels


def test_labels_say_what_differs_from_the_defaults():
    both = {"name": "greedy", "options": {"divisions": 2, "estimate": "both"}}
    alone = suite(plans([both], id="mo-samegame-v0", board_width=4, board_height=4))
    assert labels(alone) == ["greedy(estimate=both)"]
    assert labels(suite(plans([GREEDY]))) == ["greedy"]
    named = suite(plans([{**GREEDY, "label": "one ply"}]))
    assert labels(named) == ["one ply"]
    assert [run.digest for run in named.list_runs()] == [run.digest for run in suite(plans([GREEDY])).list_runs()]


# --------------------------------------------------------------------------------------------------------------- parts


@pytest.mark.parametrize("name", list_suites())
def test_a_written_suite_has_the_same_runs(name):
    loaded = load_suite(name)
    again = load_suite(yaml.safe_load(format_suite(loaded)))
    assert [run.digest for run in again.list_runs()] == [run.digest for run in loaded.list_runs()]


def test_a_part_keeps_runs_labels_and_references(place):
    whole = load_suite("policies")
    chosen = Shard(1, 1, (0,), ("four colors",), ("MO-SameGame 7x7, 4 colors",), ("random", "greedy(estimate=both)"))
    part = take_part(whole, chosen, [parse_method(f"{MODULE}:Chooser(weights=lattice, noise=0.25)")])
    (experiment,) = part.experiments
    assert (part.name, experiment.reference_set, experiment.report_episodes) == (whole.name, "policies-5", 1000)
    assert (len(experiment.games), experiment.seeds, experiment.budgets) == (1, (0,), {})
    assert labels(part) == ["random", "greedy(estimate=both)", "my chooser(noise=0.25)"]
    digests = {run.digest for run in chosen.select(whole)}
    assert digests == {run.digest for run in part.list_runs() if run.method.name in ("random", "greedy")}
    with pytest.raises(InvalidParameter, match=r"invalid game='MO-SamGame'.*did you mean 'MO-SameGame'"):
        take_part(whole, Shard(1, 1, games=("MO-SamGame",)))


def test_a_further_method_has_the_options_of_the_suite_that_it_does_not_state():
    chosen = Shard(1, 1, (0,), ("pieces against speed",), methods=("moppo",))
    texts = ["moppo(expert=null)", "pcn(hidden_dim=64)", "grpo(hidden=16)", "random"]
    (part,) = take_part(load_suite("policies"), chosen, [parse_method(text) for text in texts]).experiments
    usual, changed, pcn, grpo, _ = (one.options for one in part.methods)
    assert {name for name in usual if usual[name] != changed[name]} == {"expert"}
    assert [*label_methods(part.methods).values()][:2] == ["moppo(expert=greedy)", "moppo(expert=None)"]
    assert (pcn["hidden_dim"], part.budgets) == (64, {"pcn": 100_000})
    assert grpo == {**method("grpo").default_options(part.games[0].make_game()), "hidden": 16}  # the suite has none there
    with pytest.raises(InvalidFile, match="cma: missing option 'population'"):  # nor a default
        take_part(load_suite("tables"), Shard(1, 1, methods=("random",)), [parse_method("cma")])
    with pytest.raises(InvalidFile, match="moppo: unknown option 'experts'"):
        take_part(load_suite("policies"), chosen, [parse_method("moppo(experts=null)")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mine:Player", MethodChoice(name="mine:Player", options={})),
        (
            "mine:Player(weights=[[1, 0], [0.5, 0.5]], layers=[64, 64], name=a, rate=1e-3)",
            MethodChoice(
                name="mine:Player", options={"layers": [64, 64], "name": "a", "rate": 1e-3}, weights=((1.0, 0.0), (0.5, 0.5))
            ),
        ),
        ("beam(width=8, estimate=present)", MethodChoice(name="beam", options={"width": 8, "estimate": "present"})),
    ],
)
def test_methods_as_text(text, expected):
    assert parse_method(text) == expected


@pytest.mark.parametrize("text", ["mine:Player(", "mine:Player(3)", "mine:Player(a=1", "mine:Player(=1)"])
def test_texts_that_are_no_methods(text):
    with pytest.raises(InvalidParameter, match=r"expected NAME or NAME\(OPTION=VALUE, \.\.\.\)"):
        parse_method(text)


def test_a_suite_of_ones_own_is_written_once(place):
    words = ("bench", "init", "own.yaml", "--from", "quick", "--method", "random", "--add", f"{MODULE}:first")
    assert momagames_here(*words, cwd=place).returncode == 0
    loaded = load_suite("own.yaml")
    joined = {part.kind: [chosen.name for chosen in part.methods] for part in loaded.experiments}
    assert joined == {"plans": ["random"], "policies": ["random", f"{MODULE}:first"]}
    printed = momagames_here("bench", "show", "own.yaml", "--yaml", cwd=place)
    assert yaml.safe_load(printed.stdout) == yaml.safe_load((place / "own.yaml").read_text())
    again = momagames_here(*words, cwd=place)
    assert again.returncode == 2
    assert "own.yaml: is there already: expected a new file" in again.stderr


# ------------------------------------------------------------------------------------------------------------ the page


@pytest.mark.long
def test_the_commands_of_the_page(tmp_path):
    """As they are, but for a small budget of the training."""
    pytest.importorskip("torch")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    code = {file: "".join(text for kind, text in blocks if kind == "python" and text.startswith(f"# {file}")) for file in FILES}
    for file, text in code.items():
        (tmp_path / file).write_text(text if file == "mine.py" else "import numpy as np\n" + text)
    subprocess.run([sys.executable, "make_network.py"], cwd=tmp_path, check=True)
    commands = "".join(text for kind, text in blocks if kind == "console").replace("\\\n", " ")
    for command in re.findall(r"^\$ momagames (.*)$", commands, re.MULTILINE):
        run = f'"{sys.executable}" -m momagames {command}'
        done = subprocess.run(run, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, done.stdout + done.stderr
        if (tmp_path / "own.yaml").exists():
            text = (tmp_path / "own.yaml").read_text()
            (tmp_path / "own.yaml").write_text(text.replace("budget: 2000000", "budget: 3000"))
    first = next(run for run in Store(tmp_path / "plans").finished_runs() if run.method.name == "mine:First")
    assert (
        momagames_here("replay", str(tmp_path / "plans" / "runs" / first.folder), "--point", "0", cwd=tmp_path).returncode == 0
    )


FILES = ("mine.py", "make_network.py")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nowhere:First", "No module named 'nowhere'"),
        ("json:First", "no attribute 'First'"),
        ("mine_of_these_tests:number", r"expected a function \(observation, mask, generator\) -> action"),
        ("beem", "did you mean 'beam'. Expected .*, or your own as 'module:name'"),
    ],
)
def test_names_that_are_not_methods(name, expected, place):
    with pytest.raises(UnknownId, match=expected):
        method(name)
