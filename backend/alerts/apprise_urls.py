"""Channels of Apprise, which sends messages to Slack, mail servers and many other services.

Apprise resolves names itself. So only services at fixed public addresses are allowed, and mail servers, whose address
is checked before each try (docs/decisions/0065-alerts.md).
"""

import logging
import re
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote, urlsplit

from backend.alerts.addresses import BlockedError, resolve
from backend.alerts.attempts import Attempted

# The parameters of each service, because others name files of this host or addresses to fetch.
_FIXED = {
    "dingtalk": "to",
    "discord": "avatar footer image thread",
    "feishu": "",
    "gchat": "thread",
    "ifttt": "to",
    "lark": "",
    "opsgenie": "priority region to",
    "pagerduty": "image region severity",
    "pbul": "to",
    "pover": "priority sound to",
    "sendgrid": "bcc cc to",
    "slack": "footer image mode to",
    "tgram": "image silent thread to topic",
    "twilio": "from to",
    "wxteams": "mode to",
    "zulip": "to",
}
_MAIL = dict.fromkeys(("mailto", "mailtos"), "bcc cc from mode name reply smtp to user")
_SELF_HOSTED = {
    **dict.fromkeys(("gotify", "gotifys"), "priority"),
    **dict.fromkeys(("json", "jsons"), ""),
    **dict.fromkeys(("matrix", "matrixs"), "image mode to user"),
    **dict.fromkeys(("mmost", "mmosts"), "channel image mode to user"),
    **dict.fromkeys(("ntfy", "ntfys"), "image mode priority to"),
    **dict.fromkeys(("rocket", "rockets"), "avatar mode to user"),
}
_PARAMETERS = {
    schema: frozenset(f"{names} format overflow".split())
    for schema, names in {**_FIXED, **_MAIL, **_SELF_HOSTED}.items()
}
# The addresses of the first are part of Apprise.
FIXED_SERVICES, MAIL, SELF_HOSTED = frozenset(_FIXED), frozenset(_MAIL), frozenset(_SELF_HOSTED)
ZULIP_CLOUD = "zulipchat.com"
LEVELS = {"info": "info", "warning": "warning", "error": "failure"}
MAX_ERROR = 500


def check_apprise_url(url: str, *, allow_private: bool) -> None:
    """Raise ValueError if an Apprise URL is invalid or not allowed."""
    _check(url, allow_private=allow_private)


def _check(url: str, *, allow_private: bool) -> Any:
    """Return the service of a URL. Raise ValueError if it is invalid or not allowed."""
    schema = urlsplit(url).scheme.lower()
    allowed = FIXED_SERVICES | MAIL | (SELF_HOSTED if allow_private else frozenset())
    if schema in SELF_HOSTED and not allow_private:
        raise ValueError(f"{schema} is a self-hosted service; set ARCADIA_ALERTS_PRIVATE=1 on the server to allow it")
    if schema not in allowed:
        raise ValueError(f"no service {schema!r} is allowed; use one of {', '.join(sorted(allowed))}")
    _check_parameters(url, schema)
    service = _instantiate(url)
    # Apprise must understand the URL as this module does.
    if not isinstance(service, load_service(schema)):
        raise ValueError(f"Apprise does not accept this {schema} URL; see appriseit.com for its form")  # noqa: TRY004
    if schema == "zulip" and service.hostname.lower() != ZULIP_CLOUD and not allow_private:
        raise ValueError(
            f"{service.hostname[:100]!r} is a self-hosted Zulip; use ORGANIZATION.{ZULIP_CLOUD}, or set "
            "ARCADIA_ALERTS_PRIVATE=1 on the server to allow it"
        )
    return service


def _check_parameters(url: str, schema: str) -> None:
    """Raise ValueError if a URL has a parameter that is not allowed. Apprise separates parameters by & and ;."""
    if not url.isprintable() or " " in url or url.count("?") > 1 or not url.lower().startswith(f"{schema}://"):
        raise ValueError("write special characters in a URL percent-encoded, such as %20 for a space")
    # Apprise knows no fragments: parameters may follow a #.
    given = re.split("[&;]", url.partition("?")[2])
    names = {unquote(each.partition("=")[0]).strip().lower() for each in given if each}
    if unknown := names - _PARAMETERS[schema]:
        raise ValueError(
            f"{schema} URLs cannot have the parameter {min(unknown)[:50]!r}; "
            f"use {', '.join(sorted(_PARAMETERS[schema]))}"
        )


def send(url: str, title: str, body: str, level: str, *, allow_private: bool) -> Attempted:
    """Send a message, and return the outcome. It is delivered only if the service was contacted and accepted it."""
    import apprise

    try:
        service = _check(url, allow_private=allow_private)
        if urlsplit(url).scheme.lower() in MAIL:
            resolve(service.smtp_host, service.port, allow_private=allow_private)
    except (BlockedError, ValueError) as error:
        return Attempted(error=str(error), is_final=True)
    except OSError as error:
        return Attempted(error=f"The mail server could not be found: {error}")
    if urlsplit(url).scheme.lower() == "opsgenie":
        # By default, an informational message makes Apprise close its earlier alert, or send nothing if there is none.
        service.action = "new"
    requests, sender = _count_requests(service), apprise.Apprise(service)
    warnings: list[str] = []
    token = _warnings.set(warnings)
    try:
        is_sent = sender.notify(body=body or title, title=title if body else "", notify_type=LEVELS[level])
    finally:
        _warnings.reset(token)
    if is_sent and requests:
        return Attempted()
    reason = " ".join(warnings)[:MAX_ERROR] if requests else "Apprise did not contact the service."
    return Attempted(error=f"The service did not accept the message. {reason}".strip())


def _count_requests(service: Any) -> list[None]:
    """Return a list that grows with each request of a service. Apprise calls `throttle` before each one."""
    requests: list[None] = []
    throttle = service.throttle

    def counted(*arguments: Any, **more: Any) -> None:
        requests.append(None)
        throttle(*arguments, **more)

    service.throttle = counted
    return requests


class _Collector(logging.Handler):
    """Handler that adds the warnings of Apprise to the list of the current delivery. Others run at the same time."""

    def emit(self, record: logging.LogRecord) -> None:
        """Add a message."""
        if (found := _warnings.get()) is not None:
            found.append(record.getMessage())


# Apprise runs a delivery in a separate thread, with the context of the caller.
_warnings: ContextVar[list[str] | None] = ContextVar("warnings", default=None)
logging.getLogger("apprise").addHandler(_Collector(logging.WARNING))


def load_service(schema: str) -> Any:
    """Return the class of a service."""
    import apprise

    services: Any = apprise.manager_plugins.NotificationManager()
    return services[schema]


def _instantiate(url: str) -> Any:
    """Return the service of a URL, or None if Apprise does not accept it."""
    # Imported at first use, because few servers have such a channel.
    import apprise

    asset = apprise.AppriseAsset(app_id="Arcadia", app_desc="Arcadia", async_mode=False, http_redirects=False)
    return apprise.Apprise.instantiate(url, asset=asset)
