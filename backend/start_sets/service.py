"""Start sets: store, find and delete. Functions with a session run in the caller's transaction."""

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, undefer

from backend.database.tables import Evaluation, Job, StartSet
from backend.errors import Conflict, NotFound
from backend.jobs.service import UNFINISHED
from backend.start_sets import schemas
from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.protocol import StartPlayer
from workers.contract.protocols.starts import StartSetFile

# Limit start sets per game, since each takes up to some megabytes of the database.
MAX_SETS = 100

PROTOCOL_OF: dict[StartPlayer, str] = {
    protocol.starts_from: protocol.name for protocol in PROTOCOLS.values() if protocol.starts_from
}


def build_start_set(name: str, points: StartSetFile) -> StartSet:
    """Build the row of a start set. Call this before the transaction, since the set may be large."""
    content = points.content
    return StartSet(
        env=points.env,
        name=name,
        player=points.player,
        source=points.source,
        emulator=points.emulator,
        points=len(points.starts),
        sha256=points.sha256,
        bytes=len(content),
        content=content.decode(),
    )


def store(session: Session, stored: StartSet) -> StartSet:
    """Store a start set. Raise Conflict if the game already has its name or its points."""
    if (duplicate := session.scalar(select(StartSet.name).where(StartSet.sha256 == stored.sha256))) is not None:
        raise Conflict(f"These points are already stored as {duplicate!r}.")
    check_room(session, stored.env, stored.name)
    session.add(stored)
    try:
        session.flush()
    except IntegrityError as error:
        raise Conflict(f"The same points, or another start set named {stored.name!r}, were stored just now.") from error
    return stored


def check_room(session: Session, env: str, name: str) -> None:
    """Raise Conflict if the game already has a start set of this name, or too many."""
    title = ENVIRONMENTS[env].title
    names = session.scalars(select(StartSet.name).where(StartSet.env == env)).all()
    if name in names:
        raise Conflict(f"{title} already has a start set named {name!r}. Choose another name.")
    if len(names) >= MAX_SETS:
        raise Conflict(f"{title} already has {MAX_SETS} start sets, which is the limit. Delete one first.")


def find_start_set(session: Session, start_set_id: int, *, lock: bool = False, content: bool = False) -> StartSet:
    """Return a start set. Raise NotFound if it does not exist. With `content`, load its points too."""
    query = select(StartSet).where(StartSet.id == start_set_id)
    query = query.with_for_update() if lock else query
    found = session.scalar(query.options(undefer(StartSet.content)) if content else query)
    if found is None:
        raise NotFound(f"There is no start set {start_set_id}.")
    return found


def list_start_sets(session: Session, env: str | None, player: StartPlayer | None = None) -> Sequence[StartSet]:
    """Return the start sets, newest first. Filter by game and by player if these are given."""
    query = select(StartSet).order_by(StartSet.id.desc())
    query = query.where(StartSet.env == env) if env is not None else query
    return session.scalars(query.where(StartSet.player == player) if player is not None else query).all()


def remove(session: Session, stored: StartSet) -> None:
    """Delete a start set. Raise Conflict if an unfinished evaluation uses it."""
    query = select(func.count()).select_from(Evaluation).join(Job, Job.id == Evaluation.job_id)
    unfinished = session.scalar(query.where(Evaluation.start_set_id == stored.id, Job.state.in_(UNFINISHED))) or 0
    if unfinished:
        users = "An unfinished evaluation uses" if unfinished == 1 else f"{unfinished} unfinished evaluations use"
        raise Conflict(f"{users} {stored.name!r}. Cancel first, or wait until it is done.")
    session.delete(stored)
    session.flush()


def to_schema(stored: StartSet) -> schemas.StartSet:
    """Return a start set as a schema of the API."""
    same = (name for name in schemas.StartSet.model_fields if name != "protocol")
    return schemas.StartSet.model_validate(
        {name: getattr(stored, name) for name in same} | {"protocol": PROTOCOL_OF[stored.player]}
    )


def to_reference(stored: StartSet) -> dict[str, Any]:
    """Return the part of a start set that an evaluation stores, since the set may be deleted later."""
    return {name: getattr(stored, name) for name in ("name", "player", "source", "points", "sha256")}


def used_start_sets(session: Session, evaluations: Sequence[Evaluation]) -> dict[int, schemas.UsedStarts]:
    """Return the start set of each evaluation that has one, by evaluation id."""
    ids = {row.start_set_id for row in evaluations if row.start_set_id is not None}
    kept = set(session.scalars(select(StartSet.id).where(StartSet.id.in_(ids)))) if ids else set()
    return {
        row.id: schemas.UsedStarts(id=row.start_set_id, kept=row.start_set_id in kept, **row.starts)
        for row in evaluations
        if row.start_set_id is not None and row.starts is not None
    }


def file_name(stored: StartSet) -> str:
    """Return the name of a set's file, for example pong-human-starts-first-games.json."""
    words = (ENVIRONMENTS[stored.env].title, PROTOCOL_OF[stored.player], stored.name)
    parts = (re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words)
    return "-".join(part for part in parts if part) + ".json"
