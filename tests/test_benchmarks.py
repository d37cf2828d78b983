"""The scripts under benchmarks/ run: they are measured by hand, and would break unnoticed."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))
NEEDED = {"torch", "morl_baselines", "sb3_contrib", "torchrl", "ray", "supersuit"}  # of extras


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_scripts_import(script, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    name = ".".join(script.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        pytest.skip(f"needs {error.name}")


def measure_speed(*words):
    command = [sys.executable, "-m", "benchmarks.speed", "--rounds", "1", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_speed_is_measured_part_by_part(tmp_path):
    file = tmp_path / "speed.json"
    done = measure_speed("--only", "c_loop", "memory", "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(file.read_text())
    assert found["memory"]
    assert all(value > 0 for values in found["c_loop"].values() for value in values.values())
    assert "Breakthrough 8x8" in done.stdout
    assert "Python" in done.stdout.splitlines()[0]


def test_a_part_that_fails_does_not_lose_the_others(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import benchmarks.speed.c_loop as part\ndel part.measure\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(ROOT), *sys.path])
    done = measure_speed("--only", "c_loop", "memory")
    assert done.returncode == 1
    assert "c_loop failed:" in done.stdout
    assert "AttributeError" in done.stdout
    assert "15x15" in done.stdout
    assert done.stderr.strip() == "failed: c_loop"
