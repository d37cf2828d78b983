"""Folders of configuration files, which come with the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def find_packaged_folder(package: str, name: str, source: str) -> Path:
    """Return the folder `name` of an installed package, or configs/`source` of a checkout."""
    packed = Path(str(files(package))) / name
    return packed if packed.is_dir() else Path(__file__).resolve().parents[2] / "configs" / source
