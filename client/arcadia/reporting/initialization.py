"""Start of a reported run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from arcadia.errors import ArcadiaError, ConflictError
from arcadia.reporting.attached import attached_run, describe_attached
from arcadia.reporting.ending import end_with_script
from arcadia.reporting.journal import WriterLock, read_last_step
from arcadia.reporting.layout import (
    JournalDirectory,
    WriterFiles,
    check_key,
    journals_folder,
    let_continue,
    new_key,
    new_writer,
    replace_file,
    start_process,
)
from arcadia.reporting.run import ReportedRun
from arcadia.reporting.run_options import DESCRIBED, Mode, Resume, RunOptions, as_mapping
from arcadia.reporting.uploader_process import UploaderProcess
from arcadia.reporting.values import storable, to_text, to_texts, to_total_steps
from arcadia.settings import resolve_token, resolve_url

# How long a run with `resume="must"` or `"never"` waits for the server's response.
REGISTRATION_SECONDS = 15.0


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
    system_metrics: bool | None = None,
) -> ReportedRun:
    """Start a run, or continue the one with this `id`. It is logged to a file first, so this needs no server.

    `mode` is `online` by default, or ARCADIA_MODE. `offline` runs are uploaded later with `arcadia sync`, and
    `disabled` ones are not logged. `directory` is the folder of the journals, by default ARCADIA_JOURNALS.
    `system_metrics` is false to record no use of the processor, the memory and the GPUs; ARCADIA_SYSTEM_METRICS=off
    does the same. Below `arcadia run`, this is the run of the command.
    """
    options = RunOptions(
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
        system_metrics=system_metrics,
    )
    if not (id or directory or mode) and (run := attached_run()):
        _describe_attached(run, options)
        return run
    return start_run(options)


def start_run(options: RunOptions) -> ReportedRun:
    """Start a run, or continue the one with the id of the options."""
    mode = options.resolve_mode()
    directory = JournalDirectory(
        journals_folder(options.directory) / (check_key(str(options.id)) if options.id else new_key())
    )
    config = as_mapping(options.config)
    if mode == "disabled":
        return ReportedRun(directory, new_writer(), config, disabled=True)
    server = resolve_url(options.url) if mode == "online" else to_text(options.url)
    token = resolve_token(server, options.token) if mode == "online" and server else None
    if options.resume == "never" and directory.path.exists():
        raise ArcadiaError(
            f"A run with the id {directory.key} exists in {directory.path}. Use another id, or resume='allow'."
        )
    directory.create()
    step = read_last_step(directory)
    files = directory.of_writer(new_writer())
    lock = WriterLock(files.lock)
    _write_description(directory.key, files, options, server, is_online=mode == "online")
    # These files describe the run's previous process, which may have been stopped.
    directory.complete.unlink(missing_ok=True)
    directory.status.unlink(missing_ok=True)
    uploader = None
    if mode == "online" and server:
        uploader = UploaderProcess(directory, server, token)
    run = ReportedRun(directory, files.writer, config, step=step, lock=lock, uploader=uploader)
    end_with_script(run)
    if options.total_steps is not None and to_total_steps(options.total_steps) is None:
        run.set_total_steps(options.total_steps)  # the registration lacks it, so this only warns
    if uploader is None:
        let_continue(start_process("arcadia.reporting.provenance", directory, files.writer))
    else:
        uploader.start()
        if options.resume != "allow" and (problem := uploader.wait_for_rejection(REGISTRATION_SECONDS)):
            run.discard()
            raise ConflictError(409, problem)
    return run


def _describe_attached(run: ReportedRun, options: RunOptions) -> None:
    """Add what the script says about its run to the run of `arcadia run`."""
    describe_attached(run, name=options.name, project=options.project, method=options.method, env=options.env)
    run.config.update(options.config)
    if tags := to_texts(options.tags):
        run.tag(*tags)
    if options.notes:
        run.note(options.notes)
    if options.total_steps is not None:
        run.set_total_steps(options.total_steps)


def _write_description(
    key: str, files: WriterFiles, options: RunOptions, server: str | None, *, is_online: bool
) -> None:
    registration = options.registration(key, files.writer)
    description = {
        "registration": registration,
        "script": options.script_facts(),
        "url": server,
        "is_online": is_online,
        "system_metrics": options.records_system_metrics(),
        # A captured script does not replace what the user has given to `arcadia run`.
        "given": [field for field in DESCRIBED if field in registration and (field != "name" or options.name)],
    }
    try:
        replace_file(files.description, storable(description))
    except OSError as error:
        raise ArcadiaError(f"The journal cannot be written to {files.description.parent} ({error}).") from None
