"""The paper: Markdown becomes Typst, costs are those of the archives, and the PDF is built where the compiler is installed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from momagames.benchmark.store.archive_file import ArchivedStore

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))  # where its modules are
import make_paper  # noqa: E402
import paper_facts  # noqa: E402
from typst_markup import convert_markdown  # noqa: E402


@pytest.mark.parametrize(
    ("markdown", "markup"),
    [
        ("# A *b*", "= A #emph[b];"),
        ("One `x_1` costs #1 & [a page](x.md), [b](https://example.org).",
         'One #raw("x_1"); costs \\#1 & a page, #link("https://example.org")[b];.'),
        ("As [@a2020b; @c2021d] and @e2022f say.",
         'As #cite(<a2020b>);#cite(<c2021d>); and #cite(<e2022f>, form: "prose"); say.'),
        ("`f`; **g**[h]", '#raw("f");; #strong[g];\\[h\\]'),
        ("- a\n- b\n", "#list([a], [b])"),
        ("![What](../x.png)", '#figure(image("/docs/../x.png", alt: "What", width: 62%), caption: [What])'),
        ("```\na\n```", '#raw(block: true, "a")'),
    ],
)  # fmt: skip
def test_markdown_becomes_typst(markdown, markup):
    assert convert_markdown(markdown, "/docs") == markup + "\n"


def test_a_table_takes_the_caption_behind_it():
    made = convert_markdown("| a | b |\n|---|---:|\n| x | 1 |\n\nTable: Some numbers.\n\nText.", "/docs")
    assert "caption: [Some numbers.]" in made
    assert "align: (left, right,)" in made
    assert "table.header([a], [b]),\n  [x], [1]," in made
    assert made.count("Some numbers") == 1
    assert made.endswith("\n\nText.\n")


def test_markup_that_typst_would_obey_is_text():
    assert convert_markdown("a $x$ < b > \\[ // #d", "/docs") == "a \\$x\\$ \\< b \\> \\[ \\/\\/ \\#d\n"


def test_a_block_without_a_form_in_typst_is_refused():
    with pytest.raises(ValueError, match="invalid block='blockquote_open': expected a heading, "):
        convert_markdown("> a", "/docs")


def test_an_unknown_placeholder_names_the_nearest():
    with pytest.raises(KeyError, match=r"did you mean 'policies\.moppo\.wins'"):
        make_paper.fill_placeholders("{{ policies.moppo.win }}")


def test_rows_are_read_below_a_heading():
    text = "# T\n\n| a |\n|---|\n| 0 |\n\n## H\n\nWords.\n\n| a | b |\n|---|---:|\n| x | 0.5 |\n| y | – |\n| z | 0.25 |\n"
    rows = paper_facts.read_rows(text, "H")
    assert rows == [{"a": "x", "b": "0.5"}, {"a": "y", "b": "–"}, {"a": "z", "b": "0.25"}]
    assert paper_facts.find_largest(rows, "b") == "0.5"
    assert paper_facts.write_table(rows[:1], {"b": "B"}) == "| B |\n|---|\n| 0.5 |"


def test_costs_are_those_of_the_archive():
    """Against the sums that the page of the track prints."""
    pytest.importorskip("polars", reason='needs polars: pip install "momagames[analysis]"')
    store = ArchivedStore(paper_facts.ARCHIVES["generalization"])
    found = dict(paper_facts.list_experiments(store, store.read_suite()))
    total = paper_facts.add_costs([*found.values()])
    page = paper_facts.read_page("generalization")
    assert f"| environment steps | {total.steps:,} |" in page
    assert f"CPU {paper_facts.format_duration(total.cpu_s)} |" in page
    assert (total.settings, total.finished, total.listed) == (2, 200, 200)
    assert total.describe()[:4] == ("2", "10", "200", f"{total.steps / 1e6:,.0f}")
    assert set(found) == {"100 training instances", "10 training instances"}


def test_the_head_has_the_authors_of_the_citation(monkeypatch):
    authors = [
        {"given-names": "Jane", "family-names": "Doe", "affiliation": "B", "orcid": "https://orcid.org/0000-0000-0000-0000"},
        {"name": "A group", "affiliation": "A"},
    ]
    monkeypatch.setattr(make_paper, "read_citation", lambda: {"authors": authors, "date-released": "2030-01-02"})
    head, _ = make_paper.read_paper()
    assert head["authors"] == [
        {"name": "Jane Doe", "affiliation": 1, "orcid": "0000-0000-0000-0000"},
        {"name": "A group", "affiliation": 2},
    ]
    assert head["affiliations"] == [{"name": "B", "index": 1}, {"name": "A", "index": 2}]
    assert head["date"] == "2030-01-02"


@pytest.mark.long
def test_the_paper_is_built(tmp_path, monkeypatch):
    pytest.importorskip("typst", reason='needs typst: pip install "momagames[paper]"')
    names = [tmp_path / f"paper.{ending}" for ending in ("md", "typ", "pdf")]
    for file in names:
        monkeypatch.setattr(sys, "argv", ["make_paper.py", str(file)])
        make_paper.main()
    markdown, markup, pdf = (file.read_bytes() for file in names)
    assert pdf.startswith(b"%PDF-")
    assert make_paper.build_pdf(markup.decode()) == pdf
    assert markdown.startswith(b"---\ntitle: ")
    assert b"{{" not in markdown
    entries = re.findall(r"^@\w+\{(\w+),$", (ROOT / "docs/paper/paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert entries
    assert all(f"<{entry}>" in markup.decode() for entry in entries)
