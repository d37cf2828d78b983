"""The PettingZoo Parallel door: every step takes a dict of actions and gives dicts of what each agent sees and gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters import options as checks
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.bases import ParallelBase
from momagames.adapters.declared import AgentSpaces


class MultiObjectiveParallel(AgentSpaces, ParallelBase):  # type: ignore[misc]
    """A game as a PettingZoo Parallel environment, with reward vectors. Made by `momagames.make(id, api="parallel")`.

    Where all agents move at once, `step` takes an action of each. In a turn-based game only the action of the agent in
    `infos[agent]["active_agent"]` counts; those of the others may be missing or None, and their masks are zeros.
    """

    def __init__(self, aec: MultiObjectiveAEC) -> None:
        self.aec_env = aec
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
        """As the AEC door's reset; returns what every agent sees, and infos."""
        aec = self.aec_env
        aec.reset(seed=seed, options=options)
        self._started = True
        self.agents = aec.agents[:]
        seen = aec.observe_agents(self.agents)
        infos = self._infos(self.agents)
        self._drain_finished_agents()
        return seen, infos

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """One environment step: the actions of the agents that act.

        Returns observations, rewards float32[K], terminations, truncations, infos, by agent
        """
        aec = self.aec_env
        if not self._started:
            raise checks.not_reset_error("step()")
        if not actions.keys() <= self._names:
            for agent in actions:
                self.action_space(agent)  # refuses an unknown name
        if not self.agents:
            return {}, {}, {}, {}, {}
        playing = aec.agents[:]
        if self.game.sequential:
            aec.step(actions.get(aec.agent_selection))
        else:
            aec.step_all(actions)
        rewards = dict(aec.rewards)
        terminations, truncations = dict(aec.terminations), dict(aec.truncations)
        seen = aec.observe_agents(playing)
        infos = self._infos(playing)
        self._drain_finished_agents()
        return seen, rewards, terminations, truncations, infos

    def _infos(self, agents: list[str]) -> dict[str, dict[str, Any]]:
        told = self.aec_env.infos
        if not self.game.sequential:
            return dict(told) if self.game.infos else {agent: told[agent].copy() for agent in agents}  # facts are made anew
        return {agent: {**told[agent], "active_agent": self.aec_env.agent_selection} for agent in agents}

    def _drain_finished_agents(self) -> None:
        """The dead steps of agents that have finished."""
        aec = self.aec_env
        while aec.agents and (aec.terminations[aec.agent_selection] or aec.truncations[aec.agent_selection]):
            aec.step(None)
        self.agents = aec.agents[:]

    def state(self) -> NDArray[Any]:
        """The whole position as an array, see the AEC door."""
        return self.aec_env.state()

    def get_state(self) -> dict[str, Any]:
        """The position as JSON-able data; reset(options={"state": that}) goes on with the very same game."""
        return self.aec_env.get_state()

    def render(self) -> Any:
        return self.aec_env.render()

    def close(self) -> None:
        self.aec_env.close()


def make(
    id: str,
    *,
    illegal: str = "raise",
    render_mode: str | None = None,
    render_options: Mapping[str, Any] | None = None,
    **params: Any,
) -> MultiObjectiveParallel:
    """The parallel environment of an id; see `momagames.make`."""
    return MultiObjectiveParallel(MultiObjectiveAEC(registry.spec(id, **params), illegal, render_mode, render_options))
