"""Channels of Apprise, which sends messages to Slack, mail servers and many other services.

Apprise resolves names itself. So only services at fixed public addresses are allowed, and mail servers, whose address
is checked before each try (docs/decisions/0065-alerts.md).
"""

import logging
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from backend.alerts.addresses import BlockedError, resolve
from backend.alerts.attempts import Attempted

# Their addresses are part of Apprise.
FIXED_SERVICES = frozenset(
    "dingtalk discord feishu gchat ifttt lark opsgenie pagerduty pbul pover sendgrid slack tgram twilio wxteams "
    "zulip".split()
)
MAIL = frozenset(("mailto", "mailtos"))
SELF_HOSTED = frozenset("gotify gotifys json jsons matrix matrixs mmost mmosts ntfy ntfys rocket rockets".split())
# Others may name files of this host, such as templates and keys.
PARAMETERS = frozenset(
    "avatar bcc cc channel footer format from image mode name overflow priority reply silent smtp sound thread to "
    "topic user".split()
)
LEVELS = {"info": "info", "warning": "warning", "error": "failure"}
MAX_ERROR = 500


def check_apprise_url(url: str, *, allow_private: bool) -> None:
    """Raise ValueError if an Apprise URL is invalid or not allowed."""
    schema = urlsplit(url).scheme.lower()
    allowed = FIXED_SERVICES | MAIL | (SELF_HOSTED if allow_private else frozenset())
    if schema in SELF_HOSTED and not allow_private:
        raise ValueError(f"{schema} is a self-hosted service; set ARCADIA_ALERTS_PRIVATE=1 on the server to allow it")
    if schema not in allowed:
        raise ValueError(f"no service {schema!r} is allowed; use one of {', '.join(sorted(allowed))}")
    unknown = {name for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)} - PARAMETERS
    if unknown:
        raise ValueError(f"the parameter {min(unknown)!r} is not allowed; use {', '.join(sorted(PARAMETERS))}")
    if _instantiate(url) is None:
        raise ValueError(f"Apprise does not accept this {schema} URL; see appriseit.com for its form")


def send(url: str, title: str, body: str, level: str, *, allow_private: bool) -> Attempted:
    """Send a message, and return the outcome."""
    import apprise

    try:
        check_apprise_url(url, allow_private=allow_private)
        service = _instantiate(url)
        if urlsplit(url).scheme.lower() in MAIL:
            resolve(service.smtp_host, service.port, allow_private=allow_private)
    except (BlockedError, ValueError) as error:
        return Attempted(error=str(error), is_final=True)
    except OSError as error:
        return Attempted(error=f"The mail server could not be found: {error}")
    sender = apprise.Apprise(service)
    capture: Any = apprise.LogCapture(level=logging.WARNING)  # type: ignore[no-untyped-call]
    with capture as captured:
        is_sent = sender.notify(body=body or title, title=title if body else "", notify_type=LEVELS[level])
        lines = captured.getvalue().strip().splitlines()
    reason = " ".join(line.partition(" - ")[2] or line for line in lines)[:MAX_ERROR]
    return Attempted(error=None if is_sent else f"The service did not accept the message. {reason}".strip())


def load_service(schema: str) -> Any:
    """Return the class of a service."""
    import apprise

    services: Any = apprise.manager_plugins.NotificationManager()  # type: ignore[no-untyped-call]
    return services[schema]


def _instantiate(url: str) -> Any:
    """Return the service of a URL, or None if Apprise does not accept it."""
    # Imported at first use, because few servers have such a channel.
    import apprise

    return apprise.Apprise.instantiate(url, asset=apprise.AppriseAsset(app_id="Arcadia", app_desc="Arcadia"))
