"""The cache of the pages of results: what changes make a page again, and what an interruption leaves."""

import json
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')
pytest.importorskip("matplotlib.text")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))  # where its modules are
import make_results  # noqa: E402
import page_cache  # noqa: E402
from page_figures import PageSet, image, show_images  # noqa: E402

from momagames.reports.figures import paper_figures  # noqa: E402
from momagames.reports.figures.paper_figures import Figure  # noqa: E402

SOURCES = {
    "docs/one_page.py": "from tools import shorten\nimport momagames.reports.tables",
    "docs/two_page.py": "",
    "docs/tools.py": "def shorten(): from momagames.wording import count",
    "docs/page.md": "A sentence.",
    "momagames/__init__.py": "",
    "momagames/reports/__init__.py": "",
    "momagames/reports/tables.py": 'GAMES = {"mo-go-v0": "momagames.games.go:make"}\nload(f"momagames.methods.{name}")',
    "momagames/wording.py": "",
    "momagames/games/__init__.py": "",
    "momagames/games/go.py": "",
    "momagames/games/chess.py": "",
    "momagames/games/board.csv": "1,2",
    "momagames/methods/beam.py": "",
    "configs/suites/paper.yaml": "seeds: 10",
    "one.json": "1",
    "two.json": "2",
}
USED = {
    "docs/one_page.py", "docs/tools.py", "momagames/__init__.py", "momagames/reports/__init__.py",
    "momagames/reports/tables.py", "momagames/wording.py", "momagames/games/__init__.py",
    "momagames/games/go.py", "momagames/methods/beam.py",
}  # fmt: skip


def make_figure(text, fail=None):
    """Return a figure whose file has a text; `fail`: raised after it is written."""

    def save(file, **options):
        file.write_text(text)
        if fail:
            raise fail

    return Figure("front", "", lambda: SimpleNamespace(findobj=lambda kind: [], savefig=save))


@pytest.fixture(autouse=True)
def unchanged_drawings(monkeypatch):
    """Take what figures make as drawn: here it is no description of a figure."""
    monkeypatch.setattr(paper_figures, "draw_with_matplotlib", lambda made: made)


def forget_sources():
    for function in (page_cache.hash_source, page_cache.list_data, page_cache.list_imports):
        function.cache_clear()


@pytest.fixture
def root(tmp_path):
    """Return a small project."""
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    forget_sources()
    yield tmp_path
    forget_sources()


@pytest.fixture
def site(root, monkeypatch):
    """Return a function that makes the pages of the small project; it returns their texts and which of them were computed."""
    computed = []

    def make(name, file):
        computed.append(name)
        return PageSet({name: f"# {name}\n\n{file.read_text()}\n"}, {name: make_figure(f"<svg>{name}")})

    def make_all(force=False):
        computed.clear()
        forget_sources()
        lines = []
        texts = make_results.make_results(files, root / "pages", lines.append, force)
        assert {line for line in lines if "computing" in line or "reused" in line} == {
            f"results of {name}: {'computing' if name in computed else 'reused'}" for name in files
        }
        return texts, sorted(computed)

    files = {"paper": root / "one.json", "policies": root / "two.json"}
    modules = {file: root / f"docs/{file.stem}_page.py" for file in files.values()}  # instead of those that define `make`
    monkeypatch.setattr(make_results, "MAKERS", dict.fromkeys(files, make))
    monkeypatch.setattr(make_results, "ProcessPoolExecutor", lambda *args, **options: ThreadPoolExecutor(1))
    monkeypatch.setattr(make_results, "hash_inputs", lambda file, *_: page_cache.hash_inputs(file, modules[file], root))
    return make_all


def test_code_of_a_page_is_what_its_module_imports_or_names(root):
    found = page_cache.list_code(root / "docs/one_page.py", root)
    assert {file.relative_to(root).as_posix() for file in found} == USED


@pytest.mark.parametrize(
    ("changed", "made"),
    [
        ("one.json", ["paper"]),  # the archive
        ("docs/tools.py", ["paper"]),
        ("momagames/games/go.py", ["paper"]),
        ("momagames/games/chess.py", []),
        ("docs/two_page.py", ["policies"]),
        ("docs/page.md", []),
        ("momagames/games/board.csv", ["paper", "policies"]),
        ("momagames/games/new.csv", ["paper", "policies"]),
        ("configs/suites/paper.yaml", ["paper", "policies"]),
        ("pages/paper.svg", ["paper"]),
        ("pages/.policies.json", ["policies"]),
    ],
)
def test_a_change_makes_the_pages_that_depend_on_it(root, site, changed, made):
    first, _ = site()
    assert site() == (first, [])
    (root / changed).write_text(SOURCES.get(changed, "") + "\n")
    assert site()[1] == made
    assert site()[1] == []


