"""Wrappers for every environment API, with one name each.

    from momagames.wrappers import Scalarize
    env = Scalarize(momagames.make("mo-samegame-v0"), weights=[1, 1, 1, 1, 1])

Each takes a PettingZoo AEC or parallel environment, a Gymnasium one or a vector environment (also wrapped by PettingZoo's
or Gymnasium's own wrappers) and returns one of the same kind. The order from the inside out is HandleIllegal; MergeColors or
SplitColors; ShareTeamReward; SelectObjectives; NormalizeReward; Scalarize. RecordEpisodeStatistics counts the rewards at its
place in this order. Flatten goes around these. RecordReplay and Centralize wrap any single or parallel environment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from momagames.errors import InvalidCall, InvalidParameter, check_choice, check_range, invalid_value
from momagames.wrappers import introspection, normalize, transforms
from momagames.wrappers.reward_spec import layers

__all__ = [
    "AgentIndicator",
    "BlackDeath",
    "Centralize",
    "FixedInstance",
    "Flatten",
    "FrameStack",
    "HandleIllegal",
    "MergeColors",
    "NormalizeReward",
    "RecordEpisodeStatistics",
    "RecordReplay",
    "Scalarize",
    "SelectObjectives",
    "ShareTeamReward",
    "SplitColors",
    "TabularObservation",
    "replay",
]

MAX_NUMBER = 2**63 - 1  # of int64
MAX_STACK = 1000  # frames
ALL = ("aec", "parallel", "gymnasium", "vector")


def _wrap_reward(env: Any, transform: type[transforms.Transform], **given: Any) -> Any:
    """Wrap an environment with a transform of its rewards."""
    module = introspection.find_module(env, transform.__name__, *ALL)
    return module.RewardWrapper(env, transform(introspection.reward_spec_of(env), **given))  # type: ignore[arg-type]


def Scalarize(
    env: Any,
    weights: transforms.Weights | None = None,
    *,
    utility: transforms.Utility | str | Mapping[str, transforms.Utility | str] | None = None,
) -> Any:
    """Return a scalar reward in place of the reward vector.

    weights   one for each objective, or a dict of such vectors by agent; the reward is the weighted sum. "published": the
              weights of the scalar reward of the original game, if there is one. A function in place of a vector is a
              utility.
    utility   a function float64[K] -> float of the step's reward vector, or its name "module:name", or one by agent
    Raises    InvalidParameter, InvalidCall if the rewards are scalar already

    `set_weights(weights)` changes them later. The reward is a Python float, in a batch float64[N] or [N, A]. In a batch a
    utility function is called once for every environment and agent.
    """
    return _wrap_reward(env, transforms.Scalarize, weights=weights, utility=utility)


def ShareTeamReward(env: Any, teams: str | Sequence[int] | Mapping[str, int] | None = None) -> Any:
    """Give every agent the sum of the rewards of its team, as a game with team_rewards=True does.

    teams   "all" for one team of all agents, or the team of each agent, in order or by name. Default: the declared teams of
            the game; all agents if it declares none but has the parameter team_rewards
    """
    return _wrap_reward(env, transforms.ShareTeamReward, teams=teams)


def SelectObjectives(env: Any, objectives: str | int | Sequence[str | int]) -> Any:
    """Select objectives by name or index, in the given order."""
    return _wrap_reward(env, transforms.SelectObjectives, objectives=objectives)


def MergeColors(env: Any) -> Any:
    """Merge the objectives of all colors into one, as a game with color_rewards=False does."""
    return _wrap_reward(env, transforms.MergeColors)


def SplitColors(env: Any) -> Any:
    """Split one objective into one for each color, as a game with color_rewards=True does."""
    return _wrap_reward(env, transforms.SplitColors)


def NormalizeReward(
    env: Any,
    gamma: float = 0.99,
    epsilon: float = 1e-8,
    *,
    objectives: str | int | Sequence[str | int] | None = None,
    frozen: bool = False,
    state: Mapping[str, Any] | None = None,
) -> Any:
    """Divide each objective of each agent by the running standard deviation of its discounted return.

    gamma        discount of that return
    epsilon      added to the variance
    objectives   objectives to normalize, by name or index (default: all)
    frozen       do not update the statistics; `freeze()` and `freeze(False)` change that later
    state        initial statistics, from `state_dict()` of another wrapper; see also `load_state_dict`
    """
    return _wrap_reward(
        env, normalize.NormalizeReward, gamma=gamma, epsilon=epsilon, objectives=objectives, frozen=frozen, state=state
    )


def RecordEpisodeStatistics(env: Any, buffer_length: int = 100, gamma: float | None = None) -> Any:
    """Report the return (a vector) and the length of each agent's episode at its end.

    infos[agent]["episode"] (Gymnasium: info["episode"]) is {"r": return, "l": actions of the agent, "steps": environment
    steps so far}; in a batch these are arrays, with the mask infos["_episode"]. `episodes` holds the last `buffer_length`
    episodes. An episode lasts until reset(): those of PettingZoo's MultiEpisodeEnv inside are one.

    gamma     discount for each environment step: adds "dr", the discounted return, as MO-Gymnasium's
              MORecordEpisodeStatistics does
    """
    check_range("buffer_length", buffer_length, 0, sys.maxsize, whole=True)
    if gamma is not None:
        check_range("gamma", gamma, 0, 1)
        gamma = float(gamma)
    module = introspection.find_module(env, "RecordEpisodeStatistics", *ALL)
    return module.RecordEpisodeStatistics(env, int(buffer_length), gamma)


def HandleIllegal(env: Any, policy: Literal["raise", "forfeit", "random", "next"] = "raise") -> Any:
    """Set the effect of illegal actions, whatever `illegal=` the environment was made with.

    policy   "raise" IllegalAction; "forfeit": the episode ends with the lowest reward of each objective for its agent;
             "random": play a random legal action instead; "next": play the next legal action, cyclically (deterministic)
    """
    module = introspection.find_module(env, "HandleIllegal", *ALL)
    from momagames.adapters.options import ILLEGAL

    check_choice("policy", policy, ILLEGAL)
    if any(type(layer).__name__ == "HandleIllegal" for layer in layers(env)):
        raise InvalidCall("the environment already has a HandleIllegal wrapper: use one only")
    introspection.base_env(env, "HandleIllegal")
    return module.HandleIllegal(env, policy)


def FixedInstance(env: Any, seed: int = 0) -> Any:
    """Start every episode from one instance, for learners that call reset() without a seed.

    seed   instance seed: start position and random draws of the game are those of reset(seed=seed). The random draws of
           other policies and of illegal="random" continue between episodes; reset(seed=...) seeds only these
    """
    module = introspection.find_module(env, "FixedInstance", "aec", "parallel", "gymnasium")
    from momagames.adapters.options import check_seed
    from momagames.engine.episode import Episode

    episode = Episode(introspection.base_env(env, "FixedInstance").game)
    episode.start(None, check_seed(seed))
    return module.FixedInstance(env, episode.state.copy(), seed)


def TabularObservation(env: Any, limit: int) -> Any:
    """Number the observations in the order of their first occurrence, int64[1], for tabular learners.

    limit    largest number of different observations; the space is MultiDiscrete([limit])
    Raises   InvalidParameter; in reset() and step() InvalidCall if there are more
    """
    module = introspection.find_module(env, "TabularObservation", "gymnasium")
    check_range("limit", limit, 1, MAX_NUMBER, whole=True)
    return module.TabularObservation(env, int(limit))


def FrameStack(env: Any, stack_size: int = 4) -> Any:
    """Stack the last observations of each agent, for learners without a memory.

    A field of shape [...] becomes [stack_size, ...], the newest frame last; the action mask stays that of now. Frames before
    the start of an episode are zeros. In AEC environments the frames are those at the turns of the agent. Gymnasium has
    `FrameStackObservation` for its environments.
    """
    module = introspection.find_module(env, "FrameStack", "aec", "parallel")
    check_range("stack_size", stack_size, 1, MAX_STACK, whole=True)
    return module.FrameStack(env, int(stack_size))


def AgentIndicator(env: Any) -> Any:
    """Add the field `agent_indicator` to observations, one-hot float32[A], for one policy that plays all agents.

    It needs observations with several fields, so it goes inside Flatten, which joins it with the others.
    """
    return introspection.find_module(env, "AgentIndicator", "aec", "parallel").AgentIndicator(env)


def BlackDeath(env: Any) -> Any:
    """Keep all agents of a parallel environment in the episode until it ends, for learners with a fixed number of agents.

    An agent that has left observes zeros, its reward is zero, its action has no effect, and its mask allows action 0 alone. All
    agents are terminated, or truncated, in the last step.
    """
    return introspection.find_module(env, "BlackDeath", "parallel").BlackDeath(env)


def Flatten(env: Any, key: str = "observation", mask: Literal["observation", "info"] | None = "observation") -> Any:
    """Flatten observations into one vector and the action mask, for learners that need this form.

    key       name of the vector: the observation is {key: float32[F], "action_mask": int8[M]}, with all fields in the order
              of the observation space; M counts all parts of an action
    mask      where the mask is: "observation"; "info", and the observation is the vector alone, as learners without masks
              need it (with `illegal="next"`, for example); None: nowhere
    Raises    InvalidParameter

    Infos keep only numbers, arrays and the statistics in `episode`. In Gymnasium environments the mask is in the infos, too,
    unless it is nowhere.
    """
    return introspection.find_module(env, "Flatten", "aec", "parallel", "gymnasium").Flatten(env, key, mask)


def Centralize(
    env: Any,
    *,
    reward: Literal["sum", "mean", "each"] = "sum",
    observation: Literal["state", "agents"] = "state",
) -> Any:
    """Turn a parallel environment into a Gymnasium environment of one joint agent that controls all agents.

    reward       "sum" or "mean" of the agents' vectors, or "each": all objectives of all agents, A * K of them
    observation  "state": the array of `state()`; "agents": a dict of the observations of all agents

    The action is a MultiDiscrete of the parts of all agents, in order; in a turn-based game only the part of
    info["active_agent"] counts. info["action_mask"] is a tuple of the masks of the parts (flat: `action_masks()`),
    info["agents"] has the infos of the agents.
    """
    introspection.find_module(env, "Centralize", "parallel")
    from momagames.wrappers import centralize

    return centralize.Centralize(env, reward, observation)


def RecordReplay(
    env: Any,
    folder: str | Path,
    formats: Sequence[Literal["json", "gif", "mp4"]] = ("json",),
    *,
    name: str = "episode",
    when: Callable[[int], bool] | str | None = None,
    fps: float = 4,
    frames: int = 0,
) -> Any:
    """Write episodes to files at their end: {folder}/{name}-{number}.json, .gif, .mp4.

    An episode ends when it is terminated or truncated, or when reset() or close() cuts it after a step. Truncation by a
    wrapper around this one is known at the next reset() or close(). The number is that of the episode, from 0. Files that
    exist are never replaced: in a folder with files of that name, the numbers continue after them.

    formats   "json" can be replayed with `replay`; "gif" and "mp4" (needs imageio[ffmpeg]) need an environment with
              render_mode="rgb_array"
    when      selection of episodes: a function of the number of the episode, or its name "module:name" (default: all)
    fps       positions per second
    frames    pictures between two positions, in which pieces slide
    Raises    MissingExtra, InvalidParameter; in step() InvalidCall if a wrapper inside this one resets the environment

    Files are written atomically. `env.recorder.files` lists them. Several recorders may share a folder, also in several
    processes. A copy of the environment writes files of its own.
    """
    module = introspection.find_module(env, "RecordReplay", "aec", "parallel", "gymnasium")
    from momagames.wrappers import recording

    listed = tuple(formats) if isinstance(formats, (list, tuple, set, frozenset)) else (formats,)
    chosen: Any = transforms.load_function(when)
    if chosen is not None and not callable(chosen):
        raise InvalidParameter(invalid_value("when", when, "a function of the number of an episode, its name, or None"))
    return module.RecordReplay(env, recording.ReplayRecorder(env, folder, listed, name, chosen, fps, frames))


def replay(path: str | Path, render_mode: str | None = None, allow_code: bool = False) -> Iterator[Any]:
    """Replay a recorded episode: yield its AEC environment at the start and after every step.

    allow_code    whether the file may name Python code and files outside its folder, such as levels and layouts

    Raises InvalidFile if the file is not a replay, or if the episode differs from the recorded one
    """
    from momagames.wrappers import recording

    return recording.replay(path, render_mode, allow_code)
