"""Two schedulers of which one hangs."""

from typing import Any

import pytest

from arcadia_backend.config import Settings
from tests.backend.executors.conftest import FakeSlurm
from tests.factories import Api
from tests.server_process import free_port
from tests.workers.waiting import wait_until


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Look at the schedulers often."""
    return settings.model_copy(update={"scheduler_seconds": 0.1, "sweep_seconds": 0.2})


def test_a_scheduler_that_hangs_does_not_delay_another_one(fake_slurm: FakeSlurm, api: Api) -> None:
    def job_of(name: str) -> dict[str, Any]:
        return api.run(runs[name])["submission"] or {}

    with fake_slurm.hanging():
        api.user.put("/api/v1/executors/slurm", json=fake_slurm.settings()).raise_for_status()
        ray = {"backend_url": "http://127.0.0.1:8000", "address": f"http://127.0.0.1:{free_port()}"}
        api.user.put("/api/v1/executors/ray", json=ray).raise_for_status()
        runs = {name: api.launch(executor=name)["id"] for name in ("slurm", "ray")}
        wait_until(lambda: "is not reachable" in (job_of("ray").get("reason") or ""))
        assert job_of("slurm").get("handle") is None
    wait_until(lambda: job_of("slurm").get("handle"))
