"""Submissions from results directories."""

import importlib
import sys

import numpy as np
import pytest

import momagames
from momagames.baselines.greedy import Greedy
from momagames.baselines.ntuple.method import Ntuple
from momagames.benchmark import load_suite, run_suite
from momagames.benchmark.choices import MethodChoice, Opponent
from momagames.benchmark.runner import Shard
from momagames.benchmark.store.store import Store
from momagames.benchmark.suite_parts import take_part
from momagames.benchmark.training import CHECKPOINT, Training, train
from momagames.errors import InvalidFile, InvalidParameter, UnknownId
from momagames.leaderboard import check_submission, from_results, make_tables
from momagames.leaderboard.code_files import copy_code
from momagames.leaderboard.errors import UnsafeSubmission
from momagames.leaderboard.from_results import make_submissions
from momagames.reports.data.panels import build_panels
from tests.benchmark.tiny import GREEDY, INDICATORS, RANDOM


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of a suite of one's own with the settings of ten_seconds: a method with every seed, and one without."""
    plans = load_suite("ten_seconds").experiments[0]
    exact = {"name": "exact", "options": {"max_states": 10_000, "max_bytes": 10**8}}
    own = [
        {**plans.model_dump(mode="json"), "name": "mine", "methods": [exact]},
        {**plans.model_dump(mode="json"), "name": "half", "methods": [RANDOM], "seeds": [0]},
    ]
    suite = load_suite({"name": "mine", "description": "", "experiments": own, "indicators": INDICATORS})
    folder = tmp_path_factory.mktemp("making") / "results"
    assert not run_suite(suite, folder).failed
    return folder


def test_a_submission_passes_the_check(results, tmp_path):
    (made,) = make_submissions(results, "ten_seconds", "exact", tmp_path, code="https://example.org/x", hardware="2 cores")
    assert made.name == "mo-samegame-v0-board-width-4-board-height-4-num-colors-2-exact"
    entry = check_submission(made)
    assert entry.metadata.method == "exact"
    assert entry.metadata.description == "max_states=10000, max_bytes=100000000"
    assert (entry.metadata.code, entry.metadata.paper, entry.metadata.hardware) == ("https://example.org/x", None, "2 cores")
    assert 0 < entry.metadata.budget < 2000  # the steps of a search that ended by itself
    assert entry.setting.experiment.name == "tiny board"
    with pytest.raises(InvalidFile, match="exists: choose another directory"):
        make_submissions(results, "ten_seconds", "exact", tmp_path)


def test_long_names_of_games_make_short_names_of_folders(results, tmp_path, monkeypatch):
    """Some parameters are whole levels; the name of a file has at most 255 bytes on most systems."""
    monkeypatch.setattr(from_results, "MAX_NAME", 40)
    (made,) = make_submissions(results, "ten_seconds", "exact", tmp_path)
    assert len(made.name) == 40
    assert made.name.startswith("mo-samegame-v0-board-width-4-b")
    assert check_submission(made)


def test_what_cannot_be_submitted(results, tmp_path):
    expected = r"method='random': expected one that finished every .*\nrandom in mo-samegame.*: seed 1 of 'tiny board' missing$"
    with pytest.raises(InvalidParameter, match=expected):
        make_submissions(results, "ten_seconds", "random", tmp_path)
    with pytest.raises(InvalidParameter, match=r"method='exact': .*\nexact in mo-samegame"):
        make_submissions(results, "samegame", "exact", tmp_path)
    with pytest.raises(UnknownId, match="did you mean 'ten_seconds'"):
        make_submissions(results, "ten_second", "exact", tmp_path)
    assert not list(tmp_path.iterdir())


