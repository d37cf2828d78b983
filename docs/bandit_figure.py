"""Figure of docs/bandits.md: the regret of bandits, measured anew."""

from __future__ import annotations

import io
import runpy
from pathlib import Path

from PIL import Image

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "learning" / "bandits.py"


def draw_bandits() -> Image.Image:
    """Measure and draw the regret of the learners in MO-GemMining; this takes some minutes."""
    script, buffer = runpy.run_path(str(SCRIPT)), io.BytesIO()
    curves = script["report_gems"](script["read_arguments"](["gems"]))
    script["draw_curves"](curves).savefig(buffer, format="png")
    return Image.open(buffer).convert("RGB")
