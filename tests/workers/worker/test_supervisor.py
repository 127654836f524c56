"""Tests for the supervisor with a real trainer process and a real HTTP server."""

import errno
import hashlib
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from arcadia_workers.worker import attempt_directory
from arcadia_workers.worker.heartbeat import HELD_SECONDS
from arcadia_workers.worker.trainer_process import TrainerProcess
from tests.processes import has_ended
from tests.workers.conftest import Slot, claim
from tests.workers.waiting import wait_until
from tests.workers.worker_api import WorkerApi


def alive(pid_file: Path) -> bool:
    """Return True if the process whose ID is in a file is running."""
    try:
        return psutil.Process(int(pid_file.read_text())).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def offered(step: int, content: bytes, file_id: int, sha256: str | None = None) -> dict[str, Any]:
    """Return a checkpoint in the form that a claim offers."""
    return {
        "id": file_id,
        "file": f"checkpoints/step-{step:012d}.safetensors",
        "sha256": sha256 or hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "step": step,
        "frames": step,
    }


def test_a_run_is_trained_to_its_end_and_events_arrive_once_and_in_order(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=3000, checkpoint_every=1000))
    slot.look()
    slot.done()
    assert [release["outcome"] for release in api.releases] == ["finished"]
    assert api.points(7, 1) == list(range(1, 3000 + 3 + 2 + 1))
    assert sorted(api.files) == [f"checkpoints/step-{step:012d}.safetensors" for step in (1000, 2000, 3000)]
    assert not slot.attempt(7).exists()


def test_runs_are_claimed_until_the_queue_is_empty(api: WorkerApi, slot: Slot) -> None:
    api.claims += [claim(1), claim(2), claim(3)]
    slot.look()
    slot.done()
    assert [(release["run"], release["outcome"]) for release in api.releases] == [(n, "finished") for n in (1, 2, 3)]


@pytest.mark.parametrize("desired", ["stop", "pause"])
def test_orders_of_the_backend_reach_the_trainer(api: WorkerApi, slot: Slot, desired: str) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    api.desired = desired
    wait_until(lambda: api.releases)
    slot.done()
    assert api.releases[0]["outcome"] == "stopped"
    kinds = [event["kind"] for event in api.events[7, 1].values()]
    assert kinds[-2:] == ["checkpoint", "stopped"]


def changes_reported(api: WorkerApi) -> list[tuple[int, dict[str, Any]]]:
    events = api.events.get((7, 1), {}).values()
    return [(event["number"], event["fields"]) for event in events if event["kind"] == "changed"]


def test_changes_of_the_claim_and_of_heartbeats_reach_the_trainer_once(api: WorkerApi, slot: Slot) -> None:
    first, second = ({"number": number, "fields": {"learning_rate": number / 10}} for number in (1, 2))
    api.claims.append({**claim(points=10**6, interval=0.01), "changes": [first]})
    slot.look()
    wait_until(lambda: changes_reported(api) == [(1, {"learning_rate": 0.1})])
    api.changes = [first, second]  # the backend has not received the first report yet
    wait_until(lambda: len(changes_reported(api)) == 2)
    seen = len(api.heartbeats)
    wait_until(lambda: len(api.heartbeats) >= seen + 2)
    assert changes_reported(api) == [(1, {"learning_rate": 0.1}), (2, {"learning_rate": 0.2})]
    api.desired = "stop"
    slot.done()


def test_a_change_waits_until_the_disk_has_space(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[Path] = []

    def fail(directory: Path, _changes: object) -> None:
        tries.append(directory)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(attempt_directory, "write_changes", fail)
        api.claims.append(claim(points=10**6, interval=0.01))
        api.changes = [{"number": 1, "fields": {"learning_rate": 0.5}}]
        slot.look()
        wait_until(lambda: len(tries) >= 3)
    wait_until(lambda: changes_reported(api) == [(1, {"learning_rate": 0.5})])
    assert caplog.text.count("Cannot hand changes over") == 1
    api.desired = "stop"
    slot.done()


def test_a_trainer_that_does_not_stop_is_killed_after_the_grace_period(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=10**6, interval=0.01, how="deaf"))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    api.desired = "stop"
    slot.done()
    assert api.releases[0]["outcome"] == "stopped"
    assert "did not stop in time" in api.releases[0]["message"]


