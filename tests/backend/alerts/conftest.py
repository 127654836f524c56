"""A receiver of webhooks, and shortcuts for the alerts API."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from arcadia_backend.alerts.delivery import AlertDeliverer
from arcadia_backend.alerts.service import ConditionChecker
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from tests.backend.reported.conftest import script, warnings
from tests.factories import Api

__all__ = ["script", "warnings"]


@dataclass
class Receiver:
    """A local HTTP server that records requests and responds with a list of statuses."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Return the bodies as JSON."""
        return [json.loads(body) for _headers, body in self.requests]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Yield a receiver that listens on a loopback address."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append((dict(self.headers), body))
            status = receiver.statuses.pop(0) if receiver.statuses else 200
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{receiver.url}/elsewhere")
            self.end_headers()
            self.wfile.write(b"thanks" if status == 200 else b"no")

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield receiver
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Alerts:
    """Shortcuts for the alerts API with an adjustable clock."""

    api: Api
    database: Database
    settings: Settings
    later: timedelta = timedelta()
    seconds: float = 0.0

    def listed(self, **query: Any) -> list[dict[str, Any]]:
        """List alerts, newest first."""
        items: list[dict[str, Any]] = self.get("/alerts", **query)["items"]
        return items

    def kinds(self) -> list[str]:
        """Return the kinds of all alerts, newest first."""
        return [alert["kind"] for alert in self.listed()]

    def get(self, path: str, **query: Any) -> Any:
        """Send a GET request and return the body."""
        response = self.api.user.get(f"/api/v1{path}", params=query)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, **body: Any) -> Any:
        """Send a POST request and return the body."""
        response = self.api.user.post(f"/api/v1{path}", json=body)
        assert response.is_success, response.text
        return response.json()

    def patch(self, path: str, **body: Any) -> Any:
        """Send a PATCH request and return the body."""
        response = self.api.user.patch(f"/api/v1{path}", json=body)
        assert response.status_code == 200, response.text
        return response.json()

    def deliver(self, *, private: bool = True) -> int:
        """Attempt each due delivery once. Return their number."""
        settings = self.settings.model_copy(update={"alerts_private": private})
        deliverer = AlertDeliverer(self.database, settings, self.now)
        due = deliverer.list_due()
        for delivery_id, _channel in due:
            deliverer.deliver(delivery_id)
        return len(due)

    def deliveries(self) -> list[dict[str, Any]]:
        """List deliveries, newest first."""
        items: list[dict[str, Any]] = self.get("/alert-deliveries")["items"]
        return items

    def now(self) -> datetime:
        """Return the current time as deliveries see it."""
        return utc_now() + self.later


@pytest.fixture
def alerts(api: Api, database: Database, settings: Settings) -> Alerts:
    """Return shortcuts for the alerts API."""
    return Alerts(api, database, settings)


@pytest.fixture
def check(alerts: Alerts) -> Callable[..., None]:
    """Return a function that lets minutes pass and checks all conditions."""
    checker = ConditionChecker(alerts.database, alerts.settings, lambda: alerts.seconds)

    def check(minutes: float = 0) -> None:
        alerts.seconds += 60 * minutes
        checker.check()

    return check


def seconds_until(time: str | None) -> float:
    """Return the seconds from now until a time."""
    assert time is not None
    return (datetime.fromisoformat(time) - datetime.now(UTC)).total_seconds()
