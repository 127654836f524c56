"""Run migrations on a given connection, or on the database of the settings."""

from sqlalchemy import JSON, Connection

import arcadia_backend.database.tables
import arcadia_backend.metrics.points
from alembic import context
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import migration_engine

TARGET = arcadia_backend.database.tables.Base.metadata


def spell(kind: str, item: object, _context: object) -> str | bool:
    """Render the JSON type in generated migrations, since Alembic would omit an import."""
    return "columns.Json" if kind == "type" and isinstance(item, JSON) else False


def run(connection: Connection) -> None:
    """Migrate in the connection's transaction."""
    context.configure(
        connection=connection,
        target_metadata=TARGET,
        # SQLite changes a table by recreating it.
        render_as_batch=connection.dialect.name == "sqlite",
        transactional_ddl=True,
        compare_type=True,
        render_item=spell,
        user_module_prefix="columns.",
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    engine = migration_engine(Settings().resolved_database_url)
    with engine.begin() as connection:
        run(connection)
    engine.dispose()
