"""Wrappers: one name each, for every kind of environment.

    from momagames.wrappers import Scalarize
    env = Scalarize(momagames.make("mo-samegame-v0"), weights=[1, 1, 1, 1, 1])

Each takes a PettingZoo AEC or parallel environment, a Gymnasium one or a vector environment (also wrapped by PettingZoo's
or Gymnasium's own wrappers) and gives back one of the same kind. From the inside out they go in this order: HandleIllegal;
MergeColors or SplitColors; ShareTeamReward; SelectObjectives; NormalizeReward; Scalarize. RecordEpisode counts what is paid
where it stands. Flatten goes around these; Record and Centralize go wherever a single or a parallel environment stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from momagames.errors import InvalidCall, check_choice, check_range
from momagames.wrappers import kinds, normalize, transforms
from momagames.wrappers.reward_spec import layers

__all__ = [
    "Centralize",
    "FixedInstance",
    "Flatten",
    "HandleIllegal",
    "MergeColors",
    "NormalizeReward",
    "Record",
    "RecordEpisode",
    "Scalarize",
    "SelectObjectives",
    "ShareTeamReward",
    "SplitColors",
    "TabularObservation",
    "replay",
]

ALL = ("aec", "parallel", "gymnasium", "vector")


def _paying(env: Any, transform: type[transforms.Transform], **given: Any) -> Any:
    """The host for this environment, with the transform bound to what the environment pays."""
    module = kinds.host(env, transform.__name__, *ALL)
    bound = transform(kinds.form_of(env), **given)  # type: ignore[arg-type]
    if module.__name__.endswith("gymnasium"):
        return module.RewardWrapper(env, bound, given)
    return module.RewardWrapper(env, bound)


def Scalarize(
    env: Any,
    weights: transforms.Weights | None = None,
    *,
    utility: transforms.Utility | Mapping[str, transforms.Utility] | None = None,
) -> Any:
    """Pay a number in place of the reward vector.

    weights   one for each objective, or a dict of such vectors by agent; the reward is the weighted sum. "published": those
              that make the scalar reward of the game's original, where there is one. A function in place of a vector is
              taken as utility.
    utility   a function float64[K] -> float of the step's reward vector, or one by agent
    Raises    InvalidParameter, InvalidCall if the rewards are scalar already

    `set_weights(weights)` changes them later. The reward is a Python float; in a batch float64[N] or [N, A], and a
    utility function is then called once for every environment and agent.
    """
    return _paying(env, transforms.Scalarize, weights=weights, utility=utility)


def ShareTeamReward(env: Any, teams: str | Sequence[int] | Mapping[str, int] | None = None) -> Any:
    """Pay every agent the sum of its team's rewards: what a game with team_rewards=True pays.

    teams   "all" for one team of everybody, or the team of each agent, in order or by name. Default: the teams that the
            game declares; if it declares none but knows the parameter team_rewards, everybody
    """
    return _paying(env, transforms.ShareTeamReward, teams=teams)


def SelectObjectives(env: Any, objectives: str | int | Sequence[str | int]) -> Any:
    """Pay some of the objectives only, by name or index, in the order given."""
    return _paying(env, transforms.SelectObjectives, objectives=objectives)


def MergeColors(env: Any) -> Any:
    """Pay one objective in place of one for each color: what a game with color_rewards=False pays."""
    return _paying(env, transforms.MergeColors)


def SplitColors(env: Any) -> Any:
    """Pay one objective for each color in place of one for all: what a game with color_rewards=True pays."""
    return _paying(env, transforms.SplitColors)


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
    objectives   those to normalize, by name or index (default: all)
    frozen       leave the statistics as they are; `freeze()` and `freeze(False)` change that later
    state        statistics to begin with, from `state_dict()` of another; `load_state_dict(state)` does that later
    """
    return _paying(
        env, normalize.NormalizeReward, gamma=gamma, epsilon=epsilon, objectives=objectives, frozen=frozen, state=state
    )


def RecordEpisode(env: Any, kept: int = 100) -> Any:
    """Report each agent's return (a vector, as it is paid here) and length at the end of its episode.

    infos[agent]["episode"] (Gymnasium: info["episode"]) is {"r": return, "l": the agent's own moves, "steps": environment
    steps so far}; in a batch these are arrays, with the mask infos["_episode"]. `episodes` holds the last `kept` ones.
    """
    check_range("kept", kept, 0, whole=True)
    return kinds.host(env, "RecordEpisode", *ALL).RecordEpisode(env, kept)


