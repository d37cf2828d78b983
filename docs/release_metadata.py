"""Writes authors, address and DOI from CITATION.cff to the other files that state them, and says which are still empty.

python docs/release_metadata.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from momagames.contract.titles import join_words

ROOT = Path(__file__).resolve().parent.parent
UNNAMED = "The momagames authors"  # stands for authors who are not named yet
FIELDS = ("authors", "repository-code", "doi")  # what is filled in before a release
PLACE = re.compile(r"((?:#|<!--) citation: start[^\n]*\n).*?((?:#|<!--) citation: end)", re.DOTALL)

Citation = Mapping[str, Any]


def read_citation(root: Path = ROOT) -> dict[str, Any]:
    """Return the fields of CITATION.cff."""
    found: dict[str, Any] = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    return found


def list_empty_fields(citation: Citation) -> list[str]:
    """Return the names of the fields that have to be filled in before a release and are not."""
    return [name for name in FIELDS if not citation.get(name) or (name == "authors" and UNNAMED in list_names(citation))]


def list_names(citation: Citation, is_family_first: bool = False) -> list[str]:
    """Return the names of the authors, of persons as "Given Family" or "Family, Given"."""
    return [_name_author(author, is_family_first) for author in citation["authors"]]


def _name_author(author: Mapping[str, str], is_family_first: bool) -> str:
    if "name" in author:
        return author["name"]
    if is_family_first:
        return f"{author['family-names']}, {author['given-names']}"
    return f"{author['given-names']} {author['family-names']}"


def list_addresses(citation: Citation) -> dict[str, str]:
    """Return the addresses that are filled in, by their titles."""
    found = {"Repository": citation.get("repository-code"), "DOI": citation.get("doi") and f"https://doi.org/{citation['doi']}"}
    return {title: address for title, address in found.items() if address}


# --------------------------------------------------------------------------------------------------------------- files


def update_project(text: str, citation: Citation) -> str:
    """Return the text of pyproject.toml."""
    lines = [f"authors = [{', '.join(f'{{ name = {json.dumps(name)} }}' for name in list_names(citation))}]"]
    if addresses := list_addresses(citation):
        lines += [f"urls = {{ {', '.join(f'{title} = {json.dumps(address)}' for title, address in addresses.items())} }}"]
    return _fill_place(text, lines)


def update_readme(text: str, citation: Citation) -> str:
    """Return the text of README.md."""
    links = "".join(f" [{title}]({address})." for title, address in list_addresses(citation).items())
    return _fill_place(text, ["", f"By {join_words(list_names(citation))}.{links}".replace("By The", "By the"), ""])


def update_cite(text: str, citation: Citation) -> str:
    """Return the text of docs/cite.md."""
    names = (f"{{{name}}}" if name == UNNAMED else name for name in list_names(citation, is_family_first=True))
    entries = {
        "author": " and ".join(names),
        "title": citation["title"],
        "version": citation["version"],
        "year": str(citation["date-released"])[:4],
        "license": citation["license"],
        "url": citation.get("repository-code"),
        "doi": citation.get("doi"),
    }
    rows = [f"  {name:<7} = {{{value}}}" for name, value in entries.items() if value]
    return _fill_place(text, ["", "```bibtex", "@software{momagames,", ",\n".join(rows), "}", "```", ""])


def update_codemeta(text: str, citation: Citation) -> str:
    """Return the text of codemeta.json."""
    data = json.loads(text)
    data["author"] = [_describe_author(author) for author in citation["authors"]]
    _set(data, "codeRepository", citation.get("repository-code"))
    _set(data, "identifier", list_addresses(citation).get("DOI"))
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _describe_author(author: Mapping[str, str]) -> dict[str, Any]:
    if "name" in author:
        return {"@type": "Organization", "name": author["name"]}
    found: dict[str, Any] = {"@type": "Person", "givenName": author["given-names"], "familyName": author["family-names"]}
    _set(found, "@id", author.get("orcid"))
    _set(found, "affiliation", author.get("affiliation") and {"@type": "Organization", "name": author["affiliation"]})
    return found


def update_zenodo(text: str, citation: Citation) -> str:
    """Return the text of .zenodo.json; Zenodo gives the DOI itself."""
    data = json.loads(text)
    data["creators"] = []
    for name, author in zip(list_names(citation, is_family_first=True), citation["authors"], strict=True):
        creator = {"name": name}
        _set(creator, "affiliation", author.get("affiliation"))
        _set(creator, "orcid", (author.get("orcid") or "").rpartition("/")[2])
        data["creators"].append(creator)
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _set(data: dict[str, Any], name: str, value: Any) -> None:
    """Set what is filled in, and remove what is not."""
    data.pop(name, None)
    if value:
        data[name] = value


def _fill_place(text: str, lines: list[str]) -> str:
    return PLACE.sub(lambda match: match[1] + "\n".join([*lines, match[2]]), text)


UPDATES: Mapping[str, Callable[[str, Citation], str]] = {
    "pyproject.toml": update_project,
    "README.md": update_readme,
    "docs/cite.md": update_cite,
    "codemeta.json": update_codemeta,
    ".zenodo.json": update_zenodo,
}


def main() -> None:
    citation = read_citation()
    for name, update in UPDATES.items():
        file = ROOT / name
        file.write_text(update(file.read_text(encoding="utf-8"), citation), encoding="utf-8")
    print(f"CITATION.cff: still empty: {join_words(list_empty_fields(citation)) or 'nothing'}")


if __name__ == "__main__":
    main()
