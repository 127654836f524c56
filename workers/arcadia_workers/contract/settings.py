"""All settings of the backend and the workers, and files with secrets. docs/settings.md explains each setting."""

import ipaddress
import os
import re
import ssl
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from arcadia_workers.contract.layout import default_data_dir
from arcadia_workers.contract.worker_api import MOST_JOBS, MOST_SLOTS

PREFIX = "ARCADIA_"
# Prefix of the settings of the tests.
TESTS = "ARCADIA_TEST_"
# These can come from a file: ARCADIA_TOKEN_FILE names the file of ARCADIA_TOKEN.
SECRETS = ("BROKER_URL", "DATABASE_URL", "OIDC_CLIENT_SECRET", "RAY_TOKEN", "TOKEN", "WORKER_TOKEN")


def in_one_word(token: SecretStr) -> SecretStr:
    """Reject a token that a header cannot carry, for example one with a line break."""
    value = token.get_secret_value()
    if not value.isprintable() or value != value.strip():
        raise ValueError("must not start or end with a space, or contain a line break")
    return token


def of_a_redis(url: SecretStr) -> SecretStr:
    """Reject an unusable broker address. The message does not repeat it, because of the password."""
    if url.get_secret_value() and not _is_of_a_redis(url.get_secret_value()):
        raise ValueError(
            "must be an address such as redis://:password@host:6379/0, with / # ? and @ of the password written as "
            "%2F %23 %3F %40"
        )
    return url


def _is_of_a_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Reading an invalid port raises ValueError.
        return parts.scheme in ("redis+socket", "unix") or (
            parts.scheme in ("redis", "rediss") and bool(parts.hostname) and parts.port != 0
        )
    except ValueError:
        return False


Token = Annotated[SecretStr, AfterValidator(in_one_word)]
RedisUrl = Annotated[SecretStr, AfterValidator(of_a_redis)]


# Owners between whom workers are shared.
FairShare = Literal["people", "projects", "off"]


class SecretFileError(ValueError):
    """A secret cannot be read from its file."""


def read_secret(environment: Mapping[str, str], name: str) -> str | None:
    """Return the secret from the file in the setting's _FILE variable, or None if that variable is not set."""
    variable = f"{PREFIX}{name}_FILE"
    if not (path := environment.get(variable)):
        return None
    if environment.get(PREFIX + name):
        raise SecretFileError(f"{PREFIX}{name} and {variable} are both set. Remove one of them.")
    try:
        value = Path(path).read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SecretFileError(f"{variable}: cannot read {path}: {reason}") from None
    if not value:
        raise SecretFileError(f"{variable}: {path} is empty")
    return value


class SecretFiles(PydanticBaseSettingsSource):
    """Source of the settings that are secrets."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        """Return the secret of one field."""
        name = field_name.upper()
        return (read_secret(os.environ, name) if name in SECRETS else None), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the secrets that files hold."""
        fields = self.settings_cls.model_fields.items()
        values = {name: self.get_field_value(field, name)[0] for name, field in fields}
        return {name: value for name, value in values.items() if value is not None}


