"""What stands in the way of a start, said in a sentence before anything is started."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from backend.config import Settings
from backend.database.migrations import migrate
from backend.refusals import NotNowError, RefusedError
from backend.startup.embedded.data_folder import make_private_folder

_NO_DATABASE = "ARCADIA_DATABASE_URL does not name a database as postgresql://user:password@host/name does."


def make_ready(settings: Settings) -> None:
    """Make the data folder and bring the database to this version, or say why that cannot be."""
    make_private_folder(settings.data_dir)
    make_private_folder(settings.files_dir)
    with database_refusals(settings):
        migrate(settings)


@contextmanager
def database_refusals(settings: Settings) -> Iterator[None]:
    """Turn a database's errors into sentences."""
    url = settings.resolved_database_url
    if not url.startswith(("sqlite:", "postgresql:", "postgresql+psycopg:")):
        raise RefusedError(_NO_DATABASE)
    try:
        yield
    except ArgumentError:
        raise RefusedError(_NO_DATABASE) from None
    except DBAPIError as error:
        raise _refusal(settings, error) from None


def _refusal(settings: Settings, error: DBAPIError) -> RefusedError:
    """Say what the database refused, without its URL, which holds the password."""
    url = make_url(settings.resolved_database_url)
    # Drivers add advice on further lines, and a full stop at times.
    said = str(error.orig).strip().partition("\n")[0].rstrip(".")
    if url.get_backend_name() == "postgresql":
        kind = NotNowError if isinstance(error, OperationalError) else RefusedError
        return kind(f"The database of ARCADIA_DATABASE_URL cannot be used: {said}.")
    if "locked" in said:
        return NotNowError(f"Another program has the database {url.database} locked. Stop it, and start again.")
    return RefusedError(f"The database {url.database} cannot be used: {said}.")
