"""What is published: one version everywhere, and a wheel that holds what it should and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import import_module
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


@pytest.mark.parametrize("file", ["codemeta.json", ".zenodo.json"])
def test_metadata_for_archives(file):
    data = json.loads((ROOT / file).read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert data["version"] == momagames.__version__
    assert data["description"] == project()["description"]
    assert data["keywords"] == citation["keywords"]
    assert data["license"].rpartition("/")[2] == project()["license"]
    assert data.get("dateModified", str(citation["date-released"])) == str(citation["date-released"])


@pytest.fixture
def metadata(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return import_module("release_metadata")


FILLED = {
    "title": "A title",
    "version": "1.2.3",
    "license": "MIT",
    "date-released": "2030-01-02",
    "authors": [
        {
            "family-names": "Doe",
            "given-names": "Jane",
            "affiliation": "A place",
            "orcid": "https://orcid.org/0000-0000-0000-0000",
        },
        {"name": "A group"},
    ],
    "repository-code": "https://example.org/code",
    "doi": "10.1234/example",
}


def test_files_state_authors_address_and_doi_of_the_citation(metadata):
    citation = metadata.read_citation()
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in metadata.UPDATES}
    written = {name: update(texts[name], citation) for name, update in metadata.UPDATES.items()}
    assert texts == written, "run python docs/release_metadata.py"


def test_a_citation_that_is_filled_in_reaches_every_file(metadata):
    empty = metadata.read_citation()
    for name, update in metadata.UPDATES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        filled = update(text, FILLED)
        assert "Doe" in filled
        assert "A group" in filled
        assert metadata.UNNAMED not in filled
        assert name == ".zenodo.json" or {*re.findall(r"https://example.org/code|10.1234/example", filled)} == {
            FILLED["repository-code"],
            FILLED["doi"],
        }
        assert update(filled, empty) == text
    assert tomllib.loads(metadata.update_project((ROOT / "pyproject.toml").read_text(), FILLED))["project"]["urls"]["DOI"]


def test_empty_fields_of_a_citation_are_found(metadata):
    assert metadata.list_empty_fields(FILLED) == []
    assert metadata.list_empty_fields({**FILLED, "doi": None}) == ["doi"]
    assert metadata.list_empty_fields({"authors": [{"name": metadata.UNNAMED}]}) == ["authors", "repository-code", "doi"]


def test_the_citation_is_filled_in(metadata):
    """Skipped while something is empty, but in a release: MOMAGAMES_RELEASE=1 pytest tests/test_release.py."""
    empty = metadata.list_empty_fields(metadata.read_citation())
    assert (ROOT / "CITATION.cff").read_text().count("# empty:") == len(empty)  # the workflow of releases looks for these marks
    if empty and not os.environ.get("MOMAGAMES_RELEASE"):
        pytest.skip(f"CITATION.cff: still empty: {', '.join(empty)}")
    assert not empty, "fill them in, and run python docs/release_metadata.py"


def test_the_workflows_test_the_versions_that_the_package_names():
    named = {line.rpartition(" :: ")[2] for line in project()["classifiers"] if "Python :: 3." in line}
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    assert set(matrix["python"]) == named == set(re.findall(r"3\.\d+", jobs["versions"]["steps"][-1]["run"]))
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}


@pytest.mark.parametrize("file", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda file: file.name)
def test_workflows_run_what_is_here(file):
    text = file.read_text()
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}  # jobs that need more say so
    for job in workflow["jobs"].values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(workflow["jobs"])
        assert not job.get("uses") or (ROOT / job["uses"]).is_file()
        for step in job.get("steps", []):
            assert ("run" in step) != ("uses" in step)
    used = re.findall(r"uses: (?!\./)(\S+)@(\S+)(.*)", text)
    branches = {"pypa/gh-action-pypi-publish": "release/v1"}  # its releases recommend this branch
    assert all(re.fullmatch(r"[0-9a-f]{40}", at) or branches.get(action) == at for action, at, _ in used)
    assert all(action in branches or re.fullmatch(r"  # v\d+\.\d+\.\d+", tag) for action, _, tag in used)
    assert all((ROOT / script).is_file() for script in re.findall(r"run: (\.ci/\w+)", text))


def test_citations_of_the_paper(monkeypatch):
    """Each citation has an entry, and each entry is cited."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    head, text = import_module("make_paper").read_paper()
    entries = set(re.findall(r"^@\w+\{(\w+),$", (ROOT / "docs/paper/paper.bib").read_text(), re.MULTILINE))
    assert entries == set(re.findall(r"@(\w+\d{4}\w+)", text))
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(head)


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


def test_the_wheel_has_the_trained_policies(wheel):
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "momagames").rglob("*.npz")}
    assert len(files) >= 10
    assert files <= set(wheel)


@pytest.mark.long
def test_builds_are_equal_to_the_byte(tmp_path):
    """From the checkout, and from the unpacked sdist an hour later in another folder."""
    if find_spec("build") is None or find_spec("hatchling") is None:
        pytest.skip("needs the packages build and hatchling")

    def build(source, out):
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1750000000"}
        subprocess.run(command, capture_output=True, check=True, env=environment)
        return {file.name: file.read_bytes() for file in out.iterdir()}

    first = build(ROOT, tmp_path / "first")
    with tarfile.open(next((tmp_path / "first").glob("*.tar.gz"))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4
        archive.extractall(tmp_path / "source")
    (source,) = (tmp_path / "source").iterdir()
    for file in source.rglob("*"):
        os.utime(file, (1_760_000_000, 1_760_000_000))
    assert build(source, tmp_path / "second") == first
