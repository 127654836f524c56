"""The server's URL and token: given, from the environment, or stored by `arcadia login`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError

DEFAULT_URL = "http://127.0.0.1:8000"
KEYRING_SERVICE = "arcadia"
PROJECT_VARIABLE = "ARCADIA_PROJECT"


def config_file() -> Path:
    """Return the file that `arcadia login` writes."""
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "arcadia" / "client.json"


def resolve_url(url: str | None = None) -> str:
    """Return the given URL, ARCADIA_URL, the URL of the last login, or the local default."""
    found: str = url or os.environ.get("ARCADIA_URL") or _stored().get("url") or DEFAULT_URL
    if not found.startswith(("http://", "https://")):
        raise ArcadiaError(f"{found} is not a URL. Use one such as {DEFAULT_URL}.")
    return found.rstrip("/")


def resolve_token(url: str, token: str | None = None) -> str | None:
    """Return the given token, ARCADIA_TOKEN, or the one stored for this URL."""
    if found := token or os.environ.get("ARCADIA_TOKEN"):
        return found
    if found := _read_keyring(url):
        return found
    stored: dict[str, str] = _stored().get("tokens", {})
    return stored.get(url)


def resolve_project(project: str | None = None) -> str | None:
    """Return the given project, ARCADIA_PROJECT, or None for the server's default."""
    return project or os.environ.get(PROJECT_VARIABLE) or None


def store_login(url: str, token: str | None) -> str:
    """Store the URL and its token, and return where the token is."""
    stored = _stored()
    tokens = stored.get("tokens", {})
    tokens.pop(url, None)
    place = ""
    if token and _write_keyring(url, token):
        place = "the keyring"
    elif token:
        tokens[url] = token
        place = str(config_file())
    _write({"url": url, "tokens": tokens})
    return place


def _stored() -> dict[str, Any]:
    try:
        return dict(json.loads(config_file().read_text()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ArcadiaError(f"{config_file()} cannot be read ({error}). Run arcadia login again.") from None


def _write(content: dict[str, Any]) -> None:
    """Replace the file in one step. Only its owner may read it."""
    file = config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as writing:
        json.dump(content, writing)
    new.replace(file)


def _read_keyring(url: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return str(keyring.get_password(KEYRING_SERVICE, url) or "") or None
    except KeyringError:  # the machine has no keyring: the file is used
        return None


def _write_keyring(url: str, token: str) -> bool:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return False
    try:
        keyring.set_password(KEYRING_SERVICE, url, token)
    except KeyringError:  # the machine has no keyring: the file is used
        return False
    return True
