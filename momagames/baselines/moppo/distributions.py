"""Masked categorical distributions over the parts of an action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

ILLEGAL_LOGIT = -1e9  # finite: a part without a legal value does not produce NaN


def masked_log_softmax(logits: Tensor, masks: Tensor, parts: Sequence[int]) -> list[Tensor]:
    """Return log probabilities float32[R, size] of the values of each part; illegal values are masked."""
    legal = torch.where(masks != 0, logits, ILLEGAL_LOGIT)
    return [part.log_softmax(1) for part in torch.split(legal, list(parts), 1)]


def sample_actions(log_probs: Sequence[Tensor], generator: torch.Generator) -> Tensor:
    """Sample actions int64[R, P] (Gumbel-max trick)."""

    def sample(part: Tensor) -> Tensor:
        noise = torch.rand(part.shape, generator=generator).clamp_(1e-20)
        return (part - torch.log(-torch.log(noise))).argmax(1)

    return torch.stack([sample(part) for part in log_probs], 1)


def gather_log_probs(log_probs: Sequence[Tensor], actions: Tensor) -> Tensor:
    """Return the log probabilities float32[R, P] of the parts of actions int64[R, P]."""
    parts: Iterator[Tensor] = (part.gather(1, actions[:, [p]])[:, 0] for p, part in enumerate(log_probs))
    return torch.stack(list(parts), 1)


def mean_entropy(log_probs: Sequence[Tensor]) -> Tensor:
    """Return the mean entropy of the actions."""
    return -torch.stack([(part.exp() * part).sum(1) for part in log_probs], 1).sum(1).mean()
