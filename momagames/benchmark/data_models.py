"""Base classes and types of fields of the data in suites, recipes and results."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from momagames.plugins import USER, Origin

UNLIMITED = 10_000_000.0  # seconds; four months

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=100)]  # also names a folder
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, le=UNLIMITED)]
Seeds = Annotated[tuple[Annotated[int, Field(ge=0, lt=2**63)], ...], Field(min_length=1)]


class FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NamingModel(FrozenModel):
    """A model that names methods, policies, environments or files; `origin` says which it may name.

    The origin is the context of the validation, as in `Suite.model_validate_json(text, context=Origin.of_file(path))`.
    """

    _origin: Origin = PrivateAttr(default=USER)

    def model_post_init(self, context: Any) -> None:
        if isinstance(context, Origin):
            self._origin = context

    @property
    def origin(self) -> Origin:
        return self._origin
