"""The network of MOPPO, in PyTorch; `policy.NetworkPolicy` is the same network as a kernel, without PyTorch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from momagames.baselines.learn.policy import SQUEEZED, inputs
from momagames.baselines.learn.sight import Sight
from momagames.contract import Game


class Network(nn.Module):
    """Logits of actions and the value of a position in each objective, for the weights that an agent plays by.

    Boards go through 3x3 convolutions with residual connections, the first of which is told the numbers, who the agent is,
    and its weights; a few channels of each cell and the numbers again go through two dense layers, the trunk. Where actions
    belong to cells, their logits come from the cell's channels and the trunk, else from the trunk.

    channels, hidden, layers    of convolutions; of the trunk; convolutions after the first

    Letters: N positions, P planes, V numbers, M logits, K objectives
    """

    def __init__(self, game: Game, sight: Sight, channels: int, hidden: int, layers: int) -> None:
        super().__init__()
        goals = len(game.objectives)
        self.sight = sight
        told = inputs(game, sight)
        if sight.cells:
            self.first = nn.Conv2d(len(sight.planes), channels, 3, padding=1)
            self.around = nn.Linear(told, channels, bias=False)
            self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(layers))
            self.squeeze = nn.Linear(channels, SQUEEZED)
        self.trunk = nn.Linear(sight.cells * SQUEEZED + told, hidden)
        self.second = nn.Linear(hidden, hidden)
        if sight.by_cell:
            self.cell = nn.Linear(channels, channels, bias=False)
            self.cell_trunk = nn.Linear(hidden, channels)
        self.head = nn.Linear(channels if sight.by_cell else hidden, sight.by_cell or game.mask_size)
        self.value = nn.Linear(hidden, goals)
        for layer in self.modules():
            if isinstance(layer, (nn.Linear, nn.Conv2d)):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.head.weight, 0.01)
        nn.init.orthogonal_(self.value.weight, 1.0)

    def forward(self, boards: Tensor, told: Tensor) -> tuple[Tensor, Tensor]:
        """boards float32[N, cells * P] and told float32[N, V + ...] -> logits float32[N, M], values float32[N, K]."""
        sight = self.sight
        flat = told
        if sight.cells:
            seen = boards.view(-1, sight.rows, sight.columns, len(sight.planes)).permute(0, 3, 1, 2)
            near = F.relu(self.first(seen) + self.around(told)[:, :, None, None])
            for convolution in self.convolutions:
                near = near + F.relu(convolution(near))
            near = near.permute(0, 2, 3, 1).flatten(1, 2)
            flat = torch.cat([F.relu(self.squeeze(near)).flatten(1), told], 1)
        deep = F.relu(self.second(F.relu(self.trunk(flat))))
        if sight.by_cell:
            logits = self.head(F.relu(self.cell(near) + self.cell_trunk(deep)[:, None])).flatten(1)
        else:
            logits = self.head(deep)
        return logits, self.value(deep)

    def exported(self) -> dict[str, NDArray[np.float32]]:
        """What the kernel needs: everything but the values, as [inputs, outputs]."""
        state = {name: tensor.detach().cpu() for name, tensor in self.state_dict().items()}
        arrays: dict[str, Tensor] = {}
        for name in ("around", "squeeze", "trunk", "second", "cell", "cell_trunk", "head"):
            if f"{name}.weight" in state:
                arrays[name] = state[f"{name}.weight"].T
            if f"{name}.bias" in state:
                arrays[f"{name}_bias"] = state[f"{name}.bias"]
        if self.sight.cells:
            stacked = [f"convolutions.{i}" for i in range(len(self.convolutions))]
            arrays["first"], arrays["first_bias"] = _kernel(state["first.weight"]), state["first.bias"]
            arrays["convolutions"] = torch.stack([_kernel(state[f"{name}.weight"]) for name in stacked])
            arrays["biases"] = torch.stack([state[f"{name}.bias"] for name in stacked])
        return {name: array.numpy().astype(np.float32, order="C", copy=True) for name, array in arrays.items()}


def _kernel(weights: Tensor) -> Tensor:
    """[C, P, 3, 3] -> [9, P, C]"""
    return weights.permute(2, 3, 1, 0).flatten(0, 1)
