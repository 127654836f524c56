"""The server's URL and token: given, from the environment, or stored by `arcadia login`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from arcadia.errors import ArcadiaError

DEFAULT_URL = "http://127.0.0.1:8000"
KEYRING_SERVICE = "arcadia"
PROJECT_VARIABLE = "ARCADIA_PROJECT"
TOKEN_VARIABLE = "ARCADIA_TOKEN"  # noqa: S105 - a name
# A script passes its token to its uploader in ARCADIA_TOKEN, and here where it came from.
SOURCE_VARIABLE = "ARCADIA_TOKEN_SOURCE"
# Sources of tokens. Others are files.
ARGUMENT, ENVIRONMENT, KEYRING = "the argument `token`", f"the environment variable {TOKEN_VARIABLE}", "the keyring"


class Token(str):
    """A token, and where it came from."""

    source: str

    def __new__(cls, text: str, source: str) -> Token:
        """Return a token with its source, as messages name it."""
        token = super().__new__(cls, text)
        token.source = source
        return token


def config_file() -> Path:
    """Return the file that `arcadia login` writes."""
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "arcadia" / "client.json"


def resolve_url(url: str | None = None) -> str:
    """Return the given URL, ARCADIA_URL, the URL of the last login, or the local default."""
    address = str(url or os.environ.get("ARCADIA_URL") or _stored().get("url") or DEFAULT_URL).strip()
    if not _is_url(address):
        raise ArcadiaError(f"{address} is not a URL. Use one such as {DEFAULT_URL}.")
    return address.rstrip("/")


def resolve_token(url: str, token: str | None = None) -> Token | None:
    """Return the given token, ARCADIA_TOKEN, or the one stored for this URL. Raise ArcadiaError if it cannot be one."""
    resolved = _find_token(url, token)
    return check_token(resolved, resolved.source) if resolved else None


def check_token(text: str, source: str) -> Token:
    """Return a token without the white space around it. Raise ArcadiaError if a header cannot contain it."""
    text = str(text).strip()
    if text.isascii() and text.isprintable():
        return Token(text, source)
    wrong = "a line break or a control character" if text.isascii() else "a character that is not ASCII"
    raise ArcadiaError(f"The token from {source} contains {wrong}. Copy it again, as it is on the server.")


def describe_wrong_token(url: str, token: str | None) -> str:
    """Return which token a server has not accepted, and how to replace it."""
    if not token:
        return f"{url} needs a token. Run `arcadia login {url}`, or set {TOKEN_VARIABLE}."
    source = token.source if isinstance(token, Token) else ARGUMENT
    if source == ENVIRONMENT:
        remedy = f"Set it to the server's token, or unset it and run `arcadia login {url}`."
    elif source in (KEYRING, str(config_file())):
        remedy = f"Run `arcadia login {url}` again."
    else:
        remedy = "Use the server's token there."
    return f"{url} does not accept the token from {source}. {remedy}"


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
        place = KEYRING
    elif token:
        tokens[url] = token
        place = str(config_file())
    _write({"url": url, "tokens": tokens})
    return place


def stored_token(url: str) -> Token | None:
    """Return the token that `arcadia login` has stored for a URL."""
    if text := _read_keyring(url):
        return Token(text, KEYRING)
    stored: dict[str, str] = _stored().get("tokens", {})
    return Token(stored[url], str(config_file())) if url in stored else None


def delete_login(url: str) -> None:
    """Delete what `arcadia login` has stored for a URL."""
    _delete_from_keyring(url)
    stored = _stored()
    stored.get("tokens", {}).pop(url, None)
    if stored.get("url") == url:
        del stored["url"]
    if stored:
        _write(stored)


def _find_token(url: str, token: str | None) -> Token | None:
    if token and str(token).strip():
        return token if isinstance(token, Token) else Token(token, ARGUMENT)
    if (token_text := os.environ.get(TOKEN_VARIABLE, "")).strip():
        return Token(token_text, os.environ.get(SOURCE_VARIABLE) or ENVIRONMENT)
    return stored_token(url)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises ValueError if it is not a number
    except ValueError:
        return False
    is_plain = text.isprintable() and " " not in text
    return is_plain and parts.scheme in ("http", "https") and bool(parts.hostname)


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


def _keyring() -> Any:
    """Return the keyring of this machine, or None if it has no usable one."""
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError:
        return None
    try:
        backend = keyring.get_keyring()
    except Exception:  # a broken keyring of the machine: the file is used
        return None
    # These two keep nothing. A chain of no keyrings has no priority either.
    return None if isinstance(backend, (fail.Keyring, null.Keyring)) or backend.priority <= 0 else backend


def _read_keyring(url: str) -> str | None:
    try:
        return str(((ring := _keyring()) and ring.get_password(KEYRING_SERVICE, url)) or "") or None
    except Exception:  # it is locked, or not available in this session: the file is used
        return None


def _write_keyring(url: str, token: str) -> bool:
    try:
        if (ring := _keyring()) is None:
            return False
        ring.set_password(KEYRING_SERVICE, url, token)
        # Some keyrings accept a password and lose it.
        return bool(ring.get_password(KEYRING_SERVICE, url) == token)
    except Exception:  # it is locked, or not available in this session: the file is used
        return False


def _delete_from_keyring(url: str) -> None:
    if _read_keyring(url) is None:
        return
    try:
        _keyring().delete_password(KEYRING_SERVICE, url)
    except Exception as error:
        raise ArcadiaError(f"The keyring does not delete the token of {url}: {error}. Delete it there.") from None
