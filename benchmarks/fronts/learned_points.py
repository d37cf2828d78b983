"""Points that a learner attains in solved environments, beside the exact fronts: GPI-LS of morl-baselines in its tabular form.

python benchmarks/fronts/learned_points.py
python benchmarks/fronts/learned_points.py resource --steps 400000 --seed 1

The learner trains in the environment of a front file of the package; it needs observations in a box, which Breakable Bottles
does not have. Its policies for evenly spaced weights are then evaluated exactly: in the model of the environment, without
episodes of an evaluation. Needs the extra `morl`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from momagames import fronts, tabular
from momagames.baselines.archive import is_nondominated
from momagames.tabular.evaluation import reach_by_policy
from momagames.tabular.model import TabularModel, Vector
from momagames.tabular.proofs import list_corners

NAMES = (
    "deep-sea-treasure-v0-gamma-0.99",
    "resource-gathering-v0-gamma-0.9",
    "resource-gathering-v0-gamma-0.99",
    "fruit-tree-v0-depth-5-gamma-0.99",
)
ITERATIONS = 10  # of the learner, each with new weights
WEIGHTS = 50  # for which its policies are evaluated
MAX_EPISODES = 5000  # that visit the states of a policy
MAX_STEPS = 200  # of an episode
TOLERANCE = 1e-6  # of returns: MO-Gymnasium's rewards are float32


def train(choice: fronts.EnvironmentChoice, num_objectives: int, steps: int, seed: int) -> Iterator[Callable[[Any], int]]:
    """Train GPI-LS, and yield its policies for evenly spaced weights, as functions of the observation."""
    from morl_baselines.common.weights import equally_spaced_weights
    from morl_baselines.multi_policy.multi_policy_moqlearning.mp_mo_q_learning import MPMOQLearning

    env = gymnasium.wrappers.TimeLimit(choice.make().unwrapped, MAX_STEPS)
    agent = MPMOQLearning(
        env, learning_rate=0.3, gamma=float(choice.discount), initial_epsilon=1.0, final_epsilon=0.5,
        epsilon_decay_steps=steps, weight_selection_algo="gpi-ls", epsilon_ols=0.0, use_gpi_policy=True,
        seed=seed, log=False,
    )  # fmt: skip
    with contextlib.redirect_stdout(io.StringIO()):  # its progress
        agent.train(
            total_timesteps=steps, eval_env=gymnasium.wrappers.TimeLimit(choice.make().unwrapped, MAX_STEPS),
            ref_point=np.zeros(num_objectives), timesteps_per_iteration=steps // ITERATIONS, eval_freq=steps,
        )  # fmt: skip
    for weights in equally_spaced_weights(num_objectives, n=WEIGHTS, seed=seed):
        yield partial(agent.eval, w=weights)


def evaluate(choice: fronts.EnvironmentChoice, model: TabularModel, choose: Callable[[Any], int]) -> Vector:
    """Return the exact value of a policy: episodes tell its action in every state that it reaches."""
    env, simulator = choice.make().unwrapped, choice.make_simulator()
    policy = np.array([model.legal_actions(state)[0] for state in range(model.num_states)], np.int64)
    index, seen = {key: state for state, key in enumerate(model.keys)}, set[int]()
    for episode in range(MAX_EPISODES):
        observation, _ = env.reset(seed=episode)
        for _ in range(MAX_STEPS):
            state = index[simulator.observe(env, observation)]
            seen.add(state)
            policy[state] = int(choose(observation))
            observation, _, is_over, _, _ = env.step(int(policy[state]))
            if is_over:
                break
        if seen.issuperset(reach_by_policy(model, policy)):
            return tabular.evaluate_policy(model, policy, choice.discount)
    raise RuntimeError(f"{choice.id}: {MAX_EPISODES} episodes do not visit every state that the policy reaches")


def describe(front: fronts.EnvironmentFront, point: np.ndarray[Any, Any], heights: dict[Vector, Fraction]) -> str:
    """Return how an attained point compares with the exact front."""
    if np.abs(front.values - point).max(axis=1).min() <= TOLERANCE:
        return "equal"
    if (front.values >= point - TOLERANCE).all(axis=1).any():
        return "dominated"
    gaps = [float(height) - float(np.dot(list(map(float, weights)), point)) for weights, height in heights.items()]
    gap = min(gaps, default=-1.0)
    return f"below the surface by at least {gap:.6f}" if gap >= -TOLERANCE else "BEYOND THE FRONT"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", default="", help="Only fronts whose name contains this word.")
    parser.add_argument("--steps", type=int, default=100_000, help="Environment steps of the training.")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for name in (name for name in NAMES if given.word in name):
        front, began = fronts.load_front(name), time.process_time()
        assert isinstance(front, fronts.EnvironmentFront)
        model = front.environment.explore(tabular.Limits())
        vectors = [tuple(Fraction(repr(x)) for x in point.value) for point in front.points]
        heights = list_corners(vectors) if front.claim == "coverage" else {}
        policies = train(front.environment, model.num_objectives, given.steps, given.seed)
        found = sorted({tuple(map(float, evaluate(front.environment, model, choose))) for choose in policies})
        best = [tuple(point) for point in np.array(found)[is_nondominated(np.array(found))].tolist()]
        texts = [describe(front, np.array(point), heights) for point in best]
        print(
            f"{name}: GPI-LS attains {len(best)} points, {texts.count('equal')} of the {len(front.points)} exact ones; "
            f"{given.steps:,} steps, {time.process_time() - began:.0f} s CPU"
        )
        for point, text in zip(best, texts, strict=True):
            print(f"  ({', '.join(f'{x:.6g}' for x in point)}): {text}", flush=True)


if __name__ == "__main__":
    main()
