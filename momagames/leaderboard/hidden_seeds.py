"""Hidden seeds of report episodes: a hash of the seed is published first, and the seed when all submissions are there."""

from __future__ import annotations

import hashlib
import secrets

from momagames.errors import InvalidParameter, invalid_value


def draw_seed() -> int:
    """Return a seed of 128 random bits, which cannot be found from its commitment by trying all."""
    return secrets.randbits(128)


def compute_commitment(seed: int) -> str:
    """Return the SHA-256 that is published before the seed."""
    return hashlib.sha256(f"momagames leaderboard seed {seed}".encode()).hexdigest()


def check_commitment(seed: int | None, commitment: str) -> None:
    """Raise InvalidParameter unless the commitment is that of the seed."""
    if seed is None:
        raise InvalidParameter("--commitment is for a published seed: give it by --fresh-seed")
    if compute_commitment(seed) != commitment.strip().lower():
        raise InvalidParameter(invalid_value("fresh_seed", seed, f"the seed with the commitment {commitment}"))
