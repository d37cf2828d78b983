"""Multi-objective PPO in one file: one network plays for all weights of the objectives.

    python mo_ppo.py --seed 1 --out mo_ppo.pt

It needs PyTorch and `momagames.make_vec`, and plays games whose actions are one number. All agents share the network; illegal
actions are masked. The critic has a value for each objective; only advantages are weighted sums. Every team plays each episode
for weights of its own, which the network reads. `Player` plays saved policies in matches, as opponents and in submissions.

Letters: T steps, N environments, A agents, S agents that act together, K objectives, M actions, F inputs, W weight vectors.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import momagames
from momagames.analysis.controllability import compute_controllability
from momagames.analysis.indicators import hypervolume

# ----------------------------------------------------------------------------------------------------------- arguments


@dataclass
class Options:
    """Options, which the command line has by the same names."""

    env_id: str = "mo-samegame-v0"
    params: str = (
        '{"board_width": 4, "board_height": 4, "num_colors": 2, "clear_bonus": 50.0, "num_agents": 2, "team_rewards": true}'
    )
    out: str = "mo_ppo.pt"  # the policies; a file of the same name with .jsonl has the learning curve
    seed: int = 1
    total_steps: int = 1_500_000  # environment steps
    num_envs: int = 256
    num_steps: int = 64
    hidden: int = 128
    learning_rate: float = 2e-3  # falls to 0
    gamma: float = 1.0
    gae_lambda: float = 0.9
    update_epochs: int = 6
    num_minibatches: int = 8
    clip_coef: float = 0.2
    ent_coef: float = 0.03
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    concentration: float = 0.4  # of the Dirichlet distribution of weights: below 1, more of them are near the corners
    num_evaluations: int = 10
    eval_episodes: int = 200  # for each weight vector
    eval_seed: int = 2_000_000  # of start positions that training does not use
    divisions: int = 10  # of the lattice of weights in evaluations

    def make_envs(self, num_envs: int, autoreset: str):
        return momagames.make_vec(self.env_id, num_envs, autoreset=autoreset, **json.loads(self.params))


def read_options(kind=Options):
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for field in fields(kind):
        parser.add_argument("--" + field.name.replace("_", "-"), type=type(field.default), default=field.default)
    return kind(**vars(parser.parse_args()))


# ------------------------------------------------------------------------------------------------------------- network


class Agent(nn.Module):
    """Policy and vector critic. They read products of inputs and weights: few weights beside many inputs are easily ignored."""

    def __init__(self, inputs: int, objectives: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.sizes = {"inputs": inputs, "objectives": objectives, "actions": actions, "hidden": hidden}
        first, second = make_layer(inputs * (1 + objectives) + objectives, hidden), make_layer(hidden, hidden)
        self.body = nn.Sequential(first, nn.ReLU(), second, nn.ReLU())
        self.actor, self.critic = make_layer(hidden, actions, 0.01), make_layer(hidden, objectives, 1.0)

    def forward(self, inputs, weights, masks):
        """Return the distribution of the actions, and values float32[..., K]."""
        products = (inputs[..., None, :] * weights[..., :, None]).flatten(-2)
        features = self.body(torch.cat([inputs, products, weights], -1))
        logits = self.actor(features).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.critic(features)


def make_layer(inputs: int, outputs: int, gain: float = 2**0.5):
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


# --------------------------------------------------------------------------------------------------------- environment


def read_inputs(observation, infos, rows: int):
    """Return observations, an array or a dict of arrays, and masks as tensors float32[rows, F] and int8[rows, M]."""
    parts = observation.values() if isinstance(observation, dict) else [observation]
    inputs = np.concatenate([part.reshape(rows, -1) for part in parts], axis=1, dtype=np.float32)
    return torch.from_numpy(inputs), torch.from_numpy(infos["action_mask"].reshape(rows, -1).copy())


def find_actors(envs, infos):
    """Return the agents that act, int64[N, S]: the one to move, or all of them where agents act at the same time."""
    if envs.game.sequential:
        return infos["to_move"][:, None].astype(np.int64)
    return np.tile(np.arange(len(envs.agents)), (envs.num_envs, 1))


def format_actions(actions, envs):
    """Return the actions of tensor int64[N * S] as `step` takes them: int64[N], or int64[N, A]."""
    return actions.numpy().reshape(envs.num_envs, *([] if envs.game.sequential else [len(envs.agents)]))


def draw_weights(envs, rows: int, concentration: float, rng):
    """Return weights for new episodes, float32[rows, A, K]. The agents of a team have the same."""
    teams = np.array(envs.game.teams)
    drawn = rng.dirichlet(np.full(envs.reward_dim, concentration), (rows, teams.max() + 1))
    return drawn[:, teams].astype(np.float32)


def play_episodes(envs, choose, seed: int):
    """Play an episode in each environment, with actions choose(observation, infos). Return its returns, float64[N, A, K]."""
    observation, infos = envs.reset(seed=seed)
    returns, over = np.zeros((envs.num_envs, len(envs.agents), envs.reward_dim)), np.zeros(envs.num_envs, bool)
    while not over.all():
        observation, _, _, _, infos = envs.step(choose(observation, infos))
        if "final_return" in infos:
            ended = infos["_final_return"]
            returns[ended] = infos["final_return"].reshape(returns.shape)[ended]
            over |= ended
    return returns


def make_lattice(objectives: int, divisions: int):
    """Return all weights that are multiples of 1 / divisions, float64[W, K], descending."""
    rows = itertools.product(range(divisions, -1, -1), repeat=objectives)
    return np.array([row for row in rows if sum(row) == divisions]) / divisions


def evaluate(options: Options, agent: Agent, row: dict, file) -> None:
    """Play the most probable actions for a lattice of weights, in the same episodes; write a line of the learning curve."""
    envs = options.make_envs(options.eval_episodes, "disabled")
    lattice, points = make_lattice(envs.reward_dim, options.divisions), []
    for weights in torch.tensor(lattice, dtype=torch.float32):

        @torch.no_grad()
        def choose(observation, infos, weights=weights):
            inputs, masks = read_inputs(observation, infos, find_actors(envs, infos).size)
            policy, _ = agent(inputs, weights.expand(len(inputs), -1), masks)
            return format_actions(policy.logits.argmax(-1) * masks.any(-1), envs)

        points.append(play_episodes(envs, choose, options.eval_seed).mean(axis=(0, 1)))
    row["hypervolume"] = hypervolume(points, [objective.return_low for objective in envs.game.objectives]).value
    row["controllability"] = float(compute_controllability(lattice, points).mean())
    file.write(json.dumps(row | {"weights": lattice.tolist(), "returns": np.array(points).tolist()}) + "\n")
    print("  ".join(f"{name} {value:,.6g}" for name, value in row.items()), flush=True)


# ------------------------------------------------------------------------------------------------------------ learning


def compute_advantages(options: Options, actors, values, rewards, dones):
    """Return advantages float32[T, N, S, K] of decisions, and whether each is complete, bool[T, N, S].

    The reward of a decision is all that its agent gets until its next one. The last decision of an agent in a rollout is where
    the earlier ones are cut off (its value stands for the rest), unless the episode ends after it.
    """
    advantages, complete = np.zeros_like(values), np.zeros(actors.shape, bool)
    reward, next_value, next_advantage = np.zeros((3, *rewards.shape[1:]), np.float32)
    is_known = np.zeros(dones.shape[1:], bool)  # what follows
    for t in reversed(range(len(rewards))):
        reward[dones[t]] = next_value[dones[t]] = next_advantage[dones[t]] = 0
        is_known |= dones[t]
        reward += rewards[t]
        acting = np.arange(len(actors[t]))[:, None], actors[t]
        delta = reward[acting] + options.gamma * next_value[acting] - values[t]
        complete[t] = is_known[acting]
        advantages[t] = (delta + options.gamma * options.gae_lambda * next_advantage[acting]) * complete[t][..., None]
        reward[acting], next_value[acting], next_advantage[acting], is_known[acting] = 0, values[t], advantages[t], True
    return advantages, complete


def update(options: Options, agent: Agent, optimizer, batch: dict) -> None:
    """Train on the decisions of a rollout, tensors with a row for each."""
    for _ in range(options.update_epochs):
        for chosen in torch.randperm(len(batch["actions"])).chunk(options.num_minibatches):
            part = {name: rows[chosen] for name, rows in batch.items()}
            policy, values = agent(part["inputs"], part["weights"], part["masks"])
            advantages = (part["advantages"] * part["weights"]).sum(-1)
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            ratio = (policy.log_prob(part["actions"]) - part["log_probs"]).exp()
            clipped = ratio.clamp(1 - options.clip_coef, 1 + options.clip_coef) * advantages
            policy_loss = -torch.minimum(ratio * advantages, clipped).mean()
            value_loss = (values - part["values"] - part["advantages"]).square().mean()
            loss = policy_loss + options.vf_coef * value_loss - options.ent_coef * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), options.max_grad_norm)
            optimizer.step()


def train(options: Options, pool=None) -> None:
    """Train, write the learning curve and save the policies. `pool` plays opponents, see self_play.py."""
    rng = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    trial, envs = options.make_envs(256, "disabled"), options.make_envs(options.num_envs, "same_step")
    returns = play_episodes(trial, lambda *_: trial.sample_actions(), options.seed)
    scale = np.sqrt((returns**2).mean(axis=(0, 1))).clip(1e-2).astype(np.float32)  # makes objectives of any unit comparable
    observation, infos = envs.reset(seed=options.seed)
    num_steps, num_envs = options.num_steps, options.num_envs
    inputs, masks = read_inputs(observation, infos, find_actors(envs, infos).size)
    agent = Agent(inputs.shape[1], envs.reward_dim, masks.shape[1], options.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=options.learning_rate, eps=1e-5)
    weights = draw_weights(envs, num_envs, options.concentration, rng)
    rewards = np.zeros((num_steps, num_envs, len(envs.agents), envs.reward_dim), np.float32)
    dones = np.zeros(rewards.shape[:3], bool)
    updates, seconds = max(1, options.total_steps // (num_steps * num_envs)), 0.0
    with Path(options.out).with_suffix(".jsonl").open("w", buffering=1, encoding="utf-8") as file:
        evaluate(options, agent, {"steps": 0, "seconds": 0.0}, file)
        for number in range(1, updates + 1):
            began = time.perf_counter()
            optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - (number - 1) / updates)
            rollout = []
            for t in range(num_steps):
                actors = find_actors(envs, infos)
                inputs, masks = read_inputs(observation, infos, actors.size)
                preferences = torch.from_numpy(weights[np.arange(num_envs)[:, None], actors].reshape(actors.size, -1))
                with torch.no_grad():
                    policy, values = agent(inputs, preferences, masks)
                    actions = policy.sample() * masks.any(-1)  # 0 where no action is legal
                learns = masks.any(-1)
                if pool is not None:
                    learns &= ~pool.act(actions, actors, inputs, preferences, masks)
                decision = {"actors": actors, "inputs": inputs, "weights": preferences, "masks": masks, "actions": actions}
                rollout.append(decision | {"log_probs": policy.log_prob(actions), "values": values, "learns": learns})
                observation, reward, terminated, truncated, infos = envs.step(format_actions(actions, envs))
                rewards[t] = reward.reshape(rewards[t].shape) / scale
                dones[t] = (terminated | truncated).reshape(dones[t].shape)
                if "final_return" in infos:
                    ended = infos["_final_return"]
                    weights[ended] = draw_weights(envs, int(ended.sum()), options.concentration, rng)
                    if pool is not None:
                        pool.start_episodes(ended)
            actors = np.stack([decision.pop("actors") for decision in rollout])
            batch = {name: torch.cat([decision[name] for decision in rollout]) for name in rollout[0]}
            values = batch["values"].numpy().reshape(*actors.shape, -1)
            advantages, complete = compute_advantages(options, actors, values, rewards, dones)
            batch["advantages"] = torch.from_numpy(advantages.reshape(actors.size, -1))
            learns = batch.pop("learns") & torch.from_numpy(complete.ravel())
            update(options, agent, optimizer, {name: rows[learns] for name, rows in batch.items()})
            if pool is not None:
                pool.add(agent, number)
            seconds += time.perf_counter() - began
            if number % max(1, updates // options.num_evaluations) == 0 or number == updates:
                evaluate(options, agent, {"steps": number * num_steps * num_envs, "seconds": seconds}, file)
    torch.save({"sizes": agent.sizes, "state_dict": agent.state_dict(), "options": asdict(options)}, options.out)
    load_agent.cache_clear()


# ------------------------------------------------------------------------------------------------------------- playing


@functools.lru_cache
def load_agent(file: str) -> Agent:
    """Return the agent of a file that `train` saved."""
    saved = torch.load(file, weights_only=True)
    agent = Agent(**saved["sizes"])
    agent.load_state_dict(saved["state_dict"])
    return agent


class Player:
    """A saved policy, called with what one agent observes, its action mask and a generator; the most probable action.

    weights    of the objectives, [K]; None: all equal
    """

    def __init__(self, game, agent, file: str = "mo_ppo.pt", weights=None) -> None:
        self.network = load_agent(file)
        row = torch.tensor([1.0] * len(game.objectives) if weights is None else weights, dtype=torch.float32)
        self.weights = row[None] / row.sum()

    @torch.no_grad()
    def __call__(self, observation, mask, rng) -> int:
        inputs, masks = read_inputs(observation, {"action_mask": mask}, 1)
        return int(self.network(inputs, self.weights, masks)[0].logits.argmax())


if __name__ == "__main__":
    train(read_options())
