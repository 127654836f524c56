"""The caller of a request, as its headers claim. Anyone can send any text, so nothing may depend on it."""

import re
from typing import Annotated

from fastapi import Depends, Request

MAX_LENGTH = 100
# As arcadia.version.user_agent writes it.
_CLIENT = re.compile(r"arcadia-client/\S{1,50} \((CLI|Python client|MCP)(?:; ([\w.?@-]{1,81}))?\)", re.ASCII)


def describe_caller(request: Request) -> str:
    """Return the user or address of the caller and its kind of client, such as: ana@gpu-box (CLI)."""
    agent = request.headers.get("user-agent", "")
    found = _CLIENT.match(agent)
    kind = found[1] if found else "browser" if agent.startswith("Mozilla/") else "API"
    address = request.client.host if request.client else ""
    who = (found and found[2]) or address
    return (f"{who} ({kind})" if who else kind)[:MAX_LENGTH]


Caller = Annotated[str, Depends(describe_caller)]
