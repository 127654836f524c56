"""The backend's worker API over HTTP."""

import hashlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel

from workers.contract.worker_api import (
    Acknowledged,
    Claim,
    ClaimRequest,
    ErrandClaim,
    ErrandClaimRequest,
    FileKind,
    Goodbye,
    Heartbeat,
    HeartbeatAnswer,
    HeldJob,
    MachineFacts,
    Noun,
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
from workers.worker.job import Job

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

    def heartbeat(self, facts: MachineFacts, errand_slots: int, jobs: Collection[Job]) -> HeartbeatAnswer:
        """Say that this worker is alive and what it holds."""
        runs, errands = ([_held(job) for job in jobs if job.noun == noun] for noun in get_args(Noun))
        body = Heartbeat(
            name=self.name,
            queue=self.queue,
            run=runs[0] if runs else None,
            errand_slots=errand_slots,
            errands=errands,
            **facts.model_dump(),
        )
        return expect(HeartbeatAnswer, self._post("heartbeat", body, timeout=5))

    def claim(self) -> Claim | None:
        """Take the best waiting run, if one waits."""
        reply = self._post("claim", ClaimRequest(name=self.name, queue=self.queue))
        return None if reply.status_code == httpx.codes.NO_CONTENT else expect(Claim, reply)

    def claim_errand(self) -> ErrandClaim | None:
        """Take the oldest waiting errand, if one waits."""
        reply = self._post("errands/claim", ErrandClaimRequest(name=self.name))
        return None if reply.status_code == httpx.codes.NO_CONTENT else expect(ErrandClaim, reply)

    def post_events(self, job: Job, events: list[dict[str, Any]]) -> int:
        """Hand over events as the job's process wrote them, and return the last one that the backend has stored."""
        # Not an EventBatch: checking each event here as well would only cost time.
        reply = self._call("POST", f"{job.path}/events", json={"attempt": job.attempt, "events": events})
        return expect(Acknowledged, reply).acknowledged

    def upload(self, job: Job, kind: FileKind, path: str, file: Path) -> None:
        """Hand over a file of the job's directory; a repeated upload changes nothing."""
        query: dict[str, str | int] = {"attempt": job.attempt, "kind": kind, "path": path}
        with file.open("rb") as content:
            query["sha256"] = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            expect(UploadedFile, self._call("PUT", f"{job.path}/files", params=query, content=content))

    def download(self, job: Job, offered: OfferedCheckpoint, target: Path) -> bool:
        """Fetch a checkpoint, and say whether it is undamaged."""
        digest = hashlib.sha256()
        with (
            self._reaching(),
            self._http.stream("GET", f"{job.path}/files/{offered.id}", params={"attempt": job.attempt}) as reply,
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

    def release(self, job: Job, ending: Ending) -> None:
        """Give the job back."""
        body = Release(attempt=job.attempt, outcome=ending.outcome, message=ending.message, traceback=ending.traceback)
        expect(Released, self._post(f"{job.path}/release", body))

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


def _held(job: Job) -> HeldJob:
    return HeldJob(id=job.number, attempt=job.attempt)
