"""Settings of the backend, read from the environment as ARCADIA_*."""

import ipaddress
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from arcadia_workers.contract.settings import BackendSettings

# Where the API starts, and the cookie of signed-in browsers.
API = "/api/v1"
COOKIE = "arcadia_session"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class Settings(BackendSettings):
    """Settings of the backend."""

    @property
    def resolved_database_url(self) -> str:
        """The database URL, by default SQLite in the data folder."""
        return self.database_url or f"sqlite:///{self.data_dir.resolve() / 'arcadia.db'}"

    @property
    def files_dir(self) -> Path:
        """Folder of all stored files."""
        return self.data_dir.resolve() / "files"

    @property
    def address(self) -> str:
        """The address of the server in browsers, by default on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - compared, not bound
        return self.public_url.rstrip("/") or f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach the server's address."""
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"


def get_settings(request: Request) -> Settings:
    """Return the settings of the application."""
    settings: Settings = request.app.state.settings
    return settings


CurrentSettings = Annotated[Settings, Depends(get_settings)]
