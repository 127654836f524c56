"""`arcadia mcp`: tools for an assistant, over standard input and output."""

from __future__ import annotations

from typing import Annotated

import typer

from arcadia.cli.connection import resolve_connection
from arcadia.errors import ArcadiaError


def serve_mcp(
    ctx: typer.Context,
    write: Annotated[bool, typer.Option("--write", help="Let the assistant start and stop runs and studies.")] = False,
) -> None:
    """Serve an assistant's tools over standard input and output (MCP)."""
    try:
        from arcadia.mcp_server import serve_stdio
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise ArcadiaError(
            "The MCP server needs more packages. Install them: pip install 'arcadia-client[mcp]'."
        ) from None
    url, token = resolve_connection(ctx)
    serve_stdio(url, token, write=write)
