"""Recording of the provenance, which is the first event of each writer and has a separate file.

    python -m arcadia.reporting.provenance.recording DIRECTORY WRITER

is the process beside an offline script. Like an uploader, it also records the system metrics.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from arcadia.reporting.layout import JournalDirectory, WriterFiles, replace_file
from arcadia.reporting.locks import is_writer_alive
from arcadia.reporting.provenance.collecting import collect_provenance
from arcadia.reporting.system_metrics.meter import SystemRecorder, records_system_metrics
from arcadia.reporting.values import encode_event

UNKNOWN = "The code and packages of this script are unknown, because its host could not record them."


def record_provenance(files: WriterFiles) -> None:
    """Write the first event of a writer, unless it exists."""
    if files.provenance.exists():
        return
    description = json.loads(files.description.read_text())
    # A copy of the journal records it again, and must not get another event.
    started_at = datetime.fromisoformat(description["registration"]["started_at"]).timestamp()
    replace_file(files.provenance, encode_event(_describe(description), started_at))
    if not files.description.exists():  # the writer was discarded in the meantime
        files.provenance.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            files.provenance.parent.rmdir()


def _describe(description: dict[str, Any]) -> dict[str, Any]:
    """Return the event. On another host, or if the facts cannot be read, it is a log line with the reason."""
    if description["registration"]["host"] != socket.gethostname():
        return {"kind": "log", "level": "info", "message": UNKNOWN}
    try:
        return {"kind": "provenance", "provenance": collect_provenance(description["script"])}
    except (OSError, ValueError, KeyError) as error:
        return {"kind": "log", "level": "warning", "message": f"{UNKNOWN} ({type(error).__name__}: {error})"}


def main() -> int:
    """Record the provenance of one writer, and its system metrics until it ends."""
    directory = JournalDirectory(Path(sys.argv[1]))
    files = directory.of_writer(sys.argv[2])
    record_provenance(files)
    if files.description.exists() and records_system_metrics(files):
        SystemRecorder(directory).run(lambda: is_writer_alive(files.lock))
    return 0


if __name__ == "__main__":
    sys.exit(main())
