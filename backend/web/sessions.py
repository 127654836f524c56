"""Cookies that are signed in: kept in the database, which all backend processes share, and for seconds in memory."""

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select

from backend.database.columns import utc_now
from backend.database.engine import Database
from backend.database.tables import SignInSession

SESSION_SECONDS = 30 * 24 * 3600
# Every request asks. A sign-out at another process is heard of after this time at the latest.
CACHE_SECONDS = 5.0


@dataclass(frozen=True)
class CachedSession:
    """What the database said of a cookie: until when it is let in (Unix time), and until when that is believed."""

    ends: float
    until: float

    @property
    def still(self) -> bool:
        """Whether the cookie is let in now, and the database need not be asked."""
        return time.time() < self.ends and time.monotonic() < self.until


class SessionStore:
    """The sign-ins that hold, each as a proof that its cookie goes with the user token."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._believed: dict[str, CachedSession] = {}

    def add(self, proof: str) -> None:
        """Let a cookie in from now on."""
        ends = datetime.fromtimestamp(time.time() + SESSION_SECONDS, UTC)
        with self._database.write() as session:
            session.execute(delete(SignInSession).where(SignInSession.ends_at <= utc_now()))
            session.add(SignInSession(proof=proof, ends_at=ends))

    def remove(self, proof: str) -> None:
        """Let a cookie in no more."""
        # First where it would outlive this process: should that fail, the next sign-out finds the cookie still let in.
        with self._database.write() as session:
            session.execute(delete(SignInSession).where(SignInSession.proof == proof))
        self._believed.pop(proof, None)

    def is_cached(self, proof: str) -> bool:
        """Whether the cookie of this proof is known to be let in, without asking the database."""
        believed = self._believed.get(proof)
        return believed is not None and believed.still

    def is_valid(self, proof: str) -> bool:
        """Whether the cookie of this proof is let in now."""
        if self.is_cached(proof):
            return True
        until = time.monotonic() + CACHE_SECONDS
        with self._database.read() as session:
            ends = session.scalar(select(SignInSession.ends_at).where(SignInSession.proof == proof))
        believed = {each: found for each, found in self._believed.copy().items() if found.still}
        if ends is not None:
            believed[proof] = CachedSession(ends.timestamp(), until)
        self._believed = believed
        return ends is not None and time.time() < ends.timestamp()


def new_cookie() -> str:
    """A cookie that cannot be guessed."""
    return secrets.token_urlsafe(32)


def proof_of(cookie: str, token: str) -> str:
    """What is kept of a cookie: it gives neither cookie nor token away, and another token makes another proof."""
    return hmac.new(token.encode(), f"arcadia session {cookie}".encode(errors="replace"), hashlib.sha256).hexdigest()
