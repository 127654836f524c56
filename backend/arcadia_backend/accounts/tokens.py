"""Access tokens: hashed, named, expiring and revocable, for people, workers and single attempts."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from arcadia_backend.accounts.passwords import digest_of, new_secret
from arcadia_backend.accounts.roles import forget_credentials, forget_now, is_valid, scope_of
from arcadia_backend.accounts.sign_in import refuse_logins, use_host_code
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.scope import acting_as
from arcadia_backend.database.tables import AccessToken, Person
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound

TokenScope = Literal["read", "write", "log", "worker"]
SCOPES: tuple[TokenScope, ...] = ("read", "write", "log", "worker")
# Lets scanners of repositories recognize a leaked token.
PREFIX = "arcadia_"
WORKER: tuple[TokenScope, ...] = ("worker",)
MAX_TOKENS = 200
# How often the last use is stored, to keep reads free of writes.
USE_INTERVAL = timedelta(minutes=5)
# Attempts last for days. Each ends its token.
ATTEMPT_LIFETIME = timedelta(days=30)
# Tokens stay listed for this time after they end.
KEPT_AFTER_END = timedelta(days=30)


@dataclass(frozen=True)
class NewToken:
    """A token with its secret, which is shown once."""

    token: AccessToken
    secret: str


def token_of(session: Session, secret: str) -> AccessToken | None:
    """Return the valid token with a secret, or None. Callers check that its person is enabled."""
    if not secret.startswith(PREFIX):
        return None
    token = session.scalar(select(AccessToken).where(AccessToken.digest == digest_of(secret)))
    return token if token is not None and is_valid(token.expires_at, token.revoked_at, utc_now()) else None


def check_days(days: int | None, limit: int) -> int | None:
    """Return the lifetime of a new token in days. Raise Invalid if it is longer than ARCADIA_MAX_TOKEN_DAYS allows."""
    if limit and (days is None or days > limit):
        raise Invalid(FieldError(field="days", message=f"must be at most {limit}, the limit of this server"))
    return days


def create(
    session: Session,
    name: str,
    scopes: Collection[TokenScope],
    *,
    person_id: int | None = None,
    project_id: int | None = None,
    expires_at: datetime | None = None,
) -> NewToken:
    """Create a token. Raise Conflict if the person has too many."""
    if person_id is not None and len(list_tokens(session, person_id)) >= MAX_TOKENS:
        raise Conflict(f"You have {MAX_TOKENS} tokens, which is the limit. Revoke some first.")
    secret = PREFIX + new_secret()
    token = AccessToken(
        person_id=person_id,
        name=name,
        digest=digest_of(secret),
        scopes=[scope for scope in SCOPES if scope in scopes],
        project_id=project_id,
        expires_at=expires_at,
    )
    session.add(token)
    session.flush()
    return NewToken(token, secret)


def create_for_attempt(
    session: Session, attempt: int, *, run_id: int | None = None, job_id: int | None = None, lifetime: timedelta
) -> NewToken:
    """Create the token of a worker's attempt, and revoke those of earlier attempts at the same run or job."""
    same = AccessToken.run_id == run_id if job_id is None else AccessToken.job_id == job_id
    session.execute(delete(AccessToken).where(AccessToken.attempt.is_not(None), same))
    new = create(
        session,
        f"Attempt {attempt} at {f'run {run_id}' if job_id is None else f'job {job_id}'}",
        WORKER,
        expires_at=utc_now() + lifetime,
    )
    new.token.run_id, new.token.job_id, new.token.attempt = run_id, job_id, attempt
    session.flush()
    after_commit(session, forget_now)
    return new


def create_for_host(session: Session, code: str, name: str, address: str, max_days: int) -> NewToken:
    """Create the token of a host for its code. It stays valid when the person who created the code leaves."""
    person = use_host_code(session, code)
    # The person invited the host, so the audit log names them.
    with acting_as(scope_of(session, person, address=address)):
        return create(session, name, WORKER, expires_at=utc_now() + timedelta(days=max_days) if max_days else None)


def new_attempt_token(session: Session, attempt: int, *, run_id: int | None = None, job_id: int | None = None) -> str:
    """Return the secret of a new token for a worker's attempt."""
    return create_for_attempt(session, attempt, run_id=run_id, job_id=job_id, lifetime=ATTEMPT_LIFETIME).secret


def end_attempt_tokens(session: Session, attempt: int, *, run_id: int | None = None, job_id: int | None = None) -> None:
    """Delete the token of an attempt that has ended."""
    same = AccessToken.run_id == run_id if job_id is None else AccessToken.job_id == job_id
    ended = session.execute(delete(AccessToken).where(AccessToken.attempt == attempt, same).returning(AccessToken.id))
    if ended.first() is not None:
        after_commit(session, forget_now)


def list_tokens(session: Session, person_id: int | None = None) -> Sequence[AccessToken]:
    """Return the tokens of a person, or of everyone except attempts. The newest come first."""
    query = select(AccessToken).where(AccessToken.attempt.is_(None))
    if person_id is not None:
        query = query.where(AccessToken.person_id == person_id)
    return session.scalars(query.order_by(AccessToken.id.desc())).all()


def find_token(session: Session, token_id: int, person_id: int | None) -> AccessToken:
    """Return a token of a person, or of anyone. Raise NotFound if there is none."""
    token = session.get(AccessToken, token_id)
    if token is None or token.attempt is not None or (person_id is not None and token.person_id != person_id):
        raise NotFound(f"There is no token {token_id}.")
    return token


def revoke(session: Session, token: AccessToken) -> None:
    """Revoke a token."""
    token.revoked_at = token.revoked_at or utc_now()
    session.flush()
    forget_credentials(session)


def revoke_all(session: Session, person: Person) -> None:
    """Revoke the tokens of a person, also those that terminals would collect."""
    for token in list_tokens(session, person.id):
        if is_valid(token.expires_at, token.revoked_at, utc_now()):
            revoke(session, token)
    refuse_logins(session, person)


def note_use(database: Database, token: AccessToken, address: str) -> None:
    """Store when and from where a token was used, unless that is recent."""
    now = utc_now()
    is_recent = token.last_used_at is not None and now - token.last_used_at < USE_INTERVAL
    if is_recent and token.last_address == address:
        return
    with database.write() as session:
        stored = session.get(AccessToken, token.id)
        if stored is not None:
            stored.last_used_at, stored.last_address = now, address[:100]


def delete_ended(session: Session, now: datetime) -> None:
    """Delete tokens that ended a month ago."""
    ended = now - KEPT_AFTER_END
    session.execute(delete(AccessToken).where(or_(AccessToken.expires_at < ended, AccessToken.revoked_at < ended)))
