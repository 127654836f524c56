"""Health of the database, the broker and the disk, and the number of connected workers."""

import time
from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from arcadia_backend.config import CurrentSettings, Settings
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.migrations import free_bytes, newest_schema
from arcadia_backend.errors import DISK_FULL
from arcadia_backend.worker_api import registry
from arcadia_workers.contract.build import build

MIN_FREE_BYTES = 1_000_000
# After a failed write the disk counts as full for this long, unless a later write succeeds.
DISK_FULL_SECONDS = 60.0

router = APIRouter(tags=["health"])


class DatabaseHealth(BaseModel):
    """Health of the database."""

    ok: bool
    kind: str
    detail: str


class BrokerHealth(BaseModel):
    """Health of Redis."""

    ok: bool
    detail: str


class DiskHealth(BaseModel):
    """Health of the disk."""

    ok: bool
    detail: str


class Health(BaseModel):
    """Health of the installation. The status is `degraded` if any part is not ok."""

    version: str
    build: str = Field(description="Version and commit of the server.")
    database_schema: str = Field(description="Newest database migration of this version.")
    status: Literal["ok", "degraded"]
    database: DatabaseHealth
    broker: BrokerHealth
    disk: DiskHealth
    workers: int


@router.get("/health")
def read_health(db: Db, settings: CurrentSettings) -> Health:
    """Return the health of the installation."""
    database, workers = _database(db)
    broker = _broker(settings)
    disk = _disk(db, settings)
    status: Literal["ok", "degraded"] = "ok" if database.ok and broker.ok and disk.ok else "degraded"
    return Health(
        version=version("arcadia"),
        build=build(),
        database_schema=newest_schema(),
        status=status,
        database=database,
        broker=broker,
        disk=disk,
        workers=workers,
    )


def _database(db: Database) -> tuple[DatabaseHealth, int]:
    kind = db.url.get_backend_name()
    try:
        with db.read() as session:
            workers = sum(worker.state != "gone" for worker in registry.list_workers(session))
    except SQLAlchemyError as error:
        # Return only the type of the error, since its text may contain the address and the user.
        return DatabaseHealth(ok=False, kind=kind, detail=f"does not respond ({type(error).__name__})"), 0
    return DatabaseHealth(ok=True, kind=kind, detail="responds"), workers


def _disk(db: Database, settings: Settings) -> DiskHealth:
    """Check the free space, and whether the last write of the database succeeded."""
    failed = db.disk_full_at is not None and time.monotonic() - db.disk_full_at < DISK_FULL_SECONDS
    try:
        free = free_bytes(settings.data_dir)
    except OSError as error:
        return DiskHealth(ok=False, detail=f"The data folder cannot be read ({error.strerror}).")
    if failed or free < MIN_FREE_BYTES:
        return DiskHealth(ok=False, detail=DISK_FULL)
    return DiskHealth(ok=True, detail="has space")


def _broker(settings: Settings) -> BrokerHealth:
    url = settings.broker_url.get_secret_value()
    if not url:
        return BrokerHealth(ok=True, detail="not used: workers wait at this server")
    # Celery and the Redis client use different URL schemes for sockets.
    client = Redis.from_url(url.replace("redis+socket://", "unix://"), socket_timeout=1, socket_connect_timeout=1)
    try:
        client.ping()
    except (RedisError, OSError) as error:
        return BrokerHealth(ok=False, detail=f"Redis does not respond ({type(error).__name__})")
    finally:
        client.close()
    return BrokerHealth(ok=True, detail="responds")