def test_draining_lets_the_trainer_checkpoint_and_releases_the_run(api: WorkerApi, slot: Slot) -> None:
    api.claims += [claim(7, points=10**6, interval=0.01), claim(8)]
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    slot.supervisor.drain()
    slot.done()
    assert [(release["run"], release["outcome"]) for release in api.releases] == [(7, "drained")]
    assert list(api.events[7, 1].values())[-1]["kind"] == "stopped"
    assert len(api.claims) == 1


def test_a_worker_that_people_drain_gives_back_its_run_and_claims_again(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(7, points=10**6, interval=0.01))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    api.drain = True
    wait_until(lambda: api.releases)
    assert [(release["run"], release["outcome"]) for release in api.releases] == [(7, "drained")]
    assert list(api.events[7, 1].values())[-1]["kind"] == "stopped"
    slot.done()
    api.drain = False
    api.claims.append(claim(8, points=3))
    slot.look()
    slot.done()
    assert api.releases[-1]["outcome"] == "finished"


def test_a_stale_attempt_is_killed_and_forgotten(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=10**6, interval=0.01, how="with child"))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    pids = [int((slot.attempt(7) / name).read_text()) for name in ("trainer.pid", "child.pid")]
    api.stale = True
    slot.done()
    assert api.releases == []
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert not slot.attempt(7).exists()


@pytest.mark.parametrize(
    ("how", "outcome", "message", "traceback"),
    [
        ("raises", "failed", "ZeroDivisionError: division by zero", "Traceback …\nZeroDivisionError"),
        ("crashes", "failed", "status 3: Fatal Python error", "Fatal Python error: no event tells of this"),
        ("complains", "failed", "status 2: config.json: no such environment", "config.json: no such environment"),
        ("killed", "lost", "killed by SIGKILL", None),
        ("writes nonsense", "failed", "no event at byte", None),
    ],
)
def test_the_cause_of_a_trainers_failure_is_reported(
    api: WorkerApi, slot: Slot, how: str, outcome: str, message: str, traceback: str | None
) -> None:
    api.claims.append(claim(how=how))
    slot.look()
    slot.done()
    assert api.releases[0]["outcome"] == outcome
    assert message in api.releases[0]["message"]
    assert api.releases[0]["traceback"] == traceback


def test_training_continues_from_the_newest_intact_checkpoint(api: WorkerApi, slot: Slot) -> None:
    api.downloads = {11: b"good but old", 12: b"torn", 13: b""}
    api.hashes = {12: hashlib.sha256(b"whole").hexdigest()}
    run = claim(attempt=2, points=200)
    run["checkpoints"] = [
        offered(150, b"gone", 99),
        offered(120, b"whole", 12),
        offered(100, b"good but old", 11),
        offered(50, b"", 13),
    ]
    api.claims.append(run)
    slot.look()
    slot.done()
    first = next(event for event in api.events[7, 2].values() if event["kind"] == "started")
    assert first["resumed_from"] == 100
    assert api.releases[0]["outcome"] == "finished"


def test_a_checkpoint_cannot_name_a_path_outside_its_folder(api: WorkerApi, slot: Slot, tmp_path: Path) -> None:
    api.downloads = {11: b"evil"}
    run = claim()
    run["checkpoints"] = [{**offered(10, b"evil", 11), "file": "../../../evil.safetensors"}]
    api.claims.append(run)
    slot.look()
    slot.done()
    assert api.releases[0]["outcome"] == "failed"
    assert not list(tmp_path.rglob("evil*"))


def test_a_run_whose_checkpoints_are_all_damaged_does_not_restart_from_zero(api: WorkerApi, slot: Slot) -> None:
    api.downloads = {11: b"torn"}
    api.hashes = {11: hashlib.sha256(b"whole").hexdigest()}
    api.claims.append({**claim(attempt=2), "checkpoints": [offered(100, b"whole", 11), offered(50, b"gone", 12)]})
    slot.look()
    slot.done()
    (release,) = api.releases
    assert release["outcome"] == "failed"
    assert "None of the run's 2 latest checkpoints could be fetched intact" in release["message"]
    assert api.points(7, 2) == []


def test_a_stop_takes_effect_while_fetching_the_checkpoint_keeps_failing(api: WorkerApi, slot: Slot) -> None:
    api.downloads = {11: b"<html>a page</html>"}
    api.claims.append({**claim(attempt=2), "checkpoints": [offered(100, b"weights", 11)]})
    slot.look()
    wait_until(lambda: any(beat["run"] for beat in api.heartbeats))
    api.desired = "stop"
    slot.done()
    assert [release["outcome"] for release in api.releases] == ["drained"]


