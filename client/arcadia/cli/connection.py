"""The connection of a command to the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import typer

from arcadia._sync.client import Client
from arcadia._sync.transport import API
from arcadia.errors import ArcadiaError, NotFoundError
from arcadia.settings import Token, check_token, resolve_token, resolve_url
from arcadia.version import local_user, user_agent

VERSION_TIMEOUT_SECONDS = 2.0
# These options may be anywhere in the command line, as ARCADIA_URL would apply to all commands.
GLOBAL_OPTIONS = ("--url", "--token-file")


@dataclass(frozen=True)
class ConnectionOptions:
    """The options `--url` and `--token-file`."""

    url: str | None = None
    token_file: Path | None = None

    def token(self) -> Token | None:
        """Return the content of the token file, or None if no file is given."""
        return None if self.token_file is None else read_token(self.token_file)


def read_token(file: Path) -> Token:
    """Return the token in a file."""
    try:
        token = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ArcadiaError(f"The token file {file} cannot be read: {error}") from None
    if not token:
        raise ArcadiaError(f"The token file {file} is empty.")
    return check_token(token, f"the file {file}")


def options_of(ctx: typer.Context) -> ConnectionOptions:
    """Return the connection options of the command line."""
    found = ctx.find_root().obj
    return found if isinstance(found, ConnectionOptions) else ConnectionOptions()


def open_client(ctx: typer.Context) -> Client:
    """Return a client that closes when the command ends."""
    options = options_of(ctx)
    client = Client(options.url, options.token(), agent=user_agent("CLI", local_user()))
    ctx.call_on_close(client.close)
    return client


def resolve_connection(ctx: typer.Context) -> tuple[str, Token | None]:
    """Return the URL and the token, for requests without the client."""
    options = options_of(ctx)
    url = resolve_url(options.url)
    return url, resolve_token(url, options.token())


def describe_server(options: ConnectionOptions) -> str:
    """Return the build of the server, or nothing if none answers. Only an explicit URL is an error then."""
    url = resolve_url(options.url)
    token = resolve_token(url, options.token())
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        response = httpx.get(f"{url}{API}/health", headers=headers, timeout=VERSION_TIMEOUT_SECONDS)
        health = response.raise_for_status().json()
        return f"server {health['build']} at {url}"
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError) as error:
        if options.url:
            raise ArcadiaError(f"The server at {url} does not report its version: {error}") from None
        return ""


def move_global_options(arguments: list[str]) -> list[str]:
    """Return the arguments with the global options first, so that they may follow the command's name."""
    moved: list[str] = []
    others: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            return [*moved, *others, argument, *waiting]
        if argument in GLOBAL_OPTIONS:
            moved += [argument, *waiting[:1]]
            del waiting[:1]
        else:
            (moved if argument.startswith(tuple(f"{name}=" for name in GLOBAL_OPTIONS)) else others).append(argument)
    return [*moved, *others]


def explain_empty(client: Client, noun: str, options: Mapping[str, str]) -> str:
    """Return why no item has the given options, or nothing if none is given. One of them may be the project."""
    project = options.get("project")
    if project:
        names = [each.name for each in client.projects()]
        if project.strip().casefold() not in (name.casefold() for name in names):
            return str(NotFoundError.of_name("project", project, names))
    given = " ".join(f"--{name} {value}" for name, value in options.items() if value)
    return f"There is no {noun} with {given}." if given else ""
