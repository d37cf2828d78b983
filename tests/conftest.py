"""Settings that all tests share."""

import os

import pytest
from hypothesis import settings

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
examples = 8 if INTERPRETED else 30
settings.register_profile("momagames", deadline=None, derandomize=True, database=None, max_examples=examples)
settings.load_profile("momagames")


@pytest.fixture(scope="session")
def interpreted() -> bool:
    """Whether the rules run without the compiler (NUMBA_DISABLE_JIT=1): tests then play smaller games."""
    return INTERPRETED