def leave_behind(slot: Slot, installation: str) -> Path:
    """Write the files that a killed worker leaves of run 7."""
    directory = slot.attempt(7)
    directory.mkdir(parents=True)
    event = {"kind": "metrics", "seq": 1, "time": 0.0, "step": 1, "frames": 1, "values": {}}
    (directory / "events.jsonl").write_text(json.dumps(event) + "\n")
    (directory / "installation").write_text(installation)
    return directory


def test_leftovers_of_another_installation_stay_until_it_is_back(api: WorkerApi, slot: Slot) -> None:
    directory = leave_behind(slot, "first")
    api.installation, api.stale = "second", True
    slot.supervisor.recover()
    assert (directory / "events.jsonl").exists()
    api.stale = False
    api.claims.append(claim(points=3))
    slot.look()
    slot.done()
    assert [release["outcome"] for release in api.releases] == ["finished"], "run 7 of this installation"
    del api.events[7, 1]
    api.installation = "first"
    slot.supervisor.recover()
    assert api.points(7, 1) == [1]
    assert [release["outcome"] for release in api.releases] == ["finished", "lost"]
    assert not list(directory.parent.parent.iterdir())


def test_training_continues_while_the_backend_uses_another_database(api: WorkerApi, slot: Slot) -> None:
    api.installation = "first"
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    api.installation, api.stale = "second", True
    events = slot.attempt(7) / "events.jsonl"
    size = events.stat().st_size
    wait_until(lambda: events.stat().st_size > 2 * size)
    api.installation, api.stale = "first", False
    received = len(api.points(7, 1))
    wait_until(lambda: len(api.points(7, 1)) > received + 5)
    api.desired = "stop"
    slot.done()
    assert [release["outcome"] for release in api.releases] == ["stopped"]
    assert api.points(7, 1) == list(range(1, len(api.points(7, 1)) + 1))


@pytest.mark.usefixtures("impatient")
def test_a_run_that_cannot_be_released_does_not_block_its_worker(api: WorkerApi, slot: Slot) -> None:
    api.claims += [claim(7), claim(8)]
    api.fails_on_release = True
    slot.look()
    slot.done()
    assert {run for run, _ in api.events} == {7, 8}
    api.fails_on_release = False
    slot.supervisor.recover()
    assert [(release["run"], release["outcome"]) for release in api.releases] == [(7, "finished"), (8, "finished")]


def test_a_worker_reports_its_own_error_and_trains_the_next_run(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def scarce(*arguments: Any) -> TrainerProcess:
        tries.append(1)
        if len(tries) == 1:
            raise BlockingIOError("Resource temporarily unavailable")
        return TrainerProcess(*arguments)

    monkeypatch.setattr("arcadia_workers.worker.trainer_process.TrainerProcess", scarce)
    api.claims += [claim(7), claim(8)]
    slot.look()
    slot.done()
    assert [(release["run"], release["outcome"]) for release in api.releases] == [(7, "lost"), (8, "finished")]
    assert "Resource temporarily unavailable" in api.releases[0]["message"]


def test_trainers_get_the_ray_address_and_no_credentials(
    api: WorkerApi, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = ("ARCADIA_WORKER_TOKEN", "ARCADIA_BROKER_URL", "ARCADIA_DATABASE_URL", "PGPASSWORD", "GITHUB_TOKEN")
    for name in secrets:
        monkeypatch.setenv(name, "a secret")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("ARCADIA_RAY_ADDRESS", "10.0.0.1:6379")
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 1)
    environment = json.loads((slot.attempt(7) / "environment.json").read_text())
    assert "a secret" not in environment.values()
    assert environment["OMP_NUM_THREADS"] == "2"
    assert environment["ARCADIA_RAY_ADDRESS"] == "10.0.0.1:6379"


def test_no_child_process_survives_a_killed_trainer(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=10**6, interval=0.01, how="with child"))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 1)
    child = slot.attempt(7) / "child.pid"
    child_pid = int(child.read_text())
    os.kill(int((slot.attempt(7) / "trainer.pid").read_text()), signal.SIGKILL)
    slot.done()
    assert api.releases[0]["outcome"] == "lost"
    assert not psutil.pid_exists(child_pid)


def test_killing_the_leash_kills_the_trainer_and_its_children(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=10**6, interval=0.01, how="with child"))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 1)
    files = [slot.attempt(7) / name for name in ("trainer.pid", "child.pid")]
    trainer, child = (psutil.Process(int(file.read_text())) for file in files)
    leash = trainer.parent()
    assert leash is not None
    leash.kill()
    slot.done()
    assert api.releases[0]["outcome"] == "lost"
    wait_until(lambda: has_ended(trainer) and has_ended(child))


