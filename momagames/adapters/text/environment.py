"""Text environments: PettingZoo AEC environments whose observations and actions are texts."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gymnasium import spaces

from momagames.adapters import options as checks
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.text import prompts
from momagames.adapters.text.answers import MAX_ANSWER, parse_answer
from momagames.adapters.text.scores import PreferenceScore, score_return
from momagames.contract import Game, has_choice
from momagames.errors import IllegalAction, InvalidCall

CHARACTERS = frozenset(string.printable)


class TextEnv(MultiObjectiveAEC):
    """A game for language models. Made by `momagames.make(id, api="text")`.

    A PettingZoo AEC environment: `last()` gives the observation as a text, the reward vector float32[K], and the end of the
    episode; `step(answer)` takes a text. The action is what stands between <action> and </action>, else the last line, as a
    name such as "(3,1)" or, with numbered actions, as a number of the list.

    preference       weights of the objectives, stated in the instructions: a sequence, a mapping by objective, or a dict of
                     these by agent; None: no preference is stated
    legal_actions    how observations list the legal actions: "names", "numbers" or "none"
    illegal          for an answer without a legal action: "raise" IllegalAction, "forfeit" the episode, or play the "next"
                     legal action or a "random" one
    """

    def __init__(
        self,
        game: Game,
        preference: Any = None,
        legal_actions: str = "names",
        illegal: str = "raise",
        max_cycles: int | None = None,
    ) -> None:
        super().__init__(game, illegal, max_cycles=max_cycles)
        prompts.check_view(game)
        self.legal_actions = prompts.check_listing(game, legal_actions)
        by_agent = isinstance(preference, Mapping) and bool(preference) and set(preference) <= set(game.agents)
        self.preferences = checks.AgentDict(
            {agent: prompts.check_preference(game, preference.get(agent) if by_agent else preference) for agent in game.agents}
        )
        for one in (self.observation_spaces, self.action_spaces):
            one |= {agent: spaces.Text(MAX_ANSWER, min_length=0, charset=CHARACTERS) for agent in game.agents}
        self._start_seed: int | None = None

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode; see `MultiObjectiveAEC.reset`."""
        with self.episode.lock:
            super().reset(seed, options)
            self._start_seed = None if options else seed
            self._start = self.episode.state.copy()

    def instructions(self, agent: str) -> str:
        """Return what an agent reads before the game: the game, its role, objectives and preference, the form of answers."""
        return prompts.write_instructions(self.game, self._index.find(agent), self.preferences[agent], self.legal_actions)

    def observe(self, agent: str) -> str:  # type: ignore[override]
        """Return what an agent sees: the position, its returns so far, and its legal actions."""
        self._check_reset("observe()")
        i = self._index.find(agent)
        with self.episode.lock:
            mask = self.episode.mask(i)
            return prompts.write_turn(self.game, self.episode.state, i, mask, self.episode.returns[i], self.legal_actions)

    def messages(self, agent: str) -> list[dict[str, str]]:
        """Return instructions and observation as messages of a chat: [{"role": "system", ...}, {"role": "user", ...}]."""
        return prompts.make_messages(self.instructions(agent), self.observe(agent))

    def step(self, action: str | None) -> None:
        """Play the action that an answer of the selected agent names; None for an agent that has finished.

        Raises IllegalAction; nothing changes then
        """
        with self.episode.lock:
            if not self._started or not self.agents or self._is_dead(self.agent_selection):
                super().step(action)
                return
            i = self._index[self.agent_selection]
            mask = self.episode.mask(i)
            chosen: Any = action
            try:
                chosen = parse_answer(self.episode, i, action, self.legal_actions == "numbers")
            except IllegalAction:
                if self.illegal == "raise" and has_choice(mask, self.game.actions):
                    raise
            super().step(chosen)

    def _is_dead(self, agent: str) -> bool:
        return self.terminations[agent] or self.truncations[agent]

    def score(self, agent: str) -> PreferenceScore:
        """Return how well the returns so far of an agent fit its preference.

        Raises InvalidCall without a preference
        """
        weights = self.preferences.find(agent)
        if weights is None:
            raise InvalidCall(f"score() of {agent} without a preference: expected make(..., preference=...)")
        self._check_reset("score()")
        return score_return(self.game, self._start, self._start_seed, self.episode.returns[self._index[agent]], weights)


make: Callable[..., TextEnv] = partial(checks.make_environment, TextEnv)
