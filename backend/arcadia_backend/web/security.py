"""The sender of a request: token, address and client. And the problems of refused requests."""

import hashlib
import hmac
import ipaddress
import logging
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from typing import Any

from starlette.requests import HTTPConnection

from arcadia_backend.config import API, COOKIE
from arcadia_backend.errors import Problem
from arcadia_backend.web.doors import Right, right_of
from arcadia_workers.contract.worker_api import INSTALLATION_HEADER, OTHER_INSTALLATION

log = logging.getLogger(__name__)

STREAM = f"{API}/events"
WATCHES = re.compile(rf"{STREAM}/[^/]+/watches")

# Shared reports. Their links contain a token, which backend/arcadia_backend/reports/routes.py checks.
SHARED_REPORTS = f"{API}/shared/"
WORKERS_ONLY = f"{API}/worker/"

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
UPLOAD = re.compile(
    rf"{API}/(worker/(runs|jobs)/\d+/files|reported/runs/\d+/(artifact-)?files/[0-9a-f]{{64}}|archives|agents)"
)
ARCHIVES = f"{API}/archives"


class Unauthorized(Problem):
    """The request has no valid token or session."""

    status = 401
    kind = "unauthorized"
    title = "No valid token or session"


class Forbidden(Problem):
    """A page of another site made the request."""

    status = 403
    kind = "forbidden"
    title = "Request from another site"


class WrongHost(Problem):
    """The Host header is not a name of this server."""

    status = 421
    kind = "wrong-host"
    title = "Wrong host name"


class OtherInstallation(Problem):
    """The run of a worker belongs to another installation."""

    status = 421
    kind = OTHER_INSTALLATION
    title = "Another installation"


# As arcadia.version.user_agent writes it.
_CLIENT = re.compile(r"arcadia-client/\S{1,50} \((CLI|Python client|MCP)(?:; ([\w.?@-]{1,81}))?\)", re.ASCII)
# Key of the ASGI scope with the actor, also in requests that this process makes for a caller.
ACTING = "arcadia.acting"


def client_of(request: HTTPConnection) -> tuple[str, str]:
    """Return the kind of client, and the user that the client names, as it says itself."""
    agent = request.headers.get("user-agent", "")
    if (match := _CLIENT.match(agent)) is not None:
        return match[1], match[2] or ""
    return "browser" if agent.startswith("Mozilla/") else "API", ""


_JOB_TOKEN = re.compile(r"arcadia-job-(\d{1,16})-(\d{1,9})-[0-9a-f]{64}")


def job_token(worker_token: str, run_id: int, attempt: int) -> str:
    """Return the token of a scheduler's job. It is only for one run, and does not reveal the worker token."""
    named = f"arcadia-job-{run_id}-{attempt}"
    return f"{named}-{hmac.new(worker_token.encode(), named.encode(), hashlib.sha256).hexdigest()}"


def submission_of(worker_token: str, sent: str) -> tuple[int, int] | None:
    """Return the run and the attempt of the valid token of a scheduler's job, or None for another token."""
    match = _JOB_TOKEN.fullmatch(sent)
    if match is None or not worker_token or not same(sent, job_token(worker_token, int(match[1]), int(match[2]))):
        return None
    return int(match[1]), int(match[2])


_JOB_WORKER_TOKEN = re.compile(r"arcadia-jobs-(\d{1,16})-[0-9a-f]{64}")


def job_worker_token(worker_token: str, number: int) -> str:
    """Return the token of a scheduler's job whose worker does jobs. It trains no runs."""
    named = f"arcadia-jobs-{number}"
    return f"{named}-{hmac.new(worker_token.encode(), named.encode(), hashlib.sha256).hexdigest()}"


def job_worker_of(worker_token: str, sent: str) -> int | None:
    """Return the number of the worker for jobs that has a valid token, or None for another token."""
    match = _JOB_WORKER_TOKEN.fullmatch(sent)
    if match is None or not worker_token or not same(sent, job_worker_token(worker_token, int(match[1]))):
        return None
    return int(match[1])


def check_installation(request: HTTPConnection) -> None:
    """Raise OtherInstallation if a worker calls about a run of another installation."""
    sent = request.headers.get(INSTALLATION_HEADER)
    if sent is not None and sent != request.app.state.installation:
        raise OtherInstallation(
            "The run belongs to another installation. Start the backend with the database that contains the run."
        )


def describe_access(document: dict[str, Any]) -> dict[str, Any]:
    """Add the credentials that each operation needs to an OpenAPI document, from the list of doors."""
    document["components"]["securitySchemes"] = {
        "user": {"type": "http", "scheme": "bearer", "description": "A token of a person, or ARCADIA_TOKEN."},
        "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by POST /session."},
        "worker": {
            "type": "http",
            "scheme": "bearer",
            "description": "ARCADIA_WORKER_TOKEN, or a token of an attempt.",
        },
    }
    # The empty entry is for the owner of a server without accounts.
    users: list[dict[str, list[str]]] = [{"user": []}, {"session": []}, {}]
    needed: dict[Right, list[dict[str, list[str]]]] = {
        Right.PUBLIC: [],
        Right.WORKER: [{"worker": []}],
        Right.OWN: [{"session": []}, {}],
    }
    for path, item in document["paths"].items():
        for method, call in item.items():
            call["security"] = needed.get(right_of(method.upper(), path), users)
    return document


def address_of(request: HTTPConnection) -> str:
    """Return the address that a request came from."""
    return request.client.host if request.client else ""


def bearer_of(request: HTTPConnection) -> str:
    """Return the token of a request, or an empty text."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def same(given: str, expected: str) -> bool:
    """Compare secrets in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())


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
