"""Texts and numbers that every database can store: no NUL, no lone surrogate, no integer above 64 bits."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

# Longer texts are cut. A message keeps its start, and a traceback its end.
LONGEST_MESSAGE = 10_000
LONGEST_TRACEBACK = 100_000

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(value: object) -> object:
    """Replace the characters of a text that PostgreSQL or UTF-8 cannot store."""
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value


def _whole(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("boolean_number", "Input should be a number, not true or false")
    return value


STORABLE = BeforeValidator(storable)
NO_BOOLEAN = BeforeValidator(_whole)

# Rejects 0 and "yes".
Truth = Annotated[bool, Field(strict=True)]
Text = Annotated[str, STORABLE]
# The limit comes before STORABLE, so that its error message counts characters, not items.
ShortText = Annotated[str, Field(max_length=100), STORABLE]
Message = Annotated[str, STORABLE, AfterValidator(lambda text: text[:LONGEST_MESSAGE])]
Traceback = Annotated[str, STORABLE, AfterValidator(lambda text: text[-LONGEST_TRACEBACK:])]

# The largest integer that JavaScript represents exactly.
MAX_ID = 2**53
# The largest integers of a database.
LARGEST, LARGEST_SMALL = 2**63 - 1, 2**31 - 1
Count = Annotated[int, Field(ge=0, le=LARGEST), NO_BOOLEAN]
SmallCount = Annotated[int, Field(ge=0, le=LARGEST_SMALL), NO_BOOLEAN]
Ordinal = Annotated[int, Field(ge=1, le=LARGEST_SMALL), NO_BOOLEAN]
Id = Annotated[int, Field(ge=1, le=MAX_ID), NO_BOOLEAN]
Seed = Annotated[int, Field(ge=0, le=MAX_ID), NO_BOOLEAN]
Integer = Annotated[int, Field(ge=-LARGEST - 1, le=LARGEST), NO_BOOLEAN]
