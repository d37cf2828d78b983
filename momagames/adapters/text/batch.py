"""Batches of text environments for trainers of language models: one conversation in each, rewards[batch, K]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters import options as checks
from momagames.adapters.gymnasium import Opponents, SingleAgentEnv
from momagames.adapters.text import prompts
from momagames.adapters.text.answers import parse_answer
from momagames.adapters.text.scores import score_return
from momagames.contract import has_choice
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter, check_choice, check_range, invalid_value

Message = dict[str, str]
PREFERENCES = 1  # stream of random numbers, beside those of the start positions


class TextStep(NamedTuple):
    """Result of a step of a batch. Fields have the names of NeMo RL's `EnvironmentReturn`.

    observations          the next message of each conversation, {"role": "user", "content": text}; empty after its end
    metadata              of each: "reason" of an illegal answer; at the end "returns" (by objective) and, with a preference,
                          "utility", "best" and "regret" (see `PreferenceScore`)
    next_stop_strings     None for each
    rewards               float32[B, K], the reward vector of each; zeros after the end
    terminateds           bool[B], whether the episode has ended
    answers               the action that each answer named; None where it named no legal one
    """

    observations: list[Message]
    metadata: list[dict[str, Any]]
    next_stop_strings: list[None]
    rewards: NDArray[np.float32]
    terminateds: NDArray[np.bool_]
    answers: list[str | None]


class TextBatch:
    """A batch of games, in each of which a language model plays one agent. Made by `momagames.make_text_batch`.

    agent            name or index of the agent that is played (default: the first)
    others           policy of the other agents, as in the Gymnasium API
    preference       weights of the objectives, stated in the first message: a sequence or a mapping by objective for all games,
                     "random" (drawn uniformly from the simplex for each episode), or None
    legal_actions    how messages list the legal actions: "names", "numbers" or "none"
    illegal          for an answer without a legal action: "forfeit" the episode, play the "next" legal action or a "random" one
    """

    def __init__(
        self,
        id: str,
        batch_size: int,
        agent: str | int | None = None,
        others: Opponents = "random",
        preference: Any = None,
        legal_actions: str = "names",
        illegal: str = "forfeit",
        max_cycles: int | None = None,
        **params: Any,
    ) -> None:
        check_range("batch_size", batch_size, 1, whole=True)
        batch_size = int(batch_size)
        check_choice("illegal", illegal, [one for one in checks.ILLEGAL if one != "raise"])
        self.game = registry.spec(id, **params)
        prompts.check_view(self.game)
        self.legal_actions = prompts.check_listing(self.game, legal_actions)
        self._is_random = isinstance(preference, str) and preference == "random"
        weights = None if self._is_random else prompts.check_preference(self.game, preference)
        self.preferences: list[NDArray[np.float64] | None] = [weights] * batch_size
        self._envs = [SingleAgentEnv(self.game, agent, others, illegal, max_cycles=max_cycles) for _ in range(batch_size)]
        self._agent = self.game.agents.index(self._envs[0].agent)
        self._ended = np.ones(batch_size, np.bool_)
        self._rng: np.random.Generator | None = None  # of the seeds of resets without one
        self._seeds: list[int] = []
        self._starts: list[Any] = []

    def __len__(self) -> int:
        return len(self._envs)

    def reset(self, seed: int | None = None, group_size: int = 1) -> list[list[Message]]:
        """Start an episode in each game; return the messages that begin each conversation: instructions and observation.

        seed          the games of group g start from seed + g; without one it is drawn, at first by the operating system
        group_size    this number of consecutive games have one start position and one preference, as group-relative policy
                      gradients need; it divides the size of the batch
        """
        seed = checks.check_seed(seed)
        is_integer = isinstance(group_size, (int, np.integer)) and not isinstance(group_size, bool)
        if not is_integer or group_size not in range(1, len(self) + 1) or len(self) % group_size:
            raise InvalidParameter(invalid_value("group_size", group_size, f"a divisor of batch_size={len(self)}"))
        if seed is None:
            self._rng = self._rng or np.random.default_rng()
            seed = int(self._rng.integers(2**63))
        else:
            self._rng = np.random.default_rng(seed)
        group_size = int(group_size)  # small integers of NumPy overflow
        groups = len(self) // group_size
        if self._is_random:
            drawn = np.random.default_rng([seed, PREFERENCES]).dirichlet(np.ones(len(self.game.objectives)), groups)
            self.preferences = [drawn[i // group_size] for i in range(len(self))]
        self._seeds = [seed + i // group_size for i in range(len(self))]
        for env, own in zip(self._envs, self._seeds, strict=True):
            env.reset(seed=own)
        self._starts = [env.state for env in self._envs]
        self._ended = np.array([bool(env.state["over"]) for env in self._envs])
        return [
            prompts.make_messages(
                prompts.write_instructions(self.game, self._agent, weights, self.legal_actions), self._describe(env)
            )
            for env, weights in zip(self._envs, self.preferences, strict=True)
        ]

    def step(self, answers: Sequence[str]) -> TextStep:
        """Play the answers, one for each game; those to games that have ended are ignored.

        Raises InvalidCall before `reset`; InvalidParameter for another number of answers
        """
        if not self._starts:
            raise InvalidCall("step() before reset(): call reset() first")
        given: Any = answers.tolist() if hasattr(answers, "tolist") else answers
        if not isinstance(given, Sequence) or isinstance(given, (str, bytes)) or len(given) != len(self):
            raise InvalidParameter(invalid_value("answers", answers, f"a sequence of {len(self)} texts"))
        rewards = np.zeros((len(self), len(self.game.objectives)), np.float32)
        metadata: list[dict[str, Any]] = [{} for _ in self._envs]
        named: list[str | None] = [None] * len(self)
        observations = [{"role": "user", "content": ""} for _ in self._envs]
        for i, (env, answer) in enumerate(zip(self._envs, given, strict=True)):
            if self._ended[i]:
                continue
            action = self._read(env, answer, metadata[i])
            if action is not None:
                named[i] = self.game.human.action_name(env.state, action)
            _, rewards[i], terminated, truncated, _ = env.step(answer if action is None else action)
            observations[i]["content"] = self._describe(env)
            self._ended[i] = terminated or truncated
            if self._ended[i]:
                metadata[i] |= self._summarize(i)
        return TextStep(observations, metadata, [None] * len(self), rewards, self._ended.copy(), named)

    def _read(self, env: SingleAgentEnv, answer: Any, facts: dict[str, Any]) -> Any:
        """Return the action of an answer; None, with the reason in `facts`, for one without a legal action."""
        try:
            return parse_answer(env.episode, self._agent, answer, self.legal_actions == "numbers")
        except IllegalAction as error:
            if has_choice(env.episode.mask(self._agent), self.game.actions):
                facts["reason"] = str(error)
            return None

    def _describe(self, env: SingleAgentEnv) -> str:
        returns = env.episode.returns[self._agent]
        return prompts.write_turn(self.game, env.state, self._agent, env.action_masks(), returns, self.legal_actions)

    def _summarize(self, i: int) -> dict[str, Any]:
        """Return what is said about a game at its end."""
        returns = self._envs[i].episode.returns[self._agent].copy()
        names = [objective.name for objective in self.game.objectives]
        facts: dict[str, Any] = {"returns": dict(zip(names, returns.tolist(), strict=True))}
        weights = self.preferences[i]
        if weights is not None:
            facts |= vars(score_return(self.game, self._starts[i], self._seeds[i], returns, weights))
        return facts
