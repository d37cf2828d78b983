"""How far the weights of the objectives steer policies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

Floats = NDArray[np.float64]


def compute_controllability(weights: Floats, points: Floats) -> Floats:
    """Return Spearman's rank correlation of weight and mean return in each objective, float64[K].

    weights   float64[n, K], those of n policies
    points    float64[n, K], their mean returns

    1: a policy with a higher weight has a higher return in each pair. 0 where all weights or all returns are equal
    """

    def correlate(k: int) -> float:
        if np.ptp(weights[:, k]) == 0 or np.ptp(points[:, k]) == 0:
            return 0.0
        return float(spearmanr(weights[:, k], points[:, k]).statistic)

    return np.array([correlate(k) for k in range(weights.shape[1])])
