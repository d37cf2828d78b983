"""Build the paper from docs/paper/paper.md: numbers and tables come from the package, its pages of results and its archives.

    python docs/make_paper.py            docs/_build/paper.pdf
    python docs/make_paper.py FILE.md    the same as Markdown for journals that take it, with authors; FILE.typ: as Typst

Names in double braces, such as {{ policies.moppo.wins }}, are those of `FACTS` in paper_facts.py. Authors, date, address and
DOI are those of CITATION.cff. Needs the extra `paper`.
"""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import yaml
from paper_facts import FACTS, ROOT
from release_metadata import Citation, list_addresses, list_names, read_citation
from typst_markup import convert_markdown

from momagames.errors import invalid_value, nearest

PAPER, PDF = ROOT / "docs" / "paper" / "paper.md", ROOT / "docs" / "_build" / "paper.pdf"
FOLDER = "/docs/paper"  # of pictures and bibliography, from the root of the compiler
PLACEHOLDER = re.compile(r"\{\{ *([^{} ]+) *\}\}")
TEMPLATE = """\
#set document(title: {title}, author: ({authors},))
#set page(paper: "a4", margin: (x: 2.3cm, y: 2.4cm), numbering: "1")
#set text(font: "Libertinus Serif", size: 10pt, lang: "en")
#set par(justify: true, leading: 0.58em, spacing: 0.9em)
#set heading(numbering: "1.1")
#show heading: set block(above: 1.3em, below: 0.7em)
#show heading.where(level: 1): set text(size: 12pt)
#show raw: set text(size: 1.1em)
#show link: set text(fill: rgb("#1f4e8c"))
#show figure.caption: set text(size: 9pt)
#show figure.where(kind: table): it => { show figure.caption: set block(sticky: true); it }
#show figure.where(kind: table): set figure.caption(position: top)
#show figure.where(kind: table): set block(breakable: true)
#show figure: set block(above: 1.4em, below: 1.4em)
#set table(stroke: none, inset: (x: 3pt, y: 2.6pt))
#show table: set text(size: 8pt)
#show table: set par(justify: false, leading: 0.45em)
#show table.cell.where(y: 0): strong
#show table: it => block(stroke: (top: 0.8pt, bottom: 0.8pt), inset: (y: 2pt), it)
#align(center)[
  #text(size: 16pt, weight: "bold")[#{title}]
  #v(0.3em)
  #text(size: 11pt)[#({authors},).join(", ")]
  #linebreak()
  #text(size: 9pt)[{below}]
]
#v(0.8em)

{body}
#set heading(numbering: none)
#bibliography({bibliography}, title: "References", style: "harvard-cite-them-right")
"""


def fill_placeholders(text: str) -> str:
    """Return a text with what its placeholders name."""
    return PLACEHOLDER.sub(lambda found: FACTS[_check_name(found[1])](), text)


def _check_name(name: str) -> str:
    if name not in FACTS:
        raise KeyError(invalid_value("placeholder", name, "a name in docs/paper_facts.py", nearest(name, FACTS)))
    return name


def read_paper() -> tuple[dict[str, Any], str]:
    """Return the head of the paper, completed by CITATION.cff, and its text with placeholders."""
    _, head, text = PAPER.read_text(encoding="utf-8").split("---\n", 2)
    citation = read_citation()
    places = list(dict.fromkeys(author.get("affiliation") or "" for author in citation["authors"]))
    authors = [
        {"name": name, "affiliation": places.index(author.get("affiliation") or "") + 1}
        | ({"orcid": author["orcid"].rpartition("/")[2]} if "orcid" in author else {})
        for name, author in zip(list_names(citation), citation["authors"], strict=True)
    ]
    affiliations = [{"name": place, "index": index} for index, place in enumerate(places, 1)]
    made = {"authors": authors, "affiliations": affiliations, "date": f"{citation['date-released']}"}
    return yaml.safe_load(head) | made, text


def write_markdown() -> str:
    """Return the paper as Markdown with the head that the Journal of Open Source Software takes."""
    head, text = read_paper()
    return f"---\n{yaml.safe_dump(head, allow_unicode=True, sort_keys=False)}---\n{fill_placeholders(text)}"


def write_typst() -> str:
    """Return the paper as Typst."""
    head, text = read_paper()
    citation: Citation = read_citation()
    places = [place["name"] for place in head["affiliations"] if place["name"]]
    links = [f"#link({_quote(address)})[{title}]" for title, address in list_addresses(citation).items()]
    values = {
        "title": _quote(head["title"]),
        "authors": ", ".join(map(_quote, list_names(citation))),
        "below": " · ".join([*places, f"version {citation['version']}, {head['date']}", *links]),
        "body": convert_markdown(fill_placeholders(text), FOLDER),
        "bibliography": _quote(f"{FOLDER}/{head['bibliography']}"),
    }
    made = TEMPLATE
    for name, value in values.items():
        made = made.replace(f"{{{name}}}", value)
    return made


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def build_pdf(markup: str) -> bytes:
    """Return the PDF of a text in Typst; a warning of the compiler is an error."""
    import typst

    released = datetime.combine(read_citation()["date-released"], time(), UTC)  # so that equal papers are equal files
    options = {"root": str(ROOT), "ignore_system_fonts": True, "timestamp": released}
    pdf, warnings = typst.compile_with_warnings(markup.encode(), **options)
    if warnings:
        raise ValueError("\n".join(str(warning) for warning in warnings))
    assert isinstance(pdf, bytes)
    return pdf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "file", nargs="?", type=Path, default=PDF, help="file that is written, .pdf, .md or .typ (docs/_build/paper.pdf)"
    )
    file: Path = parser.parse_args().file
    if file.suffix not in (".pdf", ".md", ".typ"):
        parser.error(invalid_value("file", str(file), "a name that ends in .pdf, .md or .typ"))
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".md":
        file.write_text(write_markdown(), encoding="utf-8")
    elif file.suffix == ".typ":
        file.write_text(write_typst(), encoding="utf-8")
    else:
        file.write_bytes(build_pdf(write_typst()))
    print(file)


if __name__ == "__main__":
    main()
