"""Rates are those of the last seconds."""

import os
import signal
import subprocess
import sys

import pytest
import torch

from tests.workers.waiting import wait_until
from workers.trainer.run.throughput import RateMeter, SystemMeter


def test_rates_are_over_the_last_seconds_only() -> None:
    meter = RateMeter()
    for second in range(101):
        # 100 steps a second at first, 1,000 later; an update is 10 steps.
        step = 100 * second if second < 50 else 5000 + 1000 * (second - 50)
        meter.mark(float(second), step, step // 10)
    assert meter.steps_per_second == pytest.approx(1000)
    assert meter.updates_per_second == pytest.approx(100)


def test_a_resumed_run_does_not_count_the_steps_before() -> None:
    meter = RateMeter(begins_at=1_000_000)
    meter.mark(0.0, 1_000_100, 1)
    meter.mark(2.0, 1_000_600, 5)
    assert meter.steps_per_second == 250


def test_the_time_before_the_first_step_does_not_count() -> None:
    meter = RateMeter(begins_at=7)
    meter.mark(0.0, 7, 0)
    meter.mark(9.0, 107, 10)
    assert meter.steps_per_second == 0
    meter.mark(10.0, 207, 20)
    assert (meter.steps_per_second, meter.updates_per_second) == (100, 10)


def test_a_pause_in_the_middle_counts() -> None:
    meter = RateMeter()
    meter.mark(0.0, 100, 10)
    for second in range(1, 5):
        meter.mark(float(second), 200, 20)
    assert meter.steps_per_second == 25


def test_no_rate_is_told_of_a_moment() -> None:
    meter = RateMeter()
    meter.mark(0.0, 80, 1)
    meter.mark(0.001, 160, 2)
    assert meter.steps_per_second == 0


def test_the_machine_is_asked_now_and_then() -> None:
    meter = SystemMeter(torch.device("cpu"))
    first = meter.sample()
    assert first.keys() == {"system/cpu_percent", "system/rss_bytes"}
    assert 1e6 < first["system/rss_bytes"] < 1e12
    assert meter.sample() == {}


@pytest.mark.parametrize("then", ["pass", "os.fork()"], ids=["one child", "two that share their pages"])
def test_the_use_of_child_processes_counts(then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.trainer.run.throughput.SYSTEM_SECONDS", 0.0)
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
