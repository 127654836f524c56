"""Brings the database to this version's tables, when the backend starts or by `arcadia migrate`."""

from pathlib import Path

from alembic.config import Config
from sqlalchemy import text

from alembic import command
from backend.config import Settings
from backend.db import migration_engine

SCRIPTS = Path(__file__).parent.parent / "alembic"

# Any number will do, as long as every Arcadia backend takes the same.
_LOCK = 7_201_602


def migrate(settings: Settings) -> None:
    """Run the migrations that are missing; of several processes that start at once, one does it and the rest wait."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    engine = migration_engine(settings.resolved_database_url)
    try:
        # On SQLite the transaction itself is the lock: it begins IMMEDIATE and spans all migrations.
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            config = alembic_config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()


def alembic_config() -> Config:
    """Alembic's configuration, without its file."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    return config
