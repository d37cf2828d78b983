"""The clipped PPO update for vector values, and behavior cloning of imitated decisions."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from momagames.baselines.moppo.distributions import gather_log_probs, masked_log_softmax, mean_entropy
from momagames.baselines.moppo.network import ActorCritic
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.rollout import Progress, Rollout
from momagames.baselines.moppo.utility import Utility

MAX_GRAD_NORM = 0.5
VF_COEF = 0.5
ADAM_EPS = 1e-5


class Learner:
    """Updates the network with rollouts."""

    def __init__(
        self, options: MoppoOptions, model: ActorCritic, utility: Utility, progress: Progress, generator: torch.Generator
    ) -> None:
        self.options, self.model, self.utility, self.progress = options, model, utility, progress
        self._generator = generator
        self.optimizer = torch.optim.Adam(model.network.parameters(), options.learning_rate, eps=ADAM_EPS, fused=True)
        self._annealing = 1.0

    def anneal(self, progress_remaining: float) -> None:
        """Set the learning rate and the entropy coefficient."""
        self._annealing = progress_remaining
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.learning_rate * progress_remaining

    def update(self, rollout: Rollout) -> dict[str, float]:
        """Run several epochs over the decisions of a rollout. Returns metrics."""
        started = time.perf_counter()
        options, losses = self.options, []
        decisions = np.flatnonzero((rollout.is_decision & rollout.has_advantage).reshape(-1))
        for _ in range(options.update_epochs):
            order = torch.randperm(len(decisions), generator=self._generator).numpy()
            for minibatch in np.array_split(decisions[order], options.num_minibatches):
                if len(minibatch) > 1:
                    losses.append(self._update_minibatch(rollout, minibatch))
        self.progress.seconds["update"] += time.perf_counter() - started
        if not losses:
            return {}
        means = np.mean(losses, axis=0)
        return dict(zip(("loss/policy", "loss/value", "entropy", "kl"), means.tolist(), strict=True))

    def _update_minibatch(self, rollout: Rollout, indices: NDArray[np.int64]) -> tuple[float, float, float, float]:
        """Take an optimizer step with the decisions of these indices. Returns policy loss, value loss, entropy and KL."""
        options, model, rows = self.options, self.model, rollout.select(indices)
        logits, values = self._forward(rollout, indices, rows)
        log_probs = masked_log_softmax(logits, model.to_tensor(rows["masks"]), model.game.actions)
        new_log_probs = gather_log_probs(log_probs, model.to_tensor(rows["actions"]))
        log_ratio = new_log_probs - model.to_tensor(rows["log_probs"])
        ratio = log_ratio.exp()
        is_on_policy = model.to_tensor(~rows["is_imitated"])
        advantages = torch.zeros_like(new_log_probs[:, 0])
        if is_on_policy.sum() > 1:
            scalarized = model.to_tensor(self._scalarize_advantages(rows).astype(np.float32))
            advantages[is_on_policy] = _normalize(scalarized[is_on_policy])
        clipped_ratio = ratio.clamp(1 - options.clip_coef, 1 + options.clip_coef)
        # each part of an action has a ratio of its own: noise in one, such as words, does not clip the others
        surrogate = torch.min(advantages[:, None] * ratio, advantages[:, None] * clipped_ratio).sum(1)
        policy_loss = -torch.where(is_on_policy, surrogate, new_log_probs.sum(1)).mean()
        value_loss = (values - model.to_tensor(rows["advantages"] + rows["values"])).square().mean()
        entropy = mean_entropy(log_probs)
        loss = policy_loss + VF_COEF * value_loss - options.ent_coef * self._annealing * entropy
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.network.parameters(), MAX_GRAD_NORM)
        self.optimizer.step()
        kl = (ratio - 1 - log_ratio).sum(1)[is_on_policy]
        return policy_loss.item(), value_loss.item(), entropy.item(), kl.mean().item() if len(kl) else 0.0

    def _forward(self, rollout: Rollout, indices: NDArray[np.int64], rows: dict[str, NDArray[Any]]) -> tuple[Tensor, Tensor]:
        """Return logits float32[R, M] and values float32[R, K] of the decisions with these indices, which are in `rows`.

        With symmetries they are those of random images of the decisions, whose masks and actions replace those in `rows`.
        """
        if rollout.symmetries is None or rollout.egocentric is None:
            return rollout.forward(self.model, indices)
        chosen = torch.randint(len(rollout.symmetries.actions), indices.shape, generator=self._generator).numpy()
        rows["masks"], rows["actions"] = rollout.symmetries.rename_actions(chosen, rows["masks"], rows["actions"])
        images = rollout.egocentric.transform(rollout.view_rows.reshape(-1)[indices], rollout.symmetries, chosen)
        return self.model.forward_views((images, np.arange(len(indices))))

    def _scalarize_advantages(self, rows: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Return the utility of the estimated return after the decision, minus that of the return expected before it."""
        expected, weights = rows["past_returns"] + rows["values"], rows["weights"]
        return self.utility.evaluate(expected + rows["advantages"], weights) - self.utility.evaluate(expected, weights)


def _normalize(advantages: Tensor) -> Tensor:
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)
