"""Tests of the marks of a run."""

from datetime import datetime
from typing import Any

from tests.factories import Api, changed, event, metrics

TIME = 1_700_000_000.0


def marks(api: Api, run_id: int) -> list[dict[str, Any]]:
    """Return the marks of a run."""
    response = api.user.get(f"/api/v1/runs/{run_id}/marks")
    assert response.is_success, response.text
    found: list[dict[str, Any]] = response.json()
    return found


def of_kind(api: Api, run_id: int, kind: str) -> list[dict[str, Any]]:
    """Return the marks of one kind."""
    return [mark for mark in marks(api, run_id) if mark["kind"] == kind]


def test_a_run_without_points_has_no_marks(api: Api) -> None:
    run = api.launch()
    assert marks(api, run["id"]) == []
    assert api.user.get("/api/v1/runs/999/marks").status_code == 404


def test_checkpoints_and_forks_are_marked_on_every_axis(api: Api) -> None:
    run_id, attempt = api.running(name="parent")
    sent = [metrics(seq, 10 * seq, returns=[1.0]) | {"time": TIME + seq, "frames": 40 * seq} for seq in (2, 3, 4)]
    api.send(run_id, attempt, *sent).raise_for_status()
    checkpoint_id = api.save(run_id, attempt, 5, 30, return_mean=1.0, best=True)
    fork = api.user.post(f"/api/v1/runs/{run_id}/fork", json={"checkpoint_id": checkpoint_id, "name": "child"}).json()

    (saved,) = of_kind(api, run_id, "checkpoint")
    assert (saved["title"], saved["detail"], saved["best"]) == ("Best checkpoint", "Mean return 1", True)
    assert (saved["step"], saved["seconds"]) == (30, 1.0)
    assert saved["checkpoint_id"] == checkpoint_id
    (forked,) = of_kind(api, run_id, "fork")
    assert (forked["title"], forked["run_id"]) == ("Forked: child", fork["id"])
    assert (forked["step"], forked["frames"], forked["seconds"]) == (30, 120, 1.0)


def test_resumed_attempts_and_warnings_are_marked(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, metrics(2, 10, returns=[1.0]), metrics(3, 20, returns=[1.0])).raise_for_status()
    attempt = api.lose(run_id, attempt, resumed_from=10)
    warning = event(2, "log", 10, level="warning", message="All units are dead")
    api.send(run_id, attempt, warning, metrics(3, 40, returns=[1.0])).raise_for_status()
    (resumed,) = of_kind(api, run_id, "resume")
    assert (resumed["title"], resumed["step"]) == ("Attempt 2 resumed here", 10)
    assert "All units are dead" in {mark["detail"] for mark in of_kind(api, run_id, "warning")}


def test_marks_of_several_runs_leave_out_checkpoints_and_runs_without_marks(api: Api) -> None:
    plain, _ = api.running(name="plain")
    requested, second = api.running(name="changed")
    api.change(requested, {"learning_rate": 0.001})
    parent, attempt = api.running(name="parent")
    api.send(parent, attempt, metrics(2, 10, returns=[1.0]), metrics(3, 20, returns=[1.0])).raise_for_status()
    checkpoint_id = api.save(parent, attempt, 4, 20)
    api.lose(parent, attempt, resumed_from=20)
    api.user.post(f"/api/v1/runs/{parent}/fork", json={"checkpoint_id": checkpoint_id}).raise_for_status()
    applied = changed(2, 30, 1, {"learning_rate": 0.001}, {"learning_rate": 0.01})

    def read() -> dict[int, list[str]]:
        response = api.user.get("/api/v1/marks", params={"runs": f"{requested},{plain},{parent},999"})
        found = response.raise_for_status().json()
        return {each["run_id"]: [mark["kind"] for mark in each["marks"]] for each in found}

    assert read() == {parent: ["fork", "resume"]}
    api.send(requested, second, applied).raise_for_status()
    assert read() == {requested: ["change"], parent: ["fork", "resume"]}
    assert api.user.get("/api/v1/marks", params={"runs": "x"}).status_code == 422


def test_an_anomaly_names_the_run_that_slowed_it_down(api: Api) -> None:
    slow, attempt = api.running(name="slow")
    other, _attempt = api.running(name="greedy")
    began = api.run(other)["started_at"]
    start = datetime.fromisoformat(began).timestamp() - 110
    speeds = [1000.0] * 110 + [300.0] * 50
    sent = [
        metrics(seq, 10 * seq, {"throughput/steps_per_second": speed}) | {"time": start + seq}
        for seq, speed in enumerate(speeds, 2)
    ]
    api.send(slow, attempt, *sent).raise_for_status()

    anomaly, lost = of_kind(api, slow, "anomaly")
    assert (anomaly["rule"], lost["rule"], lost["run_id"]) == ("speed_halved", "throughput_lost", other)
    assert (anomaly["title"], anomaly["run_id"]) == (f"Speed halved when greedy #{other} started", other)
    assert (anomaly["step"], anomaly["seconds"]) == (1_120, 110.0)


def test_the_rules_are_listed(api: Api) -> None:
    rules = api.user.get("/api/v1/anomaly-rules").json()
    assert [rule["name"] for rule in rules][:2] == ["entropy_collapsed", "return_collapsed"]
