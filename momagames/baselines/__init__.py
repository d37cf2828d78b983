"""Baselines by name. Tables hold strings, so that nothing heavy is imported before a baseline is used.

A method is a frozen dataclass of its options: `method("greedy")(divisions=4)`; see `momagames.baselines.base.Method`.
A policy chooses one action at a time: `policy("greedy", game)`.

Names of policies mean the same everywhere: in `make(others=)`, suites, matches, `momagames play` and `train --opponent`. A name
is one of POLICIES, one of the game's own (`Game.policies`), "module:name" of Python (see `engine.policy_sources`), the path of
a checkpoint of training, or "safe:NAME", a compiled policy that plays safe actions only, where the game declares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momagames.baselines.learners import LEARNERS
from momagames.baselines.policy_names import CHECKPOINT, strip_safe
from momagames.baselines.policy_names import SAFE as SAFE
from momagames.errors import UnknownId, invalid_value, nearest, one_of
from momagames.plugins import USER, Origin, is_python_path, load_object, resolve_name

if TYPE_CHECKING:
    from momagames.baselines.base import Method
    from momagames.contract import Game, Policy
    from momagames.engine.policies import BatchPolicy
    from momagames.engine.policy_sources import PolicySource

# name -> "module:class" of the method; policies of a game are methods by their names as well
METHODS: dict[str, str] = {
    "random": "momagames.baselines.random:Random",
    "greedy": "momagames.baselines.greedy:Greedy",
    "beam": "momagames.baselines.search.beam:Beam",
    "hindsight_beam": "momagames.baselines.hindsight:HindsightBeam",
    "hindsight_random": "momagames.baselines.hindsight:HindsightRandom",
    "local_search": "momagames.baselines.search.local_search:LocalSearch",
    "nrpa": "momagames.baselines.search.nrpa:Nrpa",
    "iterated_nrpa": "momagames.baselines.search.iterated_nrpa:IteratedNrpa",
    "pareto_nrpa": "momagames.baselines.search.pareto_nrpa:ParetoNrpa",
    "hindsight_local_search": "momagames.baselines.hindsight:HindsightLocalSearch",
    "hindsight_nrpa": "momagames.baselines.hindsight:HindsightNrpa",
    "hindsight_pareto_nrpa": "momagames.baselines.hindsight:HindsightParetoNrpa",
    "uct": "momagames.baselines.mcts.methods:Uct",
    "pareto_uct": "momagames.baselines.mcts.methods:ParetoUct",
    "nested_rollouts": "momagames.baselines.candidates.nested:NestedRollouts",
    "champion": "momagames.baselines.checkpoint_policy:Champion",
    "trained": "momagames.baselines.checkpoint_policy:Trained",
    "exact": "momagames.baselines.exact.method:Exact",
    "nsga2": "momagames.baselines.evolution.nsga2:Nsga2",
    "cma": "momagames.baselines.evolution.cma:Cma",
    **LEARNERS,
    "pcn": "momagames.baselines.morl.return_conditioned:Pcn",
    "envelope": "momagames.baselines.morl.value_learners:Envelope",
    "gpi_ls": "momagames.baselines.morl.value_learners:GpiLs",
    "maskable_ppo": "momagames.baselines.morl.maskable_ppo:MaskablePpo",
    "behavior_cloning": "momagames.datasets.learners:BehaviorCloning",  # a later layer, loaded by name like policies of games
    "return_conditioned": "momagames.datasets.learners:ReturnConditioned",
}
# name -> "module:attribute" of a `CompiledPolicy` or `PolicyFactory` that plays every game
POLICIES: dict[str, str] = {
    "random": "momagames.baselines.random:RANDOM_POLICY",
    "greedy": "momagames.baselines.greedy:GREEDY_POLICY",
    "uct": "momagames.baselines.mcts.policies:UCT_POLICY",
    "pareto_uct": "momagames.baselines.mcts.policies:PARETO_UCT_POLICY",
    "nested_rollouts": "momagames.baselines.candidates.nested:NESTED_POLICY",
    "champion": "momagames.baselines.checkpoint_policy:CHAMPION_POLICY",
}


def method(name: str, game: Game | None = None, origin: Origin = USER) -> type[Method]:
    """Return the method of a name, or your own as "module:name": a method, or a policy (see `momagames.baselines.own`).

    game      the policies of the game are methods by their names as well
    origin    where the name comes from: a file of data may not name your own
    Raises    UnknownId; InvalidFile for a name that its origin may not say
    """
    from momagames.baselines.base import Method
    from momagames.baselines.scripted import make_scripted_method

    _check_name("method", name)
    own: Mapping[str, str] = {**game.policies, **game.solvers.policies} if game else {}
    if game and name not in METHODS and (name in own or name.startswith(SAFE) or _has_own_prefix(name, game)):
        return make_scripted_method(name, find_policy(name, game, origin))
    if name not in METHODS and not is_python_path(name):
        origin.check_name("method", name)
        known = [*METHODS, *own]
        expected = f"{one_of(known)}, or your own as 'module:name'"
        raise UnknownId(invalid_value("method", name, expected, nearest(name, known)))
    chosen = resolve_name("method", name, METHODS, origin)
    if isinstance(chosen, type) and issubclass(chosen, Method):
        return chosen
    from momagames.baselines.own import make_own_method
    from momagames.engine.policies import CompiledPolicy
    from momagames.engine.policy_sources import PolicyFactory
    from momagames.engine.python_policies import PythonPolicy

    if isinstance(chosen, (CompiledPolicy, PolicyFactory)):
        return make_scripted_method(name, chosen)
    if not callable(chosen) and not isinstance(chosen, PythonPolicy):
        expected = "a function (observation, mask, generator) -> action, a class of such, or a method"
        raise UnknownId(invalid_value("method", name, expected))
    return make_own_method(name, chosen)


def policy(name: str, game: Game | str, agent: int | str | None = None, **options: Any) -> Policy:
    """Return a policy by name for one agent; see `contract.Policy`.

    The state may be any record of the game (it is only read), the mask is that of the agent, and all randomness comes from the
    generator, a numpy.random.Generator. Call `reset()`, where the policy has it, at the start of an episode. Make one policy
    for each agent.

    game       the game, or its id
    agent      name or index of the agent that it plays; needed where all agents move at once, except for "random"
    options    "greedy" has weights, float[K] (default: all equal), and estimate, see `momagames.baselines.greedy`; "uct" and
               "pareto_uct" have weights, simulations, exploration, horizon and value, see `momagames.baselines.mcts`;
               "nested_rollouts" has weights, level and scorer, see `momagames.baselines.candidates.nested`;
               "champion", the trained policy of the package, and checkpoints have weights and greedy; for others see
               `policy_options`
    Raises     UnknownId; InvalidParameter if the policy cannot play this game or the options are wrong
    """
    from momagames.contract.agents import find_agent
    from momagames.engine.policy_sources import make_policy

    game = _find_game(game)
    index = None if agent is None else find_agent(game, agent)
    return make_policy(name, find_policy(name, game), game, index, **options)


def batch_policy(name: str, game: Game | str, **options: Any) -> BatchPolicy:
    """Return a policy by name in the form that is seated in batches; options and errors as of `policy`."""
    from momagames.engine.policy_sources import make_batch_policy

    game = _find_game(game)
    return make_batch_policy(name, find_policy(name, game), game, **options)


def policy_options(name: str, game: Game | str) -> dict[str, Any]:
    """Return the options of a policy with their defaults, or raise UnknownId."""
    from momagames.engine.policy_sources import source_options

    return source_options(find_policy(name, _find_game(game)))


def _find_game(game: Game | str) -> Game:
    """Return a game, or that of an id with its defaults."""
    from momagames import registry

    return registry.spec(game) if isinstance(game, str) else game


def find_policy(name: str, game: Game, origin: Origin = USER) -> PolicySource:
    """Return what the name of a policy stands for; `origin` and errors as of `method`."""
    _check_name("policy", name)
    inner = strip_safe(name)
    if inner != name:
        from momagames.baselines.safe import make_safe_source

        shorter = name.removeprefix(SAFE)
        return make_safe_source(name, shorter, find_policy(shorter, game, origin))
    if name.endswith(CHECKPOINT):
        from momagames.baselines.checkpoint_policy import make_checkpoint_factory

        return make_checkpoint_factory(Path(name))
    if _has_own_prefix(name, game):
        origin.check_name("policy", name)
        prefix, _, rest = name.partition(":")
        made: PolicySource = load_object(game.original.policy_prefixes[prefix])(rest, game)
        return made
    known = {**game.policies, **game.solvers.policies, **POLICIES}
    if name not in known and not is_python_path(name):
        origin.check_name("policy", name)
        expected = f"{one_of(known)}, 'module:name' of Python, or a checkpoint of training (.npz)"
        raise UnknownId(f"{game.id}: {invalid_value('policy', name, expected, nearest(name, known))}")
    from momagames.engine.policy_sources import check_source

    return check_source(name, resolve_name("policy", name, known, origin))


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str):
        raise UnknownId(invalid_value(what, name, "a name"))


def _has_own_prefix(name: str, game: Game) -> bool:
    """Return whether the name of a policy has a prefix that the game declares."""
    prefix, colon, _ = name.partition(":")
    return bool(colon) and prefix in game.original.policy_prefixes
