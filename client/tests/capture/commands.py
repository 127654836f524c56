"""Commands below `arcadia run`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import arcadia

PACKAGES = str(Path(arcadia.__file__).parents[1])
WAIT_SECONDS = 240.0


def start(
    arguments: list[str], folder: Path, sigint: signal.Handlers = signal.SIG_DFL, **variables: str
) -> subprocess.Popen[str]:
    """Start `arcadia run` with a journal in the folder, offline by default. Shells may let it ignore SIGINT."""
    environment = {"ARCADIA_JOURNALS": str(folder), "ARCADIA_MODE": "offline", "PYTHONPATH": PACKAGES}
    # Tests compare all metrics of a journal. Those of system metrics turn them on.
    environment["ARCADIA_SYSTEM_METRICS"] = "off"
    return subprocess.Popen(
        [sys.executable, "-m", "arcadia", "run", *arguments],
        env={**os.environ, **environment, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, sigint),
    )


def run(arguments: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `arcadia run` to its end."""
    with start(arguments, folder, signal.SIG_DFL, **variables) as process:
        output, errors = process.communicate(timeout=WAIT_SECONDS)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def run_program(program: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program below `arcadia run`."""
    return run(["--", sys.executable, "-c", program], folder, **variables)
