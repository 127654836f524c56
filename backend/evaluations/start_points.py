"""Start sets of evaluations: how a request names one, and how a worker gets it."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Evaluation, Job, StartSet
from backend.errors import FieldError, Invalid, NotFound
from backend.start_sets.service import find_start_set, list_start_sets
from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.starts import MOST_STARTS
from workers.contract.worker_api import OfferedStarts


def missing_start_sets(session: Session, env: str, protocol: str) -> str | None:
    """Return a sentence if the protocol needs start points and the game has none, or else None."""
    player = PROTOCOLS[protocol].starts_from
    if player is None or list_start_sets(session, env, player):
        return None
    return f"{protocol} begins at start points, and {_none_yet(env, protocol)}"


def find_chosen_start_set(
    session: Session, env: str, protocol: str, number: int | None, episodes: int | None
) -> StartSet | None:
    """Return the start set that a request names, or None if the protocol needs none.

    Raise Invalid if the set does not fit the game and the protocol.
    """
    player = PROTOCOLS[protocol].starts_from
    if player is None:
        if number is not None:
            raise _unfit(f"{protocol} uses no start points: omit this, or use human-starts or agent-starts")
        return None
    if number is None:
        raise _unfit(f"{protocol} needs a set of start points: {_choice(session, env, protocol)}")
    # Lock it so that it is not deleted in the meantime.
    stored = session.get(StartSet, number, with_for_update=True)
    if stored is None:
        raise _unfit(f"there is no such set: {_choice(session, env, protocol)}")
    if (stored.env, stored.player) != (env, player):
        other = f"{stored.player}-starts in {ENVIRONMENTS[stored.env].title}"
        raise _unfit(f"{stored.name!r} is for {other}: {_choice(session, env, protocol)}")
    if stored.points > MOST_STARTS:
        # An earlier version allowed larger sets.
        many = f"{stored.name!r} has {stored.points:,} start points, and an evaluation plays at most {MOST_STARTS:,}"
        raise _unfit(f"{many}: export it, and import a part of it")
    if episodes is not None and episodes > stored.points:
        few = f"{stored.name!r} has {stored.points} start points, and an episode begins at each"
        raise Invalid(FieldError(field="episodes", message=f"{few}: request at most as many episodes"))
    return stored


def offer_start_set(session: Session, job: Job) -> OfferedStarts | None:
    """Return the start set that a worker must download for a job, or None if it needs none."""
    if (number := _start_set_id(session, job)) is None:
        return None
    stored = find_start_set(session, number)
    return OfferedStarts(sha256=stored.sha256, bytes=stored.bytes)


def start_set_of_job(session: Session, job: Job) -> StartSet:
    """Return the start set of a job's evaluation with its points. Raise NotFound if the job needs none."""
    if (number := _start_set_id(session, job)) is None:
        raise NotFound(f"Job {job.id} has no start points.")
    return find_start_set(session, number, content=True)


def _start_set_id(session: Session, job: Job) -> int | None:
    return session.scalar(select(Evaluation.start_set_id).where(Evaluation.job_id == job.id))


def _choice(session: Session, env: str, protocol: str) -> str:
    """Return a hint with the available sets."""
    sets = [f"{stored.id} ({stored.name})" for stored in list_start_sets(session, env, PROTOCOLS[protocol].starts_from)]
    return f"use {' or '.join(sets[:5])}" if sets else _none_yet(env, protocol)


def _none_yet(env: str, protocol: str) -> str:
    title = ENVIRONMENTS[env].title
    whose = "a person's" if PROTOCOLS[protocol].starts_from == "human" else "an agent's"
    return (
        f"there are none of {whose} play of {title} yet: import a set on the page of {title}, or POST it to /start-sets"
    )


def _unfit(message: str) -> Invalid:
    return Invalid(FieldError(field="start_set", message=message))
