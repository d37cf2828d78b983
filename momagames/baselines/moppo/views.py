"""Egocentric views without their zeros, and the dense layer that reads them.

Most numbers of a view are zero. A layer that skips them takes half the time of a dense product, and rollouts take a tenth of
the memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from momagames.baselines.moppo.encoder import ObservationEncoder
from momagames.baselines.moppo.kernels import (
    add_sparse_gradient,
    compile_view_encoder,
    expand_sparse,
    multiply_sparse,
)
from momagames.contract import Game
from momagames.engine.threads import run_in_parts


class Views:
    """Egocentric views of agents and their weights of the objectives, as sparse rows.

    capacity    number of rows; memory of unused rows is not touched
    threads     number of threads of products with many rows

    size        numbers of a row
    starts      int64[capacity + 1]; row i has the entries from starts[i] to starts[i + 1]
    columns     int32[entries], in ascending order in each row, and their values float32[entries]
    weights     float32[capacity, K], which are also the last entries of the rows
    agents      int64[capacity]
    steps       environment steps of a look-ahead: there is none
    """

    steps = 0

    def __init__(self, game: Game, encoder: ObservationEncoder, capacity: int, threads: int = 1) -> None:
        self._game, self._encoder, self._count, self.threads = game, encoder, 0, threads
        self.size = encoder.egocentric_size + len(game.objectives)
        self.starts = np.zeros(capacity + 1, np.int64)
        self.columns, self.values = np.empty(capacity * self.size, np.int32), np.empty(capacity * self.size, np.float32)
        self.weights, self.agents = np.empty((capacity, len(game.objectives)), np.float32), np.empty(capacity, np.int64)
        self._dense = np.zeros(self.size, np.float32)

    def append(
        self, states: NDArray[Any], n: NDArray[np.int64], agents: NDArray[np.int64], weights: NDArray[np.float32]
    ) -> NDArray[np.int64]:
        """Append the views of agents int64[R] in the states n of record[N], with weights float32[R, K].

        Returns the indices of the new rows, int64[R].
        """
        first, self._count = self._count, self._count + len(n)
        self.weights[first : self._count], self.agents[first : self._count] = weights, agents
        view = self._encoder.view
        assert view is not None
        compile_view_encoder(self._game)(
            states, n, agents, weights, view.cells, view.size, first, self._dense, self.starts, self.columns, self.values
        )  # fmt: skip
        return np.arange(first, self._count)

    def expand(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return rows with their zeros, float32[R, F]."""
        out = np.zeros((len(rows), self.size), np.float32)
        expand_sparse(self.starts, self.columns, self.values, rows, out)
        return out


ViewRows = tuple[Views, NDArray[np.int64]]


class _SparseProduct(torch.autograd.Function):
    """rows @ weight + bias, for a weight float32[F, H]. The gradient of the rows is not needed."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, views: Views, rows: NDArray[np.int64]) -> Tensor:
        ctx.views, ctx.rows, ctx.size = views, rows, weight.shape
        out, weights, biases = np.empty((len(rows), weight.shape[1]), np.float32), weight.numpy(), bias.numpy()

        def multiply(start: int, end: int) -> None:
            multiply_sparse(views.starts, views.columns, views.values, rows[start:end], weights, biases, out[start:end])

        run_in_parts(multiply, len(rows), views.threads)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        views, rows, weight = ctx.views, ctx.rows, np.zeros(ctx.size, np.float32)
        gradient = gradients[0].contiguous()
        outputs = gradient.numpy()

        # on one thread: parts of the columns would each read all entries, which takes longer
        add_sparse_gradient(views.starts, views.columns, views.values, rows, outputs, weight)
        return torch.from_numpy(weight), gradient.sum(0), None, None


class ViewLinear(nn.Module):
    """Dense layer on the rows of `Views`; its weight is [inputs, outputs]."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(inputs, outputs)), nn.Parameter(torch.zeros(outputs))

    def forward(self, views: ViewRows | Tensor) -> Tensor:
        """Return float32[R, outputs] of rows of views, or of float32[R, inputs]. On CUDA the zeros are not skipped."""
        if isinstance(views, Tensor):
            return views @ self.weight + self.bias
        if self.weight.is_cuda:
            return self.forward(torch.from_numpy(views[0].expand(views[1])).to(self.weight.device))
        out: Tensor = _SparseProduct.apply(self.weight, self.bias, *views)  # type: ignore[no-untyped-call]
        return out
