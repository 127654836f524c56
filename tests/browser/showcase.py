"""Runs of each kind without training, reported through the worker API."""

import base64
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.backend.calibrations.test_api import judge
from tests.backend.calibrations.test_api import request as request_calibration
from tests.browser.synthetic_replay import report_replay
from tests.factories import Api, checkpoint_path, evaluated_episode, event, metrics, role, sha256, start_set, started

TRACEBACK = 'Traceback (most recent call last):\n  File "paac.py", line 97, in train\n    loss.backward()\n'
OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
POINTS, STRIDE = 60, 500
# A picture of one pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@dataclass(frozen=True)
class Showcase:
    """Numbers of the runs by kind."""

    finished: int
    failed: int
    running: int
    distributed: int
    fork: int
    evaluation: int
    calibration: int
    reported: int
    artifact: int


def fill(api: Api, folder: Path) -> Showcase:
    """Create one run of each kind and the workers that trained them."""
    assert api.beat("sun").is_success
    channel = {"name": "Team", "url": "http://127.0.0.1:9/hook"}
    assert api.user.post("/api/v1/alert-channels", json=channel).is_success
    assert api.beat("moon", queue="gpu", device="NVIDIA H200").is_success
    _scored(api, folder)
    finished, saved = _finished(api, folder)
    calibration = _calibrated(api, finished)
    evaluation = _evaluated(api, finished)
    failed = max([_failed(api) for _ in range(3)])
    running = _learning(api, name="learning", tags=["seeds", "baseline"])
    distributed = _learning(api, name="on two hosts")
    fork = int(api.act(finished, "fork", checkpoint_id=saved, overrides={"total_steps": 90_000})["id"])
    _report_fork(api, fork)
    api.launch(name="waits for a worker", priority=-1)
    attempt = int(api.run(distributed)["attempt"])
    roles = [role("shard", 0), role("bundle", 0, times_lost=1), role("bundle", 1, host="moon (10.0.0.2)")]
    assert api.send(distributed, attempt, event(POINTS + 5, "roles", POINTS * STRIDE, roles=roles)).is_success
    reported = _reported(api)
    (artifact,) = api.user.get("/api/v1/artifacts").json()["items"]
    return Showcase(
        finished, failed, running, distributed, fork, evaluation, calibration, reported, int(artifact["id"])
    )


def values_at(step: int, number: int = 0) -> dict[str, float]:
    """Return a trainer's metrics at a step. They differ by run number."""
    wave = math.sin(step / 900 + number)
    return {
        "train/policy_loss": 0.01 * wave,
        "train/value_loss": 2 / (1 + step / 4000),
        "train/entropy": 0.69 - step / 1e5,
        "train/grad_norm": 0.5 + 0.1 * wave,
        "throughput/steps_per_second": 4100.0 + 50 * wave,
        "time/environment": 0.5,
        "time/selection": 0.2,
        "time/learning": 0.3,
        "system/rss_bytes": 600e6 + 40 * step,
        "system/cpu_percent": 97.0,
    }


def returns_at(step: int, number: int = 0) -> list[float]:
    """Return the returns of episodes that end near a step."""
    return [20 + step / 100 + 30 * math.sin(step / 300 + number + part) for part in range(4)]


def learn(api: Api, run_id: int, attempt: int, *, beyond: int = 0) -> None:
    """Report a curve of points after a step."""
    steps = [beyond + STRIDE * (number + 1) for number in range(POINTS)]
    events = [
        metrics(seq, step, values_at(step, run_id), returns_at(step, run_id)) for seq, step in enumerate(steps, start=2)
    ]
    progress = event(POINTS + 2, "progress", steps[-1], total_steps=90_000, steps_per_second=4100.0, seconds_left=14.6)
    assert api.send(run_id, attempt, *events, progress).is_success


def _learning(api: Api, **more: Any) -> int:
    run_id, attempt = api.running(**more)
    learn(api, run_id, attempt)
    log = [
        event(POINTS + 3, "log", POINTS * STRIDE, message="Training on 2 cores."),
        event(POINTS + 4, "log", POINTS * STRIDE, level="warning", message="The learning rate falls no further."),
    ]
    assert api.send(run_id, attempt, *log).is_success
    return run_id


def _finished(api: Api, folder: Path) -> tuple[int, int]:
    """Create a run with checkpoints and replays. Return its number and a checkpoint to fork."""
    run_id = _learning(api, name="seed 3", notes="The **baseline** of the other runs.")
    attempt = int(api.run(run_id)["attempt"])
    saved, seq = [], POINTS + 5
    for step in (10_000, 20_000):
        kept = [checkpoint_path(each) for each in (10_000, 20_000) if each <= step]
        saved.append(api.save(run_id, attempt, seq, step, kept=kept, return_mean=step / 100, best=True))
        report_replay(api, (run_id, attempt), seq + 1, step, folder)
        seq += 2
    api.send(run_id, attempt, event(seq, "evaluation", 30_000, returns=[195.0, 200.0]))
    api.send(run_id, attempt, event(seq + 1, "finished", 30_000))
    assert api.release(run_id, attempt, "finished").is_success
    return run_id, saved[0]


