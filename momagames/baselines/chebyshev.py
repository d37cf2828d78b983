"""The augmented Chebyshev utility: by single weights it leads to every point of a front, those in hollows too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

AUGMENTATION = 0.01  # share of the weighted sum: between equal worst objectives the rest decides


def augmented_chebyshev(reached: NDArray[np.float64], weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Minus the largest weighted shortfall from the utopia, and a hundredth of the weighted sum, float64[...].

    reached    normalized returns float64[..., K], 0 the reference point and 1 the utopia
    weights    of the objectives, float[K] or float[..., K]

    Source: Steuer and Choo, "An interactive weighted Tchebycheff procedure for multiple objective programming",
    Math. Programming 26, 1983.
    """
    weighted = weights * reached
    found: NDArray[np.float64] = AUGMENTATION * weighted.sum(axis=-1) - (weights - weighted).max(axis=-1)
    return found
