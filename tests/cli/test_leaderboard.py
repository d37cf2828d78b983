"""The commands `momagames leaderboard`: what they print, what they leave, how they end."""

import json

from typer.testing import CliRunner

from momagames.cli.app import app
from tests.leaderboard.submissions import RUNS, write_plans, write_policies


def invoke(*words):
    return CliRunner().invoke(app, ["leaderboard", *map(str, words)], env={"COLUMNS": "200"})


def test_check_and_build(tmp_path):
    good = write_plans(tmp_path / "good", claims={"hypervolume": 5000.0})
    done = invoke("check", good)
    assert done.exit_code == 0, done.output
    for expected in (
        "ten_seconds: MO-SameGame 4x4, 2 colors, tiny board",
        "mine",
        "good",
        "1 in seed 0, 1 in seed 1",
        "budget 2,000",
        "sha256",
    ):
        assert expected in done.output
    assert "claim:   hypervolume 5000.0; computed: 4048." in done.output
    assert "depends on the other entries of the table: HV ratio" in done.output
    (row,) = json.loads(invoke("check", good, "--json").output)
    assert row["indicators"]["cardinality"]["mean"] == 1.0
    forged = write_plans(tmp_path / "forged", {**RUNS, "1": [{"actions": [0]}]})
    done = invoke("check", forged, good)
    assert done.exit_code == 1
    assert "WRONG (forged)" in done.output
    assert "good" in done.output
    done = invoke("build", good, forged, "--out", tmp_path / "pages")
    assert done.exit_code == 1
    assert not (tmp_path / "pages").exists()
    done = invoke("build", good, "--out", tmp_path / "pages")
    assert done.exit_code == 0, done.output
    assert "submissions: 1, pages: 2" in done.output
    assert "| mine |" in (tmp_path / "pages" / "ten_seconds.md").read_text()


def test_hidden_seeds(tmp_path):
    done = invoke("commit", tmp_path / "seed.txt")
    assert done.exit_code == 0, done.output
    commitment = done.output.split()[1]
    seed = (tmp_path / "seed.txt").read_text().strip()
    assert int(seed).bit_length() > 100
    entry = write_policies(tmp_path / "entry", {"policy": "random"}, method="random", budget=0)
    (row,) = json.loads(invoke("check", entry, "--fresh-seed", seed, "--commitment", commitment, "--json").output)
    (again,) = json.loads(invoke("check", entry, "--fresh-seed", seed, "--json").output)
    assert row == again
    assert row["fresh_seed"] == int(seed)
    for words, message in [
        (("--fresh-seed", "7"), "invalid fresh_seed=7: expected the seed with the commitment"),
        ((), "--commitment is for a published seed"),
    ]:
        done = invoke("check", entry, *words, "--commitment", commitment)
        assert message in str(done.exception)
    assert "is there already" in str(invoke("commit", tmp_path / "seed.txt").exception)
    assert (tmp_path / "seed.txt").read_text().strip() == seed


def test_seal(tmp_path):
    folder = write_plans(tmp_path / "mine")
    (folder / "README.md").write_text("About this method.")
    assert invoke("check", folder).exit_code == 1
    assert invoke("seal", folder).exit_code == 0
    assert invoke("check", folder).exit_code == 0


def test_make_without_results(tmp_path):
    done = invoke("make", tmp_path, "beam", "--suite", "ten_seconds", "--out", tmp_path / "made")
    assert done.exit_code == 1
    assert "no results here (suite.json is missing)" in str(done.exception)
