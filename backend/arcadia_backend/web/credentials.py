"""Who acts: finds the actor of each request by its session, token, link or trusted proxy."""

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp

from arcadia_backend.accounts import people, roles, sign_in, tokens
from arcadia_backend.config import API, COOKIE, Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import BACKEND, NOBODY, Role, Scope, acting_as
from arcadia_backend.database.tables import JobWorker, Report, RunSubmission
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.notices import current_hub
from arcadia_backend.live.watches import PROXIED_PERSON, Credentials
from arcadia_backend.web.security import (
    ACTING,
    SHARED_REPORTS,
    WORKERS_ONLY,
    Unauthorized,
    WrongTokenLimit,
    address_of,
    bearer_of,
    client_of,
    job_worker_of,
    same,
    submission_of,
)

log = logging.getLogger(__name__)

# A change whose notice was lost takes effect after at most this time.
CACHE_SECONDS = 2.0
MAX_CACHED = 10_000

# Programs that train for all projects.
WORKERS = Scope(everything=True, name="worker", scopes=frozenset({"worker"}))

Lookup = Callable[[Session, str], Scope | None]


@dataclass(frozen=True)
class CachedScope:
    """The scope of a secret, and until when it is known."""

    scope: Scope | None
    ends: float
    generation: int


class CallerCredentials:
    """Finds the scope of each request. Scopes of secrets are cached for seconds by their digest."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self.limit, self.worker_limit = WrongTokenLimit(), WrongTokenLimit("wrong worker token")
        self._token = settings.token.get_secret_value()
        self._worker_token = settings.worker_token.get_secret_value()
        # The owner of an installation without accounts.
        self._owner: Scope | None = None
        self._checked_until, self._generation = -float("inf"), -1
        self._cache: dict[tuple[str, str], CachedScope] = {}
        self._failures = FailureLog(log)

    @property
    def is_open(self) -> bool:
        """True if everyone who reaches this server is its owner: without accounts and a token, on this machine only."""
        return self._owner is not None and not self._token and self._settings.is_loopback

    async def refresh(self) -> None:
        """Find out whether there are accounts, unless that is recent. Once there are, it stays so."""
        has_owner = self._owner is not None
        is_recent = time.monotonic() < self._checked_until and self._generation == roles.generation()
        if is_recent or (self._generation >= 0 and not has_owner):
            return
        await run_in_threadpool(self.find_owner)
        if has_owner and self._owner is None:
            # Pages that were open before have to sign in.
            current_hub().end_streams()

    def find_owner(self) -> None:
        """Read the owner of an installation without accounts."""
        checked_until, generation = time.monotonic() + CACHE_SECONDS, roles.generation()
        with acting_as(BACKEND), self._database.read() as session:
            owner = sign_in.find_owner(session)
        # Afterwards, because requests that arrive during the query must wait for their own.
        self._owner = None if owner is None else Scope(everything=True, person_id=owner.id)
        self._checked_until, self._generation = checked_until, generation

    async def scope_of(self, connection: HTTPConnection, *, is_public: bool = False) -> Scope:
        """Return the scope of a request, or NOBODY. Raise Unauthorized for a wrong token, except at a public door."""
        if (known := connection.scope.get(ACTING)) is not None:
            # A request of this process, which it makes for a caller.
            assert isinstance(known, Scope)  # noqa: S101 - only this process sets it
            return known
        address, path = address_of(connection), str(connection.scope["path"])
        if path.startswith(SHARED_REPORTS):
            acting = await self._of_link(path.removeprefix(SHARED_REPORTS).partition("/")[0])
        else:
            acting = await self._identify(connection, address, path) or NOBODY
        if not acting.is_known and not is_public and (secret := bearer_of(connection)):
            raise self._wrong_token(secret, address, path)
        client, user = client_of(connection)
        return replace(acting, address=address, client=client, user=user)

    async def present(self, app: ASGIApp, page: Credentials) -> Scope:
        """Return the present scope of an open connection. Raise Unauthorized if it would not be opened now."""
        connection = HTTPConnection({**page.scope(f"{API}/events"), "app": app})
        scope = await self.scope_of(connection)
        if not (scope.is_known and "read" in scope.scopes):
            raise Unauthorized("You are signed out, or may no longer read this. Sign in again.")
        return scope

    async def _identify(self, connection: HTTPConnection, address: str, path: str) -> Scope | None:
        secret, is_for_workers = bearer_of(connection), path.startswith(WORKERS_ONLY)
        if is_for_workers and secret:
            if self._worker_token and same(secret, self._worker_token):
                return WORKERS
            if submission_of(self._worker_token, secret) is not None:
                return await self._read("submission", secret, self._of_submission)
            if job_worker_of(self._worker_token, secret) is not None:
                return await self._read("job worker", secret, self._of_job_worker)
        has_token = bool(secret and self._token) and same(secret, self._token)
        if not is_for_workers and (self.is_open or has_token) and self._owner is not None:
            return self._owner
        if secret:
            return await self._read("token", secret, self._of_token(address))
        if self._owner is None and (person := connection.scope.get(PROXIED_PERSON)):
            return await self._read("person", person, self._of_proxied(address))
        if cookie := connection.cookies.get(COOKIE):
            if self._owner is not None:
                cookie = sign_in.of_installation(cookie, self._token)
            return await self._read("session", cookie, self._of_session(address))
        return None

    def why_unknown(self, path: str) -> Unauthorized:
        """Return the problem of a request that shows nothing."""
        if path.startswith(WORKERS_ONLY):
            if not self._worker_token:
                return Unauthorized("Workers cannot connect: ARCADIA_WORKER_TOKEN is not set on the server.")
            return Unauthorized("Send the worker token: Authorization: Bearer … (ARCADIA_WORKER_TOKEN).")
        if self._owner is not None and self._token:
            return Unauthorized("Sign in, or send the token: Authorization: Bearer … (ARCADIA_TOKEN).")
        return Unauthorized("Sign in, or send a token: Authorization: Bearer …")

    def _wrong_token(self, secret: str, address: str, path: str) -> Unauthorized:
        # `count` raises an error if there were too many.
        if path.startswith(WORKERS_ONLY):
            if not self._worker_token:
                return self.why_unknown(path)
            self.worker_limit.count(address, secret)
            return Unauthorized("This worker token is wrong. Send the value of ARCADIA_WORKER_TOKEN on the server.")
        if self._token and same(secret, self._token):
            return Unauthorized(
                "ARCADIA_TOKEN opens a server without accounts. This one has accounts: sign in, or create a token on "
                "your account's page, and send that."
            )
        self.limit.count(address, secret)
        if self._owner is not None:
            return Unauthorized("This token is wrong. Send the value of ARCADIA_TOKEN on the server.")
        return Unauthorized("This token is wrong, was revoked, or has expired. Create one on your account's page.")

    async def _of_link(self, link: str) -> Scope:
        """Return the scope of a shared report's readers: its project, to read."""
        project = await run_in_threadpool(self._project_of_link, link)
        if project is None:
            return NOBODY
        return Scope(everything=False, projects={project: Role.VIEWER}, name="shared link", scopes=frozenset({"read"}))

    def _project_of_link(self, link: str) -> int | None:
        with acting_as(BACKEND), self._database.read() as session:
            return session.scalar(select(Report.project_id).where(Report.share_token == link)) if link else None

    async def _read(self, kind: str, secret: str, look_up: Lookup) -> Scope | None:
        key = (kind, hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest())
        cached = self._cache.get(key)
        if cached is not None and time.monotonic() < cached.ends and cached.generation == roles.generation():
            return cached.scope
        return await run_in_threadpool(self._look_up, key, secret, look_up)

    def _look_up(self, key: tuple[str, str], secret: str, look_up: Lookup) -> Scope | None:
        # Before the query, so that a change during it is noticed.
        generation, ends = roles.generation(), time.monotonic() + CACHE_SECONDS
        with acting_as(BACKEND), self._database.read() as session:
            scope = look_up(session, secret)
        if len(self._cache) >= MAX_CACHED:
            self._cache = {}
        if scope is not None:
            self._cache[key] = CachedScope(scope, ends, generation)
        return scope

    def _of_submission(self, session: Session, secret: str) -> Scope | None:
        """Return the scope of a scheduler's job, until its submission has ended."""
        submission = submission_of(self._worker_token, secret)
        if submission is None:
            return None
        row = RunSubmission.run_id == submission[0], RunSubmission.attempt == submission[1]
        has_ended = session.scalar(select(RunSubmission.state).where(*row)) == "ended"
        return None if has_ended else replace(WORKERS, submission=submission)

    def _of_job_worker(self, session: Session, secret: str) -> Scope | None:
        """Return the scope of a scheduler's job that does jobs, until that has ended."""
        number = job_worker_of(self._worker_token, secret)
        row = None if number is None else session.get(JobWorker, number)
        return None if row is None or row.state == "ended" else replace(WORKERS, job_worker=number)

    def _of_token(self, address: str) -> Lookup:
        def look_up(session: Session, secret: str) -> Scope | None:
            token = tokens.token_of(session, secret)
            if token is None:
                return None
            self._note(lambda: tokens.note_use(self._database, token, address))
            if token.person_id is None:
                number = token.attempt or 0
                run = None if token.run_id is None else (token.run_id, number)
                job = None if token.job_id is None else (token.job_id, number)
                return replace(WORKERS, token_id=token.id, name=token.name, attempt=run, job=job)
            person = sign_in.person_of(session, token.person_id)
            return None if person is None else roles.scope_of(session, person, token=token)

        return look_up

    def _of_session(self, address: str) -> Lookup:
        def look_up(session: Session, secret: str) -> Scope | None:
            signed_in = sign_in.session_of(session, secret)
            person = sign_in.person_of(session, signed_in.person_id) if signed_in and signed_in.person_id else None
            if signed_in is None or person is None:
                return None
            self._note(lambda: sign_in.note_use(self._database, signed_in, address))
            return roles.scope_of(session, person, signed_in=signed_in)

        return look_up

    def _of_proxied(self, address: str) -> Lookup:
        def look_up(session: Session, name: str) -> Scope | None:
            """Return the scope of a person whom a trusted proxy names. Add the person at the first request."""
            person = people.find_identity(session, people.PROXY_ISSUER, name)
            if person is None:
                with acting_as(replace(BACKEND, address=address)), self._database.write() as writing:
                    person = people.find_or_add_identity(writing, people.PROXY_ISSUER, name, name, None)
            return None if person.disabled_at is not None else roles.scope_of(session, person)

        return look_up

    def _note(self, note: Callable[[], None]) -> None:
        """Store the last use. A request must not fail because that cannot be written now."""
        try:
            note()
        except SQLAlchemyError as error:
            self._failures.failed("The last use of a session or token cannot be stored", error, level=logging.WARNING)


def get_credentials(request: Request) -> CallerCredentials:
    """Return the credentials of the application."""
    credentials: CallerCredentials = request.app.state.credentials
    return credentials


CurrentCredentials = Annotated[CallerCredentials, Depends(get_credentials)]
