"""Pictures of pages that commands write, taken by a headless Chromium: the report of a benchmark and that of a training."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=9000")
WIDTH = 900  # pixels of a picture


def draw_report() -> Image.Image:
    """Run the benchmark `quick` and return the top of its report."""
    return take_picture("bench quick --out made", Path("made/report.html"), (1500, 900))


def draw_training() -> Image.Image:
    """Train for a minute and return the curves of the report."""
    game = 'mo-breakthrough-v0 -p board_width=6 -p board_height=6 -p \'objectives=["win","captures","losses"]\''
    command = f"train {game} --method moppo --opponent greedy --budget 1e6 -O divisions=6 --threads 1 --out made"
    return take_picture(command, Path("made/report.html"), (1000, 1180), top=505)


def take_picture(command: str, page: Path, size: tuple[int, int], top: int = 0) -> Image.Image:
    """Run a command in an empty folder and return a picture of a page that it writes, from a line of pixels on."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"missing browser: expected one of {', '.join(BROWSERS)}")
    with TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "momagames", *shlex.split(command)], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        file, data = Path(folder) / "page.png", Path(folder) / "browser"
        where = f"--window-size={size[0]},{size[1]}", f"--user-data-dir={data}", f"--screenshot={file}"
        subprocess.run([browser, *OPTIONS, *where, (Path(folder) / page).as_uri()], check=True, capture_output=True)
        image = Image.open(file).convert("RGB").crop((0, top, *size))
    image.thumbnail((WIDTH, image.height), Image.Resampling.LANCZOS)
    return image
