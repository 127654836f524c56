"""Logins of a command line: it shows a short code, a person confirms that in a browser, and it gets a token once.

This is the device authorization grant of RFC 8628, without its form encoding.
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from arcadia_backend.accounts import audit, roles, tokens
from arcadia_backend.accounts.passwords import digest_of, new_secret
from arcadia_backend.accounts.sign_in import person_of
from arcadia_backend.accounts.tokens import NewToken, TokenScope
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.scope import acting_as
from arcadia_backend.database.tables import DeviceLogin, Person
from arcadia_backend.errors import NotFound

LIFETIME = timedelta(minutes=10)
POLL_SECONDS = 5
# RFC 8628: each early poll adds this to the interval.
SLOW_DOWN_SECONDS = 5
MAX_POLL_SECONDS = 60
# A poll may come a little early, because of the network.
EARLY_SECONDS = 0.5
# Without vowels, so that no code is a word. Without digits, which look like letters.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
CODE_LENGTH = 8
# Limit waiting logins, of one network and in total. A new one then replaces another.
MAX_PER_NETWORK, MAX_WAITING = 20, 1_000
# An ended login stays known for this time, so that its command line learns why.
KEPT_AFTER_END = timedelta(hours=1)

PollState = Literal["waiting", "early", "refused", "expired"]


@dataclass(frozen=True)
class NewLogin:
    """A new login with its secret and its short code."""

    login: DeviceLogin
    secret: str
    code: str


def start(session: Session, name: str, scopes: Collection[TokenScope], address: str, network: str) -> NewLogin:
    """Start a login. If too many wait, another one ends, so that nobody can keep others from signing in."""
    _make_room(session, network[:100])
    secret, code = new_secret(), "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
    login = DeviceLogin(
        digest=digest_of(secret),
        code_digest=digest_of(code),
        name=name,
        address=address[:100],
        network=network[:100],
        scopes=list(scopes),
        interval_seconds=POLL_SECONDS,
        expires_at=utc_now() + LIFETIME,
    )
    session.add(login)
    session.flush()
    return NewLogin(login, secret, f"{code[:4]}-{code[4:]}")


def _make_room(session: Session, network: str) -> None:
    """End a login if the network, or the server, has too many: first those that no terminal asks for any more."""
    waiting = (DeviceLogin.state == "waiting", DeviceLogin.expires_at > utc_now())
    counted = select(DeviceLogin.network, func.count()).where(*waiting).group_by(DeviceLogin.network)
    counts = dict(session.execute(counted).all())
    if counts.get(network, 0) >= MAX_PER_NETWORK:
        crowded = network
    elif sum(counts.values()) >= MAX_WAITING:
        crowded = max(counts, key=counts.__getitem__)
    else:
        return
    of_network = select(DeviceLogin).where(*waiting, DeviceLogin.network == crowded)
    unused_first = of_network.order_by(DeviceLogin.polled_at.nulls_first(), DeviceLogin.id)
    session.delete(session.scalars(unused_first.limit(1)).one())


def find_waiting(session: Session, code: str, *, lock: bool = False) -> DeviceLogin:
    """Return the login that waits with a short code, in any spelling. Raise NotFound if there is none."""
    letters = "".join(letter for letter in code.upper() if letter.isalpha())
    query = select(DeviceLogin).where(DeviceLogin.code_digest == digest_of(letters))
    login = session.scalar(query.with_for_update() if lock else query)
    if login is None or login.state != "waiting" or utc_now() >= login.expires_at:
        raise NotFound("No login waits with this code. Check it, or start `arcadia login` again.")
    return login


def confirm(
    session: Session,
    login: DeviceLogin,
    person: Person,
    scopes: Collection[TokenScope],
    project_id: int | None,
    days: int | None,
) -> None:
    """Allow a login to collect a token of a person."""
    login.state, login.person_id, login.project_id, login.days = "confirmed", person.id, project_id, days
    login.scopes = [scope for scope in login.scopes if scope in scopes]
    audit.record(session, "confirm login", "person", person.id, person.name, after={"name": login.name})
    session.flush()


def refuse(session: Session, login: DeviceLogin, person: Person) -> None:
    """Refuse a login."""
    login.state, login.person_id = "refused", person.id
    audit.record(session, "refuse login", "person", person.id, person.name, after={"name": login.name})
    session.flush()


def collect(session: Session, secret: str, address: str) -> NewToken | PollState:
    """Return the token of a confirmed login, once, or why there is none. The caller commits in both cases."""
    now = utc_now()
    login = session.scalar(select(DeviceLogin).where(DeviceLogin.digest == digest_of(secret)).with_for_update())
    if login is None or login.state == "used" or now >= login.expires_at:
        return "expired"
    if login.state == "refused":
        return "refused"
    interval = timedelta(seconds=login.interval_seconds - EARLY_SECONDS)
    is_early = login.polled_at is not None and now - login.polled_at < interval
    login.polled_at = now
    if is_early:
        login.interval_seconds = min(MAX_POLL_SECONDS, login.interval_seconds + SLOW_DOWN_SECONDS)
        return "early"
    if login.state == "waiting":
        return "waiting"
    person = None if login.person_id is None else person_of(session, login.person_id)
    if person is None:
        return "refused"
    login.state = "used"
    # The person confirmed it, so the audit log names them.
    with acting_as(roles.scope_of(session, person, address=address)):
        return tokens.create(
            session,
            login.name,
            [scope for scope in tokens.SCOPES if scope in login.scopes],
            person_id=person.id,
            project_id=login.project_id,
            expires_at=None if login.days is None else now + timedelta(days=login.days),
        )


def delete_ended(session: Session, now: datetime) -> None:
    """Delete logins that ended some time ago."""
    session.execute(delete(DeviceLogin).where(DeviceLogin.expires_at < now - KEPT_AFTER_END))
