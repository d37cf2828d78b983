"""Game session of people and policies, independent of the display."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from momagames import registry
from momagames.baselines import policy
from momagames.baselines.policy_names import strip_safe
from momagames.contract import Game, Policy, has_choice, reset_policy
from momagames.contract.agents import find_agent_name
from momagames.engine.episode import Episode


def human_agents(game: Game, human: str | int | Sequence[str | int] | None) -> tuple[str, ...]:
    """Return the agents that people play, from names or indices: one, several or none, by default the first.

    Raises InvalidParameter
    """
    if human is None:
        return game.agents[:1]
    agents = (human,) if isinstance(human, str | int | np.integer) else human
    return tuple(find_agent_name(game, agent, "human") for agent in agents)


def choose_seed(seed: int | None) -> int:
    """Return the seed, or a random one."""
    return int(np.random.default_rng().integers(2**31)) if seed is None else seed


MAX_TRIAL_STEPS = 50  # of `Session.compile`


class Session:
    """One game with its human agents and policies.

    opponent   policy of the other agents, or its name
    last       the last action (of the mover, or int64[A, P] where all move at once), None before the first
    history    for `undo_move`: the episodes, last actions and policy states of `save_position`
    """

    def __init__(self, game: Game, opponent: str | Policy, seed: int, humans: Sequence[str]) -> None:
        self.game, self.humans = game, tuple(humans)
        self.policies = {
            name: policy(opponent, game, i) if isinstance(opponent, str) else opponent
            for i, name in enumerate(game.agents)
            if name not in humans
        }
        for one in self.policies.values():
            reset_policy(one)
        self._opponent = opponent
        self.rng = np.random.default_rng(seed)
        self.episode = Episode(game)
        self.episode.reset(seed)
        self.last: Any = None
        self.history: list[tuple[Episode, Any, list[Any]]] = []
        others = "" if not self.policies else f" against {opponent if isinstance(opponent, str) else 'a policy'}"
        self.title = f"{registry.format_id(game.id, game.params)}, seed {seed}"
        self.welcome = f"You play {' and '.join(self.humans)}{others}." if self.humans else ""

    def compile(self) -> None:
        """Compile what the policies need, by moves of another game, so that this one does not wait for it."""
        if not isinstance(self._opponent, str) or ":" in strip_safe(self._opponent):
            return  # it is Python or elsewhere, and would see a game without a player
        trial, waiting = Session(self.game, self._opponent, 0, ()), set(self.policies)
        for _ in range(MAX_TRIAL_STEPS):
            if not waiting or trial.episode.state["over"]:
                return
            waiting -= {self.game.agents[agent] for agent in trial.step({})}

    def acting_agents(self) -> list[int]:
        """Return the agents with a choice in this position."""
        if self.episode.state["over"]:
            return []
        if self.game.sequential:
            return [self.episode.mover]
        return [i for i in range(len(self.game.agents)) if has_choice(self.episode.mask(i), self.game.actions)]

    def human_turns(self) -> list[int]:
        """Return the human agents among them with a legal action."""
        return [i for i in self.acting_agents() if self.game.agents[i] in self.humans and self.episode.mask(i).any()]

    def view_options(self) -> dict[str, Any]:
        """Return render options that hide what a single human agent may not see, while it has a choice."""
        hidden = self.game.information == "partial" and any(option.name == "viewer" for option in self.game.view.render_options)
        return {"viewer": self.humans[0]} if hidden and len(self.humans) == 1 and self.human_turns() else {}

    def policy_states(self) -> list[Any]:
        """Return the states of the policies that have one, for `restore_policies`."""
        return [getattr(one, "get_state", lambda: None)() for one in self.policies.values()]

    def restore_policies(self, states: list[Any]) -> None:
        """Restore the policies to the result of `policy_states`."""
        for one, state in zip(self.policies.values(), states, strict=True):
            getattr(one, "set_state", lambda state: None)(state)

    def save_position(self) -> None:
        """Save the position, before people move."""
        self.history.append((copy.deepcopy(self.episode), self.last, self.policy_states()))

    def undo_move(self, to_start: bool = False) -> bool:
        """Undo the last move of people, or all moves; policies are restored as well, but not the random generator.

        Return whether there was a move to undo
        """
        if not self.history:
            return False
        if to_start:
            del self.history[1:]
        self.episode, self.last, states = self.history.pop()
        self.restore_policies(states)
        return True

    def step(self, chosen: dict[int, Any]) -> dict[int, Any]:
        """Step with the actions of people, by agent, and those of the policies. Return the actions of all agents."""
        episode, agents = self.episode, self.game.agents
        actions = {
            i: chosen[i] if i in chosen else episode.choose_action(i, self.policies.get(agents[i]), self.rng)
            for i in self.acting_agents()
        }
        if self.game.sequential:
            self.last = actions[episode.mover]
        else:
            self.last = np.zeros_like(episode.pending)
            for i, action in actions.items():
                self.last[i] = action
        episode.step(self.last)
        return actions
