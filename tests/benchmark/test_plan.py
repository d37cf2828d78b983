"""Suites: packaged ones load; errors name file, key, allowed values and the nearest match."""

import copy
import json
import subprocess
import sys
from dataclasses import replace

import pytest
import yaml

import momagames
from momagames.benchmark.choices import MethodChoice, Opponent
from momagames.benchmark.runs import HeadToHeadRun, PlansRun, PoliciesRun, parse_run
from momagames.benchmark.suite_files import list_suites, load_suite
from momagames.errors import InvalidFile, InvalidParameter, UnknownId
from momagames.files.json_data import canonical_json
from momagames.games import BENCHMARK
from tests.benchmark.tiny import GREEDY, POLICIES, RANDOM, plans, suite

TINY = {
    "name": "tiny",
    "description": "for tests",
    "experiments": [
        {
            "name": "board",
            "kind": "plans",
            "ideal_point": "reference",
            "games": [{"id": "mo-gemwalk-v0", "params": {"board_height": 4}}],
            "methods": [{"name": "random", "options": {}}, {"name": "greedy", "options": {"divisions": 2}}],
            "seeds": [0, 1],
            "seconds": 60,
            "budget": 500,
        },
        {
            "name": "seats",
            "kind": "policies",
            "ideal_point": "declared",
            "games": [{"id": "mo-breakthrough-v0", "params": {"board_width": 3, "board_height": 5}}],
            "methods": [{"name": "greedy", "options": {"divisions": 1}}],
            "opponents": [{"name": "random", "options": {}}],
            "seats": ["player_1"],
            "seeds": [0],
            "seconds": 60,
            "budget": 0,
            "select_episodes": 3,
            "report_episodes": 5,
        },
    ],
    "indicators": {"names": ["hypervolume", "cardinality"], "margin": 0.01, "confidence": 0.95, "resamples": 500},
}


def changed(path, value):
    """TINY with one place changed; a value of None removes it."""
    data = copy.deepcopy(TINY)
    *most, last = path
    place = data
    for step in most:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return data


@pytest.mark.long
def test_every_packaged_suite_loads():
    found = list_suites()
    assert {"quick", "ten_seconds"} <= set(found)
    for name, path in found.items():
        suite = load_suite(name)
        assert suite.name == name == path.stem
        assert suite == load_suite(path) == load_suite(str(path))
        assert suite.list_runs()


@pytest.mark.long
def test_the_suite_of_all_families_plays_every_family():
    played = {choice.make_game().title for experiment in load_suite("paper").experiments for choice in experiment.games}
    assert played == {momagames.spec(id).title for id in BENCHMARK}


def test_a_suite_is_expanded_into_runs():
    runs = load_suite(TINY).list_runs()
    assert len(runs) == 2 * 2 + 1
    assert len({run.digest for run in runs}) == 5
    assert runs[0].canonical == momagames.canonical("mo-gemwalk-v0", board_height=4)
    assert runs[-1].seats == ("player_1",)
    assert load_suite(changed(("experiments", 1, "seats"), [])).list_runs()[-1].seats == ("player_0", "player_1")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("experiments", 0, "games", 0, "params", "board_width"), 3),
        (("experiments", 0, "methods", 1, "options", "divisions"), 3),
        (("experiments", 0, "seeds", 0), 7),
        (("experiments", 0, "budget"), 501),
        (("experiments", 1, "opponents", 0), {"name": "greedy", "options": {"weights": []}}),
        (("experiments", 1, "opponents", 0), {"name": "greedy", "options": {"weights": [1, 0, 0, 0]}}),
        (("experiments", 1, "seats", 0), "player_0"),
        (("experiments", 1, "select_episodes"), 4),
        (("experiments", 1, "report_episodes"), 4),
        (("experiments", 1, "episode_set"), "main"),
    ],
)
def test_fields_that_change_the_digest(path, value):
    before = {run.digest for run in load_suite(TINY).list_runs()}
    assert {run.digest for run in load_suite(changed(path, value)).list_runs()} != before


def test_fields_that_do_not_change_the_digest(monkeypatch):
    before = [run.digest for run in load_suite(TINY).list_runs()]
    renamed = changed(("name",), "other")
    renamed["indicators"]["margin"] = 0.5
    renamed["experiments"][0]["roles"] = {"greedy": "scripted agent"}
    assert [run.digest for run in load_suite(renamed).list_runs()] == before
    monkeypatch.setattr(momagames, "__version__", "999")
    assert [run.digest for run in load_suite(TINY).list_runs()] == before


