"""Background processes of a script, which are independent of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import arcadia
from arcadia.reporting.layout import JournalDirectory


def start_process(
    module: str, directory: JournalDirectory, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a module of this package for a journal directory. Its output goes to the directory's log.

    It has its own session, so Ctrl-C in a terminal does not reach it. Its input ends with this process.
    """
    variables = {**os.environ, **(environment or {}), "PYTHONPATH": _python_path()}
    with directory.uploader_log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", module, str(directory.path), *arguments],
            # Modules in the script's folder could hide those of Python.
            cwd=directory.path,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def let_continue(process: subprocess.Popen[bytes]) -> None:
    """Let a process outlive this one, without Popen's warning."""
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        process.returncode = 0


def _python_path() -> str:
    """Return PYTHONPATH with absolute folders. It includes this package, which the script may find another way."""
    folders = [str(Path(arcadia.__file__).parents[1])]
    folders += [str(Path(each).absolute()) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    return os.pathsep.join(folders)
