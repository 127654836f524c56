"""Rate limit for wrong tokens per client address."""

import hashlib
import ipaddress
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil

from backend.errors import Problem

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
        network = _network(address)
        sent = hashlib.blake2b(token.encode("utf-8", "surrogateescape"), key=self._hash_key, digest_size=16).digest()
        with self._lock:
            now = self._clock()
            recent = {
                each: moment for each, moment in self._times.get(network, {}).items() if now - moment < WINDOW_SECONDS
            }
            if sent in recent:
                return
            if len(recent) >= MAX_WRONG_TOKENS:
                raise _refusal(ceil(WINDOW_SECONDS - (now - min(recent.values()))))
            self._times[network] = {**recent, sent: now}
            self._times.move_to_end(network)
            if len(self._times) > MAX_ADDRESSES:
                self._times.popitem(last=False)
        log.warning(
            "%s from %s, %d of at most %d per minute", self._message, address, len(recent) + 1, MAX_WRONG_TOKENS
        )


def _refusal(seconds: int) -> TooManyWrongTokens:
    refusal = TooManyWrongTokens(
        f"{MAX_WRONG_TOKENS} different wrong tokens came from your address within a minute. Try again in {seconds} s."
    )
    refusal.headers["Retry-After"] = str(seconds)
    return refusal


def _network(address: str) -> str:
    """Return an IPv4 address, or the /64 network of an IPv6 address, since one host may have all of it."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))
