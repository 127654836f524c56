"""Settings of a worker, read from ARCADIA_* in the environment; command line options come on top."""

from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from workers.contract.secret_files import SettingsWithSecretFiles
from workers.contract.settings_in_common import in_one_word, of_a_redis
from workers.contract.worker_api import MOST_JOBS


class WorkerSettings(SettingsWithSecretFiles):
    """What a worker must know: two addresses, one token, one directory."""

    model_config = SettingsConfigDict(env_prefix="ARCADIA_", extra="ignore", env_ignore_empty=True)

    backend_url: str = Field(default="http://127.0.0.1:8000", description="Where the backend answers.")
    worker_token: Annotated[SecretStr, AfterValidator(in_one_word)] = Field(
        description="The token that the backend knows its workers by."
    )
    broker_url: Annotated[SecretStr, AfterValidator(of_a_redis)] = Field(
        description="The Redis that carries the doorbell, as redis://:password@host:6379/0."
    )
    worker_dir: Path | None = Field(
        default=None, description="Where run directories lie; data/workers/NAME unless told otherwise."
    )
    worker_alive_file: Path | None = Field(
        default=None, description="File to touch after each answered heartbeat, for health checks."
    )
    jobs: int = Field(default=1, ge=0, le=MOST_JOBS, description="How many jobs it does at a time beside its training.")
    job_niceness: int = Field(
        default=5,
        ge=0,
        le=19,
        description="How far jobs give way to training and to other programs; 19 is farthest.",
    )
    keep_ready: bool = Field(
        default=True,
        description="Keep a trainer and a job process ready that have loaded PyTorch; each takes about 300 MB.",
    )
    stop_grace_seconds: float = Field(
        default=30.0,
        gt=0,
        le=86_400,
        description="How long a trainer may take to checkpoint and exit before it is killed.",
    )

    @field_validator("backend_url")
    @classmethod
    def is_an_address(cls, value: str) -> str:
        """Refuse what would be called in vain for ever, and a password, which messages would repeat."""
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or not _can_be_reached(parts):
            raise ValueError("must be an address such as http://arcadia.example:8000")
        if parts.username is not None or parts.password is not None:
            raise ValueError("must hold no user and no password; workers show ARCADIA_WORKER_TOKEN")
        return value

    def directory(self, name: str) -> Path:
        """Return the directory that this worker keeps its runs in."""
        return (self.worker_dir or Path("data") / "workers" / name).resolve()


def _can_be_reached(parts: SplitResult) -> bool:
    """Say whether the port is a number of a port, and the host a name that can be asked for."""
    try:
        return parts.port != 0 and bool((parts.hostname or "").encode("idna"))
    except ValueError:
        return False
