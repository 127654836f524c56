"""Client of the backend's worker API."""

import hashlib
import io
import math
import re
import ssl
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol, get_args
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel

from arcadia_workers.contract.events import FileKind
from arcadia_workers.contract.live import LiveAddress
from arcadia_workers.contract.worker_api import (
    INSTALLATION_HEADER,
    MAX_BELL_SECONDS,
    WORKERS,
    Acknowledged,
    Claim,
    ClaimRequest,
    Goodbye,
    Heartbeat,
    HeartbeatAnswer,
    HeldAssignment,
    JobClaim,
    JobClaimRequest,
    MachineFacts,
    Noun,
    QueueName,
    Release,
    Released,
    Ring,
    RunClaimRequest,
    UploadedFile,
    UploadProgress,
)
from arcadia_workers.worker.answers import (
    BackendError,
    LaterError,
    RejectedError,
    StaleAttemptError,
    UnreachableError,
    WrongTokenError,
    expect,
    not_the_backend,
    raise_problem,
)
from arcadia_workers.worker.assignment import Assignment, Ending

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# Limits for responses. The backend's are far smaller, but a proxy may send more.
MAX_RESPONSE_BYTES = 20_000_000
MAX_RESPONSE_SECONDS = 60.0
# How long the response to a wait may take after the end of the wait.
ANSWER_SECONDS = 10.0
# Larger files are sent in pieces of this size.
PIECE_BYTES = 4_000_000


class Offered(Protocol):
    """A file to download for an assignment, with its path below the assignment's API path."""

    sha256: str
    bytes: int

    @property
    def path(self) -> str: ...


