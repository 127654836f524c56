"""Addresses of alerts: valid ones, reachable ones, and Apprise's (docs/decisions/0065-alerts.md)."""

import ipaddress
import logging
import re
import socket
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class DeliveryOutcome:
    """Outcome of one try to deliver an alert."""

    status: int | None = None
    response: str | None = None
    # Why it failed, or None if it succeeded.
    error: str | None = None
    # True if another try cannot succeed.
    is_final: bool = False


Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Networks that are not public, in all versions of Python.
DENIED = tuple(
    map(
        ipaddress.ip_network,
        (
            # Clouds use this public address for services of their own hosts.
            "168.63.129.16/32",
            # Addresses of protocols.
            "192.0.0.0/24",
            # Relays of 6to4, which is no longer in use. Its IPv6 addresses contain any IPv4 address.
            "192.88.99.0/24",
            "2002::/16",
            # Teredo, whose addresses contain the IPv4 addresses of a server and a client.
            "2001::/32",
            # NAT64 in local networks.
            "64:ff9b:1::/48",
            # IPv4-compatible and IPv4-translated addresses, ORCHID, and the former site-local addresses.
            "::/96",
            "::ffff:0:0:0/96",
            "2001:10::/28",
            "2001:20::/28",
            "fec0::/10",
            # Benchmarks, documentation, segment routing and addresses that are to be discarded.
            "2001:2::/48",
            "2001:db8::/32",
            "3fff::/20",
            "5f00::/16",
            "100::/64",
        ),
    )
)
# IPv6 addresses that contain an IPv4 address in their last 32 bits: NAT64, whose routers connect to that address.
NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Everything that is assigned to the public internet. The rest of IPv6 is reserved.
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


class BlockedError(Exception):
    """The address is private, or belongs to this host or its network."""


def check_webhook_url(url: str) -> None:
    """Raise ValueError if the URL of a webhook is invalid."""
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("must be ASCII; write other characters percent-encoded, and a host name in Punycode")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("is not a valid address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("must be an address such as https://example.org/hook")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not contain a user name or a password")


def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Return the addresses of a host. Raise BlockedError if one is not public, and OSError if there are none.

    Connect to a returned address rather than to the name, which could resolve to another address next time.
    """
    results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(place[0]) for *_, place in results]
    if not allow_private and (blocked := [each for each in addresses if not is_public(ipaddress.ip_address(each))]):
        fact = "is a private address" if host == blocked[0] else f"has the private address {blocked[0]}"
        raise BlockedError(f"{host} {fact}. Set ARCADIA_ALERTS_PRIVATE=1 on the server to allow it.")
    return list(dict.fromkeys(addresses))


def is_public(address: Address) -> bool:
    """Return True for an address of the public internet."""
    inner = _embedded(address)
    if inner is not None:
        return is_public(inner)
    is_special = address.is_multicast or address.is_unspecified or address.is_reserved
    is_denied = any(address in network for network in DENIED)
    is_assigned = address.version == 4 or address in GLOBAL_UNICAST
    return address.is_global and is_assigned and not is_special and not is_denied


def _embedded(address: Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


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
    # Imported at first use, because few servers have such a channel.
    import apprise

    asset = apprise.AppriseAsset(app_id="Arcadia", app_desc="Arcadia", async_mode=False, http_redirects=False)
    service = apprise.Apprise.instantiate(url, asset=asset)
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


def send(url: str, title: str, body: str, level: str, *, allow_private: bool) -> DeliveryOutcome:
    """Send a message, and return the outcome. It is delivered only if the service was contacted and accepted it."""
    import apprise

    try:
        service = _check(url, allow_private=allow_private)
        if urlsplit(url).scheme.lower() in MAIL:
            resolve(service.smtp_host, service.port, allow_private=allow_private)
    except (BlockedError, ValueError) as error:
        return DeliveryOutcome(error=str(error), is_final=True)
    except OSError as error:
        return DeliveryOutcome(error=f"The mail server could not be found: {error}")
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
        return DeliveryOutcome()
    reason = " ".join(warnings)[:MAX_ERROR] if requests else "Apprise did not contact the service."
    return DeliveryOutcome(error=f"The service did not accept the message. {reason}".strip())


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
        if (warnings := _warnings.get()) is not None:
            warnings.append(record.getMessage())


# Apprise runs a delivery in a separate thread, with the context of the caller.
_warnings: ContextVar[list[str] | None] = ContextVar("warnings", default=None)
logging.getLogger("apprise").addHandler(_Collector(logging.WARNING))


def load_service(schema: str) -> Any:
    """Return the class of a service."""
    import apprise

    services: Any = apprise.manager_plugins.NotificationManager()
    return services[schema]
