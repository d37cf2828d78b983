"""The PettingZoo AEC door: agents act one after the other, rewards are vectors."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from momagames import registry
from momagames.adapters import options as checks
from momagames.adapters.render import Renderer
from momagames.adapters.spaces import action_space, masked_observation_space, reward_space
from momagames.contract import Game, State
from momagames.engine.loops import MOVER, OVER, SOMEBODY_GONE, TRUNCATED
from momagames.engine.play import Play

if TYPE_CHECKING or not find_spec("momaland"):
    Base = AECEnv
else:  # with momaland installed its wrappers and learners accept our environments
    from momaland.utils.env import MOAECEnv as Base


class MultiObjectiveAEC(Base):  # type: ignore[misc]
    """A game as a PettingZoo AEC environment.

    Each agent's observation is a dict of the game's fields and `action_mask`; `reward_space(agent)` bounds its reward
    vector, float32[K]. Made by `momagames.make(id)`.
    """

    def __init__(self, game: Game, illegal: str = "raise", render_mode: str | None = None) -> None:
        self.game = game
        self.render_mode = checks.check_render_mode(render_mode)
        self.illegal = checks.check_illegal(illegal)
        self.metadata = {
            "name": game.id,
            "render_modes": list(checks.RENDER_MODES),
            "render_fps": 4,
            "is_parallelizable": not game.sequential,
            "central_observation": True,
        }
        self.possible_agents = list(game.agents)
        self.observation_spaces = {agent: masked_observation_space(game) for agent in game.agents}
        self.action_spaces = {agent: action_space(game) for agent in game.agents}
        self.reward_spaces = {agent: reward_space(game) for agent in game.agents}
        self.play = Play(game)
        self._index = {agent: i for i, agent in enumerate(game.agents)}
        self._sequential = game.sequential
        self._started = False
        self._lawful = np.random.default_rng(0)  # picks in place of illegal actions

    # -------------------------------------------------------------------------------------------------------- spaces

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reward_space(self, agent: str) -> spaces.Box:
        """Bounds of the reward vector of an agent, float32[K]."""
        return self.reward_spaces[agent]

    @property
    def state_space(self) -> spaces.Space[Any]:
        """Space of `state()`."""
        return central_space(self.game)

    @property
    def central_observation_space(self) -> spaces.Space[Any]:
        """Space of `state()`, under the name that momaland's wrappers ask for."""
        return central_space(self.game)

    def get_central_observation_space(self) -> spaces.Space[Any]:
        return self.state_space

    # --------------------------------------------------------------------------------------------------------- start

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a game, or go on from a given position: options={"state": ...} or the keys of the game's dict form.

        Raises BadState for a position that no game can go on from; the running game then goes on unchanged
        """
        seed = checks.check_seed(seed)
        position = checks.start_position(self.game, options)
        if position is not None:
            self.play.load(position)
            if seed is not None and not _brings_luck(position):
                self.play.states["rng"] = np.uint64(seed % 2**64)
        else:
            self.play.deal(seed)
        if seed is not None:
            self._lawful = np.random.default_rng(seed)
        self._begin()

    def _begin(self) -> None:
        self._started = True
        state = self.play.state
        over, cut = bool(state["over"]), bool(state["truncated"])
        self.agents = list(self.possible_agents)
        self._totals = np.zeros_like(self.play.reward)
        self.rewards = dict(zip(self.agents, np.zeros_like(self._totals), strict=True))
        self._cumulative_rewards = dict(zip(self.agents, self._totals, strict=True))
        self.terminations = {a: bool(over and not cut) for a in self.agents}
        self.truncations = {a: bool(over and cut) for a in self.agents}
        self.infos: dict[str, dict[str, Any]] = {a: {} for a in self.agents}
        self.agent_selection = self.possible_agents[int(state["to_move"])]
        self._skip_agent_selection = None
        self._waiting: list[Any] = []
        self._last_action: Any = None
        self.returns = np.zeros(self._totals.shape)

    # ---------------------------------------------------------------------------------------------------------- play

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """The fields of the game's observation and `action_mask`, zeros for an agent that may not act now."""
        checks.need_reset(self._started, "observe()")
        i = self._index[agent]
        seen = self.play.observe(i)
        mask = self.play.mask(i)
        if not self._sequential and agent != self.agent_selection:
            mask = np.zeros_like(mask)
        seen["action_mask"] = mask.copy()
        return seen

    def last(self, observe: bool = True) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        checks.need_reset(self._started, "last()")
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent].copy(),
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def step(self, action: Any) -> None:
        """Play an action of the selected agent; None for an agent that has finished."""
        checks.need_reset(self._started, "step()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        i = self._index[agent]
        if not self.play.is_legal(i, action):
            if self.illegal == "raise":
                raise self.play.refuse(i, action)
            if self.illegal == "forfeit":
                self.forfeit(agent)
                return
            action = random_legal(self.play.mask(i), self.game.actions, self._lawful)
        if self._sequential:
            self._advance(i, action, action)
        else:
            self._collect(i, action)

    def _collect(self, i: int, action: Any) -> None:
        """One of the simultaneous actions; the last one moves the game."""
        self.play.pending[i] = action
        later = [a for a in self.agents if self._index[a] > i and not (self.terminations[a] or self.truncations[a])]
        if later:
            self._totals = self._totals.copy()
            self._totals[i] = 0
            self._cumulative_rewards = {a: self._totals[self._index[a]] for a in self.agents}
            self.rewards = {a: np.zeros_like(self._totals[0]) for a in self.agents}
            self.agent_selection = later[0]
        else:
            self._advance(i, self.play.pending, self.play.pending.copy())

    def _advance(self, i: int, actions: Any, shown: Any) -> None:
        status = self.play.turn(actions)
        self._last_action = shown
        self._pay(i, self.play.reward.copy())
        if status & (OVER | SOMEBODY_GONE):
            self._end(status)
        elif self._sequential:
            self.agent_selection = self.possible_agents[status // MOVER]
        else:
            self.agent_selection = self.agents[0]
        if self.render_mode == "human":
            self.render()

    def _pay(self, mover: int, reward: NDArray[np.float32]) -> None:
        """PettingZoo's books: `rewards` of this step; what an agent gets from last() adds up since its own move."""
        totals = self._totals.copy()  # last() may have handed out the old rows
        totals[mover] = 0
        totals += reward
        self._totals = totals
        self.returns += reward
        if len(self.agents) == len(self.possible_agents):
            self.rewards = dict(zip(self.agents, reward, strict=True))
            self._cumulative_rewards = dict(zip(self.agents, totals, strict=True))
        else:
            self.rewards = {a: reward[self._index[a]] for a in self.agents}
            self._cumulative_rewards = {a: totals[self._index[a]] for a in self.agents}

    def _end(self, status: int) -> None:
        """Somebody has left, or the game is over."""
        over, cut = bool(status & OVER), bool(status & TRUNCATED)
        gone = self.play.state["gone"]
        for agent in self.agents:
            left = bool(gone[self._index[agent]])
            self.terminations[agent] = left or (over and not cut)
            self.truncations[agent] = over and cut and not left
        if over:
            following = status // MOVER if self._sequential else 0
            names = self.possible_agents[following:] + self.possible_agents[:following]
            self.agent_selection = next(a for a in names if a in self.agents)
            return
        if self._sequential:
            self.agent_selection = self.possible_agents[status // MOVER]
        else:
            self.agent_selection = next(a for a in self.agents if not self.terminations[a])
        self._deads_step_first()

    def forfeit(self, agent: str) -> None:
        """End the game: this agent gets the worst of each objective, the others the opposite where it is zero-sum."""
        i = self._index[agent]
        reward = self.game.forfeit_reward(i)
        self.play.end(reward)
        self._last_action = None
        self._pay(i, reward)
        self._end(OVER | (int(self.play.state["to_move"]) + 1) % len(self.possible_agents) * MOVER)

    # ------------------------------------------------------------------------------------------------------- position

    def state(self) -> NDArray[Any]:
        """The whole position as an array: the planes of the first agent, or every agent's fields where they differ."""
        checks.need_reset(self._started, "state()")
        return central_state(self.game, self.play)

    def get_state(self) -> dict[str, Any]:
        """The position as JSON-able data; reset(options={"state": that}) goes on with the very same game."""
        checks.need_reset(self._started, "get_state()")
        return self.game.save(self.play.state)

    @property
    def record(self) -> State:
        """The state record, a copy."""
        return self.play.state.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_renderer"}

    # ---------------------------------------------------------------------------------------------------------- show

    def render(self) -> Any:
        """None, the text (ansi) or the picture uint8[H, W, 3] (rgb_array), as render_mode says."""
        checks.need_reset(self._started, "render()")
        if not hasattr(self, "_renderer"):
            self._renderer = Renderer(self.game, self.render_mode)
        return self._renderer.show(self.play.state, self._last_action, self.returns)

    def close(self) -> None:
        if hasattr(self, "_renderer"):
            self._renderer.close()
            del self._renderer

    def __str__(self) -> str:
        return self.game.id


def random_legal(mask: NDArray[np.int8], parts: tuple[int, ...], rng: np.random.Generator) -> Any:
    """A legal action, uniformly: an int, or int64[P] for an action of several parts."""
    cuts = np.split(mask, np.cumsum(parts)[:-1])
    chosen = [int(rng.choice(np.flatnonzero(part))) for part in cuts]
    return chosen[0] if len(parts) == 1 else np.array(chosen, np.int64)


def central_space(game: Game) -> spaces.Space[Any]:
    space = masked_observation_space(game)[game.fields[0].name]
    if game.information == "perfect" and len(game.fields) == 1:
        return space
    size = len(game.agents) * sum(int(np.prod(field.shape)) for field in game.fields)
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)


def central_state(game: Game, play: Play) -> NDArray[Any]:
    if game.information == "perfect" and len(game.fields) == 1:
        return play.observe(0)[game.fields[0].name]
    seen = [field.ravel() for i in range(len(game.agents)) for field in play.observe(i).values()]
    return np.concatenate(seen).astype(np.float32)


def _brings_luck(position: Any) -> bool:
    return isinstance(position, np.void) or "rng" in position


def make(id: str, *, illegal: str = "raise", render_mode: str | None = None, **params: Any) -> MultiObjectiveAEC:
    """The AEC environment of an id; see `momagames.make`."""
    return MultiObjectiveAEC(registry.spec(id, **params), illegal, render_mode)
