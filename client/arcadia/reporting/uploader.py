"""The uploader: a process that uploads one journal directory, and records the system metrics of its scripts.

    python -m arcadia.reporting.uploader DIRECTORY

ARCADIA_URL and ARCADIA_TOKEN select the server.
"""

from __future__ import annotations

import select
import sys
import time
from pathlib import Path

from arcadia.reporting.connection import Connection, RejectedError
from arcadia.reporting.layout import JournalDirectory
from arcadia.reporting.locks import exclusive
from arcadia.reporting.system_metrics.meter import SystemRecorder
from arcadia.reporting.upload import Upload
from arcadia.reporting.uploader_process import REJECTED
from arcadia.settings import resolve_token, resolve_url


class _Pauses:
    """Pauses that end early when the script ends, which closes this process's input."""

    def __init__(self) -> None:
        self._is_open = True

    def wait(self, seconds: float) -> None:
        """Wait."""
        if not self._is_open:
            time.sleep(seconds)
        elif select.select([sys.stdin], [], [], seconds)[0]:
            self._is_open = False


def main() -> int:
    """Upload the directory of the command line."""
    directory = JournalDirectory(Path(sys.argv[1]))
    url = resolve_url()
    # Wait, because another uploader may be about to end. If it continues, it also uploads this writer's events.
    with exclusive(directory.lock, wait=True):
        directory.complete.unlink(missing_ok=True)
        SystemRecorder(directory).start()
        try:
            Upload(directory, Connection(url, resolve_token(url))).run(_Pauses().wait)
        except RejectedError as error:
            print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {error}", file=sys.stderr, flush=True)
            return REJECTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