def test_all_pages_can_be_made_again(site):
    assert site()[1] == site(force=True)[1] == ["paper", "policies"]


def test_another_version_of_a_library_makes_all_pages_again(site, monkeypatch):
    site()
    monkeypatch.setattr(page_cache, "version", lambda library: "99")
    assert site()[1] == ["paper", "policies"]


def test_a_page_that_differs_is_reported_without_computing(root, site):
    texts, _ = site()
    for name, text in texts.items():
        (root / "pages" / name).write_text(text)
    assert make_results.compare_pages(root / "pages", site()[0]) == []
    (root / "pages/paper.md").write_text("better numbers")
    (root / "pages/other.md").write_text("no such suite")
    (root / "pages/index.md").unlink()
    texts, computed = site()
    assert make_results.compare_pages(root / "pages", texts) == ["index.md", "other.md", "paper.md"]
    assert computed == []


def test_an_interruption_leaves_no_valid_record(tmp_path):
    def write(first, second):
        page_cache.write_record(tmp_path, "one", "a", PageSet({"one": ""}, {"first": first, "second": second}))

    write(make_figure("<svg>"), make_figure("<svg>"))
    assert page_cache.read_record(tmp_path, "one", "a")
    assert not page_cache.read_record(tmp_path, "one", "b")
    with pytest.raises(KeyboardInterrupt):
        write(make_figure("<svg>new"), make_figure("<sv", KeyboardInterrupt))
    assert not page_cache.read_record(tmp_path, "one", "a")


def test_figures_of_former_pages_are_removed(root, site):
    site()
    (root / "pages/former.svg").write_text("<svg>")
    site()
    assert {file.name for file in (root / "pages").glob("*.svg")} == {"paper.svg", "policies.svg"}


def test_images_without_a_file_stay_comments_if_results_are_not_computed(tmp_path):
    text = f"{image('Here', 'a.svg')}\n{image('Missing', 'b.svg')}\n"
    (tmp_path / "a.svg").write_text("<svg>")
    assert show_images(text) == "![Here](a.svg)\n![Missing](b.svg)\n"
    assert show_images(text, tmp_path) == f"![Here](a.svg)\n{image('Missing', 'b.svg')}\n"


@pytest.mark.parametrize("is_wanted", [True, False])
def test_site_computes_results_unless_switched_off(is_wanted, tmp_path, monkeypatch):
    pytest.importorskip("sphinx")
    conf = runpy.run_path(str(ROOT / "docs/conf.py"))
    warnings, lines = [], []
    logger = SimpleNamespace(info=lambda *line: lines.append(line), warning=lambda text, page: warnings.append(page))
    planted = {"LOGGER": logger, "PAGES": tmp_path, "make_results": lambda *given: {"a.md": "made"}}
    for name, value in planted.items():
        monkeypatch.setitem(conf["update_results"].__globals__, name, value)
    (tmp_path / "a.md").write_text("another text")
    assert "compute_results" not in conf  # a setting of this name would take the place of the option
    app = SimpleNamespace(config=SimpleNamespace(compute_results=is_wanted))
    conf["update_results"](app)
    assert warnings == (["a.md"] if is_wanted else [])
    assert lines == ([] if is_wanted else [("results: taken as they are",)])


def test_maker_writes_the_pages_that_differ_and_removes_others(tmp_path, monkeypatch):
    for name, text in (("a.md", "old"), ("c.md", "former")):
        (tmp_path / name).write_text(text)
    forced = []

    def make(*given, force):
        forced.append(force)
        return {"a.md": "a", "b.md": "b"}

    for argv in (["make_results.py"], ["make_results.py", "--force"]):
        monkeypatch.setattr(sys, "argv", argv)
        monkeypatch.setattr(make_results, "PAGES", tmp_path)
        monkeypatch.setattr(
            make_results, "make_results", lambda *given, force: forced.append(force) or {"a.md": "a", "b.md": "b"}
        )
        make_results.main()
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"a.md": "a", "b.md": "b"}
    assert forced == [False, True]


def test_records_are_in_files_that_git_ignores(tmp_path):
    page_cache.write_record(tmp_path, "one", "a", PageSet({"one": "# One\n"}, {}))
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text())["texts"] == {"one": "# One\n"}
    assert f"docs/results/.*{file.suffix}" in (ROOT / ".gitignore").read_text().splitlines()
