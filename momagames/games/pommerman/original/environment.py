"""The environment in the form that scripts of the original package expect.

from momagames.games.pommerman import original

env = original.make("PommeFFACompetition-v0", [MyAgent(), MyAgent(), MyAgent(), MyAgent()])
observations, done = env.reset(), False
while not done:
    observations, rewards, done, infos = env.step(env.act(observations))
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters.render import Renderer
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.errors import InvalidCall, InvalidParameter, check_choice, check_range
from momagames.games.pommerman.infos import RESULTS, build_infos
from momagames.games.pommerman.original.constants import find_constants
from momagames.games.pommerman.original.game_files import format_game_state, read_game_state
from momagames.games.pommerman.original.observations import (
    Observer,
    convert_rewards,
    copy_equipment,
    make_action_space,
    make_stop,
    parse_action,
)
from momagames.games.pommerman.rules.state import AGENT, DUEL, FFA, FUSE, MAX_AMMO, MAX_STRENGTH, NO_AGENT, SEATS, VOCABULARY

REWARD = "outcome_original"
# §8.1 ids of the original -> ids here
REGISTRY = {
    "PommeFFACompetition-v0": "mo-pommerman-ffa-v0",
    "PommeFFACompetitionFast-v0": "mo-pommerman-ffa-v0",
    "PommeFFAFast-v0": "mo-pommerman-ffa-v0",
    "PommeFFA-v1": "mo-pommerman-ffa-collapse-v0",
    "PommeTeamCompetition-v0": "mo-pommerman-team-v0",
    "PommeTeamCompetitionFast-v0": "mo-pommerman-team-v0",
    "PommeTeam-v0": "mo-pommerman-team-full-v0",
    "PommeTeamFast-v0": "mo-pommerman-team-full-v0",
    "PommeTeamCompetition-v1": "mo-pommerman-team-collapse-v0",
    "PommeRadio-v2": "mo-pommerman-radio-v0",
    "PommeRadioCompetition-v2": "mo-pommerman-radio-v0",
    "OneVsOne-v0": "mo-pommerman-duel-v0",
}
RENDER_MODES = {"human": "human", "rgb_pixel": "human", "rgb_array": "rgb_array"}
MAX_OBSERVED = {"board": AGENT + SEATS - 1, "bomb_blast_strength": MAX_STRENGTH, "bomb_life": FUSE}


class OriginalEnv:
    """An environment of all agents, with the interface of the original package.

    config_id     id of the original, see REGISTRY
    agents        objects with `act(obs, action_space)`, and optionally `init_agent`, `episode_end` and `shutdown`; they may be
                  set later. One without an `agent_id` has that of its place in the list
    params        parameters of the game, such as `max_steps` or `objectives`. The infos of a step have the reward vectors of
                  these objectives as "vector_rewards", float32[A, K]

    training_agent    index of the agent that `act` leaves out, or None. FFA and the duel end when it dies
    """

    metadata = {"render.modes": list(RENDER_MODES)}  # noqa: RUF012 - the original's form

    def __init__(self, config_id: str, agents: Sequence[Any] = (), **params: Any) -> None:
        check_choice("config_id", config_id, REGISTRY)
        chosen = registry.spec(REGISTRY[config_id], **params)
        names = (REWARD, *(one.name for one in chosen.objectives if one.name != REWARD))
        self._columns = [names.index(one.name) for one in chosen.objectives]
        self.game = registry.spec(REGISTRY[config_id], **{**params, "objectives": names})
        self.config_id = config_id
        self.training_agent: int | None = None
        self.action_space = make_action_space(self.game)
        self.observation_space = make_observation_space(self.game)
        self._episode, self._observer = Episode(self.game), Observer(self.game)
        self._position: dict[str, Any] | None = None
        self._mode, self._is_running = "human", False
        self._renderer: Renderer | None = None
        self._last: NDArray[np.int64] | None = None
        self._seed: int | None = None
        self._agents: list[Any] = []
        if agents:
            self.set_agents(agents)

    def set_agents(self, agents: Sequence[Any]) -> None:
        """Set the agents, one for each place. Their `init_agent` is not called: `make` does that."""
        if len(agents) != len(self.game.agents):
            expected = len(self.game.agents)
            raise InvalidParameter(f"{self.config_id}: invalid number of agents, {len(agents)}: expected {expected}")
        self._agents = list(agents)

    def set_training_agent(self, agent_id: int | None) -> None:
        """Set the index of the agent that `act` leaves out."""
        if agent_id is not None:
            check_range("agent_id", agent_id, 0, len(self.game.agents) - 1, whole=True)
        self.training_agent = agent_id

    def set_init_game_state(self, game_state_file: str | Path | None) -> None:
        """Set the start position of episodes: a JSON file of the original, or None. Raises InvalidFile; InvalidState."""
        self._position = None if game_state_file is None else read_game_state(Path(game_state_file), self.game)

    def set_render_mode(self, mode: str) -> None:
        """Set the mode of `render`: "human", "rgb_array" or "rgb_pixel" (as "human")."""
        check_choice("render mode", mode, RENDER_MODES)
        self._mode = mode

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Set the seed of the next start position; those after it continue its random stream."""
        self._seed = seed
        return [seed]

    def reset(self) -> list[dict[str, Any]]:
        """Start an episode; return the observation of each agent."""
        if not self._agents:
            raise InvalidCall("reset() without agents: call set_agents(agents) first")
        self._episode.start(self._position, self._seed)
        self._seed, self._last, self._is_running = None, None, True
        return self.get_observations()

    def get_observations(self) -> list[dict[str, Any]]:
        """Return the observation of each agent as the original's dict."""
        for seat, agent in enumerate(self._agents):
            copy_equipment(agent, self._episode.state, seat)
        return [self._observer.observe(self._episode.state, seat) for seat in range(len(self._agents))]

    def act(self, obs: Sequence[Any]) -> list[Any]:
        """Return the actions of all agents but the training agent; dead agents stop without being asked."""
        return [
            agent.act(obs[seat], self.action_space) if self._episode.state["alive"][seat] else make_stop(self.game)
            for seat, agent in enumerate(self._agents)
            if self._find_id(seat) != self.training_agent
        ]

    def step(self, actions: Sequence[Any]) -> tuple[list[dict[str, Any]], list[int], bool, dict[str, Any]]:
        """Apply an action of each agent. Return observations, rewards, whether the episode is over, and infos.

        Raises IllegalAction for an invalid action of a live agent; InvalidCall before reset() and after the end
        """
        if not self._is_running:
            raise InvalidCall("step() before reset(), or after the end of the episode: call reset() first")
        if len(actions) != len(self._agents):
            raise InvalidParameter(
                f"invalid number of actions, {len(actions)}: expected {len(self._agents)}, one for each agent"
            )
        alive, stop = self._episode.state["alive"], make_stop(self.game)
        played = [parse_action(self.game, action) if alive[seat] else stop for seat, action in enumerate(actions)]
        self._last = np.array(played, np.int64).reshape(len(played), -1)
        self._episode.step(self._last)
        state = self._episode.state
        lost = self._has_lost_training_agent()
        done = bool(state["over"]) or lost
        rewards = convert_rewards(self._episode.reward[:, 0])
        infos = self._make_infos(done and not state["over"])
        self._is_running = not done
        observations = self.get_observations()
        for seat, agent in enumerate(self._agents):
            if done and hasattr(agent, "episode_end"):
                agent.episode_end(rewards[seat])
        return observations, rewards, done, infos

    def _has_lost_training_agent(self) -> bool:
        state = self._episode.state
        return self.training_agent is not None and state["mode"] in (FFA, DUEL) and not state["alive"][self.training_agent]

    def _make_infos(self, is_cut: bool) -> dict[str, Any]:
        """Return the result, the indices of the winners of a won game, and the reward vectors."""
        result = find_constants().Result
        found = build_infos(self._episode.state)
        kinds = dict(zip(RESULTS, (result.Incomplete, result.Win, result.Tie), strict=True))
        infos: dict[str, Any] = {"result": result.Tie if is_cut else kinds[found["result"]]}
        if found["winners"]:
            infos["winners"] = [self.game.agents.index(name) for name in found["winners"]]
        infos["vector_rewards"] = self._episode.reward[:, self._columns].copy()
        return infos

    def _find_id(self, seat: int) -> int:
        """Return the `agent_id` of an agent, or its place."""
        return int(getattr(self._agents[seat], "agent_id", seat))

    def get_json_info(self) -> dict[str, str]:
        """Return the position in the original's form, in which each value is a JSON text."""
        return format_game_state(self.game, self._episode.state, self._last)

    def render(self, mode: str | None = None, close: bool = False, do_sleep: bool = True) -> NDArray[np.uint8] | None:
        """Show the board in a window, or return a picture uint8[H, W, 3] in the mode "rgb_array".

        do_sleep    without effect: the window has its own rate
        """
        if close:
            self.close()
            return None
        if mode is not None:
            self.set_render_mode(mode)
        chosen = RENDER_MODES[self._mode]
        if self._renderer is None or self._renderer.mode != chosen:
            self._close_renderer()
            self._renderer = Renderer(self.game, chosen)
        picture: NDArray[np.uint8] | None = self._renderer.render(self._episode.state, self._last, self._episode.returns)
        return picture

    def close(self) -> None:
        """Close the window, and call `shutdown` of the agents that have it."""
        self._close_renderer()
        for agent in self._agents:
            if hasattr(agent, "shutdown"):
                agent.shutdown()

    def _close_renderer(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    @staticmethod
    def featurize(obs: dict[str, Any]) -> NDArray[np.float32]:
        """Return an observation as a vector, float32[F]: board, bombs, position, equipment, mate and enemies, and the message.

        See `observation_space` for its bounds
        """
        parts: list[Any] = [np.ravel(obs[name]) for name in MAX_OBSERVED]
        parts += [obs["position"], [obs["ammo"], obs["blast_strength"], obs["can_kick"], obs["teammate"].value]]
        parts += [[enemy.value for enemy in obs["enemies"]], obs.get("message", ())]
        return np.concatenate(parts).astype(np.float32)


def make_observation_space(game: Game) -> spaces.Box:
    """Return the space of `OriginalEnv.featurize`."""
    size, enemies, words = game.params["board_size"], len(game.agents) - 1, len(game.actions) - 1
    low, high = [], []
    for most in MAX_OBSERVED.values():
        low += [0] * size**2
        high += [most] * size**2
    last = AGENT + SEATS - 1
    low += [0, 0, 0, 0, 0, *[NO_AGENT] * (1 + enemies), *[0] * words]
    high += [size - 1, size - 1, MAX_AMMO, MAX_STRENGTH, 1, *[last] * (1 + enemies), *[VOCABULARY - 1] * words]
    return spaces.Box(np.array(low, np.float32), np.array(high, np.float32))


def make(
    config_id: str,
    agent_list: Sequence[Any],
    game_state_file: str | Path | None = None,
    render_mode: str = "human",
    **params: Any,
) -> OriginalEnv:
    """Return an environment with these agents, whose `init_agent(id, game_type)` is called.

    config_id          id of the original, see REGISTRY
    agent_list         one agent for each place
    game_state_file    start position of all episodes: a JSON file of the original
    params             parameters of the game, see `OriginalEnv`
    """
    env = OriginalEnv(config_id, agent_list, **params)
    game_type = find_constants().GameType(int(env.game.blank_state["mode"]))
    for seat, agent in enumerate(agent_list):
        if hasattr(agent, "init_agent"):
            agent.init_agent(seat, game_type)
    env.set_init_game_state(game_state_file)
    env.set_render_mode(render_mode)
    return env
