"""The scripts for clusters: an array of jobs runs each run of a suite once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import momagames
from momagames.benchmark import load_suite
from momagames.benchmark.store.store import Store

CLUSTER = Path(__file__).resolve().parent.parent / "benchmarks/cluster"
pytestmark = pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="needs bash")


@pytest.fixture
def environment(tmp_path):
    """The variables of a job, and the command `momagames`."""
    command = tmp_path / "bin/momagames"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m momagames "$@"\n')
    command.chmod(0o755)
    path, imports = f"{command.parent}{os.pathsep}{os.environ['PATH']}", os.pathsep.join(sys.path)
    return {**os.environ, "PATH": path, "PYTHONPATH": imports, "USER": "user"}


def run_script(name, environment, folder, *words):
    command = ["bash", str(CLUSTER / name), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.long
@pytest.mark.parametrize("first", [0, 1])
def test_an_array_of_jobs_runs_a_suite(tmp_path, environment, first):
    indices = {"SLURM_ARRAY_TASK_MIN": str(first), "SLURM_ARRAY_TASK_COUNT": "3"}
    folders = []
    for task in range(first, first + 3):
        job = {**environment, **indices, "SLURM_ARRAY_TASK_ID": str(task)}
        done = run_script("suite.slurm", job, tmp_path, "ten_seconds", "results")
        assert done.returncode == 0, done.stdout + done.stderr
        folders.append({place.name for place in Store(tmp_path / "results").run_directories()})
    assert folders[0] < folders[1] < folders[2]  # each job has a part
    assert folders[2] == {run.folder for run in load_suite("ten_seconds").list_runs()}
    if not first:
        assert run_script("report.slurm", environment, tmp_path, "results").returncode == 0
        assert (tmp_path / "results/report.html").is_file()


def test_a_script_that_is_started_without_an_array(tmp_path, environment):
    done = run_script("suite.slurm", {**environment, "SLURM_ARRAY_TASK_ID": ""}, tmp_path, "quick", "results")
    assert done.returncode != 0
    assert "start this script with sbatch --array=1-N" in done.stderr
    assert "usage:" in run_script("suite.slurm", environment, tmp_path).stderr


def test_the_ray_cluster_has_this_version():
    cluster = yaml.safe_load((CLUSTER / "suite.ray.yaml").read_text())
    assert cluster["setup_commands"] == [f'pip install "momagames[ray]=={momagames.__version__}"']
