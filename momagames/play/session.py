"""A game with people and policies at the table, whatever the people look at."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from momagames import registry
from momagames.baselines import policy
from momagames.contract import Game, Policy, has_choice, reset_policy
from momagames.engine.episode import Episode
from momagames.errors import InvalidParameter, nearest, one_of


def human_agents(game: Game, human: str | Sequence[str] | None) -> tuple[str, ...]:
    """The agents that people play: one, several or none; the first if nothing is said. InvalidParameter for other names."""
    names = game.agents[:1] if human is None else (human,) if isinstance(human, str) else tuple(human)
    for name in names:
        if name not in game.agents:
            raise InvalidParameter(
                f"human={name!r} is not possible; agents are {one_of(game.agents)}{nearest(name, game.agents)}"
            )
    return names


def choose_seed(seed: int | None) -> int:
    """The seed, or one that nobody knows beforehand."""
    return int(np.random.default_rng().integers(2**31)) if seed is None else seed


class Session:
    """One game and who sits at it.

    opponent   who plays the agents that no person plays: the name of a policy, or a policy
    last       the last action (of the mover, or int64[A, P] where all move at once), None before the first
    history    for `take_back`: game, last action and memories of the policies, as `remember` found them
    """

    def __init__(self, game: Game, opponent: str | Policy, seed: int, humans: Sequence[str]) -> None:
        self.game, self.humans = game, tuple(humans)
        self.policies = {
            name: policy(opponent, game, i) if isinstance(opponent, str) else opponent
            for i, name in enumerate(game.agents)
            if name not in humans
        }
        for chosen in self.policies.values():
            reset_policy(chosen)
        self.rng = np.random.default_rng(seed)
        self.play = Episode(game)
        self.play.reset(seed)
        self.last: Any = None
        self.history: list[tuple[Episode, Any, list[Any]]] = []
        others = "" if not self.policies else f" against {opponent if isinstance(opponent, str) else 'a policy'}"
        self.title = f"{registry.format_id(game.id, game.params)}, seed {seed}"
        self.welcome = f"You play {' and '.join(self.humans)}{others}." if self.humans else ""

    def acting(self) -> list[int]:
        """The agents that have something to choose now."""
        if self.play.state["over"]:
            return []
        if self.game.sequential:
            return [self.play.mover]
        return [i for i in range(len(self.game.agents)) if has_choice(self.play.mask(i), self.game.actions)]

    def asked(self) -> list[int]:
        """Those of them that people play, if they can do anything."""
        return [i for i in self.acting() if self.game.agents[i] in self.humans and self.play.mask(i).any()]

    def look(self) -> dict[str, Any]:
        """Render options of what people may see: as long as the only one has something to choose, what this agent sees."""
        hidden = self.game.information == "partial" and any(option.name == "viewer" for option in self.game.view.render_options)
        return {"viewer": self.humans[0]} if hidden and len(self.humans) == 1 and self.asked() else {}

    def memories(self) -> list[Any]:
        """What the policies remember, as far as they tell, for `recall`."""
        return [getattr(one, "get_state", lambda: None)() for one in self.policies.values()]

    def recall(self, memories: list[Any]) -> None:
        """Make the policies remember what they did when `memories` gave this."""
        for one, memory in zip(self.policies.values(), memories, strict=True):
            getattr(one, "set_state", lambda memory: None)(memory)

    def remember(self) -> None:
        """Keep where the game stands, before people move."""
        self.history.append((copy.deepcopy(self.play), self.last, self.memories()))

    def take_back(self, to_start: bool = False) -> bool:
        """Go back to before the last move of people, or their first; also in what the others remember, but their luck goes on.

        Returns whether there was a move to take back
        """
        if not self.history:
            return False
        if to_start:
            del self.history[1:]
        self.play, self.last, memories = self.history.pop()
        self.recall(memories)
        return True

    def move(self, chosen: dict[int, Any]) -> dict[int, Any]:
        """Play the actions of people, by agent, together with those of the policies. Returns the actions of all agents."""
        play, agents = self.play, self.game.agents
        actions = {
            i: chosen[i] if i in chosen else play.choose_action(i, self.policies.get(agents[i]), self.rng)
            for i in self.acting()
        }
        if self.game.sequential:
            self.last = actions[play.mover]
        else:
            self.last = np.zeros_like(play.pending)
            for i, action in actions.items():
                self.last[i] = action
        play.step(self.last)
        return actions
