"""Submissions that are not what they say: each is one typed error with file and place, and none of its code runs."""

import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import momagames
from momagames.baselines.checkpoint import load_checkpoint, save_checkpoint
from momagames.files.processes import is_alive
from momagames.leaderboard import check_submission, directory, metadata, plans, policy_process, seal_submission
from momagames.leaderboard.errors import (
    ForgedSubmission,
    InvalidSubmission,
    MislabeledSubmission,
    OversizedSubmission,
    TruncatedSubmission,
    UnsafeSubmission,
)
from tests.leaderboard.submissions import (
    BOARD,
    CODE,
    PLANS_SETTING,
    POLICIES_SETTING,
    RUNS,
    write_code,
    write_plans,
    write_policies,
)

ENTRIES = Path(__file__).resolve().parents[2] / "benchmarks" / "leaderboard" / "entries"
CHAMPIONS = Path(momagames.__file__).parent / "games"
SAMEGAME, BREAKTHROUGH = CHAMPIONS / "samegame" / "champion.npz", CHAMPIONS / "breakthrough" / "champion.npz"


def check(folder, kind, *expected, run_code=False):
    """Check a submission and compare the error: exactly this type, and a message with these parts."""
    with pytest.raises(InvalidSubmission) as error:
        check_submission(folder, run_code)
    assert type(error.value) is kind, error.value
    for part in (folder.name, *expected):
        assert part in str(error.value)


def replace_run(*plans):
    return {**RUNS, "1": list(plans)}


def change_setting(setting, **changes):
    return {**setting, **changes}


# --------------------------------------------------------------------------------------------------------------- plans

PLANS = {
    "illegal move": (
        replace_run({"actions": [0, 3]}), ForgedSubmission, "runs.1[0]", "action 1, 3, is not legal",
    ),
    "no action": (replace_run({"actions": [0, 10**30]}), ForgedSubmission, "is not legal"),
    "negative": (replace_run({"actions": [-1]}), ForgedSubmission, "action 0, -1, is not legal"),
    "moves after the end": (
        replace_run({"actions": [0, 4, 4]}), ForgedSubmission, "runs.1[0]", "over after 2 of 3 actions",
    ),
    "unfinished": (replace_run({"actions": [0]}), ForgedSubmission, "not over after 1 actions"),
    "claimed returns": (
        replace_run({"actions": [0, 4], "return": [81.0, 81.0]}),
        ForgedSubmission, "plans.json: runs.1[0]", "invalid return=[81.0, 81.0]: expected [49.0, 81.0]",
    ),
    "fewer objectives": (replace_run({"actions": [0, 4], "return": [49.0]}), ForgedSubmission, "invalid return"),
    "plan of another start position": (replace_run(*RUNS["0"]), ForgedSubmission, "is not legal"),
    "no plan": (replace_run(), TruncatedSubmission, "runs.1: no plan"),
    "missing run": ({"0": RUNS["0"]}, TruncatedSubmission, "runs.1: no plan"),
    "another seed": ({**RUNS, "2": RUNS["0"]}, MislabeledSubmission, "runs.2: the setting has no such seed"),
    "long plan": (replace_run({"actions": [0] * 1000}), OversizedSubmission, "1,000 actions: expected at most"),
    "fractions": (replace_run({"actions": [0.5]}), InvalidSubmission, "plans.json: runs.1.0.actions.0", "integer"),
    "unknown key": (replace_run({"actions": [0, 4], "score": 1}), InvalidSubmission, "runs.1.0.score"),
}  # fmt: skip


def test_plans(tmp_path):
    for name in PLANS:
        runs, kind, *expected = PLANS[name]
        check(write_plans(tmp_path / name / "mine", runs), kind, *expected)


def test_too_many_plans(tmp_path, monkeypatch):
    monkeypatch.setattr(plans, "MAX_PLANS", 2)
    check(
        write_plans(tmp_path / "mine", replace_run(*RUNS["1"] * 3)), OversizedSubmission, "runs.1: 3 plans: expected at most 2"
    )


def test_plans_that_are_cut_and_sealed(tmp_path):
    folder = write_plans(tmp_path / "mine")
    (folder / "plans.json").write_text((folder / "plans.json").read_text()[:-10])
    check(folder, TruncatedSubmission, "plans.json: changed since it was written")
    seal_submission(folder)
    check(folder, TruncatedSubmission, "plans.json: line 1")


# ------------------------------------------------------------------------------------------------------------ metadata

