"""The Idempotency-Key header: a repeated request creates nothing and gets the response of the first one.

The key and the response are stored in the transaction that creates the object. A client that lost the response can
repeat the request, even if the server was killed (docs/decisions/0058-idempotency-keys.md).
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Annotated, TypeVar

from fastapi import Depends, FastAPI, Header, Request
from fastapi.responses import Response
from pydantic_core import to_json
from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import IdempotencyKey
from arcadia_backend.errors import Problem

HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotency-Replayed"
KEPT = timedelta(hours=24)

Created = TypeVar("Created")
Key = Annotated[
    str | None,
    Header(
        alias=HEADER,
        min_length=1,
        max_length=200,
        pattern=r"^[\x20-\x7e]+$",
        description="A unique text, for example a UUID. If a request with this key has already created something, the "
        "response is repeated with the header Idempotency-Replayed: true, and nothing is created. Keys are kept for "
        "24 hours.",
    ),
]


class KeyReused(Problem):
    """The key belongs to another request."""

    status = 409
    kind = "idempotency-key-reused"
    title = "Key of another request"

    def __init__(self) -> None:
        super().__init__(f"This {HEADER} was sent with another request. Use a new key for a new request.")


class Repetition(Exception):  # noqa: N818 - not an error
    """The stored response of the first request. Raising it rolls back the transaction of the repeated one."""

    def __init__(self, response: str, status: int) -> None:
        super().__init__("The request is a repetition.")
        self.response, self.status = response, status


class Once:
    """The idempotency key of a request, if it has one."""

    def __init__(self, key: str | None, fingerprint: str, status: int) -> None:
        self._key, self._fingerprint, self._status = key, fingerprint, status

    @contextmanager
    def write(self, database: Database) -> Iterator[Session]:
        """Open a transaction that holds the key. Raise Repetition if an earlier request has created the object.

        A concurrent request with the same key waits at its insert until this transaction ends.
        """
        with database.write() as session:
            # The key may be deleted between the failed insert and the check.
            while self._key is not None and not self._claim(session, self._key):
                self.check(session)
            yield session

    def check(self, session: Session) -> None:
        """Raise Repetition if the key has a response, or KeyReused if it belongs to another request."""
        stored = session.get(IdempotencyKey, self._key) if self._key is not None else None
        if stored is None:
            return
        if stored.fingerprint != self._fingerprint:
            raise KeyReused
        if stored.response is None:
            raise ValueError("a route claimed an idempotency key, but stored no response")
        raise Repetition(stored.response, self._status)

    def store(self, session: Session, response: Created) -> Created:
        """Store the response with the key, and return it."""
        if self._key is not None:
            stored = update(IdempotencyKey).where(IdempotencyKey.key == self._key)
            session.execute(stored.values(response=to_json(response).decode()))
        return response

    def _claim(self, session: Session, key: str) -> bool:
        """Insert the key. Return False if it exists."""
        build = (sqlite if session.get_bind().dialect.name == "sqlite" else postgresql).insert
        row = build(IdempotencyKey).values(key=key, fingerprint=self._fingerprint, created_at=utc_now())
        return session.execute(row.on_conflict_do_nothing().returning(IdempotencyKey.key)).first() is not None


async def read_body(request: Request) -> bytes:
    """Return the body. FastAPI has already read it."""
    return await request.body()


def read_once(request: Request, db: Db, body: Annotated[bytes, Depends(read_body)], key: Key = None) -> Once:
    """Return the request's key. Raise Repetition before the route validates anything that may have changed since."""
    scope = request.scope
    target = f"{request.method} {scope['path']}?{scope['query_string'].decode('latin-1')}\n"
    # People cannot get each other's responses by a key.
    if (person_id := current().person_id) is not None:
        target = f"{person_id} {target}"
    fingerprint = hashlib.sha256(target.encode("utf-8", "surrogateescape") + body).hexdigest()
    once = Once(key, fingerprint, scope["route"].status_code or 200)
    if key is not None:
        with db.read() as session:
            once.check(session)
    return once


Idempotent = Annotated[Once, Depends(read_once)]


def delete_expired_keys(database: Database, now: datetime) -> None:
    """Delete keys that are older than 24 hours."""
    expired = IdempotencyKey.created_at < now - KEPT
    with database.read() as session:
        if session.scalar(select(IdempotencyKey.key).where(expired).limit(1)) is None:
            return
    with database.write() as session:
        session.execute(delete(IdempotencyKey).where(expired))


def install(app: FastAPI) -> None:
    """Respond to a repeated request with the stored response."""

    @app.exception_handler(Repetition)
    def repeat(_request: Request, error: Repetition) -> Response:
        return Response(error.response, error.status, {REPLAYED_HEADER: "true"}, "application/json")
