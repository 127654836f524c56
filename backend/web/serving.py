"""Options of the web server."""

from typing import Any

from backend.config import Settings
from workers.contract.live import LARGEST_PICTURE


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
