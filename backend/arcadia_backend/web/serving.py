"""Options of the web server."""

import asyncio
from contextlib import suppress
from types import FrameType
from typing import Any

import uvicorn

from arcadia_backend.config import Settings
from arcadia_workers.contract.live import LARGEST_PICTURE

# The date in the head of responses has a resolution of one second.
DATE_SECONDS = 1.0


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


def server_options(settings: Settings) -> dict[str, Any]:
    """Return uvicorn's options without the address. Only trusted proxies may set the client address."""
    return {
        "log_config": None,
        "access_log": False,
        "server_header": False,
        # By default uvicorn trusts X-Forwarded-For from this machine, which would bypass the limit of wrong tokens.
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "timeout_graceful_shutdown": 5,
        "ws_max_size": LARGEST_PICTURE,
        "ws_per_message_deflate": False,
    }
