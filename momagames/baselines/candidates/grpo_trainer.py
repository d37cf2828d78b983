"""The training loop of `grpo.Grpo`."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from momagames.baselines.candidates.grpo_options import GrpoOptions
from momagames.baselines.candidates.rollout import Decisions, list_rows
from momagames.baselines.candidates.score_network import ScoreNetwork
from momagames.baselines.candidates.trainer import CandidateTrainer, Floats
from momagames.baselines.optimizer_state import collect_tensors
from momagames.baselines.torch_threads import use_torch_threads
from momagames.baselines.trainer import Arrays
from momagames.baselines.training_setup import TrainingSetup

MIN_DEVIATION = 1e-6  # of the utilities of a group; equal episodes have no advantage


class GrpoTrainer(CandidateTrainer):
    """Training of a `ScoreNetwork`; see `CandidateTrainer` for the arguments."""

    def __init__(self, options: GrpoOptions, setup: TrainingSetup) -> None:
        policy, played = (options.make_policy(setup.games[0], in_play) for in_play in (False, True))
        super().__init__(setup, policy, played, options.divisions, options.utility)
        self._options = options
        generator = torch.Generator().manual_seed(int(self.rng.integers(2**63)))
        self.network = ScoreNetwork(self.policy.features.count, options.hidden, generator)
        self.optimizer = torch.optim.Adam(self.network.parameters(), options.learning_rate)

    def parameters(self) -> Floats:
        return self.network.export(self.feature_scale)

    def arrays(self) -> Arrays:
        return {name: tensor.detach().numpy() for name, tensor in collect_tensors(self.network, self.optimizer).items()}

    def load_arrays(self, arrays: Arrays) -> None:
        with torch.no_grad():
            for name, tensor in collect_tensors(self.network, self.optimizer).items():
                tensor.copy_(torch.from_numpy(arrays[name]))

    def iterate(self) -> dict[str, float]:
        size = self._options.group_size
        instances = np.arange(self._options.groups).repeat(size)
        weights = self.sample_weights(self._options.groups).repeat(size, axis=0)
        parameters = np.tile(self.parameters(), (len(instances), 1))
        rollout = self.play(parameters, weights, instances, temperature=1.0, record=True)
        assert rollout.decisions is not None
        utilities = self.compute_utilities(rollout.returns, weights).reshape(-1, size)
        centered = utilities - utilities.mean(axis=1, keepdims=True)
        advantages = (centered / np.maximum(utilities.std(axis=1, keepdims=True), MIN_DEVIATION)).ravel()
        with use_torch_threads(self.setup.threads):
            loss = self._update(rollout.decisions, advantages[rollout.decisions.episodes])
        return {"utility": float(utilities.mean()), "loss": loss}

    def _update(self, decisions: Decisions, advantages: Floats) -> float:
        """Take the gradient steps of one rollout; advantages float64[D]. Returns the mean loss."""
        options = self._options
        for group in self.optimizer.param_groups:
            group["lr"] = options.learning_rate * (1 - self.progress)
        order = self.rng.permutation(len(decisions.counts))
        batches = [
            _Minibatch(decisions, part, self.feature_scale, advantages)
            for part in np.array_split(order, options.num_minibatches)
            if len(part)
        ]
        with torch.no_grad():
            for batch in batches:
                batch.old_log_probs = batch.log_probs(self.network)
        losses = []
        for _ in range(options.update_epochs):
            for batch in batches:
                ratio = torch.exp(batch.log_probs(self.network) - batch.old_log_probs)
                clipped = ratio.clamp(1 - options.clip_coef, 1 + options.clip_coef)
                loss = -torch.minimum(ratio * batch.advantages, clipped * batch.advantages).mean()
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                self.optimizer.step()
                losses.append(float(loss.detach()))
        return float(np.mean(losses)) if losses else 0.0


class _Minibatch:
    """Some of the decisions, the candidates of each one after the other."""

    def __init__(self, decisions: Decisions, chosen: NDArray[np.int64], scale: Floats, advantages: Floats) -> None:
        counts = decisions.counts[chosen]
        ends, rows = np.cumsum(counts), list_rows(np.cumsum(decisions.counts)[chosen] - counts, counts)
        self._features = torch.from_numpy(decisions.features[rows] / scale.astype(np.float32))
        self._segments = torch.from_numpy(np.repeat(np.arange(len(chosen)), counts))
        self._chosen = torch.from_numpy(ends - counts + decisions.choices[chosen])
        self.advantages = torch.from_numpy(advantages[chosen].astype(np.float32))
        self.old_log_probs = torch.zeros(0)

    def log_probs(self, network: ScoreNetwork) -> Tensor:
        """Return the log probabilities of the chosen actions, float32[D]: a softmax for each decision."""
        scores: Tensor = network(self._features)
        none = torch.zeros(len(self._chosen))
        highest = none.scatter_reduce(0, self._segments, scores.detach(), "amax", include_self=False)
        totals = none.index_add(0, self._segments, torch.exp(scores - highest[self._segments]))
        return scores[self._chosen] - highest - torch.log(totals)
