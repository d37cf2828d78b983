"""Agents of the original package as policies: by name "original:module:Class" and "http:HOST:PORT", or as objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, Policy, State
from momagames.engine.policies import check_agent
from momagames.engine.python_policies import PythonPolicy
from momagames.errors import InvalidParameter
from momagames.games.pommerman.original.constants import find_constants
from momagames.games.pommerman.original.http_agent import DEFAULT_TIMEOUT, HttpAgent, parse_addresses
from momagames.games.pommerman.original.observations import (
    Observer,
    copy_equipment,
    final_reward,
    make_action_space,
    parse_action,
    seeded_global_generators,
)
from momagames.plugins import load_object

TEAM_MATES = 2  # seats of a player in a game of four agents and two players


class OriginalPolicy:
    """An agent of the original package as a `contract.Policy`.

    agent   an object with `act(obs, action_space)`, and optionally `init_agent(id, game_type)` and `episode_end(reward)`. It
            is not asked while it is dead
    seat    index of the agent that it plays
    """

    def __init__(self, agent: Any, game: Game, seat: int) -> None:
        self.agent, self._game, self._seat = agent, game, seat
        self._observer, self._space = Observer(game), make_action_space(game)
        init_agent = getattr(agent, "init_agent", None)
        if init_agent is not None:
            init_agent(seat, find_constants().GameType(int(game.blank_state["mode"])))

    @property
    def num_late(self) -> int:
        """Number of moves that came too late, where the agent counts them."""
        return int(vars(self.agent).get("num_late", 0)) if hasattr(self.agent, "__dict__") else 0

    def __call__(self, state: State, mask: NDArray[np.int8], rng: np.random.Generator) -> int | list[int]:
        observation = self._observer.observe(state, self._seat)
        copy_equipment(self.agent, state, self._seat)
        self._space.seed(int(rng.integers(2**31)))
        with seeded_global_generators(rng):
            action = self.agent.act(observation, self._space)
        return parse_action(self._game, action)

    def end_episode(self, state: State) -> None:
        """Report the reward of the last step to the agent."""
        episode_end = getattr(self.agent, "episode_end", None)
        if episode_end is not None:
            copy_equipment(self.agent, state, self._seat)
            episode_end(final_reward(state, self._seat))


def make_policy(make_agent: str | Callable[[], Any], label: str = "") -> PythonPolicy:
    """Return a policy that an agent of the original package plays.

    make_agent   "module:Class", or a function without arguments, such as the class. It is called for each seat of each game
                 in a match, and once for each agent in an environment
    label        of the policy in results
    Raises       UnknownId if the module or the class cannot be imported
    """
    make_one = load_object(make_agent) if isinstance(make_agent, str) else make_agent
    if not callable(make_one):
        raise InvalidParameter(f"invalid make_agent={make_agent!r}: expected 'module:Class', a class or a function")

    def make(game: Game, agent: int | None) -> Policy:
        check_agent(game, agent)
        assert agent is not None  # all agents move at once
        return OriginalPolicy(make_one(), game, agent)

    return PythonPolicy(label or _format_label(make_agent), make)


def make_http_policy(addresses: str, timeout: float = DEFAULT_TIMEOUT, allow_remote: bool = False) -> PythonPolicy:
    """Return a policy that an agent in another process plays, by the original's protocol over HTTP; see `HttpAgent`.

    addresses    "HOST:PORT", or several with commas between them: two for the two seats of a player in a game of four agents,
                 four for agents 0 to 3. With fewer addresses, one program gets the calls for several agents in turn
    timeout      seconds for an action
    """
    places = parse_addresses(addresses, allow_remote)
    if len(places) not in (1, 2, 4):
        raise InvalidParameter(f"invalid addresses={addresses!r}: expected 1, 2 or 4 of the form HOST:PORT")

    def make(game: Game, agent: int | None) -> Policy:
        check_agent(game, agent)
        assert agent is not None
        index = agent // TEAM_MATES if len(places) == TEAM_MATES else agent
        host, port = places[index % len(places)]
        return OriginalPolicy(HttpAgent(host, port, timeout, allow_remote), game, agent)

    return PythonPolicy(f"http:{addresses}", make)


def make_named_policy(rest: str, game: Game) -> PythonPolicy:
    """Return the policy named "original:" and the rest, "module:Class"."""
    return make_policy(rest, f"original:{rest}")


def make_named_http_policy(rest: str, game: Game) -> PythonPolicy:
    """Return the policy named "http:" and the rest, addresses of this machine."""
    return make_http_policy(rest)


def _format_label(make_agent: str | Callable[[], Any]) -> str:
    return make_agent if isinstance(make_agent, str) else getattr(make_agent, "__name__", type(make_agent).__name__)
