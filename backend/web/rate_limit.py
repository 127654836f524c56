"""Wrong tokens: a few tries a minute for each address, told in the log."""

import ipaddress
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil

from backend.errors import Problem

log = logging.getLogger(__name__)

MAX_WRONG_TOKENS = 10
WINDOW_SECONDS = 60.0
# Addresses remembered; the one that tried longest ago is forgotten first.
MAX_ADDRESSES = 10_000


class TooManyWrongTokens(Problem):
    """An address has shown too many wrong tokens."""

    status = 429
    kind = "too-many-wrong-tokens"
    title = "Too many wrong tokens"


class WrongTokenLimit:
    """When each address showed a wrong token lately."""

    def __init__(self, told: str = "wrong token", clock: Callable[[], float] = time.monotonic) -> None:
        self._told, self._clock = told, clock
        self._lock = threading.Lock()
        self._times: OrderedDict[str, list[float]] = OrderedDict()

    def check(self, address: str, *, right: bool) -> bool:
        """Return whether a shown token is right; refuse even a right one after too many wrong ones."""
        place = _network(address)
        with self._lock:
            now = self._clock()
            recent = [moment for moment in self._times.get(place, ()) if now - moment < WINDOW_SECONDS]
            if len(recent) >= MAX_WRONG_TOKENS:
                raise _refusal(ceil(WINDOW_SECONDS - (now - recent[0])))
            if not right:
                self._times[place] = [*recent, now]
                self._times.move_to_end(place)
                if len(self._times) > MAX_ADDRESSES:
                    self._times.popitem(last=False)
        if not right:
            log.warning("%s from %s, try %d of %d a minute", self._told, address, len(recent) + 1, MAX_WRONG_TOKENS)
        return right


def _refusal(seconds: int) -> TooManyWrongTokens:
    refusal = TooManyWrongTokens(
        f"{MAX_WRONG_TOKENS} wrong tokens came from your address within a minute. Try again in {seconds} s."
    )
    refusal.headers["Retry-After"] = str(seconds)
    return refusal


def _network(address: str) -> str:
    """An IPv4 address, or the network of an IPv6 one, since one host may have a whole network of those."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))
