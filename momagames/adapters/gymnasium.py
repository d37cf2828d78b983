"""The Gymnasium door: one agent or team decides, named policies play the others; rewards are vectors as in MO-Gymnasium."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters import options as checks
from momagames.adapters.render import Renderer
from momagames.adapters.spaces import action_space, observation_space, reward_space, format_mask
from momagames.contract import Game, Policy, State, reset_policy
from momagames.engine.episode import Episode
from momagames.engine.loops import AGENT_LEFT, OVER, TERMINATED, TRUNCATED
from momagames.errors import InvalidCall, InvalidParameter, check_choice, one_of


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """A game as a Gymnasium environment with vector rewards. Made by `momagames.make(id, api="gymnasium")`.

    agent    the agent that the caller plays (default: the first)
    team     in games of turns, in place of an agent: the index of the team (see `Game.teams`) all of whose agents the caller
             plays, each when it is its turn; the infos say which, as `agent`
    others   who plays the other agents: the name of a policy, or a callable (state record, action mask, generator) ->
             action; or a dict of these by agent. If it has a method `reset()`, that is called at the start of an episode

    The observation is the field of the game (a Dict if it has several); the action mask is in the infos, as
    `action_mask` int8[M] (a tuple of masks for an action of several parts). The reward of a step, float32[K], is all that
    the agent gets until it is to move again, or that the team gets in sum until one of its agents is to move.
    """

    metadata = {"render_modes": list(checks.RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self,
        game: Game,
        agent: str | None = None,
        others: str | Policy | dict[str, str | Policy] = "random",
        illegal: str = "raise",
        render_mode: str | None = None,
        render_options: Mapping[str, Any] | None = None,
        team: int | None = None,
    ) -> None:
        self.game = game
        self.render_mode = checks.check_render_mode(render_mode)
        self.render_options = checks.check_render_options(game, render_options)
        self.illegal = checks.check_illegal(illegal)
        self._seats = controlled_agents(game, agent, team)
        self.agent, self.team = game.agents[self._seats[0]], team
        self._policies = {i: make_opponent(game, name, others) for i, name in enumerate(game.agents) if i not in self._seats}
        self.observation_space = observation_space(game)
        self.action_space = action_space(game)
        self.reward_space = reward_space(game, len(self._seats))
        self.reward_dim = len(game.objectives)
        self.play = Episode(game)
        self._started = False
        self._last_action: Any = None
        self._renderer: Renderer | None = None
        self._twin: SingleAgentEnv | None = None  # where dry runs are played

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a game, or go on from a given position: options={"state": ...} or the keys of the game's dict form."""
        seed = checks.check_seed(seed)
        self.play.start(checks.read_start_position(self.game, options), seed)
        super().reset(seed=seed)
        self._started = True
        self._last_action = None
        self._start = self.play.state.copy()
        for policy in self._policies.values():
            reset_policy(policy)
        self._status = self._play_opponents(int(self.play.state["over"]) * OVER)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Play an action, then let the others play until it is this agent's turn again.

        Raises IllegalAction (illegal="raise"); nothing has then changed
        """
        if not self._started:
            raise checks.not_reset_error("step()")
        if self._status & OVER or self._has_finished():
            raise InvalidCall("step() after the end of the episode: call reset() first")
        before = self._own_returns()
        taken = self.play.resolve_action(self._acting_agent, action)
        if taken is not None:
            self._step_game(taken)
        elif self.illegal == "raise":
            raise self.play.illegal_action_error(self._acting_agent, action)
        elif self.illegal == "forfeit":
            self.play.end(self.game.forfeit_reward(self._acting_agent))
            self._status = OVER | TERMINATED
        else:
            mask = self.play.mask(self._acting_agent)
            self._step_game(checks.substitute_legal(self.illegal, action, mask, self.game.actions, self.np_random))
        self._status = self._play_opponents(self._status)
        reward = (self._own_returns() - before).astype(np.float32)
        left = self._has_finished()
        terminated, truncated = left or bool(self._status & TERMINATED), not left and bool(self._status & TRUNCATED)
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, terminated, truncated, self._info()

    @property
    def _acting_agent(self) -> int:
        """The agent that the caller plays, in a team the one whose turn it is."""
        return self.play.mover if self.play.mover in self._seats[1:] else self._seats[0]

    def _own_returns(self) -> NDArray[np.float64]:
        """What the caller's agents got since the start, float64[K]."""
        returns = self.play.returns
        own: NDArray[np.float64] = returns[self._seats[0]].copy() if len(self._seats) == 1 else returns[self._seats].sum(axis=0)
        return own

    def _has_finished(self) -> bool:
        """Whether all of the caller's agents have left the game."""
        return all(self.play.state["gone"][seat] for seat in self._seats)

    def _step_game(self, action: Any) -> None:
        """One environment step, with what the others do where all act at once."""
        if self.game.sequential:
            self._status = self.play.step(action)
            self._last_action = action
        else:
            for i, policy in self._policies.items():
                self.play.pending[i] = self.play.choose_action(i, policy, self.np_random)
            self.play.pending[self._acting_agent] = action
            self._status = self.play.step(self.play.pending)
            self._last_action = self.play.pending.copy()

    def _play_opponents(self, status: int) -> int:
        """Turn-based: until the caller is to move, or the game is over, or (if all its agents have left) is played out."""
        while self.game.sequential and not status & OVER and self.play.mover not in self._seats:
            mover = self.play.mover
            action = self.play.choose_action(mover, self._policies[mover], self.np_random)
            if not self.play.is_legal(mover, action):
                raise self.play.illegal_action_error(mover, action)
            status = self.play.step(action)
            self._last_action = action
            if status & AGENT_LEFT and self._has_finished():
                break
        return status

    def _observation(self) -> Any:
        fields = self.play.observe(self._acting_agent)
        return next(iter(fields.values())) if len(fields) == 1 else fields

    def _info(self) -> dict[str, Any]:
        facts = self.game.infos(self.play.state) if self.game.infos else {}
        if self.team is not None:
            facts["agent"] = self.game.agents[self._acting_agent]
        return {"action_mask": format_mask(self.game, self.play.mask(self._acting_agent)), **facts}

    def clone(self) -> SingleAgentEnv:
        """An independent copy in the same position, with the same luck ahead of it and the same returns so far.

        Policies of the others are copied with what they remember; one that is a plain function is shared, and so has to
        remember nothing. A copy has no window: where render_mode is "human", it has none
        Raises     InvalidCall if a policy cannot be copied
        """
        assert self.np_random is not None  # reading it makes one where reset() had no seed: both must have the same
        twin = copy.copy(self)  # without renderer and twin, see __getstate__
        twin._policies = copy_policies(self._policies, {id(self): twin})
        for name in (
            "play",
            "_np_random",
            "_last_action",
            "render_options",
            "observation_space",
            "action_space",
            "reward_space",
        ):
            setattr(twin, name, copy.deepcopy(getattr(self, name)))
        twin.render_mode = None if self.render_mode == "human" else self.render_mode
        return twin

    def peek(self, action: Any) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
        """What step(action) would return, moves and luck of the others included; nothing changes, no luck is used up.

        Raises     IllegalAction as step() does; InvalidCall if a policy of the others cannot be copied
        """
        if not self._started:
            raise checks.not_reset_error("dry_run()")
        if self._twin is None:
            self._twin = self.clone()
            self._twin.play.log = None
        else:
            self._twin._copy_from(self)
        return self._twin.step(action)

    def _copy_from(self, other: SingleAgentEnv) -> None:
        """Take over where another one stands that this one was copied from."""
        self._started, self._status = other._started, other._status
        self.play.copy_from(other.play)
        if self._policies or self.illegal == "random":
            self.np_random.bit_generator.state = other.np_random.bit_generator.state
        pairs = [(mine, other._policies[i]) for i, mine in self._policies.items()]
        if all(mine is theirs or hasattr(theirs, "get_state") for mine, theirs in pairs):
            for mine, theirs in pairs:
                if mine is not theirs:
                    mine.set_state(theirs.get_state())  # type: ignore[attr-defined]
        else:
            self._policies = copy_policies(other._policies, {id(other): self})

    def action_masks(self) -> NDArray[np.int8]:
        """The action mask, int8[M] (the parts one after the other), under the name that sb3-contrib asks for."""
        return self.play.mask(self._acting_agent).copy()

    def pareto_front(self, gamma: float = 1.0) -> list[NDArray[np.float32]] | None:
        """The exact Pareto front of the returns from the start position of this episode, where it is known, else None.

        gamma   discount; fronts are known for 1.0
        """
        if not self._started or gamma != 1.0:
            return None
        front = registry.pareto_front_if_small(self.game, self._start)
        return None if front is None else [point.astype(np.float32) for point in front]

    def get_state(self) -> dict[str, Any]:
        """The position as JSON-able data; reset(options={"state": that}) goes on with the very same game."""
        if not self._started:
            raise checks.not_reset_error("get_state()")
        return self.game.codec.save(self.play.state)

    @property
    def state(self) -> State:
        """The state record, a copy; reset(options={"state": it}) goes on from it."""
        return self.play.state.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_renderer": None, "_twin": None}

    def render(self) -> Any:
        """None, the text (ansi) or the picture uint8[H, W, 3] (rgb_array), as render_mode says."""
        if not self._started:
            raise checks.not_reset_error("render()")
        if self._renderer is None:
            self._renderer = Renderer(self.game, self.render_mode, self.render_options)
        return self._renderer.render(self.play.state, self._last_action, self.play.returns)

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def __str__(self) -> str:
        return self.game.id


