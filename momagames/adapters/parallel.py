"""PettingZoo Parallel environments: a step takes a dict of actions and returns dicts by agent; rewards are vectors."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momagames.adapters import options as checks
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.agent_spaces import AgentSpaces
from momagames.adapters.bases import ParallelBase
from momagames.errors import IllegalAction, invalid_value


class MultiObjectiveParallel(AgentSpaces, ParallelBase):  # type: ignore[misc]
    """A game as a PettingZoo Parallel environment, with reward vectors. Made by `momagames.make(id, api="parallel")`.

    In a simultaneous game `step` takes an action of each agent. In a sequential game only the action of the agent in
    `infos[agent]["active_agent"]` counts; those of the others may be missing or None. Their masks are zeros, unless the rules
    say what a waiting agent could do.

    max_cycles    truncate the episode after this number of steps; the count starts at each reset
    """

    def __init__(self, aec: MultiObjectiveAEC, max_cycles: int | None = None) -> None:
        self.aec_env = aec
        self.max_cycles = checks.check_max_cycles(max_cycles)
        AgentSpaces.__init__(self, aec.game)
        self.render_mode, self.render_options = aec.render_mode, aec.render_options
        self._started = False
        self._names = frozenset(self.possible_agents)

    @property
    def returns(self) -> NDArray[np.float64]:
        """Sums of the rewards of this episode, float64[A, K]."""
        return self.aec_env.returns

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, dict[str, NDArray[Any]]], dict[str, dict[str, Any]]]:
        """Start an episode as `MultiObjectiveAEC.reset` does; return observations and infos of all agents."""
        aec = self.aec_env
        with aec.episode.lock:
            aec.reset(seed=seed, options=options)
            self._started = True
            self._cycles = 0
            self.agents = aec.agents[:]
            observations = aec.observe_agents(self.agents)
            infos = self._infos(self.agents)
            self._drain_finished_agents()
            return observations, infos

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Step the environment with the actions of the agents that act.

        Returns observations, rewards float32[K], terminations, truncations, infos, by agent
        """
        aec = self.aec_env
        if not self._started:
            raise checks.not_reset_error("step()")
        if not isinstance(actions, Mapping):
            raise IllegalAction(invalid_value("actions", actions, "a dict with an action of each live agent"))
        if not actions.keys() <= self._names:
            for agent in actions:
                self.action_space(agent)  # raises for an unknown agent
        lock = aec.episode.lock
        lock.acquire()  # half the time of a with statement
        try:
            if not self.agents:
                return {}, {}, {}, {}, {}
            playing = aec.agents[:]
            if self.game.sequential:
                aec.step(actions.get(aec.agent_selection))
            else:
                aec.step_all(actions)
            self._cycles += 1
            if self._cycles == self.max_cycles:
                aec.truncate()
            rewards = dict(aec.rewards)
            terminations, truncations = dict(aec.terminations), dict(aec.truncations)
            observations = aec.observe_agents(playing)
            infos = self._infos(playing)
            self._drain_finished_agents()
            return observations, rewards, terminations, truncations, infos
        finally:
            lock.release()

    def _infos(self, agents: list[str]) -> dict[str, dict[str, Any]]:
        infos = self.aec_env.infos
        if not self.game.sequential and self.game.infos:  # they are new dicts
            return dict(infos)
        if not self.game.sequential or self.aec_env.numeric_infos:
            return {agent: infos[agent].copy() for agent in agents}
        return {agent: {**infos[agent], "active_agent": self.aec_env.agent_selection} for agent in agents}

    def _drain_finished_agents(self) -> None:
        self.aec_env.remove_finished_agents()
        self.agents = self.aec_env.agents[:]

    def state(self) -> NDArray[Any]:
        """Return the whole state as an array, see `MultiObjectiveAEC.state`."""
        return self.aec_env.state()

    def get_state(self) -> dict[str, Any]:
        """Return the position as JSON-serializable data; reset(options={"state": ...}) continues from it exactly."""
        return self.aec_env.get_state()

    def clone(self) -> Self:
        """Return an independent copy, see `MultiObjectiveAEC.clone`."""
        twin = copy.deepcopy(self)
        twin.render_mode = twin.aec_env.render_mode = None if self.render_mode == "human" else self.render_mode
        return twin

    def peek(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Return what step(actions) would return, without changing anything.

        Raises     as step() does
        """
        return self.clone().step(actions)

    def render(self) -> Any:
        return self.aec_env.render()

    def close(self) -> None:
        self.aec_env.close()


def make(id: str, *, max_cycles: int | None = None, **options: Any) -> MultiObjectiveParallel:
    """Make the parallel environment of an id; see `momagames.make`."""
    return MultiObjectiveParallel(checks.make_environment(MultiObjectiveAEC, id, **options), max_cycles)
