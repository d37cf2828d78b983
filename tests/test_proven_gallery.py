"""The gallery of proven fronts: complete, and equal to the files."""

import re
import sys
from pathlib import Path

import pytest

from momagames import fronts

pytest.importorskip("matplotlib", reason='needs matplotlib: pip install "momagames[figures]"')
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))  # where its modules are
import proven_gallery  # noqa: E402

CHOSEN = ("resource-gathering-v0-gamma-0.9", "mo-breakthrough-v0-3x5-guaranteed-player_1", "mo-tileblast-v0-5x5-0")


@pytest.mark.long
def test_the_gallery_has_every_proven_front():
    kinds = {name: fronts.read_front(path).kind for name, path in fronts.packaged_fronts().items()}
    assert set(proven_gallery.load_proven()) == {name for name, kind in kinds.items() if kind == "proven"}


def test_the_page_shows_figure_position_cost_certificate_and_command(tmp_path, monkeypatch):
    found = {name: fronts.load_front(name) for name in CHOSEN}
    monkeypatch.setattr(proven_gallery, "load_proven", lambda: found)
    page = tmp_path / "page.md"
    proven_gallery.write_gallery(page)
    text = page.read_text(encoding="utf-8")
    for name, front in found.items():
        section = text[text.index(f"## {name}\n") :]
        figure = tmp_path / re.search(r"!\[.*?\]\((.*?)\)", section).group(1)
        assert "<svg" in figure.read_text(encoding="utf-8")
        for fact in (front.sha256, f"{front.method.states:,} positions", f"$ {front.provenance['command']}", front.statement):
            assert fact in section
    assert "policies: 6, certificates of optimality: 12" in text
    assert "strategies: 3" in text
    assert '"next_agent": "player_0"' in text or "next_agent=player_0" in text
    figure.write_text("kept")
    proven_gallery.write_gallery(page)
    assert figure.read_text() == "kept"  # a figure of the same front is not drawn again
