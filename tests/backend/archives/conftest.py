"""A run with everything that a run can have, and all API responses about a run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.backend.calibrations.test_api import judge
from tests.backend.calibrations.test_api import request as request_calibration
from tests.factories import (
    PONG,
    Api,
    Client,
    changed,
    event,
    metrics,
    start_set,
    video,
)
from tests.provenance import PROVENANCE

# Values that depend on the installation. Everything else must be the same after an import.
IDS = ("id", "run_id", "checkpoint_id", "job_id", "replay_id", "color", "cursor", "continues", "archived_at")
FILES = ("file_id", "poster_file_id", "seen_file_id", "track_file_id")


@dataclass(frozen=True)
class Archives:
    """Shortcuts for the archives API."""

    user: Client

    def export(self, run_id: int, **query: Any) -> bytes:
        """Download the archive of a run."""
        return self.export_items(runs=run_id, **query)

    def export_items(self, **query: Any) -> bytes:
        """Download an archive of runs, studies and reports."""
        response = self.user.get("/api/v1/archives", params=query)
        assert response.status_code == 200, response.text
        return bytes(response.content)

    def load(self, archive: bytes, **query: Any) -> dict[str, Any]:
        """Import an archive."""
        response = self.user.post("/api/v1/archives", params=query, content=archive)
        assert response.status_code == 201, response.text
        result: dict[str, Any] = response.json()
        return result

    def refusal(self, archive: bytes) -> str:
        """Return why an archive is refused."""
        response = self.user.post("/api/v1/archives", content=archive)
        assert response.status_code == 422, response.text
        assert response.json()["type"].endswith("/bad-archive"), response.text
        return str(response.json()["detail"])

    def read(self, run_id: int) -> dict[str, Any]:
        """Return all API responses about a run, with contents of files and without ids."""
        base = f"/api/v1/runs/{run_id}"
        run = self._get(base)
        # Pages draw at most 500 buckets, and these runs do not fill them. The table includes superseded points.
        listed = self._get(f"{base}/evaluations")["items"]
        answers = {
            "run": {key: value for key, value in run.items() if key != "actions"},
            "points": self._get(f"{base}/metrics"),
            "points by time": self._get(f"{base}/metrics", x="time"),
            "csv": self.user.get(f"/api/v1/export/runs/{run_id}.csv").text,
            "log": [line for line in self._get(f"{base}/log")["items"] if "Imported from" not in line["message"]],
            "checkpoints": self._get(f"{base}/checkpoints"),
            "replays": self._get(f"{base}/replays"),
            "reviews": [
                review
                for each in self._get(f"{base}/replays")
                for review in self._get(f"/api/v1/replays/{each['id']}/reviews")
            ],
            "evaluations": [self._get(f"/api/v1/evaluations/{each['id']}") for each in listed],
            "calibrations": [
                self._get(f"/api/v1/calibrations/{each['id']}") for each in self._get(f"{base}/calibrations")
            ],
            "provenance": self._get(f"{base}/provenance"),
            "first provenance": self._get(f"{base}/provenance", attempt=1) if run["attempt"] else None,
            "changes": self._get(f"{base}/changes"),
            "media": self._get(f"{base}/media")["items"],
        }
        return {name: self._without_ids(answer) for name, answer in answers.items()}

    def _get(self, path: str, **query: Any) -> Any:
        response = self.user.get(path, params=query)
        assert response.status_code == 200, response.text
        return response.json()

    def _without_ids(self, answer: Any) -> Any:
        if isinstance(answer, dict):
            return {
                key: self._content(value) if key in FILES else self._without_ids(value)
                for key, value in answer.items()
                if key not in IDS
            }
        return [self._without_ids(item) for item in answer] if isinstance(answer, list) else answer

    def _content(self, file_id: int | None) -> tuple[bytes, str] | None:
        if file_id is None:
            return None
        response = self.user.get(f"/api/v1/files/{file_id}")
        assert response.status_code == 200
        return response.content, response.headers["content-type"]


@pytest.fixture
def archives(api: Api) -> Archives:
    """Return shortcuts for the archives API."""
    return Archives(api.user)


def create_rich_run(api: Api) -> int:
    """Create a run of two attempts with superseded points, checkpoints, a replay, evaluations, provenance and tags."""
    config = {**PONG, "total_steps": 10_000}
    run_id, first = api.running(name="All of it", config=config, tags=["α", "paper"], notes="Notes\nof two lines")
    document = PROVENANCE.model_dump(mode="json")
    sent = [event(2, "provenance", provenance=document)]
    # A page of full chunks has 16,384 points. A few chunks and a tail are enough here.
    sent += [metrics(3 + n, 10 * n, {"train/loss": 1 / (n + 1), "train/odd": "NaN"}, [n, n / 3]) for n in range(60)]
    assert api.send(run_id, first, *sent).is_success
    api.save(run_id, first, 63, 300, return_mean=5.0)
    more = [metrics(64 + n, 300 + n, {"train/loss": n, "train/odd": "Infinity"}, [n] * 9) for n in range(80)]
    assert api.send(run_id, first, *more).is_success
    second = api.lose(run_id, first, resumed_from=300)
    again = [metrics(2 + n, 301 + 7 * n, {"train/loss": -n}, [n]) for n in range(40)]
    assert api.send(run_id, second, *again).is_success
    kept = ["checkpoints/step-000000000300.safetensors", "checkpoints/step-000000000600.safetensors"]
    api.save(run_id, second, 42, 600, return_mean=7.5, best=True, kept=kept)
    for path, content, kind in (("600.mp4", b"film", "video"), ("600.png", b"still", "poster")):
        api.upload(run_id, second, f"replays/{path}", content, kind)
    assert api.send(run_id, second, video(43, 610, 600, episode_return="Infinity")).is_success
    assert api.send(run_id, second, event(44, "log", level="warning", message="Über")).is_success
    api.change(run_id, {"learning_rate": 0.5})
    assert api.send(run_id, second, changed(45, 620, 1, {"learning_rate": 0.5}, {"learning_rate": 0.0224})).is_success
    api.beat(job_slots=2)
    api.evaluate(run_id, seed=3, episodes=2)
    api.play([1.5, "NaN"])
    request_calibration(api, run_id)
    judge(api, 600)
    starts = api.import_starts(start_set("human", points=2), "Ana's")
    api.evaluate(run_id, protocol="human-starts", start_set=starts["id"])
    assert api.release(run_id, second, "finished").is_success
    return run_id


@pytest.fixture
def rich_run(api: Api) -> int:
    """Return a run with everything that a run can have."""
    return create_rich_run(api)


@pytest.fixture
def purge(api: Api) -> Callable[[int], None]:
    """Return a function that deletes a run permanently."""

    def purge(run_id: int) -> None:
        assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204

    return purge