METADATA = {
    "unknown suite": (
        {"setting": change_setting(PLANS_SETTING, suite="ten_second")},
        MislabeledSubmission, "setting.suite='ten_second'", "did you mean 'ten_seconds'",
    ),
    "file of a suite": (
        {"setting": change_setting(PLANS_SETTING, suite="mine.yaml")}, MislabeledSubmission, "expected a packaged suite",
    ),
    "unknown experiment": (
        {"setting": change_setting(PLANS_SETTING, experiment="tiny boards")},
        MislabeledSubmission, "did you mean 'tiny board'",
    ),
    "another board": (
        {"setting": change_setting(PLANS_SETTING, game={"id": BOARD["id"], "params": {}})},
        MislabeledSubmission, "setting.game", "expected a game of the experiment 'tiny board'",
    ),
    "another game": (
        {"setting": change_setting(PLANS_SETTING, game={**BOARD, "id": "mo-breakthrough-v0"})}, MislabeledSubmission, "game",
    ),
    "path as a parameter": (
        {"setting": change_setting(PLANS_SETTING, game={"id": "mo-tileblast-v0", "params": {"level": "../level.yaml"}})},
        MislabeledSubmission, "setting.game",
    ),
    "plans instead of policies": (
        {"setting": POLICIES_SETTING}, MislabeledSubmission, "kind='plans': expected policies",
    ),
    "policies instead of plans": (
        {"plans": None, "policies": [{"policy": "random"}]}, MislabeledSubmission, "plans.json", "does not name this file",
    ),
    "path out of the directory": ({"plans": "../plans.json"}, UnsafeSubmission, "plans: invalid file '../plans.json'"),
    "absolute path": ({"plans": "/etc/passwd"}, UnsafeSubmission, "'/etc/passwd'"),
    "backslashes": ({"plans": "..\\plans.json"}, UnsafeSubmission, "invalid file"),
    "hidden file": ({"plans": ".plans.json"}, UnsafeSubmission, "invalid file"),
    "missing file": ({"plans": "plan.json"}, TruncatedSubmission, "plans: 'plan.json' is missing"),
    "unknown key": ({"author": "me"}, InvalidSubmission, "submission.yaml: author: unknown key: expected"),
    "unknown inner key": (
        {"setting": change_setting(PLANS_SETTING, seed=1)}, InvalidSubmission, "setting.seed: unknown key: expected 'suite'",
    ),
    "no link": ({"paper": "http://example.org"}, InvalidSubmission, "invalid paper", "https://"),
    "link with Markdown": ({"code": "https://example.org/)[x](y"}, InvalidSubmission, "invalid code"),
    "two lines": ({"method": "mine\n# yours"}, InvalidSubmission, "invalid method", "one line"),
    "long name": ({"method": "m" * 61}, InvalidSubmission, "invalid method", "60 characters"),
    "no date": ({"date": "yesterday"}, InvalidSubmission, "invalid date"),
    "negative budget": ({"budget": -1}, InvalidSubmission, "invalid budget=-1"),
    "unknown claim": ({"claims": {"volume": 1.0}}, InvalidSubmission, "claims.volume"),
    "neither plans nor policies": ({"plans": None}, InvalidSubmission, "expected either plans or policies"),
    "another schema": ({"schema": 2}, InvalidSubmission, "invalid schema=2"),
    "lock without code": ({"lock": "lock.txt"}, InvalidSubmission, "expected a lock file for policies by module:class"),
}  # fmt: skip


def test_metadata(tmp_path):
    for name in METADATA:
        changes, kind, *expected = METADATA[name]
        check(write_plans(tmp_path / name / "mine", **changes), kind, "mine", *expected)


def test_metadata_without_a_key(tmp_path):
    folder = write_plans(tmp_path / "mine")
    data = yaml.safe_load((folder / "submission.yaml").read_text())
    del data["hardware"]
    (folder / "submission.yaml").write_text(yaml.safe_dump(data))
    seal_submission(folder)
    check(folder, InvalidSubmission, "submission.yaml: hardware: missing key")
    (folder / "submission.yaml").write_text("- 1")
    seal_submission(folder)
    check(folder, InvalidSubmission, "expected a mapping")
    (folder / "submission.yaml").write_text("schema: !!python/object:x {}")
    seal_submission(folder)
    check(folder, InvalidSubmission, "line 1, column 9: tags")


# --------------------------------------------------------------------------------------------------------------- files


