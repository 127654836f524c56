"""Layout of archive files (docs/archives.md): their members and rows, and the checks of imported ones.

Rows of the database are JSON, validated by the types of their columns. A row refers to other rows of its run by their
numbers in the archive, never by ids of the database.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from io import BufferedReader
from itertools import islice
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints
from zipfile import ZipFile

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
    model_validator,
)
from sqlalchemy import BigInteger, inspect, select, text
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.sql.elements import NamedColumn

from arcadia_backend.checkpoints.service import evaluation_scores
from arcadia_backend.database import tables
from arcadia_backend.database.tables import (
    ArchiveImport,
    Calibration,
    Evaluation,
    Futures,
    Job,
    Replay,
    ReportImport,
    Review,
    Run,
    Study,
    StudyImport,
)
from arcadia_backend.errors import Problem
from arcadia_backend.files.storage import BLOCK_BYTES
from arcadia_backend.files.zip_files import ZipGuards
from arcadia_backend.job_kinds import calibrations, futures, reviews
from arcadia_backend.job_kinds.evaluations.service import list_by_step, with_episodes
from arcadia_backend.metrics.points import MetricClock
from arcadia_backend.provenance import load_provenance
from arcadia_backend.replays.players import with_actions
from arcadia_backend.replays.service import list_replays
from arcadia_backend.reported.contents import list_media_series
from arcadia_backend.runs.queries import to_schema
from arcadia_backend.studies import queries as studies
from arcadia_workers.contract.archives import ManifestHeading, Member
from arcadia_workers.contract.events import Sha256
from arcadia_workers.contract.jobs import JOB_KINDS
from arcadia_workers.contract.values import LARGEST, LARGEST_SMALL, NO_BOOLEAN, STORABLE, Id, Ordinal, storable

FORMAT = "arcadia-archive"
VERSION = 2
# The version of an archive without studies and reports, which an Arcadia of that version can import.
RUNS_VERSION = 1
SUFFIX = ".arcadia"
MANIFEST = "archive.json"

# Every member of an archive has a name like one of these.
MEMBER = (
    r"archive\.json"
    r"|(runs|studies|reports)/[1-9]\d{0,5}/rows/[a-z_]{1,40}\.jsonl"
    r"|runs/[1-9]\d{0,5}/(points/[1-9]\d{0,5}\.npy|files/[0-9a-f]{64})"
)

MAX_RUNS = 1_000
MAX_STUDIES = MAX_REPORTS = 100

FilesChoice = Literal["none", "best", "all"]
Kind = Literal["runs", "studies", "reports"]


class ArchivedItem(BaseModel):
    """A study or a report in the archive.

    `installation` and `id` say where it was exported. The hash covers its rows. `project` is the name of its project.
    """

    number: Ordinal
    installation: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    id: Id
    content_sha256: Sha256
    project: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100), STORABLE]


class ArchivedRun(ArchivedItem):
    """A run in the archive.

    The hash covers its rows, its points and the names of its files. `parent` is the number of the run that it is a fork
    of, if the archive has it.
    """

    parent: Ordinal | None = None


class Heading(ManifestHeading):
    """The part of the manifest that every version has."""

    format: Literal["arcadia-archive"]


class ArchiveManifest(Heading):
    """The manifest of an archive of this version, or of an earlier one."""

    kind: Literal["runs"]
    created_at: AwareDatetime
    files: FilesChoice
    contents: Annotated[list[Member], Field(max_length=100_000)]
    runs: Annotated[list[ArchivedRun], Field(max_length=MAX_RUNS)]
    studies: list[ArchivedItem] = Field(default_factory=list, max_length=MAX_STUDIES)
    reports: list[ArchivedItem] = Field(default_factory=list, max_length=MAX_REPORTS)

    @model_validator(mode="after")
    def _check_items(self) -> Self:
        items = (self.runs, self.studies, self.reports)
        if not any(items):
            raise ValueError("the archive has no runs, studies or reports")
        if any(len({item.number for item in each}) < len(each) for each in items):
            raise ValueError("two runs, studies or reports of the archive have the same number")
        return self


def rows_of(kind: Kind, number: int, table: str) -> str:
    """Return the member with the rows of a table of a run, study or report."""
    return f"{kind}/{number}/rows/{table}.jsonl"


def points_of(run: int, series: int) -> str:
    """Return the member with the points of a metric of a run."""
    return f"runs/{run}/points/{series}.npy"


def file_of(run: int, sha256: str) -> str:
    """Return the member with the content of a file of a run."""
    return f"runs/{run}/files/{sha256}"


class ImportResult(BaseModel):
    """Items that an import created, and items that were already here. All are ids of this installation."""

    runs: list[int] = Field(description="Imported runs, in the order of the archive.")
    studies: list[int] = Field(description="Imported studies.")
    reports: list[int] = Field(description="Imported reports.")
    already: list[int] = Field(description="Runs of the archive that were already here, unchanged.")
    already_studies: list[int] = Field(description="Studies of the archive that were already here.")
    already_reports: list[int] = Field(description="Reports of the archive that were already here.")
    notes: list[str] = Field(description="Sentences about what is different from the archive.")


# A line of JSON: the largest are lists of packages, changes to code, and start points.
MAX_LINE_BYTES = 60_000_000


class BadArchive(Problem):
    """The file is not an archive, or it is unsafe to import. Nothing was changed."""

    status = 422
    kind = "bad-archive"
    title = "Archive cannot be imported"


GUARDS = ZipGuards("Arcadia archive", MEMBER, BadArchive)


@dataclass(frozen=True)
class Archive:
    """An open archive whose members were all checked."""

    file: ZipFile
    manifest: ArchiveManifest
    members: dict[str, Member]

    @contextmanager
    def open(self, path: str) -> Iterator[BufferedReader]:
        """Open a member for reading."""
        with self.file.open(path) as raw, BufferedReader(cast("Any", raw), BLOCK_BYTES) as member:
            yield member

    def lines(self, path: str) -> Iterator[Any]:
        """Yield each line of a member as parsed JSON. A missing member has no lines."""
        if path not in self.members:
            return
        with self.open(path) as member:
            number = 0
            while line := member.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise BadArchive(f"Line {number} of {path} is longer than {MAX_LINE_BYTES:,} bytes.")
                yield GUARDS.parse_json(line, f"Line {number} of {path}")


@contextmanager
def open_archive(path: Path, max_file_bytes: int) -> Iterator[Archive]:
    """Open an archive and check it completely. Raise BadArchive with the reason if it must not be imported."""
    with ExitStack() as stack:
        with GUARDS.checking():
            opened, members = GUARDS.open(stack, stack.enter_context(path.open("rb")))
            GUARDS.check_sizes((info for name, info in members.items() if "/files/" in name), max_file_bytes)
            content = GUARDS.read_manifest(opened, members, MANIFEST)
            GUARDS.check_version(GUARDS.validate(Heading, content, MANIFEST), VERSION)
            manifest = GUARDS.validate(ArchiveManifest, content, MANIFEST)
            contents = GUARDS.check_contents(opened, members, manifest.contents, MANIFEST)
        yield Archive(opened, manifest, contents)


_UNREADABLE = (ValidationError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def verify_study(session: Session, study: Study) -> None:
    """Raise BadArchive if the API could not return an imported study."""
    session.flush()
    try:
        studies.to_schema(session, study)
    except _UNREADABLE as error:
        raise BadArchive(f"Study {study.name[:100]!r} of the archive is not consistent: {str(error)[:300]}.") from error


def verify_run(session: Session, run: Run) -> None:
    """Raise BadArchive if the API could not return an imported run."""
    session.flush()
    session.expire_all()
    try:
        to_schema(session, run)
        evaluation_scores(session, run)
        list_by_step(session, run)
        query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id).where(Evaluation.run_id == run.id)
        for evaluation, job in session.execute(query):
            with_episodes(session, evaluation, job)
        judged = select(Calibration, Job).join(Job, Job.id == Calibration.job_id).where(Calibration.run_id == run.id)
        for calibration, job in session.execute(judged):
            calibrations.with_document(session, calibration, job)
        replays = select(Replay.id).where(Replay.run_id == run.id)
        simulated = select(Futures, Job).join(Job, Job.id == Futures.job_id).where(Futures.replay_id.in_(replays))
        for each, job in session.execute(simulated):
            futures.to_schema(session, each, job)
        reviews.load(session, Review.replay_id.in_(replays))
        load_provenance(session, run, None)
        with_actions(session, run, list_replays(session, run))
        list_media_series(session, run.id)
    except _UNREADABLE as error:
        raise BadArchive(f"Run {run.name[:100]!r} of the archive is not consistent: {str(error)[:300]}.") from error


_Table = type[ArchiveImport] | type[StudyImport] | type[ReportImport]
_IMPORTS: dict[Kind, tuple[_Table, InstrumentedAttribute[int]]] = {
    "runs": (ArchiveImport, ArchiveImport.run_id),
    "studies": (StudyImport, StudyImport.study_id),
    "reports": (ReportImport, ReportImport.report_id),
}


@dataclass(frozen=True)
class EarlierImport:
    """An earlier import of an item in any state: its id here, and the hash of its content then."""

    id: int
    content_sha256: str


def lock_imports(session: Session) -> None:
    """Make other imports wait until this transaction ends. SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE archive_imports IN SHARE ROW EXCLUSIVE MODE"))


