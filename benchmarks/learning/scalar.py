"""Single-policy learners of other libraries and MOPPO: results and training time.

python benchmarks/learning/scalar.py                                       # all of them, 20,480 steps
python benchmarks/learning/scalar.py --only torchrl moppo --budget 50000 --seeds 3
python benchmarks/learning/scalar.py --only rllib --budget 6144            # three rounds of 2048

MaskablePPO of sb3-contrib, PPO of TorchRL, and MOPPO with fixed weights train on one instance of MO-SameGame for the sum of its
objectives. The result is the return of the greedy policy as a share of the best sum on the exact front. PPO of RLlib trains on
MO-Breakthrough 3x5 in self-play. The result is the win rate of the greedy policy in 400 episodes against random play, in
alternating seats. The settings are those of the tutorials; MOPPO has rollouts of the same length. Times are of training only; a
learner completes the rollout in which the budget is used up. Needs the extras `learn` and `tutorials`. With RLlib equal seeds
do not give equal policies.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import momagames
from momagames.baselines.exact import exact_front
from momagames.wrappers import FixedInstance, Flatten, Scalarize

ROLLOUT = 256  # steps per update on MO-SameGame
RLLIB_BATCH = 2048  # steps per update of RLlib
REWARD_SCALE = 50.0  # divisor of the returns: values are near 1
BREAKTHROUGH: dict[str, Any] = {"board_width": 3, "board_height": 5}
EPISODES = 400  # against random play

Learner = tuple[Callable[[], int], Callable[[], float]]  # train: returns the steps; evaluate: returns the result


@dataclass(frozen=True)
class Instance:
    """An instance of MO-SameGame: board parameters and seed."""

    board: dict[str, Any]
    seed: int

    def make_env(self) -> Any:
        return FixedInstance(momagames.make("mo-samegame-v0", api="gymnasium", **self.board), self.seed)

    @property
    def weights(self) -> list[float]:
        return [1 / REWARD_SCALE] * self.board["num_colors"]


def maskable_ppo(instance: Instance, budget: int, seed: int) -> Learner:
    from sb3_contrib import MaskablePPO

    env = Scalarize(instance.make_env(), weights=instance.weights)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=ROLLOUT, batch_size=64, gamma=1.0, learning_rate=1e-3, seed=seed, device="cpu"
    )

    def evaluate() -> float:
        observation, _ = env.reset()
        total, over = 0.0, False
        while not over:
            action, _ = model.predict(observation, action_masks=env.unwrapped.action_masks(), deterministic=True)
            observation, _, over, _, info = env.step(int(action))
            total += info["vector_reward"].sum()
        return total

    return lambda: model.learn(budget).num_timesteps, evaluate


def torchrl(instance: Instance, budget: int, seed: int) -> Learner:
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs import ActionMask, Compose, DTypeCastTransform, GymWrapper, LineariseRewards, TransformedEnv
    from torchrl.envs.utils import ExplorationType, set_exploration_type
    from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    torch.manual_seed(seed)
    masked = (DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]), ActionMask())
    scalarize = LineariseRewards(in_keys=["reward"], out_keys=["utility"], weights=instance.weights)
    env = TransformedEnv(
        GymWrapper(Flatten(instance.make_env()), categorical_action_encoding=True), Compose(*masked, scalarize)
    )
    env.set_seed(seed)
    num_features, num_actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    actor = ProbabilisticActor(
        TensorDictModule(MLP(num_features, num_actions, num_cells=[64]), in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        spec=env.action_spec,
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(MLP(num_features, 1, num_cells=[64]), in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    advantage.set_keys(reward="utility")
    loss.set_keys(reward="utility")
    adam = torch.optim.Adam(loss.parameters(), lr=3e-3)

    def train() -> int:
        steps = 0
        total = -(-budget // ROLLOUT) * ROLLOUT
        for batch in Collector(env, actor, frames_per_batch=ROLLOUT, total_frames=total, auto_register_policy_transforms=True):
            steps += len(batch)
            for _ in range(6):
                advantage(batch)
                for part in torch.randperm(len(batch)).split(64):
                    terms = loss(batch[part])
                    adam.zero_grad()
                    (terms["loss_objective"] + terms["loss_critic"] + terms["loss_entropy"]).backward()
                    adam.step()
        return steps

    def evaluate() -> float:
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            return float(env.rollout(ROLLOUT, actor)["next", "reward"].sum())

    return train, evaluate


def moppo(instance: Instance, budget: int, seed: int) -> Learner:
    from momagames.baselines.moppo.method import Moppo
    from momagames.baselines.moppo.options import DEFAULT_OPTIONS
    from momagames.baselines.moppo.trainer import MoppoTrainer
    from momagames.baselines.trainer import train_to_end
    from momagames.baselines.training_setup import TrainingSetup

    env, objectives = instance.make_env(), instance.board["num_colors"]
    weights, return_scale = np.full(objectives, 1 / objectives), np.full(objectives, REWARD_SCALE / objectives)
    options = Moppo(**{**DEFAULT_OPTIONS, "num_envs": 16, "num_steps": ROLLOUT // 16})

    def make_trainer(budget: int) -> MoppoTrainer:
        start = np.atleast_1d(env.start)
        setup = TrainingSetup(
            [env.unwrapped.game], budget, seed, threads=torch.get_num_threads(), fixed_weights=weights, starts=start,
            return_scale=return_scale,
        )  # fmt: skip
        return options.make_trainer(setup)

    make_trainer(1).train_iteration()  # compiles
    trainer = make_trainer(budget)

    def train() -> int:
        train_to_end(trainer)
        return trainer.steps

    def evaluate() -> float:
        policy = trainer.make_policies().compile("sum", weights.tolist(), greedy=True)
        return float(trainer.play_policies([policy]).sum())

    return train, evaluate


def rllib(budget: int, seed: int, batch_size: int, episodes: int) -> Learner:
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module import RLModuleSpec
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune import register_env

    def make_env(config: Any) -> Any:
        env = Scalarize(momagames.make("mo-breakthrough-v0", **BREAKTHROUGH), weights=[1, 0, 0.1, 0.1])
        return PettingZooEnv(Flatten(env, key="observations"))

    register_env("breakthrough", make_env)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    learner = (
        PPOConfig()
        .environment("breakthrough", disable_env_checking=True)  # the check ignores the mask
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .env_runners(num_env_runners=0)
        .training(gamma=1.0, lr=1e-3, train_batch_size=batch_size, minibatch_size=128, num_epochs=4)
        .debugging(seed=seed)
        .build_algo()
    )

    def train() -> int:
        steps = 0
        while steps < budget:
            steps = int(learner.train()["env_runners"]["num_env_steps_sampled_lifetime"])
        return steps

    def evaluate() -> float:
        policy, won = learner.get_module("shared"), 0
        for n in range(episodes):
            game = momagames.make(
                "mo-breakthrough-v0", api="gymnasium", agent=f"player_{n % 2}", others="random", **BREAKTHROUGH
            )
            env = Flatten(game, key="observations")
            observation, _ = env.reset(seed=n)
            returns, over = np.zeros(4), False
            while not over:
                batch = {"obs": {name: torch.as_tensor(value)[None] for name, value in observation.items()}}
                with torch.no_grad():
                    action = int(policy.forward_inference(batch)["action_dist_inputs"].argmax())
                observation, reward, terminated, truncated, _ = env.step(action)
                returns, over = returns + reward, terminated or truncated
            won += returns[0] > 0
        learner.stop()
        return won / episodes

    return train, evaluate


LEARNERS: dict[str, Callable[[Instance, int, int], Learner]] = {
    "maskable-ppo": maskable_ppo,
    "torchrl": torchrl,
    "moppo": moppo,
}
ALL = (*LEARNERS, "rllib")


def report(name: str, seed: int, learner: Learner, best: float, unit: str) -> None:
    """Train, evaluate, and print a line."""
    train, evaluate = learner
    started = time.perf_counter()
    steps = train()
    seconds = time.perf_counter() - started
    print(
        f"{name:12s} seed {seed}: {evaluate() / best:.3f} {unit}; {steps:,} steps, {seconds:.0f} s, "
        f"{steps / seconds:,.0f} steps a second (load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ALL, default=ALL, help="Learners.")
    parser.add_argument("--budget", type=int, default=20_480, help="Number of environment steps.")
    parser.add_argument("--seeds", type=int, default=1, help="Number of seeds.")
    parser.add_argument("--instance-seed", type=int, default=0, help="Seed of the MO-SameGame instance.")
    parser.add_argument("--board", default="5x5x3", help="MO-SameGame board: width x height x colors.")
    parser.add_argument("--rllib-batch", type=int, default=RLLIB_BATCH, help="Steps per update of RLlib; at least 128.")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="Episodes of RLlib's policy against random play.")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch threads.")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    board = dict(zip(("board_width", "board_height", "num_colors"), map(int, arguments.board.split("x")), strict=True))
    instance, best = Instance(board, arguments.instance_seed), 0.0
    print(f"{arguments.budget:,} steps, torch {torch.__version__}", flush=True)
    if set(arguments.only) & set(LEARNERS):
        from morl import play_randomly

        env = instance.make_env()
        env.reset()
        best = float(exact_front(env.unwrapped.game, env.start, max_states=10**7, max_bytes=1 << 30).points.sum(axis=1).max())
        random_share = play_randomly(env, 500).sum() / best
        print(
            f"{arguments.board}, instance {arguments.instance_seed}: best sum {best:.0f}; random play {random_share:.3f} of it",
            flush=True,
        )
    for name in arguments.only:
        for seed in range(arguments.seeds):
            if name == "rllib":
                learner = rllib(arguments.budget, seed, arguments.rllib_batch, arguments.episodes)
                report(name, seed, learner, 1.0, f"of {arguments.episodes} episodes won against random play")
            else:
                report(name, seed, LEARNERS[name](instance, arguments.budget, seed), best, "of the best sum")


if __name__ == "__main__":
    main()
