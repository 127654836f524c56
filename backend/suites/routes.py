"""Routes of suites: the lists of games, the study of a suite, and the aggregates of a study over its games."""

from fastapi import APIRouter

from backend.database.engine import Db
from backend.figures.schemas import Figure
from backend.studies.service import find_study
from backend.studies.specification import Specification
from backend.suites import schemas, service
from backend.suites.aggregates import read_aggregates
from backend.suites.figure import aggregates_figure
from backend.suites.lists import read_game_lists
from backend.web.lookup import PathId

router = APIRouter(tags=["suites"])


@router.get("/suites")
def list_game_lists() -> list[schemas.SuiteList]:
    """List the named lists of games, with the settings of suites over them."""
    return read_game_lists()


@router.post("/suites/specification")
def plan_suite(request: schemas.SuiteRequest) -> Specification:
    """Return the study of a suite, to preview or start it with /studies. Nothing is stored."""
    return service.specification(request)


@router.get("/studies/{study_id}/aggregates")
def read_study_aggregates(db: Db, study_id: PathId) -> schemas.Aggregates:
    """Return the scores of a study over its games, with statistics and their intervals."""
    with db.read() as session:
        return read_aggregates(session, find_study(session, study_id))


@router.get("/studies/{study_id}/aggregates/figure")
def draw_study_aggregates(db: Db, study_id: PathId) -> Figure:
    """Return the statistics of a study over its games as a figure."""
    with db.read() as session:
        return aggregates_figure(read_aggregates(session, find_study(session, study_id)).results)
