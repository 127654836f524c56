"""Make the archive of the current format in tests/fixtures/archives: `python -m tests.make_archives`.

Keep the files of earlier versions: a test checks that they can still be imported.
"""

import tempfile
from pathlib import Path

from fastapi.testclient import TestClient

from arcadia_backend.app import create_app
from arcadia_backend.archives.format import VERSION
from arcadia_backend.config import Settings
from tests.backend.archives.conftest import Archives, create_rich_run
from tests.factories import Api, event, metrics, started

FOLDER = Path(__file__).parent / "fixtures" / "archives"
TOKEN = "worker-secret"


def main() -> None:
    """Write the archive."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"data_dir": folder, "worker_token": TOKEN, "sweep_seconds": 60})
        app = create_app(settings)
        worker = TestClient(app, base_url="http://localhost", headers={"Authorization": f"Bearer {TOKEN}"})
        with TestClient(app, base_url="http://localhost") as user:
            api, archives = Api(user, worker), Archives(user)
            run = create_rich_run(api)
            study = finish_study(api)
            app.state.study_scheduler.run_once()
            report = create_report(api, run, study)
            path = FOLDER / f"v{VERSION}.arcadia"
            path.write_bytes(archives.export_items(reports=report))
            print(f"{path}: {path.stat().st_size:,} bytes")


def finish_study(api: Api) -> int:
    """Start a study of two points with one run each, and train them."""
    axes = [{"field": "learning_rate", "values": [1e-4, 1e-3]}]
    asked = {"name": "Which rate?", "preset": "paac-cartpole", "total_steps": 1_000, "axes": axes, "seeds": 1}
    steps = api.user.post("/api/v1/studies/preview", json=asked).json()["steps"]
    created = api.user.post("/api/v1/studies", json={**asked, "question": "Q", "confirm_steps": steps})
    for score in (10.0, 20.0):
        claimed = api.claim()
        held = claimed["run_id"], claimed["attempt"]
        assert api.send(*held, *trained(score)).is_success
        assert api.release(*held, "finished").is_success
    return int(created.json()["id"])


def trained(score: float) -> list[dict[str, object]]:
    """Return the events of a short training."""
    return [started(), metrics(2, 1_000, returns=[score]), event(3, "finished", 1_000)]


def create_report(api: Api, run: int, study: int) -> int:
    """Create a report with a block of each kind."""
    (replay,) = api.user.get(f"/api/v1/runs/{run}/replays").json()
    blocks = [
        {"kind": "text", "markdown": f"# Rates\n\n![A picture](/api/v1/files/{replay['poster_file_id']})"},
        {"kind": "chart", "address": f"/api/v1/figures/curves?runs={run}", "caption": "The curve"},
        {"kind": "chart", "address": f"/api/v1/studies/{study}/figure?kind=scatter&axis=0"},
        {"kind": "table", "of": "runs", "numbers": [run]},
        {"kind": "table", "of": "study", "numbers": [study]},
        {"kind": "replay", "replay": replay["id"]},
    ]
    created = api.user.post("/api/v1/reports", json={"title": "Rates of all", "blocks": blocks})
    assert created.status_code == 201, created.text
    return int(created.json()["id"])


if __name__ == "__main__":
    main()
