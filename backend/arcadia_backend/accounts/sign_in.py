"""Sessions of people in browsers, and one-time links."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from arcadia_backend.accounts import audit
from arcadia_backend.accounts.passwords import PasswordLimit, WrongPassword, digest_of, matches, new_secret
from arcadia_backend.accounts.roles import forget_credentials, is_enabled, is_valid
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import LinkPurpose, OneTimeLink, Person, SignInSession
from arcadia_backend.errors import NotFound, Problem

SESSION_LIFETIME = timedelta(days=30)
# How often the last use is stored, to keep reads free of writes.
USE_INTERVAL = timedelta(minutes=10)
LINK_LIFETIMES: dict[LinkPurpose, timedelta] = {
    "first": timedelta(hours=1),
    "invite": timedelta(days=7),
    "reset": timedelta(hours=24),
}


class LinkExpired(Problem):
    """The one-time link was used, has expired, or never existed."""

    status = 410
    kind = "link-expired"
    title = "The link is no longer valid"

    def __init__(self) -> None:
        super().__init__("This link was used already, or has expired. Ask an administrator for a new one.")


@dataclass(frozen=True)
class NewSession:
    """A session with the secret of its cookie."""

    session: SignInSession
    secret: str


def session_of(session: Session, secret: str) -> SignInSession | None:
    """Return the valid session of a person by the secret of its cookie, or None."""
    signed_in = session.scalar(select(SignInSession).where(SignInSession.digest == digest_of(secret)))
    if signed_in is None or not is_valid(signed_in.expires_at, signed_in.revoked_at, utc_now()):
        return None
    return signed_in if signed_in.person_id is not None and person_of(session, signed_in.person_id) else None


def person_of(session: Session, person_id: int) -> Person | None:
    """Return a person who may sign in, or None."""
    person = session.get(Person, person_id)
    return person if is_enabled(person) else None


def check_password(database: Database, limit: PasswordLimit, email: str, password: str, address: str) -> int:
    """Return the id of the person with this e-mail address and password. Raise WrongPassword, and count it."""
    email = email.strip().lower()
    with database.read() as session:
        person = session.scalar(select(Person).where(Person.email == email))
        of_person = SignInSession.person_id == (person.id if person else None)
        known = select(SignInSession.id).where(of_person, SignInSession.address == address).limit(1)
        is_known = person is not None and session.scalar(known) is not None
    with limit.attempt(email, address, is_known=is_known) as count:
        is_right = matches(person.password_hash if person is not None else None, password)
        if not is_right or not is_enabled(person):
            count()
            with database.write() as session:
                audit.record_refused(session, person, email, address)
            raise WrongPassword
    assert person is not None  # noqa: S101 - `matches` returns False without a hash
    return person.id


def start_session(session: Session, person: Person, address: str, browser: str) -> NewSession:
    """Sign a person in, and record it."""
    secret = new_secret()
    signed_in = SignInSession(
        digest=digest_of(secret),
        person_id=person.id,
        address=address[:100],
        browser=browser[:200],
        expires_at=utc_now() + SESSION_LIFETIME,
    )
    session.add(signed_in)
    session.flush()
    audit.record(session, "sign in", "person", person.id, person.name, by=person, address=address)
    return NewSession(signed_in, secret)


def list_sessions(session: Session, person_id: int | None = None) -> Sequence[SignInSession]:
    """Return the valid sessions of a person, or of everyone. The last used one comes first."""
    valid = (SignInSession.revoked_at.is_(None), SignInSession.expires_at > utc_now())
    query = select(SignInSession).where(*valid, SignInSession.person_id.is_not(None))
    if person_id is not None:
        query = query.where(SignInSession.person_id == person_id)
    return session.scalars(query.order_by(SignInSession.last_used_at.desc(), SignInSession.id.desc())).all()


def find_session(session: Session, session_id: int, person_id: int | None) -> SignInSession:
    """Return a session of a person, or of anyone. Raise NotFound if there is none."""
    signed_in = session.get(SignInSession, session_id)
    is_other = person_id is not None and signed_in is not None and signed_in.person_id != person_id
    if signed_in is None or signed_in.person_id is None or is_other:
        raise NotFound(f"There is no session {session_id}.")
    return signed_in


def revoke(session: Session, signed_in: SignInSession) -> None:
    """End a session."""
    signed_in.revoked_at = signed_in.revoked_at or utc_now()
    person = session.get(Person, signed_in.person_id)
    audit.record(session, "sign out", "person", signed_in.person_id or 0, person.name if person else "")
    forget_credentials(session)


def revoke_all(session: Session, person: Person, *, keep: int | None = None, by: Person | None = None) -> None:
    """End the sessions of a person, except one. Record it if there were any."""
    open_ones = (SignInSession.person_id == person.id, SignInSession.revoked_at.is_(None))
    others = (SignInSession.id != keep,) if keep is not None else ()
    ended = update(SignInSession).where(*open_ones, *others).values(revoked_at=utc_now())
    if session.scalars(ended.returning(SignInSession.id)).all():
        audit.record(session, "sign out everywhere", "person", person.id, person.name, by=by)
    forget_credentials(session)


def note_use(database: Database, signed_in: SignInSession, address: str) -> None:
    """Store when and from where a session was used, unless that is recent."""
    now = utc_now()
    if now - signed_in.last_used_at < USE_INTERVAL and signed_in.address == address[:100]:
        return
    with database.write() as session:
        stored = session.get(SignInSession, signed_in.id)
        if stored is not None:
            stored.last_used_at, stored.address = now, address[:100]


def create_link(session: Session, purpose: LinkPurpose, person: Person | None = None) -> str:
    """Return the secret of a new one-time link. Earlier links of the same person or purpose end."""
    same = OneTimeLink.person_id == person.id if person else OneTimeLink.purpose == purpose
    secret = new_secret()
    session.execute(delete(OneTimeLink).where(same))
    session.add(
        OneTimeLink(
            digest=digest_of(secret),
            purpose=purpose,
            person_id=person.id if person else None,
            expires_at=utc_now() + LINK_LIFETIMES[purpose],
        )
    )
    if person is not None:
        audit.record(session, f"create {purpose} link", "person", person.id, person.name)
    session.flush()
    return secret


def find_link(session: Session, secret: str, *, lock: bool = False) -> OneTimeLink:
    """Return a valid link by its secret. Raise LinkExpired if there is none."""
    query = select(OneTimeLink).where(OneTimeLink.digest == digest_of(secret))
    link = session.scalar(query.with_for_update() if lock else query)
    if link is None or link.used_at is not None or utc_now() >= link.expires_at:
        raise LinkExpired
    return link


def delete_ended(session: Session, now: datetime) -> None:
    """Delete sessions and links that have ended."""
    old = now - SESSION_LIFETIME
    session.execute(delete(SignInSession).where(or_(SignInSession.expires_at < now, SignInSession.revoked_at < old)))
    session.execute(delete(OneTimeLink).where(OneTimeLink.expires_at < old))


def count_people(session: Session) -> int:
    """Return the number of accounts. The server is open only without any."""
    return session.scalar(select(func.count()).select_from(Person)) or 0
