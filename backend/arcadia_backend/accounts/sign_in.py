"""Sessions of people in browsers, and one-time links."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from arcadia_backend.accounts import audit
from arcadia_backend.accounts.passwords import PasswordLimit, WrongPassword, digest_of, matches, new_secret
from arcadia_backend.accounts.roles import forget_credentials, is_enabled, is_valid
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import DeviceLogin, LinkPurpose, OneTimeLink, Person, SignInSession
from arcadia_backend.errors import NotFound, Problem

SESSION_LIFETIME = timedelta(days=30)
# For this time after a person has proved who they are, their browser may change credentials.
FRESH_TIME = timedelta(minutes=15)
# How often the last use is stored, to keep reads free of writes.
USE_INTERVAL = timedelta(minutes=10)
LINK_LIFETIMES: dict[LinkPurpose, timedelta] = {
    "first": timedelta(hours=1),
    "invite": timedelta(days=7),
    "reset": timedelta(hours=24),
    "join": timedelta(minutes=10),
}


@dataclass(frozen=True)
class OneTimeCode:
    """A code, which is shown once, and when it ends."""

    code: str
    expires_at: datetime


class LinkExpired(Problem):
    """The one-time link was used, has expired, or never existed."""

    status = 410
    kind = "link-expired"
    title = "The link is no longer valid"

    def __init__(self) -> None:
        super().__init__("This link was used already, or has expired. Ask an administrator for a new one.")


class SignInAgain(Problem):
    """The action needs a person who has proved recently who they are."""

    status = 403
    kind = "sign-in-again"
    title = "Sign in again"

    def __init__(self) -> None:
        minutes = int(FRESH_TIME.total_seconds() / 60)
        super().__init__(
            f"This needs a sign-in within the last {minutes} minutes. Send your password to POST /session/again, or "
            "sign in at your provider by GET /session/oidc?again=true. Then repeat the request."
        )


@dataclass(frozen=True)
class NewSession:
    """A session with the secret of its cookie."""

    session: SignInSession
    secret: str


def session_of(session: Session, secret: str) -> SignInSession | None:
    """Return the valid session of a person by the secret of its cookie, or None."""
    signed_in = session.scalar(select(SignInSession).where(SignInSession.digest == digest_of(secret)))
    is_known = signed_in is not None and is_valid(signed_in.expires_at, signed_in.revoked_at, utc_now())
    return signed_in if is_known else None


def person_of(session: Session, person_id: int) -> Person | None:
    """Return a person who may sign in, or None."""
    person = session.get(Person, person_id)
    return person if is_enabled(person) else None


def check_password(database: Database, limit: PasswordLimit, who: str | int, password: str, address: str) -> int:
    """Return the id of the person with an e-mail address or an id, and this password.

    Raise WrongPassword, and count it.
    """
    with database.read() as session:
        is_person = Person.id == who if isinstance(who, int) else Person.email == who.strip().lower()
        person = session.scalar(select(Person).where(is_person))
        account = (person.email if person else None) or str(who).strip().lower()
        of_person = SignInSession.person_id == (person.id if person else None)
        known = select(SignInSession.id).where(of_person, SignInSession.address == address).limit(1)
        is_known = person is not None and session.scalar(known) is not None
    with limit.attempt(account, address, is_known=is_known) as count:
        is_right = matches(person.password_hash if person is not None else None, password)
        if not is_right or not is_enabled(person):
            count()
            with database.write() as session:
                audit.record_refused(session, person, account, address)
            raise WrongPassword
    assert person is not None  # noqa: S101 - `matches` returns False without a hash
    return person.id


def start_session(session: Session, person: Person, address: str, browser: str, token: str = "") -> NewSession:
    """Sign a person in, or the owner of the installation by its token. They have just proved who they are."""
    secret = new_secret()
    signed_in = SignInSession(
        digest=digest_of(of_installation(secret, token) if token else secret),
        person_id=person.id,
        address=address[:100],
        browser=browser[:200],
        proved_at=utc_now(),
        expires_at=utc_now() + SESSION_LIFETIME,
    )
    session.add(signed_in)
    session.flush()
    audit.record(session, "sign in", "person", person.id, person.name, by=person, address=address)
    return NewSession(signed_in, secret)


def fresh_until(session: Session, session_id: int | None) -> datetime | None:
    """Return until when a session may change credentials, or None if its person has to prove again who they are."""
    signed_in = None if session_id is None else session.get(SignInSession, session_id)
    if signed_in is None or signed_in.proved_at is None or signed_in.revoked_at is not None:
        return None
    if (owner := find_owner(session)) is not None and signed_in.person_id == owner.id:
        # There is only ARCADIA_TOKEN, which does not prove who somebody is.
        return signed_in.expires_at
    until = signed_in.proved_at + FRESH_TIME
    return until if utc_now() < until else None


def check_fresh(database: Database, session_id: int) -> None:
    """Raise SignInAgain unless the person of a session has proved recently who they are."""
    with acting_as(BACKEND), database.read() as session:
        if fresh_until(session, session_id) is None:
            raise SignInAgain


def note_proof(session: Session, signed_in: SignInSession, person: Person, proved_at: datetime | None) -> None:
    """Store when the person of a session has proved again who they are."""
    signed_in.proved_at = proved_at
    audit.record(session, "sign in again", "person", person.id, person.name, by=person)


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
    """End the sessions of a person, except one, and their confirmed logins. Record it if there were any sessions."""
    open_ones = (SignInSession.person_id == person.id, SignInSession.revoked_at.is_(None))
    others = (SignInSession.id != keep,) if keep is not None else ()
    ended = update(SignInSession).where(*open_ones, *others).values(revoked_at=utc_now())
    if session.scalars(ended.returning(SignInSession.id)).all():
        audit.record(session, "sign out everywhere", "person", person.id, person.name, by=by)
    refuse_logins(session, person)
    forget_credentials(session)


def refuse_logins(session: Session, person: Person) -> None:
    """Let no terminal collect a token that a person has confirmed before."""
    confirmed = (DeviceLogin.person_id == person.id, DeviceLogin.state == "confirmed")
    session.execute(update(DeviceLogin).where(*confirmed).values(state="refused"))


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
    session.execute(delete(OneTimeLink).where(same, OneTimeLink.purpose != "join"))
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
    query = select(OneTimeLink).where(OneTimeLink.digest == digest_of(secret), OneTimeLink.purpose != "join")
    link = session.scalar(query.with_for_update() if lock else query)
    if link is None or link.used_at is not None or utc_now() >= link.expires_at:
        raise LinkExpired
    return link


class CodeExpired(Problem):
    """The code of a host was used, has expired, or never existed."""

    status = 410
    kind = "code-expired"
    title = "The code is no longer valid"

    def __init__(self) -> None:
        super().__init__(
            "This code was used already, has expired, or is incomplete. A code works once, for 10 minutes. Get another "
            'one with "Add a host" on the page Workers.'
        )


def create_host_code(session: Session, person_id: int | None) -> OneTimeCode:
    """Return a code with which one host of workers gets its token."""
    # A command line would read a code that begins with a dash as an option.
    secret, expires_at = f"join_{new_secret()}", utc_now() + LINK_LIFETIMES["join"]
    session.add(OneTimeLink(digest=digest_of(secret), purpose="join", person_id=person_id, expires_at=expires_at))
    audit.record(session, "create code", "host", None)
    session.flush()
    return OneTimeCode(secret, expires_at)


def use_host_code(session: Session, code: str) -> Person:
    """End a code, and return who created it. Raise CodeExpired unless it is valid and its person may still sign in."""
    is_code = (OneTimeLink.digest == digest_of(code), OneTimeLink.purpose == "join")
    link = session.scalar(select(OneTimeLink).where(*is_code).with_for_update())
    if link is None or link.used_at is not None or utc_now() >= link.expires_at:
        raise CodeExpired
    link.used_at = utc_now()
    person = None if link.person_id is None else session.get(Person, link.person_id)
    if person is None or not (is_enabled(person) and person.is_administrator):
        raise CodeExpired
    return person


def delete_ended(session: Session, now: datetime) -> None:
    """Delete sessions and links that have ended."""
    old = now - SESSION_LIFETIME
    session.execute(delete(SignInSession).where(or_(SignInSession.expires_at < now, SignInSession.revoked_at < old)))
    session.execute(delete(OneTimeLink).where(OneTimeLink.expires_at < old))


def find_owner(session: Session) -> Person | None:
    """Return the automatic owner of an installation without accounts, or None once there are accounts."""
    return session.scalar(select(Person).where(Person.is_owner.is_(True)))


def has_accounts(session: Session) -> bool:
    """Return True once people have accounts. Before that, the installation has an owner who needs none."""
    return find_owner(session) is None


def of_installation(cookie: str, token: str) -> str:
    """Return the secret of a session that ARCADIA_TOKEN signed in. Another token, or an account, ends the session."""
    return f"{cookie} {token}"
