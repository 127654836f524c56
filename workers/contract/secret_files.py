"""Secrets read from files: ARCADIA_TOKEN_FILE names a file that holds the value of ARCADIA_TOKEN."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from workers.contract.settings_in_common import PREFIX, SECRETS


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
        found = {name: self.get_field_value(field, name)[0] for name, field in fields}
        return {name: value for name, value in found.items() if value is not None}


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
