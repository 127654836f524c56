"""Names of all settings, and the format of files with secrets."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

PREFIX = "ARCADIA_"
# Prefix of the settings of the tests.
TESTS = "ARCADIA_TEST_"
# These can come from a file: ARCADIA_TOKEN_FILE names the file of ARCADIA_TOKEN.
SECRETS = ("BROKER_URL", "DATABASE_URL", "TOKEN", "WORKER_TOKEN")
NAMES = frozenset(
    PREFIX + name
    for name in (
        "ALERTS_PRIVATE ALLOWED_HOSTS BACKEND_URL BROKER_URL BUILD DATABASE_URL DATA_DIR EMBED_ORIGINS "
        "HOST JOBS JOB_NICENESS JOURNALS KEEP_READY LEASE_SECONDS MAX_ARCHIVE_BYTES MAX_BODY_BYTES MAX_FILE_BYTES "
        "MAX_LIVE_GAMES MAX_REQUEUES MAX_STUDY_RUNS MCP_WRITE MODE PLUGINS PORT PROJECT PUBLIC_URL RAY_ADDRESS "
        "REPORTED_SILENCE_SECONDS STOP_GRACE_SECONDS SWEEP_SECONDS TOKEN TRUSTED_PROXIES URL "
        "WORKER_ALIVE_FILE WORKER_DIR WORKER_TOKEN"
    ).split()
) | {f"{PREFIX}{name}_FILE" for name in SECRETS}


def unknown_settings(environment: Mapping[str, str]) -> str | None:
    """Return a message about variables that look like settings but are not, or None."""
    given = (name for name, value in environment.items() if value and name.upper().startswith(PREFIX))
    unknown = sorted(name for name in given if name.upper() not in NAMES and not name.upper().startswith(TESTS))
    return " ".join(map(_message, unknown)) or None


def _message(name: str) -> str:
    known = [each.removeprefix(PREFIX) for each in NAMES]
    close = get_close_matches(name.upper().removeprefix(PREFIX), known, n=1)
    return f"{name} is not a setting of Arcadia{f'; did you mean {PREFIX}{close[0]}?' if close else '.'}"


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
