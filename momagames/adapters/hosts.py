"""Our ids in the registries of Gymnasium (and so of MO-Gymnasium) and PettingZoo, under the namespace momagames/.

`import momagames` imports neither host. A host that is already there gets the ids at once; one that is imported later
gets them at the end of its import.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from momagames import registry

NAMESPACE = "momagames"


def announce() -> None:
    """Make every id, present and future, known to the hosts."""
    registry.add_listener(lambda id: _tell([id]))
    _tell(registry.registered_ids())
    sys.meta_path.insert(0, _AfterImport())  # type: ignore[arg-type]


def _tell(ids: Sequence[str]) -> None:
    for host, tell in HOSTS.items():
        module = sys.modules.get(host)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            for id in ids:
                tell(id)


def tell_gymnasium(id: str) -> None:
    """Gymnasium's registry: gymnasium.make("momagames/mo-samegame-v0"), and mo_gymnasium.make the same."""
    from gymnasium.envs import registration

    if f"{NAMESPACE}/{id}" not in registration.registry:
        registration.register(
            f"{NAMESPACE}/{id}",
            entry_point="momagames.adapters.gymnasium:make",
            vector_entry_point="momagames.adapters.hosts:make_vector",
            kwargs={"id": id},
            disable_env_checker=True,  # it asks for scalar rewards
            order_enforce=False,  # our doors do that themselves
        )


def tell_pettingzoo(id: str) -> None:
    """PettingZoo's registry (1.27 and later): pettingzoo.make("aec" or "parallel", "momagames/mo-samegame-v0")."""
    import pettingzoo

    for api in ("aec", "parallel"):
        if hasattr(pettingzoo, "register") and f"{NAMESPACE}/{id}" not in getattr(pettingzoo, f"{api}_registry"):
            pettingzoo.register(api, f"{NAMESPACE}/{id}", entry_point=f"momagames.adapters.{api}:make", kwargs={"id": id})


def make_vector(id: str, num_envs: int = 1, **options: Any) -> Any:
    """For gymnasium.make_vec(..., vectorization_mode="vector_entry_point")."""
    return registry.make_vec(id, num_envs, **options)


HOSTS = {"gymnasium": tell_gymnasium, "pettingzoo": tell_pettingzoo}


class _AfterImport:
    """Finds the hosts as the normal path does, and tells them our ids when their import is done."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in HOSTS:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, name)  # type: ignore[assignment]
        return spec


class _Telling:
    """The loader of a host; not derived from importlib.abc, which is slow to import."""

    def __init__(self, loader: Any, host: str) -> None:
        self._loader, self._host = loader, host

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__.loader = module.__loader__ = self._loader  # type: ignore[union-attr]
        self._loader.exec_module(module)
        for id in registry.registered_ids():
            HOSTS[self._host](id)
