"""Import of one study of an archive, in the caller's transaction."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives import rows as tables_of
from backend.archives.format import ArchivedItem, rows_of
from backend.archives.opening import GUARDS, Archive, BadArchive
from backend.archives.row_reading import read_row, read_rows
from backend.archives.rows import RowTable
from backend.database.columns import utc_now
from backend.database.tables import PaperStudy, Run, Study, StudyPoint, StudyRun
from backend.studies.points import read_specification
from backend.studies.run_queue import announce_study
from backend.studies.specification import MAX_SEED, find_errors

MAX_ROWS = 100_000


def restore_study(session: Session, archive: Archive, entry: ArchivedItem, runs: Mapping[int, int]) -> Study:
    """Store a study with its points and plan. A running one is stopped, since nobody requested its runs here."""
    values = read_row(archive, tables_of.STUDY, rows_of("studies", entry.number, "study"))
    if values["state"] == "running":
        values |= {"state": "stopped", "state_reason": None, "finished_at": utc_now()}
    study = Study(**values)
    session.add(study)
    session.flush()
    of_study = {"study_id": study.id}
    points = [StudyPoint(**each, **of_study) for each in _rows(archive, entry, tables_of.STUDY_POINTS)]
    plan = [StudyRun(**each, **of_study) for each in _rows(archive, entry, tables_of.STUDY_RUNS)]
    _check_plan(study, points, plan)
    _relocate_diagnosis(study, runs)
    for planned in plan:
        planned.run_id = _local_id(planned.run_id, runs)
    session.add_all([*points, *plan])
    session.add_all(PaperStudy(**each, **of_study) for each in _rows(archive, entry, tables_of.PAPER_STUDY))
    session.flush()
    announce_study(session, study)
    return study


def restore_deleted_runs(
    session: Session, archive: Archive, entry: ArchivedItem, study_id: int, runs: Mapping[int, int]
) -> bool:
    """Put imported runs in the places of runs of a study that were deleted here. Return True if there are any."""
    changed = False
    for values in _rows(archive, entry, tables_of.STUDY_RUNS):
        planned = session.get(StudyRun, (study_id, values["point"], values["seed"]))
        run_id = runs.get(values["run_id"])
        if planned is None or planned.run_id is None or run_id is None or planned.run_id == run_id:
            continue
        if session.scalar(select(Run.id).where(Run.id == planned.run_id)) is None:
            planned.run_id = run_id
            changed = True
    if changed:
        announce_study(session, session.get_one(Study, study_id))
    return changed


def _rows(archive: Archive, entry: ArchivedItem, table: RowTable) -> list[dict[str, Any]]:
    """Return the rows of a table of the study."""
    path = rows_of("studies", entry.number, table.name)
    found = list(islice(read_rows(archive, table, path), MAX_ROWS + 1))
    if len(found) > MAX_ROWS:
        raise BadArchive(f"{path} has more than the {MAX_ROWS:,} lines allowed.")
    return found


def _check_plan(study: Study, points: list[StudyPoint], plan: list[StudyRun]) -> None:
    """Raise BadArchive unless each point has runs, as a study needs that is extended later."""
    try:
        errors = find_errors(read_specification(study))
    except ValidationError as error:
        raise GUARDS.invalid(f"The study {study.name[:100]!r}", error) from None
    if errors:
        raise BadArchive(f"The study {study.name[:100]!r} is not valid: {errors[0][0]}: {errors[0][1]}.")
    numbers = [point.number for point in points]
    planned = {(each.point, each.seed) for each in plan}
    has_its_runs = {each.point for each in plan} == set(numbers) and len(planned) == len(plan)
    if sorted(numbers) != list(range(len(numbers))) or not has_its_runs:
        raise BadArchive(
            f"The study {study.name[:100]!r} must have numbered points, each with runs of different seeds."
        )
    if not all(0 <= each.seed <= MAX_SEED for each in plan):
        raise BadArchive(f"The study {study.name[:100]!r} has a seed that is not between 0 and {MAX_SEED:,}.")


def _relocate_diagnosis(study: Study, runs: Mapping[int, int]) -> None:
    """Refer to the imported run whose fix the study tests, or to none if the archive does not contain it."""
    diagnosed = read_specification(study).diagnosis
    if diagnosed is None:
        return
    run_id = runs.get(diagnosed.run_id)
    local = None if run_id is None else {"run_id": run_id, "rule": diagnosed.rule}
    study.specification = {**study.specification, "diagnosis": local}


def _local_id(run_id: int | None, runs: Mapping[int, int]) -> int | None:
    """Return the id here of a planned run. One that was purged before the export gets an id that no run here has."""
    if run_id is None:
        return None
    return runs.get(run_id, -abs(run_id))
