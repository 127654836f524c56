"""Fixtures for studies of small runs, with a fake worker that ends them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.studies.scheduler import StudyScheduler
from tests.factories import Api, event, metrics, started

RATES = [1e-4, 3e-4, 1e-3]
STUDY: dict[str, Any] = {
    "name": "Which rate?",
    "preset": "paac-cartpole",
    "total_steps": 1_000,
    "axes": [{"field": "learning_rate", "values": RATES}],
    "seeds": "1-2",
}

Score = Callable[[dict[str, Any]], float]
Outcome = str | Callable[[dict[str, Any]], str]


@dataclass
class Studies:
    """Actions of users on studies, and of workers on their runs."""

    api: Api
    schedule: Callable[[], None]

    def start(self, **more: Any) -> dict[str, Any]:
        """Start a study with confirmed cost."""
        asked = {**STUDY, **more}
        preview = self.api.user.post("/api/v1/studies/preview", json=asked)
        assert preview.status_code == 200, preview.text
        confirmed = {"confirm_steps": preview.json()["steps"]}
        response = self.api.user.post("/api/v1/studies", json={**asked, **confirmed})
        assert response.status_code == 201, response.text
        found: dict[str, Any] = response.json()
        return found

    def read(self, study_id: int) -> dict[str, Any]:
        """Read a study."""
        return self._read(self.api.user.get(f"/api/v1/studies/{study_id}"))

    def act(self, study_id: int, action: str, **body: Any) -> dict[str, Any]:
        """Pause, resume, stop or extend a study."""
        return self._read(self.api.user.post(f"/api/v1/studies/{study_id}/{action}", json=body or None))

    def refused(self, study_id: int, action: str, status: int = 409, **body: Any) -> str:
        """Return why an action is rejected."""
        response = self.api.user.post(f"/api/v1/studies/{study_id}/{action}", json=body or None)
        assert response.status_code == status, response.text
        return str(response.json()["detail"])

    def wrong(self, path: str = "/studies", **more: Any) -> dict[str, str]:
        """Return the validation errors of a study by field."""
        response = self.api.user.post(f"/api/v1{path}", json={**STUDY, **more})
        assert response.status_code == 422, response.text
        return {error["field"]: error["message"] for error in response.json()["errors"]}

    def train(self, score: Score | None = None, outcome: Outcome = "finished") -> dict[str, Any] | None:
        """Train the next queued run to its end, or return None if the queue is empty. A failed one fails half-way."""
        response = self.api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "cpu"})
        if response.status_code == 204:
            return None
        run: dict[str, Any] = response.json()
        returns = [score(run["config"])] if score else []
        if callable(outcome):
            outcome = outcome(run["config"])
        total, held = run["config"]["total_steps"], (run["run_id"], run["attempt"])
        if outcome == "failed":
            half = total // 2
            ending = [metrics(2, half, returns=returns), event(3, "failed", half, message="no memory", traceback="")]
        else:
            ending = [metrics(2, total // 2), metrics(3, total, returns=returns), event(4, outcome, total)]
        events = [started(), *ending]
        assert self.api.send(*held, *events).status_code == 200
        assert self.api.release(*held, outcome).status_code == 200
        return run

    def train_all(self, score: Score | None = None, outcome: Outcome = "finished") -> list[dict[str, Any]]:
        """Train queued runs, and the runs scheduled after them, until none are left."""
        trained: list[dict[str, Any]] = []
        while run := self.train(score, outcome):
            trained.append(run)
            self.schedule()
        return trained

    @staticmethod
    def _read(response: Any) -> dict[str, Any]:
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found


@pytest.fixture
def schedule(database: Database, settings: Settings) -> Callable[[], None]:
    """Return a function that runs a new scheduler once."""
    return lambda: StudyScheduler(database, settings, Doorbell("")).run_once()


@pytest.fixture
def studies(api: Api, schedule: Callable[[], None]) -> Studies:
    """Return helpers for actions of users and workers."""
    return Studies(api, schedule)
