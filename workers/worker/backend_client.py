"""The backend's worker API over HTTP."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel

from workers.contract.worker_api import (
    Acknowledged,
    Claim,
    ClaimRequest,
    FileKind,
    Goodbye,
    Heartbeat,
    HeartbeatAnswer,
    HeldJob,
    MachineFacts,
    OfferedCheckpoint,
    QueueName,
    Release,
    Released,
    UploadedFile,
)
from workers.worker.answers import (
    RefusedError,
    StaleAttemptError,
    UnreachableError,
    expect,
    not_the_backend,
    raise_problem,
)
from workers.worker.endings import Ending

LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class BackendClient:
    """One worker's connection to the backend; its methods may be called from several threads."""

    def __init__(self, url: str, token: str, name: str, queue: QueueName) -> None:
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

    def heartbeat(self, facts: MachineFacts, held: HeldJob | None) -> HeartbeatAnswer:
        """Say that this worker is alive and what it holds."""
        body = Heartbeat(name=self.name, queue=self.queue, run=held, **facts.model_dump())
        return expect(HeartbeatAnswer, self._post("heartbeat", body, timeout=5))

    def claim(self) -> Claim | None:
        """Take the best waiting run, if one waits."""
        reply = self._post("claim", ClaimRequest(name=self.name, queue=self.queue))
        return None if reply.status_code == httpx.codes.NO_CONTENT else expect(Claim, reply)

    def post_events(self, run: int, attempt: int, events: list[dict[str, Any]]) -> int:
        """Hand over events as the trainer wrote them, and return the last one that the backend has stored."""
        # Not an EventBatch: checking each event here as well would only cost time.
        reply = self._call("POST", f"runs/{run}/events", json={"attempt": attempt, "events": events})
        return expect(Acknowledged, reply).acknowledged

    def upload(self, run: int, attempt: int, kind: FileKind, path: str, file: Path) -> None:
        """Hand over a file of the run directory; a repeated upload changes nothing."""
        query: dict[str, str | int] = {"attempt": attempt, "kind": kind, "path": path}
        with file.open("rb") as content:
            query["sha256"] = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            expect(UploadedFile, self._call("PUT", f"runs/{run}/files", params=query, content=content))

    def download(self, run: int, attempt: int, offered: OfferedCheckpoint, target: Path) -> bool:
        """Fetch a checkpoint, and say whether it is undamaged."""
        digest = hashlib.sha256()
        with (
            self._reaching(),
            self._http.stream("GET", f"runs/{run}/files/{offered.id}", params={"attempt": attempt}) as reply,
            target.open("wb") as file,
        ):
            if not reply.is_success:
                reply.read()
                raise_problem(reply, missing=RefusedError)
            for block in reply.iter_bytes():
                digest.update(block)
                file.write(block)
        if digest.hexdigest() == offered.sha256:
            return True
        # The backend's tag of a file is its hash: only then are the bytes the backend's.
        if offered.sha256 not in reply.headers.get("ETag", ""):
            raise not_the_backend(reply)
        return False

    def release(self, run: int, attempt: int, ending: Ending) -> None:
        """Give the run back."""
        body = Release(attempt=attempt, outcome=ending.outcome, message=ending.message, traceback=ending.traceback)
        expect(Released, self._post(f"runs/{run}/release", body))

    def goodbye(self) -> None:
        """Say that this worker is leaving."""
        self._post("goodbye", Goodbye(name=self.name), timeout=5)

    def _post(self, path: str, body: BaseModel, **options: Any) -> httpx.Response:
        return self._call("POST", path, json=body.model_dump(), **options)

    def _call(self, method: str, path: str, **request: Any) -> httpx.Response:
        with self._reaching():
            reply = self._http.request(method, path, **request)
        if not reply.is_success:
            raise_problem(reply, missing=StaleAttemptError)
        return reply

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise UnreachableError(f"{self.url} is not reachable: {error or type(error).__name__}") from error
