"""The lab, for tests of accounts."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from arcadia_backend.database.engine import migration_engine
from tests.accounts.lab import Lab, open_lab


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.nightly)])
def lab_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield the URL of a new PostgreSQL database for a module, or nothing for SQLite."""
    if request.param == "sqlite":
        yield ""
        return
    server: str = request.getfixturevalue("postgresql_server")
    engine = migration_engine(server).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS arcadia_lab WITH (FORCE)"))
        connection.execute(text("CREATE DATABASE arcadia_lab ENCODING 'UTF8' TEMPLATE template0"))
        yield engine.url.set(database="arcadia_lab", drivername="postgresql").render_as_string(hide_password=False)
        connection.execute(text("DROP DATABASE arcadia_lab WITH (FORCE)"))
    engine.dispose()


@pytest.fixture(scope="module")
def lab(lab_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Yield a lab for the tests of a module."""
    with open_lab(tmp_path_factory.mktemp("lab"), lab_url) as opened:
        yield opened
