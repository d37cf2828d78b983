"""Environments by id, for every API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from momagames.errors import check_choice
from momagames.plugins import load_object
from momagames.registry import find_entry, spec

if TYPE_CHECKING:
    from momagames.adapters.aec import MultiObjectiveAEC
    from momagames.adapters.gymnasium import SingleAgentEnv
    from momagames.adapters.parallel import MultiObjectiveParallel
    from momagames.adapters.text.batch import TextBatch
    from momagames.adapters.text.environment import TextEnv
    from momagames.adapters.vector import MultiObjectiveVectorEnv

Api = Literal["aec", "parallel", "gymnasium", "text"]
# Imported when the first environment of the API is made.
FACTORIES: dict[str, str] = {
    "aec": "momagames.adapters.aec:make",
    "parallel": "momagames.adapters.parallel:make",
    "gymnasium": "momagames.adapters.gymnasium:make",
    "text": "momagames.adapters.text.environment:make",
}
FLATTEN = "momagames.wrappers:Flatten"
VECTOR_FACTORY = "momagames.adapters.vector:make"
TEXT_BATCH = "momagames.adapters.text.batch:TextBatch"
SCALAR, SCALARIZE = ("weights", "utility"), "momagames.wrappers:Scalarize"
CHECK_STATE = "momagames.engine.positions:load_state"


@overload
def make(id: str, api: Literal["aec"] = "aec", **options: Any) -> MultiObjectiveAEC: ...
@overload
def make(id: str, api: Literal["parallel"], **options: Any) -> MultiObjectiveParallel: ...
@overload
def make(id: str, api: Literal["gymnasium"], **options: Any) -> SingleAgentEnv: ...
@overload
def make(id: str, api: Literal["text"], **options: Any) -> TextEnv: ...
@overload
def make(id: str, api: Api, **options: Any) -> MultiObjectiveAEC | MultiObjectiveParallel | SingleAgentEnv: ...
def make(id: str, api: Api = "aec", **options: Any) -> MultiObjectiveAEC | MultiObjectiveParallel | SingleAgentEnv:
    """Make an environment by id.

    api        "aec" (PettingZoo, agents in turn), "parallel" (PettingZoo), "gymnasium" (one agent) or "text" (as "aec", with
               texts as observations and actions, for language models)
    options    parameters of the game, and options of the API: render_mode, render_options (a dict, see `View.render_options`),
               illegal ("raise", "forfeit", "random", "next"), max_cycles (truncate the episode after so many steps, in "aec"
               after so many actions of each agent), numeric_infos (no strings in infos); for "gymnasium" also agent, team and
               others; for "text" illegal, max_cycles, preference and legal_actions alone (see `TextEnv`). Except for "text",
               `weights` or `utility` make the rewards scalar, see `momagames.wrappers.Scalarize`
    Raises     UnknownId, InvalidParameter, UnknownParameter (a TypeError as well) for a keyword that nothing takes
    """
    check_choice("api", api, FACTORIES)
    find_entry(id)
    env: MultiObjectiveAEC | MultiObjectiveParallel | SingleAgentEnv = _make(FACTORIES[api], id, options=options)
    return env


def make_scalar(game_id: str, api: Api = "gymnasium", **options: Any) -> Any:
    """Make an environment with scalar rewards and flat observations, float32[F].

    Action masks are where learners of the API look for them: in "aec" beside the observation in a dict, else in the infos.

    options    of `make`; by default all objectives have the same weight, and an illegal action is played as the next legal one.
               `mask` puts the masks elsewhere: "observation", "info" or None (nowhere), see `momagames.wrappers.Flatten`
    """
    mask = options.pop("mask", "observation" if api == "aec" else "info")
    env: Any = make(game_id, api, **{"illegal": "next", **options})
    if all(options.get(name) is None for name in SCALAR):
        objectives = len(env.game.objectives)
        env = load_object(SCALARIZE)(env, [1 / objectives] * objectives)
    return load_object(FLATTEN)(env, mask=mask)


def _make(factory: str, *arguments: Any, options: dict[str, Any]) -> Any:
    """Make an environment; with scalar rewards if the options have weights or a utility."""
    scalar = {name: options[name] for name in SCALAR if options.get(name) is not None}
    env = load_object(factory)(*arguments, **{name: value for name, value in options.items() if name not in SCALAR})
    return load_object(SCALARIZE)(env, **scalar) if scalar else env


def check_state(id: str, state: Any, **params: Any) -> None:
    """Raise InvalidState, with the reason, unless a state is a position of a game.

    state     record, dict or text of a position, as `reset(options={"state": state})` takes it
    params    parameters of the game
    """
    load_object(CHECK_STATE)(spec(id, **params), state)


def make_vec(id: str, num_envs: int, threads: int = 1, **options: Any) -> MultiObjectiveVectorEnv:
    """Make a vector environment; see `momagames.adapters.vector`.

    options    parameters of the game, and options of the API: autoreset ("next_step", "same_step", "disabled"), views
               ("mover", "all"), illegal, max_cycles (truncate episodes after so many steps), render_mode and render_options,
               copy (return copies; without, the default, the next step overwrites the arrays); `weights` or `utility` make
               the rewards scalar, see `momagames.wrappers.Scalarize`
    """
    find_entry(id)
    envs: MultiObjectiveVectorEnv = _make(VECTOR_FACTORY, id, num_envs, threads, options=options)
    return envs


def make_text_batch(id: str, batch_size: int, **options: Any) -> TextBatch:
    """Make a batch of games in text form, in each of which a language model plays one agent; see `TextBatch`.

    options    parameters of the game, and options of the API: agent, others, preference, legal_actions, illegal, max_cycles
    """
    find_entry(id)
    batch: TextBatch = load_object(TEXT_BATCH)(id, batch_size, **options)
    return batch
