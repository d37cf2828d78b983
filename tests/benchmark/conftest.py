"""Results directories that several tests use."""

import shutil

import pytest

from momagames.benchmark import run_suite
from tests.benchmark.tiny import whole


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The results of the tiny suite, finished; not to be changed."""
    folder = tmp_path_factory.mktemp("results") / "here"
    assert not run_suite(whole(), folder).failed
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of these results."""
    return shutil.copytree(finished, tmp_path / "copy")
