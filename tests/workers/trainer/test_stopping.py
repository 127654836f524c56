"""Tests for signals: the first one requests a stop, a second Ctrl-C ends the program at once."""

import signal
import subprocess
import sys

import pytest

from tests.workers.waiting import PATIENCE_SECONDS

PROGRAM = """
import os, signal, sys
from arcadia_workers.trainer.errors import StopRequest
stop = StopRequest()
stop.listen()
{before}
for number in sys.argv[1:]:
    os.kill(os.getpid(), int(number))
    print(stop.requested(), stop.reason, flush=True)
"""


def signaled(*numbers: signal.Signals, before: str = "stop.interrupts = False") -> subprocess.CompletedProcess[str]:
    """Run a program that sends itself these signals."""
    command = [sys.executable, "-c", PROGRAM.format(before=before), *(str(int(number)) for number in numbers)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_SECONDS)


@pytest.mark.parametrize(("number", "name"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "Ctrl-C")])
def test_the_first_signal_requests_a_stop(number: signal.Signals, name: str) -> None:
    ended = signaled(number)
    assert (ended.returncode, ended.stdout) == (0, f"True stopped by {name}\n")


def test_sigterm_may_come_twice() -> None:
    assert signaled(signal.SIGTERM, signal.SIGTERM).returncode == 0


def test_a_second_ctrl_c_ends_the_program_at_once() -> None:
    ended = signaled(signal.SIGINT, signal.SIGINT)
    assert (ended.returncode, ended.stdout) == (-signal.SIGINT, "True stopped by Ctrl-C\n")


def test_before_training_a_signal_interrupts() -> None:
    ended = signaled(signal.SIGTERM, before="")
    assert ended.returncode != 0
    assert "KeyboardInterrupt" in ended.stderr
