"""Which start points an evaluation begins at, and how they get to its worker."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Evaluation, Job, StartSet
from backend.errors import FieldError, Invalid, NotFound
from backend.start_sets.service import find_start_set, listed
from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.starts import MOST_STARTS
from workers.contract.worker_api import OfferedStarts


def no_starts_because(session: Session, env: str, protocol: str) -> str | None:
    """Say that a protocol needs start points that the game has none of; None if it has some, or needs none."""
    player = PROTOCOLS[protocol].starts_from
    if player is None or listed(session, env, player):
        return None
    return f"{protocol} begins at start points, and {_none_yet(env, protocol)}"


def wanted_starts(
    session: Session, env: str, protocol: str, number: int | None, episodes: int | None
) -> StartSet | None:
    """The set of start points that a user means for a game and a protocol; none for a protocol without."""
    player = PROTOCOLS[protocol].starts_from
    if player is None:
        if number is not None:
            raise _unfit(f"{protocol} has no start points: leave this out, or use human-starts or agent-starts")
        return None
    if number is None:
        raise _unfit(f"{protocol} needs a set of start points: {_choice(session, env, protocol)}")
    # Locked, so that it is not removed meanwhile.
    stored = session.get(StartSet, number, with_for_update=True)
    if stored is None:
        raise _unfit(f"there is no such set: {_choice(session, env, protocol)}")
    if (stored.env, stored.player) != (env, player):
        other = f"{stored.player}-starts in {ENVIRONMENTS[stored.env].title}"
        raise _unfit(f"{stored.name!r} is for {other}: {_choice(session, env, protocol)}")
    if stored.points > MOST_STARTS:
        # Sets of before are kept, to be read and exported.
        many = f"{stored.name!r} has {stored.points:,} start points, and an evaluation plays at most {MOST_STARTS:,}"
        raise _unfit(f"{many}: export it, and import a part of it")
    if episodes is not None and episodes > stored.points:
        few = f"{stored.name!r} has {stored.points} start points, and an episode begins at each"
        raise Invalid(FieldError(field="episodes", message=f"{few}: ask for no more"))
    return stored


def offered_starts(session: Session, job: Job) -> OfferedStarts | None:
    """The start points that a worker fetches for a job; most need none."""
    if (number := _number_of(session, job)) is None:
        return None
    stored = find_start_set(session, number)
    return OfferedStarts(sha256=stored.sha256, bytes=stored.bytes)


def starts_of(session: Session, job: Job) -> StartSet:
    """The set that a job's evaluation begins at, with its points; it is kept until the job has ended."""
    if (number := _number_of(session, job)) is None:
        raise NotFound(f"Job {job.id} begins at no start points.")
    return find_start_set(session, number, content=True)


def _number_of(session: Session, job: Job) -> int | None:
    return session.scalar(select(Evaluation.start_set_id).where(Evaluation.job_id == job.id))


def _choice(session: Session, env: str, protocol: str) -> str:
    """Name the sets to choose from."""
    sets = [f"{stored.id} ({stored.name})" for stored in listed(session, env, PROTOCOLS[protocol].starts_from)]
    return f"use {' or '.join(sets[:5])}" if sets else _none_yet(env, protocol)


def _none_yet(env: str, protocol: str) -> str:
    title = ENVIRONMENTS[env].title
    whose = "a person's" if PROTOCOLS[protocol].starts_from == "human" else "an agent's"
    return (
        f"there are none of {whose} play of {title} yet: import a set on the page of {title}, or POST it to /start-sets"
    )


def _unfit(message: str) -> Invalid:
    return Invalid(FieldError(field="start_set", message=message))
