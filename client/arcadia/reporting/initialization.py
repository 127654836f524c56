"""Start of a reported run."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from arcadia.errors import ArcadiaError, ConflictError
from arcadia.integrations.attached import attached_run
from arcadia.reporting.background import let_continue, start_process
from arcadia.reporting.config import as_mapping
from arcadia.reporting.ending import end_with_script
from arcadia.reporting.layout import (
    JournalDirectory,
    WriterFiles,
    check_key,
    journals_folder,
    new_key,
    new_writer,
    replace_file,
)
from arcadia.reporting.locks import WriterLock
from arcadia.reporting.provenance.variables import relevant_variables
from arcadia.reporting.run import ReportedRun
from arcadia.reporting.uploader_process import UploaderProcess
from arcadia.reporting.values import storable
from arcadia.settings import resolve_token, resolve_url

Mode = Literal["online", "offline", "disabled"]
Resume = Literal["allow", "must", "never"]
MODES = ("online", "offline", "disabled")
# How long a run that must, or must not, exist waits for the server's answer.
REGISTRATION_SECONDS = 15.0
# The end of a journal in which the last step is looked for.
TAIL_BYTES = 65_536
_WITH_STEP = (b'{"kind":"metrics"', b'{"kind":"media"')


def init(
    project: str | None = None,
    name: str | None = None,
    config: Any = None,
    *,
    method: str | None = None,
    env: str | None = None,
    tags: Iterable[str] = (),
    notes: str = "",
    total_steps: int | None = None,
    id: str | None = None,  # noqa: A002 - the run's `id`
    resume: Resume = "allow",
    mode: Mode | None = None,
    directory: str | os.PathLike[str] | None = None,
    url: str | None = None,
    token: str | None = None,
) -> ReportedRun:
    """Start a run, or continue the one with this `id`. It is logged to a file first, so this needs no server.

    `mode` is `online` by default, or ARCADIA_MODE. `offline` runs are uploaded later with `arcadia sync`, and
    `disabled` ones are not logged. `directory` is the folder of the journals, by default ARCADIA_JOURNALS.
    Below `arcadia run`, this is the run of the command.
    """
    if not (id or directory or mode) and (run := attached_run()):
        return _describe_attached(run, config, tags, notes, total_steps)
    return start_run(
        project,
        name,
        config,
        method=method,
        env=env,
        tags=tags,
        notes=notes,
        total_steps=total_steps,
        id=id,
        resume=resume,
        mode=mode,
        directory=directory,
        url=url,
        token=token,
    )


def start_run(
    project: str | None = None,
    name: str | None = None,
    config: Any = None,
    *,
    method: str | None = None,
    env: str | None = None,
    tags: Iterable[str] = (),
    notes: str = "",
    total_steps: int | None = None,
    id: str | None = None,  # noqa: A002 - the run's `id`
    resume: Resume = "allow",
    mode: Mode | None = None,
    directory: str | os.PathLike[str] | None = None,
    url: str | None = None,
    token: str | None = None,
    origin: Literal["reported", "imported"] = "reported",
    origin_label: str = "Python",
    command: Sequence[str] = (),
) -> ReportedRun:
    """Start a run as `init` does, and name the library that logs it. `command` is the script if it is not this one."""
    if (mode := mode or os.environ.get("ARCADIA_MODE", "online")) not in MODES:  # type: ignore[assignment]
        raise ArcadiaError(f"The mode {mode!r} does not exist. Use online, offline or disabled.")
    found = JournalDirectory(journals_folder(directory) / (check_key(id) if id else new_key()))
    settings = as_mapping(config)
    if mode == "disabled":
        return ReportedRun(found, new_writer(), settings, disabled=True)
    server = resolve_url(url) if mode == "online" else url
    if resume == "never" and found.path.exists():
        raise ArcadiaError(f"A run with the id {found.key} exists in {found.path}. Use another id, or resume='allow'.")
    found.create()
    step = last_step(found)
    files = found.of_writer(new_writer())
    lock = WriterLock(files.lock)
    registration = {
        "key": found.key,
        "writer": files.writer,
        "name": name,
        "project": project,
        "method": method,
        "env": env,
        "config": settings,
        "tags": [str(tag) for tag in tags],
        "notes": notes or None,
        "total_steps": total_steps,
        "origin": origin,
        "origin_label": origin_label,
        "host": socket.gethostname(),
        "command": list(command) or command_line(),
        "started_at": datetime.now(timezone.utc).isoformat(),
        "resume": resume,
    }
    registration = {field: value for field, value in registration.items() if value is not None}
    _describe(files, {"registration": registration, "script": script_facts(command), "url": server})
    # They are about the last process of the run, which may have been asked to stop.
    found.complete.unlink(missing_ok=True)
    found.status.unlink(missing_ok=True)
    uploader = UploaderProcess(found, server, resolve_token(server, token)) if mode == "online" and server else None
    run = ReportedRun(found, files.writer, settings, step=step, lock=lock, uploader=uploader)
    end_with_script(run)
    if uploader is None:
        let_continue(start_process("arcadia.reporting.provenance.recording", found, files.writer))
    else:
        uploader.start()
        if resume != "allow" and (problem := uploader.wait_for_rejection(REGISTRATION_SECONDS)):
            run.discard()
            raise ConflictError(409, problem)
    return run


def _describe_attached(
    run: ReportedRun, config: Any, tags: Iterable[str], notes: str, total_steps: int | None
) -> ReportedRun:
    """Add to the run of `arcadia run` what the script knows of it."""
    run.config.update(as_mapping(config))
    if named := list(tags):
        run.tag(*named)
    if notes:
        run.note(notes)
    if total_steps:
        run.set_total_steps(total_steps)
    return run


def command_line() -> list[str]:
    """Return the command line of this script."""
    return [Path(sys.executable or "python").name, *sys.orig_argv[1:]]


def script_facts(command: Sequence[str] = ()) -> dict[str, Any]:
    """Return what only the script knows of itself, and its uploader cannot find out."""
    if command:
        main = next((part for part in command if part.endswith(".py") and Path(part).is_file()), None)
    else:
        main = getattr(sys.modules.get("__main__"), "__file__", None)
    folder = Path(main).absolute().parent if main else Path.cwd()
    return {
        "folder": str(folder),
        "command": list(command) or command_line(),
        "environment": relevant_variables(os.environ),
    }


def last_step(directory: JournalDirectory) -> int:
    """Return the last step in the journals of a run, which the next process continues from; -1 if there is none."""
    for files in reversed(directory.writers()):
        if files.journal.exists():
            with files.journal.open("rb") as journal:
                journal.seek(-min(TAIL_BYTES, files.journal.stat().st_size), os.SEEK_END)
                lines = journal.read().split(b"\n")
            for line in reversed(lines):
                if line.startswith(_WITH_STEP):
                    try:
                        return int(json.loads(line)["step"])
                    except ValueError:
                        continue
    return -1


def _describe(files: WriterFiles, description: dict[str, Any]) -> None:
    try:
        replace_file(files.description, storable(description))
    except OSError as error:
        raise ArcadiaError(f"The journal cannot be written to {files.description.parent} ({error}).") from None
