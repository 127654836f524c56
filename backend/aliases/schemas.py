"""Request and response models of the aliases API."""

import re
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from backend.errors import with_rule
from workers.contract.values import STORABLE, Id

MAX_NAME = 100
# A number would be an id of a checkpoint, so the first character is a letter.
NAME_PATTERN = with_rule(
    r"^[a-z][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*){0,3}$",
    "use lower-case letters, digits, dots, hyphens and underscores, in up to four parts such as pong/champion",
)
RESERVED = ("newest", "best")

AliasName = Annotated[
    str,
    StringConstraints(max_length=MAX_NAME, pattern=NAME_PATTERN),
    Field(description="Name, such as pong/champion: lower-case letters, digits and .-_ in up to four parts."),
]


def is_name(text: str) -> bool:
    """Return True if an alias can have this name."""
    return re.fullmatch(NAME_PATTERN, text) is not None and text not in RESERVED


Who = Annotated[str, StringConstraints(strip_whitespace=True, max_length=100), STORABLE]
Why = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000), STORABLE]


class SetAlias(BaseModel):
    """An alias and the checkpoint that it should point to."""

    model_config = ConfigDict(extra="forbid")

    name: AliasName
    checkpoint_id: Id
    who: Who | None = Field(
        default=None, description="Who changed it, for the history. Default: the address and kind of the client."
    )
    why: Why = Field(default="", description="Why it was changed, for the history.")


class AliasEntry(BaseModel):
    """A change of an alias."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    run_id: int | None
    run_name: str | None
    checkpoint_id: int | None = Field(description="Null if the alias was removed.")
    step: int | None
    who: str | None
    why: str
    changed_at: datetime


class Alias(AliasEntry):
    """An alias with its latest change."""

    available: bool = Field(description="Whether the checkpoint still has its file.")