class SettingsWithSecretFiles(BaseSettings):
    """Settings whose secrets can also come from files."""

    model_config = SettingsConfigDict(env_prefix="ARCADIA_", extra="ignore", env_ignore_empty=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments first, then environment variables, then secret files."""
        return init_settings, env_settings, SecretFiles(settings_cls)


class BackendSettings(SettingsWithSecretFiles):
    """Settings of the backend."""

    data_dir: Path = Field(
        default_factory=default_data_dir, description="Folder of the database, the files and the secrets."
    )
    database_url: str = Field(
        default="",
        description="SQLAlchemy URL, such as postgresql://user:password@host/name. Empty: SQLite in the data folder.",
    )
    broker_url: RedisUrl = Field(
        default=SecretStr(""),
        description="Redis URL of the doorbell and the notices. Without it workers wait at the backend.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on. Except on loopback everyone signs in.")
    port: int = Field(default=8000, ge=0, le=65_535, description="Port to listen on.")
    token: Token = Field(
        default=SecretStr(""), description="Token that users sign in with until the first account exists."
    )
    worker_token: Token = Field(
        default=SecretStr(""), description="Token of the workers. Without it no worker can connect."
    )
    ray_token: Token = Field(
        default=SecretStr(""), description="Token of the Ray cluster that runs are submitted to, if it requires one."
    )
    oidc_issuer: str = Field(default="", max_length=300, description="Issuer of an OpenID provider to sign in with.")
    oidc_client_id: str = Field(default="", max_length=300, description="Client id of this server at the provider.")
    oidc_client_secret: Token = Field(default=SecretStr(""), description="Client secret at the OpenID provider.")
    oidc_scope: str = Field(
        default="openid profile email", max_length=300, description="Scopes to request from the OpenID provider."
    )
    oidc_groups_claim: str = Field(
        default="groups", max_length=100, description="Claim with the names of a person's groups."
    )
    proxy_person_header: str = Field(
        default="", max_length=100, description="Header in which a trusted proxy names the person who has signed in."
    )
    max_token_days: int = Field(
        default=365, ge=0, le=3_660, description="Longest lifetime of a token in days. 0: tokens may never expire."
    )
    audit_days: int = Field(
        default=730, ge=1, le=36_500, description="Days for which entries of the audit log are kept."
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
    fair_share: FairShare = Field(
        default="people",
        description="Share workers fairly between people or projects, or not at all: people, projects or off.",
    )
    scheduler_seconds: float = Field(
        default=10.0, gt=0, le=3_600, description="Interval of looking at the jobs of a scheduler (Slurm, Ray)."
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
    migration_copy: bool = Field(
        default=True, description="Copy the database before it is migrated. The last three copies are kept."
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


class WorkerSettings(SettingsWithSecretFiles):
    """Settings of a worker."""

    backend_url: str = Field(default="http://127.0.0.1:8000", description="Address of the backend.")
    worker_token: Token = Field(description="The token that workers send to the backend.")
    broker_url: RedisUrl = Field(
        default=SecretStr(""),
        description="The Redis of the doorbell, such as redis://:password@host:6379/0. Default: wait at the backend.",
    )
    ca_file: Path | None = Field(
        default=None, description="Certificates of the authorities that sign the backend's HTTPS certificate, as PEM."
    )
    worker_dir: Path | None = Field(
        default=None, description="Folder for run directories. Default: workers/NAME in the data folder."
    )
    worker_alive_file: Path | None = Field(
        default=None, description="File to touch after each successful heartbeat, for health checks."
    )
    slots: int = Field(default=1, ge=1, le=MOST_SLOTS, description="Number of runs that this host trains at once.")
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
        if parts.scheme not in ("http", "https") or not parts.hostname or not _has_valid_host(parts):
            raise ValueError("must be an address such as http://arcadia.example:8000")
        if parts.username is not None or parts.password is not None:
            raise ValueError("must not contain a user or password; set ARCADIA_WORKER_TOKEN instead")
        return value

    @field_validator("ca_file")
    @classmethod
    def check_ca_file(cls, value: Path | None) -> Path | None:
        """Raise ValueError unless the file has certificates."""
        if value is not None:
            try:
                ssl.create_default_context(cafile=value)
            except OSError as error:
                raise ValueError(f"cannot read certificates from {value}: {error.strerror or error}") from None
        return value

    def directory(self, name: str) -> Path:
        """Return the directory of this worker."""
        return (self.worker_dir or default_data_dir() / "workers" / name).resolve()


def _has_valid_host(parts: SplitResult) -> bool:
    """Return True if host and port are valid."""
    try:
        return parts.port != 0 and bool((parts.hostname or "").encode("idna"))
    except ValueError:
        return False


# Read by the client, by scripts and by Ray, or set by the build of a container.
_OTHERS = ("BUILD", "JOURNALS", "MODE", "PROJECT", "RAY_ADDRESS", "URL")
_FIELDS = (*BackendSettings.model_fields, *WorkerSettings.model_fields)
NAMES = frozenset(PREFIX + name.upper() for name in (*_FIELDS, *_OTHERS, *(f"{name}_FILE" for name in SECRETS)))


def unknown_settings(environment: Mapping[str, str]) -> str | None:
    """Return a message about variables that look like settings but are not, or None."""
    given = (name for name, value in environment.items() if value and name.upper().startswith(PREFIX))
    unknown = sorted(name for name in given if name.upper() not in NAMES and not name.upper().startswith(TESTS))
    return " ".join(map(_message, unknown)) or None


def _message(name: str) -> str:
    known = [each.removeprefix(PREFIX) for each in NAMES]
    close = get_close_matches(name.upper().removeprefix(PREFIX), known, n=1)
    return f"{name} is not a setting of Arcadia{f'; did you mean {PREFIX}{close[0]}?' if close else '.'}"
