"""Settings of a worker, from ARCADIA_* variables. Command-line options override them."""

from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from workers.contract.places import default_data_dir
from workers.contract.secret_files import SettingsWithSecretFiles
from workers.contract.settings_in_common import in_one_word, of_a_redis
from workers.contract.worker_api import MOST_JOBS


class WorkerSettings(SettingsWithSecretFiles):
    """Settings of a worker."""

    model_config = SettingsConfigDict(env_prefix="ARCADIA_", extra="ignore", env_ignore_empty=True)

    backend_url: str = Field(default="http://127.0.0.1:8000", description="Address of the backend.")
    worker_token: Annotated[SecretStr, AfterValidator(in_one_word)] = Field(
        description="The token that workers send to the backend."
    )
    broker_url: Annotated[SecretStr, AfterValidator(of_a_redis)] = Field(
        description="The Redis of the doorbell, such as redis://:password@host:6379/0."
    )
    worker_dir: Path | None = Field(
        default=None, description="Folder for run directories. Default: workers/NAME in the data folder."
    )
    worker_alive_file: Path | None = Field(
        default=None, description="File to touch after each successful heartbeat, for health checks."
    )
    jobs: int = Field(default=1, ge=0, le=MOST_JOBS, description="Number of concurrent jobs in addition to training.")
    job_niceness: int = Field(
        default=5,
        ge=0,
        le=19,
        description="Niceness of jobs, from 0 to 19. Higher values yield more to training and other programs.",
    )
    keep_ready: bool = Field(
        default=True,
        description="Keep an idle trainer and an idle job process that have loaded PyTorch, about 300 MB each.",
    )
    stop_grace_seconds: float = Field(
        default=30.0,
        gt=0,
        le=86_400,
        description="Time a trainer has to save a checkpoint and exit before it is killed.",
    )

    @field_validator("backend_url")
    @classmethod
    def check_address(cls, value: str) -> str:
        """Reject invalid addresses, and addresses with passwords, because messages repeat the address."""
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or not _is_valid(parts):
            raise ValueError("must be an address such as http://arcadia.example:8000")
        if parts.username is not None or parts.password is not None:
            raise ValueError("must not contain a user or password; set ARCADIA_WORKER_TOKEN instead")
        return value

    def directory(self, name: str) -> Path:
        """Return the directory of this worker."""
        return (self.worker_dir or default_data_dir() / "workers" / name).resolve()


def _is_valid(parts: SplitResult) -> bool:
    """Return True if host and port are valid."""
    try:
        return parts.port != 0 and bool((parts.hostname or "").encode("idna"))
    except ValueError:
        return False
