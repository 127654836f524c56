"""`arcadia worker join`: a host gets the token of its workers for a code, and stores it with the server's address."""

import argparse
import contextlib
import json
import os
import socket
import ssl
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import httpx
from pydantic import TypeAdapter, ValidationError

from arcadia_workers.contract.layout import config_dir
from arcadia_workers.worker.backend_client import LOOPBACK

MAX_NAME = 100
# A worker uses the server that its host has joined, unless one of these names another.
NAMED_ELSEWHERE = {"ARCADIA_BACKEND_URL", "ARCADIA_WORKER_TOKEN", "ARCADIA_WORKER_TOKEN_FILE"}
SYSTEM_FILE = Path("/etc/arcadia/worker.json")


class JoinError(Exception):
    """A host cannot join, for a reason that a person can change."""


@dataclass(frozen=True)
class JoinedServer:
    """The server that this host has joined, as the file has it."""

    backend_url: str
    worker_token: str
    ca_file: Path | None = None


_adapter = TypeAdapter(JoinedServer)


def joined_file() -> Path:
    """Return the file of the joined server: that of the user, or that of the system for root."""
    if os.geteuid() == 0 and "XDG_CONFIG_HOME" not in os.environ:
        return SYSTEM_FILE
    return config_dir() / "arcadia" / "worker.json"


def read_joined() -> JoinedServer | None:
    """Return the server that this host has joined, or None if there is none or variables name another.

    Exit with a message if the file is damaged.
    """
    if NAMED_ELSEWHERE & os.environ.keys():
        return None
    file = joined_file()
    try:
        return _adapter.validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged"
        sys.exit(f"arcadia worker: cannot read {file}: {reason}. Delete it, and join again.")


def join(arguments: Sequence[str]) -> int:
    """Join a server. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="arcadia worker join", description="Join a server with a code of its page Workers."
    )
    parser.add_argument("url", metavar="URL", help="address of the server, such as https://arcadia.example.org")
    parser.add_argument("code", metavar="CODE", help="the code, which works once")
    parser.add_argument("--name", default=socket.gethostname(), help="name of this host (default: %(default)s)")
    parser.add_argument("--ca-file", type=Path, help="certificates that sign the server's, as PEM")
    options = parser.parse_args(arguments)
    url = options.url.rstrip("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        parser.error(f"{url} is not an address such as https://arcadia.example.org")
    ca_file = options.ca_file.resolve() if options.ca_file else None
    try:
        with _new_file() as file:
            # A code works once, so the file is opened before.
            token = _exchange(url, options.code, options.name[:MAX_NAME], ca_file)
            file.write(_adapter.dump_json(JoinedServer(url, token, ca_file), indent=1))
    except (JoinError, OSError) as error:
        print(f"arcadia worker join: {error}", file=sys.stderr)
        return 1
    print(f"This host has joined {url}. Its token is in {joined_file()}.")
    print("Start a worker with: arcadia worker")
    return 0


def _exchange(url: str, code: str, name: str, ca_file: Path | None) -> str:
    """Return the token for a code. Raise JoinError with what went wrong."""
    verify: ssl.SSLContext | bool = True
    if ca_file is not None:
        verify = ssl.create_default_context(cafile=ca_file)
    is_local = urlsplit(url).hostname in LOOPBACK
    try:
        with httpx.Client(verify=verify, trust_env=not is_local, timeout=30) as client:
            reply = client.post(f"{url}/api/v1/session/host", json={"code": code, "name": name})
    except httpx.HTTPError as error:
        raise JoinError(f"{url} is not reachable: {error or type(error).__name__}.") from None
    answer: object = None
    with contextlib.suppress(json.JSONDecodeError):
        answer = reply.json()
    if not isinstance(answer, dict):
        raise JoinError(f"{url} is not an Arcadia server. Check the address.")
    if reply.status_code == httpx.codes.NOT_FOUND:
        raise JoinError(f"{url} is older than this worker, and has no codes. Set ARCADIA_WORKER_TOKEN instead.")
    if not isinstance(secret := answer.get("secret"), str):
        raise JoinError(str(answer.get("detail") or answer.get("title") or f"{url} answered {reply.status_code}."))
    return secret


@contextlib.contextmanager
def _new_file() -> Iterator[BinaryIO]:
    """Write the file inside the block. Only its owner can read it. Keep the earlier one if the block fails."""
    file = joined_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = file.with_suffix(".part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
            yield opened
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
