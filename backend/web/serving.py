"""How the backend is served: uvicorn's options."""

from typing import Any

from backend.config import Settings
from workers.contract.live import LARGEST_PICTURE


def server_options(settings: Settings) -> dict[str, Any]:
    """Return uvicorn's options, without the address. Only trusted proxies may name the client they speak for."""
    return {
        "log_config": None,
        "access_log": False,
        "server_header": False,
        # By default uvicorn believes X-Forwarded-For from this machine, which would bypass the rate limit of sign-ins.
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "timeout_graceful_shutdown": 5,
        "ws_max_size": LARGEST_PICTURE,
        "ws_per_message_deflate": False,
    }
