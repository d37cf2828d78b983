"""Environments by id or by Python path."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium

from momagames.errors import InvalidParameter, MissingExtra, MomagamesError, TooLarge, UnknownId
from momagames.files.reading import check_files
from momagames.plugins import USER, Origin, list_texts, resolve_name

OPTIONAL_REGISTRIES = ("mo_gymnasium", "momagames")  # packages that register environments when they are imported


def make_environment(id: str, params: dict[str, Any] | None = None, origin: Origin = USER) -> gymnasium.Env[Any, Any]:
    """Return an environment of Gymnasium's registry, or of a function or class "module:name".

    origin    where the names come from: a file of data may not name code, nor files elsewhere
    Raises    UnknownId, InvalidParameter if it cannot be made, MissingExtra if a package is missing; InvalidFile for what the
              origin may not say
    """
    given = params or {}
    for text in list_texts(given):
        origin.check_name(f"parameter of {id}", text)
        if "/" in text or "\\" in text:
            origin.check_file(f"parameter of {id}", text)
    if ":" in id:
        make = resolve_name("environment", id, {}, origin)
    else:
        for name in OPTIONAL_REGISTRIES:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        make = _make_registered(id)
    try:
        with check_files(None if origin.allows_all else partial(origin.check_file, f"parameter of {id}")):
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


def check_environment_class(id: str, origin: Origin) -> None:
    """Raise InvalidParameter for a Python path of anything but a class of environments; files may not call functions.

    Raises    InvalidFile for a Python path that the origin may not say
    """
    if ":" in id:
        found = resolve_name("environment", id, {}, origin)
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
