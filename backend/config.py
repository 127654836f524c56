"""Settings of the backend, read from the environment as ARCADIA_*; docs/settings.md explains each."""

import ipaddress
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from pydantic import AfterValidator, Field, SecretStr, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from backend.refusals import RefusedError
from workers.contract.secret_files import SettingsWithSecretFiles
from workers.contract.settings_in_common import in_one_word, of_a_redis

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


Token = Annotated[SecretStr, AfterValidator(in_one_word)]


class Settings(SettingsWithSecretFiles):
    """What an operator may decide about the backend."""

    model_config = SettingsConfigDict(env_prefix="ARCADIA_", extra="ignore", env_ignore_empty=True)

    data_dir: Path = Field(default=Path("data"), description="Where the database, the files and the secrets lie.")
    database_url: str = Field(
        default="",
        description="SQLAlchemy URL, as postgresql://user:password@host/name; empty: SQLite in the data folder.",
    )
    broker_url: Annotated[SecretStr, AfterValidator(of_a_redis)] = Field(
        default=SecretStr(""), description="Redis URL of the queue and the notices; empty: runs wait until it is set."
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on; any but loopback needs ARCADIA_TOKEN.")
    port: int = Field(default=8000, ge=0, le=65_535, description="Port to listen on.")
    token: Token = Field(
        default=SecretStr(""), description="What users sign in with; may be empty only on a loopback address."
    )
    worker_token: Token = Field(
        default=SecretStr(""), description="What workers show the worker API; without it no worker is let in."
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Names, separated by commas, that browsers may use for this server besides loopback's."
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Addresses or networks, separated by commas, of proxies that name their clients in headers.",
    )
    max_body_bytes: int = Field(default=4_000_000, ge=1_000, description="Largest request body, except for files.")
    max_file_bytes: int = Field(default=2_000_000_000, ge=1_000, description="Largest checkpoint or video uploaded.")
    lease_seconds: float = Field(
        default=60.0,
        gt=0,
        le=3_600,
        description="How long a run or a job stays with a worker that has fallen silent.",
    )
    sweep_seconds: float = Field(
        default=2.0, gt=0, le=60, description="How often expired leases and waiting runs are looked for."
    )
    max_live_games: int = Field(
        default=2,
        ge=0,
        le=1_000,
        description="How many live games are played at once, by agents and by people, over all workers.",
    )
    max_study_runs: int = Field(default=2_000, ge=1, le=100_000, description="How many runs a study may have.")
    max_requeues: int = Field(
        default=5,
        ge=0,
        le=1_000,
        description="How often a run or a job that lost its worker goes back to the queue by itself.",
    )

    @field_validator("allowed_hosts", "trusted_proxies", mode="before")
    @classmethod
    def split_hosts(cls, value: object) -> object:
        """Read a comma-separated list."""
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("trusted_proxies")
    @classmethod
    def are_addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse names: the address of a connection is compared with these."""
        for each in value:
            try:
                ipaddress.ip_network(each)
            except ValueError:
                message = f"{each!r} must be an IP address or a network, such as 10.0.0.7 or 10.0.0.0/24"
                raise ValueError(message) from None
        return value

    @property
    def resolved_database_url(self) -> str:
        """The database's URL, by default SQLite in the data folder."""
        return self.database_url or f"sqlite:///{self.data_dir.resolve() / 'arcadia.db'}"

    @property
    def files_dir(self) -> Path:
        """Root of everything that is served by file id."""
        return self.data_dir.resolve() / "files"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address listened on."""
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"


class UnsafeBindingError(RefusedError):
    """Other machines can reach the address listened on, and no token protects it."""


def refuse_unsafe_binding(settings: Settings) -> None:
    """Refuse to listen beyond loopback without a token."""
    if not settings.is_loopback and not settings.token.get_secret_value():
        raise UnsafeBindingError(
            f"ARCADIA_HOST is {settings.host}, which other machines can reach, but no ARCADIA_TOKEN is set, so anybody "
            "could start runs here. Set ARCADIA_TOKEN to a long random string, or keep ARCADIA_HOST=127.0.0.1."
        )


def get_settings(request: Request) -> Settings:
    """The application's settings."""
    settings: Settings = request.app.state.settings
    return settings


CurrentSettings = Annotated[Settings, Depends(get_settings)]
