"""Errors of submissions. Every message names the file and the place in it."""

from __future__ import annotations

from typing import ClassVar

from momagames.errors import InvalidFile


class InvalidSubmission(InvalidFile):
    """A submission that cannot be checked as it is.

    problem    the kind of error in one word
    """

    problem: ClassVar[str] = "invalid"


class ForgedSubmission(InvalidSubmission):
    """A play that the rules do not allow, or returns that a replay does not give."""

    problem = "forged"


class TruncatedSubmission(InvalidSubmission):
    """A file that is missing, was cut, or differs from its checksum; a seed without a result."""

    problem = "truncated"


class MislabeledSubmission(InvalidSubmission):
    """A setting, file or policy that is not what its label says."""

    problem = "mislabeled"


class OversizedSubmission(InvalidSubmission):
    """A submission beyond a limit of size, number or length."""

    problem = "oversized"


class UnsafeSubmission(InvalidSubmission):
    """A link, a path out of the directory, or code that was not allowed to run."""

    problem = "unsafe"