def find_imports(session: Session, kind: Kind, entry: ArchivedItem) -> Sequence[EarlierImport]:
    """Return the earlier imports of an item that were not deleted since, oldest first."""
    table, id_column = _IMPORTS[kind]
    same = (table.installation == entry.installation, table.source_id == entry.id)
    query = select(id_column, table.content_sha256).where(*same).order_by(id_column)
    return [EarlierImport(*row) for row in session.execute(query)]


def record_import(session: Session, kind: Kind, entry: ArchivedItem, item_id: int) -> None:
    """Record where an item came from, unless that is known."""
    table, id_column = _IMPORTS[kind]
    if session.get(table, item_id) is None:
        values = {id_column.key: item_id, "installation": entry.installation, "source_id": entry.id}
        session.add(table(**values, content_sha256=entry.content_sha256))


MAX_TEXT = 50_000_000
# Jobs whose results are in an archive.
ARCHIVED_JOBS = tuple(each.kind for each in JOB_KINDS.values() if each.is_archived)


@dataclass(frozen=True, eq=False)
class RowTable:
    """A table in an archive.

    `excluded` are the columns that only matter in the installation that has the row. `exported_ids` are columns with
    ids of the exporting installation, which the manifest maps to numbers. `former` are columns that are null
    in every archive, because the content hash of an unchanged row must stay the same.
    """

    name: str
    model: type[tables.Base]
    references: dict[str, str] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()
    exported_ids: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    # Columns of later versions. A row leaves them out if they are empty, for the same reason.
    added: tuple[str, ...] = ()
    numbered: bool = True


