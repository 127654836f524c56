"""Storage of a script's events, each exactly once.

Values that cannot be stored are left out, so that nothing blocks a journal.
"""

import math
import time as clock
from collections.abc import Sequence
from typing import Any, cast

from pydantic import ValidationError
from sqlalchemy.orm import Session

from arcadia_backend.alerts.service import MAX_SCRIPT_ALERTS, NewAlert, count_script_alerts, raise_alert
from arcadia_backend.config import Settings
from arcadia_backend.database.tables import Attempt, LogLine, Run
from arcadia_backend.errors import FieldError, Invalid, field_errors
from arcadia_backend.events import digest_of, take_unstored, to_datetime
from arcadia_backend.logs import note, note_conflicts
from arcadia_backend.metrics import service as metrics
from arcadia_backend.metrics.service import MAX_SERIES, add_series, find_series, remaining_series
from arcadia_backend.provenance import store_provenance
from arcadia_backend.reported import contents, service
from arcadia_backend.reported import events as ev
from arcadia_backend.reported.contents import PointBuffer, store_media
from arcadia_backend.reported.events import Omissions, change_tags, merge_config, quote
from arcadia_backend.reported.schemas import LoggedEvents
from arcadia_backend.reported.service import describe, find_writer
from arcadia_backend.runs.states import announce_run
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.values import LARGEST, LARGEST_SMALL, LONGEST_MESSAGE, storable

_NOTICES = {"metrics": "run.metrics", "log": "run.log", "alert": "run.log", "media": "run.files", "artifact": "run.log"}
MAX_CALENDAR_SECONDS = 253_402_300_800


def ingest(session: Session, settings: Settings, run_id: int, batch: LoggedEvents) -> tuple[Run, Attempt]:
    """Store the events of a writer that are not stored yet. Return its run and its attempt."""
    events = cast("list[Any]", batch.events)
    _refuse_malformed(events)
    digests = [(event["seq"], digest_of(event)) for event in events]
    run, attempt = find_writer(session, run_id, batch.writer, lock=True)
    unstored = take_unstored(session, attempt, digests)
    # A repeated report of a killed script must not let its run continue.
    if (unstored.indexes or batch.killed_at is None) and service.hear(settings, run, attempt):
        note(session, run, "Its script was heard again.")
        announce_run(session, run.id, "run.changed", "run.log")
    if unstored.conflicts:
        note_conflicts(session, run, attempt, unstored.conflicts)
    if unstored.indexes:
        _Batch(session, run, attempt).store([events[index] for index in unstored.indexes])
    if batch.killed_at is not None:
        service.end_killed(session, run, attempt, batch.killed_at)
    return run, attempt


def _refuse_malformed(events: Sequence[Any]) -> None:
    """Raise Invalid if a client does not follow the protocol."""
    for index, event in enumerate(events):
        if type(event) is not dict:
            raise Invalid(FieldError(field=f"events.{index}", message="an event is an object"))
        if type(seq := event.get("seq")) is not int or not 0 < seq <= LARGEST_SMALL:
            raise Invalid(FieldError(field=f"events.{index}.seq", message="number the events of a writer from 1"))
        kind = event.get("kind")
        if kind != "metrics" and (type(kind) is not str or kind not in ev.MODELS):
            known = ", ".join(("metrics", *ev.MODELS))
            raise Invalid(FieldError(field=f"events.{index}.kind", message=f"no kind {quote(kind)}; use {known}"))