class BackendClient:
    """A worker's client of the backend. It is thread-safe.

    After the first response that its token is wrong, it sends nothing more.
    """

    def __init__(
        self,
        url: str,
        token: str,
        name: str,
        queue: QueueName,
        on_wrong_token: Callable[[], None] = lambda: None,
        *,
        executor: str = WORKERS,
        ca_file: Path | None = None,
    ) -> None:
        self.url, self.name, self.queue = url.rstrip("/"), name, queue
        self._on_wrong_token, self._executor = on_wrong_token, executor
        self.wrong_token: WrongTokenError | None = None
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1/worker/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(30, connect=3),
            verify=ssl.create_default_context(cafile=ca_file) if ca_file else True,
            trust_env=urlsplit(url).hostname not in LOOPBACK,  # a proxy cannot reach loopback
        )

        # When the backend last accepted a heartbeat or events, by time.monotonic().
        self.accepted_at = -math.inf

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def heartbeat(self, facts: MachineFacts, job_slots: int, assignments: Collection[Assignment]) -> HeartbeatAnswer:
        """Report that this worker is alive and which assignments of one installation it holds."""
        runs, jobs = (
            [_held(assignment) for assignment in assignments if assignment.noun == noun] for noun in get_args(Noun)
        )
        body = Heartbeat(
            name=self.name,
            queue=self.queue,
            run=runs[0] if runs else None,
            job_slots=job_slots,
            executor=self._executor,
            jobs=jobs,
            **facts.model_dump(),
        )
        installation = next((assignment.installation for assignment in assignments), None)
        answer = expect(HeartbeatAnswer, self._post("heartbeat", body, installation, timeout=5))
        self.accepted_at = time.monotonic()
        return answer

    def claim(self) -> Claim | None:
        """Claim the best waiting run, if any."""
        reply = self._post("claim", ClaimRequest(name=self.name, queue=self.queue))
        return None if reply.status_code == httpx.codes.NO_CONTENT else expect(Claim, reply)

    def wait_for_bell(self, *, takes_jobs: bool) -> Ring:
        """Wait until something is queued that this worker may take, or until the time is over."""
        query = {"name": self.name, "queue": self.queue, "jobs": takes_jobs, "seconds": MAX_BELL_SECONDS}
        reply = self._send("GET", "bell", {}, params=query, timeout=MAX_BELL_SECONDS + ANSWER_SECONDS)
        if reply.status_code == httpx.codes.NOT_FOUND:
            raise LaterError(
                f"{self.url} is older than this worker, and cannot ring without a broker. Upgrade it, or set "
                "ARCADIA_BROKER_URL to its Redis."
            )
        if not reply.is_success:
            self._raise_problem(reply, LaterError)
        self.accepted_at = time.monotonic()
        return expect(Ring, reply)

    def claim_run(self, run_id: int, attempt: int) -> Claim:
        """Claim one run for the job of a scheduler. Raise StaleAttemptError if there is nothing to do."""
        body = RunClaimRequest(name=self.name, attempt=attempt)
        call = partial(self._call, "POST", f"runs/{run_id}/claim", None, missing=RejectedError)
        return expect(Claim, call(json=body.model_dump()))

    def claim_job(self) -> JobClaim | None:
        """Claim the next waiting job, if any."""
        reply = self._post("jobs/claim", JobClaimRequest(name=self.name))
        return None if reply.status_code == httpx.codes.NO_CONTENT else expect(JobClaim, reply)

    def post_events(self, assignment: Assignment, events: list[dict[str, Any]]) -> int:
        """Post events unchanged, and return the number of the last stored one."""
        # Not an EventBatch, because validating each event here would only cost time.
        body = {"attempt": assignment.attempt, "events": events}
        reply = self._call_of(assignment, "POST", "events", json=body)
        acknowledged = expect(Acknowledged, reply).acknowledged
        self.accepted_at = time.monotonic()
        return acknowledged

    def upload(self, assignment: Assignment, kind: FileKind, path: str, file: Path) -> None:
        """Upload a file of the assignment's directory. Repeated uploads change nothing.

        A large file is sent in pieces, so that a repeated call continues where the last one was cut off.
        """
        query: dict[str, str | int] = {"attempt": assignment.attempt, "kind": kind, "path": path}
        with file.open("rb") as content:
            query["sha256"] = hashlib.file_digest(content, "sha256").hexdigest()
            size = content.tell()
            if size > PIECE_BYTES:
                self._upload_pieces(assignment, query, content, size)
                return
            content.seek(0)
            expect(UploadedFile, self._call_of(assignment, "PUT", "files", params=query, content=content))

    def _upload_pieces(self, assignment: Assignment, query: dict[str, str | int], content: BinaryIO, size: int) -> None:
        progress = expect(UploadProgress, self._call_of(assignment, "GET", "files", params=query))
        while progress.file_id is None:
            offset = progress.offset
            content.seek(offset)
            piece = io.BytesIO(content.read(PIECE_BYTES))
            params = query | {"offset": offset, "size": size}
            reply = self._call_of(assignment, "PATCH", "files", params=params, content=piece)
            progress = expect(UploadProgress, reply)
            if progress.file_id is None and progress.offset <= offset:
                raise UnreachableError(f"{self.url} received nothing of {query['path']}")

    def download(self, assignment: Assignment, offered: Offered, target: Path) -> bool:
        """Download a file of the assignment. Return True if its hash is right."""
        digest = hashlib.sha256()
        with (
            self._reaching(),
            self._http.stream(
                "GET",
                f"{assignment.path}/{offered.path}",
                params={"attempt": assignment.attempt},
                headers=_headers(assignment.installation),
            ) as reply,
            target.open("wb") as file,
        ):
            if not reply.is_success:
                self._raise_problem(_whole(reply), missing=RejectedError)
            for block in reply.iter_bytes():
                digest.update(block)
                file.write(block)
                if file.tell() > offered.bytes:
                    break  # larger than announced, so it is another file
        if digest.hexdigest() == offered.sha256:
            return True
        # The ETag is the file's hash. Without it, the bytes are not from the backend.
        if offered.sha256 not in reply.headers.get("ETag", ""):
            raise not_the_backend(reply)
        return False

    def live_address(self, assignment: Assignment) -> LiveAddress:
        """Return the WebSocket address and the ticket for a live game's process."""
        url = f"{re.sub('^http', 'ws', self.url)}/api/v1/worker/{assignment.path}/live?attempt={assignment.attempt}"
        return LiveAddress(url=url, ticket=assignment.token or "")

    def release(self, assignment: Assignment, ending: Ending) -> None:
        """Release the assignment with its ending."""
        body = Release(
            attempt=assignment.attempt, outcome=ending.outcome, message=ending.message, traceback=ending.traceback
        )
        expect(Released, self._call_of(assignment, "POST", "release", json=body.model_dump()))

    def goodbye(self) -> None:
        """Report that this worker stops."""
        self._post("goodbye", Goodbye(name=self.name), timeout=5)

    def _post(self, path: str, body: BaseModel, installation: str | None = None, **options: Any) -> httpx.Response:
        return self._call("POST", path, installation, json=body.model_dump(), **options)

    def _call_of(self, assignment: Assignment, method: str, path: str, **request: Any) -> httpx.Response:
        """Call a route of an assignment, with the token of its attempt if it has one."""
        return self._call(method, f"{assignment.path}/{path}", assignment.installation, assignment.token, **request)

    def _call(
        self,
        method: str,
        path: str,
        installation: str | None,
        token: str | None = None,
        *,
        missing: type[BackendError] = StaleAttemptError,
        **request: Any,
    ) -> httpx.Response:
        reply = self._send(method, path, _headers(installation, token), **request)
        if token is not None and reply.status_code == httpx.codes.UNAUTHORIZED:
            # The attempt may be over. With the worker token, the backend says so.
            if "content" in request:
                request["content"].seek(0)
            reply = self._send(method, path, _headers(installation), **request)
        if not reply.is_success:
            self._raise_problem(reply, missing)
        return reply

    def _send(self, method: str, path: str, headers: dict[str, str], **request: Any) -> httpx.Response:
        with self._reaching(), self._http.stream(method, path, headers=headers, **request) as stream:
            return _whole(stream)

    def _raise_problem(self, reply: httpx.Response, missing: type[BackendError]) -> NoReturn:
        """Raise the exception for a problem document. Report a wrong token once."""
        try:
            raise_problem(reply, missing)
        except WrongTokenError as error:
            is_news, self.wrong_token = self.wrong_token is None, error
            if is_news:
                self._on_wrong_token()
            raise

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        if self.wrong_token is not None:
            raise self.wrong_token
        try:
            yield
        except httpx.HTTPError as error:
            raise UnreachableError(f"{self.url} is not reachable: {error or type(error).__name__}") from error


def _headers(installation: str | None, token: str | None = None) -> dict[str, str]:
    """Return the header that makes other installations reject the call, and that of another token."""
    headers = {} if installation is None else {INSTALLATION_HEADER: installation}
    return headers | ({} if token is None else {"Authorization": f"Bearer {token}"})


def _held(assignment: Assignment) -> HeldAssignment:
    return HeldAssignment(id=assignment.number, attempt=assignment.attempt)


def _whole(stream: httpx.Response) -> httpx.Response:
    """Read a whole response within the limits."""
    content, deadline = bytearray(), time.monotonic() + MAX_RESPONSE_SECONDS
    for block in stream.iter_bytes():
        content += block
        if len(content) > MAX_RESPONSE_BYTES or time.monotonic() > deadline:
            raise not_the_backend(stream)
    # Without Content-Encoding, because the content is decoded here.
    headers = [(name, value) for name, value in stream.headers.items() if name in ("content-type", "etag")]
    return httpx.Response(stream.status_code, headers=headers, content=bytes(content), request=stream.request)
