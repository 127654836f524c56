"""A run that this script logs."""

from __future__ import annotations

import hashlib
import os
import sys
import time
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, SupportsInt, get_args

from arcadia.errors import ArcadiaError
from arcadia.reporting import artifacts
from arcadia.reporting.artifacts import Snapshot, UsedArtifact
from arcadia.reporting.ending import forget
from arcadia.reporting.journal import DisabledJournal, Journal, WriterLock
from arcadia.reporting.layout import JournalDirectory, replace_file
from arcadia.reporting.media import Media
from arcadia.reporting.run_options import RunConfig, as_mapping
from arcadia.reporting.uploader_process import UploaderProcess, wait_for_page
from arcadia.reporting.values import (
    Level,
    MetricsEncoder,
    flatten,
    quoted,
    to_level,
    to_step,
    to_text,
    to_texts,
    to_total_steps,
    typed,
)

Outcome = Literal["finished", "failed", "stopped", "paused"]
OUTCOMES = get_args(Outcome)

# Minimum time between two checks of the uploader and of the server's requests.
CHECK_SECONDS = 1.0
URL_SECONDS = 5.0
MAX_MESSAGE, MAX_TRACEBACK = 2_000, 20_000


class ReportedRun:
    """A run that this script logs. All methods may be called from any thread, and from forked processes.

    A problem of the server, the network or the disk never stops the script. It is printed once.
    """

    def __init__(
        self,
        directory: JournalDirectory,
        writer: str,
        config: Mapping[str, Any],
        *,
        step: int = -1,
        lock: WriterLock | None = None,
        uploader: UploaderProcess | None = None,
        disabled: bool = False,
    ) -> None:
        self._directory, self._lock, self._uploader = directory, lock, uploader
        self._journal = DisabledJournal() if disabled else Journal(directory.of_writer(writer).journal)
        self.writer = writer
        self.config = RunConfig(config, self._log_config, self._warn_once)
        self._encoder = MetricsEncoder()
        self._step = step
        self._owner = os.getpid()
        self._warned: set[str] = set()
        self._check_at = 0.0
        self._desired = "run"
        self._ended = False

    @property
    def id(self) -> str:
        """The id to resume the run by: arcadia.init(id=…)."""
        return self._directory.key

    @property
    def directory(self) -> Path:
        """The folder with the run's journal."""
        return self._directory.path

    @property
    def url(self) -> str | None:
        """The run's page. None if no server has answered within five seconds, or if the run is not online."""
        if self._uploader is not None:
            return self._uploader.wait_for_page(URL_SECONDS)
        # Another process may upload the run, such as that of `arcadia run`.
        is_online = self._directory.of_writer(self.writer).is_online()
        return wait_for_page(self._directory.read_status, URL_SECONDS if is_online else 0.0)

    @property
    def step(self) -> int:
        """The last logged step, or -1 before the first."""
        return self._step

    @property
    def is_disabled(self) -> bool:
        """True if nothing is logged."""
        return self._journal.is_disabled

    def log(self, values: Mapping[str, Any], step: SupportsInt | None = None) -> None:
        """Log metrics and media at a step, by default one more than the last. Nested names are joined: train/loss."""
        now = time.time()
        rejected: list[tuple[str, Any]] = []
        with self._journal.lock:
            if self._ended:
                raise ArcadiaError("This run has ended. Call arcadia.init(id=run.id) to continue it.")
            if not hasattr(values, "items"):
                message = f"{quoted(values)} was left out. Log numbers by their names: run.log({{'loss': 0.5}})."
                self._warn_once("values", message)
                return
            number = self._step + 1 if step is None else self._to_step(step)
            if line := self._encoder.encode(number, now, values, rejected):
                self._journal.append_line(line)
            self._step = number
        if rejected:
            self._log_others(number, now, dict(rejected))
        if now >= self._check_at:
            self._check(now)

    def write(self, text: str, level: Level = "info") -> None:
        """Add a line to the run's log."""
        self._append({"kind": "log", "level": self._to_level(level, "info"), "message": str(text)})

    def alert(self, title: str, text: str = "", level: Level = "warning") -> None:
        """Raise an alert."""
        level = self._to_level(level, "warning")
        self._append({"kind": "alert", "level": level, "title": str(title), "text": to_text(text) or ""})

    def tag(self, *tags: str) -> None:
        """Add tags to the run."""
        self._append({"kind": "tags", "add": [text for tag in tags for text in to_texts(tag)], "remove": []})

    def untag(self, *tags: str) -> None:
        """Remove tags from the run."""
        self._append({"kind": "tags", "add": [], "remove": [text for tag in tags for text in to_texts(tag)]})

    def note(self, text: str) -> None:
        """Replace the run's notes."""
        self._append({"kind": "notes", "text": to_text(text) or ""})

    def describe(
        self,
        *,
        name: str | None = None,
        project: str | None = None,
        method: str | None = None,
        env: str | None = None,
    ) -> None:
        """Change the run's name, project, method or environment. The method and the environment may be any text."""
        fields = {"name": name, "project": project, "method": method, "env": env}
        if given := {field: text for field, value in fields.items() if (text := to_text(value))}:
            self._append({"kind": "description", **given})

    def set_total_steps(self, total_steps: int) -> None:
        """Set the number of steps of the whole run, for its progress bar."""
        if (number := to_total_steps(total_steps)) is None:
            message = f"total_steps was left out: {quoted(total_steps)} is not a whole number of 1 or more."
            self._warn_once("total_steps", message)
        else:
            self._append({"kind": "progress", "total_steps": number})

    def log_artifact(
        self,
        files: artifacts.Source | Snapshot,
        name: str | None = None,
        *,
        kind: str = "file",
        aliases: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Log a file, a folder, or files by their paths in the artifact, as a version of a named artifact.

        The files are copied now, so they may change or be deleted afterwards. Only other contents than those of the
        newest version make a new one. A text such as s3://bucket/data is stored as a reference.
        """
        wanted, name = to_texts(aliases), to_text(name)
        if isinstance(files, Snapshot):
            artifacts.check(name := name or "artifact", wanted, [entry["path"] for entry in files.entries])
            copied = files
        else:
            name = artifacts.default_name(files) if name is None else name
            sources = artifacts.collect(files)
            artifacts.check(name, wanted, sources)
            if self.is_disabled:
                return
            try:
                copied = artifacts.snapshot(sources, self._directory.artifacts)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                message = f"The artifact {name} was left out: its files cannot be copied ({reason})."
                self._warn_once(f"artifact {name}", message)
                return
        try:
            details = as_mapping(metadata, "metadata")
        except ArcadiaError as error:
            details = {}
            self._warn_once(f"metadata {name}", f"The metadata of the artifact {name} was left out. {error}")
        self._append(artifacts.to_event(name, kind, copied, wanted, details, self._step))
        self._check(time.time())

    def use_artifact(self, reference: str) -> UsedArtifact:
        """Return the version that a reference names, and log that this run uses it: model, model:best or model:v3.

        Without a project, as in Maze/model, it is one of the run's project. This needs the server.
        """
        reference = str(reference)
        url, token = self._server()
        from arcadia._sync.client import Client

        project = None if "/" in reference else artifacts.project_of(self._directory.of_writer(self.writer))
        version = Client(url, token).artifact(reference, project=project)
        self._append({"kind": "artifact_use", "version_id": version.data["id"], "digest": version.digest})
        return UsedArtifact(version)

    def should_stop(self) -> bool:
        """Return True if someone has clicked Stop or Pause on the run's page. It is fast enough for every step."""
        now = time.time()
        if now >= self._check_at:
            self._check(now)
        return self._desired != "run"

    def finish(
        self,
        outcome: Outcome | None = None,
        message: str | None = None,
        *,
        traceback: str | None = None,
        seconds: float = 60.0,
    ) -> None:
        """End the run, and wait until its events are uploaded, at most this many seconds.

        The wait is short if the server cannot be reached. The uploader then continues after the script has ended.
        The outcome is by default `finished`, or `stopped` or `paused` after a click on the run's page.
        """
        if outcome is not None and outcome not in OUTCOMES:
            raise ArcadiaError(f"A run does not end as {quoted(outcome)}. Use finished, failed, stopped or paused.")
        if not isinstance(seconds, int | float):
            raise ArcadiaError(f"seconds is a number, not {quoted(seconds)}.")
        end = {"kind": "end", "outcome": outcome or self._requested_outcome()}
        texts = {"message": to_text(message), "traceback": (to_text(traceback) or "")[-MAX_TRACEBACK:]}
        with self._journal.lock:
            # Forked and spawned processes cannot end the run of their parent.
            if self._ended or not self._is_owner:
                return
            self._journal.append(end | {name: text for name, text in texts.items() if text})
            self._ended = True
        self._release()
        if self._uploader is not None:
            self._uploader.finish(seconds)

    def fail(self, error: BaseException | str, *, seconds: float = 60.0) -> None:
        """End the run with an exception, or with a sentence. An interrupted script counts as stopped."""
        if not isinstance(error, BaseException):
            self.finish("failed", str(error), seconds=seconds)
        elif isinstance(error, KeyboardInterrupt):
            self.finish("stopped", "The script was interrupted (Ctrl-C).", seconds=seconds)
        elif isinstance(error, SystemExit) and error.code in (None, 0):
            self.finish(seconds=seconds)
        else:
            message = f"{type(error).__name__}: {error}"[:MAX_MESSAGE]
            self.finish("failed", message, traceback="".join(traceback.format_exception(error)), seconds=seconds)

    def discard(self) -> None:
        """Delete everything that this process has logged, for example because the run's id is taken."""
        self._ended = True
        self._release()
        self._directory.remove_writer(self.writer)

    def __enter__(self) -> ReportedRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish() if error is None else self.fail(error)

    def __repr__(self) -> str:
        return f"<ReportedRun {self.id} in {self.directory}>"

    def __reduce__(self) -> Any:
        """Pickle the run for a process that is spawned. It logs to the same journal, and cannot end the run."""
        arguments = (self._directory.path, self.writer, dict(self.config), self._step, self._journal.is_disabled)
        return attach, arguments

    def _server(self) -> tuple[str, str | None]:
        """Return the URL and the token of the run's server. Raise ArcadiaError if the run is not online."""
        page = self.url  # waits until the server has created the run's project
        if self._uploader is not None:
            return self._uploader.url, self._uploader.token
        if page:
            return str(self._directory.read_status()["url"]), None
        raise ArcadiaError(
            "use_artifact needs a server, but this run is not online. Use arcadia.init() without mode='offline', or "
            "download the artifact before, with `arcadia artifacts download`, and read its files from there."
        )

    @property
    def _is_owner(self) -> bool:
        return self._owner == os.getpid()

    def _append(self, event: dict[str, Any]) -> None:
        if self._ended:
            raise ArcadiaError("This run has ended. Call arcadia.init(id=run.id) to continue it.")
        self._journal.append(event)

    def _log_config(self, values: dict[str, Any]) -> None:
        self._append({"kind": "config", "values": typed(values)})

    def _log_others(self, step: int, now: float, values: Mapping[str, Any]) -> None:
        """Log media and nested values. Leave out other values with a warning, because logging never stops a script."""
        numbers: dict[str, Any] = {}
        for name, value in flatten(values):
            media = value if isinstance(value, list | tuple) and value else [value]
            if all(isinstance(each, Media) for each in media):
                for each in media:
                    self._log_media(step, name, each)
            else:
                numbers[name] = value
        rejected: list[tuple[str, Any]] = []
        if line := self._encoder.encode(step, now, numbers, rejected):
            self._journal.append_line(line)
        for name, value in rejected:
            self._warn_once(
                f"value {name}",
                f"{name} was left out: a {type(value).__name__} is not a number. Log numbers, arcadia.Image, "
                "arcadia.Video, arcadia.Histogram or arcadia.Table.",
            )

    def _log_media(self, step: int, name: str, media: Media) -> None:
        event: dict[str, Any] = {"kind": "media", "step": step, "name": name, "media": media.kind}
        if self._journal.is_disabled:
            return
        if (content := media.content()) is not None:
            digest = hashlib.sha256(content).hexdigest()
            try:
                # The file must exist before the event that names it.
                if not (file := self._directory.files / digest).exists():
                    replace_file(file, content)
            except OSError as error:
                self._warn_once("files", f"{name} was left out: its file cannot be written ({error.strerror}).")
                return
            event["sha256"] = digest
        else:
            event["data"] = media.data()
        if media.caption:
            event["caption"] = str(media.caption)
        self._journal.append(event)

    def _to_step(self, given: Any) -> int:
        if (step := to_step(given)) is not None:
            return step
        message = (
            f"{quoted(given)} cannot be a step, which is a whole number below 2^63. The next step is used instead."
        )
        self._warn_once("step", message)
        return self._step + 1

    def _to_level(self, given: Any, default: Level) -> Level:
        if level := to_level(given):
            return level
        message = f"The level {quoted(given)} does not exist, so {default} is used. Use info, warning or error."
        self._warn_once("level", message)
        return default

    def _warn_once(self, topic: str, message: str) -> None:
        if topic not in self._warned and len(self._warned) < 1_000:
            self._warned.add(topic)
            self._journal.append({"kind": "log", "level": "warning", "message": message})
            print(f"arcadia: {message}", file=sys.stderr, flush=True)

    def _check(self, now: float) -> None:
        """Restart the uploader if it was killed, and read the state that the server requests."""
        self._check_at = now + CHECK_SECONDS
        if self._uploader is not None:
            if self._is_owner and not self._ended:
                self._uploader.keep_running()
            self._desired = self._uploader.read_desired()

    def _requested_outcome(self) -> Outcome:
        desired = self._desired if self._uploader is None else self._uploader.read_desired()
        outcomes: dict[str, Outcome] = {"stop": "stopped", "pause": "paused"}
        return outcomes.get(desired, "finished")

    def _release(self) -> None:
        forget(self)
        self._journal.close()
        if self._lock is not None:
            self._lock.release()


def attach(path: Path, writer: str, config: Mapping[str, Any], step: int, disabled: bool) -> ReportedRun:
    """Return a run that appends to the journal of the process that started this one."""
    run = ReportedRun(JournalDirectory(path), writer, config, step=step, disabled=disabled)
    run._owner = -1
    return run