RUN = RowTable(
    "run",
    tables.Run,
    references={"poster_file_id": "files"},
    excluded=(
        *("reported_key", "parent_run_id", "parent_checkpoint_id", "lease_expires_at", "archived_at", "tags"),
        *("project_id", "executor", "job_options", "needs", "person_id", "launched_by", "changed_by", "stopped_by"),
        *("gpu", "interruptible", "interruptions", "interrupted_for"),
    ),
    # Now in the manifest, so that moving a run to another project does not change its content.
    former=("project",),
    added=("needed_plugins", "core_hours", "gpu_hours"),
    numbered=False,
)
TAGS = RowTable("tags", tables.RunTag, numbered=False)
ATTEMPTS = RowTable("attempts", tables.Attempt, added=("conflicts",), numbered=False)
CHANGES = RowTable("changes", tables.RunChange, numbered=False)
CLOCKS = RowTable("clocks", MetricClock, numbered=False)
LOG_LINES = RowTable("log_lines", tables.LogLine, numbered=False)
DOCUMENTS = RowTable("documents", tables.ProvenanceDocument, numbered=False)
START_SETS = RowTable("start_sets", tables.StartSet, excluded=("project_id", "project"))
JOBS = RowTable(
    "jobs",
    tables.Job,
    references={"checkpoint_id": "checkpoints"},
    excluded=("lease_expires_at", "project_id", "person_id"),
    added=("needed_plugins",),
)
FILES = RowTable("files", tables.File, references={"job_id": "jobs"}, excluded=("stored_path",))
CHECKPOINTS = RowTable("checkpoints", tables.Checkpoint, references={"file_id": "files"}, excluded=("source_sha256",))
ALIASES = RowTable(
    "aliases", tables.AliasChange, references={"checkpoint_id": "checkpoints"}, excluded=("run_name",), numbered=False
)
REPLAYS = RowTable(
    "replays",
    tables.Replay,
    references={
        **dict.fromkeys(("file_id", "poster_file_id", "seen_file_id", "track_file_id"), "files"),
        **dict.fromkeys(("job_id", "saliency_job_id"), "jobs"),
    },
)
FUTURES = RowTable("futures", tables.Futures, references={"job_id": "jobs", "replay_id": "replays"}, numbered=False)
REVIEWS = RowTable("reviews", tables.Review, references={"job_id": "jobs", "replay_id": "replays"}, numbered=False)
PRACTICES = RowTable(
    "practices",
    tables.Practice,
    references={"job_id": "jobs", "replay_id": "replays"},
    excluded=("person_id",),
    numbered=False,
)
EVALUATIONS = RowTable(
    "evaluations",
    tables.Evaluation,
    references={"job_id": "jobs", "checkpoint_id": "checkpoints", "start_set_id": "start_sets"},
)
EPISODES = RowTable(
    "evaluation_episodes", tables.EvaluationEpisode, references={"evaluation_id": "evaluations"}, numbered=False
)
CALIBRATIONS = RowTable(
    "calibrations", tables.Calibration, references={"job_id": "jobs", "checkpoint_id": "checkpoints"}
)
MEDIA = RowTable("media", tables.Media, references={"file_id": "files"}, numbered=False)