def test_cut_files(tmp_path):
    """Every proper part of every file is refused, that of the checksums included."""
    folder = write_plans(tmp_path / "mine")
    for path in folder.iterdir():
        content = path.read_bytes()
        for length in {0, 1, len(content) // 2, len(content) - 2}:
            path.write_bytes(content[:length])
            with pytest.raises(TruncatedSubmission):
                check_submission(folder)
        path.write_bytes(content)
    assert check_submission(folder)


def test_files_without_checksums(tmp_path):
    folder = write_plans(tmp_path / "mine")
    (folder / "more.txt").write_text("")
    check(folder, TruncatedSubmission, "more.txt: is not in SHA256SUMS")
    seal_submission(folder)
    check(folder, MislabeledSubmission, "more.txt: submission.yaml does not name this file")
    (folder / "more.txt").rename(folder / "README.md")
    seal_submission(folder)
    assert check_submission(folder)
    (folder / "SHA256SUMS").unlink()
    check(folder, TruncatedSubmission, "SHA256SUMS: No such file", "momagames leaderboard seal")


def test_checksums_of_files_elsewhere(tmp_path):
    folder = write_plans(tmp_path / "mine")
    with (folder / "SHA256SUMS").open("a") as file:
        file.write(f"{'0' * 64}  ../secret\n")
    check(folder, UnsafeSubmission, "SHA256SUMS: invalid file '../secret'")


def test_links(tmp_path):
    folder = write_plans(tmp_path / "mine")
    (tmp_path / "plans.json").write_bytes((folder / "plans.json").read_bytes())
    (folder / "plans.json").unlink()
    (folder / "plans.json").symlink_to(tmp_path / "plans.json")
    check(folder, UnsafeSubmission, "plans.json: a link")
    (folder / "plans.json").unlink()
    (folder / "plans").symlink_to(tmp_path)
    check(folder, UnsafeSubmission, "plans: a link")
    (tmp_path / "other").symlink_to(write_plans(tmp_path / "third"))
    check(tmp_path / "other", UnsafeSubmission, "a link")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in this system")
def test_neither_file_nor_directory(tmp_path):
    folder = write_plans(tmp_path / "mine")
    os.mkfifo(folder / "pipe")
    check(folder, UnsafeSubmission, "pipe: neither a file nor a directory")


def test_large_files(tmp_path, monkeypatch):
    folder = write_plans(tmp_path / "mine")
    os.truncate(folder / "plans.json", directory.MAX_FILE_BYTES + 1)
    check(folder, OversizedSubmission, "plans.json: 67,108,865 bytes: expected at most 67,108,864")
    folder = write_plans(tmp_path / "other")
    monkeypatch.setattr(directory, "MAX_BYTES", 100)
    check(folder, OversizedSubmission, "more than 100 bytes")


def test_many_files_and_directories(tmp_path):
    folder = write_plans(tmp_path / "mine")
    for number in range(directory.MAX_FILES):
        (folder / f"{number}.txt").touch()
    check(folder, OversizedSubmission, "more than 200 files")
    folder = write_plans(tmp_path / "other")
    (folder / "/".join("abcdef")).mkdir(parents=True)
    check(folder, OversizedSubmission, "nested too deeply")


def test_large_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(plans, "MAX_BYTES", 10)
    check(write_plans(tmp_path / "mine"), OversizedSubmission, "plans.json: 127 bytes: expected at most 10")
    monkeypatch.setattr(metadata, "MAX_BYTES", 10)
    check(write_plans(tmp_path / "mine"), OversizedSubmission, "submission.yaml", "bytes: expected at most 10")


def test_name_of_the_directory(tmp_path):
    """It is printed on the pages."""
    folder = write_plans(tmp_path / "mine").rename(tmp_path / "x\n# mine")
    check(folder, UnsafeSubmission, "expected letters, digits and ._-")


def test_no_submission(tmp_path):
    check(tmp_path / "none", InvalidSubmission, "expected the directory of a submission")
    check(tmp_path, InvalidSubmission, "submission.yaml is missing")


# ------------------------------------------------------------------------------------------------------------ policies

POLICIES = {
    "unknown": ({"policy": "championn"}, MislabeledSubmission, "policies[0].policy", "did you mean 'champion'"),
    "Python": ({"policy": "os:getcwd"}, MislabeledSubmission, "expected a policy of the package"),
    "filtered Python": ({"policy": "safe:os:getcwd"}, MislabeledSubmission, "expected a policy of the package"),
    "checkpoint elsewhere": ({"policy": str(BREAKTHROUGH)}, MislabeledSubmission, "expected a policy of the package"),
    "no champion": ({"policy": "champion"}, MislabeledSubmission, "policies[0]", "no trained policy of the package fits"),
    "option": ({"policy": "greedy", "options": {"weight": [1]}}, MislabeledSubmission, "'weight'", "did you mean 'weights'"),
    "weights": ({"policy": "greedy", "options": {"weights": [1.0]}}, MislabeledSubmission, "weights"),
    "type of weights": ({"policy": "greedy", "options": {"weights": {"a": 1}}}, MislabeledSubmission, "policies[0]"),
    "type of an option": ({"policy": "uct", "options": {"value": [1]}}, MislabeledSubmission, "policies[0]"),
    "option with a path": (
        {"policy": "uct", "options": {"value": "../champion.npz"}},
        UnsafeSubmission, "policies[0].options.value: invalid file '../champion.npz'",
    ),
    "option with a missing file": (
        {"policy": "uct", "options": {"value": "champion.npz"}}, TruncatedSubmission, "'champion.npz' is missing",
    ),
    "seed": ({"policy": "random", "seed": 7}, MislabeledSubmission, "policies[0].seed=7: expected a seed of the setting, 0"),
    "method by Python": ({"method": "os:getcwd", "label": "x"}, MislabeledSubmission, "expected a method of the package"),
    "method without a label": ({"method": "random"}, InvalidSubmission, "method and label together"),
    "label of a policy": ({"policy": "random", "label": "x"}, InvalidSubmission, "method and label together"),
    "unknown label": (
        {"method": "random", "label": "x"}, MislabeledSubmission, "policies[0].label='x': expected a policy of random",
    ),
    "option of a method": ({"method": "greedy", "label": "x", "options": {"depth": 1}}, MislabeledSubmission, "policies[0]"),
    "no arrays": (
        {"method": "nsga2", "label": "x", "options": {"population": 4, "episodes": 2, "shared": True}},
        MislabeledSubmission, "policies[0].arrays=None: expected the parameters",
    ),
    "missing arrays": ({"method": "moppo", "label": "x", "arrays": "a.npz"}, TruncatedSubmission, "arrays: 'a.npz' is missing"),
    "two sources": (
        {"policy": "random", "checkpoint": "a.npz"}, InvalidSubmission, "one of policy, checkpoint, code and method",
    ),
}  # fmt: skip


def test_policies(tmp_path):
    for name in POLICIES:
        policy, kind, *expected = POLICIES[name]
        check(write_policies(tmp_path / name / "mine", policy), kind, *expected)


def write_checkpoint(folder, source=BREAKTHROUGH, **head):
    """Write a submission with a checkpoint, whose head is changed."""
    write_policies(folder, {"checkpoint": "mine.npz"})
    if head:
        found = load_checkpoint(source)
        save_checkpoint(folder / "mine.npz", {**found.head, **head}, found.policy, found.training)
    else:
        shutil.copy(source, folder / "mine.npz")
    seal_submission(folder)
    return folder


def test_checkpoints(tmp_path):
    small = {"board_width": 3, "board_height": 5}
    check(
        write_checkpoint(tmp_path / "a", SAMEGAME), MislabeledSubmission, "mine.npz: trained on mo-samegame-v0", "cannot play"
    )
    check(write_checkpoint(tmp_path / "b"), MislabeledSubmission, "mine.npz: trained on mo-breakthrough-v0", "cannot play")
    check(write_checkpoint(tmp_path / "c", params=small), MislabeledSubmission, "cannot play")
    check(write_checkpoint(tmp_path / "d", game=None), MislabeledSubmission, "policies[0]")
    check(write_checkpoint(tmp_path / "e", method="os:getcwd"), MislabeledSubmission, "policies[0]")
    check(write_checkpoint(tmp_path / "f", params={"level": "../x.yaml"}), UnsafeSubmission, "params.level='../x.yaml'")
    folder = write_checkpoint(tmp_path / "g")
    os.truncate(folder / "mine.npz", 1000)
    seal_submission(folder)
    check(folder, TruncatedSubmission, "mine.npz: not a training checkpoint")
    (folder / "mine.npz").unlink()
    seal_submission(folder)
    check(folder, TruncatedSubmission, "policies[0].checkpoint: 'mine.npz' is missing")


def test_arrays_of_trained_policies(tmp_path):
    """Parameters that a run of a suite has trained: damaged, of another place, and of a method that is not trained."""
    source = ENTRIES / "samegame-7x7x3-nsga2"
    given = yaml.safe_load((source / "submission.yaml").read_text())
    first, files = given["policies"][0], [source / f"policies-{seed}.npz" for seed in range(3)]
    others = [one for one in given["policies"] if one["seed"] > 0]

    def write(name, changed, cut=None):
        folder = tmp_path / name
        shutil.copytree(source, folder)
        (folder / "submission.yaml").write_text(yaml.safe_dump({**given, "policies": [changed, *others]}))
        if cut is not None:
            os.truncate(folder / files[0].name, cut)
        seal_submission(folder)
        return folder

    check(write("cut", first, 500), TruncatedSubmission, "policies-0.npz")
    check(write("empty", first, 0), TruncatedSubmission, "policies-0.npz")
    check(write("point", {**first, "point": 99}), MislabeledSubmission, "policies[0]")
    check(write("method", {**first, "method": "moppo", "options": {}}), MislabeledSubmission, "policies[0]")
    untrained = {**first, "method": "random", "options": {}}
    check(write("untrained", untrained), MislabeledSubmission, "arrays='policies-0.npz': expected none: random is not trained")


def test_too_many_policies(tmp_path):
    check(write_policies(tmp_path / "mine", *({"policy": "random"} for _ in range(301))), OversizedSubmission, "policies: 301")


def test_policies_beyond_the_time_limit(tmp_path, monkeypatch):
    clock = iter(range(0, 10**6, 200))
    monkeypatch.setattr("momagames.benchmark.executors.executor.time.monotonic", lambda: next(clock))
    check(write_policies(tmp_path / "mine", {"policy": "random"}), OversizedSubmission, "seed 0: time limit exceeded")


# ---------------------------------------------------------------------------------------------------------------- code


@pytest.mark.long
def test_code_runs_only_if_it_is_allowed(tmp_path):
    marker = tmp_path / "ran"
    folder = write_code(tmp_path / "mine", f"open({str(marker)!r}, 'w')\n" + CODE)
    check(folder, UnsafeSubmission, "code, which was not run", "--run-code")
    assert not marker.exists()
    assert check_submission(folder, run_code=True)
    assert marker.exists()


LOCKS = {
    "range": ("numpy>=2\n", InvalidSubmission, "lock.txt: line 1: 'numpy>=2': expected NAME==VERSION"),
    "link": ("# x\nmine @ https://example.org/mine.whl\n", InvalidSubmission, "line 2"),
    "nothing": ("# nothing\n\n", InvalidSubmission, "no package"),
    "another version": ("numpy==0.0.1\n", MislabeledSubmission, "numpy==0.0.1: installed is", "pip install -r"),
    "not installed": ("no-such-package==1 \\\n  --hash=sha256:00\n", MislabeledSubmission, "installed is none"),
}


def test_lock_files(tmp_path):
    for name in LOCKS:
        text, kind, *expected = LOCKS[name]
        check(write_code(tmp_path / name / "mine", lock=text), kind, *expected, run_code=True)


def test_pip_freeze_of_an_installation_from_a_folder(tmp_path):
    lines = "momagames @ file:///src/momagames", "-e git+https://example.org/me/momagames@1a2b#egg=momagames"
    for number, line in enumerate(lines):
        folder = write_code(tmp_path / str(number), lock=f"numpy=={np.__version__}\n{line}\n")
        assert check_submission(folder, run_code=True).counts
    other = write_code(tmp_path / "other", lock="mine @ file:///src/mine\n")
    check(other, InvalidSubmission, "expected NAME==VERSION, such as numpy==2.0.1", run_code=True)


def test_code_without_a_lock_file(tmp_path):
    folder = write_policies(tmp_path / "mine", {"code": "mine:Sampler"}, files={"mine.py": CODE})
    check(folder, InvalidSubmission, "expected a lock file", run_code=True)


CODES = {
    "module elsewhere": (CODE, "os:getcwd", MislabeledSubmission, "expected a module of the submission, 'os.py' or"),
    "error": ("raise ValueError('no model')", "mine:x", InvalidSubmission, "mine:x: ValueError: no model"),
    "end": ("import os\ndef act(observation, mask, rng): os._exit(3)", "mine:act", InvalidSubmission, "ended (exit code 3)"),
    "changed package": (  # stays in its process
        "from momagames.leaderboard import policies\npolicies.read_policy_episodes = None\n"
        "def act(observation, mask, rng): return int(mask.argmin())",
        "mine:act", ForgedSubmission, "illegal action=", "legal actions",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CODES)
@pytest.mark.long
def test_code(tmp_path, name):
    text, path, kind, *expected = CODES[name]
    check(write_code(tmp_path / "mine", text, path=path), kind, *expected, run_code=True)


@pytest.mark.parametrize("action", [-1, 4, 10**30, True, 0.0, "1", None, [1, 2], [], {}])
def test_actions_of_code(action):
    """Actions are checked in the process that plays; 1 is the only legal one."""
    game = SimpleNamespace(actions=(3,), allows_illegal=False)
    process = SimpleNamespace(
        request=lambda path, message, content=b"": answers.pop(),
        reject_action=lambda path, given, reason: ForgedSubmission(f"{given} {reason}"),
        release=lambda number: None,
    )
    function = policy_process._RemoteFunction(process, game, "mine:act", 0)
    arguments = np.zeros(2, np.int8), np.array([0, 1, 0], np.int8), np.random.default_rng(0)
    answers = [action]
    with pytest.raises(ForgedSubmission):
        function(*arguments)
    answers = [1]
    assert function(*arguments) == 1


@pytest.mark.long
def test_code_that_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(policy_process, "ANSWER_SECONDS", 0.2)
    text = "import time\ndef act(observation, mask, rng): time.sleep(100)"
    folder = write_code(tmp_path / "mine", text, path="mine:act")
    with pytest.raises(InvalidSubmission) as caught:
        check_submission(folder, run_code=True)
    assert str(caught.value) == f"{folder / 'submission.yaml'}: mine:act: no answer within 0.2 s"


@pytest.mark.long
def test_an_answer_that_is_too_long(tmp_path):
    text = "def act(observation, mask, rng): return [0] * 100_000"
    folder = write_code(tmp_path / "mine", text, path="mine:act")
    check(folder, InvalidSubmission, "mine:act: an answer of more than 64 KiB", run_code=True)


STARTS = """
import os, subprocess, sys
from pathlib import Path
def note(): Path({pids!r}).open("a").write(f"{{os.getpid()}}\\n")
def start():
    if os.fork(): return
    os.setsid()
    if os.fork(): os._exit(0)
    note()
    import time
    time.sleep(1000)
    os._exit(0)
start()
code = "import os, sys, time; open(sys.argv[1], 'a').write(f'{{os.getpid()}}\\\\n'); time.sleep(1000)"
subprocess.Popen([sys.executable, "-c", code, {pids!r}], start_new_session=True, env={{}})
def act(observation, mask, rng):
    while len(Path({pids!r}).read_text().splitlines()) < 2: pass
    {last}
    return int(mask.argmax())
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and orphans that stay below a process")
@pytest.mark.parametrize("last", ["pass", "os._exit(3)", "import time; time.sleep(1000)"])
def test_processes_of_code_end_with_its_check(tmp_path, monkeypatch, last):
    """Also those in sessions of their own, and orphans; whether the code answers, ends or hangs."""
    monkeypatch.setattr(policy_process, "ANSWER_SECONDS", 5.0)
    pids = tmp_path / "pids"
    pids.touch()  # the code may be asked before its processes write
    folder = write_code(tmp_path / "mine", STARTS.format(pids=str(pids), last=last), path="mine:act")
    if last == "pass":
        assert check_submission(folder, run_code=True)
    else:
        check(folder, InvalidSubmission, "exit code 3" if "exit" in last else "no answer", run_code=True)
    started = [int(line) for line in pids.read_text().split()]
    assert len(started) == 2
    assert not any(is_alive(one) for one in started)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory otherwise")
def test_memory_of_code_is_limited(tmp_path):
    text = "import numpy as np\ndef act(observation, mask, rng): np.ones(1 << 30)"
    check(write_code(tmp_path / "mine", text, path="mine:act"), InvalidSubmission, "Unable to allocate 8.00 GiB", run_code=True)


@pytest.mark.long
def test_files_that_change_during_the_check(tmp_path):
    text = """
from pathlib import Path
def act(observation, mask, rng):
    Path(__file__).write_text("")
    return int(mask.argmax())
"""
    folder = write_code(tmp_path / "mine", text, path="mine:act")
    check(folder, TruncatedSubmission, "mine.py: changed since it was written", run_code=True)


def test_a_file_of_plans_of_another_form(tmp_path):
    folder = write_plans(tmp_path / "mine")
    (folder / "plans.json").write_text(json.dumps({"schema": 1, "runs": []}))
    seal_submission(folder)
    check(folder, InvalidSubmission, "plans.json: runs")
