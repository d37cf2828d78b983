"""Every section that the code of a game cites is in its SPEC.md."""

import pytest

from tests.specifications import GAMES, citation_problems

FOLDERS = sorted(file.parent for file in GAMES.glob("*/SPEC.md"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_cited_sections_exist(folder):
    assert not (problems := citation_problems(folder)), "\n".join(problems)


def test_a_section_that_is_missing_gets_instructions(tmp_path):
    folder = tmp_path / "pebbles"
    folder.mkdir()
    (folder / "SPEC.md").write_text("## 5 Rewards\n\n**5.1** win\n", encoding="utf-8")
    (folder / "rules.py").write_text("# §5, §5.1 and §5.2\n", encoding="utf-8")
    assert citation_problems(folder) == [
        "pebbles/rules.py cites §5.2: correct the number, or write in SPEC.md a paragraph that starts with '**5.2**'"
    ]
