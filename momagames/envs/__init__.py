"""The games as modules, with the names of MOMAland where it has them.

    from momagames.envs import mo_samegame_v0
    from momagames.envs.samegame import mosame_game_v0    as in momaland.envs; also from momagames.envs itself

Each module has `env(**params)`, `raw_env(**params)` and `parallel_env(**params)`, see `momagames.make`. Each id has a module
of its scalar form too, such as `mo_samegame_scalar_v0`, see `momagames.environments.make_scalar`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from momagames import registry
from momagames.adapters.hosts import format_scalar_id
from momagames.environments import make, make_scalar
from momagames.errors import InvalidParameter
from momagames.games import MODULE_ALIASES, MODULE_ARGUMENTS


def _add_module(parent: ModuleType, name: str, doc: str) -> ModuleType:
    """Return the module of a package, which is created unless it exists."""
    path = f"{parent.__name__}.{name}"
    if path not in sys.modules:
        sys.modules[path] = ModuleType(path, doc)
        setattr(parent, name, sys.modules[path])
    return sys.modules[path]


def _add_environment(parent: ModuleType, name: str, id: str, make: Callable[..., Any] = make) -> None:
    module = _add_module(parent, name, f"{id} as a module: env(), raw_env() and parallel_env() take its parameters.")
    module.env = module.raw_env = partial(make, id, api="aec")  # type: ignore[attr-defined]
    module.parallel_env = partial(make, id, api="parallel")  # type: ignore[attr-defined]


def _make_renamed(id: str, **given: Any) -> Any:
    """Make an environment with the argument names of MOMAland. Raises InvalidParameter where both names are given."""
    names = MODULE_ARGUMENTS[id]
    for name, new in names.items():
        if name in given and new in given:
            raise InvalidParameter(f"{id}: expected either {name!r} or {new!r}, which are the same parameter, got both")
    return make(id, **{new: value for name, value in given.items() if (new := names.get(name, name)) is not None})


_here = sys.modules[__name__]
_names = {id.replace("-", "_"): id for id in registry.ids()}
for _path, _id in MODULE_ALIASES.items():
    _folder, _, _name = _path.partition(".")
    _package = _add_module(_here, _folder, f"Environments of momaland.envs.{_folder}.")
    _package.__path__ = []
    for _parent in (_package, _here):
        _add_environment(_parent, _name, _id, _make_renamed if _id in MODULE_ARGUMENTS else make)
for _name, _id in _names.items():
    _add_environment(_here, _name, _id)
_scalar_names = {format_scalar_id(id).replace("-", "_"): id for id in registry.ids()}
for _name, _id in _scalar_names.items():
    _add_environment(_here, _name, _id, make_scalar)

__all__ = sorted([*_names, *(_path.partition(".")[2] for _path in MODULE_ALIASES), *_scalar_names])
