"""Provenance of results: versions, machine, commit."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import momagames

PACKAGES = ("numpy", "numba", "llvmlite", "moocore", "gymnasium", "pettingzoo", "pydantic", "plotly")


@functools.cache
def collect_env_info() -> dict[str, Any]:
    """Return the provenance in the metadata of every run, as JSON data."""
    return {
        "momagames": momagames.__version__,
        "commit": _find_commit(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _find_version(name))},
        "machine": {
            "system": platform.system(),
            "release": platform.release(),
            "architecture": platform.machine(),
            "processor": _read_processor(),
            "cores": os.cpu_count(),
        },
        "jit": os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"),
    }


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _read_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())


def _find_commit() -> str | None:
    """Return the commit of the package's checkout, with "+changes" if files differ from it; None outside a checkout."""
    root = Path(momagames.__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    try:
        commit = _run_git(root, "rev-parse", "HEAD")
        return commit + ("+changes" if _run_git(root, "status", "--porcelain", "--", "momagames") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _run_git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, encoding="utf-8", timeout=10, check=True)
    return done.stdout.strip()
