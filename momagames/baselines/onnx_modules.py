"""Modules of PyTorch that map the inputs of ONNX models to their outputs; see `onnx_export`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from momagames.baselines.candidates.policy import Scorer
from momagames.baselines.candidates.score_network import ScoreNetwork
from momagames.baselines.moppo.encoder import BIN, LINEAR, LOGARITHMIC, ONE_HOT, POSITION
from momagames.baselines.moppo.network import Network
from momagames.baselines.moppo.network_policy import NetworkPolicy
from momagames.baselines.observation_layout import field_offsets

Inputs = Mapping[str, Tensor]  # of a model by name, each with the batch axis in front


class NetworkModule(nn.Module):
    """The network of a policy of moppo: its inputs are the fields of observations or the view, the agent and the weights."""

    output = "logits"

    def __init__(self, policies: NetworkPolicy) -> None:
        super().__init__()
        self.game, self.encoder = policies.game, policies.encoder
        size = (policies.channels, policies.hidden, policies.layers)
        with torch.random.fork_rng(devices=[]):
            self.network = Network(self.game, self.encoder, *size, modulation=float("modulation" in policies.arrays))
        self.network.load_actor(policies.arrays)
        self.places: dict[tuple[int, int], int] = {}  # (dtype, offset in items) -> place in all values of an observation
        for dtype, offset, field in field_offsets(self.game):
            first = len(self.places)
            self.places |= {(dtype, offset + i): first + i for i in range(int(np.prod(field.shape)))}

    def example(self) -> dict[str, Tensor]:
        """Return inputs for two positions: names, types and shapes are those of the model."""
        weights = {"weights": torch.zeros(2, len(self.game.objectives))}
        if self.encoder.egocentric_size:
            inputs = {"view": torch.zeros(2, self.encoder.features)}
        else:
            inputs = {field.name: torch.from_numpy(np.zeros((2, *field.shape), field.dtype)) for field in self.game.fields}
        agent = {"agent": torch.zeros(2, dtype=torch.int64)}
        return inputs | (agent if self.encoder.reads_agent else {}) | weights

    def forward(self, inputs: Inputs) -> Tensor:
        """Return logits float32[N, M]."""
        if self.encoder.egocentric_size:
            views = torch.cat([inputs["view"], inputs["weights"]], 1)
            return self.network.forward_views(views, inputs.get("agent"))[0]
        fields = [
            inputs[field.name].permute(0, *(axis + 1 for axis in field.order or range(len(field.shape)))).flatten(1).double()
            for field in self.game.fields
        ]
        values, encoder = torch.cat(fields, 1), self.encoder
        features = [self._encode(values, encoder.scalars), inputs["weights"]]
        if encoder.agent_ids:
            features.insert(1, (inputs["agent"][:, None] == torch.arange(encoder.agent_ids)).float())
        logits: Tensor = self.network((self._encode(values, encoder.planes), torch.cat(features, 1)))[0]
        return logits

    def _encode(self, values: Tensor, table: NDArray[np.float64]) -> Tensor:
        """Return the features of a table of `moppo.encoder.Feature`, float32[N, cells * features], cell by cell.

        values    float64[N, V], all values of the observations
        """
        if not len(table):
            return values[:, :0].float()
        cells = np.arange(int(table[0, 2]))[:, None]
        dtypes, offsets, _, strides, kinds = table[:, :5].astype(np.int64).T
        steps = np.where(kinds == POSITION, 0, cells * strides)  # of the cells; a position has one value for all of them
        first = self._select(values, dtypes, offsets + steps)
        second = self._select(values, dtypes, offsets + steps + (kinds == POSITION))
        kind, a, b = (torch.from_numpy(np.tile(column, len(cells))) for column in (kinds, table[:, 5], table[:, 6]))
        cell = torch.from_numpy(cells.repeat(len(table)))
        shifted = first - a
        features = {
            ONE_HOT: first == a,
            LINEAR: shifted * b,
            LOGARITHMIC: torch.log1p(shifted.clamp(min=0)) * b,  # only other features may be below a
            POSITION: first * b + second == cell,
            BIN: shifted.abs() <= b,
        }
        total = torch.zeros_like(values[:, :1])
        for number in np.unique(kinds).tolist():
            total = torch.where(kind == number, features[number].double(), total)
        return total.float()

    def _select(self, values: Tensor, dtypes: NDArray[np.int64], offsets: NDArray[np.int64]) -> Tensor:
        """Return the values at offsets int64[cells, features] of dtypes int64[features], float64[N, cells * features]."""
        at = zip(np.tile(dtypes, len(offsets)).tolist(), offsets.ravel().tolist(), strict=True)
        return values.index_select(1, torch.tensor([self.places[dtype, offset] for dtype, offset in at]))


class ScorerModule(nn.Module):
    """A trained scorer: its input is the features of candidates."""

    output = "scores"

    def __init__(self, scorer: Scorer) -> None:
        super().__init__()
        count, hidden = scorer.policy.features.count, scorer.policy.hidden
        self.network = ScoreNetwork(count, hidden, torch.Generator()).double()
        parts = np.split(scorer.parameters, np.cumsum([count, hidden, count * hidden]))
        with torch.no_grad():
            for parameter, part in zip(self.network.parameters(), parts, strict=True):
                parameter.copy_(torch.from_numpy(part).reshape(parameter.shape))

    def example(self) -> dict[str, Tensor]:
        """Return inputs for two candidates."""
        return {"features": torch.zeros(2, len(self.network.linear), dtype=torch.float64)}

    def forward(self, inputs: Inputs) -> Tensor:
        """Return scores float64[N]."""
        scores: Tensor = self.network(inputs["features"])
        return scores
