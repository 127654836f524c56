"""HTTP requests of a measurement: sent over one connection, with their time and size."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class Request:
    """A request to a product, relative to its address."""

    method: str
    path: str
    body: str | None = None


@dataclass(frozen=True)
class Sample:
    """Seconds, bytes and number of requests of one measurement. A chart has seconds only."""

    seconds: float
    raw_bytes: int = 0
    sent_bytes: int = 0
    requests: int = 0


def get(path: str, **query: Any) -> Request:
    """Return a GET request."""
    return Request("GET", str(httpx.URL(path, params=query)) if query else path)


def post(path: str, body: str) -> Request:
    """Return a POST request with a JSON body."""
    return Request("POST", path, body)


def replay(url: str, requests: Sequence[Request]) -> Sample:
    """Send requests one after another, like a browser that accepts gzip. The time of connecting does not count."""
    raw = sent = 0
    with httpx.Client(base_url=url, trust_env=False, timeout=TIMEOUT_SECONDS, headers=HEADERS) as client:
        client.get("/")
        began = time.perf_counter()
        for request in requests:
            answer = client.request(request.method, request.path, content=request.body, headers=JSON)
            answer.raise_for_status()
            raw, sent = raw + len(answer.content), sent + answer.num_bytes_downloaded
        return Sample(time.perf_counter() - began, raw, sent, len(requests))


HEADERS = {"Accept-Encoding": "gzip, deflate"}
JSON = {"Content-Type": "application/json"}
