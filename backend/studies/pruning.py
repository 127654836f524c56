"""Stops the runs of a study that its pruner gives up."""

from contextlib import suppress

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.engine import Database
from backend.database.tables import Run, Study, StudyRun
from backend.errors import Conflict, NotFound
from backend.logs.service import note
from backend.runs import service as runs
from backend.studies.points import read_specification
from backend.studies.pruning_rules import Course, Progress, course, losers
from backend.web.lookup import find_run


class StudyPruner:
    """Looks at each run once for each tenth of its steps; what it remembers only saves reading again."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._courses: dict[int, tuple[Progress, Course]] = {}
        self._judged: dict[int, int] = {}

    def forget(self) -> None:
        """Forget all runs, once no study runs."""
        self._courses.clear()
        self._judged.clear()

    def judge(self, study: Study) -> None:
        """Stop the runs that the pruner gives up."""
        pruner = read_specification(study).pruner
        if pruner == "none":
            return
        with self._database.read() as session:
            courses = [self._course(session, progress) for progress in _progress(session, study)]
        reached = {each.run_id: len(each.means) for each in courses if each.under_way}
        if reached.items() <= self._judged.items():
            return
        for run_id, tenth in losers(pruner, courses):
            with self._database.write() as session, suppress(NotFound, Conflict):
                run = find_run(session, run_id, lock=True)
                runs.act(session, run, "stop")
                note(session, run, f"Its study ends it at {10 * tenth} % of its steps: others do better ({pruner}).")
        self._judged.update(reached)

    def _course(self, session: Session, progress: Progress) -> Course:
        kept = self._courses.get(progress.run_id)
        if kept is None or kept[0].seen_as != progress.seen_as:
            self._courses[progress.run_id] = kept = (progress, course(session, progress))
        return kept[1]


def _progress(session: Session, study: Study) -> list[Progress]:
    """How far each run has come that has begun to train, in the order of making."""
    columns = (Run.id, Run.attempt, Run.state, Run.step, Run.total_steps, Run.last_return)
    of_study = (StudyRun.study_id == study.id, Run.step > 0)
    query = select(*columns).join(StudyRun, StudyRun.run_id == Run.id).where(*of_study).order_by(Run.id)
    return [Progress(*row) for row in session.execute(query)]
