"""System metrics of a script, which a process beside it measures."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from arcadia.reporting import system_metrics
from arcadia.reporting.system_metrics import (
    DISK_READ,
    RECEIVED,
    Gpus,
    Host,
    LinuxHost,
    ProcessUse,
    PsutilHost,
    SystemMeter,
)
from reporting import scripts
from reporting.reported_server import ReportedServer

# A script that logs until the condition about its journal is true.
LOGS_UNTIL = """
import pathlib
run = arcadia.init("maze")
journal = run.directory / f"{run.writer}.jsonl"
run.log({"loss": 1.0}, step=7)
while %s:
    time.sleep(0.02)
run.finish()
"""
IS_UNMEASURED = "'system/cpu_percent' not in journal.read_text()"
KEPT = 3 * 10**8


@pytest.fixture
def server() -> Iterator[ReportedServer]:
    """Serve reported runs."""
    server = ReportedServer()
    yield server
    server.close()


@pytest.mark.nightly
def test_an_offline_script_is_measured_at_its_step(tmp_path: Path) -> None:
    done = scripts.run(LOGS_UNTIL % IS_UNMEASURED, tmp_path, ARCADIA_SYSTEM_METRICS="on")
    assert done.returncode == 0, done.stderr
    measured = [(step, values) for step, values in scripts.metrics(tmp_path) if "system/cpu_percent" in values]
    assert measured
    step, values = measured[-1]
    assert step in (0, 7)  # the first sample may precede the first value
    assert 1e6 < values["system/rss_bytes"] < 1e10
    assert scripts.events(tmp_path)[-1]["kind"] == "end"


def test_the_uploader_measures_an_online_script(server: ReportedServer, tmp_path: Path) -> None:
    variables = {"ARCADIA_SYSTEM_METRICS": "on", "ARCADIA_MODE": "online", "ARCADIA_URL": server.url}
    done = scripts.run(LOGS_UNTIL % IS_UNMEASURED, tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    assert any("system/cpu_percent" in values for _step, values in server.metrics())


@pytest.mark.parametrize("arguments", ["system_metrics=False", ""])
def test_system_metrics_can_be_turned_off(arguments: str, tmp_path: Path) -> None:
    program = f"""
run = arcadia.init("maze", {arguments})
from arcadia.reporting.layout import JournalDirectory
from arcadia.reporting.system_metrics import records_system_metrics
print(records_system_metrics(JournalDirectory(run.directory).of_writer(run.writer)))
"""
    done = scripts.run(program, tmp_path, ARCADIA_SYSTEM_METRICS="on" if arguments else " Off ")
    assert done.stdout == "False\n", done.stderr


def test_a_resumed_script_continues_after_its_own_last_step(tmp_path: Path) -> None:
    program = """
with arcadia.init(id="maze") as run:
    pass
with (run.directory / f"{run.writer}.jsonl").open("a") as journal:
    journal.write('{"kind":"metrics","time":1.0,"step":0,"values":{"system/cpu_percent":1.0}}\\n')
with arcadia.init(id="maze") as run:
    print(run.step)
