"""Tensors of a network and its optimizer, for checkpoints."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def collect_tensors(network: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the tensors of a network and of the state of its optimizer, which is created if there is none yet."""
    if not optimizer.state:
        for parameter in network.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()  # changes no parameter, but counts
        for state in optimizer.state.values():
            for tensor in state.values():
                tensor.zero_()
    tensors: dict[str, Tensor] = {f"network/{name}": tensor for name, tensor in network.state_dict().items()}
    for i, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{i}/{name}": tensor for name, tensor in state.items()}
    return tensors
