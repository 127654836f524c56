"""Environment of a captured command: its Python processes load the hooks, and find the run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import arcadia.integrations
from arcadia.integrations.attached import JOURNAL_VARIABLE, WRITER_VARIABLE
from arcadia.reporting.run import ReportedRun

HOOKS = Path(arcadia.integrations.__file__).parent / "hooks"


def command_environment(environment: Mapping[str, str], run: ReportedRun) -> dict[str, str]:
    """Return the variables of the command. Python's output is unbuffered, so that the log is current."""
    return {
        "PYTHONUNBUFFERED": "1",
        **environment,
        "PYTHONPATH": os.pathsep.join([str(HOOKS), *filter(None, [environment.get("PYTHONPATH")])]),
        JOURNAL_VARIABLE: str(run.directory),
        WRITER_VARIABLE: run.writer,
    }
