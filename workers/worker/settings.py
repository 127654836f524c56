"""Settings of a worker, read from ARCADIA_* in the environment; command line options come on top."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from workers.contract.worker_api import MOST_ERRANDS


class WorkerSettings(BaseSettings):
    """What a worker must know: two addresses, one token, one directory."""

    model_config = SettingsConfigDict(env_prefix="ARCADIA_", extra="ignore")

    backend_url: str = Field(default="http://127.0.0.1:8000", description="Where the backend answers.")
    worker_token: SecretStr = Field(description="The token that the backend knows its workers by.")
    broker_url: SecretStr = Field(description="The Redis that carries the doorbell, as redis://:password@host:6379/0.")
    worker_dir: Path | None = Field(
        default=None, description="Where run directories lie; data/workers/NAME unless told otherwise."
    )
    errands: int = Field(
        default=1, ge=0, le=MOST_ERRANDS, description="How many errands it does at a time beside its training."
    )
    errand_niceness: int = Field(
        default=10,
        ge=0,
        le=19,
        description="How far errands give way to training and to other programs; 19 is farthest.",
    )
    stop_grace_seconds: float = Field(
        default=30.0, gt=0, description="How long a trainer may take to checkpoint and exit before it is killed."
    )

    def directory(self, name: str) -> Path:
        """Return the directory that this worker keeps its runs in."""
        return (self.worker_dir or Path("data") / "workers" / name).resolve()
