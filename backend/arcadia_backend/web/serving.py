"""Options of the web server."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address, ip_network
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from arcadia_backend.config import Settings
from arcadia_backend.live.watches import PROXIED_PERSON
from arcadia_workers.contract.live import LARGEST_PICTURE

# The date in the head of responses has a resolution of one second.
DATE_SECONDS = 1.0
# The longest name of a person that a proxy may give.
MAX_NAME = 100


class QuietServer(uvicorn.Server):
    """Server that waits for its end, instead of checking ten times a second whether it should."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._exits = asyncio.Event()

    async def main_loop(self) -> None:
        """Update the date of responses until the server should exit."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(DATE_SECONDS):
                    await self._exits.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let the server exit after a signal."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._exits.set)


class PersonHeader:
    """Outermost application: keeps the person whom a trusted proxy names, before uvicorn changes the address.

    A person in the header of any other address is ignored.
    """

    def __init__(self, app: ASGIApp, header: str, proxies: Sequence[str]) -> None:
        self._app, self._header = app, header.lower().encode("latin-1")
        self._proxies = [ip_network(proxy, strict=False) for proxy in proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the person that the proxy names."""
        if scope["type"] != "lifespan" and self._is_proxy(scope.get("client")):
            names = [value.decode("latin-1").strip() for name, value in scope["headers"] if name == self._header]
            # Several headers may come from several places.
            if len(names) == 1 and names[0]:
                scope[PROXIED_PERSON] = names[0][:MAX_NAME]
        await self._app(scope, receive, send)

    def _is_proxy(self, client: tuple[str, int] | None) -> bool:
        try:
            address = ip_address(client[0] if client else "")
        except ValueError:
            return False
        return any(address in network for network in self._proxies)


def behind_proxies(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Return the application as a server runs it if a proxy names the people who have signed in."""
    if not settings.proxy_person_header:
        return app
    proxies = list(settings.trusted_proxies)
    forwarded = cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=proxies))
    return PersonHeader(forwarded, settings.proxy_person_header, proxies)


def server_options(settings: Settings) -> dict[str, Any]:
    """Return uvicorn's options without the address. Only trusted proxies may set the client address."""
    return {
        "log_config": None,
        "access_log": False,
        "server_header": False,
        # By default uvicorn trusts X-Forwarded-For from this machine, which would bypass the limit of wrong tokens.
        # `behind_proxies` does it after it has read the header with the person.
        "proxy_headers": bool(settings.trusted_proxies) and not settings.proxy_person_header,
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "timeout_graceful_shutdown": 5,
        "ws_max_size": LARGEST_PICTURE,
        "ws_per_message_deflate": False,
    }