BOARD = plans([RANDOM], id="mo-samegame-v0", board_width=4, board_height=4, num_colors=2)
CPU_TIME = BOARD | {"cpu_seconds": 0.5}
TRAINED = POLICIES | {"methods": [{"name": "ntuple", "options": {}}], "budget": 100, "episode_set": "main"}
INSTANCES = {"games": BOARD["games"], "opponents": [], "generalization": {"plays": 4, "max_states": 9, "max_bytes": 9}}
GAMES = POLICIES | {"head_to_head": {"seats": [], "responses": [GREEDY], "response_budget": 1}}


@pytest.mark.parametrize(
    ("experiment", "digest", "kind"),
    [
        (BOARD, "4d6a76fd6edbb1a3", PlansRun),
        (CPU_TIME, "c5cfd676cbd39466", PlansRun),
        (POLICIES, "fa27520f01a92888", PoliciesRun),
        (TRAINED, "1a3ecbde8ada72fc", PoliciesRun),
        (POLICIES | INSTANCES, "c22567bdd43904af", PoliciesRun),
        (GAMES, "3888ec6b2a7e5126", HeadToHeadRun),
    ],
)
def test_digests_of_stored_runs_stay(experiment, digest, kind):
    """Each kind of runs has the digests that were stored before kinds had classes of their own."""
    run = suite(experiment).list_runs()[0]
    assert (run.digest[:16], type(run)) == (digest, kind)
    assert parse_run(json.loads(json.dumps(run.to_dict())), run.seconds) == run


NTUPLE = {"short": 2, "long": 2, "alpha": 1.0, "td_lambda": 0.9, "epsilon": 0.1, "opening": 2, "divisions": 1, "depth": 1}
CROSS = {"population": 4, "episodes": 1, "shared": True}
LEARNERS = POLICIES | {
    "methods": [{"name": "ntuple", "options": NTUPLE}, {"name": "nsga2", "options": CROSS}, RANDOM],
    "budget": 500,
}


def test_slow_methods_have_a_budget_of_their_own():
    common = {run.method.name: run for run in suite(LEARNERS).list_runs()}
    own = {run.method.name: run for run in suite(LEARNERS | {"budgets": {"nsga2": 70}}).list_runs()}
    assert {name: run.budget for name, run in own.items()} == {"ntuple": 500, "nsga2": 70, "random": None}
    assert {name for name, run in own.items() if run.digest != common[name].digest} == {"nsga2"}
    with pytest.raises(InvalidFile, match="budgets: invalid method='random': expected 'ntuple' or 'nsga2'"):
        suite(LEARNERS | {"budgets": {"random": 70}})
    with pytest.raises(InvalidFile, match="budgets: expected none with head_to_head"):
        suite(LEARNERS | {"budgets": {"nsga2": 70}, "head_to_head": GAMES["head_to_head"]})


def test_the_label_of_an_opponent_has_its_options():
    def label(name, **options):
        return Opponent(name=name, options=options).label

    assert label("random") == "random"
    assert label("greedy", weights=[]) == "greedy"
    assert label("greedy", weights=[0.0, 0.25, 1, 0]) == "greedy(weights=(0, 0.25, 1, 0))"
    assert label("energy_saver", patience=2, fair=False) == "energy_saver(patience=2, fair=False)"


def test_an_opponent_is_built_with_its_options():
    game = momagames.spec("mo-robotmail-v0")
    policy = Opponent(name="energy_saver", options={"patience": 2, "fair": False}).make_policy(game)
    assert dict(policy.initial_memory) == {"patience": 2, "fair": 0}


@pytest.mark.long
def test_digests_are_the_same_in_another_process(tmp_path):
    file = tmp_path / "tiny.yaml"
    file.write_text(yaml.safe_dump(TINY))
    code = f"from momagames.benchmark import load_suite; print([r.digest for r in load_suite({str(file)!r}).list_runs()])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([run.digest for run in load_suite(file).list_runs()])


def test_suites_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        load_suite(TINY).name = "x"


