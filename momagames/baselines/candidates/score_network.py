"""The scorer of candidate actions in PyTorch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class ScoreNetwork(nn.Module):
    """The scorer of `kernels.score_candidate` on features that are divided by their scale.

    At first all scores are 0, so that all candidates are equally likely.
    """

    def __init__(self, count: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        bound = count**-0.5
        self.linear = nn.Parameter(torch.zeros(count))
        self.bias = nn.Parameter((torch.rand(hidden, generator=generator) * 2 - 1) * bound)
        self.weight = nn.Parameter((torch.rand(count, hidden, generator=generator) * 2 - 1) * bound)
        self.output = nn.Parameter(torch.zeros(hidden))

    def forward(self, features: Tensor) -> Tensor:
        """Return the scores float32[R] of features float32[R, F]."""
        return features @ self.linear + torch.relu(torch.addmm(self.bias, features, self.weight)) @ self.output

    def export(self, scale: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the parameters float64[P] of the scorer of features that are not divided by their scale, float64[F]."""
        linear, bias, weight, output = (one.detach().cpu().numpy().astype(np.float64) for one in self.parameters())
        return np.concatenate([linear / scale, bias, (weight / scale[:, None]).ravel(), output])
