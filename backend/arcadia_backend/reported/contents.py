"""Points, media and artifacts in a batch of events."""

import base64
import math
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.artifacts import service
from arcadia_backend.artifacts.schemas import DEFAULT_KIND, NewVersion
from arcadia_backend.database import tables
from arcadia_backend.database.tables import Artifact, ArtifactVersion, Run
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.events import to_datetime
from arcadia_backend.files.routes import MEDIA_TYPES
from arcadia_backend.logs import note
from arcadia_backend.metrics.points import POINT, Array
from arcadia_backend.metrics.service import sort_by_step
from arcadia_backend.reported.events import (
    MAX_CAPTION,
    MAX_NAME,
    LoggedArtifact,
    LoggedMedia,
    Omissions,
    UsedArtifact,
    quote,
    to_storable,
)
from arcadia_backend.reported.schemas import MediaItem, MediaPage, MediaSeries
from arcadia_workers.contract.values import LARGEST

SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

SYSTEM_METRICS = "system/"

Row = tuple[int, int, float, float]


class PointBuffer:
    """Points that are not stored yet."""

    def __init__(self, frames_per_step: int, omissions: Omissions) -> None:
        self.frames_per_step, self._omissions = frames_per_step, omissions
        self._rows: dict[str, list[Row]] = {}
        # The name to store for each name that a script uses, or None if it cannot be stored.
        self._names: dict[str, str | None] = {}
        self.first_time, self.last_time, self.last_step = math.inf, -math.inf, -LARGEST

    def add(self, step: int, time: float, values: dict[str, Any]) -> None:
        """Add the values of one event. Leave out those that cannot be stored."""
        frames = max(-LARGEST, min(LARGEST, step * self.frames_per_step))
        self.first_time = min(self.first_time, time)
        # A separate process measures the system, even while the script hangs. That is no progress.
        if not all(name.startswith(SYSTEM_METRICS) for name in values):
            self.last_time = max(self.last_time, time)
        self.last_step = max(self.last_step, step)
        rows = self._rows
        for given, value in values.items():
            number = value if type(value) is float else self._to_number(given, value)
            if number is None:
                continue
            if given in rows:
                rows[given].append((step, frames, time, number))
            elif (name := self._stored_name(given)) is not None:
                rows.setdefault(name, []).append((step, frames, time, number))

    def take(self) -> dict[str, Array]:
        """Return the points by metric, ordered by step, and forget them."""
        arrays = {name: np.array(rows, POINT) for name, rows in self._rows.items()}
        self._rows = {}
        return {name: sort_by_step(points) for name, points in arrays.items()}

    def _to_number(self, name: str, value: object) -> float | None:
        if isinstance(value, int):
            try:
                return float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        if isinstance(value, str) and value in SPECIAL:
            return SPECIAL[value]
        self._omissions.add("metric value", f"Left out {quote(value)} of the metric {quote(name)}: it is not a number.")
        return None

    def _stored_name(self, given: str) -> str | None:
        if given not in self._names:
            name = given.strip()
            self._names[given] = name if 0 < len(name) <= MAX_NAME and name.isprintable() else None
            if self._names[given] is None:
                reason = f"use 1 to {MAX_NAME} printable characters."
                self._omissions.add("metric name", f"Left out the metric {quote(given)}: {reason}")
        return self._names[given]


MAX_ITEMS, MAX_NAMES = 10_000, 200
MAX_BINS, MAX_COLUMNS, MAX_CELLS, MAX_CELL = 512, 50, 10_000, 1_000
NUMBERS = (int, float)
# Images that may be logged as videos.
MOVING_PICTURES = ("image/gif", "image/webp")


class _UnfitMediaError(ValueError):
    """The data of a media event do not fit its kind."""


def store_media(
    session: Session, attempt: tables.Attempt, event: LoggedMedia, omissions: Omissions
) -> tables.Media | None:
    """Store an item. Leave it out if its data do not fit its kind, or the run has too many."""
    try:
        _refuse_too_many(session, attempt.run_id, event.name)
        file = _find_file(session, attempt, event) if event.media in ("image", "video") else None
        data = _DATA[event.media](event.data or {}) if event.media in _DATA else None
    except _UnfitMediaError as unfit:
        omissions.add(f"media {event.media}", f"Left out the {event.media} {quote(event.name)}: {unfit}")
        return None
    item = tables.Media(
        run_id=attempt.run_id,
        attempt=attempt.attempt,
        name=event.name,
        kind=event.media,
        step=event.step,
        time=to_datetime(event.time),
        file_id=file.id if file else None,
        data=data,
        caption=event.caption[:MAX_CAPTION] if event.caption else None,
    )
    session.add(item)
    return item


