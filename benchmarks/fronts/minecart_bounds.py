"""Bounds for minecart-deterministic-v0: proven ones for all policies, and returns that episodes of the environment attain.

    python benchmarks/fronts/minecart_bounds.py

Upper bounds come from a relaxation of the driving. A frame adds at most ACCELERATION to the speed, and moves the cart by at
most its speed; turning is free; all mines are as near as the nearest one, and yield as much of each ore as the best one. Mining
needs a cart at rest (slower than EPS_SPEED) within MINE_RADIUS of a mine, where no wall stops it, so that it brakes. A trip
with M actions of mining then takes at least `fewest_actions(M)` actions, holds at most 4 M times the yield of a frame and at
most the capacity, and is paid with the discount of its last action. An episode without a trip earns no ore.

Attained returns come from trips to one mine: up to MAX_OUT actions of driving, a brake, mining, and driving home, MAX_ACTIONS
in all. A tree search plays them in the environment, and leaves out those that the relaxation rules out. The best trips are
printed with their actions, and played once more from a reset.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import hypot
from typing import Any

import mo_gymnasium
import numpy as np
from mo_gymnasium.envs.minecart import minecart
from numpy.typing import NDArray

GAMMA = 0.98
FRAMES = 4  # of an action
MINE, LEFT, RIGHT, ACCELERATE, BRAKE, NONE = range(6)
WEIGHTS = {"ore 1": (1, 0), "ore 2": (0, 1), "ore 1 + ore 2": (1, 1)}
SLACK = 1e-9  # of distances, above the rounding of their sums
MAX_OUT, MAX_MINING, MAX_ACTIONS = 5, 4, 15


def count_actions(distance: float, speed: float = 0.0) -> int:
    """Return the fewest actions in which a cart with a speed covers a distance."""
    frames = 0
    while distance > SLACK:
        speed = min(speed + minecart.ACCELERATION, minecart.MAX_SPEED)
        distance, frames = distance - speed, frames + 1
    return -(-frames // FRAMES)


def fewest_actions(env: Any, mining: int) -> int:
    """Return a lower bound of the actions of an episode with that many actions of mining."""
    out = min(hypot(*mine.pos) for mine in env.mines) - minecart.MINE_RADIUS
    return count_actions(out) + 1 + mining + count_actions(out - minecart.BASE_RADIUS, minecart.EPS_SPEED)


def bound_ore(env: Any, weights: tuple[int, ...]) -> float:
    """Return an upper bound of the weighted discounted ore of all policies."""
    best = 0.0
    yields = FRAMES * np.max([mine.distribution_means() for mine in env.mines], axis=0)
    for mining in range(1, 1 + int(np.ceil(env.capacity / yields.min()))):
        ore, room = 0.0, float(env.capacity)
        for weight, most in sorted(zip(weights, yields, strict=True), reverse=True):
            amount = min(room, mining * most)
            ore, room = ore + weight * amount, room - amount
        best = max(best, ore * GAMMA ** (fewest_actions(env, mining) - 1))
    return best


@dataclass
class Trip:
    """An episode, or its beginning: actions, discounted return, and the cart after them."""

    actions: tuple[int, ...]
    value: NDArray[np.float64]
    cart: tuple[Any, ...]
    is_over: bool = False


class Driver:
    """Plays actions in the environment from stored positions of the cart."""

    def __init__(self) -> None:
        self.env = mo_gymnasium.make("minecart-deterministic-v0").unwrapped
        self.env.reset(seed=0)
        self.start = Trip((), np.zeros(3), self._save())

    def _save(self) -> tuple[Any, ...]:
        cart = self.env.cart
        return cart.pos.copy(), cart.speed, cart.angle, cart.content.copy(), cart.departed

    def drive(self, trip: Trip, actions: tuple[int, ...]) -> Trip:
        """Return a trip with more actions, up to the end of the episode."""
        cart, played, value, is_over = self.env.cart, list(trip.actions), trip.value.copy(), trip.is_over
        pos, cart.speed, cart.angle, content, cart.departed = trip.cart
        cart.pos, cart.content, self.env.end = pos.copy(), content.copy(), is_over
        for action in actions:
            if is_over:
                break
            _, reward, is_over, _, _ = self.env.step(action)
            value += GAMMA ** len(played) * reward.astype(np.float64)
            played.append(action)
        return Trip(tuple(played), value, self._save(), is_over)


def list_trips(driver: Driver) -> list[Trip]:
    """Play the trips of the search; return those that end at the base with ore."""
    drives, layer = [driver.start], [driver.start]
    for _ in range(MAX_OUT):
        layer = [driver.drive(trip, (action,)) for trip in layer for action in (LEFT, RIGHT, ACCELERATE, NONE)]
        layer = [trip for trip in layer if (not trip.is_over and trip.cart[1] > 0) or len(set(trip.actions)) == 1]
        drives += layer
    found: list[Trip] = []
    for there in drives:
        loaded = driver.drive(there, (BRAKE,))
        for _ in range(MAX_MINING):
            before = loaded.cart[3].sum()
            loaded = driver.drive(loaded, (MINE,))
            if loaded.is_over or loaded.cart[3].sum() == before:
                break
            found += list_returns(driver, loaded)
    return found


def list_returns(driver: Driver, trip: Trip) -> list[Trip]:
    """Return the ways home of a trip within MAX_ACTIONS."""
    found, stack = [], [trip]
    while stack:
        one = stack.pop()
        for action in (LEFT, RIGHT, ACCELERATE, NONE):
            longer = driver.drive(one, (action,))
            pos, speed = longer.cart[:2]
            if longer.is_over:
                found.append(longer)
            elif len(longer.actions) + count_actions(hypot(*pos) - minecart.BASE_RADIUS, speed) <= MAX_ACTIONS:
                stack.append(longer)
    return found


def main() -> None:
    driver, began = Driver(), time.process_time()
    trips = list_trips(driver)
    published = np.array(driver.env.convex_coverage_set(GAMMA))
    print(f"minecart-deterministic-v0, gamma {GAMMA}: {len(trips):,} trips, {time.process_time() - began:.1f} s CPU")
    print("| discounted | upper bound of all policies | published | attained | return of the episode | actions |")
    print("|---|---:|---:|---:|---|---|")
    for name, weights in WEIGHTS.items():
        best = max(trips or [driver.start], key=lambda trip: float(trip.value[:2] @ weights))
        driver.env.reset(seed=0)
        again = driver.drive(driver.start, best.actions)
        assert (again.value == best.value).all()
        most = max(float(point[:2] @ weights) for point in published)
        upper, attained = bound_ore(driver.env, weights), float(best.value[:2] @ weights)
        vector = ", ".join(f"{x:.6f}" for x in best.value)
        print(f"| {name} | {upper:.6f} | {most:.6f} | {attained:.6f} | ({vector}) | {''.join(map(str, best.actions))} |")


if __name__ == "__main__":
    main()
