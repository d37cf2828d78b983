"""Environments by id or by Python path."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any

import gymnasium

from momagames.errors import InvalidParameter, MissingExtra, MomagamesError, TooLarge, UnknownId
from momagames.plugins import is_python_path, load_object

OPTIONAL_REGISTRIES = ("mo_gymnasium", "momagames")  # packages that register environments when they are imported


def make_environment(id: str, params: dict[str, Any] | None = None) -> gymnasium.Env[Any, Any]:
    """Return an environment of Gymnasium's registry, or of a function or class "module:name".

    Raises    UnknownId, InvalidParameter if it cannot be made, MissingExtra if a package is missing
    """
    given = params or {}
    if is_python_path(id):
        make = load_object(id)
    else:
        for name in OPTIONAL_REGISTRIES:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        make = _make_registered(id)
    try:
        env = make(**given)
    except MomagamesError:
        raise
    except ImportError as error:
        raise MissingExtra(f"{id}: {error}") from None
    except Exception as error:  # whatever a constructor raises for its parameters
        raise InvalidParameter(f"{id}: {error}") from error
    if not isinstance(env, gymnasium.Env):
        raise InvalidParameter(f"{id}: made a {type(env).__name__}: expected a gymnasium.Env")
    return env


@contextlib.contextmanager
def name_environment_errors(place: str) -> Iterator[None]:
    """Raise InvalidParameter for whatever the code of an environment raises in this block, and TooLarge for lack of memory."""
    try:
        yield
    except MomagamesError:
        raise
    except MemoryError:
        raise TooLarge(f"{place}: there is no memory left for a state of the environment") from None
    except Exception as error:
        raise InvalidParameter(f"{place}: the environment raised {type(error).__name__}: {error}") from error


def check_environment_class(id: str) -> None:
    """Raise InvalidParameter for a Python path of anything but a class of environments; files may not call functions."""
    if is_python_path(id):
        found = load_object(id)
        if not (isinstance(found, type) and issubclass(found, gymnasium.Env)):
            raise InvalidParameter(f"invalid id={id!r}: expected an id of Gymnasium's registry, or a subclass of gymnasium.Env")


def _make_registered(id: str) -> Any:
    try:
        gymnasium.spec(id)
    except gymnasium.error.Error as error:
        missing = "" if importlib.util.find_spec("mo_gymnasium") else "; the extra mo-gymnasium is not installed"
        if f"momagames/{id}" in gymnasium.registry:
            missing = f"; did you mean 'momagames/{id}'?"
        raise UnknownId(f"{error}{missing}") from None
    return lambda **given: gymnasium.make(id, disable_env_checker=True, **given)
