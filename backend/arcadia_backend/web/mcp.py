"""/mcp: the tools of the client's MCP server, for assistants that connect over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import httpx
from arcadia._async.transport import AsyncTransport
from arcadia.version import user_agent
from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from arcadia_backend.web.security import ACTING

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"


class McpEndpoint:
    """ASGI endpoint of the MCP server. It starts with the first request, because its library loads slowly."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._wanted, self._ended = asyncio.Event(), asyncio.Event()
        self._manager: asyncio.Future[StreamableHTTPSessionManager] = asyncio.Future()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve inside the block."""
        serving = asyncio.create_task(self._serve())
        try:
            yield
        finally:
            self._ended.set()
            self._wanted.set()
            await serving

    async def _serve(self) -> None:
        """Hold the session manager open. It has to be opened and closed by the same task."""
        await self._wanted.wait()
        if self._ended.is_set():
            return
        try:
            manager = await run_in_threadpool(self._create_manager)
        except Exception as error:
            self._manager.set_exception(error)
            raise
        async with manager.run():
            self._manager.set_result(manager)
            await self._ended.wait()

    def _create_manager(self) -> StreamableHTTPSessionManager:
        from arcadia.mcp_server import create_mcp_server
        from mcp.server.transport_security import TransportSecuritySettings

        server = create_mcp_server(self._connect, write=self._app.state.settings.mcp_write)
        # The perimeter of the application checks hosts and origins.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(stateless_http=True, json_response=True, transport_security=unchecked)
        return server.session_manager

    @asynccontextmanager
    async def _connect(self, context: Context[Any]) -> AsyncIterator[AsyncTransport]:
        """Yield a connection to the API of this process, for the caller of this request."""
        request = cast("Request", context.request_context.request)
        known = {ACTING: replace(request.scope[ACTING], client="MCP")}

        async def call(scope: Scope, receive: Receive, send: Send) -> None:
            await self._app({**scope, **known}, receive, send)

        transport = AsyncTransport("http://127.0.0.1", None, httpx.ASGITransport(call), user_agent("MCP"))
        async with aclosing(transport):
            yield transport

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        self._wanted.set()
        manager = await asyncio.shield(self._manager)
        await manager.handle_request(scope, receive, send)


class _Endpoint:
    """The MCP endpoint of the running application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope["app"].state.mcp.handle(scope, receive, send)


def serve_mcp(app: FastAPI) -> None:
    """Serve the MCP endpoint, which the lifespan starts as `app.state.mcp`."""
    app.router.routes.append(Route(PATH, _Endpoint()))
