"""The games as modules, with the names of MOMAland where it has them: `from momagames.envs import mosame_game_v0`.

Each module has `env(**params)`, `raw_env(**params)` and `parallel_env(**params)`, see `momagames.make`.
"""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType

from momagames import registry
from momagames.environments import make
from momagames.games import MODULE_ALIASES


def _module(name: str, id: str) -> ModuleType:
    module = ModuleType(f"{__name__}.{name}", f"{id} as a module: env(), raw_env() and parallel_env() take its parameters.")
    module.env = module.raw_env = partial(make, id)  # type: ignore[attr-defined]
    module.parallel_env = partial(make, id, api="parallel")  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    return module


_names = {**{id.replace("-", "_"): id for id in registry.ids()}, **MODULE_ALIASES}
globals().update({name: _module(name, id) for name, id in _names.items()})
__all__ = sorted(_names)
