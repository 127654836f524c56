"""Checks before a start, whose errors are sentences for the user."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from backend.config import Settings
from backend.database.migrations import migrate
from backend.refusals import NotNowError, RefusedError
from backend.startup.embedded.data_folder import make_private_folder

_INVALID_URL = "ARCADIA_DATABASE_URL is not a database URL such as postgresql://user:password@host/name."


def make_ready(settings: Settings) -> None:
    """Create the data folder and migrate the database. Raise RefusedError if that fails."""
    make_private_folder(settings.data_dir)
    make_private_folder(settings.files_dir)
    with database_refusals(settings):
        migrate(settings)


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
