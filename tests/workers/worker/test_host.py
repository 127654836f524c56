"""Several slots on one host, and the GPUs that a worker reports."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pynvml
import pytest

from arcadia_workers.contract.worker_api import ReportedGpu
from arcadia_workers.worker import machine
from arcadia_workers.worker.slots import slot_arguments
from tests.workers.waiting import wait_until

GIB = 2**30
SERVE = "import sys; from arcadia_workers.worker.slots import serve_slots; sys.exit(serve_slots({commands!r}))"


def slot(folder: Path, name: str, script: str) -> list[str]:
    """Return a program that notes each of its starts, and then runs a script."""
    note = f"import os, pathlib; pathlib.Path({str(folder)!r}, f'{name}-{{os.getpid()}}').touch()"
    return [sys.executable, "-c", f"{note}\n{script}"]


def serve(*commands: list[str]) -> "subprocess.Popen[bytes]":
    """Start the parent process of slots."""
    return subprocess.Popen([sys.executable, "-c", SERVE.format(commands=list(commands))])


def pids(folder: Path, name: str) -> list[int]:
    """Return the process numbers of the starts of a slot."""
    return [int(path.name.rpartition("-")[2]) for path in folder.glob(f"{name}-*")]


def test_only_the_first_slot_does_jobs_and_each_has_its_own_name() -> None:
    given = ["--slots", "3", "--jobs", "2"]
    first, second, _ = (slot_arguments(given, "sun", Path("/w"), number) for number in range(3))
    assert first == [*given, "--slots", "1", "--name", "sun-1", "--worker-dir", "/w/1"]
    assert second == [*given, "--slots", "1", "--name", "sun-2", "--worker-dir", "/w/2", "--jobs", "0"]
    assert slot_arguments(given, None, None, 0) == [*given, "--slots", "1"]


def test_a_slot_that_is_killed_starts_again_and_the_others_go_on(tmp_path: Path) -> None:
    parent = serve(*(slot(tmp_path, name, "import time; time.sleep(600)") for name in ("a", "b")))
    try:
        wait_until(lambda: pids(tmp_path, "a") and pids(tmp_path, "b"))
        [before], [other] = pids(tmp_path, "a"), pids(tmp_path, "b")
        os.kill(before, signal.SIGKILL)
        wait_until(lambda: len(pids(tmp_path, "a")) == 2)
        assert psutil.pid_exists(other)
        assert pids(tmp_path, "b") == [other]
        parent.terminate()
        parent.wait(30)
        wait_until(lambda: not any(psutil.pid_exists(pid) for pid in (*pids(tmp_path, "a"), other)))
    finally:
        parent.kill()
        parent.wait()


def test_slots_stop_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    parent = serve(slot(tmp_path, "a", "import time; time.sleep(600)"))
    wait_until(lambda: pids(tmp_path, "a"))
    parent.kill()
    parent.wait()
    wait_until(lambda: not psutil.pid_exists(pids(tmp_path, "a")[0]))


def test_a_worker_that_cannot_start_ends_the_parent_with_its_status(tmp_path: Path) -> None:
    parent = serve(slot(tmp_path, "a", f"raise SystemExit({os.EX_NOPERM})"), slot(tmp_path, "b", "pass"))
    assert parent.wait(30) == os.EX_NOPERM
    assert (len(pids(tmp_path, "a")), len(pids(tmp_path, "b"))) == (1, 1)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Simulate NVIDIA's library with two GPUs, and return the processes that use the first one."""
    used: list[int] = []
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    processes = lambda gpu: [SimpleNamespace(pid=pid, usedGpuMemory=3 * GIB) for pid in used if gpu == 0]  # noqa: E731
    replaced: dict[str, Any] = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda index: ("A100", b"L4")[index],
        "nvmlDeviceGetMemoryInfo": lambda index: SimpleNamespace(total=(40 * GIB, 24 * GIB)[index]),
        "nvmlDeviceGetComputeRunningProcesses": processes,
    }
    for name, function in replaced.items():
        monkeypatch.setattr(pynvml, name, function)
    return used


def test_gpus_are_reported_with_what_others_use(two_gpus: list[int]) -> None:
    assert machine.read_gpus() == [
        ReportedGpu(index=0, name="A100", memory_bytes=40 * GIB),
        ReportedGpu(index=1, name="L4", memory_bytes=24 * GIB),
    ]
    trainer = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()", machine.TRAINER_MODULE], stdin=subprocess.PIPE
    )
    try:
        # This process is not a trainer, and the other one is.
        two_gpus += [os.getpid(), trainer.pid]
        assert [gpu.foreign_bytes for gpu in machine.read_gpus()] == [3 * GIB, 0]
    finally:
        trainer.kill()
        trainer.wait()


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(("visible", "indexes"), [("1", [1]), ("0, 1", [0, 1]), ("GPU-8f2a", []), ("", [])])
def test_only_visible_gpus_are_reported(monkeypatch: pytest.MonkeyPatch, visible: str, indexes: list[int]) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [gpu.index for gpu in machine.read_gpus()] == indexes


def test_a_host_without_a_gpu_reports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert machine.read_gpus() == []
    # An earlier server knows no field for GPUs.
    assert "gpus" not in machine.machine_facts().model_dump(mode="json")
