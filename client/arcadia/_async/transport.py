"""HTTP requests to the API, with retries that never create anything twice."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import httpx

from arcadia.errors import ApiError, ArcadiaError, ServerUnreachableError, UnauthorizedError, error_from_problem
from arcadia.records import Record
from arcadia.settings import DEFAULT_URL, describe_wrong_token
from arcadia.version import local_user, user_agent

if TYPE_CHECKING:
    from typing_extensions import Self


async def sleep(seconds: float) -> None:
    """Wait."""
    await asyncio.sleep(seconds)


API = "/api/v1"
# Longer than the longest waiting request.
TIMEOUT = httpx.Timeout(90.0, connect=10.0)
# The server answers an upload when it has stored everything in it.
UPLOAD_TIMEOUT = httpx.Timeout(90.0, connect=10.0, read=3_600.0)
MAX_TRIES = 5
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.25, 8.0
# The server is starting, busy, or behind a proxy that has lost it.
RETRIED_STATUSES = frozenset({429, 502, 503, 504})
UNAUTHORIZED = 401
# Pause between the tries of a call that may wait for hours and must survive a restart of the server.
OUTAGE_PAUSE_SECONDS = 2.0
# Python prints warnings on stderr if no handler is configured.
LOGGER = logging.getLogger("arcadia")


class AsyncTransport:
    """One HTTP connection pool of a server."""

    def __init__(
        self,
        url: str,
        token: str | None,
        transport: httpx.AsyncBaseTransport | None = None,
        agent: str | None = None,
    ) -> None:
        self.url, self.token, self.given = url, token, transport
        headers = {"User-Agent": agent or user_agent("Python client", local_user())}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            self._http = httpx.AsyncClient(base_url=url + API, headers=headers, timeout=TIMEOUT, transport=transport)
        except httpx.InvalidURL as error:
            raise ArcadiaError(f"{url} is not a URL ({error}). Use one such as {DEFAULT_URL}.") from None

    async def get(self, path: str, **params: Any) -> Any:
        """Return the parsed response of a GET request. Parameters that are None are left out."""
        return await self.call("GET", path, params=params)

    async def get_patiently(self, path: str, deadline: float = math.inf, **params: Any) -> Any:
        """Return the parsed response of a GET request. Retry while the server is unavailable, until the deadline.

        The deadline is a time of `time.monotonic`.
        """
        is_outage = False
        while True:
            try:
                response = await self.get(path, **params)
            except (ServerUnreachableError, ApiError) as error:
                is_retried = not isinstance(error, ApiError) or error.status in RETRIED_STATUSES
                if not is_retried or time.monotonic() >= deadline:
                    raise
                if not is_outage:
                    LOGGER.warning("%s Trying again.", error)
                is_outage = True
                await sleep(OUTAGE_PAUSE_SECONDS)
                continue
            if is_outage:
                LOGGER.warning("The server answers again.")
            return response

    async def pages(
        self,
        path: str,
        *,
        limit: int | None = None,
        page_size: int = 1_000,
        cursor_name: str = "cursor",
        next_name: str = "next_cursor",
        read: Callable[[Mapping[str, Any]], list[dict[str, Any]]] = itemgetter("items"),
        **params: Any,
    ) -> list[dict[str, Any]]:
        """Return the items from all pages, or from as many pages as `limit` needs."""
        items: list[dict[str, Any]] = []
        cursor = None
        while limit is None or len(items) < limit:
            size = page_size if limit is None else min(page_size, limit - len(items))
            page = await self.get(path, **params, limit=size, **{cursor_name: cursor})
            items += read(page)
            cursor = page[next_name]
            if cursor is None:
                break
        return items

    async def post(self, path: str, body: object = None, **params: Any) -> Any:
        """Return the parsed response of a POST request."""
        return await self.call("POST", path, body=body, params=params)

    async def patch(self, path: str, body: object) -> Any:
        """Return the parsed response of a PATCH request."""
        return await self.call("PATCH", path, body=body)

    async def delete(self, path: str) -> None:
        """Send a DELETE request."""
        await self.call("DELETE", path)

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        params: Mapping[str, Any] | None = None,
    ) -> Any:
        """Send a request and return the parsed JSON, or None for an empty response."""
        response = await self.send(method, path, body=body, params=params)
        return response.json() if response.content else None

    async def send(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> httpx.Response:
        """Send a request, retry it while that may help, and raise an ApiError if the server rejects it.

        All tries of a POST request carry the same Idempotency-Key, so the server creates at most one thing.
        The caller closes a streamed response.
        """
        request = self._http.build_request(
            method,
            path,
            json=body,
            params={name: value for name, value in (params or {}).items() if value is not None},
            headers={"Idempotency-Key": uuid.uuid4().hex} if method == "POST" else headers,
        )
        for tried in range(1, MAX_TRIES + 1):
            last = tried == MAX_TRIES
            try:
                response = await self._http.send(request, stream=stream)
            except httpx.TransportError as error:
                if last:
                    raise ServerUnreachableError(
                        f"No Arcadia server answers at {self.url} ({error or type(error).__name__}). "
                        "Start one with `arcadia up`, or set --url or ARCADIA_URL."
                    ) from None
            else:
                if response.is_success:
                    return response
                await response.aread()
                await response.aclose()
                if last or response.status_code not in RETRIED_STATUSES:
                    raise self._error(response)
            await sleep(_pause(tried))
        raise AssertionError("unreachable")

    async def upload(self, path: str, blocks: AsyncIterator[bytes], size: int, **params: Any) -> Any:
        """Send a body block by block, once, and return the parsed response."""
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        try:
            given = {name: value for name, value in params.items() if value is not None}
            response = await self._http.post(
                path, params=given, content=blocks, headers=headers, timeout=UPLOAD_TIMEOUT
            )
        except httpx.TransportError as error:
            raise ServerUnreachableError(
                f"The upload to {self.url} was interrupted ({error or type(error).__name__}). Start it again."
            ) from None
        if not response.is_success:
            raise self._error(response)
        return response.json()

    def _error(self, response: httpx.Response) -> ApiError:
        """Return the error of a response."""
        if response.status_code == UNAUTHORIZED:
            return UnauthorizedError(UNAUTHORIZED, describe_wrong_token(self.url, self.token))
        return error_from_problem(response.status_code, _parsed(response))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _pause(tried: int) -> float:
    """Return the seconds before the next try: exponential, with jitter so that clients spread out."""
    return min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (tried - 1)) * random.uniform(0.5, 1.0)  # noqa: S311


def _parsed(response: httpx.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return None


class AsyncRequests:
    """Some methods of the client."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.transport = transport


class AsyncLinkedRecord(Record):
    """A record with a connection to the server that sent it."""

    def __init__(self, transport: AsyncTransport, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport

    @property
    def _path(self) -> str:
        """Path in the API."""
        raise NotImplementedError

    async def _edit(self, fields: Mapping[str, Any]) -> Self:
        """Change the fields that are not None."""
        body = {name: value for name, value in fields.items() if value is not None}
        self.data = await self._transport.patch(self._path, body)
        return self

    async def _act(self, action: str) -> Self:
        self.data = await self._transport.post(f"{self._path}/{action}")
        return self


class AsyncRefreshable(AsyncLinkedRecord):
    """A record whose properties show the state of the last response."""

    async def refresh(self) -> Self:
        """Read the object again with all its details."""
        self.data = await self._transport.get(self._path)
        return self
