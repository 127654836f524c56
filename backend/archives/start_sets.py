"""Start sets of imported evaluations: found by their content, or stored."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives.opening import GUARDS, BadArchive
from backend.database.tables import StartSet
from backend.start_sets.service import build_start_set
from workers.contract.protocols.starts import StartSetFile

MAX_NAME = 100


def restore_start_set(session: Session, values: Mapping[str, Any]) -> int:
    """Return the id of a start set with this content. Store it under a free name if there is none."""
    try:
        points = StartSetFile.model_validate_json(values["content"])
    except ValidationError as error:
        raise GUARDS.invalid(f"The start set {values['name'][:100]!r}", error) from None
    if points.sha256 != values["sha256"]:
        raise BadArchive(f"The start set {values['name'][:100]!r} does not have its hash.")
    found = session.scalar(select(StartSet.id).where(StartSet.sha256 == points.sha256))
    if found is not None:
        return found
    names = set(session.scalars(select(StartSet.name).where(StartSet.env == points.env)))
    stored = build_start_set(next(name for name in _names(values["name"]) if name not in names), points)
    stored.created_at = values["created_at"]
    session.add(stored)
    session.flush()
    return stored.id


def _names(name: str) -> Iterator[str]:
    """Yield the name, then the same with a number."""
    yield name
    number = 2
    while True:
        yield f"{name[: MAX_NAME - 12]} ({number})"
        number += 1