STUDY = RowTable(
    "study",
    tables.Study,
    excluded=("project_id", "project"),
    # A person of another installation must not start its runs.
    former=("person_id", "started_by"),
    numbered=False,
)
STUDY_POINTS = RowTable("points", tables.StudyPoint, excluded=("study_id",), numbered=False)
STUDY_RUNS = RowTable("planned_runs", tables.StudyRun, excluded=("study_id",), exported_ids=("run_id",), numbered=False)
PAPER_STUDY = RowTable("paper", tables.PaperStudy, excluded=("study_id",), numbered=False)

# Its blocks have ids of the exporting installation. The link for readers is not shared.
REPORT = RowTable("report", tables.Report, excluded=("share_token", "project_id", "project"), numbered=False)


class ArchivedRow(BaseModel):
    """A row of any table. Fields of a newer version are ignored."""

    model_config = ConfigDict(extra="ignore", ser_json_inf_nan="strings", protected_namespaces=())


@cache
def row_model(table: RowTable) -> type[ArchivedRow]:
    """Return the model of a table's rows: its columns with the constraints that the database has."""
    hints = get_type_hints(table.model)
    fields: dict[str, Any] = {}
    for attribute in inspect(table.model).column_attrs:
        if attribute.key in excluded_columns(table):
            continue
        if attribute.key in table.former:
            fields[attribute.key] = (_DROPPED, None)
            continue
        (written,) = get_args(hints[attribute.key])
        column = attribute.columns[0]
        fields[attribute.key] = (_constrained(written, column), _default(column))
    if table.numbered:
        fields["archive_number"] = (Annotated[int, Field(ge=1, le=LARGEST_SMALL)], ...)
    return create_model(f"Archived{table.model.__name__}", __base__=ArchivedRow, **fields)


@cache
def excluded_columns(table: RowTable) -> frozenset[str]:
    """Return the columns that are not in an archive: ids of the database, and what has no meaning elsewhere."""
    return frozenset({"id", "run_id", *table.excluded}) - set(table.exported_ids)


def to_line(table: RowTable, row: tables.Base, number: int, numbers: dict[str, dict[int, int]]) -> bytes:
    """Return a row as a line of JSON, with its references as numbers. A reference to a missing row becomes null."""
    model = row_model(table)
    values = {name: getattr(row, name) for name in model.model_fields if name != "archive_number"}
    values |= dict.fromkeys(table.former)
    for column, target in table.references.items():
        values[column] = numbers.get(target, {}).get(values[column]) if values[column] is not None else None
    if table.numbered:
        values["archive_number"] = number
    empty = {name for name in table.added if not values[name]}
    return model.model_construct(**values).model_dump_json(warnings=False, exclude=empty).encode() + b"\n"


def _default(column: NamedColumn[Any]) -> Any:
    """Return the value of a column that an archive of another version does not have."""
    if column.default is not None and column.default.is_scalar:
        return column.default.arg
    return None if column.nullable else ...


def _constrained(written: Any, column: NamedColumn[Any]) -> Any:
    """Return the type of a column with the limits of both databases."""
    if get_origin(written) in (Union, UnionType):
        (inner,) = [part for part in get_args(written) if part is not NoneType]
        return _constrained(inner, column) | None
    if written is datetime:
        return AwareDatetime
    if written is int:
        most = LARGEST if isinstance(column.type, BigInteger) or column.primary_key else LARGEST_SMALL
        return Annotated[int, Field(ge=-most - 1, le=most), NO_BOOLEAN]
    if written is str:
        return Annotated[str, Field(max_length=getattr(column.type, "length", None) or MAX_TEXT), _STORABLE]
    return Annotated[written, _STORABLE] if get_origin(written) in (dict, list) else written


def _storable_json(value: Any) -> Any:
    """Replace the characters that a database cannot store, also within objects and lists."""
    if isinstance(value, dict):
        return {storable(key): _storable_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable_json(item) for item in value]
    return storable(value)


_STORABLE = BeforeValidator(_storable_json)
_DROPPED = Annotated[None, BeforeValidator(lambda _value: None)]


Line = TypeVar("Line", bound=BaseModel)


def read_rows(archive: Archive, table: RowTable, path: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a member as columns. A missing member has no rows."""
    model: type[ArchivedRow] = row_model(table)
    return (dict(row) for row in read_lines(archive, model, path))


def read_lines(archive: Archive, model: type[Line], path: str) -> Iterator[Line]:
    """Yield the lines of a member as a model. Raise BadArchive for the first invalid one."""
    for number, line in enumerate(archive.lines(path), 1):
        try:
            yield model.model_validate(line)
        except ValidationError as error:
            raise GUARDS.invalid(f"Line {number} of {path}", error) from None


def read_row(archive: Archive, table: RowTable, path: str) -> dict[str, Any]:
    """Return the only row of a member as columns."""
    rows = list(islice(read_rows(archive, table, path), 2))
    if len(rows) != 1:
        raise BadArchive(f"{path} must have exactly one line.")
    return rows[0]
