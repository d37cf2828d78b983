"""Gymnasium environments: one agent or team is controlled, policies play the others; vector rewards as in MO-Gymnasium."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters import options as checks
from momagames.adapters.render import Renderer
from momagames.adapters.spaces import action_space, format_mask, observation_space, reward_space
from momagames.adapters.specs import DataSpec
from momagames.contract import Game, Policy, State, end_policy_episode, reset_policy
from momagames.contract.agents import find_agent
from momagames.engine.episode import Episode
from momagames.engine.loops import AGENT_LEFT, OVER, TERMINATED, TRUNCATED
from momagames.engine.python_policies import PythonPolicy
from momagames.errors import InvalidCall, InvalidParameter, invalid_value, one_of

Opponent = str | Policy | PythonPolicy
Opponents = Opponent | dict[Any, Opponent]  # by name or index of the agent


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """A game as a Gymnasium environment with vector rewards. Made by `momagames.make(id, api="gymnasium")`.

    agent    name or index of the controlled agent (default: the first)
    team     in sequential games, instead of an agent: the index of the controlled team (see `Game.teams`). A step controls
             the agent of the team that is to move, which the infos name as `agent`
    others   policy of the other agents: a name, a callable (state record, action mask, generator) -> action, or a
             `PythonPolicy`; or a dict of these by name or index of the agent. Its method `reset()`, if it has one, is called
             at the start of an episode
    max_cycles       truncate the episode after this number of steps; the count starts at each reset
    numeric_infos    leave all values out of the infos that are neither numbers nor arrays, except a mask of several parts

    The observation is the field of the game (a Dict of several fields). The action mask is in the infos, as `action_mask`
    int8[M] (a tuple of masks for several parts). The reward of a step, float32[K], is the sum of the rewards of the agent,
    or of the team, until the next controlled step.
    """

    metadata = {"render_modes": list(checks.RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - Gymnasium's form
    _spec: DataSpec | None = None

    def __init__(
        self,
        game: Game,
        agent: str | int | None = None,
        others: Opponents = "random",
        illegal: str = "raise",
        render_mode: str | None = None,
        render_options: Mapping[str, Any] | None = None,
        team: int | None = None,
        max_cycles: int | None = None,
        numeric_infos: bool = False,
    ) -> None:
        self.game = game
        self.max_cycles = checks.check_max_cycles(max_cycles)
        self.numeric_infos = checks.check_flag("numeric_infos", numeric_infos)
        self.render_mode = checks.check_render_mode(render_mode)
        self.render_options = checks.check_render_options(game, render_options)
        self.illegal = checks.check_illegal(illegal)
        self._seats = controlled_agents(game, agent, team)
        self.agent, self.team = game.agents[self._seats[0]], team
        self._policies = make_opponents(game, others, [i for i in range(len(game.agents)) if i not in self._seats])
        self.observation_space = observation_space(game)
        self._place = None if team is not None else self._seats[0]  # whose number of actions the space has
        self.action_space = action_space(game, self._place)
        self.reward_space = reward_space(game, len(self._seats))
        self.reward_dim = len(game.objectives)
        self.episode = Episode(game)
        self._started = False
        self.last_action: Any = None
        self._renderer: Renderer | None = None
        self._twin: SingleAgentEnv | None = None  # copy for `peek`

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]
        """The spec by which gymnasium.make made this environment."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = None if spec is None else DataSpec.from_spec(spec)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, from a generated or a given position: options={"state": ...} or keys of its dict form.

        seed      as of `MultiObjectiveAEC.reset`, also for policies of other agents; so are the options
        """
        seed = checks.check_seed(seed)
        position, keep_rng = checks.read_start(self.game, options)
        with self.episode.lock:
            self.episode.start(position, seed, keep_rng)
            super().reset(seed=seed)
            _ = self.np_random  # begins now, so that copies have it, too
            self._started = True
            self._steps = 0
            self.last_action = None
            self._start = self.episode.state.copy()
            for policy in self._policies.values():
                reset_policy(policy)
            self._status = self._play_opponents(int(self.episode.state["over"]) * OVER)
            return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Apply an action, then the actions of the other agents until the next controlled step.

        Raises IllegalAction (illegal="raise"); nothing changes then
        """
        lock = self.episode.lock
        lock.acquire()  # half the time of a with statement
        try:
            if not self._started:
                raise checks.not_reset_error("step()")
            if self._status & OVER or self._has_finished():
                raise InvalidCall("step() after the end of the episode: call reset() first")
            before = self._own_returns()
            resolved = self.episode.resolve_action(self._acting_agent, action)
            if resolved is not None:
                self._step_game(resolved)
            elif self.illegal == "raise":
                raise self.episode.illegal_action_error(self._acting_agent, action)
            elif self.illegal == "forfeit":
                self.episode.forfeit(self._acting_agent)
                self._status = OVER | TERMINATED
            else:
                mask = self.episode.mask(self._acting_agent)
                self._step_game(checks.substitute_legal(self.illegal, action, mask, self.game.actions, self.np_random))
            self._status = self._play_opponents(self._status)
            self._steps += 1
            if self._steps == self.max_cycles and not self._status & OVER:
                self._status |= OVER | TRUNCATED
            if self._status & OVER:
                for policy in self._policies.values():
                    end_policy_episode(policy, self.episode.state)
            reward = (self._own_returns() - before).astype(np.float32)
            left = self._has_finished()
            terminated, truncated = left or bool(self._status & TERMINATED), not left and bool(self._status & TRUNCATED)
            if self.render_mode == "human":
                self.render()
            return self._observation(), reward, terminated, truncated, self._info()
        finally:
            lock.release()

    @property
    def _acting_agent(self) -> int:
        """Index of the controlled agent; in a team, of the one to move."""
        return self.episode.mover if self.episode.mover in self._seats[1:] else self._seats[0]

    def _own_returns(self) -> NDArray[np.float64]:
        """Return the sum of the returns of the controlled agents, float64[K]."""
        returns = self.episode.returns
        own: NDArray[np.float64] = returns[self._seats[0]].copy() if len(self._seats) == 1 else returns[self._seats].sum(axis=0)
        return own

    def _has_finished(self) -> bool:
        """Return whether all controlled agents have left the game."""
        return all(self.episode.state["gone"][seat] for seat in self._seats)

    def _step_game(self, action: Any) -> None:
        """Step the game once, in simultaneous games with the actions of the other agents."""
        if self.game.sequential:
            self._status = self.episode.step(action)
            self.last_action = action
        else:
            for i, policy in self._policies.items():
                self.episode.pending[i] = self._choose_action(i, policy)
            self.episode.pending[self._acting_agent] = action
            self._status = self.episode.step(self.episode.pending)
            self.last_action = self.episode.pending.copy()

    def _choose_action(self, agent: int, policy: Policy) -> Any:
        """Return the action of the policy of another agent. Raises IllegalAction."""
        chosen = self.episode.choose_action(agent, policy, self.np_random)
        action = self.episode.resolve_action(agent, chosen)
        if action is None:
            raise self.episode.illegal_action_error(agent, chosen)
        return action

    def _play_opponents(self, status: int) -> int:
        """Let the other agents of a sequential game act until a controlled agent is to move or the episode ends."""
        while self.game.sequential and not status & OVER and self.episode.mover not in self._seats:
            mover = self.episode.mover
            action = self._choose_action(mover, self._policies[mover])
            status = self.episode.step(action)
            self.last_action = action
            if status & AGENT_LEFT and self._has_finished():
                break
        return status

    def _observation(self) -> Any:
        fields = self.episode.observe(self._acting_agent)
        return next(iter(fields.values())) if len(fields) == 1 else fields

    def _info(self) -> dict[str, Any]:
        infos = self.game.infos(self.episode.state) if self.game.infos else {}
        if self.team is not None:
            infos["agent"] = self.game.agents[self._acting_agent]
        if self.numeric_infos:
            infos = checks.keep_numeric(infos)
        return {"action_mask": format_mask(self.game, self.episode.mask(self._acting_agent), self._place), **infos}

    def clone(self) -> SingleAgentEnv:
        """Return an independent copy, with the same position, returns and random states.

        Policies of other agents are copied with their memories. A function is shared and must not have a memory.
        The copy of an environment with render_mode="human" has no render mode.
        Raises     InvalidCall if a policy cannot be copied
        """
        assert self.np_random is not None  # reading it creates one if reset() had no seed; both must have the same
        twin = copy.copy(self)  # without renderer and twin, see __getstate__
        twin._policies = copy_policies(self._policies, {id(self): twin})
        for name in (
            "episode",
            "_np_random",
            "last_action",
            "render_options",
            "observation_space",
            "action_space",
            "reward_space",
        ):
            setattr(twin, name, copy.deepcopy(getattr(self, name)))
        twin.render_mode = None if self.render_mode == "human" else self.render_mode
        return twin

    def peek(self, action: Any) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Return what step(action) would return, without changing anything.

        The result includes the actions of the other agents and all random draws.
        Raises     IllegalAction as step() does; InvalidCall if a policy of another agent cannot be copied
        """
        return self.refresh_twin().step(action)

    def refresh_twin(self) -> SingleAgentEnv:
        """Return a copy in the state of this environment, for `peek`; each call returns the same copy."""
        if not self._started:
            raise checks.not_reset_error("peek()")
        if self._twin is None:
            self._twin = self.clone()
            self._twin.episode.log = None
        else:
            self._twin._copy_from(self)
        return self._twin

    def _copy_from(self, other: SingleAgentEnv) -> None:
        """Copy the state of the environment that this one was copied from."""
        self._started, self._status, self._steps = other._started, other._status, other._steps
        self.episode.copy_from(other.episode)
        if self._policies or self.illegal == "random":
            self.np_random.bit_generator.state = other.np_random.bit_generator.state
        pairs = [(own_policy, other._policies[i]) for i, own_policy in self._policies.items()]
        if all(own_policy is other_policy or hasattr(other_policy, "get_state") for own_policy, other_policy in pairs):
            for own_policy, other_policy in pairs:
                if own_policy is not other_policy:
                    own_policy.set_state(other_policy.get_state())  # type: ignore[attr-defined]
        else:
            self._policies = copy_policies(other._policies, {id(other): self})

    def action_masks(self) -> NDArray[np.int8]:
        """Return the action mask, int8[M] (all parts), under the name that sb3-contrib expects."""
        return self.episode.mask(self._acting_agent)[: sum(self.game.action_sizes(self._place))].copy()

    def pareto_front(self, gamma: float = 1.0) -> list[NDArray[np.float32]] | None:
        """Return the exact Pareto front of the returns from the start position of this episode if it is small, else None.

        gamma   discount; fronts are known for 1.0
        """
        if not self._started or gamma != 1.0:
            return None
        front = registry.pareto_front_if_small(self.game, self._start)
        return None if front is None else [point.astype(np.float32) for point in front]

    def get_state(self) -> dict[str, Any]:
        """Return the position as JSON-serializable data; reset(options={"state": ...}) continues from it exactly."""
        if not self._started:
            raise checks.not_reset_error("get_state()")
        return self.game.codec.save(self.episode.state)

    @property
    def state(self) -> State:
        """A copy of the state record; reset(options={"state": ...}) continues from it."""
        return self.episode.state.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_renderer": None, "_twin": None}

    def render(self) -> Any:
        """Return the text (ansi), the picture uint8[H, W, 3] (rgb_array), or None (human), depending on render_mode."""
        if not self._started:
            raise checks.not_reset_error("render()")
        if self._renderer is None:
            self._renderer = Renderer(self.game, self.render_mode, self.render_options)
        return self._renderer.render(self.episode.state, self.last_action, self.episode.returns)

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def __str__(self) -> str:
        return self.game.id


def controlled_agents(game: Game, agent: str | int | None, team: int | None) -> list[int]:
    """Return the indices of the controlled agents; InvalidParameter for an invalid agent or team."""
    if team is None:
        return [0 if agent is None else find_agent(game, agent)]
    teams = sorted(set(game.teams))
    if agent is not None:
        raise InvalidParameter(f"invalid agent={agent!r} with team={team!r}: expected one of the two")
    if not game.sequential:
        raise InvalidParameter(f"invalid team={team!r}: {game.id} is a simultaneous game; see momagames.wrappers.Centralize")
    if isinstance(team, bool) or not isinstance(team, (int, np.integer)) or team not in teams:
        raise InvalidParameter(f"invalid team={team!r}: expected {one_of(teams)}")
    return [i for i, of in enumerate(game.teams) if of == team]


def make_opponents(game: Game, others: Opponents, agents: Sequence[int]) -> dict[int, Policy]:
    """Return the policies of agents by index; InvalidParameter for one without a policy, or if `others` names no agent."""
    if not isinstance(others, dict):
        return {agent: _make_opponent(game, agent, others) for agent in agents}
    chosen = {find_agent(game, agent, "others: agent"): policy for agent, policy in others.items()}
    for agent in agents:
        if chosen.get(agent) is None:
            raise InvalidParameter(f"invalid others={others!r}: expected a policy for {game.agents[agent]!r}")
    return {agent: _make_opponent(game, agent, chosen[agent]) for agent in agents}


def _make_opponent(game: Game, agent: int, chosen: Any) -> Policy:
    """Return the policy of an agent."""
    if isinstance(chosen, PythonPolicy):
        return chosen.make(game, agent)
    if not isinstance(chosen, str) and not callable(chosen):
        expected = "the name of a policy, a function (state, mask, generator) -> action, or a PythonPolicy"
        raise InvalidParameter(invalid_value("others", chosen, expected))
    policy: Policy = registry.policy(chosen, game, agent) if isinstance(chosen, str) else chosen
    return policy


def copy_policies(policies: dict[int, Policy], known: dict[int, Any]) -> dict[int, Policy]:
    """Return copies of policies with their memories, by index of the agent; InvalidCall for one that cannot be copied.

    known   replacements of objects that policies may refer to and that are not copied, by id of the object
    """
    try:
        return copy.deepcopy(policies, known)
    except Exception as error:
        raise InvalidCall(
            f"a policy in others= cannot be copied ({type(error).__name__}: {error}), but a copy of the environment needs its"
            " memory: add a method __deepcopy__"
        ) from error


make: Callable[..., SingleAgentEnv] = partial(checks.make_environment, SingleAgentEnv)
