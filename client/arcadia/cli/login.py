"""`arcadia login` and `arcadia logout`: the URL of a server and its token."""

from __future__ import annotations

import getpass
import os
import socket
import sys
import time
import webbrowser
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from arcadia._sync.client import Client
from arcadia.cli.options import options_of
from arcadia.cli.output import INTERRUPTED, say, show
from arcadia.errors import ApiError, ArcadiaError, NotFoundError, ServerUnreachableError, UnauthorizedError
from arcadia.settings import (
    ENVIRONMENT,
    TOKEN_VARIABLE,
    Token,
    check_token,
    delete_login,
    resolve_url,
    store_login,
    stored_token,
)

SCOPES = ("read", "write", "log")
# RFC 8628: wait this much longer after each request that came too early.
SLOW_DOWN_SECONDS = 5
MAX_NAME = 100
SERVER_TOKEN = "Use the value of ARCADIA_TOKEN on the server."  # noqa: S105 - a sentence

Url = Annotated[str, typer.Argument(metavar="[URL]", help="URL of the server. Default: as --url.")]


def login(
    ctx: typer.Context,
    url: Url = "",
    name: Annotated[
        str, typer.Option("--name", help="Name of the token in the settings. Default: you and this machine.")
    ] = "",
    scopes: Annotated[
        list[str],
        typer.Option("--scope", metavar="SCOPE", help="read, write, log or worker. Repeatable. Default: the first 3."),
    ] = [],  # noqa: B006 - Typer copies it
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Sign in to a server in the browser, and store its URL and a token.

    If --token-file, ARCADIA_TOKEN or a pipe gives a token, that one is checked and stored. A server without accounts
    asks for its token.
    """
    options = options_of(ctx)
    address = resolve_url(url or options.url)
    if not _requires_token(address):
        store_login(address, None)
        show(f"{address} needs no token. URL stored.")
        return
    has_accounts = _has_accounts(address)
    token = options.token() or _given_token() or (None if has_accounts else _ask_for_token(address))
    if token is not None:
        _verify(address, token, "Create one in the settings." if has_accounts else SERVER_TOKEN)
        show(f"Signed in to {address}. The token is in {store_login(address, token)}.")
        return
    created = _sign_in_by_code(address, name.strip() or _default_name(), scopes or SCOPES, browser=browser)
    place = store_login(address, created["secret"])
    where = f", for the project {created['project']}" if created["project"] else ""
    show(f"Signed in to {address} as {created['person']['name']}{where}. The token is in {place}.")


def logout(
    ctx: typer.Context,
    url: Url = "",
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Revoke all of your tokens, also those of other machines.")
    ] = False,
) -> None:
    """Revoke the token that `arcadia login` has stored, and delete it from this machine."""
    address = resolve_url(url or options_of(ctx).url)
    token = stored_token(address)
    if token is None:
        raise ArcadiaError(f"No token of {address} is stored.")
    problem = _revoke(address, token, "/tokens" if everywhere else "/session/token")
    delete_login(address)
    if problem:
        say(f"arcadia: The token is deleted here, but the server has not revoked it: {problem}")
        say(f"Revoke it at {address}/settings/tokens.")
        raise typer.Exit(1)
    show(f"Signed out of {address}.")


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


def _has_accounts(url: str) -> bool:
    """Return True if people sign in to a server. One with only its own token does not say how."""
    with Client(url) as client:
        try:
            return bool(client.transport.get("/session/methods")["password"])
        except UnauthorizedError:
            return False


def _given_token() -> Token | None:
    """Return the token from the environment or a pipe, or None."""
    if (token := os.environ.get(TOKEN_VARIABLE, "")).strip():
        return check_token(token, ENVIRONMENT)
    # Latin-1 has a character for every byte. A token with another one than those of ASCII is an error anyway.
    if not sys.stdin.isatty() and (token := sys.stdin.buffer.readline().decode("latin-1").strip()):
        return check_token(token, "the standard input")
    return None


def _ask_for_token(url: str) -> Token:
    """Return the token from a prompt that does not show it."""
    if not sys.stdin.isatty():
        raise ArcadiaError(f"{url} needs a token. Pipe it to `arcadia login`, or use --token-file.")
    typed = typer.prompt(f"Token of {url} (ARCADIA_TOKEN of the server)", hide_input=True, err=True)
    return check_token(str(typed), "the prompt")


def _verify(url: str, token: Token, remedy: str) -> None:
    try:
        with Client(url, token) as client:
            is_signed_in = client.transport.get("/session")["signed_in"]
    except UnauthorizedError:
        is_signed_in = False
    if not is_signed_in:
        raise ArcadiaError(f"{url} rejects this token, which is from {token.source}. {remedy}")


def _default_name() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container may run as a user without a name
        user = "arcadia"
    return f"{user}@{socket.gethostname()}"[:MAX_NAME]


def _sign_in_by_code(url: str, name: str, scopes: Sequence[str], *, browser: bool) -> dict[str, Any]:
    """Show a code, and return the token when a person has confirmed it in a browser."""
    with Client(url) as client:
        started = client.transport.post("/session/device", {"name": name, "scopes": list(scopes)})
        say(f"Open {url}{started['path']} and confirm this code: {started['code']}")
        if browser and webbrowser.open(f"{url}{started['path_with_code']}"):
            say("A browser was opened. Waiting for the confirmation…")
        else:
            say("Any browser will do, also on another device. Waiting for the confirmation…")
        try:
            return _collect(client, started)
        except KeyboardInterrupt:
            say("\nNot signed in. The code expires in some minutes.")
            raise typer.Exit(INTERRUPTED) from None


def _collect(client: Client, started: dict[str, Any]) -> dict[str, Any]:
    """Poll until the login is confirmed, refused or has expired."""
    interval = started["interval"]
    while True:
        time.sleep(interval)
        try:
            collected: dict[str, Any] = client.transport.post("/session/device/token", {"secret": started["secret"]})
        except ServerUnreachableError:
            # The server may restart. It says later if the login has expired.
            continue
        except ApiError as error:
            if error.kind == "slow-down":
                interval += SLOW_DOWN_SECONDS
            elif error.kind != "authorization-pending":
                raise ArcadiaError(f"Not signed in. {error.detail}") from None
        else:
            return collected


def _revoke(url: str, token: Token, path: str) -> str:
    """Revoke a token, or all of its person. Return why that failed, or nothing, also if the token has ended already."""
    try:
        with Client(url, token) as client:
            client.transport.call("DELETE", path)
    except (UnauthorizedError, NotFoundError) as error:
        # It has ended, or it is the server's own token, which belongs to nobody. Or it may not revoke others.
        return str(error) if error.status == HTTPStatus.FORBIDDEN else ""
    except ArcadiaError as error:
        return str(error)
    return ""
