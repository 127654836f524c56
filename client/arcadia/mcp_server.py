"""The MCP server: serves the tools of assistants (mcp_tools.py)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from arcadia._async.client import AsyncClient
from arcadia._async.transport import AsyncTransport
from arcadia.mcp_tools import Connect, CreatingTools, ReadingTools, StoppingTools, Tools
from arcadia.version import client_version, local_user, user_agent

INSTRUCTIONS = (
    "Arcadia trains game-playing agents with A3C, PAAC, GA3C and Gorila. A run is one training; a study is many runs "
    "that answer one question. Compare methods only with compare_runs, whose verdict takes seeds into account."
)
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
CREATES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
STOPS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


class Server(MCPServer[Any]):
    """MCP server that names wrong arguments in one line each."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool by name with arguments."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.__cause__.errors()]
            raise ToolError("\n".join(wrong)) from None


def create_mcp_server(connect: Connect, *, write: bool) -> MCPServer[Any]:
    """Return the server. Tools that start or stop anything exist only if `write` is true."""
    server = Server("arcadia", instructions=INSTRUCTIONS, version=client_version())
    kinds: list[tuple[type[Tools], ToolAnnotations]] = [(ReadingTools, READ_ONLY)]
    if write:
        kinds += [(CreatingTools, CREATES), (StoppingTools, STOPS)]
    for kind, hints in kinds:
        tools = kind(connect)
        for name in vars(kind):
            if not name.startswith("_"):
                server.add_tool(getattr(tools, name), annotations=hints, structured_output=False)
    return server


def serve_stdio(url: str | None, token: str | None, *, write: bool) -> None:
    """Serve one assistant over standard input and output."""

    @asynccontextmanager
    async def connect(_context: Context[Any]) -> AsyncIterator[AsyncTransport]:
        async with AsyncClient(url, token, agent=user_agent("MCP", local_user())) as client:
            yield client.transport

    create_mcp_server(connect, write=write).run("stdio")
