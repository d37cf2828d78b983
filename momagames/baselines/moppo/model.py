"""What rollouts and updates need of a network, whatever it reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from momagames.baselines.moppo.candidate_views import CandidateViews
from momagames.baselines.moppo.network_policy import check_caution
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.views import Views
from momagames.baselines.torch_threads import use_torch_threads
from momagames.baselines.trainer import Arrays, TrainedPolicies
from momagames.contract import Game
from momagames.errors import InvalidParameter


class Model(ABC):
    """A network on a device, with what it reads.

    seed             of the initial parameters

    network          actor and critic
    caution          level on which unsafe actions are masked
    reads_states     whether it reads views that are made of states, not observations; its layers are small
    prunes_actions   whether it knows one of several equivalent actions only: the others are masked
    """

    network: nn.Module
    reads_states: bool
    prunes_actions: bool = False

    def __init__(self, game: Game, options: MoppoOptions, seed: int) -> None:
        self.game, self.device = game, _select_device(options.device)
        self.caution, self._use_bfloat16 = check_caution(game, options.caution), options.precision == "bfloat16"
        with torch.random.fork_rng(devices=[]), use_torch_threads(1):  # initial values depend on the number of threads
            torch.manual_seed(seed)
            self.network = self.make_network(options)
        self.network.to(self.device)

    @property
    def num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.network.parameters())

    @abstractmethod
    def make_network(self, options: MoppoOptions) -> nn.Module:
        """Return the network with its initial parameters, drawn from the default generator of PyTorch."""

    @abstractmethod
    def export_actor(self) -> Arrays:
        """Return the arrays of the current actor, as they are stored."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> TrainedPolicies:
        """Return the policies of an actor, which play without PyTorch."""

    def make_policy(self) -> TrainedPolicies:
        """Return the policies of the current network."""
        return self.restore(self.export_actor())

    @abstractmethod
    def make_views(
        self, game: Game, capacity: int, rng: np.random.Generator, threads: int, has_logits: bool = True
    ) -> Views | CandidateViews | None:
        """Return room for the views of this many decisions; None if it reads observations.

        has_logits    whether logits are computed from them, not only values
        """

    @abstractmethod
    def forward_views(self, views: Any) -> tuple[Tensor, Tensor]:
        """Return logits float32[R, M] and values float32[R, K] of rows int64[R] of views: a pair of both."""

    def autocast(self) -> torch.autocast:
        """Return the context of the products of the network."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self._use_bfloat16, cache_enabled=False)

    def to_tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)


def _select_device(device: str) -> torch.device:
    """Return the torch device of an option. Raises InvalidParameter for CUDA where there is none."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InvalidParameter("moppo: invalid device='cuda': expected 'auto' or 'cpu', PyTorch finds no CUDA device")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")