def test_runs_of_code_before_a_change_are_not_submitted(tmp_path, monkeypatch):
    """The submission has the runs that the report has."""
    monkeypatch.syspath_prepend(tmp_path)
    path, name = tmp_path / "changing_policy.py", "changing_policy:pick"
    chosen = Shard(1, 1, experiments=("tiny opponents",), methods=("random",))
    for index in (0, -1):
        path.write_text(f"def pick(observation, mask, generator):\n    return int(mask.nonzero()[0][{index}])\n")
        importlib.invalidate_caches()
        sys.modules.pop("changing_policy", None)
        suite = take_part(load_suite("ten_seconds"), chosen, [MethodChoice(name=name, options={})])
        assert not run_suite(suite, tmp_path / "results").failed
    sys.modules.pop("changing_policy", None)
    (made,) = make_submissions(tmp_path / "results", "ten_seconds", name, tmp_path / "entries")
    assert (made / "changing_policy.py").read_bytes() == path.read_bytes()


def test_code_that_imports_other_own_files_is_not_submitted(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "beside_it.py").write_text("def pick(mask):\n    return int(mask.argmax())\n")
    (tmp_path / "uses_it.py").write_text("import json\n\nimport numpy\n\nimport momagames\nfrom beside_it import pick\n")
    with pytest.raises(InvalidParameter, match=r"uses_it.py: imports 'beside_it.py' beside it"):
        copy_code("uses_it:pick", {}, tmp_path / "entry")


@pytest.fixture(scope="module")
def policies(tmp_path_factory):
    """Results of policies in the setting of ten_seconds: two that are not trained, and one that a run trains."""
    pytest.importorskip("pymoo")
    setting = load_suite("ten_seconds").experiments[1].model_dump(mode="json")
    trained = {"name": "nsga2", "options": {"population": 4, "episodes": 2, "shared": True}}
    own = [{**setting, "name": "mine", "methods": [RANDOM, GREEDY, trained], "budget": 2000}]
    suite = load_suite({"name": "mine", "description": "", "experiments": own, "indicators": INDICATORS})
    folder = tmp_path_factory.mktemp("making") / "policies"
    assert not run_suite(suite, folder).failed
    return suite, folder


def test_policies_pass_the_check_with_the_rows_of_the_suite(policies, tmp_path):
    suite, results = policies
    made = [folder for name in ("random", "greedy") for folder in make_submissions(results, "ten_seconds", name, tmp_path)]
    entries = [check_submission(folder) for folder in made]
    (panel,) = (one for one in build_panels(Store(results), suite) if one.primary)
    for entry in entries:
        for seed, points in entry.points.items():
            assert sorted(points.values.tolist()) == sorted(panel.points[entry.metadata.method][seed].values.tolist())
    assert [row.entry.metadata.method for row in make_tables(entries)[0].rows][-1] == "random"
    with pytest.raises(InvalidParameter, match="method='nsga2'"):  # another budget for training than that of the suite
        make_submissions(results, "ten_seconds", "nsga2", tmp_path)


OWN = """
import numpy as np


class Chooser:
    def __init__(self, game, agent, weights, skip=0, file="numbers.txt"):
        assert weights.dtype == np.float64
        self.place = float(weights[0] / weights.sum())

    def __call__(self, observation, mask, generator):
        legal = mask.nonzero()[0]
        return int(legal[int(self.place * (len(legal) - 1))])


class Learner:
    name = "learner"

    def __init__(self, game, agent, arrays):
        self.skip = int(arrays["skip"][0])

    @staticmethod
    def train(setup):
        return {"skip": np.array([setup.seed % 5])}, 100

    def __call__(self, observation, mask, generator):
        return int(generator.choice(mask.nonzero()[0][: self.skip + 2]))
"""


