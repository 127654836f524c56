"""/health: whether the database and the broker answer, the disk has space, and how many workers report."""

import os
import time
from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from backend.config import CurrentSettings, Settings
from backend.database.engine import Database, Db
from backend.database.migrations import newest_schema
from backend.errors import DISK_FULL
from backend.worker_api import registry
from workers.contract.build import build

LEAST_FREE_BYTES = 1_000_000
# A failed write of the database counts for this long, unless a write succeeds before.
DISK_FULL_SECONDS = 60.0

router = APIRouter(tags=["health"])


class DatabaseHealth(BaseModel):
    """Whether the database answers."""

    ok: bool
    kind: str
    detail: str


class BrokerHealth(BaseModel):
    """Whether Redis answers."""

    ok: bool
    detail: str


class DiskHealth(BaseModel):
    """Whether the server can store anything."""

    ok: bool
    detail: str


class Health(BaseModel):
    """Whether the parts answer; `degraded` when one does not."""

    version: str
    build: str = Field(description="Version and commit of the server.")
    database_schema: str = Field(description="Newest database migration that the server knows.")
    status: Literal["ok", "degraded"]
    database: DatabaseHealth
    broker: BrokerHealth
    disk: DiskHealth
    workers: int


@router.get("/health")
def read_health(db: Db, settings: CurrentSettings) -> Health:
    """Whether the parts of the installation answer."""
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
        # Name only the kind of error: its text may hold the address and the user.
        return DatabaseHealth(ok=False, kind=kind, detail=f"does not answer ({type(error).__name__})"), 0
    return DatabaseHealth(ok=True, kind=kind, detail="answers"), workers


def _disk(db: Database, settings: Settings) -> DiskHealth:
    """Check the free space, and whether the database could store the last change."""
    failed = db.disk_full_at is not None and time.monotonic() - db.disk_full_at < DISK_FULL_SECONDS
    try:
        disk = os.statvfs(settings.data_dir)
    except OSError as error:
        return DiskHealth(ok=False, detail=f"The data folder cannot be read ({error.strerror}).")
    # Some file systems keep blocks for root alone.
    free = (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize
    if failed or free < LEAST_FREE_BYTES:
        return DiskHealth(ok=False, detail=DISK_FULL)
    return DiskHealth(ok=True, detail="has space")


def _broker(settings: Settings) -> BrokerHealth:
    url = settings.broker_url.get_secret_value()
    if not url:
        return BrokerHealth(ok=False, detail="ARCADIA_BROKER_URL is not set")
    # Celery and the Redis client write a socket's address differently.
    client = Redis.from_url(url.replace("redis+socket://", "unix://"), socket_timeout=1, socket_connect_timeout=1)
    try:
        client.ping()
    except (RedisError, OSError) as error:
        return BrokerHealth(ok=False, detail=f"Redis does not answer ({type(error).__name__})")
    finally:
        client.close()
    return BrokerHealth(ok=True, detail="answers")
