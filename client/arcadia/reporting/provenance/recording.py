"""Recording of the provenance: the first event of each writer, in a file of its own.

python -m arcadia.reporting.provenance.recording DIRECTORY WRITER
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from arcadia.reporting.layout import JournalDirectory, WriterFiles
from arcadia.reporting.provenance.collecting import collect_provenance
from arcadia.reporting.values import encode_event

UNKNOWN = "The code and packages of this script are unknown, because its host could not record them."


def record_provenance(files: WriterFiles) -> None:
    """Write the first event of a writer, unless it exists."""
    if files.provenance.exists():
        return
    event = _describe(json.loads(files.description.read_text()))
    new = files.provenance.with_name(f".{files.provenance.name}.{os.getpid()}")
    new.write_bytes(encode_event(event, time.time()))
    new.replace(files.provenance)


def _describe(description: dict[str, Any]) -> dict[str, Any]:
    """Return the event. Another host has other packages, and Python reports an unreadable disk as OSError."""
    if description["registration"]["host"] != socket.gethostname():
        return {"kind": "log", "level": "info", "message": UNKNOWN}
    try:
        return {"kind": "provenance", "provenance": collect_provenance(description["script"])}
    except (OSError, ValueError, KeyError) as error:
        return {"kind": "log", "level": "warning", "message": f"{UNKNOWN} ({type(error).__name__}: {error})"}


def main() -> int:
    """Record the provenance of one writer."""
    directory, writer = sys.argv[1:]
    record_provenance(JournalDirectory(Path(directory)).of_writer(writer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
