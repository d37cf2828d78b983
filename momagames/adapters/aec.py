"""The PettingZoo AEC door: agents act one after the other, rewards are vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters import options as checks
from momagames.adapters.bases import AECBase
from momagames.adapters.declared import AgentSpaces, central_state
from momagames.adapters.render import Renderer
from momagames.adapters.spaces import format_mask, format_masks
from momagames.contract import Game, State
from momagames.engine.episode import Episode
from momagames.engine.loops import MOVER, OVER, AGENT_LEFT, TERMINATED, TRUNCATED
from momagames.kernels.record import CUT_OFF


class MultiObjectiveAEC(AgentSpaces, AECBase):  # type: ignore[misc]
    """A game as a PettingZoo AEC environment.

    Each agent's observation is a dict of the game's fields and `action_mask`; `reward_space(agent)` bounds its reward
    vector, float32[K]. Made by `momagames.make(id)`.
    """

    def __init__(
        self,
        game: Game,
        illegal: str = "raise",
        render_mode: str | None = None,
        render_options: Mapping[str, Any] | None = None,
    ) -> None:
        AgentSpaces.__init__(self, game)
        self.render_mode = checks.check_render_mode(render_mode)
        self.render_options = checks.check_render_options(game, render_options)
        self.illegal = checks.check_illegal(illegal)
        self.play = Episode(game)
        self._index = checks.AgentDict({agent: i for i, agent in enumerate(game.agents)})
        self._sequential = game.sequential
        self._started = False
        self._lawful: np.random.Generator | None = None  # picks in place of illegal actions
        self._seed = 0

    # --------------------------------------------------------------------------------------------------------- start

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a game, or go on from a given position: options={"state": ...} or the keys of the game's dict form.

        Raises InvalidState for a position that no game can go on from; the running game then goes on unchanged
        """
        seed = checks.check_seed(seed)
        self.play.start(checks.read_start_position(self.game, options), seed)
        if seed is not None:
            self._seed, self._lawful = seed, None
        self._start_episode()

    def _start_episode(self) -> None:
        self._started = True
        play = self.play
        over, cut = bool(play.state["over"]), int(play.state["truncated"])
        gone = play.state["gone"]
        self.agents = [agent for agent, i in self._index.items() if not gone[i]]
        self._update_rewards()
        self._cumulative_rewards = {agent: play.totals[self._index[agent]] for agent in self.agents}
        self.terminations = dict.fromkeys(self.agents, over and cut != CUT_OFF)
        self.truncations = dict.fromkeys(self.agents, over and cut != 0)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._update_infos()
        self.agent_selection = self.agents[0] if self.agents and not self._sequential else self.possible_agents[play.mover]
        self._skip_agent_selection: str | None = None
        self._last_action: Any = None

    @property
    def returns(self) -> NDArray[np.float64]:
        """Sums of the rewards of this episode, float64[A, K]."""
        return self.play.returns.copy()

    # ---------------------------------------------------------------------------------------------------------- play

    def observe(self, agent: str) -> dict[str, Any]:
        """The fields of the game's observation and `action_mask`, zeros for an agent that may not act now."""
        seen = self.observe_with_mask(agent)
        if not self._sequential and agent != self.agent_selection:
            seen["action_mask"] = format_mask(self.game, np.zeros(self.game.mask_size, np.int8))
        return seen

    def observe_with_mask(self, agent: str) -> dict[str, Any]:
        """Like `observe`, but where all agents act at once every mask is shown, whoever is selected."""
        if not self._started:
            raise checks.not_reset_error("observe()")
        seen: dict[str, Any]
        seen, mask = self.play.observe_with_mask(self._index[agent])
        seen["action_mask"] = format_mask(self.game, mask)
        return seen

    def observe_agents(self, agents: list[str]) -> dict[str, dict[str, Any]]:
        """`look` for several agents."""
        if self._sequential:
            return {agent: self.observe_with_mask(agent) for agent in agents}
        everything = self.play.observe_all(format_masks(self.game, self.play.masks))
        if len(agents) == len(everything):
            return dict(zip(agents, everything))  # noqa: B905 - as long as each other
        return {agent: everything[self._index[agent]] for agent in agents}

    def last(self, observe: bool = True) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        if not self._started:
            raise checks.not_reset_error("last()")
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent].copy(),
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def step(self, action: Any) -> None:
        """Play an action of the selected agent; None for an agent that has finished.

        Raises IllegalAction; nothing has then changed
        """
        if not self._started:
            raise checks.not_reset_error("step()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        i = self._index[agent]
        taken = self.play.resolve_action(i, action)
        if taken is None:
            if self.illegal == "forfeit":
                self.forfeit(agent)
                return
            taken = self._fix_illegal(i, action)
        if self._sequential:
            self._advance(taken)
        else:
            self._collect(i, taken)

    def step_all(self, actions: dict[str, Any]) -> None:
        """One step of a game in which all agents move at once, with the actions of those that are in it."""
        play, given = self.play, [actions.get(agent) for agent in self.possible_agents]
        status = play.try_step(given)
        if status < 0:
            chosen = {}
            for agent in self.agents:
                i = self._index[agent]
                chosen[i] = play.resolve_action(i, given[i])
                if chosen[i] is None:
                    if self.illegal == "forfeit":
                        self.forfeit(agent)
                        return
                    chosen[i] = self._fix_illegal(i, given[i])
            play.pending.fill(0)
            for i, action in chosen.items():
                play.pending[i] = action
            status = play.step(play.pending)
        self._process_step(status, play.pending)

    def _fix_illegal(self, i: int, action: Any) -> Any:
        """A legal action in place of an illegal one, or IllegalAction."""
        if self.illegal == "raise":
            raise self.play.illegal_action_error(i, action)
        if self._lawful is None:  # made when first needed: it costs as much as a few steps
            self._lawful = np.random.default_rng(self._seed)
        return checks.substitute_legal(self.illegal, action, self.play.mask(i), self.game.actions, self._lawful)

    def _collect(self, i: int, action: Any) -> None:
        """One of the simultaneous actions; the last one moves the game."""
        if i == self._index[self.agents[0]]:
            self.play.pending[:] = 0
        self.play.pending[i] = action
        self.play.totals[i] = 0
        later = self.agents[self.agents.index(self.agent_selection) + 1 :]
        if later:
            self.rewards = {agent: np.zeros_like(self.play.totals[0]) for agent in self.agents}
            self.agent_selection = later[0]
        else:
            self._advance(self.play.pending)

    def _advance(self, actions: Any) -> None:
        self._process_step(self.play.step(actions), actions)

    def _process_step(self, status: int, actions: Any) -> None:
        """What a step that was played means for the agents."""
        self._last_action = actions if self._sequential else actions.copy()
        self._update_rewards()
        self._update_infos()
        if status & (OVER | AGENT_LEFT):
            self._finish_agents(status)
        elif self._sequential:
            self.agent_selection = self.possible_agents[status // MOVER]
        else:
            self.agent_selection = self.agents[0]
        if self.render_mode == "human":
            self.render()

    def _update_rewards(self) -> None:
        """PettingZoo's `rewards`: of this step, for the agents that are still here."""
        rewards = dict(zip(self.possible_agents, self.play.reward.copy()))  # noqa: B905 - as long as each other
        self.rewards = rewards if len(self.agents) == len(rewards) else {agent: rewards[agent] for agent in self.agents}

    def _update_infos(self) -> None:
        """What the game has to say to everybody."""
        if self.game.infos:
            facts = self.game.infos(self.play.state)
            self.infos = {agent: facts.copy() for agent in self.agents}

    def _finish_agents(self, status: int) -> None:
        """Somebody has left, or the game is over."""
        over, ended, cut = bool(status & OVER), bool(status & TERMINATED), bool(status & TRUNCATED)
        gone = self.play.state["gone"]
        for agent in self.agents:
            left = bool(gone[self._index[agent]])
            self.terminations[agent] = left or ended
            self.truncations[agent] = cut and not left
        names = self.possible_agents[status // MOVER :] + self.possible_agents[: status // MOVER]
        alive = [agent for agent in names if agent in self.agents and (over or not self.terminations[agent])]
        self.agent_selection = alive[0]
        if not over:
            self._deads_step_first()

    def forfeit(self, agent: str) -> None:
        """End the game: this agent gets the worst of each objective, the others the opposite where it is zero-sum."""
        i = self._index[agent]
        self.play.end(self.game.forfeit_reward(i))
        self._last_action = None
        self._update_rewards()
        self._update_infos()
        self._finish_agents(OVER | TERMINATED | (i + 1) % len(self.possible_agents) * MOVER)

    # ------------------------------------------------------------------------------------------------------- position

    def state(self) -> NDArray[Any]:
        """The whole position as an array: the planes of the first agent, or every agent's fields where they differ."""
        self._check_reset("state()")
        return central_state(self.game, self.play)

    def get_state(self) -> dict[str, Any]:
        """The position as JSON-able data; reset(options={"state": that}) goes on with the very same game."""
        self._check_reset("get_state()")
        return self.game.codec.save(self.play.state)

    @property
    def record(self) -> State:
        """The state record, a copy."""
        return self.play.state.copy()

    def _check_reset(self, call: str) -> None:
        if not self._started:
            raise checks.not_reset_error(call)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_renderer"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        if self._started:  # the running totals are rows of the game's own books
            self._cumulative_rewards = {agent: self.play.totals[self._index[agent]] for agent in self.agents}

    # ---------------------------------------------------------------------------------------------------------- show

    def render(self) -> Any:
        """None, the text (ansi) or the picture uint8[H, W, 3] (rgb_array), as render_mode says."""
        self._check_reset("render()")
        if not hasattr(self, "_renderer"):
            self._renderer = Renderer(self.game, self.render_mode, self.render_options)
        return self._renderer.render(self.play.state, self._last_action, self.play.returns)

    def close(self) -> None:
        if hasattr(self, "_renderer"):
            self._renderer.close()
            del self._renderer


def make(
    id: str,
    *,
    illegal: str = "raise",
    render_mode: str | None = None,
    render_options: Mapping[str, Any] | None = None,
    **params: Any,
) -> MultiObjectiveAEC:
    """The AEC environment of an id; see `momagames.make`."""
    return MultiObjectiveAEC(registry.spec(id, **params), illegal, render_mode, render_options)
