"""Learners of one policy, from other libraries and our own, beside what they cost.

python benchmarks/learning/scalar.py                                       # all of them, 20,480 steps
python benchmarks/learning/scalar.py --only torchrl moppo --budget 50000 --seeds 3
python benchmarks/learning/scalar.py --only rllib --budget 6144            # three rounds of 2048

MaskablePPO of sb3-contrib, PPO of TorchRL and our MOPPO, told one weight vector, play one deal of MO-SameGame for the sum of
its objectives; reported is what the likeliest actions bring at the end, as a share of the best sum on the exact front. PPO of
RLlib plays MO-Breakthrough 3x5 against itself; reported is the share of 400 games against random play that the likeliest
actions win, from both sides by turns. The settings are those of the tutorials; MOPPO has rollouts as long as the others'. Time
is that of training alone; a learner ends the rollout in which the budget is spent. Needs the extras `learn` and `tutorials`.
With RLlib the same seed does not train the same policy twice.
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

ROLLOUT = 256  # steps between two updates, on MO-SameGame
ROUND = 2048  # the same for RLlib
UNIT = 50.0  # what returns are divided by, so that values are near 1
BREAKTHROUGH: dict[str, Any] = {"board_width": 3, "board_height": 5}
GAMES = 400  # against random play

Lesson = tuple[Callable[[], int], Callable[[], float]]  # trains, and tells the steps; plays, and tells what is reached


@dataclass(frozen=True)
class Deal:
    """A deal of MO-SameGame: a board, and the seed that deals it."""

    board: dict[str, Any]
    seed: int

    def env(self) -> Any:
        return FixedInstance(momagames.make("mo-samegame-v0", api="gymnasium", **self.board), self.seed)

    @property
    def weights(self) -> list[float]:
        return [1 / UNIT] * self.board["num_colors"]


def maskable_ppo(deal: Deal, budget: int, seed: int) -> Lesson:
    from sb3_contrib import MaskablePPO

    env = Scalarize(deal.env(), weights=deal.weights)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=ROLLOUT, batch_size=64, gamma=1.0, learning_rate=1e-3, seed=seed, device="cpu"
    )

    def play() -> float:
        observation, _ = env.reset()
        total, over = 0.0, False
        while not over:
            action, _ = model.predict(observation, action_masks=env.unwrapped.action_masks(), deterministic=True)
            observation, _, over, _, info = env.step(int(action))
            total += info["vector_reward"].sum()
        return total

    return lambda: model.learn(budget).num_timesteps, play


def torchrl(deal: Deal, budget: int, seed: int) -> Lesson:
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs import ActionMask, Compose, DTypeCastTransform, GymWrapper, LineariseRewards, TransformedEnv
    from torchrl.envs.utils import ExplorationType, set_exploration_type
    from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    torch.manual_seed(seed)
    masked = (DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]), ActionMask())
    paid = LineariseRewards(in_keys=["reward"], out_keys=["utility"], weights=deal.weights)
    env = TransformedEnv(GymWrapper(Flatten(deal.env()), categorical_action_encoding=True), Compose(*masked, paid))
    env.set_seed(seed)
    seen, choices = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    actor = ProbabilisticActor(
        TensorDictModule(MLP(seen, choices, num_cells=[64]), in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        spec=env.action_spec,
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(MLP(seen, 1, num_cells=[64]), in_keys=["observation"])
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

    def play() -> float:
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            return float(env.rollout(ROLLOUT, actor)["next", "reward"].sum())

    return train, play


def moppo(deal: Deal, budget: int, seed: int) -> Lesson:
    from momagames.baselines.moppo.method import USUAL, Moppo
    from momagames.baselines.moppo.trainer import Trainer

    env, goals = deal.env(), deal.board["num_colors"]
    aim, scale = np.full(goals, 1 / goals), np.full(goals, UNIT / goals)  # together the weights of the others
    options = Moppo(**{**USUAL, "num_envs": 16, "rollout": ROLLOUT // 16})

    def made(budget: int) -> Trainer:
        start = np.atleast_1d(env.start)
        return Trainer(env.unwrapped.game, options, [0], [], budget, seed, start=start, aim=aim, scale=scale)

    made(1).advance()  # compiles
    trainer = made(budget)

    def train() -> int:
        while not trainer.done:
            trainer.advance()
        return trainer.steps

    return train, lambda: float(trainer.play_out([trainer.policy().member("sum", aim.tolist(), greedy=True)]).sum())


def rllib(budget: int, seed: int) -> Lesson:
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module import RLModuleSpec
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune import register_env

    def made(config: Any) -> Any:
        env = Scalarize(momagames.make("mo-breakthrough-v0", **BREAKTHROUGH), weights=[1, 0, 0.1, 0.1])
        return PettingZooEnv(Flatten(env, key="observations"))

    register_env("breakthrough", made)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    learner = (
        PPOConfig()
        .environment("breakthrough", disable_env_checking=True)  # the check plays without the mask
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .env_runners(num_env_runners=0)
        .training(gamma=1.0, lr=1e-3, train_batch_size=ROUND, minibatch_size=128, num_epochs=4)
        .debugging(seed=seed)
        .build_algo()
    )

    def train() -> int:
        steps = 0
        while steps < budget:
            steps = int(learner.train()["env_runners"]["num_env_steps_sampled_lifetime"])
        return steps

    def play() -> float:
        policy, won = learner.get_module("shared"), 0
        for n in range(GAMES):
            door = momagames.make(
                "mo-breakthrough-v0", api="gymnasium", agent=f"player_{n % 2}", others="random", **BREAKTHROUGH
            )
            env = Flatten(door, key="observations")
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
        return won / GAMES

    return train, play


LEARNERS: dict[str, Callable[[Deal, int, int], Lesson]] = {"maskable-ppo": maskable_ppo, "torchrl": torchrl, "moppo": moppo}
ALL = (*LEARNERS, "rllib")


def report(name: str, seed: int, lesson: Lesson, best: float, of: str) -> None:
    """Train, play, and print a line."""
    train, play = lesson
    began = time.perf_counter()
    steps = train()
    seconds = time.perf_counter() - began
    print(
        f"{name:12s} seed {seed}: {play() / best:.3f} {of}; {steps:,} steps, {seconds:.0f} s, "
        f"{steps / seconds:,.0f} steps a second (load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ALL, default=ALL, help="these learners")
    parser.add_argument("--budget", type=int, default=20_480, help="steps of training")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--deal", type=int, default=0, help="of MO-SameGame: its seed")
    parser.add_argument("--board", default="5x5x3", help="of MO-SameGame: width x height x colors")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    board = dict(zip(("board_width", "board_height", "num_colors"), map(int, given.board.split("x")), strict=True))
    deal, best = Deal(board, given.deal), 0.0
    print(f"{given.budget:,} steps, torch {torch.__version__}", flush=True)
    if set(given.only) & set(LEARNERS):
        from morl import by_chance

        env = deal.env()
        env.reset()
        best = float(exact_front(env.unwrapped.game, env.start, max_states=10**7, max_bytes=1 << 30).points.sum(axis=1).max())
        chance = by_chance(env, 500).sum() / best
        print(f"{given.board}, deal {given.deal}: the best sum is {best:.0f}; random play {chance:.3f} of it", flush=True)
    for name in given.only:
        for seed in range(given.seeds):
            if name == "rllib":
                report(name, seed, rllib(given.budget, seed), 1.0, f"of {GAMES} games won against random play")
            else:
                report(name, seed, LEARNERS[name](deal, given.budget, seed), best, "of the best sum")


if __name__ == "__main__":
    main()
