"""Utilities of normalized returns other than the weighted sum, which reaches only the convex hull of a front."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UTILITIES = ("linear", "log", "chebyshev")  # names in options
LOG_OFFSET = 0.1  # added to normalized returns, so that their logarithm is finite
AUGMENTATION = 0.01  # coefficient of the weighted sum, which breaks ties of the maximum


def augmented_chebyshev(normalized: NDArray[np.float64], weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the negative largest weighted distance to the ideal point plus the weighted sum times 0.01, float64[...].

    With suitable weights every point of a front maximizes it, also in concave regions.

    normalized   normalized returns float64[..., K]: 0 is the reference point, 1 the ideal point
    weights      of the objectives, float[K] or float[..., K]

    Source: Steuer and Choo, "An interactive weighted Tchebycheff procedure for multiple objective programming",
    Math. Programming 26, 1983.
    """
    weighted = weights * normalized
    utilities: NDArray[np.float64] = AUGMENTATION * weighted.sum(axis=-1) - (weights - weighted).max(axis=-1)
    return utilities


def logarithmic(normalized: NDArray[np.float64], weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the weighted sum of the logarithms of 0.1 + returns, float64[...]: gains count more where there is little.

    normalized   returns float64[..., K], 0 at the reference point; smaller ones count as 0
    weights      of the objectives, float[K] or float[..., K]
    """
    utilities: NDArray[np.float64] = (weights * np.log(LOG_OFFSET + np.maximum(normalized, 0.0))).sum(axis=-1)
    return utilities