E0, E1 = ("experiments", 0), ("experiments", 1)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("descripton",), "x", r"suite: descripton: unknown key: .*did you mean 'description'"),
        (("description",), None, "suite: description: missing key"),
        (("name",), "Not A Name", "suite: invalid name='Not A Name': expected"),
        ((*E0, "budgt"), 3, r"suite: experiments\[0\]\.budgt: unknown key: .*did you mean 'budget'"),
        ((*E0, "budget"), None, r"experiments\[0\]\.budget: missing key"),
        ((*E0, "budget"), "many", r"experiments\[0\]\.budget='many': expected"),
        ((*E0, "budget"), 0, r"experiments\[0\]\.budget=0: expected .*greater than or equal to 1"),
        ((*E0, "kind"), None, r"experiments\[0\]\.kind: missing key: expected 'plans' or 'policies'$"),
        (
            (*E0, "methods", 0, "weights"),
            "even",
            r"weights='even': expected 'lattice', or a list of weight vectors",
        ),
        ((*E0, "kind"), "plan", r"experiments\[0\]\.kind='plan': expected .*did you mean 'plans'"),
        ((*E0, "ideal_point"), "declard", "ideal_point='declard': expected 'declared', 'reference' or 'front'; did"),
        ((*E0, "seeds"), [], r"experiments\[0\]\.seeds=\[\]: expected"),
        ((*E0, "seeds"), [1, 1], r"experiments\[0\]\.seeds=\[1, 1\]: expected distinct seeds"),
        ((*E0, "seeds"), [-1], r"experiments\[0\]\.seeds\[0\]=-1: expected"),
        ((*E0, "games", 0, "id"), "mo-gemwlk-v0", r"games\[0\]: .*did you mean 'mo-gemwalk-v0'"),
        ((*E0, "games", 0, "params"), {"board_with": 4}, r"games\[0\]: .*did you mean 'board_width'"),
        ((*E0, "games", 0, "params"), {"board_width": 99}, r"games\[0\]: .*expected an integer in 3\.\.8"),
        ((*E0, "games", 0, "parms"), {}, r"games\[0\]\.parms: unknown key: .*did you mean 'params'"),
        ((*E0, "games", 0), {"id": "mo-breakthrough-v0", "params": {}}, r"methods\[0\] on games\[0\]: .*2 agents"),
        ((*E0, "methods", 0, "name"), "randum", r"methods\[0\]: .*did you mean 'random'"),
        ((*E0, "methods", 0, "options"), {"x": 1}, "random: unknown option 'x': expected no options"),
        ((*E0, "methods", 1, "options"), {"division": 1}, "did you mean 'divisions'"),
        ((*E0, "methods", 1, "options"), {}, "greedy: missing option 'divisions'"),
        ((*E0, "methods", 1, "options"), {"divisions": "2"}, "greedy: divisions: .*integer"),
        ((*E0, "methods", 1, "options"), {"divisions": 0}, "invalid divisions=0: expected"),
        ((*E0, "roles"), {"gready": "scripted"}, r"experiments\[0\]\.roles='gready': expected .*did you mean 'greedy'"),
        ((*E0, "roles"), {"greedy": "random"}, r"experiments\[0\]\.roles='random': expected one method for each role"),
        ((*E0, "roles"), {"greedy": ""}, r"experiments\[0\]\.roles\.greedy='': expected"),
        ((*E1, "name"), "board", r"experiments\[1\]\.name='board': expected a name other than that of experiments\[0\]"),
        ((*E1, "opponents"), [], r"experiments\[1\]\.opponents=\[\]: expected at least one policy"),
        ((*E1, "opponents", 0, "name"), "gready", "did you mean 'greedy'"),
        ((*E1, "opponents", 0, "options"), {"weights": [1.0]}, "random: unknown option 'weights': expected no options"),
        ((*E1, "opponents", 0), {"name": "greedy", "options": {"weight": [1.0]}}, "did you mean 'weights'"),
        ((*E1, "opponents", 0), {"name": "greedy", "options": {}}, "greedy: missing option 'weights'"),
        ((*E1, "opponents", 0), {"name": "greedy", "options": {"weights": [1.0]}}, "4 finite numbers"),
        ((*E1, "opponents", 0), {"name": "greedy", "options": {"weights": "all"}}, "4 finite numbers"),
        ((*E1, "seats", 0), "player_2", r"seats\[0\]='player_2': expected .*did you mean 'player_"),
        (("indicators", "names", 0), "hypervolum", "did you mean 'hypervolume'"),
        (("indicators", "margin"), 2.0, r"indicators\.margin=2.0: expected"),
        (("indicators", "marge"), 2.0, r"indicators\.marge: unknown key: .*did you mean 'margin'"),
    ],
)
def test_errors_in_a_suite(path, value, said):
    with pytest.raises(InvalidFile, match=said) as error:
        load_suite(changed(path, value))
    assert str(error.value).count("\n") == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a list", "expected a mapping"),
        ("name: [", "line 1, column 8: "),
        ("name: a\nname: b", "line 2, column 1: duplicate key 'name'"),
        ("name: &x a\ndescription: *x", r"line 1, column 7: aliases \(\*name\) and anchors"),
        ("name: !!python/object/apply:os.system [ls]", "line 1, column 7: tags"),
        ("name: 2020-99-99", "missing key"),
        ("name: " + "9" * 5000, "line 1, column 7: a number of 5,000 characters"),
        ("name: " + "x" * 300_000, "larger than 262,144 bytes"),
    ],
)
def test_unsafe_yaml_is_rejected(tmp_path, text, said):
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(InvalidFile, match=said) as error:
        load_suite(file)
    assert str(file) in str(error.value)


