"""Credentials of requests, once the server has accounts: a session, a token or the token of the workers."""

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

from arcadia_backend.accounts import people, roles, sign_in, tokens
from arcadia_backend.config import COOKIE, Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.scope import NOBODY, OWNER, Role, Scope, acting_as
from arcadia_backend.database.tables import Report
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.live.notices import current_hub
from arcadia_backend.live.watches import PROXIED_PERSON
from arcadia_backend.web.security import (
    ACTING,
    SHARED_REPORTS,
    WORKERS_ONLY,
    Unauthorized,
    address_of,
    bearer_of,
    has_job_token,
    has_ticket,
    same,
)
from arcadia_backend.web.sessions import WrongTokenLimit

log = logging.getLogger(__name__)

# A change at another backend process, or on the command line, takes effect after at most this time.
CACHE_SECONDS = 5.0
MAX_CACHED = 10_000

# The issuer of people whom a reverse proxy names.
PROXY_ISSUER = "reverse proxy"
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

    def __init__(self, database: Database, settings: Settings, limit: WrongTokenLimit) -> None:
        self._database, self._settings, self._limit = database, settings, limit
        self._has_accounts, self._checked_until, self._generation = False, -float("inf"), -1
        self._cache: dict[tuple[str, str], CachedScope] = {}
        self._failures = FailureLog(log)

    async def are_required(self) -> bool:
        """Return True if everyone signs in: from the first account on, and where no token protects the server."""
        if self._has_accounts:
            return True
        if time.monotonic() >= self._checked_until or self._generation != roles.generation():
            await run_in_threadpool(self.check_accounts)
            if self._has_accounts:
                # Pages that were open before have to sign in.
                current_hub().end_streams()
        return self.were_required

    @property
    def were_required(self) -> bool:
        """True if everyone had to sign in at the last check."""
        return self._has_accounts or self._is_exposed

    @property
    def _is_exposed(self) -> bool:
        return not self._settings.is_loopback and not self._settings.token.get_secret_value()

    def check_accounts(self) -> None:
        """Find out whether there are accounts."""
        checked_until, generation = time.monotonic() + CACHE_SECONDS, roles.generation()
        with acting_as(OWNER), self._database.read() as session:
            has_accounts = sign_in.count_people(session) > 0
        # Afterwards, because requests that arrive during the query must wait for their own.
        self._has_accounts |= has_accounts
        self._checked_until, self._generation = checked_until, generation

    @staticmethod
    def is_known(acting: Scope) -> bool:
        """Return True unless the caller has shown nothing."""
        return acting.everything or acting.person_id is not None or acting.token_id is not None

    async def scope_of(self, connection: HTTPConnection, *, is_public: bool = False) -> Scope:
        """Return the scope of a request, or NOBODY. Raise Unauthorized for a wrong token, except at a public door."""
        if (known := connection.scope.get(ACTING)) is not None:
            # A request of this process, which it makes for a caller.
            assert isinstance(known, Scope)  # noqa: S101 - only this process sets it
            return known
        address, path = address_of(connection), str(connection.scope["path"])
        if path.startswith(SHARED_REPORTS):
            return await self._of_link(path.removeprefix(SHARED_REPORTS).partition("/")[0])
        secret = bearer_of(connection)
        if path.startswith(WORKERS_ONLY) and self._is_of_workers(connection, secret):
            return replace(WORKERS, address=address)
        acting = None
        if secret:
            acting = await self._read("token", secret, self._of_token(address))
            if acting is None and not is_public:
                raise self._wrong_token(secret, address)
        elif person := connection.scope.get(PROXIED_PERSON):
            acting = await self._read("person", person, self._of_proxied(address))
        elif cookie := connection.cookies.get(COOKIE):
            acting = await self._read("session", cookie, self._of_session(address))
        return replace(acting or NOBODY, address=address)

    def _is_of_workers(self, connection: HTTPConnection, secret: str) -> bool:
        expected = self._settings.worker_token.get_secret_value()
        return (
            bool(secret and expected and same(secret, expected)) or has_ticket(connection) or has_job_token(connection)
        )

    def _wrong_token(self, secret: str, address: str) -> Unauthorized:
        installation = self._settings.token.get_secret_value()
        if installation and same(secret, installation):
            return Unauthorized(
                "ARCADIA_TOKEN opens a server without accounts. This one has accounts: sign in, or create a token on "
                "your account's page, and send that."
            )
        # Raises an error if there were too many.
        self._limit.count(address, secret)
        return Unauthorized("This token is wrong, was revoked, or has expired. Create one on your account's page.")

    async def _of_link(self, link: str) -> Scope:
        """Return the scope of a shared report's readers: its project, to read."""
        project = await run_in_threadpool(self._project_of_link, link)
        if project is None:
            return NOBODY
        return Scope(everything=False, projects={project: Role.VIEWER}, name="shared link", scopes=frozenset({"read"}))

    def _project_of_link(self, link: str) -> int | None:
        with acting_as(OWNER), self._database.read() as session:
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
        with acting_as(OWNER), self._database.read() as session:
            scope = look_up(session, secret)
        if len(self._cache) >= MAX_CACHED:
            self._cache = {}
        if scope is not None:
            self._cache[key] = CachedScope(scope, ends, generation)
        return scope

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
            person = people.find_identity(session, PROXY_ISSUER, name)
            if person is None:
                with acting_as(replace(OWNER, address=address)), self._database.write() as writing:
                    person = people.find_or_add_identity(writing, PROXY_ISSUER, name, name, None)
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
