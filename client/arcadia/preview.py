"""Picture and curve of a run for notebooks.

IPython calls `_repr_html_` of synchronous and asynchronous objects without awaiting it. Both therefore read the
picture and the curve through a short synchronous connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import httpx

from arcadia.metrics import parse_series
from arcadia.notebook import Preview
from arcadia.version import user_agent

if TYPE_CHECKING:
    from arcadia.records.run import RunRecord

EPISODE_RETURN = "episode/return"
CURVE_BUCKETS = 120
TIMEOUT_SECONDS = 5.0


class Connection(Protocol):
    """The server's address and token, and the transport that tests replace."""

    url: str
    token: str | None
    given: Any


def read_preview(connection: Connection, run: RunRecord) -> Preview:
    """Return the picture and the curve of a run, as far as the server has them and answers."""
    file_id = run.data["poster_file_id"]
    metrics = _get(connection, f"/runs/{run.id}/metrics", {"names": EPISODE_RETURN, "buckets": CURVE_BUCKETS})
    series = metrics.json()["series"].get(EPISODE_RETURN) if metrics else None
    curve = parse_series(EPISODE_RETURN, series) if series else None
    return Preview(read_picture(connection, file_id), list(zip(curve.x, curve.values, strict=True)) if curve else ())


def read_picture(connection: Connection, file_id: int | None) -> bytes | None:
    """Return a picture, or None if it does not exist or the server does not answer."""
    response = _get(connection, f"/files/{file_id}", {}) if file_id is not None else None
    return response.content if response else None


def _get(connection: Connection, path: str, params: Mapping[str, Any]) -> httpx.Response | None:
    headers = {"User-Agent": user_agent()}
    if connection.token:
        headers["Authorization"] = f"Bearer {connection.token}"
    given = connection.given if isinstance(connection.given, httpx.BaseTransport) else None
    try:
        with httpx.Client(headers=headers, timeout=TIMEOUT_SECONDS, transport=given) as http:
            response = http.get(f"{connection.url}/api/v1{path}", params=dict(params))
    except httpx.TransportError:  # a notebook shows the fields without them
        return None
    return response if response.is_success else None
