"""Cookies that are signed in: looked up in memory at every request, kept in the database for the next start."""

import hashlib
import hmac
import secrets
import time

SECONDS = 30 * 24 * 3600


class SignIns:
    """The sign-ins that hold, each as a proof that its cookie goes with the user token."""

    def __init__(self) -> None:
        self._ends: dict[str, float] = {}

    def remember(self, proof: str, ends: float) -> None:
        """Let a cookie in until a Unix time."""
        now = time.time()
        self._ends = {known: end for known, end in self._ends.items() if end > now}
        self._ends[proof] = ends

    def forget(self, proof: str) -> None:
        """Let a cookie in no more."""
        self._ends.pop(proof, None)

    def holds(self, proof: str) -> bool:
        """Whether the cookie of this proof is let in now."""
        return time.time() < self._ends.get(proof, 0.0)


def new_cookie() -> str:
    """A cookie that cannot be guessed."""
    return secrets.token_urlsafe(32)


def proof_of(cookie: str, token: str) -> str:
    """What is kept of a cookie: it gives neither cookie nor token away, and another token makes another proof."""
    return hmac.new(token.encode(), f"arcadia session {cookie}".encode(errors="replace"), hashlib.sha256).hexdigest()
