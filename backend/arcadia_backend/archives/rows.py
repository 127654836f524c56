"""Rows of the database as JSON, validated by the types of their columns.

A row refers to other rows of its run by their numbers in the archive, never by ids of the database.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from sqlalchemy import BigInteger, inspect
from sqlalchemy.sql.elements import NamedColumn

from arcadia_backend.archives.format import GUARDS, Archive, BadArchive
from arcadia_backend.database import tables
from arcadia_backend.metrics.points import MetricClock
from arcadia_workers.contract.jobs import JOB_KINDS
from arcadia_workers.contract.values import LARGEST, LARGEST_SMALL, NO_BOOLEAN, storable

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
        *("project_id", "executor", "job_options", "person_id", "launched_by", "changed_by", "stopped_by"),
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
    excluded=("lease_expires_at", "project_id"),
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
