"""The network of MOPPO, in PyTorch; `policy.NetworkPolicy` is the same network as a kernel, without PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from momagames.baselines.moppo.encoder import Sight
from momagames.baselines.moppo.network_policy import SQUEEZED, inputs
from momagames.contract import Game

Seen = tuple[Tensor, Tensor]  # boards and what is told with them


class Body(nn.Module):
    """Boards through 3x3 convolutions with residual connections, the first of which is told all numbers as well; a few channels
    of each cell, the numbers again, and all channels of the cells where agents are go through two dense layers, the trunk.

    rows, columns, planes, told    of what it sees: boards, if there are any, and numbers
    spots                          planes that show where an agent is
    channels, hidden, layers    of convolutions; of the trunk; convolutions after the first
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        planes: int,
        told: int,
        spots: Sequence[int],
        channels: int,
        hidden: int,
        layers: int,
    ) -> None:
        super().__init__()
        self.board, self.spots = (rows, columns, planes), list(spots)
        cells = rows * columns
        if cells:
            self.first = nn.Conv2d(planes, channels, 3, padding=1)
            self.around = nn.Linear(told, channels, bias=False)
            self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(layers))
            self.squeeze = nn.Linear(channels, SQUEEZED)
        self.trunk = nn.Linear(cells * SQUEEZED + told + len(spots) * channels, hidden)
        self.second = nn.Linear(hidden, hidden)

    def forward(self, boards: Tensor, told: Tensor) -> tuple[Tensor, Tensor]:
        """boards float32[N, cells * P] and told float32[N, V] -> channels float32[N, cells, C], trunk float32[N, H]."""
        near, flat = told[:, :0, None], told
        if boards.shape[1]:
            seen = boards.view(-1, *self.board).permute(0, 3, 1, 2)
            near = F.relu(self.first(seen) + self.around(told)[:, :, None, None])
            for convolution in self.convolutions:
                near = near + F.relu(convolution(near))
            near = near.permute(0, 2, 3, 1).flatten(1, 2)
            here = boards.view(len(near), near.shape[1], -1)[:, :, self.spots].transpose(1, 2) @ near
            flat = torch.cat([F.relu(self.squeeze(near)).flatten(1), told, here.flatten(1)], 1)
        return near, F.relu(self.second(F.relu(self.trunk(flat))))


class Network(nn.Module):
    """Logits of actions and the value of a position in each objective, for the weights that an agent plays by.

    The body sees the observation, which agent it is of, and the weights. Where actions belong to cells, their logits come from
    the cell's channels and the trunk, else from the trunk. Values come from the same trunk; with a central critic from a body
    of their own, which sees the observations of all agents.

    Letters: N positions, A agents, P planes, V numbers, M logits, K objectives
    """

    def __init__(self, game: Game, sight: Sight, channels: int, hidden: int, layers: int, central: bool = False) -> None:
        super().__init__()
        goals, agents = len(game.objectives), len(game.agents)
        self.sight = sight
        told, planes = inputs(game, sight), len(sight.planes)
        spots = [sight.spot] if sight.spot >= 0 else []
        self.body = Body(sight.rows, sight.columns, planes, told, spots, channels, hidden, layers)
        if sight.by_cell:
            self.cell = nn.Linear(channels, channels, bias=False)
            self.cell_trunk = nn.Linear(hidden, channels)
        self.head = nn.Linear(channels if sight.by_cell else hidden, sight.by_cell or game.mask_size)
        self.critic: Body | None = None
        if central:
            told += (agents - 1) * len(sight.numbers)
            spots = [agent * planes + spot for agent in range(agents) for spot in spots]
            self.critic = Body(sight.rows, sight.columns, planes * agents, told, spots, channels, hidden, layers)
        self.value = nn.Linear(hidden, goals)
        for layer in self.modules():
            if isinstance(layer, (nn.Linear, nn.Conv2d)):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.head.weight, 0.01)
        nn.init.orthogonal_(self.value.weight, 1.0)

    def forward(self, own: Seen, all_agents: Seen | None = None) -> tuple[Tensor, Tensor]:
        """boards float32[N, cells * P] and told float32[N, V + ...] -> logits float32[N, M], values float32[N, K].

        all_agents    for a central critic: boards float32[N, cells * A * P] and told float32[N, A * V + ...]
        """
        near, deep = self.body(*own)
        if self.sight.by_cell:
            logits = self.head(F.relu(self.cell(near) + self.cell_trunk(deep)[:, None])).flatten(1)
        else:
            logits = self.head(deep)
        if self.critic is not None:
            assert all_agents is not None
            _, deep = self.critic(*all_agents)
        return logits, self.value(deep)

    def exported(self) -> dict[str, NDArray[np.float32]]:
        """What the kernel needs: everything but the values, as [inputs, outputs]."""
        state = {name.removeprefix("body."): tensor.detach().cpu() for name, tensor in self.state_dict().items()}
        arrays: dict[str, Tensor] = {}
        for name in ("around", "squeeze", "trunk", "second", "cell", "cell_trunk", "head"):
            if f"{name}.weight" in state:
                arrays[name] = state[f"{name}.weight"].T
            if f"{name}.bias" in state:
                arrays[f"{name}_bias"] = state[f"{name}.bias"]
        if self.sight.cells:
            stacked = [f"convolutions.{i}" for i in range(len(self.body.convolutions))]
            arrays["first"], arrays["first_bias"] = _kernel(state["first.weight"]), state["first.bias"]
            arrays["convolutions"] = torch.stack([_kernel(state[f"{name}.weight"]) for name in stacked])
            arrays["biases"] = torch.stack([state[f"{name}.bias"] for name in stacked])
        return {name: array.numpy().astype(np.float32, order="C", copy=True) for name, array in arrays.items()}


def _kernel(weights: Tensor) -> Tensor:
    """[C, P, 3, 3] -> [9, P, C]"""
    return weights.permute(2, 3, 1, 0).flatten(0, 1)
