"""What is published: one version everywhere, and a wheel that holds what it should and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import momagames
from momagames.games import VERSIONS

ROOT = Path(__file__).resolve().parent.parent


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert {project()["version"], momagames.__version__, citation["version"], newest.group(1)} == {momagames.__version__}


def test_the_installed_package_is_this_version():
    try:
        installed = version("momagames")
    except ModuleNotFoundError:
        pytest.skip("momagames is imported from a folder, not installed")
    assert installed == momagames.__version__


def test_changelog_has_the_fixed_headings():
    headings = set(re.findall(r"^### (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE))
    assert headings <= {"Changed behavior (ids)", "Added", "Fixed", "Removed"}
    assert "Added" in headings


@pytest.mark.parametrize("id", VERSIONS)
def test_every_id_has_a_line_in_the_changelog(id):
    text = (ROOT / "CHANGELOG.md").read_text()
    assert f"`{id}`" in text, f"CHANGELOG.md: name `{id}` in a line under 'Added' of the newest version"


def test_citation_is_complete():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors", "version", "date-released", "license", "type"} <= set(citation)
    assert citation["license"] == project()["license"]


def test_dependencies_have_floor_and_ceiling():
    """Without a ceiling: torch (its builds differ by machine), and what is numbered by date."""
    groups = [project()["dependencies"], *project()["optional-dependencies"].values()]
    named = {line for group in groups for line in group if not line.startswith(("momagames", "torch", "furo", "types-"))}
    assert named
    assert [line for line in named if not (">=" in line and "<" in line)] == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The names in a wheel that is built from this checkout."""
    if find_spec("build") is None or find_spec("hatchling") is None:
        pytest.skip("needs the packages build and hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file).namelist()


def test_the_wheel_has_types_rules_and_suites(wheel):
    assert "momagames/py.typed" in wheel
    folders = {path.parent.name for path in (ROOT / "momagames/games").glob("*/SPEC.md")}
    assert folders
    assert {f"momagames/games/{folder}/SPEC.md" for folder in folders} <= set(wheel)
    suites = {f"momagames/benchmark/suites/{path.name}" for path in (ROOT / "configs/suites").glob("*.yaml")}
    recipes = {f"momagames/datasets/recipes/{path.name}" for path in (ROOT / "configs/datasets").glob("*.yaml")}
    assert suites
    assert recipes
    assert suites | recipes <= set(wheel)
    assert any(name.endswith("licenses/LICENSE") for name in wheel)


def test_the_wheel_has_levels_and_layouts(wheel):
    files = [path for ending in ("yaml", "csv") for path in (ROOT / "momagames/games").rglob(f"*/data/*.{ending}")]
    assert {path.suffix for path in files} == {".yaml", ".csv"}
    assert {path.relative_to(ROOT).as_posix() for path in files} <= set(wheel)


def test_the_wheel_has_what_the_page_is_made_of(wheel):
    files = [path for ending in ("js", "html") for path in (ROOT / "momagames/reports").rglob(f"*.{ending}")]
    assert {"player.js", "player.html", "page.html"} <= {path.name for path in files}
    assert {path.relative_to(ROOT).as_posix() for path in files} <= set(wheel)


def test_the_wheel_has_fronts(wheel):
    files = list((ROOT / "momagames/fronts/data").glob("*.json*"))
    assert len(files) > 20
    assert {path.relative_to(ROOT).as_posix() for path in files} <= set(wheel)


def test_the_wheel_has_nothing_else(wheel):
    assert [n for n in wheel if not n.startswith(("momagames/", f"momagames-{momagames.__version__}.dist-info/"))] == []
    assert [n for n in wheel if "__pycache__" in n or n.endswith((".pyc", ".nbc", ".nbi"))] == []


def test_the_wheel_has_every_source(wheel):
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "momagames").rglob("*.py")}
    assert sources <= set(wheel)