def _calibrated(api: Api, run_id: int) -> int:
    """Create a finished calibration. Return its number."""
    done = int(request_calibration(api, run_id)["id"])
    judge(api, 30_000)
    return done


def _evaluated(api: Api, run_id: int) -> int:
    """Create evaluations in each state. Return the number of a finished one."""
    done = int(api.evaluate(run_id, checkpoint="best")["id"])
    api.play([9.0, 10.0, 10.0, 14.0, 12.5])
    api.evaluate(run_id, episodes=5)
    failed = api.claim_job()
    held = failed["job_id"], failed["attempt"]
    assert api.release_job(*held, "failed", message="The screen differs.", traceback=TRACEBACK).is_success
    api.evaluate(run_id, seed=2)
    played = api.claim_job()
    held = played["job_id"], played["attempt"]
    assert api.send_of_job(*held, started(1), evaluated_episode(2, 12, 30)).is_success
    api.evaluate(run_id, seed=3)
    return done


def _scored(api: Api, folder: Path) -> None:
    """Create two runs of an Atari game: one with scores by three protocols, one without scores."""
    pong = {"algorithm": "paac", "env": "ALE/Pong-v5", "total_steps": 90_000}
    starts = api.import_starts(start_set("human", 100), "Ana's first games")["id"]
    for name in ("first in Pong", "not evaluated"):
        run_id, attempt = api.running(name=name, config=pong)
        api.save(run_id, attempt, 2, 10_000)
        report_replay(api, (run_id, attempt), 3, 10_000, folder)
        assert api.send(run_id, attempt, event(4, "finished", 10_000)).is_success
        assert api.release(run_id, attempt, "finished").is_success
    for protocol, mean in (("no-op-5min", 18.3), ("no-op-30min", 20.5)):
        api.evaluate(run_id - 1, protocol=protocol)
        api.play([mean] * 30, protocol=protocol, mean=mean, interval=[mean - 1, mean + 1])
    api.evaluate(run_id - 1, protocol="human-starts", start_set=starts)
    api.play([4.5] * 100, protocol="human-starts", mean=4.5, interval=[3.1, 5.9])


def _reported(api: Api) -> int:
    """Create a run that a script logs, with media of every kind but videos, and an artifact."""
    writer = {"key": "key-1", "writer": "writer-1", "method": "PPO", "env": "CartPole-v1", "project": "carts"}
    config = {"lr": 0.0003, "net": {"layers": [64, 64]}}
    created = api.user.post("/api/v1/reported/runs", json={**writer, "origin_label": "Python", "config": config})
    path = f"/api/v1/reported/runs/{created.json()['run_id']}"
    image = sha256(PNG)
    assert api.user.put(f"{path}/files/{image}", params={"writer": "writer-1"}, content=PNG).is_success
    media: list[dict[str, Any]] = [
        {"media": "image", "name": "eval/screen", "sha256": image, "caption": "The cart"},
        {"media": "histogram", "name": "weights", "data": {"edges": [-1, 0, 1], "counts": [3, 5]}},
        {"media": "table", "name": "samples", "data": {"columns": ["prompt", "score"], "rows": [["2 + 2", 4]]}},
    ]
    logged: list[dict[str, Any]] = [
        *(
            {"kind": "metrics", "values": {"loss, mean": 1 / step, "eval/return": step}, "step": step}
            for step in (1, 2)
        ),
        *({"kind": "media", "step": step, **each} for step in (1, 2) for each in media),
        {"kind": "artifact", "artifact": _upload_artifact(api, path)},
    ]
    events = [{"seq": seq, "time": 1_700_000_000.0 + seq, **each} for seq, each in enumerate(logged, start=1)]
    assert api.user.post(f"{path}/events", json={"writer": "writer-1", "events": events}).is_success
    return int(created.json()["run_id"])


def _upload_artifact(api: Api, path: str) -> dict[str, Any]:
    """Upload the file of an artifact, and return the artifact as an event has it."""
    scores = b"episode,return\n0,21\n"
    upload = f"{path}/artifact-files/{sha256(scores)}"
    assert api.user.put(upload, params={"writer": "writer-1"}, content=scores).is_success
    entries = [{"path": "scores.csv", "sha256": sha256(scores)}, {"path": "data", "uri": "s3://bucket/data"}]
    return {"name": "scores", "kind": "table", "aliases": ["best"], "metadata": {"mean": 21}, "entries": entries}


def _failed(api: Api) -> int:
    run_id, attempt = api.running(name="too large")
    learn(api, run_id, attempt)
    failure = event(POINTS + 3, "failed", POINTS * STRIDE, message=OUT_OF_MEMORY, traceback=TRACEBACK)
    assert api.send(run_id, attempt, failure).is_success
    assert api.release(run_id, attempt, "failed", message=OUT_OF_MEMORY, traceback=TRACEBACK).is_success
    return run_id


def _report_fork(api: Api, run_id: int) -> None:
    claimed = api.claim()
    assert claimed["run_id"] == run_id
    assert api.send(run_id, claimed["attempt"], started(resumed_from=10_000)).is_success
    learn(api, run_id, claimed["attempt"], beyond=10_000)
