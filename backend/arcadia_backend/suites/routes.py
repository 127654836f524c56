"""Routes of suites: the lists of games, the study of a suite, and the aggregates of a study over its games."""

from fastapi import APIRouter

from arcadia_backend.database.engine import Db
from arcadia_backend.figures.drawing import Figure
from arcadia_backend.studies.service import find_study
from arcadia_backend.studies.specification import Specification
from arcadia_backend.suites import service
from arcadia_backend.suites.aggregates import read_aggregates
from arcadia_backend.suites.figure import aggregates_figure
from arcadia_backend.suites.service import read_game_lists
from arcadia_backend.web.lookup import PathId

router = APIRouter(tags=["suites"])


@router.get("/suites")
def list_game_lists() -> list[service.SuiteList]:
    """List the named lists of games, with the settings of suites over them."""
    return read_game_lists()


@router.post("/suites/specification")
def plan_suite(request: service.SuiteRequest) -> Specification:
    """Return the study of a suite, to preview or start it with /studies. Nothing is stored."""
    return service.specification(request)


@router.get("/studies/{study_id}/aggregates")
def read_study_aggregates(db: Db, study_id: PathId) -> service.Aggregates:
    """Return the scores of a study over its games, with statistics and their intervals."""
    with db.read() as session:
        return read_aggregates(session, find_study(session, study_id))


@router.get("/studies/{study_id}/aggregates/figure")
def draw_study_aggregates(db: Db, study_id: PathId) -> Figure:
    """Return the statistics of a study over its games as a figure."""
    with db.read() as session:
        return aggregates_figure(read_aggregates(session, find_study(session, study_id)).results)
