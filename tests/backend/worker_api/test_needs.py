"""Needs of runs: labels, cores, memory and GPUs of hosts with one or several workers, and interruptions."""

from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run
from arcadia_backend.worker_api.interruptions import interrupt
from tests.factories import Api, started

GB = 10**9
GPUS = [{"index": 0, "name": "A", "memory_bytes": 10 * GB}, {"index": 1, "name": "B", "memory_bytes": 24 * GB}]


def claim(api: Api, name: str, queue: str = "cpu") -> int | None:
    """Claim a run, and return its id or None."""
    answer = api.worker.post("/api/v1/worker/claim", json={"name": name, "queue": queue})
    return None if answer.status_code == 204 else int(answer.json()["run_id"])


def beat(api: Api, name: str, host: str = "h", **more: Any) -> Any:
    """Report a worker of a host. Each has another process."""
    return api.beat(name, host=host, pid=sum(map(ord, name)), **more).raise_for_status().json()


def edit(api: Api, name: str, **changes: Any) -> Any:
    """Change a worker."""
    return api.user.patch(f"/api/v1/workers/{name}", json=changes).raise_for_status().json()


def test_a_run_waits_for_a_host_with_its_labels(api: Api) -> None:
    for name in ("w1", "w2"):
        beat(api, name, host=name)
    run = api.launch(needs={"labels": ["big", "a100"]})
    assert run["needs"]["labels"] == ["a100", "big"]
    assert claim(api, "w1") is None
    reason = api.run(run["id"])["state_reason"]
    assert reason == "No CPU worker has the labels a100 and big. Add labels on the page Workers."
    assert edit(api, "w2", labels=["a100", "big"])["labels"] == ["a100", "big"]
    assert claim(api, "w1") is None
    assert claim(api, "w2") == run["id"]


def test_the_workers_of_a_host_have_the_same_labels(api: Api) -> None:
    for name in ("w1", "w2"):
        beat(api, name)
    edit(api, "w1", labels=["fast"])
    beat(api, "w3")
    beat(api, "other", host="other")
    edit(api, "w1", host_name=" Big one ")
    beat(api, "w4")
    names = {each["name"]: each["host_name"] for each in api.user.get("/api/v1/workers").json()}
    assert names == {"w1": "Big one", "w2": "Big one", "w3": "Big one", "w4": "Big one", "other": ""}
    labels = {each["name"]: each["labels"] for each in api.user.get("/api/v1/workers").json()}
    assert labels == {"w1": ["fast"], "w2": ["fast"], "w3": ["fast"], "w4": ["fast"], "other": []}


def test_a_run_that_no_host_can_hold_says_so_and_delays_nobody(api: Api) -> None:
    beat(api, "w1")
    large = api.launch(needs={"cores": 16, "memory_gb": 100})["id"]
    small = api.launch()["id"]
    assert api.run(large)["state_reason"] == "No CPU worker has 16 cores and 100 GB of memory, even when it is free."
    assert claim(api, "w1") == small


@pytest.mark.parametrize(
    "needs", [{"cores": 0}, {"cores": -1}, {"labels": ["a b"]}, {"labels": ["x"] * 11}, {"gpus": 1}]
)
def test_wrong_needs_are_refused(api: Api, needs: dict[str, Any]) -> None:
    answer = api.user.post("/api/v1/runs", json={"preset": "paac-cartpole", "needs": needs})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith("needs.")


def test_the_runs_of_a_host_share_its_cores(api: Api) -> None:
    for name in ("w1", "w2", "w3"):
        beat(api, name, cores=8)
    runs = [api.launch(needs={"cores": cores})["id"] for cores in (4, 3, 2)]
    assert [claim(api, name) for name in ("w1", "w2", "w3")] == [runs[0], runs[1], None]
    assert api.run(runs[2])["state_reason"].startswith("It needs 2 cores, and 1 of h are free.")
    # Without an end in sight, only a run that fits beside the waiting one may start before it.
    beside, long = api.launch(needs={"cores": 1})["id"], api.launch(needs={"cores": 1})["id"]
    assert claim(api, "w3") == beside
    assert claim(api, "w3") is None
    api.release(runs[0], 1, "finished").raise_for_status()
    assert claim(api, "w1") == runs[2]
    assert api.run(long)["state"] == "queued"