def HandleIllegal(env: Any, how: Literal["raise", "forfeit", "random", "next"] = "raise") -> Any:
    """Say what an illegal action does, whatever `illegal=` the environment was made with.

    how   "raise" IllegalAction; "forfeit": the game ends, its agent gets the worst of each objective; "random": a random
          legal action is played in its place; "next": the first legal one from it on, and after the last one from 0 on, which
          is the same one each time in the same position
    """
    module = kinds.host(env, "HandleIllegal", *ALL)
    from momagames.adapters.options import ILLEGAL

    check_choice("how", how, ILLEGAL)
    if any(type(layer).__name__ == "HandleIllegal" for layer in layers(env)):
        raise InvalidCall("there is a HandleIllegal around this environment already; only one can say what illegal actions do")
    kinds.door(env, "HandleIllegal")
    return module.HandleIllegal(env, how)


def FixedInstance(env: Any, seed: int = 0) -> Any:
    """Begin every game with one deal, for learners that call reset() without a seed.

    seed   the deal is that of reset(seed=seed), with all that the game itself draws later. What other players draw, and
           random actions in place of illegal ones, go on from game to game; reset(seed=...) seeds these only
    """
    module = kinds.host(env, "FixedInstance", "aec", "parallel", "gymnasium")
    from momagames.adapters.options import check_seed
    from momagames.engine.episode import Episode

    play = Episode(kinds.door(env, "FixedInstance").game)
    play.reset(check_seed(seed))
    return module.FixedInstance(env, play.state.copy(), seed)


def TabularObservation(env: Any, limit: int) -> Any:
    """Observations as numbers int64[1], in the order in which they are first seen, for learners with tables.

    limit    how many there may be: the space is MultiDiscrete([limit])
    Raises   InvalidParameter; in reset() and step() InvalidCall if there are more
    """
    module = kinds.host(env, "TabularObservation", "gymnasium")
    check_range("limit", limit, 1, whole=True)
    return module.TabularObservation(env, limit)


def Flatten(env: Any, key: str = "observation") -> Any:
    """Show each agent one vector of numbers and its action mask, for learners that take no other observations.

    key       the name of the vector: the observation is {key: float32[F], "action_mask": int8[M]}, all fields one after
              the other in the order of the observation space, as they are; M counts all parts of an action
    Raises    InvalidParameter

    Infos keep what is a number or an array: no text, no lists. Through Gymnasium the mask is in the infos as well.
    """
    return kinds.host(env, "Flatten", "aec", "parallel", "gymnasium").Flatten(env, key)


def Centralize(
    env: Any,
    *,
    reward: Literal["sum", "mean", "each"] = "sum",
    observation: Literal["state", "agents"] = "state",
) -> Any:
    """A parallel game as a Gymnasium environment of one joint agent that plays for all.

    reward       "sum" or "mean" of the agents' vectors, or "each": all objectives of all agents, A * K of them
    observation  "state": the array of `state()`; "agents": a dict of what each agent sees

    The action is a MultiDiscrete of the parts of all agents, in order; in a turn-based game only the part of
    info["active_agent"] counts. info["action_mask"] is a tuple of the masks of the parts (flat: `action_masks()`),
    info["agents"] has the infos of the agents.
    """
    kinds.host(env, "Centralize", "parallel")
    from momagames.wrappers import centralize

    return centralize.Centralize(env, reward, observation)


def Record(
    env: Any,
    folder: str | Path,
    formats: Sequence[Literal["json", "gif", "mp4"]] = ("json",),
    *,
    name: str = "episode",
    when: Callable[[int], bool] = lambda episode: True,
    fps: float = 4,
) -> Any:
    """Write episodes to files when they are over: {folder}/{name}-{number}.json, .gif, .mp4.

    formats   "json" can be played again with `replay`; "gif" and "mp4" (needs imageio[ffmpeg]) want an environment made
              with render_mode="rgb_array"
    when      which episodes, by number from 0; every one by default
    fps       pictures a second
    Raises    MissingExtra, InvalidParameter

    A file is written aside and renamed, so that it is whole or not there. `env.recorder.files` lists them.
    """
    module = kinds.host(env, "Record", "aec", "parallel", "gymnasium")
    from momagames.wrappers import recording

    listed = (formats,) if isinstance(formats, str) else tuple(formats)
    return module.Record(env, recording.Recorder(env, folder, listed, name, when, fps))


def replay(path: str | Path, render_mode: str | None = None) -> Iterator[Any]:
    """Play a recorded game again: yields its AEC environment at the start and after every step; `env.returns` at the end.

    Raises InvalidFile if the file is no record, or the game does not go or end as recorded
    """
    from momagames.wrappers import recording

    return recording.replay(path, render_mode)
