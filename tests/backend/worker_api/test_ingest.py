"""Ingestion of events. Each is stored once, even if a worker repeats it."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Attempt, LogLine, Run
from arcadia_backend.worker_api import ingest
from arcadia_workers.contract.events import Log
from tests.factories import Api, event, metrics, role, started, video


def drawn(api: Api, run_id: int, name: str) -> list[tuple[int, float | str]]:
    """Return the points of a metric as (step, value)."""
    answer = api.user.get(f"/api/v1/runs/{run_id}/metrics", params={"names": name, "x": "step"}).json()
    series = answer["series"].get(name, {"x": [], "mean": []})
    return list(zip(series["x"], series["mean"], strict=True))


def test_a_repeated_batch_changes_nothing(api: Api) -> None:
    run_id, attempt = api.running()
    batch = [
        metrics(2, 100, {"train/entropy": 0.5}, [10, 20]),
        event(3, "log", 100, level="info", message="hello"),
        event(4, "progress", 120, total_steps=1_000, steps_per_second=50.0, seconds_left=17.6),
    ]
    for _ in range(3):
        assert api.send(run_id, attempt, *batch).json() == {"acknowledged": 4}
    run = api.run(run_id)
    assert (run["state"], run["step"], run["frames"], run["episodes"]) == ("running", 120, 480, 2)
    assert (run["last_return"], run["steps_per_second"], run["seconds_left"]) == (15.0, 50.0, 17.6)
    assert drawn(api, run_id, "train/entropy") == [(100, 0.5)]
    messages = [line["message"] for line in api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"]]
    assert messages.count("hello") == 1


def test_an_overlapping_batch_stores_only_its_new_events(api: Api) -> None:
    run_id, attempt = api.running()
    one, two, three = (metrics(seq, seq * 10, {"a": float(seq)}) for seq in (2, 3, 4))
    api.send(run_id, attempt, one, two)
    assert api.send(run_id, attempt, two, three).json() == {"acknowledged": 4}
    assert drawn(api, run_id, "a") == [(20, 2.0), (30, 3.0), (40, 4.0)]


def test_other_contents_under_a_stored_number_are_kept_once_and_reported(api: Api) -> None:
    run_id, attempt = api.running()
    stored = metrics(2, 10, {"a": 1.0})
    api.send(run_id, attempt, stored)
    for _ in range(2):
        other = metrics(2, 10, {"a": 2.0}), metrics(3, 20, {"a": 3.0})
        assert api.send(run_id, attempt, *other).json() == {"acknowledged": 3}
        assert api.send(run_id, attempt, stored).json() == {"acknowledged": 3}
    exported = api.user.get(f"/api/v1/runs/{run_id}/points").json()["series"]["a"]
    assert list(zip(exported["step"], exported["value"], strict=True)) == [(10, 1.0), (10, 2.0), (20, 3.0)]
    (warning,) = api.run(run_id)["warnings"]
    assert "under numbers that other events of the worker w1 have, attempt 1" in warning


@pytest.mark.parametrize("seqs", [(3,), (2, 4), (2, 3, 5)])
def test_a_gap_is_refused_with_the_expected_number(api: Api, seqs: tuple[int, ...]) -> None:
    run_id, attempt = api.running()
    response = api.send(run_id, attempt, *(metrics(seq, seq, {"a": 1.0}) for seq in seqs))
    assert response.status_code == 409
    problem = response.json()
    assert problem["type"].endswith("sequence-gap")
    assert problem["expected"] == next(seq for seq in (2, 3, 4) if seq not in seqs)
    assert drawn(api, run_id, "a") == []


def test_concurrent_copies_of_a_batch_are_stored_once(api: Api) -> None:
    run_id, attempt = api.running()
    batch = [metrics(seq, seq, {"a": 1.0}, [float(seq)]) for seq in range(2, 52)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: api.send(run_id, attempt, *batch).json(), range(8)))
    assert answers == [{"acknowledged": 51}] * 8
    assert len(drawn(api, run_id, "a")) == 50
    assert api.run(run_id)["episodes"] == 50


def test_a_stale_attempt_stores_nothing(api: Api) -> None:
    run_id, attempt = api.running()
    api.release(run_id, attempt, "lost")
    for claim_again in (False, True):
        if claim_again:
            api.claim()
        response = api.send(run_id, attempt, metrics(2, 100, {"a": 1.0}))
        assert response.status_code == 409
        assert response.json()["type"].endswith("stale-attempt")
    assert drawn(api, run_id, "a") == []


def test_started_has_the_versions_and_the_command_of_the_trainer(api: Api) -> None:
    run_id, _ = api.running()
    run = api.run(run_id)
    assert (run["state"], run["versions"], run["command"][1]) == ("running", {"torch": "2.13.0"}, "-m")
    assert run["started_at"] == "2023-11-14T22:13:21Z"


def test_a_run_lists_where_its_roles_run_and_a_new_attempt_starts_with_none(api: Api) -> None:
    run_id, first = api.running()
    assert api.run(run_id)["roles"] == []
    places = [role("shard", 0), role("bundle", 0), role("bundle", 1, "moon (10.0.0.2)")]
    moved = [*places[:2], role("bundle", 1, times_lost=1)]
    api.send(run_id, first, event(2, "roles", roles=places))
    assert api.run(run_id)["roles"] == places
    api.send(run_id, first, event(3, "roles", 10, roles=moved), metrics(4, 20))
    assert api.run(run_id)["roles"] == moved
    api.release(run_id, first, "lost")
    assert api.run(run_id)["roles"] == moved, "the last known places"
    second = api.claim()["attempt"]
    assert api.run(run_id)["roles"] == []
    api.send(run_id, second, started(), event(2, "roles", roles=places))
    assert api.run(run_id)["roles"] == places


def test_a_run_lists_the_newest_warnings_of_its_latest_attempt(api: Api) -> None:
    run_id, first = api.running()
    api.send(run_id, first, event(2, "log", message="Going on"), event(3, "log", level="warning", message="Blind"))
    assert api.run(run_id)["warnings"] == ["Blind"]
    api.send(run_id, first, *(event(n, "log", level="warning", message=f"Number {n}") for n in range(4, 9)))
    assert api.run(run_id)["warnings"] == [f"Number {n}" for n in range(4, 9)]
    api.release(run_id, first, "lost")
    assert len(api.run(run_id)["warnings"]) == 5, "the reason for the requeue is part of the state"
    api.claim()
    assert api.run(run_id)["warnings"] == []


def test_pages_are_notified_when_roles_move(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, attempt = api.running()
    heard: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr("arcadia_backend.runs.states.publish", lambda *notice: heard.append(notice))
    api.send(run_id, attempt, event(2, "roles", roles=[role("shard", 0)]))
    assert heard == [("run.changed", {"run_id": run_id})]


def test_resuming_from_a_checkpoint_supersedes_later_points(api: Api) -> None:
    run_id, first = api.running()
    api.send(run_id, first, metrics(2, 100, {"a": 1.0}, [10.0]))
    api.save(run_id, first, 3, 100)
    api.send(run_id, first, metrics(4, 200, {"a": 2.0}, [500.0]))
    assert api.run(run_id)["last_return"] == 255.0
    api.release(run_id, first, "lost")
    second = api.claim()["attempt"]
    api.send(run_id, second, started(resumed_from=100))
    run = api.run(run_id)
    assert (run["step"], run["frames"], run["episodes"]) == (100, 400, 1)
    assert (run["last_return"], run["best_return"]) == (10.0, 10.0), "superseded points do not count"
    api.send(run_id, second, metrics(2, 150, {"a": 3.0}, [20.0]))
    assert drawn(api, run_id, "a") == [(100, 1.0), (150, 3.0)]
    assert api.run(run_id)["last_return"] == 15.0
    exported = api.user.get(f"/api/v1/export/runs/{run_id}.jsonl").text
    assert "500" in exported, "superseded points are kept and exported"


def test_an_attempt_from_the_start_supersedes_all_points(api: Api) -> None:
    run_id, first = api.running()
    api.send(run_id, first, metrics(2, 100, {"a": 1.0}, [10.0]))
    api.release(run_id, first, "lost")
    second = api.claim()["attempt"]
    api.send(run_id, second, started())
    run = api.run(run_id)
    assert (run["step"], run["episodes"], run["last_return"], run["best_return"]) == (0, 0, None, None)
    assert drawn(api, run_id, "a") == []


def test_nan_and_infinity_are_values(api: Api) -> None:
    run_id, attempt = api.running()
    values: dict[str, Any] = {"train/policy_loss": "NaN", "train/value_loss": "Infinity"}
    assert api.send(run_id, attempt, metrics(2, 10, values)).status_code == 200
    assert drawn(api, run_id, "train/policy_loss") == [(10, "NaN")]
    assert drawn(api, run_id, "train/value_loss") == [(10, "Infinity")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"attempt": 1, "events": []},
        {"attempt": 1, "events": [{"seq": 2, "kind": "surprise"}]},
        {"attempt": 1, "events": [{**metrics(2, 1), "step": -1}]},
        {"attempt": 1, "events": [metrics(seq, 1) for seq in range(2, 1_003)]},
        {"attempt": 1, "events": [metrics(2, 1)], "more": True},
        {"attempt": 1, "events": [event(2, "roles", roles=[role("king", 0)])]},
        {"attempt": 1, "events": [event(2, "roles", roles=[role("shard", -1)])]},
    ],
)
def test_an_invalid_batch_is_refused(api: Api, wrong: dict[str, Any]) -> None:
    run_id, _ = api.running()
    assert api.worker.post(f"/api/v1/worker/runs/{run_id}/events", json=wrong).status_code == 422


def test_a_long_message_is_cut_and_an_invalid_time_is_accepted(api: Api) -> None:
    run_id, attempt = api.running()
    lines = event(2, "log", message="x" * 50_000), {**event(3, "log", message="when?"), "time": 1e30}
    assert api.send(run_id, attempt, *lines).json() == {"acknowledged": 3}
    log = api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"]
    assert len(log[-2]["message"]) == 10_000
    assert log[-1]["message"] == "when?"


def test_unstorable_characters_are_replaced(api: Api) -> None:
    run_id, attempt = api.running()
    odd = "a\0b\ud800c"
    sent = [
        event(2, "log", message=odd),
        event(3, "roles", roles=[role("shard", 0, host=odd)]),
        event(4, "stopped", reason=odd),
        event(5, "failed", message=odd, traceback=odd),
    ]
    body = json.dumps({"attempt": attempt, "events": sent}).encode()
    address = f"/api/v1/worker/runs/{run_id}/events"
    response = api.worker.post(address, content=body, headers={"Content-Type": "application/json"})
    assert response.json() == {"acknowledged": 5}
    assert api.user.get(f"/api/v1/runs/{run_id}/log").json()["items"][-1]["message"] == "a\ufffdb\ufffdc"
    ended = json.dumps({"attempt": attempt, "outcome": "failed", "message": odd, "traceback": odd}).encode()
    address = f"/api/v1/worker/runs/{run_id}/release"
    released = api.worker.post(address, content=ended, headers={"Content-Type": "application/json"})
    assert released.json() == {"state": "failed"}
    assert api.run(run_id)["failure"] == {"message": "a\ufffdb\ufffdc", "traceback": "a\ufffdb\ufffdc"}


@pytest.mark.parametrize(
    "wrong",
    [
        {**started(2), "seed": 2**63},
        {**started(2), "resumed_from": 2**63},
        {**metrics(2, 1), "step": 2**63},
        {**metrics(2, 1), "step": True},
        event(2, "progress", total_steps=2**64, steps_per_second=1.0),
        video(2, 1, 1, length=2**31),
        {**metrics(2, 1), "seq": 2**63},
    ],
)
def test_an_integer_too_large_for_its_column_is_refused_by_field(api: Api, wrong: dict[str, Any]) -> None:
    run_id, attempt = api.running()
    response = api.send(run_id, attempt, wrong)
    assert response.status_code == 422
    assert response.json()["errors"]


def test_a_value_that_only_the_database_rejects_is_the_requests_fault(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, attempt = api.running()

    def unclean(session: Session, run: Run, attempt: Attempt, sent: Log) -> None:
        session.add(LogLine(run_id=run.id, attempt=attempt.attempt, message="\ud800" + sent.message))

    monkeypatch.setitem(ingest._HANDLERS, Log, unclean)
    response = api.send(run_id, attempt, event(2, "log", message="hello"))
    assert (response.status_code, response.json()["type"]) == (422, "/problems/unstorable")