def test_leftovers_of_a_previous_worker_process_are_delivered_and_released(api: WorkerApi, slot: Slot) -> None:
    directory = slot.attempt(7, 3)
    directory.mkdir(parents=True)
    events = [{"kind": "metrics", "seq": n, "time": 0.0, "step": n, "frames": n, "values": {}} for n in range(1, 31)]
    lines = [json.dumps(event) + "\n" for event in events]
    (directory / "events.jsonl").write_text("".join(lines) + '{"kind": "metrics", "seq": 31, "ti')
    api.events[7, 3] = {n: events[n - 1] for n in range(1, 11)}
    (directory / "acknowledged.json").write_text(json.dumps({"offset": len("".join(lines[:10])), "seq": 10}))
    (directory / "ending.json").write_text('{"outcome": "fin')
    slot.supervisor.recover()
    assert api.points(7, 3) == list(range(1, 31))
    assert api.batches == [(11, 30)]
    assert [(release["outcome"], release["attempt"]) for release in api.releases] == [("lost", 3)]
    assert not directory.exists()


def test_a_run_stays_with_its_worker_while_its_leftovers_are_delivered(api: WorkerApi, slot: Slot) -> None:
    file = {"file": "checkpoints/step-000000000001.safetensors", "sha256": hashlib.sha256(b"learned").hexdigest()}
    where = {"seq": 1, "time": 0.0, "step": 1, "frames": 1}
    saved = {**where, "kind": "checkpoint", "checkpoint": file, "best": False, "kept": []}
    slot.attempt(7).joinpath("checkpoints").mkdir(parents=True)
    (slot.attempt(7) / file["file"]).write_bytes(b"learned")
    (slot.attempt(7) / "events.jsonl").write_text(json.dumps(saved) + "\n")
    api.blocks_uploads = True
    recovery = threading.Thread(target=slot.supervisor.recover)
    recovery.start()
    try:
        wait_until(lambda: any(beat["run"] == {"id": 7, "attempt": 1} for beat in api.heartbeats))
    finally:
        api.blocks_uploads = False
        recovery.join()
    assert api.points(7, 1) == [1]
    assert [release["outcome"] for release in api.releases] == ["lost"]
    wait_until(lambda: api.heartbeats[-1]["run"] is None)


def test_a_damaged_leftover_does_not_block_intact_ones(api: WorkerApi, slot: Slot) -> None:
    for run in (5, 6, 7):
        slot.attempt(run).mkdir(parents=True)
        event = {"kind": "finished", "seq": 1, "time": 0.0, "step": 1, "frames": 1}
        (slot.attempt(run) / "events.jsonl").write_text(json.dumps(event) + "\n")
    (slot.attempt(5) / "acknowledged.json").mkdir()
    failed = {"kind": "failed", "seq": 1, "time": 0.0, "step": 1, "frames": 1}
    endless = json.dumps({**failed, "message": "it broke", "traceback": "t" * 2_000_000})
    (slot.attempt(6) / "events.jsonl").write_text(endless + "\n")
    slot.supervisor.recover()
    reported = [(release["run"], release["outcome"], release["message"]) for release in api.releases]
    assert reported == [(6, "failed", "it broke"), (7, "finished", None)]
    assert slot.attempt(5).exists()


def test_a_stored_ending_is_used_by_the_next_worker_process(api: WorkerApi, slot: Slot) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    wait_until(lambda: len(api.points(7, 1)) > 1)
    directory = slot.attempt(7, 2)
    directory.mkdir(parents=True)
    (directory / "ending.json").write_text(json.dumps({"outcome": "stopped", "message": None, "traceback": None}))
    slot.supervisor.drain()
    slot.done()
    slot.supervisor.recover()
    assert [(release["attempt"], release["outcome"]) for release in api.releases] == [(1, "drained"), (2, "stopped")]


@pytest.mark.nightly
def test_heartbeats_report_held_runs_frequently(api: WorkerApi, slot: Slot) -> None:
    wait_until(lambda: api.heartbeats)
    assert api.heartbeats[0]["run"] is None
    assert api.heartbeats[0]["cores"] >= 1
    api.claims.append(claim(points=10**6, interval=0.01))
    slot.look()
    wait_until(lambda: sum(beat["run"] == {"id": 7, "attempt": 1} for beat in api.heartbeats) >= 4)
    assert HELD_SECONDS <= 0.5, "a user's stop must reach the trainer within two seconds"
