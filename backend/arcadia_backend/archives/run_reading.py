"""Import of one run of an archive, in the caller's transaction."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.aliases import is_name
from arcadia_backend.archives import format as tables_of
from arcadia_backend.archives.format import (
    ARCHIVED_JOBS,
    GUARDS,
    Archive,
    ArchivedRun,
    BadArchive,
    RowTable,
    file_of,
    points_of,
    read_lines,
    read_row,
    read_rows,
    rows_of,
)
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import StartSet
from arcadia_backend.files.routes import MEDIA_TYPES
from arcadia_backend.files.service import new_stored_path
from arcadia_backend.job_kinds.start_sets import build_start_set
from arcadia_backend.jobs import to_stored
from arcadia_backend.logs import note
from arcadia_backend.metrics.export import SeriesRestorer
from arcadia_backend.metrics.points import POINT
from arcadia_backend.metrics.reading import NAME_PATTERN
from arcadia_backend.metrics.service import MAX_SERIES
from arcadia_backend.projects.service import resolve_or_create
from arcadia_backend.provenance import store_document
from arcadia_backend.runs.states import announce_run
from arcadia_workers.contract.archives import ArchiveError, read_header
from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.practice import (
    AgentMeasurement,
    PracticeDocument,
    PracticeOptions,
    PracticePlan,
    TrainedArm,
)
from arcadia_workers.contract.protocols.starts import StartSetFile
from arcadia_workers.contract.values import LARGEST_SMALL
from arcadia_workers.contract.worker_api import RunPath

MAX_NAME = 100


def restore_start_set(session: Session, values: Mapping[str, Any], project_id: int) -> int:
    """Return the id of a project's start set with this content. Store it under a free name if there is none."""
    try:
        points = StartSetFile.model_validate_json(values["content"])
    except ValidationError as error:
        raise GUARDS.invalid(f"The start set {values['name'][:100]!r}", error) from None
    if points.sha256 != values["sha256"]:
        raise BadArchive(f"The start set {values['name'][:100]!r} does not have its hash.")
    of_project = StartSet.project_id == project_id
    start_set_id = session.scalar(select(StartSet.id).where(of_project, StartSet.sha256 == points.sha256))
    if start_set_id is not None:
        return start_set_id
    names = set(session.scalars(select(StartSet.name).where(of_project, StartSet.env == points.env)))
    stored = build_start_set(next(name for name in _names(values["name"]) if name not in names), points, project_id)
    stored.created_at = values["created_at"]
    session.add(stored)
    session.flush()
    return stored.id


def _names(name: str) -> Iterator[str]:
    """Yield the name, then the same with a number."""
    yield name
    number = 2
    while True:
        yield f"{name[: MAX_NAME - 12]} ({number})"
        number += 1


BATCH = 500
_NOT_ENDED = "It had not ended when its run was exported."
UNENDED = ("queued", "starting", "running")
_PATH: TypeAdapter[str] = TypeAdapter(RunPath)


class _Series(BaseModel):
    """A metric of the run, and the attempts of its points."""

    archive_number: int = Field(ge=1, le=LARGEST_SMALL)
    name: str = Field(pattern=NAME_PATTERN)
    segments: list[tuple[int, int]] = Field(max_length=1_000_000)


@dataclass
class RestoredRun:
    """An imported run, with the ids of its rows by number, and the files to put in their places."""

    run: tables.Run
    ids: dict[str, dict[int, int]] = field(default_factory=dict)
    # Stored paths, each with the member that has its content.
    files: list[tuple[str, str]] = field(default_factory=list)


