"""A test client that reports a run."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.factories import Api, Client, Response

PNG = b"\x89PNG\r\n\x1a\n" + b"picture"


@dataclass
class Script:
    """The client of a reported run: one writer with numbered events."""

    user: Client
    key: str = "key-1"
    writer: str = "writer-1"
    run_id: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)

    def begin(self, **more: Any) -> Response:
        """Create or resume the run."""
        response = self.user.post("/api/v1/reported/runs", json={"key": self.key, "writer": self.writer, **more})
        if response.is_success:
            self.run_id = response.json()["run_id"]
        return response

    def event(self, kind: str, **more: Any) -> dict[str, Any]:
        """Return the next event of the journal."""
        seq = len(self.events) + 1
        self.events.append({"seq": seq, "time": 1_700_000_000.0 + seq, "kind": kind, **more})
        return self.events[-1]

    def metrics(self, step: int, **values: Any) -> dict[str, Any]:
        """Return the next event with these values."""
        return self.event("metrics", step=step, values=values)

    def post(self, *events: Any) -> Response:
        """Post events."""
        body = {"writer": self.writer, "events": list(events)}
        return self.user.post(f"/api/v1/reported/runs/{self.run_id}/events", json=body)

    def log(self, kind: str, **more: Any) -> dict[str, Any]:
        """Post the next event and return the response."""
        response = self.post(self.event(kind, **more))
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def upload(self, content: bytes = PNG, sha256: str | None = None) -> Response:
        """Upload a file."""
        named = sha256 or hashlib.sha256(content).hexdigest()
        path = f"/api/v1/reported/runs/{self.run_id}/files/{named}"
        return self.user.put(path, params={"writer": self.writer}, content=content)


@pytest.fixture
def script(api: Api) -> Script:
    """Return a client that has not started its run."""
    return Script(api.user)


@pytest.fixture
def reported(script: Script) -> Script:
    """Return a client that has created its run."""
    response = script.begin(method="PPO", env="CartPole-v1", name="mine", origin_label="Python")
    assert response.status_code == 201, response.text
    return script


@pytest.fixture
def warnings(api: Api) -> Callable[[int], list[str]]:
    """Return a function that reads the warnings in a run's log."""

    def read(run_id: int) -> list[str]:
        lines = api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"]
        return [line["message"] for line in lines if line["level"] == "warning"]

    return read
