import json

import pytest
import yaml
from typer.testing import CliRunner

from momagames.cli.app import app
from momagames.errors import InvalidFile, InvalidParameter
from tests.datasets.small import GEMWALK, part, recipe

pytest.importorskip("pyarrow")


def run(*words):
    return CliRunner().invoke(app, ["dataset", *map(str, words)])


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(recipe(part("random", GEMWALK))))
    made = run("make", path, "--out", tmp_path / "data")
    assert made.exit_code == 0, made.output
    assert "25 episodes" in made.output
    return tmp_path / "data"


def test_make_info_and_verify(folder):
    printed = json.loads(run("info", folder, "--json").stdout)
    assert printed["complete"]
    assert [(one["tier"], one["episodes"]) for one in printed["parts"]] == [("random", 25)]
    assert "complete" in run("info", folder).stdout
    assert "3 files of data\nall are as they were made" in run("verify", folder).stdout
    sample = run("verify", folder, "--regenerate", "--sample", 1, "--seed", 2)
    assert "episodes of 1 of them played again" in sample.stdout


def test_a_damaged_file_fails(folder):
    (folder / "data/part-000/000000.parquet").write_bytes(b"x")
    result = run("verify", folder)
    assert result.exit_code == 1
    assert "changed since it was written" in result.output


def test_invalid_calls(folder, tmp_path):
    assert isinstance(run("verify", folder, "--sample", 1).exception, InvalidParameter)
    assert isinstance(run("info", tmp_path / "none").exception, InvalidFile)