def _refuse_too_many(session: Session, run_id: int, name: str) -> None:
    if not name.isprintable():
        raise _UnfitMediaError("use printable characters in its name.")
    of_run = tables.Media.run_id == run_id
    if (session.scalar(select(func.count()).select_from(tables.Media).where(of_run)) or 0) >= MAX_ITEMS:
        raise _UnfitMediaError(f"a run may have {MAX_ITEMS:,} media.")
    if session.scalar(select(tables.Media.id).where(of_run, tables.Media.name == name).limit(1)) is None:
        names = session.scalar(select(func.count(tables.Media.name.distinct())).where(of_run)) or 0
        if names >= MAX_NAMES:
            raise _UnfitMediaError(f"a run may have {MAX_NAMES} names of media.")


def _find_file(session: Session, attempt: tables.Attempt, event: LoggedMedia) -> tables.File:
    """Return the uploaded file of an image or a video."""
    file = find_media_file(session, attempt.run_id, attempt.attempt, event.sha256) if event.sha256 else None
    if file is None:
        raise _UnfitMediaError("its file was not uploaded before.")
    media_type = media_type_of(file)
    if not media_type.startswith(f"{event.media}/") and not (event.media == "video" and media_type in MOVING_PICTURES):
        raise _UnfitMediaError(f"its file is of the type {media_type}.")
    return file


def find_media_file(session: Session, run_id: int, attempt: int, sha256: str) -> tables.File | None:
    """Return the media file that a writer uploaded, or None."""
    file = tables.File
    of_writer = (file.run_id == run_id, file.attempt == attempt, file.job_id.is_(None))
    return session.scalar(select(file).where(*of_writer, file.kind == "media", file.sha256 == sha256))


def media_type_of(file: tables.File) -> str:
    """Return the media type of a media file."""
    return MEDIA_TYPES[PurePosixPath(file.path).suffix]


def _histogram(data: dict[str, Any]) -> dict[str, Any]:
    edges, counts = data.get("edges"), data.get("counts")
    if not isinstance(edges, list) or not isinstance(counts, list) or not 1 <= len(counts) <= MAX_BINS:
        raise _UnfitMediaError(f"send edges, and counts of 1 to {MAX_BINS} bins.")
    if len(edges) != len(counts) + 1:
        raise _UnfitMediaError("there must be one more edge than counts.")
    if not all(_is_finite(number) for number in (*edges, *counts)):
        raise _UnfitMediaError("edges and counts must be finite numbers.")
    if any(low > high for low, high in pairwise(edges)) or min(counts) < 0:
        raise _UnfitMediaError("edges must rise, and counts must not be negative.")
    return {"edges": edges, "counts": counts}


def _is_finite(number: object) -> bool:
    return type(number) in NUMBERS and math.isfinite(float(number)) and abs(float(number)) < 1e300  # type: ignore[arg-type]


def _table(data: dict[str, Any]) -> dict[str, Any]:
    columns, rows = data.get("columns"), data.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, list) or not 1 <= len(columns) <= MAX_COLUMNS:
        raise _UnfitMediaError(f"send rows, and 1 to {MAX_COLUMNS} columns.")
    if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
        raise _UnfitMediaError("each row must have one cell for each column.")
    if len(rows) * len(columns) > MAX_CELLS:
        raise _UnfitMediaError(f"a table may have {MAX_CELLS:,} cells.")
    return {"columns": [_cell(str(name)) for name in columns], "rows": [[_cell(cell) for cell in row] for row in rows]}


def _cell(cell: object) -> object:
    if cell is None or isinstance(cell, bool | float):
        return to_storable(cell)
    if isinstance(cell, int):
        return cell if abs(cell) < 2**53 else str(cell)[:MAX_CELL]
    return to_storable(str(cell)[:MAX_CELL])


_DATA = {"histogram": _histogram, "table": _table}


