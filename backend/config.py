"""Settings of the backend, read from the environment as ARCADIA_*; docs/settings.md explains each."""

import ipaddress
import re
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from pydantic import AfterValidator, Field, SecretStr, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from backend.refusals import RefusedError
from workers.contract.layout import default_data_dir
from workers.contract.settings import SettingsWithSecretFiles, in_one_word, of_a_redis

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


Token = Annotated[SecretStr, AfterValidator(in_one_word)]


class Settings(SettingsWithSecretFiles):
    """Settings of the backend."""

    model_config = SettingsConfigDict(env_prefix="ARCADIA_", extra="ignore", env_ignore_empty=True)

    data_dir: Path = Field(
        default_factory=default_data_dir, description="Folder of the database, the files and the secrets."
    )
    database_url: str = Field(
        default="",
        description="SQLAlchemy URL, such as postgresql://user:password@host/name. Empty: SQLite in the data folder.",
    )
    broker_url: Annotated[SecretStr, AfterValidator(of_a_redis)] = Field(
        default=SecretStr(""),
        description="Redis URL of the queue and the notices. Without it runs stay queued.",
    )
    host: str = Field(
        default="127.0.0.1", description="Address to listen on. Only loopback works without ARCADIA_TOKEN."
    )
    port: int = Field(default=8000, ge=0, le=65_535, description="Port to listen on.")
    token: Token = Field(
        default=SecretStr(""), description="Token that users sign in with. It may be empty only on a loopback address."
    )
    worker_token: Token = Field(
        default=SecretStr(""), description="Token of the workers. Without it no worker can connect."
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Host names of this server, separated by commas, in addition to loopback names."
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Addresses or networks of trusted proxies, separated by commas.",
    )
    max_body_bytes: int = Field(default=4_000_000, ge=1_000, description="Maximum request body, except files.")
    max_file_bytes: int = Field(default=2_000_000_000, ge=1_000, description="Maximum size of an uploaded file.")
    max_archive_bytes: int = Field(
        default=10_000_000_000, ge=1_000, description="Maximum size of an imported archive file."
    )
    lease_seconds: float = Field(
        default=60.0,
        gt=0,
        le=3_600,
        description="Time after which a silent worker loses its runs and jobs.",
    )
    sweep_seconds: float = Field(
        default=2.0, gt=0, le=60, description="Interval of checks for expired leases and waiting runs."
    )
    reported_silence_seconds: float = Field(
        default=300.0,
        gt=0,
        le=86_400,
        description="Time after which a reported run fails if nothing is heard from its script.",
    )
    max_live_games: int = Field(
        default=2,
        ge=0,
        le=1_000,
        description="Maximum number of concurrent live games over all workers.",
    )
    max_study_runs: int = Field(default=2_000, ge=1, le=100_000, description="Maximum number of runs in a study.")
    mcp_write: bool = Field(
        default=False, description="Let assistants that connect to /mcp launch and stop runs and studies."
    )
    max_requeues: int = Field(
        default=5,
        ge=0,
        le=1_000,
        description="How often a run or job that lost its worker is queued again automatically.",
    )

    plugins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Names of the packages to load as plug-ins, separated by commas."
    )

    public_url: str = Field(
        default="",
        max_length=1_000,
        description="Address of this server for links in delivered alerts, such as https://arcadia.example.org.",
    )
    alerts_private: bool = Field(
        default=False, description="Let alerts be delivered to private and loopback addresses."
    )

    embed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Origins of pages that may show embeds in a frame, separated by commas, besides this server.",
    )

    @field_validator("allowed_hosts", "trusted_proxies", "embed_origins", "plugins", mode="before")
    @classmethod
    def split_list(cls, value: object) -> object:
        """Split a comma-separated list."""
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("embed_origins")
    @classmethod
    def check_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Raise ValueError for anything but an origin, since the texts become part of a header."""
        for each in value:
            if not re.fullmatch(r"https?://(\*\.)?[A-Za-z0-9.-]+(:\d{1,5})?", each):
                message = f"{each!r} must be an origin, such as https://wiki.example.org or https://*.example.org"
                raise ValueError(message)
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def check_addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Raise ValueError for a host name, since only addresses can be compared with connections."""
        for each in value:
            try:
                ipaddress.ip_network(each)
            except ValueError:
                message = f"{each!r} must be an IP address or a network, such as 10.0.0.7 or 10.0.0.0/24"
                raise ValueError(message) from None
        return value

    @property
    def resolved_database_url(self) -> str:
        """The database URL, by default SQLite in the data folder."""
        return self.database_url or f"sqlite:///{self.data_dir.resolve() / 'arcadia.db'}"

    @property
    def files_dir(self) -> Path:
        """Folder of all stored files."""
        return self.data_dir.resolve() / "files"

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach the server's address."""
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"


class UnsafeBindingError(RefusedError):
    """Other machines can reach the server, but no token protects it."""


def refuse_unsafe_binding(settings: Settings) -> None:
    """Raise UnsafeBindingError if the address is not loopback and no token is set."""
    if not settings.is_loopback and not settings.token.get_secret_value():
        raise UnsafeBindingError(
            f"ARCADIA_HOST is {settings.host}, which other machines can reach, but no ARCADIA_TOKEN is set, so anyone "
            "could start runs. Set ARCADIA_TOKEN to a long random string, or keep ARCADIA_HOST=127.0.0.1."
        )


def get_settings(request: Request) -> Settings:
    """Return the settings of the application."""
    settings: Settings = request.app.state.settings
    return settings


CurrentSettings = Annotated[Settings, Depends(get_settings)]