def test_small_runs_do_not_starve_a_large_one(api: Api) -> None:
    for name in ("w1", "w2"):
        beat(api, name, cores=4)
    first = api.launch(needs={"cores": 2})["id"]
    large = api.launch(needs={"cores": 4})["id"]
    small = api.launch(needs={"cores": 2})["id"]
    assert claim(api, "w1") == first
    # Nobody knows how long the small run takes, so it would delay the large one.
    assert claim(api, "w2") is None
    api.release(first, 1, "finished").raise_for_status()
    assert claim(api, "w2") == large
    api.release(large, 1, "finished").raise_for_status()
    assert claim(api, "w2") == small


def test_runs_share_gpus_by_memory(api: Api, database: Database) -> None:
    for name in ("w1", "w2", "w3", "w4"):
        beat(api, name, queue="gpu", gpus=GPUS)
    needs: dict[str, Any] = {"queue": "gpu", "needs": {"gpu_memory_gb": 6, "cores": 0.1}}
    runs = [api.launch(**needs)["id"] for _ in range(3)]
    whole = api.launch(queue="gpu", needs={"cores": 0.1})["id"]
    assert [claim(api, name, "gpu") for name in ("w1", "w2", "w3")] == runs
    with database.read() as session:
        assert [session.get_one(Run, run).gpu for run in runs] == [0, 1, 1]
    assert claim(api, "w4", "gpu") is None
    assert api.run(whole)["state_reason"].startswith("It needs a whole GPU, and those of h are used.")
    api.release(runs[0], 1, "finished").raise_for_status()
    answer = api.worker.post("/api/v1/worker/claim", json={"name": "w1", "queue": "gpu"}).json()
    assert (answer["run_id"], answer["gpu"]) == (whole, 0)


def test_a_gpu_that_others_use_is_left_alone(api: Api) -> None:
    busy = [{**GPUS[0], "foreign_bytes": 4 * GB}]
    beat(api, "w1", queue="gpu", gpus=busy)
    run = api.launch(queue="gpu")["id"]
    [listed] = api.user.get("/api/v1/workers").json()
    assert (listed["gpus"][0]["is_busy"], listed["gpus"][0]["foreign_bytes"]) == (True, 4 * GB)
    assert claim(api, "w1", "gpu") is None
    beat(api, "w1", queue="gpu", gpus=GPUS[:1])
    assert claim(api, "w1", "gpu") == run


def test_a_run_of_a_higher_priority_takes_the_place_of_an_interruptible_one(api: Api, database: Database) -> None:
    beat(api, "w1")
    low = api.launch(interruptible=True)["id"]
    assert claim(api, "w1") == low
    api.send(low, 1, started()).raise_for_status()
    equal = api.launch()["id"]
    interrupt(database)
    held = {"id": low, "attempt": 1}
    assert beat(api, "w1", run=held)["drain"] is False
    urgent = api.launch(priority=5)["id"]
    interrupt(database)
    interrupt(database)
    assert beat(api, "w1", run=held)["drain"] is True
    api.release(low, 1, "drained", message="Worker w1 was shut down.").raise_for_status()
    after = api.run(low)
    assert (after["state"], after["interruptions"]) == ("queued", 1)
    assert after["state_reason"].startswith(f"Interrupted by run {urgent}, which has a higher priority.")
    assert claim(api, "w1") == urgent
    api.release(urgent, 1, "finished").raise_for_status()
    assert claim(api, "w1") in (low, equal)


def test_a_run_that_does_not_allow_it_is_never_interrupted(api: Api, database: Database) -> None:
    beat(api, "w1")
    low = api.launch()["id"]
    assert claim(api, "w1") == low
    api.send(low, 1, started()).raise_for_status()
    api.launch(priority=900)
    interrupt(database)
    assert beat(api, "w1", run={"id": low, "attempt": 1})["drain"] is False
    assert api.run(low)["interruptions"] == 0


def test_a_free_worker_is_used_before_a_run_is_interrupted(api: Api, database: Database) -> None:
    beat(api, "w1")
    beat(api, "w2", host="h2")
    low = api.launch(interruptible=True)["id"]
    assert claim(api, "w1") == low
    api.send(low, 1, started()).raise_for_status()
    api.launch(priority=5)
    interrupt(database)
    assert api.run(low)["interruptions"] == 0
