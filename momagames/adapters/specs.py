"""Specs of Gymnasium environments that JSON can hold: arrays, paths and functions that have a name become plain data."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec, WrapperSpec

from momagames.errors import InvalidParameter, invalid_value


class DataSpec(EnvSpec):  # type: ignore[misc]
    """A spec with `to_json` for arguments of environments and wrappers that are not JSON by themselves."""

    @classmethod
    def from_spec(cls, spec: EnvSpec, *wrappers: WrapperSpec) -> DataSpec:
        """Return a spec with further wrappers, outermost last."""
        values = {field.name: getattr(spec, field.name) for field in fields(EnvSpec) if field.init}
        return cls(**{**values, "additional_wrappers": (*spec.additional_wrappers, *wrappers)})

    def to_json(self) -> str:
        """Return the spec as JSON, for `EnvSpec.from_json`. Raises InvalidParameter for an argument that is not data."""
        wrappers = tuple(
            replace(wrapper, kwargs=wrapper.kwargs and encode_arguments(wrapper.name, wrapper.kwargs, _takes_names(wrapper)))
            for wrapper in self.additional_wrappers
        )
        kwargs = encode_arguments(self.id, self.kwargs, functions=False)
        text: str = EnvSpec.to_json(replace(DataSpec.from_spec(self), kwargs=kwargs, additional_wrappers=wrappers))
        return text


def _takes_names(wrapper: WrapperSpec) -> bool:
    return wrapper.entry_point.startswith("momagames.wrappers:")


def encode_arguments(what: str, arguments: Mapping[str, Any], functions: bool) -> dict[str, Any]:
    """Return the arguments of an environment or wrapper as JSON-serializable data; InvalidParameter for one that is not data.

    functions   a function becomes its name, "module:name"
    """
    expected = "numbers, texts, arrays or paths" + functions * ", or a function that can be imported as module:name"
    encoded = {}
    for name, value in arguments.items():
        encoded[name] = _encode(value, functions)
        try:
            json.dumps(encoded[name])
        except (TypeError, ValueError):
            raise InvalidParameter(invalid_value(f"to_json() of {what}: {name}", value, expected)) from None
    return encoded


def _encode(value: Any, functions: bool) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {name: _encode(one, functions) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encode(one, functions) for one in value]
    return name_function(value) if functions and callable(value) else value


def name_function(function: Any) -> Any:
    """Return "module:name" for a function that can be imported by this name, else the function."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    is_found = module != "__main__" and getattr(sys.modules.get(module or ""), name, None) is function
    return f"{module}:{name}" if is_found else function
