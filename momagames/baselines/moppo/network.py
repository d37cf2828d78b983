"""The network of MOPPO in PyTorch. `network_policy.NetworkPolicy` is the same network as a kernel, without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from momagames.baselines.moppo.encoder import ObservationEncoder, make_network_encoder
from momagames.baselines.moppo.kernels import encode_observations
from momagames.baselines.moppo.model import Model
from momagames.baselines.moppo.network_policy import (
    SQUEEZE_CHANNELS,
    NetworkPolicy,
    count_fc1_outputs,
    count_features,
)
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.views import ViewLinear, ViewRows, Views
from momagames.baselines.observation_layout import make_workspace
from momagames.contract import Game

Inputs = tuple[Tensor, Tensor]  # planes and vector features
LAYERED = ("residual_convs", "residual_biases")  # arrays with an axis of layers in front


class Modulation(nn.Module):
    """Factors by which the weights of the objectives multiply the units of two dense layers; 1 for equal weights.

    Source: feature-wise linear modulation, Perez et al., "FiLM: visual reasoning with a general conditioning layer", 2018.

    units     of the first and the second layer
    spread    initial standard deviation of the factors for the weights of one objective; 0: all factors stay 1
    """

    def __init__(self, objectives: int, units: tuple[int, int], spread: float) -> None:
        super().__init__()
        self.units, self.spread = units, spread
        if spread:
            self.weight = nn.Parameter(torch.empty(objectives, sum(units)))

    def reset_parameters(self) -> None:
        if self.spread:
            objectives = len(self.weight)
            nn.init.normal_(self.weight, 0.0, self.spread / max(objectives * (objectives - 1), 1) ** 0.5)

    def forward(self, weights: Tensor) -> tuple[Tensor | float, Tensor | float]:
        """Return the factors of both layers, float32[N, units], for weights float32[N, K]."""
        if not self.spread:
            return 1.0, 1.0
        factors = 1 + (weights * len(self.weight) - 1) @ self.weight
        return factors[:, : self.units[0]], factors[:, self.units[0] :]


class Torso(nn.Module):
    """Residual 3x3 convolutions over the planes, then two dense layers.

    The vector features are added to the first convolution in every cell. The dense layers receive a few channels of each cell,
    the vector features, and all channels of the cells of agents.

    rows, columns, planes, features    sizes of the inputs; rows and columns are 0 without a board
    agent_planes                       indices of the planes that mark the cell of an agent
    channels, layers                   channels of the convolutions; convolutions after the first
    fc1, hidden                        units of the first and the second dense layer
    objectives, modulation             number of weights, which are the last features; see `Modulation.spread`
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        planes: int,
        features: int,
        agent_planes: Sequence[int],
        channels: int,
        fc1: int,
        hidden: int,
        layers: int,
        objectives: int,
        modulation: float,
    ) -> None:
        super().__init__()
        self.objectives, self.modulation = objectives, Modulation(objectives, (fc1, hidden), modulation)
        self.board, self.agent_planes = (rows, columns, planes), list(agent_planes)
        cells = rows * columns
        if cells:
            self.conv_in = nn.Conv2d(planes, channels, 3, padding=1)
            self.conv_in_features = nn.Linear(features, channels, bias=False)
            self.residual_convs = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(layers))
            self.squeeze = nn.Linear(channels, SQUEEZE_CHANNELS)
        self.fc1 = nn.Linear(cells * SQUEEZE_CHANNELS + features + len(agent_planes) * channels, fc1)
        self.fc2 = nn.Linear(fc1, hidden)

    def forward(self, planes: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        """planes float32[N, cells * P], features float32[N, V] -> cells float32[N, cells, C], trunk float32[N, H]."""
        residual, fc1_input = features[:, :0, None], features
        if planes.shape[1]:
            board = planes.view(-1, *self.board).permute(0, 3, 1, 2)  # channels_last: twice as fast as contiguous planes
            residual = F.relu(self.conv_in(board) + self.conv_in_features(features)[:, :, None, None])
            for convolution in self.residual_convs:
                residual = residual + F.relu(convolution(residual))
            residual = residual.permute(0, 2, 3, 1).flatten(1, 2)
            agent_masks = planes.view(-1, residual.shape[1], self.board[2])[:, :, self.agent_planes]
            agent_cells = agent_masks.transpose(1, 2) @ residual
            fc1_input = torch.cat([F.relu(self.squeeze(residual)).flatten(1), features, agent_cells.flatten(1)], 1)
        first, second = self.modulation(features[:, -self.objectives :])
        return residual, F.relu(self.fc2(F.relu(self.fc1(fc1_input) * first)) * second)


class ViewTorso(nn.Module):
    """Two dense layers on an egocentric view and the weights."""

    def __init__(self, inputs: int, fc1: int, hidden: int, objectives: int, modulation: float) -> None:
        super().__init__()
        self.objectives, self.modulation = objectives, Modulation(objectives, (fc1, hidden), modulation)
        self.fc1, self.fc2 = ViewLinear(inputs, fc1), nn.Linear(fc1, hidden)

    def forward(self, views: ViewRows | Tensor) -> Tensor:
        """Return trunk float32[R, H] of rows of views, or of float32[R, inputs]."""
        if isinstance(views, Tensor):
            weights = views[:, -self.objectives :]
        else:
            weights = torch.from_numpy(views[0].weights[views[1]]).to(self.fc1.weight.device)
        first, second = self.modulation(weights)
        out: Tensor = F.relu(self.fc2(F.relu(self.fc1(views) * first)) * second)
        return out


def initialize(network: nn.Module, gains: Mapping[nn.Linear, float]) -> None:
    """Draw initial weights of the layers of a network; `gains` of other layers than the rest."""
    for layer in network.modules():
        if isinstance(layer, (nn.Linear, nn.Conv2d, ViewLinear)):
            nn.init.orthogonal_(layer.weight, 2**0.5)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    for layer, gain in gains.items():
        nn.init.orthogonal_(layer.weight, gain)
    for layer in network.modules():
        if isinstance(layer, Modulation):
            layer.reset_parameters()


class Network(nn.Module):
    """Actor and vector-valued critic, conditioned on the weights of the objectives.

    The features are the observation, the agent id and the weights, which may also multiply the units of the dense layers. If
    actions belong to cells, their logits are computed from the channels of the cell and the trunk, else from the trunk. The
    critic uses the same trunk; a centralized critic has a torso of its own with the observations of all agents.

    caution       level on which unsafe actions are masked; it goes with the arrays of the actor
    modulation    see `Modulation.spread`

    Letters: N positions, A agents, P planes, V scalars, M logits, K objectives
    """

    def __init__(
        self,
        game: Game,
        encoder: ObservationEncoder,
        channels: int,
        hidden: int,
        layers: int,
        centralized: bool = False,
        caution: int = 0,
        modulation: float = 0.0,
    ) -> None:
        super().__init__()
        objectives, agents = len(game.objectives), len(game.agents)
        self.encoder, self.caution, fc1 = encoder, caution, count_fc1_outputs(encoder, hidden)
        features, planes = count_features(game, encoder), len(encoder.planes)
        agent_planes = [encoder.agent_plane] if encoder.agent_plane >= 0 else []
        board, size = (encoder.rows, encoder.columns), (channels, fc1, hidden, layers, objectives)
        self.torso: Torso | ViewTorso
        if encoder.egocentric_size:
            self.torso = ViewTorso(features, fc1, hidden, objectives, modulation)
        else:
            self.torso = Torso(*board, planes, features, agent_planes, *size, modulation)
        if encoder.actions_per_cell:
            self.actor_cells = nn.Linear(channels, channels, bias=False)
            self.actor_trunk = nn.Linear(hidden, channels)
        self.actor = nn.Linear(channels if encoder.actions_per_cell else hidden, encoder.actions_per_cell or game.mask_size)
        self.critic_torso: Torso | None = None
        if centralized:
            features += (agents - 1) * len(encoder.scalars)
            agent_planes = [agent * planes + plane for agent in range(agents) for plane in agent_planes]
            self.critic_torso = Torso(*board, planes * agents, features, agent_planes, *size, modulation)
        self.critic = nn.Linear(hidden, objectives)
        self.order: Tensor  # int64[A, M], where agents see the actions of the game
        self.register_buffer("order", torch.from_numpy(encoder.actions.argsort(axis=1)), persistent=False)
        initialize(self, {self.actor: 0.01, self.critic: 1.0})

    def forward_views(self, views: ViewRows | Tensor, agents: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return logits float32[R, M] and values float32[R, K] of egocentric views with weights.

        agents    int64[R]; None: any, if all see the same actions
        """
        trunk = self.torso(views)
        logits = self.actor(trunk)
        return logits.gather(1, self.order[agents]) if len(self.order) else logits, self.critic(trunk)

    def forward(self, own: Inputs, all_agents: Inputs | None = None) -> tuple[Tensor, Tensor]:
        """planes float32[N, cells * P] and features float32[N, V + ...] -> logits float32[N, M], values float32[N, K].

        all_agents    inputs of a centralized critic: planes float32[N, cells * A * P], features float32[N, A * V + ...]
        """
        cells, trunk = self.torso(*own)
        if self.encoder.actions_per_cell:
            logits = self.actor(F.relu(self.actor_cells(cells) + self.actor_trunk(trunk)[:, None])).flatten(1)
        else:
            logits = self.actor(trunk)
        if self.critic_torso is not None:
            assert all_agents is not None
            _, trunk = self.critic_torso(*all_agents)
        return logits, self.critic(trunk)

    def export_actor(self) -> dict[str, NDArray[np.float32]]:
        """Return the arrays of the actor for the kernel, as [inputs, outputs]; see `network_policy.array_shapes`."""
        arrays = {name: torch.stack(views) if name in LAYERED else views[0] for name, views in self._view_actor().items()}
        if self.caution:
            arrays["caution"] = torch.tensor(self.caution)
        return {name: array.cpu().numpy().astype(np.float32, order="C", copy=True) for name, array in arrays.items()}

    def load_actor(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Set the parameters of the actor from the arrays that `export_actor` returns."""
        for name, views in self._view_actor().items():
            for view, array in zip(views, arrays[name] if name in LAYERED else arrays[name][None], strict=True):
                view.copy_(torch.from_numpy(array))

    def _view_actor(self) -> dict[str, list[Tensor]]:
        """Return views of the parameters of the actor by the name of their array: one view, or one of each residual layer."""
        state = {name.removeprefix("torso."): tensor for name, tensor in self.state_dict().items()}
        views: dict[str, list[Tensor]] = {}
        for name in ("conv_in_features", "squeeze", "fc1", "fc2", "actor_cells", "actor_trunk", "actor"):
            if f"{name}.weight" in state:
                weight = state[f"{name}.weight"]
                views[name] = [weight if self.encoder.egocentric_size and name == "fc1" else weight.T]
            if f"{name}.bias" in state:
                views[f"{name}_bias"] = [state[f"{name}.bias"]]
        if isinstance(self.torso, Torso) and self.encoder.cells:
            layers = [f"residual_convs.{i}" for i in range(len(self.torso.residual_convs))]
            views["conv_in"], views["conv_in_bias"] = [_flatten_kernel(state["conv_in.weight"])], [state["conv_in.bias"]]
            views["residual_convs"] = [_flatten_kernel(state[f"{name}.weight"]) for name in layers]
            views["residual_biases"] = [state[f"{name}.bias"] for name in layers]
        if "modulation.weight" in state:
            views["modulation"] = [state["modulation.weight"]]
        return views


class ActorCritic(Model):
    """A network that reads observations, or an egocentric view, with their encoder; see `Model`."""

    network: Network

    def __init__(self, game: Game, options: MoppoOptions, seed: int) -> None:
        self.encoder, self._workspace = make_network_encoder(game, options), make_workspace(game)
        self.reads_states = self.encoder.egocentric_size > 0
        super().__init__(game, options, seed)

    def make_network(self, options: MoppoOptions) -> Network:
        size = (options.channels, options.hidden, options.layers)
        return Network(self.game, self.encoder, *size, options.critic == "centralized", self.caution, options.modulation)

    def export_actor(self) -> dict[str, NDArray[np.float32]]:
        return self.network.export_actor()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> NetworkPolicy:
        return NetworkPolicy(self.game, arrays)

    def make_policy(self) -> NetworkPolicy:
        return self.restore(self.export_actor())

    def make_views(
        self, game: Game, capacity: int, rng: np.random.Generator, threads: int, has_logits: bool = True
    ) -> Views | None:
        return Views(game, self.encoder, capacity, threads) if self.reads_states else None

    def forward(
        self, observations: NDArray[np.uint8], n: NDArray[np.int64], v: NDArray[np.int64], agents: NDArray[np.int64],
        weights: NDArray[np.float32],
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Return logits float32[R, M] and values float32[R, K] of R decisions.

        observations   uint8[N, V, B]; decision r has the observation [n[r], v[r]]
        agents         int64[R], the deciding agents, and their weights float32[R, K]
        """
        agent_ids = self.encoder.agent_ids
        context = np.zeros((len(n), agent_ids + weights.shape[1]), np.float32)
        if agent_ids:
            context[np.arange(len(n)), agents] = 1.0
        context[:, agent_ids:] = weights
        all_agents = None if self.network.critic_torso is None else self._encode(observations[n], context)
        own = self._encode(observations[n, v][:, None], context)
        with self.autocast():
            logits, values = self.network(own, all_agents)
        return logits.float(), values.float()

    def forward_views(self, views: ViewRows) -> tuple[Tensor, Tensor]:
        agents = torch.from_numpy(views[0].agents[views[1]]).to(self.device)
        with self.autocast():
            logits, values = self.network.forward_views(views, agents)
        return logits.float(), values.float()

    def _encode(self, observations: NDArray[np.uint8], context: NDArray[np.float32]) -> Inputs:
        """Return the inputs of a torso for observations uint8[R, A, B], with agent ids and weights float32[R, L] appended."""
        encoder, (decisions, agents) = self.encoder, observations.shape[:2]
        planes = np.empty((decisions * agents, encoder.cells * len(encoder.planes)), np.float32)
        scalars = np.empty((decisions * agents, len(encoder.scalars)), np.float32)
        rows = observations.reshape(-1, observations.shape[2])
        encode_observations(rows, self._workspace, encoder.planes, encoder.scalars, planes, scalars)
        if agents > 1 and encoder.cells:
            by_cell = planes.reshape(decisions, agents, encoder.cells, -1).transpose(0, 2, 1, 3)
            planes = np.ascontiguousarray(by_cell)
        features = np.concatenate([scalars.reshape(decisions, -1), context], axis=1)
        return self.to_tensor(planes.reshape(decisions, -1)), self.to_tensor(features)


def _flatten_kernel(weights: Tensor) -> Tensor:
    """[C, P, 3, 3] -> [9, P, C], a view"""
    return weights.permute(2, 3, 1, 0).flatten(0, 1)
