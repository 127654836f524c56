"""`arcadia login`: verify and store the URL and the token of a server."""

from __future__ import annotations

import os
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from arcadia._sync.client import Client
from arcadia.cli.connection import options_of
from arcadia.cli.output import show
from arcadia.errors import ApiError, ArcadiaError, NotFoundError
from arcadia.settings import ENVIRONMENT, TOKEN_VARIABLE, Token, check_token, resolve_url, store_login


def login(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="[URL]", help="URL of the server. Default: as --url.")] = "",
) -> None:
    """Store the URL of a server and its token, after checking both.

    The token comes from --token-file, ARCADIA_TOKEN, a pipe, or a prompt.
    """
    options = options_of(ctx)
    address = resolve_url(url or options.url)
    token = (options.token() or _read_token(address)) if _requires_token(address) else None
    if token is not None:
        _verify(address, token)
    place = store_login(address, token)
    show(f"Signed in to {address}. The token is in {place}." if place else f"{address} needs no token. URL stored.")


def _requires_token(url: str) -> bool:
    """Return True if a server requires a token. Raise ArcadiaError if this is not the URL of Arcadia."""
    try:
        with Client(url) as client:
            return bool(client.transport.get("/session")["required"])
    except (ApiError, ValueError, LookupError, TypeError) as error:
        root = urlsplit(url)._replace(path="", query="", fragment="").geturl()
        if isinstance(error, ApiError) and not isinstance(error, NotFoundError) and root == url:
            raise
        hint = "Check the address" if root == url else f"Use the address without a path: arcadia login {root}"
        raise ArcadiaError(f"{url} is not the URL of an Arcadia server. {hint}.") from None


def _read_token(url: str) -> Token:
    """Return the token from the environment, a pipe, or a prompt that does not show it."""
    if (token := os.environ.get(TOKEN_VARIABLE, "")).strip():
        return check_token(token, ENVIRONMENT)
    if sys.stdin.isatty():
        typed = typer.prompt(f"Token of {url} (ARCADIA_TOKEN of the server)", hide_input=True, err=True)
        return check_token(str(typed), "the prompt")
    # Latin-1 has a character for every byte. A token with another one than those of ASCII is an error anyway.
    if token := sys.stdin.buffer.readline().decode("latin-1").strip():
        return check_token(token, "the standard input")
    raise ArcadiaError(f"{url} needs a token. Pipe it to `arcadia login`, or use --token-file.")


def _verify(url: str, token: Token) -> None:
    with Client(url, token) as client:
        if not client.transport.get("/session")["signed_in"]:
            raise ArcadiaError(
                f"{url} rejects this token, which is from {token.source}. Use the value of ARCADIA_TOKEN on the server."
            )
