"""Names of all settings, to reject misspelled ones, and validators of their values."""

from collections.abc import Mapping
from difflib import get_close_matches
from urllib.parse import urlsplit

from pydantic import SecretStr

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
