"""The clipped PPO update for vector values, and behavior cloning of imitated decisions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from momagames.baselines.moppo.distributions import gather_log_probs, masked_log_softmax, mean_entropy
from momagames.baselines.moppo.model import Model
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.rollout import Progress, Rollout
from momagames.baselines.moppo.utility import Utility
from momagames.engine.threads import run_jobs

MAX_GRAD_NORM = 0.5
VF_COEF = 0.5
ADAM_EPS = 1e-5
MIN_SHARE = 1e-4  # smallest variance for weights, as a share of the mean over objectives: less is noise
SMALLEST_PART = 512  # decisions of a minibatch that repay another thread


class Learner:
    """Updates the network with rollouts.

    threads    number of threads that share a minibatch where the network reads no observations; its layers are too small to
               have several threads themselves
    """

    def __init__(
        self, options: MoppoOptions, model: Model, utility: Utility, progress: Progress, generator: torch.Generator,
        threads: int,
    ) -> None:  # fmt: skip
        self.options, self.model, self.utility, self.progress = options, model, utility, progress
        self._generator = generator
        self._threads = threads if model.reads_states and model.device.type == "cpu" else 1
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

    def _update_minibatch(self, rollout: Rollout, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Take an optimizer step with the decisions of these indices. Returns policy loss, value loss, entropy and KL.

        Where threads share the minibatch, gradients are sums over its parts.
        """
        network, rows = self.model.network, rollout.select(indices)
        advantages = self._normalize_advantages(rows)
        count = min(self._threads, max(1, len(indices) // SMALLEST_PART))
        bounds = [len(indices) * i // count for i in range(count + 1)]
        losses = np.zeros((count, 4))
        gradients: list[Sequence[Tensor]] = [()] * count

        def compute(i: int) -> None:
            if count > 1:
                torch.set_num_threads(1)  # of this thread
            part = slice(bounds[i], bounds[i + 1])
            outputs = rollout.forward(self.model, indices[part])
            loss, losses[i] = self._compute_losses({name: rows[name][part] for name in rows}, advantages[part], *outputs)
            share = (part.stop - part.start) / len(indices)
            losses[i] *= share
            gradients[i] = torch.autograd.grad(loss * share, list(network.parameters()))

        run_jobs([partial(compute, i) for i in range(count)], count)
        for parameter, *others in zip(network.parameters(), *gradients, strict=True):
            parameter.grad = sum(others[1:], others[0])
        nn.utils.clip_grad_norm_(network.parameters(), MAX_GRAD_NORM)
        self.optimizer.step()
        return np.asarray(losses.sum(axis=0))

    def _compute_losses(
        self, rows: dict[str, NDArray[Any]], advantages: Tensor, logits: Tensor, values: Tensor
    ) -> tuple[Tensor, NDArray[np.float64]]:
        """Return the mean loss of decisions, and policy loss, value loss, entropy and KL.

        advantages float32[R], logits float32[R, M], values float32[R, K]
        """
        options, model = self.options, self.model
        log_probs = masked_log_softmax(logits, model.to_tensor(rows["masks"]), model.game.actions)
        new_log_probs = gather_log_probs(log_probs, model.to_tensor(rows["actions"]))
        log_ratio = new_log_probs - model.to_tensor(rows["log_probs"])
        ratio = log_ratio.exp()
        is_on_policy = model.to_tensor(~rows["is_imitated"])
        clipped_ratio = ratio.clamp(1 - options.clip_coef, 1 + options.clip_coef)
        # each part of an action has a ratio of its own: noise in one, such as words, does not clip the others
        surrogate = torch.min(advantages[:, None] * ratio, advantages[:, None] * clipped_ratio).sum(1)
        policy_loss = -torch.where(is_on_policy, surrogate, new_log_probs.sum(1)).mean()
        value_loss = (values - model.to_tensor(rows["advantages"] + rows["values"])).square().mean()
        entropy = mean_entropy(log_probs)
        loss = policy_loss + VF_COEF * value_loss - options.ent_coef * self._annealing * entropy
        kl = (ratio - 1 - log_ratio).sum(1)[is_on_policy]
        mean_kl = kl.mean().item() if len(kl) else 0.0
        return loss, np.array([policy_loss.item(), value_loss.item(), entropy.item(), mean_kl])

    def _normalize_advantages(self, rows: dict[str, NDArray[Any]]) -> Tensor:
        """Return the advantages float32[R] of a minibatch, in units of their deviation; 0 for imitated decisions."""
        is_on_policy = self.model.to_tensor(~rows["is_imitated"])
        advantages = torch.zeros(is_on_policy.shape, device=self.model.device)
        if is_on_policy.sum() > 1:
            scalarized = self.model.to_tensor(self._scale_advantages(rows).astype(np.float32))
            chosen = scalarized[is_on_policy]
            advantages[is_on_policy] = (chosen - chosen.mean()) / (chosen.std() + 1e-8)
        return advantages

    def _scale_advantages(self, rows: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Return the scalarized advantages float64[R], divided by `estimate_deviations` if the options say so."""
        scalarized = self._scalarize_advantages(rows)
        if self.options.advantage_scaling == "weights":
            scalarized /= estimate_deviations(rows["advantages"][~rows["is_imitated"]], rows["weights"])
        return scalarized

    def _scalarize_advantages(self, rows: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Return the utility of the estimated return after the decision, minus that of the return expected before it."""
        expected, weights = rows["past_returns"] + rows["values"], rows["weights"]
        return self.utility.evaluate(expected + rows["advantages"], weights) - self.utility.evaluate(expected, weights)


def estimate_deviations(advantages: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.float64]:
    """Return the standard deviations of weighted sums of advantages, float64[W]; never much below those of all objectives.

    advantages float[R, K], weights float[W, K]
    """
    covariance = np.atleast_2d(np.cov(advantages, rowvar=False, dtype=np.float64))
    least = MIN_SHARE * np.trace(covariance) / len(covariance)
    variances = np.einsum("wk,kl,wl->w", weights, covariance, weights, dtype=np.float64)
    return np.asarray(np.sqrt(np.maximum(variances, least) + 1e-16))
