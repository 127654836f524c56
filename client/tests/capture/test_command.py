"""`arcadia run`: the output and the end of a command."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from capture import commands
from reporting import scripts
from reporting.reported_server import ReportedServer

WAITING = """
import signal, sys, time
def stop(number, frame):
    print("saved after", signal.Signals(number).name)
    sys.exit(3)
signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
print("ready")
while True:
    time.sleep(0.05)
"""
INTERRUPTED = """
import time
print("ready")
try:
    while True:
        time.sleep(0.05)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def server() -> Iterator[ReportedServer]:
    """Serve reported runs."""
    server = ReportedServer()
    yield server
    server.close()


def messages(folder: Path) -> list[str]:
    return [event["message"] for event in scripts.of_kind("log", scripts.events(folder))]


def end(folder: Path) -> dict[str, Any]:
    """Return the only end."""
    (found,) = scripts.of_kind("end", scripts.events(folder))
    return {name: value for name, value in found.items() if name not in ("kind", "time")}


def test_output_is_logged_and_passed_on(tmp_path: Path) -> None:
    command = ["sh", "-c", "echo to the terminal; sleep 0.01; echo 'an error' >&2; printf 'no line feed'"]
    done = commands.run(["--project", "shell", "--set", "rate=0.5", "--", *command], tmp_path)
    assert (done.returncode, done.stdout) == (0, "to the terminal\nno line feed")
    assert done.stderr == "an error\n"
    assert sorted(messages(tmp_path)) == ["an error", "no line feed", "to the terminal"]
    assert end(tmp_path) == {"outcome": "finished"}
    (description,) = scripts.directory(tmp_path).glob("2*.json")
    text = description.read_text()
    assert '"project": "shell"' in text
    assert '"name": "sh"' in text
    assert '"config": {"rate": 0.5}' in text
    assert '"command": ["sh", "-c"' in text


def test_a_failed_script_fails_the_run_with_its_traceback(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('begins')\nraise ValueError('the loss is NaN')\n")
    journals = tmp_path / "journals"
    done = commands.run(["--", sys.executable, str(script)], journals)
    assert done.returncode == 1
    found = end(journals)
    assert (found["outcome"], found["message"]) == ("failed", "ValueError: the loss is NaN")
    assert found["traceback"].startswith("Traceback (most recent call last):\n")
    assert "line 2, in <module>" in found["traceback"]


def test_the_exit_status_is_that_of_the_command(tmp_path: Path) -> None:
    assert commands.run(["--", "sh", "-c", "kill -9 $$"], tmp_path).returncode == 128 + 9
    assert end(tmp_path) == {"outcome": "failed", "message": "The command was killed by SIGKILL."}


def test_an_unknown_command_starts_no_run(tmp_path: Path) -> None:
    done = commands.run(["--", "trian.py"], tmp_path)
    assert done.returncode == 1
    assert done.stderr == "arcadia: The command trian.py was not found. Check its name, or give its path.\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_command(number: signal.Signals, tmp_path: Path) -> None:
    process = commands.start(["--", sys.executable, "-c", WAITING], tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    output, _errors = process.communicate(timeout=commands.WAIT_SECONDS)
    assert output == f"saved after {number.name}\n"
    assert process.returncode == 3
    assert end(tmp_path) == {"outcome": "stopped", "message": f"The command was interrupted ({number.name})."}


@pytest.mark.nightly
def test_stop_on_the_page_interrupts_the_command_and_then_terminates_it(server: ReportedServer, tmp_path: Path) -> None:
    program = WAITING.replace("signal.signal(signal.SIGINT, stop)", "signal.signal(signal.SIGINT, signal.SIG_IGN)")
    arguments = ["--grace", "0.5", "--", sys.executable, "-c", program]
    process = commands.start(arguments, tmp_path, ARCADIA_MODE="online", ARCADIA_URL=server.url)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    server.desired = "stop"
    output, _errors = process.communicate(timeout=commands.WAIT_SECONDS)
    assert output == "saved after SIGTERM\n"
    assert process.returncode == 3
    assert [event["outcome"] for event in server.of_kind("end")] == ["stopped"]


@pytest.mark.nightly
def test_stop_interrupts_a_command_that_a_shell_has_started_in_the_background(
    server: ReportedServer, tmp_path: Path
) -> None:
    arguments = ["--grace", "600", "--", sys.executable, "-c", INTERRUPTED]
    process = commands.start(arguments, tmp_path, sigint=signal.SIG_IGN, ARCADIA_MODE="online", ARCADIA_URL=server.url)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    server.desired = "stop"
    output, _errors = process.communicate(timeout=commands.WAIT_SECONDS)
    assert output == "interrupted\n"
    assert [event["outcome"] for event in server.of_kind("end")] == ["stopped"]


def test_a_command_on_a_terminal_has_a_terminal(tmp_path: Path) -> None:
    own, terminal = pty.openpty()
    program = "import os, sys; print(sys.stdout.isatty(), sys.stderr.isatty(), os.get_terminal_size().columns)"
    environment = {"ARCADIA_JOURNALS": str(tmp_path), "ARCADIA_MODE": "offline", "PYTHONPATH": commands.PACKAGES}
    command = [sys.executable, "-m", "arcadia", "run", "--", sys.executable, "-c", program]
    process = subprocess.Popen(
        ["sh", "-c", 'stty cols 93; exec "$@"', "sh", *command],
        env={**os.environ, **environment},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    with process, os.fdopen(own, "rb", buffering=0) as shown:
        assert shown.readline() == b"True True 93\r\n"
        assert process.wait(commands.WAIT_SECONDS) == 0
    assert messages(tmp_path) == ["True True 93"]


def test_the_script_of_an_online_command_waits_for_the_page(server: ReportedServer, tmp_path: Path) -> None:
    program = (
        "import arcadia, arcadia.reporting.run\n"
        f"arcadia.reporting.run.URL_SECONDS = {commands.WAIT_SECONDS}\n"
        "print(arcadia.init().url)"
    )
    done = commands.run_program(program, tmp_path, ARCADIA_MODE="online", ARCADIA_URL=server.url)
    assert done.stdout == f"{server.url}/runs/7\n"


def test_the_script_of_an_offline_command_does_not_wait(tmp_path: Path) -> None:
    program = (
        "import arcadia, arcadia.reporting.run\n"
        "arcadia.reporting.run.URL_SECONDS = float('inf')\n"
        "print(arcadia.init().url)"
    )
    assert commands.run_program(program, tmp_path).stdout == "None\n"
