"""Behavior cloning: the network of MOPPO learns to repeat the actions of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from momagames.baselines.moppo.distributions import gather_log_probs, masked_log_softmax
from momagames.baselines.moppo.kernels import find_choices
from momagames.baselines.moppo.loss import ADAM_EPS, MAX_GRAD_NORM
from momagames.baselines.moppo.network import ActorCritic
from momagames.baselines.moppo.network_policy import NetworkPolicy
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.views import Views
from momagames.baselines.torch_threads import use_torch_threads
from momagames.contract import Game
from momagames.datasets.conditions import Conditions
from momagames.datasets.decisions import Decisions, collect_decisions
from momagames.datasets.replaying import replay_shard
from momagames.datasets.shards import Shard


def clone_behavior(
    game: Game, options: MoppoOptions, shards: Sequence[Shard], conditions: Conditions, epochs: int, batch_size: int, seed: int,
    threads: int = 1,
) -> tuple[NetworkPolicy, dict[str, Any]]:  # fmt: skip
    """Return the policies of a trained network, and facts of its training: decisions, parameters, loss of the last epoch.

    The order of decisions is random within blocks of episodes, and the order of files of data between epochs. Decisions with
    one legal action are left out. The loss is the negative log-likelihood of an action, in nats.
    """
    words = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    rng = np.random.default_rng(words[0])
    model = ActorCritic(game, options, int(words[1] >> np.uint64(1)))
    optimizer = torch.optim.Adam(model.network.parameters(), options.learning_rate, eps=ADAM_EPS, fused=True)
    due, done = epochs * sum(shard.steps for shard in shards), 0
    losses, decisions = 0.0, 0
    with use_torch_threads(1 if model.encoder.egocentric_size else threads):
        for _ in range(epochs):
            losses, decisions = 0.0, 0
            for steps, rows, wanted in _iterate_blocks(game, model, shards, conditions, rng):
                for group in optimizer.param_groups:
                    group["lr"] = options.learning_rate * (1 - done / due)
                done += steps
                order = rng.permutation(len(rows))
                for start in range(0, len(order), batch_size):
                    chosen = order[start : start + batch_size]
                    losses += _update(model, optimizer, rows.select(chosen), wanted[chosen]) * len(chosen)
                    decisions += len(chosen)
    facts = {"decisions": decisions, "parameters": model.num_parameters, "loss": losses / max(1, decisions)}
    return model.make_policy(), facts


def _iterate_blocks(
    game: Game, model: ActorCritic, shards: Sequence[Shard], conditions: Conditions, rng: np.random.Generator
) -> Iterator[tuple[int, Decisions, NDArray[np.float32]]]:
    """Yield blocks of episodes: environment steps, decisions with a choice, and their conditions float32[R, K]."""
    has_states = bool(model.encoder.egocentric_size)
    parts = np.array(game.actions, np.int64)
    for number in rng.permutation(len(shards)).tolist():
        shard, wanted = shards[number], conditions.find(number)
        no_preferences = np.zeros((int(shard.policies.max()) + 1, len(game.objectives)), np.float32)  # they are in `wanted`
        for block in replay_shard(game, shard, "data", has_states):
            rows = collect_decisions(game, shard, block, no_preferences)
            is_choice = np.zeros((len(rows), 1), np.bool_)
            find_choices(rows.masks[:, None], parts, is_choice)
            rows = rows.select(np.flatnonzero(is_choice))
            yield int(block.lengths.sum()), rows, wanted[rows.episodes, rows.agents]


def _update(model: ActorCritic, optimizer: torch.optim.Optimizer, rows: Decisions, wanted: NDArray[np.float32]) -> float:
    """Take an optimizer step. Returns the loss."""
    index = np.arange(len(rows))
    if rows.states is None:
        logits, _ = model.forward(rows.rows[:, None], index, np.zeros_like(index), rows.agents, wanted)
    else:
        views = Views(model.game, model.encoder, len(rows))
        logits, _ = model.forward_views((views, views.append(rows.states, index, rows.agents, wanted)))
    log_probs = masked_log_softmax(logits, model.to_tensor(rows.masks), model.game.actions)
    loss = -gather_log_probs(log_probs, model.to_tensor(rows.actions)).sum(1).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.network.parameters(), MAX_GRAD_NORM)
    optimizer.step()
    return loss.item()
