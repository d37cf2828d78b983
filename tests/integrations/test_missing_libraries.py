"""Without its library, a module of an integration says what to install."""

import importlib
import pkgutil
import sys

import pytest

import momagames.integrations
from momagames.errors import MissingExtra

LIBRARIES = {
    "sb3": "stable_baselines3",
    "torchrl": "torchrl",
    "rllib": "ray",
    "benchmarl": "benchmarl",
    "textarena": "textarena",
    "verifiers": "verifiers",
}


def test_every_integration_is_listed():
    names = {module.name for module in pkgutil.iter_modules(momagames.integrations.__path__)}
    assert set(LIBRARIES) == names
    assert all(f"\n{name} " in (momagames.integrations.__doc__ or "") for name in names)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_named(name, monkeypatch):
    module = f"momagames.integrations.{name}"
    for one in [one for one in sys.modules if one == module or f"{one}.".startswith(f"{LIBRARIES[name]}.")]:
        monkeypatch.delitem(sys.modules, one)
    monkeypatch.setitem(sys.modules, LIBRARIES[name], None)
    with pytest.raises(MissingExtra, match=rf"{module} needs .*: pip install "):
        importlib.import_module(module)
