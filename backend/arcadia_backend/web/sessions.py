"""Sessions of signed-in browsers, stored in the database and cached in memory for seconds."""

import hashlib
import hmac
import ipaddress
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from sqlalchemy import delete, select

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import SignInSession
from arcadia_backend.errors import Problem

log = logging.getLogger(__name__)

MAX_WRONG_TOKENS = 10
WINDOW_SECONDS = 60.0
# The address with the oldest wrong token is dropped first.
MAX_ADDRESSES = 10_000


class TooManyWrongTokens(Problem):
    """An address sent too many wrong tokens."""

    status = 429
    kind = "too-many-wrong-tokens"
    title = "Too many wrong tokens"


class WrongTokenLimit:
    """Recent wrong tokens by address. Right tokens are not counted and never refused."""

    def __init__(self, message: str = "wrong token", clock: Callable[[], float] = time.monotonic) -> None:
        self._message, self._clock = message, clock
        self._lock = threading.Lock()
        # The times of the tokens by their hash. The key is random, so that the hashes reveal nothing.
        self._times: OrderedDict[str, dict[bytes, float]] = OrderedDict()
        self._hash_key = secrets.token_bytes(32)

    def count(self, address: str, token: str) -> None:
        """Count a wrong token. Raise TooManyWrongTokens if its address has sent too many others.

        A token counts once a minute, because a script that repeats an old one does not guess.
        """
        network = network_of(address)
        sent = hashlib.blake2b(token.encode("utf-8", "surrogateescape"), key=self._hash_key, digest_size=16).digest()
        with self._lock:
            now = self._clock()
            recent = {
                each: moment for each, moment in self._times.get(network, {}).items() if now - moment < WINDOW_SECONDS
            }
            if sent in recent:
                return
            if len(recent) >= MAX_WRONG_TOKENS:
                raise _refusal(self._message, ceil(WINDOW_SECONDS - (now - min(recent.values()))))
            self._times[network] = {**recent, sent: now}
            self._times.move_to_end(network)
            if len(self._times) > MAX_ADDRESSES:
                self._times.popitem(last=False)
        log.warning(
            "%s from %s, %d of at most %d per minute", self._message, address, len(recent) + 1, MAX_WRONG_TOKENS
        )


def _refusal(wrong: str, seconds: int) -> TooManyWrongTokens:
    refusal = TooManyWrongTokens(
        f"There were {MAX_WRONG_TOKENS} times a {wrong} within a minute. Try again in {seconds} s."
    )
    refusal.headers["Retry-After"] = str(seconds)
    return refusal


def network_of(address: str) -> str:
    """Return an IPv4 address, or the /64 network of an IPv6 address, since one host may have all of it."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(ipaddress.ip_network((parsed, 64), strict=False))


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
            session.execute(delete(SignInSession).where(SignInSession.expires_at <= utc_now()))
            session.add(SignInSession(digest=proof, expires_at=ends))

    def remove(self, proof: str) -> None:
        """Delete a session."""
        # Delete it from the database first. If that fails, the session stays valid and the user can try again.
        with self._database.write() as session:
            session.execute(delete(SignInSession).where(SignInSession.digest == proof))
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
            ends = session.scalar(select(SignInSession.expires_at).where(SignInSession.digest == proof))
        cached = {each: entry for each, entry in self._cache.copy().items() if entry.is_valid}
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
