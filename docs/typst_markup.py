"""Markdown of the paper as markup of Typst, with citations of a file of BibTeX (see make_paper.py).

A paragraph "Table: text" behind a table is its caption. A picture alone in a paragraph is a figure, whose text is its caption.
Links to other pages of the documentation become plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

CITATIONS = re.compile(r"\[(@\w+(?:; @\w+)*)\]|@(\w+)")
SPECIAL = re.compile(r"[\\#$*_\[\]<>@~`/]|^[-+=](?= )")
CAPTION = "Table: "
# A semicolon ends a call, which else would take a bracket or semicolon of the text behind it
INLINE = {"strong_open": "#strong[", "strong_close": "];", "em_open": "#emph[", "em_close": "];"}
NUMBER = re.compile(r"\**[-+~]?\d")
LISTS = {"bullet_list_open": "list", "ordered_list_open": "enum"}
WIDE_CELL = 34  # characters of a cell from which on its column is text that shares the width that is left
FIGURE_WIDTH = "62%"
MAX_ROWS = 30  # of a table that is placed on one page, at the top or bottom; longer ones stay where they are, and break


def convert_markdown(text: str, folder: str) -> str:
    """Return Markdown as markup of Typst; `folder`: of its pictures, from the root of the compiler."""
    parser = MarkdownIt("commonmark").enable("table")
    return "\n\n".join(_convert_blocks(parser.parse(text), folder)) + "\n"


def _convert_blocks(tokens: Sequence[Token], folder: str) -> Iterator[str]:
    position = 0
    while position < len(tokens):
        token, end = tokens[position], _find_end(tokens, position)
        inner = tokens[position + 1 : end]
        position = end + 1
        if token.type == "heading_open":
            yield f"{'=' * int(token.tag[1])} {_convert_inline(inner[0], folder)}"
        elif token.type == "paragraph_open":
            yield _convert_paragraph(inner[0], folder)
        elif token.type in LISTS:
            items = (item for item in _split_items(inner))
            bodies = ("\n\n".join(_convert_blocks(item, folder)) for item in items)
            yield f"#{LISTS[token.type]}({', '.join(f'[{body}]' for body in bodies)})"
        elif token.type == "table_open":
            caption = ""
            if position + 1 < len(tokens) and tokens[position + 1].content.startswith(CAPTION):
                caption = _convert_inline(tokens[position + 1], folder).removeprefix(CAPTION)
                position += 3
            yield _convert_table(inner, caption, folder)
        elif token.type == "fence":
            yield f"#raw(block: true, {_quote(token.content.rstrip())})"
        else:
            raise ValueError(f"invalid block={token.type!r}: expected a heading, paragraph, list, table or fenced code")


def _find_end(tokens: Sequence[Token], start: int) -> int:
    """Return the position of the token that closes the one at `start`, which may be the same."""
    depth = 0
    for position in range(start, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    raise AssertionError("the parser closes what it opens")


def _split_items(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    position = 0
    while position < len(tokens):
        end = _find_end(tokens, position)
        yield tokens[position + 1 : end]
        position = end + 1


def _convert_paragraph(token: Token, folder: str) -> str:
    children = token.children or []
    if len(children) == 1 and children[0].type == "image":
        picture = _convert_image(children[0], folder).removeprefix("#").removesuffix(");")
        return f"#figure({picture}, width: {FIGURE_WIDTH}), caption: [{_escape(children[0].content)}])"
    return _convert_inline(token, folder)


def _convert_table(tokens: Sequence[Token], caption: str, folder: str) -> str:
    rows = [[*_split_items(row)] for part in _split_items(tokens) for row in _split_items(part)]
    columns, aligned = [], []
    for number in range(len(rows[0])):
        texts = [row[number][0].content for row in rows[1:]]
        width = max(map(len, texts), default=0)
        columns.append(f"{min(width, 2 * WIDE_CELL)}fr" if width >= WIDE_CELL else "auto")
        aligned.append("right" if any(map(NUMBER.match, texts)) and number else "left")
    cells = [", ".join(f"[{_convert_inline(cell[0], folder)}]" for cell in row) for row in rows]
    lines = f"columns: ({', '.join(columns)},)", f"align: ({', '.join(aligned)},)", f"table.header({cells[0]})", *cells[1:]
    body = "table(\n  " + ",\n  ".join(lines) + ",\n)"
    placement = "auto" if len(rows) <= MAX_ROWS else "none"
    if not caption:
        return f"#align(center, {body})"
    return f"#figure(kind: table, placement: {placement}, caption: [{caption}], {body})"


def _convert_inline(token: Token, folder: str) -> str:
    parts, is_linked = [], False
    for child in token.children or []:
        if child.type == "text":
            parts.append(_convert_text(child.content))
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "code_inline":
            parts.append(f"#raw({_quote(child.content)});")
        elif child.type == "image":
            parts.append(_convert_image(child, folder))
        elif child.type == "link_open":
            is_linked = str(child.attrs["href"]).startswith("http")
            parts.append(f"#link({_quote(str(child.attrs['href']))})[" if is_linked else "")
        elif child.type == "link_close":
            parts.append("];" if is_linked else "")
        else:
            parts.append(INLINE[child.type])
    return "".join(parts)


def _convert_image(token: Token, folder: str) -> str:
    file = f"{folder}/{token.attrs['src']}"
    return f"#image({_quote(file)}, alt: {_quote(token.content)});"


def _convert_text(text: str) -> str:
    """Return text with its citations."""
    parts, position = [], 0
    for found in CITATIONS.finditer(text):
        keys = found[1].split("; ") if found[1] else [f"@{found[2]}"]
        form = "" if found[1] else ', form: "prose"'
        cited = "".join(f"#cite(<{key[1:]}>{form});" for key in keys)
        parts += [_escape(text[position : found.start()]), cited]
        position = found.end()
    return "".join((*parts, _escape(text[position:])))


def _escape(text: str) -> str:
    return SPECIAL.sub(lambda found: f"\\{found[0]}", text)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