class _Batch:
    """New events of one writer in one transaction."""

    def __init__(self, session: Session, run: Run, attempt: Attempt) -> None:
        self._session, self._run, self._attempt = session, run, attempt
        # A secondary writer logs to the attempt of the others. A new one would look like a restart on the time axis.
        self._number = run.attempt if attempt.joins else attempt.attempt
        self._omissions = Omissions(session, attempt)
        self._points = PointBuffer(_frames_per_step(run), self._omissions)
        # An imported point without a time was not measured now. Equal times show that the run has no known duration.
        self._default_time = run.created_at.timestamp() if run.origin == "imported" else None

    def store(self, events: Sequence[dict[str, Any]]) -> None:
        """Store all events in order."""
        for event in events:
            if event["kind"] == "metrics":
                self._buffer_points(event)
            else:
                self._store_other(event)
        self._store_points()
        notices = {_NOTICES[event["kind"]] for event in events if event["kind"] in _NOTICES}
        announce_run(self._session, self._run.id, "run.changed", *sorted(notices))

    def _buffer_points(self, event: dict[str, Any]) -> None:
        step, values = event.get("step"), event.get("values")
        if type(step) is float and step.is_integer():
            step = int(step)
        if type(step) is not int or not -LARGEST <= step <= LARGEST or type(values) is not dict:
            rule = f"a step is a whole number up to {LARGEST:,}."
            self._omissions.add("metrics", f"Left out metrics at step {quote(step)}: {rule}")
            return
        self._points.add(step, _time_of(event, self._default_time), values)

    def _store_points(self) -> None:
        points = self._points.take()
        if not points:
            return
        session, run, attempt = self._session, self._run, self._number
        names = list(points)[:MAX_SERIES]
        known = find_series(session, run.id, names)
        new = [name for name in names if name not in known]
        room = remaining_series(session, run.id) if new else 0
        if len(new) > room or len(names) < len(points):
            self._omissions.add("metrics of a run", f"Left out metrics beyond {MAX_SERIES:,}, which a run may have.")
        known |= add_series(session, run.id, new[:room])
        buffer = self._points
        metrics.advance_clock(session, run.id, attempt, buffer.first_time, buffer.last_time)
        metrics.append(session, run, attempt, known, {name: points[name] for name in known})
        if buffer.last_step > run.step:
            run.step, run.frames = buffer.last_step, min(LARGEST, buffer.last_step * buffer.frames_per_step)

    def _store_other(self, event: dict[str, Any]) -> None:
        kind = event["kind"]
        try:
            logged = ev.MODELS[kind].model_validate({**event, "time": _time_of(event)})
        except ValidationError as error:
            wrong = field_errors(error.errors(include_url=False))[0]
            reason = f"{wrong.field}: {wrong.message}"
            self._omissions.add(f"event {kind}", f"Left out an event of the kind {kind}: {reason}.")
            return
        if isinstance(logged, contents.ArtifactEvent):
            contents.store_event(self._session, self._run, logged, self._omissions)
        else:
            self._apply(logged)

    def _apply(self, event: Any) -> None:
        run = self._run
        match event:
            case ev.LoggedLine():
                self._log(event.time, event.level, event.message)
            case ev.LoggedAlert():
                self._alert(event)
            case ev.LoggedConfig() | ev.LoggedDescription():
                self._describe(event)
            case ev.LoggedTags():
                change_tags(run, event.add, event.remove, self._omissions)
            case ev.LoggedNotes():
                run.notes = event.text[: ev.MAX_NOTES]
            case ev.LoggedProgress():
                run.total_steps = event.total_steps
            case ev.LoggedProvenance():
                store_provenance(self._session, self._attempt, event.provenance)
                self._advance_clock(event.time)
            case ev.LoggedMedia():
                store_media(self._session, self._attempt, event, self._omissions)
            case ev.LoggedEnd():
                self._advance_clock(event.time)
                service.end(self._session, run, self._attempt, event)

    def _advance_clock(self, time: float) -> None:
        """Count the time from the start of a script to its end, also if it logs only one point."""
        if self._run.origin == "reported":
            metrics.advance_clock(self._session, self._run.id, self._number, time, time)

    def _describe(self, event: ev.LoggedConfig | ev.LoggedDescription) -> None:
        """Change the configuration or the description. Both may name the environment, which decides the frames."""
        if isinstance(event, ev.LoggedConfig):
            merge_config(self._run, event.values, self._omissions)
        else:
            describe(self._session, self._run, event)
        self._points.frames_per_step = _frames_per_step(self._run)

    def _alert(self, event: ev.LoggedAlert) -> None:
        """Store an alert as a line of the log, and raise it."""
        title, text = event.title.strip(), event.text.strip()
        self._log(event.time, event.level, ": ".join(part for part in (title, text) if part)[:LONGEST_MESSAGE])
        if self._run.origin == "imported":
            return
        if count_script_alerts(self._session, self._run) >= MAX_SCRIPT_ALERTS:
            self._omissions.add("alerts", f"Raised no alerts beyond {MAX_SCRIPT_ALERTS} of this run.")
            return
        new = NewAlert("script", title or self._run.name, text, level=event.level, run_id=self._run.id)
        raise_alert(self._session, new)

    def _log(self, time: float, level: Any, message: str) -> None:
        line = LogLine(run_id=self._run.id, attempt=self._number, time=to_datetime(time), level=level)
        line.message = str(storable(message))
        self._session.add(line)


def _time_of(event: dict[str, Any], default: float | None = None) -> float:
    """Return the time of an event. Without one within the calendar, return the default or the current time."""
    time = event.get("time")
    if type(time) in (int, float) and math.isfinite(time) and 0 <= time < MAX_CALENDAR_SECONDS:  # type: ignore[arg-type, operator]
        return float(time)  # type: ignore[arg-type]
    return clock.time() if default is None else default


def _frames_per_step(run: Run) -> int:
    environment = ENVIRONMENTS.get(run.env)
    return environment.frames_per_step if environment else 1
