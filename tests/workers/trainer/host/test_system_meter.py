"""Tests for the sampling of the hardware that a run uses."""

import os
import signal
import subprocess
import sys

import pytest
import torch

from arcadia_workers.trainer.host.meters import SystemMeter
from tests.workers.waiting import wait_until


def test_a_run_on_the_cpu_reports_no_gpu_metrics() -> None:
    first = SystemMeter(torch.device("cpu")).sample()
    assert first.keys() >= {"system/cpu_percent", "system/rss_bytes"}
    assert [name for name in first if "gpu" in name] == []


def test_the_system_is_sampled_every_few_seconds() -> None:
    meter = SystemMeter(torch.device("cpu"))
    first = meter.sample()
    assert 1e6 < first["system/rss_bytes"] < 1e12
    assert meter.sample() == {}


@pytest.mark.parametrize("then", ["pass", "os.fork()"], ids=["one child", "two that share their pages"])
def test_the_usage_of_child_processes_is_included(then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_workers.trainer.host.meters.SYSTEM_SECONDS", 0.0)
    meter = SystemMeter(torch.device("cpu"))
    alone = meter.sample()
    code = f"import os; kept = bytearray(10**9); {then}; print('ready', flush=True)\nwhile True: pass"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert child.stdout
        assert child.stdout.readline()
        together = meter.sample()
        assert together["system/rss_bytes"] - alone["system/rss_bytes"] == pytest.approx(1e9, rel=0.1)
        wait_until(lambda: meter.sample()["system/cpu_percent"] > 20)
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
