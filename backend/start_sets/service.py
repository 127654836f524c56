"""Sets of start points: kept, found, removed. Every function with a session works inside the caller's transaction."""

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

# Of one game; each takes up to some megabytes of the database.
MOST_SETS = 100

PROTOCOL_OF: dict[StartPlayer, str] = {
    protocol.starts_from: protocol.name for protocol in PROTOCOLS.values() if protocol.starts_from
}


def made(name: str, points: StartSetFile) -> StartSet:
    """Lay a set out as it is stored, before the transaction that keeps it: it may be of megabytes."""
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


def keep(session: Session, stored: StartSet) -> StartSet:
    """Store a set under a name that no other set of its game has."""
    title, name = ENVIRONMENTS[stored.env].title, stored.name
    if (twin := session.scalar(select(StartSet.name).where(StartSet.sha256 == stored.sha256))) is not None:
        raise Conflict(f"These points are stored already, as {twin!r}.")
    names = session.scalars(select(StartSet.name).where(StartSet.env == stored.env)).all()
    if name in names:
        raise Conflict(f"{title} has start points called {name!r} already: choose another name.")
    if len(names) >= MOST_SETS:
        raise Conflict(f"{title} has {MOST_SETS} sets of start points, the most that are kept. Remove one before.")
    session.add(stored)
    try:
        session.flush()
    except IntegrityError as error:
        raise Conflict(f"These points, or others called {name!r}, are being stored at this moment.") from error
    return stored


def find_start_set(session: Session, number: int, *, lock: bool = False, content: bool = False) -> StartSet:
    """A set by its number, or a problem that says there is none; its points are read where they are wanted."""
    query = select(StartSet).where(StartSet.id == number)
    query = query.with_for_update() if lock else query
    found = session.scalar(query.options(undefer(StartSet.content)) if content else query)
    if found is None:
        raise NotFound(f"There is no set of start points {number}.")
    return found


def listed(session: Session, env: str | None, player: StartPlayer | None = None) -> Sequence[StartSet]:
    """The sets, of one game and one kind of player where these are given, the newest first."""
    query = select(StartSet).order_by(StartSet.id.desc())
    query = query.where(StartSet.env == env) if env is not None else query
    return session.scalars(query.where(StartSet.player == player) if player is not None else query).all()


def remove(session: Session, stored: StartSet) -> None:
    """Remove a set, unless an evaluation is yet to begin its episodes there; what has ended keeps its scores."""
    query = select(func.count()).select_from(Evaluation).join(Job, Job.id == Evaluation.job_id)
    waiting = session.scalar(query.where(Evaluation.start_set_id == stored.id, Job.state.in_(UNFINISHED))) or 0
    if waiting:
        them = "An evaluation begins" if waiting == 1 else f"{waiting} evaluations begin"
        raise Conflict(
            f"{them} at the points of {stored.name!r} and {'has' if waiting == 1 else 'have'} not ended. "
            "Cancel first, or wait until that is done."
        )
    session.delete(stored)
    session.flush()


def shown(stored: StartSet) -> schemas.StartSet:
    """A set as the API shows it."""
    same = (name for name in schemas.StartSet.model_fields if name != "protocol")
    return schemas.StartSet.model_validate(
        {name: getattr(stored, name) for name in same} | {"protocol": PROTOCOL_OF[stored.player]}
    )


def noted(stored: StartSet) -> dict[str, Any]:
    """What an evaluation keeps of a set, which may be removed later."""
    return {name: getattr(stored, name) for name in ("name", "player", "source", "points", "sha256")}


def used(session: Session, evaluations: Sequence[Evaluation]) -> dict[int, schemas.UsedStarts]:
    """The sets of those of these evaluations that have one, by the evaluation's number."""
    wanted = {row.start_set_id for row in evaluations if row.start_set_id is not None}
    kept = set(session.scalars(select(StartSet.id).where(StartSet.id.in_(wanted)))) if wanted else set()
    return {
        row.id: schemas.UsedStarts(id=row.start_set_id, kept=row.start_set_id in kept, **row.starts)
        for row in evaluations
        if row.start_set_id is not None and row.starts is not None
    }


def file_name(stored: StartSet) -> str:
    """Name the file of a set, as pong-human-starts-first-games.json."""
    words = (ENVIRONMENTS[stored.env].title, PROTOCOL_OF[stored.player], stored.name)
    parts = (re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words)
    return "-".join(part for part in parts if part) + ".json"
