"""Fake server responses for tests."""

from __future__ import annotations

from typing import Any

import httpx

URL = "http://arcadia.test"
ACTIONS = {"stop": None, "resume": "This run is already running."}
DETAILS = ("config", "notes", "study", "trained_seconds", "warnings")

RUN: dict[str, Any] = {
    "id": 12,
    "name": "a run",
    "project": "Main",
    "state": "running",
    "state_reason": None,
    "algorithm": "paac",
    "env": "CartPole-v1",
    "config": {"seed": 3, "learning_rate": 0.001},
    "tags": ["one"],
    "notes": "",
    "queue": "cpu",
    "priority": 0,
    "attempt": 1,
    "worker": "w",
    "step": 250,
    "frames": 250,
    "total_steps": 1000,
    "episodes": 4,
    "steps_per_second": 10.0,
    "seconds_left": 75.0,
    "trained_seconds": 25.0,
    "last_return": 20.5,
    "best_return": "NaN",
    "created_at": "2026-11-26T10:00:00Z",
    "started_at": "2026-11-26T10:00:01.500Z",
    "finished_at": None,
    "archived_at": None,
    "failure": None,
    "warnings": [],
    "study": None,
    "parent": None,
    "poster_file_id": None,
    "actions": ACTIONS,
}


def run(**changes: Any) -> dict[str, Any]:
    """Return a run as the API writes it."""
    return {**RUN, **changes}


class FakeServer:
    """A server that answers each path with the next given response, and records the requests."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = {path: list(each) if isinstance(each, list) else [each] for path, each in answers.items()}
        self.requests: list[httpx.Request] = []
        self.transport = httpx.MockTransport(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        path = request.url.path.removeprefix("/api/v1")
        answers = self.answers[path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)


def page(*runs: dict[str, Any], cursor: str | None = None) -> dict[str, Any]:
    """Return one page of the run list, which leaves out details and empty fields."""
    items = [
        {
            name: value
            for name, value in {**each, "actions": 0}.items()
            if name not in DETAILS and value not in (None, [])
        }
        for each in runs
    ]
    return {"items": items, "actions": [ACTIONS], "next_cursor": cursor, "total": len(runs)}
