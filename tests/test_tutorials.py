"""The longer examples of the documentation run: tutorials of other libraries, notebooks and the first comparison."""

import re
import shlex

import pytest

from tests.cli.test_app import momagames_here
from tests.pages import FENCE, ROOT, run_examples

LIBRARIES = {  # page in docs/tutorials -> the package that it is about, or a part of it that not every install has
    "momaland": "momaland.learning.cooperative_momappo.utils",
    "morl-baselines": "morl_baselines",
    "onnx": "onnxruntime",
    "rllib": "ray.rllib.algorithms.ppo",
    "sb3": "sb3_contrib",
    "torchrl": "torchrl",
}


def name_with_games(library):
    """Return a library and the games of its tutorial."""
    text = (ROOT / "docs/tutorials" / f"{library}.md").read_text(encoding="utf-8")
    return " ".join([library, *sorted(set(re.findall(r"\bmo-([a-z]+)", text)))])


@pytest.mark.long
@pytest.mark.parametrize("library", sorted(LIBRARIES), ids=name_with_games)
def test_tutorials_run(library, tmp_path, monkeypatch):
    """In an empty folder."""
    pytest.importorskip(LIBRARIES[library], exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_ADDRESS", "local")  # not the cluster of a test that runs at the same time
    run_examples(ROOT / "docs/tutorials" / f"{library}.md")


def test_every_tutorial_names_its_library():
    assert {page.stem for page in (ROOT / "docs/tutorials").glob("*.md")} - {"index"} == set(LIBRARIES)


@pytest.mark.long
def test_commands_of_the_first_comparison_run(tmp_path, monkeypatch):
    """Each command of the page in turn, with the file that it shows; the training is the best of the comparison."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/train-and-compare.md").read_text(encoding="utf-8")
    blocks = [(language, block) for language, block in FENCE.findall(text)]
    (tmp_path / "compare.yaml").write_text(next(block for language, block in blocks if language == "yaml"), encoding="utf-8")
    lines = [block.replace("\\\n", "") for language, block in blocks if language == "console"]
    commands = [line.removeprefix("$ ") for block in lines for line in block.splitlines()]
    assert [command.split()[1] for command in commands] == ["train", "eval", "bench"]
    for command in commands:
        done = momagames_here(*shlex.split(command)[1:])
        assert done.returncode == 0, done.stderr
    assert "unseen boards trained" in done.stdout
    assert (tmp_path / "momagames-results/compare/report.html").exists()


@pytest.mark.long
@pytest.mark.parametrize("file", sorted((ROOT / "docs/notebooks").glob("*.ipynb")), ids=lambda file: file.stem)
def test_notebooks_run(file, tmp_path):
    """From the first cell to the last, in an empty folder. Files hold no outputs."""
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = pytest.importorskip("nbformat").read(file, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
