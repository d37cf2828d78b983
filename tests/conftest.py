"""Settings that all tests share."""

import os

import pytest
from hypothesis import settings

settings.register_profile("momagames", deadline=None, derandomize=True, database=None)
settings.load_profile("momagames")


@pytest.fixture(scope="session")
def interpreted() -> bool:
    """Whether the rules run without the compiler (NUMBA_DISABLE_JIT=1): tests then play smaller games."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
