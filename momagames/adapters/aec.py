"""PettingZoo AEC environments: agents act one after the other, rewards are vectors."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momagames.adapters import options as checks
from momagames.adapters.agent_spaces import AgentSpaces, central_state
from momagames.adapters.bases import AECBase
from momagames.adapters.render import Renderer
from momagames.adapters.spaces import format_mask, format_masks
from momagames.contract import Game, State
from momagames.engine.episode import Episode
from momagames.engine.loops import AGENT_LEFT, MOVER, OVER, TERMINATED, TRUNCATED
from momagames.errors import IllegalAction, InvalidCall
from momagames.kernels.record import CUT_OFF
from momagames.kernels.rng import draw_words


class MultiObjectiveAEC(AgentSpaces, AECBase):  # type: ignore[misc]
    """A game as a PettingZoo AEC environment.

    Each agent's observation is a dict of the game's fields and `action_mask`; `reward_space(agent)` bounds its reward
    vector, float32[K]. Made by `momagames.make(id)`.

    max_cycles       truncate the episode when every live agent has acted so often; the count starts at each reset
    numeric_infos    leave all values out of the infos that are neither numbers nor arrays
    """

    def __init__(
        self,
        game: Game,
        illegal: str = "raise",
        render_mode: str | None = None,
        render_options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
        numeric_infos: bool = False,
    ) -> None:
        AgentSpaces.__init__(self, game)
        self.render_mode = checks.check_render_mode(render_mode)
        self.render_options = checks.check_render_options(game, render_options)
        self.illegal = checks.check_illegal(illegal)
        self.max_cycles = checks.check_max_cycles(max_cycles)
        self.numeric_infos = checks.check_flag("numeric_infos", numeric_infos)
        self.episode = Episode(game)
        self._index = checks.AgentDict({agent: i for i, agent in enumerate(game.agents)})
        self._sequential = game.sequential
        self._started = False
        self._action_rng: np.random.Generator | None = None  # for illegal="random"
        self._seed: int | None = None

    # --------------------------------------------------------------------------------------------------------- start

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode, from a generated or a given position.

        seed      of the random draws; without one they continue, and begin with entropy from the operating system
        options   {"state": record, dict or text}, or keys of the dict form of a position. With a seed, its draws replace those
                  that the position would continue with, unless there is {"keep_rng": True}
        Raises    InvalidState for an invalid position; the running episode then stays unchanged
        """
        seed = checks.check_seed(seed)
        position, keep_rng = checks.read_start(self.game, options)
        with self.episode.lock:
            self.episode.start(position, seed, keep_rng)
            if seed is not None:
                self._seed, self._action_rng = seed, None
            elif self._seed is None:  # drawn now, so that copies have it, too
                self._seed = int(draw_words(1)[0])
            self._start_episode()

    def _start_episode(self) -> None:
        self._started = True
        episode = self.episode
        over, cut = bool(episode.state["over"]), int(episode.state["truncated"])
        gone = episode.state["gone"]
        self.agents = [agent for agent, i in self._index.items() if not gone[i]]
        self._update_rewards()
        self._link_totals()
        self.terminations = dict.fromkeys(self.agents, over and cut != CUT_OFF)
        self.truncations = dict.fromkeys(self.agents, over and cut != 0)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._update_infos()
        self.agent_selection = self.agents[0] if self.agents and not self._sequential else self.possible_agents[episode.mover]
        self._skip_agent_selection: str | None = None
        self.last_action: Any = None
        self._turns = dict.fromkeys(self.agents, 0)  # for max_cycles
        self._still_to_act: list[str] = []  # in the round of a simultaneous game that a forfeit has ended

    @property
    def returns(self) -> NDArray[np.float64]:
        """Sums of the rewards of this episode, float64[A, K]."""
        return self.episode.returns.copy()

    # ---------------------------------------------------------------------------------------------------------- play

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the fields of the observation and `action_mask`, which is all zeros for an agent that may not act now.

        In simultaneous games these are the agents that have acted in this round. In a sequential game whose rules say what a
        waiting agent could do, the mask does, too. At a truncation it is the mask of the position
        """
        if self._sequential:
            return self.observe_with_mask(agent)
        with self.episode.lock:
            observation = self.observe_with_mask(agent)
            if not self._is_waiting(agent):
                observation["action_mask"] = format_mask(self.game, np.zeros(self.game.mask_size, np.int8), self._index[agent])
            return observation

    def _is_waiting(self, agent: str) -> bool:
        """Return whether an agent of a simultaneous game has yet to act in this round."""
        selected = self.agent_selection
        if agent not in self.terminations:
            return False
        is_round_over = self.terminations[selected] or self.truncations[selected]  # and finished agents leave
        return bool(is_round_over) or self._index[agent] >= self._index[selected]

    def observe_with_mask(self, agent: str) -> dict[str, Any]:
        """Return the same as `observe`, but in simultaneous games with the masks of all agents."""
        if not self._started:
            raise checks.not_reset_error("observe()")
        try:
            i = self._index[agent]
        except TypeError:
            i = self._index.find(agent)
        observation: dict[str, Any]
        observation, mask = self.episode.observe_with_mask(i)
        observation["action_mask"] = format_mask(self.game, mask, i)
        return observation

    def observe_agents(self, agents: list[str]) -> dict[str, dict[str, Any]]:
        """Return `observe_with_mask` of several agents."""
        if self._sequential:
            return {agent: self.observe_with_mask(agent) for agent in agents}
        observations = self.episode.observe_all(format_masks(self.game, self.episode.masks))
        if len(agents) == len(observations):
            return dict(zip(agents, observations))  # noqa: B905 - as long as each other
        return {agent: observations[self._index[agent]] for agent in agents}

    def last(self, observe: bool = True) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        if not self._started:
            raise checks.not_reset_error("last()")
        agent = self.agent_selection
        if not self.agents:
            raise checks.finished_error("last()")
        try:
            return (
                self.observe(agent) if observe else None,
                self._cumulative_rewards[agent].copy(),
                self.terminations[agent],
                self.truncations[agent],
                self.infos[agent],
            )
        except KeyError:
            with self.episode.lock:  # another thread was in the middle of a step or a reset
                if agent in self.agents:
                    return self.last(observe)
            raise InvalidCall(f"last() of {agent}, which has finished by a step() of another thread meanwhile") from None

    def step(self, action: Any) -> None:
        """Apply an action of the selected agent; None for an agent that has finished.

        In a simultaneous game, actions of agents that were still to act in the round that a forfeit has ended change nothing.
        Raises IllegalAction; nothing changes then
        """
        lock = self.episode.lock
        lock.acquire()  # half the time of a with statement
        try:
            if not self._started:
                raise checks.not_reset_error("step()")
            agent = self.agent_selection
            if not self.agents:
                raise checks.finished_error("step()")
            if self.terminations[agent] or self.truncations[agent]:
                if action is not None and agent in self._still_to_act:  # PettingZoo's conversion plays rounds to their end
                    self._skip_action(agent)
                    return
                if action is not None:  # the end of the message is PettingZoo's
                    raise IllegalAction(
                        f"illegal action={action!r} of {agent}: when an agent is dead, the only valid action is None"
                    )
                self._was_dead_step(action)
                return
            i = self._index[agent]
            resolved = self.episode.resolve_action(i, action)
            if resolved is None:
                if self.illegal == "forfeit":
                    if not self._sequential:
                        self.episode.totals[i] = 0
                        self._still_to_act = self.agents[self.agents.index(agent) + 1 :]
                    self.forfeit(agent)
                    return
                resolved = self._fix_illegal(i, action)
            if self._sequential:
                self._advance(resolved)
            else:
                self._collect(i, resolved)
        finally:
            lock.release()

    def step_all(self, actions: dict[str, Any]) -> None:
        """Step a simultaneous game with the actions of its live agents."""
        episode, given = self.episode, [actions.get(agent) for agent in self.possible_agents]
        status = episode.try_step(given)
        if status < 0:
            live = {agent: self._index[agent] for agent in self.agents}
            chosen = {i: episode.resolve_action(i, given[i]) for i in live.values()}
            missing = [agent for agent, i in live.items() if agent not in actions and chosen[i] is None]
            if missing and self.illegal == "raise":
                raise IllegalAction(f"illegal action=None of {', '.join(missing)}: expected an action of each live agent")
            for agent, i in live.items():
                if chosen[i] is None:
                    if self.illegal == "forfeit":
                        self.forfeit(agent)
                        return
                    chosen[i] = self._fix_illegal(i, given[i])
            episode.pending.fill(0)
            for i, action in chosen.items():
                episode.pending[i] = action
            status = episode.step(episode.pending)
        self._process_step(status, episode.pending)

    def _fix_illegal(self, i: int, action: Any) -> Any:
        """Return a legal action in place of an illegal one, or raise IllegalAction."""
        if self.illegal == "raise":
            raise self.episode.illegal_action_error(i, action)
        if self._action_rng is None:  # created on first use: it costs as much as a few steps
            self._action_rng = np.random.default_rng(self._seed)
        return checks.substitute_legal(self.illegal, action, self.episode.mask(i), self.game.actions, self._action_rng)

    def _collect(self, i: int, action: Any) -> None:
        """Store one of the simultaneous actions; step the game with the last one."""
        if i == self._index[self.agents[0]]:
            self.episode.pending[:] = 0
        self.episode.pending[i] = action
        self.episode.totals[i] = 0
        place = i if len(self.agents) == len(self.possible_agents) else self.agents.index(self.agent_selection)
        if place == 0:
            self._clear_rewards()
        if place + 1 < len(self.agents):
            self.agent_selection = self.agents[place + 1]
        else:
            self._advance(self.episode.pending)

    def _skip_action(self, agent: str) -> None:
        """Select the agent after one that was still to act."""
        self._still_to_act = [one for one in self._still_to_act if one != agent and one in self.agents]
        self._clear_rewards()
        self.agent_selection = (self._still_to_act or self.agents)[0]

    def _advance(self, actions: Any) -> None:
        self._process_step(self.episode.step(actions), actions)

    def _process_step(self, status: int, actions: Any) -> None:
        """Update agents, rewards and infos after a step."""
        self.last_action = actions if self._sequential else actions.copy()
        self._update_rewards()
        self._update_infos()
        if self.max_cycles is not None and not status & OVER:
            status |= self._count_turn(self.max_cycles)
        if status & (OVER | AGENT_LEFT):
            self._finish_agents(status)
        elif self._sequential:
            self.agent_selection = self.possible_agents[status // MOVER]
        else:
            self.agent_selection = self.agents[0]
        if self.render_mode == "human":
            self.render()

    def _count_turn(self, limit: int) -> int:
        """Count the actions of this step; return the status of a truncated episode once every live agent is at the limit."""
        for agent in [self.agent_selection] if self._sequential else self.agents:
            self._turns[agent] += 1
        gone = self.episode.state["gone"]
        done = all(self._turns[agent] >= limit for agent in self.agents if not gone[self._index[agent]])
        return OVER | TRUNCATED if done else 0

    def _clear_rewards(self) -> None:
        """Set the rewards of all live agents to zeros; PettingZoo calls this in the final step of an agent."""
        self.rewards = dict(zip(self.agents, np.zeros((len(self.agents), len(self.game.objectives)), np.float32), strict=True))

    def remove_finished_agents(self) -> None:
        """Take the final steps of the finished agents that are next."""
        while self.agents and (self.terminations[self.agent_selection] or self.truncations[self.agent_selection]):
            if all(self.terminations[agent] or self.truncations[agent] for agent in self.agents):
                # as the steps one by one, each of which takes time for every agent
                self.agents = []
                for gone in (self.infos, self.rewards, self._cumulative_rewards, self.terminations, self.truncations):
                    gone.clear()
            else:
                self.step(None)

    def truncate(self) -> None:
        """Truncate the episode for all live agents; the position does not change."""
        for agent in self.agents:
            self.truncations[agent] = not self.terminations[agent]

    def _update_rewards(self) -> None:
        """Set `rewards` to those of this step, for the live agents."""
        rewards = dict(zip(self.possible_agents, self.episode.reward.copy()))  # noqa: B905 - as long as each other
        self.rewards = rewards if len(self.agents) == len(rewards) else {agent: rewards[agent] for agent in self.agents}

    def _link_totals(self) -> None:
        """Make the cumulative rewards of the live agents views of the totals of the episode."""
        self._cumulative_rewards = {agent: self.episode.totals[self._index[agent]] for agent in self.agents}

    def _update_infos(self) -> None:
        """Set the infos of all live agents."""
        if self.game.infos:
            infos = self.game.infos(self.episode.state)
            if self.numeric_infos:
                infos = checks.keep_numeric(infos)
            self.infos = {agent: infos.copy() for agent in self.agents}

    def _finish_agents(self, status: int) -> None:
        """Set terminations and truncations after an agent has left or the episode has ended."""
        over, ended, cut = bool(status & OVER), bool(status & TERMINATED), bool(status & TRUNCATED)
        gone = self.episode.state["gone"]
        for agent in self.agents:
            left = bool(gone[self._index[agent]])
            self.terminations[agent] = left or ended
            self.truncations[agent] = cut and not left
        names = self.possible_agents[status // MOVER :] + self.possible_agents[: status // MOVER]
        self.agent_selection = next(
            name for name in names if name in self.terminations and (over or not self.terminations[name])
        )
        if not over:
            self._deads_step_first()

    def forfeit(self, agent: str) -> None:
        """End the episode: the agent gets the lowest reward of each objective, the others the opposite of zero-sum ones."""
        i = self._index.find(agent)
        self.episode.forfeit(i)
        self.last_action = None
        self._update_rewards()
        self._update_infos()
        self._finish_agents(OVER | TERMINATED | (i + 1) % len(self.possible_agents) * MOVER)

    def _accumulate_rewards(self) -> None:
        """Raise InvalidCall: PettingZoo's TerminateIllegalWrapper calls this after it has written a scalar among the rewards.

        What it has overwritten is restored: the illegal action changes nothing.
        """
        gone = self.episode.state["gone"]
        self._update_rewards()
        self._link_totals()
        self.terminations = {agent: bool(gone[self._index[agent]]) for agent in self.agents}
        self.truncations = dict.fromkeys(self.agents, False)
        raise InvalidCall(
            "illegal action in TerminateIllegalWrapper, whose scalar penalty would be lost among the vector rewards: expected "
            'make(..., illegal="forfeit") without that wrapper, which ends the episode with the lowest reward of each objective'
        )

    # ------------------------------------------------------------------------------------------------------- position

    def state(self) -> NDArray[Any]:
        """Return the whole state as an array: the observation of the first agent, or of all agents where they differ."""
        self._check_reset("state()")
        return central_state(self.game, self.episode)

    def get_state(self) -> dict[str, Any]:
        """Return the position as JSON-serializable data; reset(options={"state": ...}) continues from it exactly."""
        self._check_reset("get_state()")
        return self.game.codec.save(self.episode.state)

    @property
    def record(self) -> State:
        """A copy of the state record."""
        return self.episode.state.copy()

    def clone(self) -> Self:
        """Return an independent copy, with the same position, returns and random states.

        The copy of an environment with render_mode="human" has no render mode.
        """
        twin = copy.deepcopy(self)  # without renderer, see __getstate__
        twin.render_mode = None if self.render_mode == "human" else self.render_mode
        return twin

    def peek(self, action: Any) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Return what last() would return after step(action), without changing anything.

        Raises     as step() and last() do
        """
        twin = self.clone()
        twin.step(action)
        return twin.last()

    def _check_reset(self, call: str) -> None:
        if not self._started:
            raise checks.not_reset_error(call)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_renderer"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._started:
            self._link_totals()

    # ---------------------------------------------------------------------------------------------------------- show

    def render(self) -> Any:
        """Return the text (ansi), the picture uint8[H, W, 3] (rgb_array), or None (human), depending on render_mode."""
        self._check_reset("render()")
        if not hasattr(self, "_renderer"):
            self._renderer = Renderer(self.game, self.render_mode, self.render_options)
        return self._renderer.render(self.episode.state, self.last_action, self.episode.returns)

    def close(self) -> None:
        if hasattr(self, "_renderer"):
            self._renderer.close()
            del self._renderer


make: Callable[..., MultiObjectiveAEC] = partial(checks.make_environment, MultiObjectiveAEC)
