"""Upload of the files of an artifact, before the event that names them."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from arcadia.reporting.connection import Connection, RejectedError, UnavailableError

# The name of a file of the journal, which somebody else may have written.
SHA256 = re.compile(r"[0-9a-f]{64}")
ARTIFACT = b'{"kind":"artifact",'
# A large file may take longer than the server waits for a sign of life.
ALIVE_SECONDS = 10.0
# The server rejects this artifact, but may take others.
_CONTENT = (400, 413, 415, 422)


class ArtifactRejectedError(Exception):
    """The server does not take an artifact. Its message says why."""


def upload_files(connection: Connection, run_id: int, writer: str, folder: Path, event: bytes) -> None:
    """Upload the files of an event that the server does not have, so an interrupted upload continues.

    Raise ArtifactRejectedError if that is impossible, and UnavailableError if it may be possible later.
    """
    try:
        artifact = json.loads(event)["artifact"]
        name = str(artifact["name"])
        paths = {entry["sha256"]: str(entry["path"]) for entry in artifact["entries"] if "sha256" in entry}
    except (ValueError, LookupError, TypeError):
        raise ArtifactRejectedError("An artifact was left out: its event is damaged.") from None
    if any(not isinstance(digest, str) or not SHA256.fullmatch(digest) for digest in paths):
        raise ArtifactRejectedError(f"The artifact {name} was left out: the journal names files that it cannot have.")
    if not paths:
        return
    path = ""
    try:
        missing = connection.find_missing(run_id, writer, list(paths))
        with _alive(lambda: connection.send_events(run_id, writer, [])):
            for digest in missing:
                path = paths[digest]
                connection.send_artifact_file(run_id, writer, digest, folder / digest)
    except FileNotFoundError:
        message = f"The artifact {name} was left out: its file {path} is missing from the journal."
        raise ArtifactRejectedError(message) from None
    except RejectedError as error:
        is_old_server = str(error.problem.get("type", "")).endswith("no-such-path")
        if error.status not in _CONTENT and not is_old_server:
            raise
        reason = "This server has no artifacts. Update it." if is_old_server else f"{path}: {error.detail}"
        raise ArtifactRejectedError(f"The artifact {name} was left out. {reason}") from None


@contextlib.contextmanager
def _alive(report: Callable[[], object]) -> Iterator[None]:
    """Report regularly that the script is alive, until the block ends."""
    ended = threading.Event()

    def keep_reporting() -> None:
        while not ended.wait(ALIVE_SECONDS):
            # The upload itself shows whether the server can be reached.
            with contextlib.suppress(UnavailableError, RejectedError):
                report()

    thread = threading.Thread(target=keep_reporting, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