class RunReader:
    """Reads one run of an archive."""

    def __init__(self, session: Session, archive: Archive, entry: ArchivedRun) -> None:
        self._session, self._archive, self._entry = session, archive, entry
        self._checkpoints_of_jobs: dict[int, int] = {}
        self._known_documents: set[str] = set()
        self._restored: RestoredRun

    def restore(self, tags: Sequence[str], project: str | None) -> RestoredRun:
        """Store the run with all its rows, in the given project or its own. Raise BadArchive if any is not valid."""
        run, poster = self._run(project)
        self._restored = RestoredRun(run)
        self._documents()
        for table in (tables_of.TAGS, tables_of.ATTEMPTS, tables_of.CHANGES, tables_of.CLOCKS):
            self._store(table)
        self._start_sets()
        of_jobs = (tables_of.REPLAYS, tables_of.FUTURES, tables_of.REVIEWS, tables_of.PRACTICES)
        for table in (tables_of.JOBS, tables_of.FILES, tables_of.CHECKPOINTS, *of_jobs):
            self._store(table)
        self._aliases()
        ids = self._restored.ids
        for number, checkpoint in self._checkpoints_of_jobs.items():
            job = self._session.get_one(tables.Job, ids["jobs"][number])
            job.checkpoint_id = self._find(tables_of.JOBS, "checkpoint_id", "checkpoints", checkpoint)
        self._session.flush()
        of_checkpoints = (tables_of.EVALUATIONS, tables_of.EPISODES, tables_of.CALIBRATIONS)
        for table in (*of_checkpoints, tables_of.MEDIA, tables_of.LOG_LINES):
            self._store(table)
        self._series()
        run.poster_file_id = self._restored.ids["files"].get(poster) if poster else None
        self._finish(run, tags)
        return self._restored

    def _run(self, project: str | None) -> tuple[tables.Run, int | None]:
        """Store the row of the run. Return it with the number of its thumbnail."""
        values = read_row(self._archive, tables_of.RUN, rows_of("runs", self._entry.number, "run"))
        poster = values.pop("poster_file_id")
        del values["project"]
        if values["origin"] == "trained":
            _refuse_unknown(values)
        if values["state"] in UNENDED:
            values |= {"state": "stopped", "finished_at": values["finished_at"] or utc_now()}
            values["state_reason"] = "It had not ended when it was exported from another installation."
        run = tables.Run(**values, project_id=resolve_or_create(self._session, project or self._entry.project))
        self._session.add(run)
        self._session.flush()
        return run, poster

    def _finish(self, run: tables.Run, tags: Sequence[str]) -> None:
        had = {each["tag"] for each in self._rows(tables_of.TAGS)}
        self._session.add_all(tables.RunTag(run_id=run.id, tag=tag) for tag in dict.fromkeys(tags) if tag not in had)
        manifest = self._archive.manifest
        note(
            self._session,
            run,
            f"Imported from an archive that Arcadia {manifest.arcadia_version} made on "
            f"{manifest.created_at:%Y-%m-%d}. There it was run {self._entry.id}.",
        )
        self._session.flush()
        announce_run(self._session, run.id, "run.changed")

    def _rows(self, table: RowTable) -> Iterator[dict[str, Any]]:
        return read_rows(self._archive, table, rows_of("runs", self._entry.number, table.name))

    def _store(self, table: RowTable) -> None:
        """Store the rows of a table in batches, so that memory stays bounded."""
        ids = self._restored.ids.setdefault(table.name, {})
        batch: list[tuple[int, tables.Base]] = []
        for values in self._rows(table):
            number = values.pop("archive_number", 0)
            if number in ids or any(number == other for other, _row in batch if number):
                raise BadArchive(f"Two rows of {table.name} have the number {number}.")
            if (row := self._to_row(table, number, values)) is not None:
                batch.append((number, row))
            if len(batch) == BATCH:
                self._flush(table, batch, ids)
        self._flush(table, batch, ids)

    def _flush(self, table: RowTable, batch: list[tuple[int, tables.Base]], ids: dict[int, int]) -> None:
        self._session.add_all(row for _number, row in batch)
        self._session.flush()
        if table.numbered:
            ids.update((number, row.id) for number, row in batch)  # type: ignore[attr-defined]
        for _number, row in batch:
            self._session.expunge(row)
        batch.clear()

    def _to_row(self, table: RowTable, number: int, values: dict[str, Any]) -> tables.Base | None:
        """Return the row with ids of this database, or None if it is a file that the archive does not include."""
        if table is tables_of.JOBS:
            self._prepare_job(number, values)
        for column, target in table.references.items():
            if (reference := values[column]) is not None and not (
                table is tables_of.JOBS and column == "checkpoint_id"
            ):
                values[column] = self._find(table, column, target, reference)
        if table is tables_of.ATTEMPTS:
            self._check_documents(values)
        if table is tables_of.FILES and not self._place_file(values):
            return None
        if table is tables_of.PRACTICES:
            self._end_practice(values)
        if table is tables_of.ALIASES:
            values["run_name"] = self._restored.run.name
        if "run_id" in table.model.__table__.columns:
            values["run_id"] = self._restored.run.id
        return table.model(**values)

    def _check_documents(self, values: Mapping[str, Any]) -> None:
        """Raise BadArchive if an attempt refers to a provenance document that the archive does not have."""
        for column in ("packages_sha256", "diff_sha256"):
            if values[column] is not None and values[column] not in self._known_documents:
                raise BadArchive(
                    f"Attempt {values['attempt']} refers to the provenance document {values[column]} ({column}), which "
                    "is missing."
                )

    def _find(self, table: RowTable, column: str, target: str, number: int) -> int | None:
        """Return the id of a row by its number. Files may be left out of an archive."""
        new_id = self._restored.ids.get(target, {}).get(number)
        if new_id is None and target != "files":
            raise BadArchive(f"A row of {table.name} refers to row {number} of {target} ({column}), which is missing.")
        return new_id

    def _prepare_job(self, number: int, values: dict[str, Any]) -> None:
        """Remember the job's checkpoint, which is stored later. Cancel a job that had not ended."""
        if values["checkpoint_id"] is not None:
            self._checkpoints_of_jobs[number] = values["checkpoint_id"]
            values["checkpoint_id"] = None
        if values["kind"] not in ARCHIVED_JOBS:
            raise BadArchive(f"Job {number} is of the kind {values['kind']}, which belongs to no run.")
        if values["state"] in ("queued", "running"):
            values |= {"state": "cancelled", "finished_at": utc_now()}
            values["message"] = _NOT_ENDED

    def _end_practice(self, values: dict[str, Any]) -> None:
        """Forget the runs of a practice, which are of another installation. Cancel one that had not ended."""
        try:
            PracticeOptions.model_validate(values["options"])
            if values["plan"]:
                PracticePlan.model_validate(values["plan"].get("plan"))
                AgentMeasurement.model_validate(values["plan"].get("before"))
            arms = [TrainedArm.model_validate(arm) for arm in values["arms"]]
            document = PracticeDocument.model_validate(values["document"]) if values["document"] else None
        except ValidationError as error:
            raise GUARDS.invalid("A practice", error) from None
        for arm in [*arms, *(document.arms if document else ())]:
            arm.run_id = None
        values["arms"] = [to_stored(arm) for arm in arms]
        values["document"] = to_stored(document) if document else None
        job = self._session.get_one(tables.Job, values["job_id"])
        if document is None and job.state == "done":
            job.state, job.message = "cancelled", _NOT_ENDED

    def _place_file(self, values: dict[str, Any]) -> bool:
        """Choose where a file is stored. Return False if the archive does not include it, or a damaged copy of it."""
        path = file_of(self._entry.number, values["sha256"])
        try:
            _PATH.validate_python(values["path"])
        except ValidationError as error:
            raise GUARDS.invalid(f"The path of file {values['sha256'][:64]}", error) from None
        if values["kind"] == "media" and PurePosixPath(values["path"]).suffix not in MEDIA_TYPES:
            raise BadArchive(f"The file {values['path']} is not an image or a video, so it cannot be media.")
        member = self._archive.members.get(path)
        if member is None or member.sha256 != values["sha256"]:
            return False
        if member.bytes != values["bytes"]:
            raise BadArchive(f"{path} has {member.bytes:,} bytes, but its row says {values['bytes']:,}.")
        values["stored_path"] = new_stored_path(self._restored.run.id)
        self._restored.files.append((values["stored_path"], path))
        return True

    def _aliases(self) -> None:
        """Store the aliases whose names are free here. Others keep what they name."""
        known = set(self._session.scalars(select(tables.AliasChange.name)))
        for values in self._rows(tables_of.ALIASES):
            if not is_name(values["name"]):
                raise BadArchive(f"{values['name']!r} is not a name that an alias can have.")
            if values["name"] not in known and (row := self._to_row(tables_of.ALIASES, 0, values)) is not None:
                self._session.add(row)
        self._session.flush()

    def _documents(self) -> None:
        for values in self._rows(tables_of.DOCUMENTS):
            content = values["content"]
            if hashlib.sha256(content.encode()).hexdigest() != values["sha256"]:
                raise BadArchive(f"The provenance document {values['sha256']} does not have its hash.")
            store_document(self._session, values["sha256"], content)
            self._known_documents.add(values["sha256"])

    def _start_sets(self) -> None:
        ids = self._restored.ids.setdefault("start_sets", {})
        for values in self._rows(tables_of.START_SETS):
            ids[values["archive_number"]] = restore_start_set(self._session, values, self._restored.run.project_id)

    def _series(self) -> None:
        number, every = self._entry.number, dict[str, _Series]()
        for series in read_lines(self._archive, _Series, rows_of("runs", number, "series")):
            if series.name in every or len(every) >= MAX_SERIES:
                raise BadArchive(f"The metric {series.name!r} is listed twice, or the run has over {MAX_SERIES:,}.")
            every[series.name] = series
        restorer = SeriesRestorer(self._session, self._restored.run, [*every])
        for series in every.values():
            self._points(restorer, series, points_of(number, series.archive_number))

    def _points(self, restorer: SeriesRestorer, series: _Series, path: str) -> None:
        counts = [count for _attempt, count in series.segments]
        if path not in self._archive.members or not counts or min(counts) < 1:
            raise BadArchive(f"The metric {series.name!r} has no points in {path}.")
        if not all(0 <= attempt <= LARGEST_SMALL for attempt, _count in series.segments):
            raise BadArchive(f"The metric {series.name!r} has points of an invalid attempt.")
        with self._archive.open(path) as file:
            _check_array(path, file, sum(counts), self._archive.members[path].bytes)
            restorer.restore(series.name, series.segments, file.read)


def _check_array(path: str, file: Any, count: int, size: int) -> None:
    """Read the header of a NumPy file. Raise BadArchive unless it has this many points and nothing else."""
    try:
        dtype, shape, _order = read_header(file)
    except ArchiveError as error:
        raise BadArchive(f"{path} cannot be read: {error}.") from None
    if dtype != POINT or shape != (count,) or size != file.tell() + count * POINT.itemsize:
        raise BadArchive(f"{path} must contain {count:,} points, each with step, frames, time and value.")


def _refuse_unknown(values: Mapping[str, Any]) -> None:
    """Raise BadArchive if a run trained by a method or in an environment that this version does not have.

    A run of a missing plug-in can be read, but not continued.
    """
    if values["needed_plugins"]:
        return
    if values["algorithm"] not in CONFIGURATIONS or values["env"] not in ENVIRONMENTS:
        raise BadArchive(
            f"The archive has a run of {values['algorithm']!r} in {values['env']!r}, which this Arcadia does not have. "
            "Update Arcadia, then import it again."
        )
