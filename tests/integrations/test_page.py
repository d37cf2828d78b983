"""The examples of docs/integrations.md run, section by section, where the library of the section is installed."""

import re

import pytest

from tests.integrations.test_missing_libraries import LIBRARIES
from tests.pages import ROOT, examples

PAGE = ROOT / "docs/integrations.md"
TITLES = {
    "Stable-Baselines3": "sb3",
    "TorchRL": "torchrl",
    "BenchMARL": "benchmarl",
    "RLlib": "rllib",
    "TextArena": "textarena",
    "verifiers": "verifiers",
}


def read_sections():
    """Return title -> first and last line of each section."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    starts = [i for i, line in enumerate(lines, 1) if line.startswith("## ")]
    return {lines[start - 1][3:]: (start, end) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)}


def test_every_library_has_a_section():
    assert list(read_sections()) == [*TITLES, "By id alone"]
    assert set(TITLES.values()) == set(LIBRARIES)


@pytest.mark.long
@pytest.mark.parametrize("title", TITLES)
def test_examples_of_a_section_run(title, tmp_path, monkeypatch):
    """In an empty folder."""
    pytest.importorskip(LIBRARIES[TITLES[title]], exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_ADDRESS", "local")  # not the cluster of a test that runs at the same time
    start, end = read_sections()[title]
    namespace = {"__name__": "__main__"}
    blocks = [(name, code) for name, code in examples(PAGE) if start < int(re.findall(r"line (\d+)>$", name)[0]) < end]
    assert blocks
    for name, code in blocks:
        exec(compile(code, name, "exec", dont_inherit=True), namespace)
