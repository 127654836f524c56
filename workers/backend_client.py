"""The backend's worker API over HTTP.

BackendError
├── UnreachableError    nobody there, or busy: the same call may succeed later
├── StaleAttemptError   the run has gone to another worker, or is gone
├── SequenceGapError    the backend expects an earlier event first
└── RefusedError        the call can never succeed as it is
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, TypeAdapter

Outcome = Literal["finished", "failed", "stopped", "drained", "lost"]
FileKind = Literal["checkpoint", "video", "poster"]
Desired = Literal["run", "pause", "stop"]

LONGEST_MESSAGE = 5_000
LONGEST_TRACEBACK = 50_000  # of which the end tells most
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class BackendError(Exception):
    """A call to the backend did not do what it was made for."""


class UnreachableError(BackendError):
    """The backend is away or busy; try again later."""


class StaleAttemptError(BackendError):
    """The attempt is no longer this worker's."""


class SequenceGapError(BackendError):
    """The backend lacks events before those sent."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"the backend expects event {expected} next")
        self.expected = expected


class RefusedError(BackendError):
    """The backend will never take this."""


class OfferedCheckpoint(BaseModel):
    """A checkpoint that the backend holds for the run."""

    id: int
    file: str
    sha256: str
    bytes: int
    step: int
    frames: int


class Claim(BaseModel):
    """A run that is now this worker's."""

    run_id: int
    attempt: int
    config: dict[str, Any]
    lease_seconds: float
    checkpoints: list[OfferedCheckpoint] = []


class HeartbeatReply(BaseModel):
    """What the backend wants of the run held, if one is."""

    desired: Desired | None = None
    lease_seconds: float


class _Acknowledged(BaseModel):
    acknowledged: int


@dataclass(frozen=True)
class Ending:
    """How an attempt ended, in words for the run's page."""

    outcome: Outcome
    message: str | None = None
    traceback: str | None = None


class BackendClient:
    """One worker's connection to the backend; its methods may be called from several threads."""

    def __init__(self, url: str, token: str, name: str, queue: str) -> None:
        self.url, self.name, self.queue = url.rstrip("/"), name, queue
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1/worker/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(30, connect=3),
            trust_env=urlsplit(url).hostname not in LOOPBACK,  # a proxy cannot reach our loopback
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def heartbeat(self, facts: dict[str, Any], held: tuple[int, int] | None) -> HeartbeatReply:
        """Say that this worker is alive and what it holds."""
        run = {"id": held[0], "attempt": held[1]} if held else None
        body = {"name": self.name, "queue": self.queue, **facts, "run": run}
        return HeartbeatReply.model_validate_json(self._call("POST", "heartbeat", json=body, timeout=5).content)

    def claim(self) -> Claim | None:
        """Take the best waiting run, if one waits."""
        reply = self._call("POST", "claim", json={"name": self.name, "queue": self.queue})
        return None if reply.status_code == httpx.codes.NO_CONTENT else Claim.model_validate_json(reply.content)

    def post_events(self, run: int, attempt: int, events: list[dict[str, Any]]) -> int:
        """Hand over events and return the last one that the backend has stored."""
        reply = self._call("POST", f"runs/{run}/events", json={"attempt": attempt, "events": events})
        return _Acknowledged.model_validate_json(reply.content).acknowledged

    def upload(self, run: int, attempt: int, kind: FileKind, path: str, file: Path) -> None:
        """Hand over a file of the run directory; a repeated upload changes nothing."""
        query: dict[str, str | int] = {"attempt": attempt, "kind": kind, "path": path}
        with file.open("rb") as content:
            query["sha256"] = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            self._call("PUT", f"runs/{run}/files", params=query, content=content)

    def download(self, run: int, attempt: int, file_id: int, target: Path) -> str:
        """Fetch a file and return its SHA-256."""
        digest = hashlib.sha256()
        try:
            with (
                self._http.stream("GET", f"runs/{run}/files/{file_id}", params={"attempt": attempt}) as reply,
                target.open("wb") as file,
            ):
                if reply.is_error:
                    reply.read()
                    _raise_problem(reply, missing=RefusedError)
                for block in reply.iter_bytes():
                    digest.update(block)
                    file.write(block)
        except httpx.TransportError as error:
            raise UnreachableError(f"{self.url} is not reachable: {error or type(error).__name__}") from error
        return digest.hexdigest()

    def release(self, run: int, attempt: int, ending: Ending) -> None:
        """Give the run back."""
        body = {
            "attempt": attempt,
            "outcome": ending.outcome,
            "message": ending.message and ending.message[:LONGEST_MESSAGE],
            "traceback": ending.traceback and ending.traceback[-LONGEST_TRACEBACK:],
        }
        self._call("POST", f"runs/{run}/release", json=body)

    def goodbye(self) -> None:
        """Say that this worker is leaving."""
        self._call("POST", "goodbye", json={"name": self.name}, timeout=5)

    def _call(self, method: str, path: str, **request: Any) -> httpx.Response:
        try:
            reply = self._http.request(method, path, **request)
        except httpx.TransportError as error:
            raise UnreachableError(f"{self.url} is not reachable: {error or type(error).__name__}") from error
        if reply.is_error:
            _raise_problem(reply)
        return reply


_problem_adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


def _raise_problem(reply: httpx.Response, missing: type[BackendError] = StaleAttemptError) -> NoReturn:
    """Turn an error answer into the exception that says what to do about it; a run that is missing was purged."""
    try:
        problem = _problem_adapter.validate_json(reply.content)
    except ValueError:
        problem = {}
    kind = str(problem.get("type", ""))
    text = f"{reply.status_code} {problem.get('detail') or problem.get('title') or reply.reason_phrase}"
    if fields := problem.get("errors"):
        text += f" {json.dumps(fields)}"
    if kind.endswith("sequence-gap"):
        raise SequenceGapError(int(problem["expected"]))
    if kind.endswith("stale-attempt"):
        raise StaleAttemptError(text)
    if reply.status_code == httpx.codes.NOT_FOUND:
        raise missing(text)
    # A wrong token is an operator's mistake, put right while the trainer trains on.
    if reply.status_code in (401, 403, 408, 429) or reply.is_server_error:
        raise UnreachableError(f"{reply.request.url} answered {text}")
    raise RefusedError(text)
