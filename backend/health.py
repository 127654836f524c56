"""/health: whether the database and the broker answer, and how many workers report."""

from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from backend.config import CurrentSettings, Settings
from backend.db import Database, Db
from backend.workers import registry

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


class Health(BaseModel):
    """Whether the parts answer; `degraded` when one does not."""

    version: str
    status: Literal["ok", "degraded"]
    database: DatabaseHealth
    broker: BrokerHealth
    workers: int


@router.get("/health")
def read_health(db: Db, settings: CurrentSettings) -> Health:
    """Whether the parts of the installation answer."""
    database, workers = _database(db)
    broker = _broker(settings)
    status: Literal["ok", "degraded"] = "ok" if database.ok and broker.ok else "degraded"
    return Health(version=version("arcadia"), status=status, database=database, broker=broker, workers=workers)


def _database(db: Database) -> tuple[DatabaseHealth, int]:
    kind = db.url.get_backend_name()
    try:
        with db.read() as session:
            workers = sum(worker.state != "gone" for worker in registry.listed(session))
    except SQLAlchemyError as error:
        # Name only the kind of error: its text may hold the address and the user.
        return DatabaseHealth(ok=False, kind=kind, detail=f"does not answer ({type(error).__name__})"), 0
    return DatabaseHealth(ok=True, kind=kind, detail="answers"), workers


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
