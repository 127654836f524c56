"""Empty databases of both kinds."""

from pathlib import Path

import pytest
from sqlalchemy import text

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import migration_engine


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Return settings of an empty database."""
    if request.param == "sqlite":
        return Settings(data_dir=tmp_path)
    server: str = request.getfixturevalue("postgresql_server")
    engine = migration_engine(server).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS arcadia_migrations"))
        connection.execute(text("CREATE DATABASE arcadia_migrations"))
    url = engine.url.set(database="arcadia_migrations", drivername="postgresql")
    # The pg_dump of this machine may be older than the server. Tests of copies choose theirs.
    return Settings(data_dir=tmp_path, database_url=url.render_as_string(hide_password=False), migration_copy=False)