def controlled_agents(game: Game, agent: str | None, team: int | None) -> list[int]:
    """The agents that the caller plays, by index; or InvalidParameter."""
    if team is None:
        name = game.agents[0] if agent is None else agent
        check_choice("agent", name, game.agents)
        return [game.agents.index(name)]
    teams = sorted(set(game.teams))
    if agent is not None:
        raise InvalidParameter(f"agent={agent!r} and team={team!r}: give one or the other")
    if not game.sequential:
        raise InvalidParameter(
            f"team={team!r} is for games of turns; in {game.id} all move at once: see momagames.wrappers.Centralize"
        )
    if isinstance(team, bool) or team not in teams:
        raise InvalidParameter(f"invalid team={team!r}: expected {one_of(teams)}")
    return [i for i, of in enumerate(game.teams) if of == team]


def make_opponent(game: Game, agent: str, others: str | Policy | dict[str, str | Policy]) -> Policy:
    """The policy that plays an agent."""
    chosen = others.get(agent) if isinstance(others, dict) else others
    if chosen is None:
        raise InvalidParameter(f"others={others!r} names no policy for {agent!r}")
    return registry.policy(chosen, game, game.agents.index(agent)) if isinstance(chosen, str) else chosen


def copy_policies(policies: dict[int, Policy], known: dict[int, Any]) -> dict[int, Policy]:
    """Policies with what they remember, by index of the agent; InvalidCall for one that cannot be copied.

    known   objects that they may refer to and that are not to be copied, by id: what stands for them
    """
    try:
        return copy.deepcopy(policies, known)
    except Exception as error:
        raise InvalidCall(
            f"a policy in others= cannot be copied ({type(error).__name__}: {error}), and a copy of the environment needs what"
            " it remembers; give it a method __deepcopy__"
        ) from error


def make(
    id: str,
    *,
    agent: str | None = None,
    team: int | None = None,
    others: str | Policy | dict[str, str | Policy] = "random",
    illegal: str = "raise",
    render_mode: str | None = None,
    render_options: Mapping[str, Any] | None = None,
    **params: Any,
) -> SingleAgentEnv:
    """The Gymnasium environment of an id; see `momagames.make`."""
    return SingleAgentEnv(registry.spec(id, **params), agent, others, illegal, render_mode, render_options, team)
