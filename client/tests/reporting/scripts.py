"""Scripts that log a run in separate processes, and readers of their journals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import arcadia

PACKAGES = str(Path(arcadia.__file__).parents[1])
# On a busy machine, a script and its uploader take half a minute to start.
WAIT_SECONDS = 240.0
# The client gives up earlier when a server is slow to answer.
HEADER = f"""
import arcadia, os, signal, sys, threading, time
import arcadia.reporting.initialization, arcadia.reporting.run
arcadia.reporting.initialization.REGISTRATION_SECONDS = arcadia.reporting.run.URL_SECONDS = {WAIT_SECONDS}
"""


def start(program: str, folder: Path, **variables: str) -> subprocess.Popen[str]:
    """Start a program that logs to journals in the folder, offline by default."""
    return _start(["-c", HEADER + program], folder, variables)


def run(program: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return its output. Ignore its exit status."""
    return _complete(start(program, folder, **variables))


def run_file(file: Path, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a file to its end."""
    return _complete(_start([str(file), *arguments], folder, variables))


def _start(arguments: Sequence[str], folder: Path, variables: Mapping[str, str]) -> subprocess.Popen[str]:
    environment = {"ARCADIA_JOURNALS": str(folder), "ARCADIA_MODE": "offline", "PYTHONPATH": PACKAGES}
    # Tests compare all metrics of a journal. Those of system metrics turn them on.
    environment["ARCADIA_SYSTEM_METRICS"] = "off"
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, **environment, **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _complete(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    with process:
        output, errors = process.communicate(timeout=WAIT_SECONDS)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def directory(folder: Path) -> Path:
    """Return the journal directory of the only run."""
    (found,) = folder.iterdir()
    return found


def events(folder: Path) -> list[dict[str, Any]]:
    """Return the events of the only run, of all writers in order. Every line must be complete."""
    lines = [line for file in sorted(directory(folder).glob("*.jsonl")) for line in file.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def of_kind(kind: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of one kind."""
    return [event for event in found if event["kind"] == kind]


def metrics(folder: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return the steps and values of the only run's metrics."""
    return [(event["step"], event["values"]) for event in of_kind("metrics", events(folder))]


def wait_until(condition: Callable[[], Any]) -> Any:
    """Wait until a condition is true, and return its value."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.02)
    return found