def list_media(
    session: Session, run_id: int, name: str | None, kind: str | None, cursor: str | None, limit: int
) -> MediaPage:
    """Return one page of a run's media, ordered by step."""
    media = tables.Media
    query = select(media, tables.File).outerjoin(tables.File, tables.File.id == media.file_id)
    query = query.where(media.run_id == run_id)
    if name is not None:
        query = query.where(media.name == name)
    if kind is not None:
        query = query.where(media.kind == kind)
    if cursor is not None:
        step, after = _read_cursor(cursor)
        query = query.where((media.step > step) | ((media.step == step) & (media.id > after)))
    rows = session.execute(query.order_by(media.step, media.id).limit(limit + 1)).all()
    items = [_to_schema(item, file) for item, file in rows[:limit]]
    last = items[-1] if len(rows) > limit else None
    return MediaPage(items=items, next_cursor=_write_cursor(last.step, last.id) if last else None)


def list_media_series(session: Session, run_id: int) -> list[MediaSeries]:
    """Return the names of a run's media, with their numbers and steps."""
    media = tables.Media
    query = select(media.name, media.kind, func.count(), func.min(media.step), func.max(media.step))
    rows = session.execute(query.where(media.run_id == run_id).group_by(media.name, media.kind))
    # Sort here, because databases sort letters differently.
    series = sorted(map(tuple, rows))
    return [
        MediaSeries(name=name, kind=kind, count=count, first_step=first, last_step=last)
        for name, kind, count, first, last in series
    ]


def _to_schema(item: tables.Media, file: tables.File | None) -> MediaItem:
    return MediaItem(
        id=item.id,
        name=item.name,
        kind=item.kind,
        step=item.step,
        time=item.time,
        attempt=item.attempt,
        file_id=item.file_id,
        media_type=media_type_of(file) if file else None,
        data=item.data,
        caption=item.caption,
    )


def _write_cursor(step: int, item_id: int) -> str:
    return base64.urlsafe_b64encode(f"{step} {item_id}".encode()).decode()


def _read_cursor(cursor: str) -> tuple[int, int]:
    try:
        step, item_id = map(int, base64.urlsafe_b64decode(cursor.encode()).decode("ascii").split())
    except ValueError:
        step, item_id = 0, -1
    if item_id < 0 or max(abs(step), item_id) >= 2**63:
        raise Invalid(FieldError(field="cursor", message="not a cursor: send the one from the last response"))
    return step, item_id


ArtifactEvent = LoggedArtifact | UsedArtifact


def store_event(session: Session, run: Run, event: ArtifactEvent, omissions: Omissions) -> None:
    """Store that a run logged or used a version."""
    if isinstance(event, LoggedArtifact):
        _store_logged(session, run, event.artifact, omissions)
    else:
        _store_used(session, run, event, omissions)


def _store_logged(session: Session, run: Run, new: NewVersion, omissions: Omissions) -> None:
    """Store a version that a run logged. Leave it out with a warning if a file of it is missing."""
    new.metadata = to_storable(new.metadata)
    try:
        stored = service.store_version(session, run, new)
    except service.NotUploadedError as error:
        omissions.add(f"artifact {new.name[:50]}", f"Left out the artifact {quote(new.name)}: {error}.")
        return
    for alias in stored.refused:
        omissions.add("alias", f"Left out the alias {quote(alias)} of {new.name}. Use letters, digits, dots, - and _.")
    kind = session.get_one(Artifact, stored.version.artifact_id).kind
    if new.kind not in (kind, DEFAULT_KIND):
        hint = "All versions of an artifact have one kind. Use another name for another kind."
        omissions.add(f"kind {new.name[:50]}", f"{new.name} stays of the kind {kind}, not {quote(new.kind)}. {hint}")
    title = f"{new.name}:v{stored.version.version}"
    same = "" if stored.is_new else ", which has the same contents"
    note(session, run, f"Logged the artifact {title}{same}.")


def _store_used(session: Session, run: Run, event: UsedArtifact, omissions: Omissions) -> None:
    """Store that a run used a version. Leave it out if it was deleted, or belongs to another server."""
    version = session.get(ArtifactVersion, event.version_id)
    if version is None or version.digest != event.digest:
        omissions.add("artifact_use", "Left out the use of an artifact that this server does not have.")
        return
    service.link(session, run.id, version.id, "used")
    artifact = session.get_one(Artifact, version.artifact_id)
    note(session, run, f"Used the artifact {artifact.name}:v{version.version}.")