def test_unknown_suite():
    with pytest.raises(UnknownId, match="did you mean 'quick'"):
        load_suite("quik")


def test_canonical_json_is_unique():
    assert canonical_json({"b": [1, 2.5], "a": None}) == canonical_json(json.loads('{"a": null, "b": [1, 2.5]}'))
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


# ---------------------------------------------------------------------------------------------------------- collections


def collection(folder, suites=("one.yaml", "two.yaml"), **changes):
    """A file that takes two suites together, which lie beside it."""
    (folder / "one.yaml").write_text(yaml.safe_dump({**TINY, "name": "one"}))
    (folder / "two.yaml").write_text(yaml.safe_dump({**TINY, "name": "two", "experiments": TINY["experiments"][:1]}))
    data = {"name": "both", "description": "two suites", "suites": list(suites), "seeds": [5, 6, 7]}
    path = folder / "both.yaml"
    path.write_text(yaml.safe_dump({**data, "indicators": TINY["indicators"], **changes}))
    return path


def test_a_collection_merges_suites(tmp_path):
    found = load_suite(collection(tmp_path))
    assert [experiment.name for experiment in found.experiments] == ["one: board", "one: seats", "two: board"]
    assert {experiment.seeds for experiment in found.experiments} == {(5, 6, 7)}
    (own,) = load_suite(tmp_path / "two.yaml").experiments
    assert found.experiments[2] == own.model_copy(update={"name": "two: board", "seeds": (5, 6, 7)})
    assert len(found.list_runs()) == 3 * (2 + 1)  # the boards of both are the same runs
    assert load_suite(json.loads(found.model_dump_json())) == found  # as a results directory stores it


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"suites": []}, r"both\.yaml: invalid suites=\[\]: expected at least 1 item"),
        ({"suites": ["quikc"]}, r"suites\[0\]: invalid suite='quikc'; did you mean 'quick'"),
        ({"suites": ["one.yaml", "one.yaml"]}, r"suites\[1\]: duplicate suite 'one.yaml'"),
        ({"suites": ["both.yaml"]}, r"suites\[0\]: 'both.yaml' is a collection: expected a suite"),
        ({"seeds": None}, r"invalid seeds=None: expected a valid array"),
        ({"seed": [1]}, "seed: unknown key: expected .*did you mean 'seeds'"),
    ],
)
def test_errors_in_a_collection(tmp_path, change, expected):
    with pytest.raises(InvalidFile, match=expected):
        load_suite(collection(tmp_path, **change))


class Patient:
    """A policy in Python with options."""

    def __init__(self, game, agent, patience=1, order=()):
        self.patience, self.order = patience, order

    def __call__(self, observation, mask, rng):
        return int(mask.argmax())


def test_a_python_policy_with_options_is_a_method():
    game = replace(momagames.spec("mo-breakthrough-v0"), policies={"patient": f"{__name__}:Patient"})
    method = MethodChoice(name="patient", options={"patience": 3, "order": [1, 2]}).make_method(game)
    assert method.options() == {"patience": 3, "order": [1, 2]}
    [policy] = method.policies(game)
    player = policy.make(game, 0).function
    assert (player.patience, player.order) == (3, [1, 2])
    with pytest.raises(
        InvalidParameter, match="unknown option 'patient': expected 'patience' or 'order'; did you mean 'patience'"
    ):
        MethodChoice(name="patient", options={"patient": 3}).make_method(game)
    with pytest.raises(InvalidParameter, match="missing option 'order': a suite has no defaults"):
        MethodChoice(name="patient", options={"patience": 3}).make_method(game)


def test_a_policy_with_variants_is_a_method_without_options():
    game = momagames.spec("mo-robotmail-4-v0")
    method = MethodChoice(name="energy_saver", options={}).make_method(game)
    assert len(method.policies(game)) == 6


def test_a_game_of_one_team_needs_no_opponents():
    team = [{"id": "mo-item-gathering-v0", "params": {"reward_mode": "team"}}]
    made = suite({**POLICIES, "games": team, "methods": [RANDOM], "opponents": [], "seats": ["agent_0"]})
    assert [run.opponents for run in made.list_runs()] == [(), ()]
