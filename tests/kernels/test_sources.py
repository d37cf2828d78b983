"""Import closure of source files."""

import os

import pytest

from momagames.kernels.jit.sources import Sources, find_imports


@pytest.fixture
def closure(tmp_path):
    """Write files and return those in the closure of `start`, but for the package's own."""

    def find(start, files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = Sources(tmp_path / "imports.json").find_closure([os.path.realpath(tmp_path / start)])
        return {os.path.relpath(file, os.path.realpath(tmp_path)) for file in found}

    return find


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("import game.a", {"a.py", "b.py"}),
        ("from game import a", {"a.py", "b.py"}),
        ("from .a import X\ny = X", {"a.py", "b.py"}),
        ("from game.a import *", {"a.py", "b.py"}),
        ("from . import b as other", {"b.py"}),
        ("def late():\n    from game.b import B", {"b.py"}),
        ("if 1:\n    import game.sub.c as c", {"sub/c.py"}),  # not sub/__init__.py
        ("from game.sub import c", {"sub/c.py"}),
        ("from game.sub import D", {"sub/__init__.py", "sub/d.py"}),  # not all that sub/__init__.py imports
        ("from game.sub import OWN", {"sub/__init__.py", "sub/d.py", "sub/e.py"}),
        ("import game.sub", {"sub/__init__.py", "sub/d.py", "sub/e.py"}),
        ("from game.b import B\ndef f(x: B) -> B: ...\ny: B = 1", set()),
        ("from game.b import B\ndef f(x: B): return B", {"b.py"}),
        ("import numpy, os.path\nfrom json import loads", set()),
        ("import game.missing", set()),
    ],
)
@pytest.mark.parametrize("place", ["game", "src/game", "site-packages/game"])
def test_imports_that_are_followed(closure, place, text, reached):
    files = {
        "__init__.py": "import game.drawing",
        "drawing.py": "",
        "rules.py": text,
        "a.py": "from game.b import B\nX = B",
        "b.py": "B = 1",
        "sub/__init__.py": "from .d import D\nfrom game.sub.e import E\nOWN = 3",
        "sub/c.py": "",
        "sub/d.py": "D = 1",
        "sub/e.py": "E = 1",
    }
    found = closure(f"{place}/rules.py", {f"{place}/{name}": text for name, text in files.items()})
    assert found == {f"{place}/{name}" for name in {"rules.py"} | reached}


def test_modules_in_one_folder(closure):
    files = {"rules.py": "from beside import X\nimport helpers.more", "beside.py": "X = 1", "helpers/more.py": ""}
    assert closure("rules.py", files) == set(files)


def test_a_lone_installed_module_does_not_reach_other_packages(closure):
    files = {"site-packages/rules.py": "import other", "site-packages/other/__init__.py": ""}
    assert closure("site-packages/rules.py", files) == {"site-packages/rules.py"}


def test_cycles_and_broken_files(closure):
    files = {"a.py": "import b", "b.py": "import a, c", "c.py": "def ("}
    assert closure("a.py", files) == set(files)
    assert find_imports(b"def (") == []


def test_imports_are_stored_by_content(tmp_path, monkeypatch):
    file, index = tmp_path / "a.py", tmp_path / "cache" / "imports.json"
    file.write_text("import b")
    (tmp_path / "b.py").write_text("")
    sources = Sources(index)
    expected = sources.find_closure([str(file)])
    assert len(expected) == 2
    sources.save()
    monkeypatch.setattr("momagames.kernels.jit.sources.find_imports", None)  # not called again
    assert Sources(index).find_closure([str(file)]) == expected
