"""Passwords and secrets: their digests, and limits for wrong ones that lock nobody else out."""

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from arcadia_backend.errors import Problem

MIN_LENGTH, MAX_LENGTH = 12, 500
WINDOW_SECONDS = 60.0
# Wrong passwords per minute for one account. Each address that has signed in to it has its own count.
MAX_PER_ACCOUNT = 10
# Wrong passwords per minute from one address, over all accounts. Then its passwords are checked one after the other.
MAX_PER_ADDRESS = 100
# Limit concurrent checks, since each takes 64 MiB and a core for a twentieth of a second.
CONCURRENT_CHECKS, MAX_WAITING, LANE_SECONDS = 4, 8, 2.0
MAX_KEYS = 20_000

_hasher = PasswordHasher()


class WrongPassword(Problem):
    """The e-mail address or the password is wrong."""

    status = 401
    kind = "wrong-password"
    title = "Wrong e-mail address or password"

    def __init__(self) -> None:
        super().__init__("The e-mail address or the password is wrong. An administrator can send you a new link.")


class TooManyWrongPasswords(Problem):
    """Too many wrong passwords came for one account, or from one address."""

    status = 429
    kind = "too-many-wrong-passwords"
    title = "Too many wrong passwords"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"There were too many wrong passwords. Try again in {ceil(seconds)} s.")
        self.headers["Retry-After"] = str(ceil(seconds))


def digest_of(secret: str) -> str:
    """Return the digest of a random secret, which is all that the database stores of it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def new_secret() -> str:
    """Return a random secret of 32 bytes."""
    return secrets.token_urlsafe(32)


def hash_password(password: str) -> str:
    """Return the argon2 hash of a password."""
    return _hasher.hash(password.encode())


def matches(password_hash: str | None, password: str) -> bool:
    """Return True for the right password. An account without one takes the same time."""
    try:
        _hasher.verify(password_hash or _dummy_hash(), password.encode("utf-8", "surrogateescape"))
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


_DUMMY: list[str] = []


def _dummy_hash() -> str:
    if not _DUMMY:
        _DUMMY.append(hash_password(new_secret()))
    return _DUMMY[0]


class PasswordLimit:
    """Recent wrong passwords by account and by address.

    An account has one budget for each address that has signed in to it before, and one for all others. So an attacker
    cannot lock out its owner, or anyone else. An address with many wrong passwords shares one lane of checks.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # Times by a keyed hash, so that the memory reveals no addresses of accounts.
        self._times: OrderedDict[bytes, list[float]] = OrderedDict()
        self._hash_key = secrets.token_bytes(32)
        self._checks = threading.Semaphore(CONCURRENT_CHECKS)
        self._slow_lane = threading.Semaphore(1)
        self._waiting = 0

    @contextmanager
    def attempt(self, account: str, address: str, *, is_known: bool) -> Iterator[Callable[[], None]]:
        """Check a password in the block, and call the function if it is wrong. Raise TooManyWrongPasswords first."""
        budget = self._key("account", account, address if is_known else "")
        by_address = self._key("address", address)
        if (seconds := self._wait(budget, MAX_PER_ACCOUNT)) > 0:
            raise TooManyWrongPasswords(seconds)
        lane = self._slow_lane if self._wait(by_address, MAX_PER_ADDRESS) > 0 else self._checks

        def count() -> None:
            self._count(budget)
            self._count(by_address)

        # Wait for a place in the lane, without holding many threads.
        with self._lock:
            if self._waiting >= MAX_WAITING:
                raise TooManyWrongPasswords(1)
            self._waiting += 1
        try:
            if not lane.acquire(timeout=LANE_SECONDS):
                raise TooManyWrongPasswords(1)
        finally:
            with self._lock:
                self._waiting -= 1
        try:
            yield count
        finally:
            lane.release()

    def _key(self, *parts: str) -> bytes:
        return hmac.digest(self._hash_key, "\0".join(parts).encode("utf-8", "surrogateescape"), "sha256")

    def _wait(self, key: bytes, limit: int) -> float:
        """Return how many seconds remain until the budget has room, or 0."""
        with self._lock:
            now = self._clock()
            recent = [moment for moment in self._times.get(key, ()) if now - moment < WINDOW_SECONDS]
        return WINDOW_SECONDS - (now - recent[-limit]) if len(recent) >= limit else 0

    def _count(self, key: bytes) -> None:
        with self._lock:
            now = self._clock()
            recent = [moment for moment in self._times.get(key, ()) if now - moment < WINDOW_SECONDS]
            self._times[key] = [*recent[-MAX_PER_ADDRESS:], now]
            self._times.move_to_end(key)
            if len(self._times) > MAX_KEYS:
                self._times.popitem(last=False)
