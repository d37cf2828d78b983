"""A network that scores candidate actions, and its critic. Its policies are `candidates.policy.Scorer`, without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from momagames.baselines.candidates.features import root_mean_square
from momagames.baselines.candidates.policy import CandidatePolicy, Scorer, restore_scorer
from momagames.baselines.candidates.score_network import ScoreNetwork
from momagames.baselines.moppo.candidate_views import CandidateRows, CandidateViews
from momagames.baselines.moppo.distributions import ILLEGAL_LOGIT
from momagames.baselines.moppo.model import Model
from momagames.baselines.moppo.network import ViewTorso, initialize
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.trainer import Arrays
from momagames.contract import Game
from momagames.engine.batch import Batch

SCALE_EPISODES = 32  # episodes of random play from which the scales are estimated


class CandidateNetwork(nn.Module):
    """A scorer of candidate actions, and a vector-valued critic behind two dense layers on the features of the position.

    The weights of the objectives are contracted with the features of actions. They are inputs of the critic, whose units they
    may also multiply.

    feature_scale, position_scale    float64[F] and float64[P], divisors of the features of actions and positions
    """

    def __init__(
        self, feature_scale: NDArray[np.float64], position_scale: NDArray[np.float64], objectives: int, hidden: int,
        modulation: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.feature_scale: Tensor
        self.position_scale: Tensor
        self.register_buffer("feature_scale", torch.from_numpy(feature_scale))
        self.register_buffer("position_scale", torch.from_numpy(position_scale))
        self.actor = ScoreNetwork(len(feature_scale), hidden, torch.default_generator)
        self.torso = ViewTorso(len(position_scale) + objectives, hidden, hidden, objectives, modulation)
        self.critic = nn.Linear(hidden, objectives)
        initialize(self, {self.critic: 1.0})

    def forward(self, features: Tensor, positions: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores float32[C] of features float32[C, F], and values float32[R, K] of positions float32[R, P]."""
        position = torch.cat([positions / self.position_scale.float(), weights], 1)
        return self.actor(features / self.feature_scale.float()), self.critic(self.torso(position))


class CandidateModel(Model):
    """A network that scores candidate actions; see `Model`.

    policy    whose scorer it trains
    """

    reads_states, prunes_actions = True, True
    network: CandidateNetwork

    def __init__(self, game: Game, policy: CandidatePolicy, options: MoppoOptions, seed: int) -> None:
        self._policy, self._scales = policy, estimate_scales(game, options.concentration, seed)
        super().__init__(game, options, seed)

    def make_network(self, options: MoppoOptions) -> CandidateNetwork:
        return CandidateNetwork(*self._scales, len(self.game.objectives), options.hidden, options.modulation)

    def export_actor(self) -> Arrays:
        return {"parameters": self.network.actor.export(self.network.feature_scale.cpu().numpy())}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> Scorer:
        return restore_scorer(self._policy, "moppo", arrays)

    def make_views(
        self, game: Game, capacity: int, rng: np.random.Generator, threads: int, has_logits: bool = True
    ) -> CandidateViews:
        return CandidateViews(game, capacity, rng, has_logits)

    def forward_views(self, views: CandidateRows) -> tuple[Tensor, Tensor]:
        own, rows = views
        candidates, decisions = own.select(rows)
        features, positions, weights = own.features[candidates], own.positions[rows], own.weights[rows]
        with self.autocast():
            scores, values = self.network(*map(self.to_tensor, (features, positions, weights)))
        logits = torch.full((len(rows), self.game.mask_size), ILLEGAL_LOGIT, device=self.device)
        places = self.to_tensor(decisions), self.to_tensor(own.actions[candidates])
        return logits.index_put(places, scores.float()), values.float()


def estimate_scales(game: Game, concentration: float, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return divisors of the features of actions and of positions: their root mean squares in random play, or 1.

    concentration    of the Dirichlet distribution of the weights
    """
    rng = np.random.default_rng(seed)
    batch = Batch(game, SCALE_EPISODES, autoreset="disabled")
    batch.seed(int(rng.integers(2**63)))
    batch.reset()
    weights = rng.dirichlet(np.full(len(game.objectives), concentration), SCALE_EPISODES).astype(np.float32)
    features, positions = [], []
    while len(n := np.flatnonzero(batch.states["over"] == 0)):
        views = CandidateViews(game, len(n), rng)
        views.append(batch.states, n, batch.to_move[n].astype(np.int64), weights[n])
        ends = views.starts[1:]
        features.append(views.features[: ends[-1]])
        positions.append(views.positions)
        batch.last_actions[n, 0, 0] = views.actions[rng.integers(views.starts[:-1], ends)]
        batch.step(batch.last_actions)
    return root_mean_square(np.concatenate(features)), root_mean_square(np.concatenate(positions))