@pytest.mark.parametrize(
    ("chosen", "budget", "label"),
    [
        ({"name": "own_of_this_test:Chooser", "weights": "lattice"}, 0, "own_of_this_test:Chooser"),
        ({"name": "own_of_this_test:Learner"}, 2000, "learner"),
    ],
)
def test_own_code_becomes_part_of_the_submission(chosen, budget, label, tmp_path, monkeypatch):
    """A setting has budgets of single methods, too."""
    (tmp_path / "own_of_this_test.py").write_text(OWN)
    monkeypatch.delitem(sys.modules, "own_of_this_test", raising=False)
    (tmp_path / "numbers.txt").write_text("1")
    monkeypatch.syspath_prepend(str(tmp_path))
    official = load_suite("ten_seconds")
    setting = official.experiments[1]
    own = [{**setting.model_dump(mode="json"), "name": "mine", "methods": [{"options": {}, **chosen}], "budget": budget}]
    suite = load_suite({"name": "mine", "description": "", "experiments": own, "indicators": INDICATORS})
    assert not run_suite(suite, tmp_path / "results").failed
    changed = setting.model_copy(update={"budgets": {"learner": 2000}})
    with_budgets = official.model_copy(update={"experiments": (official.experiments[0], changed)})
    monkeypatch.setattr(from_results, "load_suite", lambda path: with_budgets)
    (made,) = make_submissions(tmp_path / "results", "ten_seconds", label, tmp_path / "out")
    files = {path.name for path in made.iterdir()}
    assert {"own_of_this_test.py", "requirements.txt", "submission.yaml", "SHA256SUMS"} <= files
    assert "numbers.txt" in files or budget
    assert (made / "requirements.txt").read_text() == f"numpy=={np.__version__}\n"
    with pytest.raises(UnsafeSubmission, match="--run-code"):
        check_submission(made)
    entry = check_submission(made, run_code=True)
    (panel,) = (one for one in build_panels(Store(tmp_path / "results"), suite) if one.primary)
    for seed, points in entry.points.items():
        assert sorted(points.values.tolist()) == sorted(panel.points[label][seed].values.tolist())
    again = make_submissions(tmp_path / "results", "ten_seconds", suite.experiments[0].methods[0].name, tmp_path / "by_name")
    assert len(again) == 1
    (tmp_path / "own_of_this_test.py").write_text(f"{OWN}# edited")
    with pytest.raises(InvalidParameter, match=r"own_of_this_test.py: has changed since the runs"):
        make_submissions(tmp_path / "results", "ten_seconds", label, tmp_path / "edited")


def test_a_method_of_another_revision_is_submitted(tmp_path, monkeypatch):
    monkeypatch.setattr(Greedy, "revision", 2)
    setting = load_suite("ten_seconds").experiments[1].model_dump(mode="json")
    own = [{**setting, "name": "mine", "methods": [GREEDY]}]
    suite = load_suite({"name": "mine", "description": "", "experiments": own, "indicators": INDICATORS})
    assert not run_suite(suite, tmp_path / "results").failed
    assert len(make_submissions(tmp_path / "results", "ten_seconds", "greedy", tmp_path / "out")) == 1


@pytest.mark.long
def test_a_checkpoint_of_your_own_becomes_part_of_the_submission(tmp_path):
    setting = load_suite("ten_seconds").experiments[1].model_dump(mode="json")
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    opponents = (Opponent.with_default_options("random", game),)
    train(Training(game, Ntuple(), 0, 3_000, ("player_0", "player_1"), opponents), tmp_path / "mine", 1, 4)
    options = {"checkpoint": str(tmp_path / "mine" / CHECKPOINT), "divisions": 1}
    own = [{**setting, "name": "mine", "methods": [RANDOM, {"name": "trained", "options": options}]}]
    suite = load_suite({"name": "mine", "description": "", "experiments": own, "indicators": INDICATORS})
    assert not run_suite(suite, tmp_path / "results").failed
    (made,) = make_submissions(tmp_path / "results", "ten_seconds", "trained", tmp_path, budget=3_000)
    (tmp_path / "mine" / CHECKPOINT).unlink()  # the submission has a copy
    (panel,) = (one for one in build_panels(Store(tmp_path / "results"), suite) if one.primary)
    entry = check_submission(made)
    for seed, points in entry.points.items():
        assert sorted(points.values.tolist()) == sorted(panel.points["trained"][seed].values.tolist())
