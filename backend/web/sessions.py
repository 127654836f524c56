"""Sessions of signed-in browsers, stored in the database and cached in memory for seconds."""

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
# A sign-out at another backend process takes effect after at most this time.
CACHE_SECONDS = 5.0


@dataclass(frozen=True)
class CachedSession:
    """The end of a session (Unix time), and until when the cache entry is valid (monotonic time)."""

    ends: float
    cached_until: float

    @property
    def is_valid(self) -> bool:
        """True if the session is valid and the database need not be queried."""
        return time.time() < self.ends and time.monotonic() < self.cached_until


class SessionStore:
    """Store of valid sessions. Each is stored as a proof, made from its cookie and the user token."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache: dict[str, CachedSession] = {}

    def add(self, proof: str) -> None:
        """Store a new session, and delete expired ones."""
        ends = datetime.fromtimestamp(time.time() + SESSION_SECONDS, UTC)
        with self._database.write() as session:
            session.execute(delete(SignInSession).where(SignInSession.ends_at <= utc_now()))
            session.add(SignInSession(proof=proof, ends_at=ends))

    def remove(self, proof: str) -> None:
        """Delete a session."""
        # Delete it from the database first. If that fails, the session stays valid and the user can try again.
        with self._database.write() as session:
            session.execute(delete(SignInSession).where(SignInSession.proof == proof))
        self._cache.pop(proof, None)

    def is_cached(self, proof: str) -> bool:
        """Return True if the cache has this session as valid."""
        cached = self._cache.get(proof)
        return cached is not None and cached.is_valid

    def is_valid(self, proof: str) -> bool:
        """Return True if the session is valid. Query the database if it is not cached."""
        if self.is_cached(proof):
            return True
        cached_until = time.monotonic() + CACHE_SECONDS
        with self._database.read() as session:
            ends = session.scalar(select(SignInSession.ends_at).where(SignInSession.proof == proof))
        cached = {each: found for each, found in self._cache.copy().items() if found.is_valid}
        if ends is not None:
            cached[proof] = CachedSession(ends.timestamp(), cached_until)
        self._cache = cached
        return ends is not None and time.time() < ends.timestamp()


def new_cookie() -> str:
    """Return a random cookie value."""
    return secrets.token_urlsafe(32)


def proof_of(cookie: str, token: str) -> str:
    """Return the proof of a session. It reveals neither cookie nor token, and a new token invalidates it."""
    return hmac.new(token.encode(), f"arcadia session {cookie}".encode(errors="replace"), hashlib.sha256).hexdigest()