"""
    assert scripts.run(program, tmp_path).stdout == "-1\n"


class _FakeHost:
    """A host whose measurements a test sets."""

    def __init__(self) -> None:
        self.processes: dict[int, ProcessUse] = {}
        self.counters: dict[str, int] = {}

    def read_processes(self, root: int) -> dict[int, ProcessUse]:
        del root
        return dict(self.processes)

    def read_counters(self) -> dict[str, int]:
        return dict(self.counters)


def test_a_sample_has_the_rates_since_the_last_one() -> None:
    host, times = _FakeHost(), iter((0.0, 10.0, 20.0))
    host.processes = {1: ProcessUse(5.0, 100.0, 10), 2: ProcessUse(6.0, 50.0, 20)}
    host.counters = {DISK_READ: 1_000, RECEIVED: 500}
    meter = SystemMeter(1, host, Gpus(), lambda: next(times))
    # The second process has ended; another has its number, and has worked for three seconds.
    host.processes = {1: ProcessUse(5.0, 106.0, 11), 2: ProcessUse(12.0, 3.0, 22)}
    host.counters = {DISK_READ: 3_000, RECEIVED: 100}
    expected = {"system/cpu_percent": pytest.approx(90.0), "system/rss_bytes": 33.0, DISK_READ: 200.0, RECEIVED: 0.0}
    assert meter.sample() == expected
    host.processes = {}
    assert meter.sample() == {}


@pytest.mark.parametrize("kind", [LinuxHost, PsutilHost])
def test_the_descendants_of_a_process_count_and_this_process_does_not(kind: type[Any]) -> None:
    if kind is LinuxHost and not Path("/proc/self/stat").exists():
        pytest.skip("This is not Linux.")
    pytest.importorskip("psutil")
    host: Host = kind()
    # Each process works until the system has counted some of it, in ticks of a hundredth of a second.
    work = "import os, subprocess, sys\nwhile sum(os.times()[:2]) < 0.05: pass\n"
    code = f"{work}kept = bytearray({KEPT}); print('ready', flush=True); sys.stdin.read()"
    outer = f"{work}subprocess.run([sys.executable, '-c', {code!r}])"
    with subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        found = host.read_processes(process.pid)
        assert len(found) == 2
        assert KEPT < sum(use.memory_bytes for use in found.values()) < 2 * KEPT
        assert all(use.cpu_seconds > 0 for use in found.values())
        assert process.pid in host.read_processes(process.pid)
        process.communicate()
    assert host.read_processes(process.pid) == {}
    assert os.getpid() not in host.read_processes(os.getppid())


def test_disks_are_counted_once_and_loopback_networks_are_not(tmp_path: Path) -> None:
    (tmp_path / "block" / "sda" / "device").mkdir(parents=True)
    rows = (" 8 0 sda 10 0 100 5 20 0 200 5 0 0", " 8 1 sda1 10 0 90 5 20 0 90 5 0 0", " 9 0 md0 1 0 9 5 2 0 9 5 0 0")
    (tmp_path / "diskstats").write_text("\n".join(rows))
    (tmp_path / "net").mkdir()
    header = "Inter-| Receive | Transmit\n face |bytes packets|bytes\n"
    (tmp_path / "net" / "dev").write_text(
        header + "    lo: 900 1 0 0 0 0 0 0 900 1\n  eth0: 70 1 0 0 0 0 0 0 30 1 0 0 0 0 0 0\n"
    )
    counters = LinuxHost(tmp_path, tmp_path / "block").read_counters()
    assert list(counters.values()) == [100 * 512, 200 * 512, 70, 30]


class _FakeLibrary:
    """NVML with three GPUs: 0 and 2 compute for process 11, and 1 for a process outside of the container."""

    def nvmlInit_v2(self) -> int:  # noqa: N802 - NVML's name
        return 0

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:  # noqa: N802 - NVML's name
        count._obj.value = 3
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, number: Any, handle: Any) -> int:  # noqa: N802 - NVML's name
        handle._obj.value = 100 + number.value
        return 0

    def nvmlDeviceGetMinorNumber(self, gpu: Any, number: Any) -> int:  # noqa: N802 - NVML's name
        number._obj.value = gpu.value - 100
        return 0

    def nvmlDeviceGetComputeRunningProcesses_v3(self, gpu: Any, count: Any, found: Any) -> int:  # noqa: N802 - NVML's name
        count._obj.value = 1
        found[0].pid = 99 if gpu.value == 101 else 11
        return 0

    def nvmlDeviceGetUtilizationRates(self, gpu: Any, rates: Any) -> int:  # noqa: N802 - NVML's name
        rates._obj.gpu = gpu.value - 100
        return 0

    def nvmlDeviceGetMemoryInfo_v2(self, gpu: Any, memory: Any) -> int:  # noqa: N802 - NVML's name
        assert memory._obj.version == ctypes.sizeof(system_metrics._Memory) | 2 << 24
        memory._obj.used = gpu.value
        return 0

    def nvmlDeviceGetPowerUsage(self, _gpu: Any, _power: Any) -> int:  # noqa: N802 - NVML's name
        return 3  # not supported


def test_the_gpus_of_the_script_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: _FakeLibrary())
    files = tmp_path / "12" / "fd"
    files.mkdir(parents=True)
    (files / "3").symlink_to("/dev/nvidia1")
    (files / "4").symlink_to("/dev/nvidiactl")
    found = Gpus(tmp_path)
    assert found.sample([11]) == {"system/gpu_percent": 1.0, "system/gpu_memory_bytes": 202.0}
    assert found.sample([12]) == {"system/gpu_percent": 1.0, "system/gpu_memory_bytes": 101.0}
    assert found.sample([13]) == {}


def test_a_host_without_a_driver_has_no_gpu_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_name: str) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", fail)
    assert Gpus().sample([os.getpid()]) == {}
