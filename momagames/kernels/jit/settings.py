"""Settings of the compiler, most of them from the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numba
import platformdirs

INTERPRETED = bool(numba.config.DISABLE_JIT)
OPTIONS: dict[str, Any] = {"error_model": "numpy"}  # of every function


def cache_folder() -> Path:
    """Return the directory for compiled code: $MOMAGAMES_CACHE_DIR, or the cache directory of the user."""
    given = os.environ.get("MOMAGAMES_CACHE_DIR")
    return Path(given) if given else Path(platformdirs.user_cache_dir("momagames", appauthor=False))
