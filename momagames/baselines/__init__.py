"""Baselines by name. Strings, so that nothing heavy is imported before a baseline is used.

A method is a frozen dataclass of its options: `method("greedy")(divisions=4)`; see `momagames.baselines.base.Method`.
A policy acts move by move: `policy("greedy", game)`.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momagames.errors import UnknownId, nearest, one_of
from momagames.plugins import found, is_outside

if TYPE_CHECKING:
    from momagames.baselines.base import Method
    from momagames.contract import Game, Policy
    from momagames.engine.policies import Compiled, Member

# name -> "module:class" of the method; the only list of methods
METHODS: dict[str, str] = {
    "random": "momagames.baselines.random:Random",
    "greedy": "momagames.baselines.greedy:Greedy",
    "beam": "momagames.baselines.search.beam:Beam",
    "dry_run_beam": "momagames.baselines.hindsight:DryRunBeam",
    "dry_run_random": "momagames.baselines.hindsight:DryRunRandom",
    "local_search": "momagames.baselines.search.local_search:LocalSearch",
    "nrpa": "momagames.baselines.search.nrpa:Nrpa",
    "pareto_nrpa": "momagames.baselines.search.pareto_nrpa:ParetoNrpa",
    "dry_run_local_search": "momagames.baselines.hindsight:DryRunLocalSearch",
    "dry_run_nrpa": "momagames.baselines.hindsight:DryRunNrpa",
    "dry_run_pareto_nrpa": "momagames.baselines.hindsight:DryRunParetoNrpa",
    "uct": "momagames.baselines.mcts.methods:Uct",
    "pareto_uct": "momagames.baselines.mcts.methods:ParetoUct",
    "exact": "momagames.baselines.exact.method:Exact",
    "nsga2": "momagames.baselines.evolution.nsga2:Nsga2",
    "cma": "momagames.baselines.evolution.cma:Cma",
    "moppo": "momagames.baselines.moppo.method:Moppo",
    "dry_run_exact": "momagames.baselines.hindsight:DryRunExact",
    "static": "momagames.baselines.scripted:Static",
    "simple": "momagames.baselines.scripted:Simple",
    "contacts": "momagames.baselines.scripted:Contacts",
    "lookahead": "momagames.baselines.scripted:Lookahead",
    "nearest": "momagames.baselines.scripted:Nearest",
    "astar": "momagames.baselines.scripted:Astar",
    "thrifty": "momagames.baselines.scripted:Thrifty",
}
# name -> "module:class" of the policy: opponents in suites, `others=` of the Gymnasium door, `momagames play`
POLICIES: dict[str, str] = {
    "random": "momagames.baselines.random:RandomPolicy",
    "greedy": "momagames.baselines.greedy:GreedyPolicy",
    "uct": "momagames.baselines.mcts.policies:UctPolicy",
    "pareto_uct": "momagames.baselines.mcts.policies:ParetoUctPolicy",
    "static": "momagames.baselines.scripted:StaticPolicy",
    "simple": "momagames.baselines.scripted:SimplePolicy",
    "contacts": "momagames.baselines.scripted:ContactsPolicy",
    "lookahead": "momagames.baselines.scripted:LookaheadPolicy",
    "nearest": "momagames.baselines.scripted:NearestPolicy",
    "astar": "momagames.baselines.scripted:AstarPolicy",
    "thrifty": "momagames.baselines.scripted:ThriftyPolicy",
}

CHECKPOINT = ".npz"  # how the names of checkpoints of training end


def method(name: str) -> type[Method]:
    """The method of a name, or your own as "module:class"; UnknownId if there is none."""
    if is_outside(name):
        return _own(name)
    found: type[Method] = _find("method", name, METHODS)
    return found


def policy(name: str, game: Game, agent: int | None = None, **options: Any) -> Policy:
    """A policy of a name, for a game; see `contract.Policy`.

    The state may be any record of the game (it is only read), the mask is that of the agent to move, and all chance comes
    from the generator, a numpy.random.Generator. A policy that remembers has a method `begin()`, to be called when a game
    begins; make one for each agent. `remembered()` is a copy of its memory, `recall(memory)` takes that back.

    agent      index of the agent that it plays; only policies that see what an agent sees need it, where all move at once
    options    "greedy" has weights, float[K] (default: all equal); "uct" and "pareto_uct" have weights, simulations,
               exploration and horizon, see `momagames.baselines.mcts`; "thrifty" has patience and fair; others have none.
               A name may also be the path of a checkpoint of training (.npz), with weights and greedy
    Raises     UnknownId; InvalidParameter if the policy cannot play this game or the options are wrong
    """
    found: Policy = policy_class(name)(game, agent=agent, **options)
    return found


def policy_options(name: str) -> tuple[str, ...]:
    """The options of a policy, or UnknownId."""
    asked = signature(policy_class(name)).parameters
    return tuple(option for option in asked if option not in ("game", "agent"))


def member(name: str, game: Game, **options: Any) -> Member:
    """A policy of a name as one of the policies that play games side by side; see `policy` for options and errors."""
    found: Member = policy_class(name).member(game, **options)
    return found


def compiled(name: str, game: Game, **options: Any) -> Compiled:
    """A policy of a name as a kernel for this game, see `momagames.engine.policies`; options and errors as of `policy`."""
    found = member(name, game, **options).kernel
    assert found is not None
    return found


def is_policy(name: str) -> bool:
    """Whether there is a policy of this name, or the name is that of a checkpoint."""
    return name in POLICIES or name.endswith(CHECKPOINT)


def policy_class(name: str) -> Any:
    """The class of a policy by its name, or by the path of a checkpoint of training; or UnknownId."""
    if name.endswith(CHECKPOINT):
        from momagames.baselines.moppo.checkpoint_policy import make_policy_class

        return make_policy_class(Path(name))
    return _find("policy", name, POLICIES)


def _own(name: str) -> type[Method]:
    from momagames.baselines.base import Method

    chosen = found(name)
    if not isinstance(chosen, type) or not issubclass(chosen, Method):
        raise UnknownId(f"{name!r} is no subclass of momagames.baselines.base.Method")
    return chosen


def _find(kind: str, name: str, table: dict[str, str]) -> Any:
    if name not in table:
        own = ", and your own as 'module:class'" if kind == "method" else ", and checkpoints of training (.npz)"
        raise UnknownId(f"no {kind} {name!r}; there are {one_of(table)}{own}{nearest(name, table)}")
    module, _, attribute = table[name].partition(":")
    return getattr(import_module(module), attribute)
