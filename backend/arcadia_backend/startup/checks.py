"""Checks before a start, whose errors are sentences for the user."""

import errno
import logging
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from arcadia_backend.config import Settings
from arcadia_backend.database.migration_copies import FOLDER
from arcadia_backend.database.migrations import migrate, plan
from arcadia_backend.refusals import NotNowError, RefusedError

log = logging.getLogger(__name__)


def make_private_folder(folder: Path) -> None:
    """Create a folder that only its owner can read. Raise RefusedError if it is not writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise RefusedError(f"Cannot write to the folder {folder.resolve()}: {error.strerror}.") from None
    try:
        folder.chmod(0o700)
    except PermissionError:
        log.warning("Other users may be able to read %s. This user does not own it, so its permissions stay.", folder)


def refuse_taken_port(host: str, port: int, command: str) -> None:
    """Raise RefusedError if another program uses the port, or if this one may not use it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            kind = NotNowError if error.errno == errno.EADDRINUSE else RefusedError
            raise kind(
                f"Cannot listen on {host}, port {port}: {error.strerror}. "
                f"If another program uses that port, choose a free one: arcadia {command} --port {port + 1}"
            ) from None


_INVALID_URL = "ARCADIA_DATABASE_URL is not a database URL such as postgresql://user:password@host/name."


def make_ready(settings: Settings) -> None:
    """Create the data folder and migrate the database. Raise RefusedError if that fails."""
    make_private_folder(settings.data_dir)
    make_private_folder(settings.files_dir)
    with database_refusals(settings):
        migrate(settings)


def describe_plan(settings: Settings) -> str:
    """Return what a migration would do, in lines. Raise RefusedError if it cannot be done."""
    make_private_folder(settings.data_dir)
    with database_refusals(settings):
        found = plan(settings)
    if not found.missing:
        return f"The database has schema {found.schema}, which is that of this version. Nothing to migrate."
    if found.schema is None:
        return "The database is new. Its tables are made at the first start."
    lines = [f"From schema {found.schema} to {found.missing[-1][0]}:"]
    lines += [f"  {revision}  {title}" for revision, title in found.missing]
    size = f"{found.database_bytes / 1e6:,.0f} MB"
    if settings.migration_copy:
        lines.append(f"First, the database ({size}) is copied to {settings.data_dir / FOLDER}.")
    else:
        lines.append(f"The database ({size}) is not copied before, since ARCADIA_MIGRATION_COPY is 0.")
    if found.seconds is None:
        lines.append("On PostgreSQL the time is not measured in advance. Everything is one transaction.")
    else:
        lines.append(f"On a copy, this took {found.seconds:.1f} s. Arcadia does not answer meanwhile.")
    return "\n".join(lines)


@contextmanager
def database_refusals(settings: Settings) -> Iterator[None]:
    """Convert errors of the database to RefusedError."""
    url = settings.resolved_database_url
    if not url.startswith(("sqlite:", "postgresql:", "postgresql+psycopg:")):
        raise RefusedError(_INVALID_URL)
    try:
        yield
    except ArgumentError:
        raise RefusedError(_INVALID_URL) from None
    except DBAPIError as error:
        raise _refusal(settings, error) from None


def _refusal(settings: Settings, error: DBAPIError) -> RefusedError:
    """Return the error without the database URL, which contains the password."""
    url = make_url(settings.resolved_database_url)
    # Drivers add hints on further lines, and sometimes a period.
    message = str(error.orig).strip().partition("\n")[0].rstrip(".")
    if url.get_backend_name() == "postgresql":
        kind = NotNowError if isinstance(error, OperationalError) else RefusedError
        return kind(f"The database of ARCADIA_DATABASE_URL cannot be used: {message}.")
    if "locked" in message:
        return NotNowError(f"Another program has locked the database {url.database}. Stop it, and start again.")
    return RefusedError(f"The database {url.database} cannot be used: {message}.")
