"""The Docker Compose stack: runs survive restarts, scaling, and down and up. Run it with make compose-test."""

import hashlib
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ops.compose import stack as stacks
from tests.ops.compose.stack import Stack

REQUEST = os.environ.get("ARCADIA_TEST_COMPOSE", "")
NOT_POSSIBLE = "it takes ten minutes: run it with make compose-test" if not REQUEST else stacks.missing()
SERVICES = ("postgres", "redis", "backend", "worker")
RESTART_STEPS = 700_000  # long enough for the restart of every service
Point = tuple[int, int, str, float]

pytestmark = [
    pytest.mark.skipif(NOT_POSSIBLE is not None, reason=str(NOT_POSSIBLE)),
    pytest.mark.timeout(3_600),
]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """Yield a running stack with one worker."""
    stack = Stack()
    try:
        stack.build()
        stack.start()
        yield stack
    finally:
        stack.remove(keep_images=REQUEST == "keep")


def points(stack: Stack, run: int) -> Counter[Point]:
    """Return the points of a run in the backend, with the number of times that each is stored."""
    lines = stack.http.get(f"export/runs/{run}.csv").raise_for_status().text.splitlines()
    header = lines[0].split(",")
    columns = [header.index(name) for name in ("attempt", "step", "name", "value")]
    rows = ([line.split(",")[column] for column in columns] for line in lines[1:])
    return Counter((int(attempt), int(step), name, float(value)) for attempt, step, name, value in rows)


def hashes(stack: Stack, file_ids: list[int]) -> dict[int, str]:
    """Return the SHA-256 of files."""
    return {
        file: hashlib.sha256(stack.http.get(f"files/{file}").raise_for_status().content).hexdigest()
        for file in file_ids
    }


def contents(stack: Stack) -> dict[str, Any]:
    """Return everything that the stack must keep."""
    runs = stack.read("runs")["items"]
    kept: dict[str, Any] = {"runs": [{key: run[key] for key in ("id", "state", "step", "episodes")} for run in runs]}
    for run in runs:
        number = run["id"]
        checkpoints = [row for row in stack.read(f"runs/{number}/checkpoints") if row["available"]]
        videos = stack.read(f"runs/{number}/replays")
        kept[f"points of {number}"] = points(stack, number)
        kept[f"checkpoints of {number}"] = hashes(stack, [row["file_id"] for row in checkpoints])
        kept[f"replays of {number}"] = hashes(stack, [row["file_id"] for row in videos])
    return kept


def state(stack: Stack, run: int) -> str:
    """Return the state of a run."""
    return str(stack.read(f"runs/{run}")["state"])


def finish(stack: Stack, run: int) -> dict[str, Any]:
    """Wait until a run ends, check that it finished, and return it."""
    stack.wait(lambda: state(stack, run) in ("finished", "failed", "stopped"))
    found: dict[str, Any] = stack.read(f"runs/{run}")
    assert (found["state"], found["failure"]) == ("finished", None)
    assert found["step"] >= found["total_steps"]
    return found


def online(stack: Stack) -> set[str]:
    """Return the names of the workers that are online."""
    return {worker["name"] for worker in stack.read("workers") if worker["state"] in ("idle", "busy")}


def test_no_container_is_root_has_capabilities_or_shows_a_secret(stack: Stack) -> None:
    containers = stack.containers()
    assert len(containers) == len(SERVICES)
    for container in containers:
        host = container["HostConfig"]
        assert host["CapDrop"] == ["ALL"]
        assert host["Memory"] > 0
        assert host["PidsLimit"] > 0
        assert host["LogConfig"]["Config"] == {"max-file": "5", "max-size": "10m"}
        status = stacks.run(["docker", "exec", container["Id"], "cat", "/proc/1/status"]).splitlines()
        fields = {line.split(":")[0]: line.split()[1] for line in status if ":" in line and len(line.split()) > 1}
        assert fields["Uid"] != "0"
        assert int(fields["CapEff"], 16) == 0
        shown = str(container)
        assert [name for name, value in stack.secrets.items() if value in shown] == []


def test_a_gpu_worker_without_a_gpu_reports_what_is_missing(stack: Stack) -> None:
    (worker,) = stack.compose("ps", "--quiet", "worker").split()
    command = ["docker", "exec", worker, "arcadia", "worker", "--queue", "gpu", "--name", "gpu"]
    result = subprocess.run(command, env=stack.environment, capture_output=True, text=True, check=False)
    assert result.returncode == os.EX_CONFIG
    assert "The queue is gpu, but" in result.stderr


def test_a_run_finishes_with_checkpoints_and_replays(stack: Stack) -> None:
    run = stack.launch(total_steps=100_000)
    finish(stack, run)
    assert points(stack, run)
    assert stack.read(f"runs/{run}/checkpoints")
    stack.wait(lambda: stack.read(f"runs/{run}/replays"))


def test_nothing_is_lost_when_each_service_restarts_during_a_run(stack: Stack) -> None:
    run = stack.launch(total_steps=RESTART_STEPS, seed=2)
    held: Counter[Point] = Counter()
    for service in SERVICES:
        step = stack.read(f"runs/{run}")["step"]
        stack.wait(lambda step=step: stack.read(f"runs/{run}")["step"] > step)  # type: ignore[misc]
        assert state(stack, run) == "running"
        held |= points(stack, run)
        stack.compose("restart", service)
        stack.start()
    assert finish(stack, run)["step"] >= RESTART_STEPS
    final = points(stack, run)
    assert held - final == Counter(), "points were lost"
    assert max(point[1] for point in final) >= RESTART_STEPS - 10_000
    trained = Counter(point[:3] for point in final.elements() if point[2].startswith("train/"))
    assert trained
    assert [point for point, count in trained.items() if count > 1] == []


def test_three_workers_have_names_and_folders_and_train_at_the_same_time(stack: Stack) -> None:
    stack.start(workers=3)
    stack.wait(lambda: len(online(stack)) == 3)
    runs = {stack.launch(total_steps=100_000, seed=seed) for seed in (3, 4, 5)}
    stack.wait(lambda: {worker["run_id"] for worker in stack.read("workers")} >= runs)
    for run in runs:
        finish(stack, run)


def test_down_and_up_keep_runs_points_checkpoints_and_replays(stack: Stack) -> None:
    stack.wait(lambda: not any(worker["state"] == "busy" for worker in stack.read("workers")))
    kept = contents(stack)
    assert len(kept["runs"]) == 5
    assert sum(len(files) for key, files in kept.items() if key.startswith("replays")) >= 5
    stack.compose("down")
    assert stack.compose("ps", "--all", "--quiet") == ""
    stack.start()
    assert contents(stack) == kept
