"""What all settings have in common: their names, so that a misspelt one is refused, and the form of their texts."""

from collections.abc import Mapping
from difflib import get_close_matches
from urllib.parse import urlsplit

from pydantic import SecretStr

PREFIX = "ARCADIA_"
# Of the tests, which read them themselves.
TESTS = "ARCADIA_TEST_"
# These can come from a file: ARCADIA_TOKEN_FILE names the file of ARCADIA_TOKEN.
SECRETS = ("BROKER_URL", "DATABASE_URL", "TOKEN", "WORKER_TOKEN")
NAMES = frozenset(
    PREFIX + name
    for name in (
        "ALLOWED_HOSTS BACKEND_URL BROKER_URL BUILD DATABASE_URL DATA_DIR JOBS JOB_NICENESS HOST KEEP_READY "
        "LEASE_SECONDS MAX_BODY_BYTES MAX_FILE_BYTES MAX_LIVE_GAMES MAX_REQUEUES MAX_STUDY_RUNS PORT RAY_ADDRESS "
        "STOP_GRACE_SECONDS SWEEP_SECONDS TOKEN TRUSTED_PROXIES WORKER_ALIVE_FILE WORKER_DIR WORKER_TOKEN"
    ).split()
) | {f"{PREFIX}{name}_FILE" for name in SECRETS}


def unknown_settings(environment: Mapping[str, str]) -> str | None:
    """Say in a sentence which variables look like settings and are none."""
    given = (name for name, value in environment.items() if value and name.upper().startswith(PREFIX))
    unknown = sorted(name for name in given if name.upper() not in NAMES and not name.upper().startswith(TESTS))
    return " ".join(map(_told, unknown)) or None


def _told(name: str) -> str:
    known = [each.removeprefix(PREFIX) for each in NAMES]
    close = get_close_matches(name.upper().removeprefix(PREFIX), known, n=1)
    return f"{name} is no setting of Arcadia{f'; did you mean {PREFIX}{close[0]}?' if close else '.'}"


def in_one_word(token: SecretStr) -> SecretStr:
    """Refuse a token that no header can carry as it stands, such as one that was read with the end of its line."""
    value = token.get_secret_value()
    if not value.isprintable() or value != value.strip():
        raise ValueError("must not begin or end with a space, nor hold a line break")
    return token


def of_a_redis(url: SecretStr) -> SecretStr:
    """Refuse a broker's address that would be called in vain; the sentence does not repeat it, for the password."""
    if url.get_secret_value() and not _is_of_a_redis(url.get_secret_value()):
        raise ValueError(
            "must be an address such as redis://:password@host:6379/0, with / # ? and @ of the password written as "
            "%2F %23 %3F %40"
        )
    return url


def _is_of_a_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Reading the port raises where it is none.
        return parts.scheme in ("redis+socket", "unix") or (
            parts.scheme in ("redis", "rediss") and bool(parts.hostname) and parts.port != 0
        )
    except ValueError:
        return False
