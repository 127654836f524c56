"""Pruning of studies: stops runs that do worse than others."""

from contextlib import suppress

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.engine import Database
from backend.database.tables import Run, Study, StudyRun
from backend.errors import Conflict, NotFound
from backend.logs.service import note
from backend.runs import service as runs
from backend.studies.points import read_specification
from backend.studies.pruning_rules import LearningCurve, TrainingProgress, read_learning_curve, runs_to_prune
from backend.web.lookup import find_run


class StudyPruner:
    """Pruner that judges each run once per tenth of its steps. Its memory is only a cache."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._curves: dict[int, tuple[TrainingProgress, LearningCurve]] = {}
        self._judged_tenths: dict[int, int] = {}

    def forget(self) -> None:
        """Clear the cache when no study is running."""
        self._curves.clear()
        self._judged_tenths.clear()

    def prune(self, study: Study) -> None:
        """Stop the runs that the study's pruner rejects."""
        pruner = read_specification(study).pruner
        if pruner == "none":
            return
        with self._database.read() as session:
            curves = [self._read_curve(session, progress) for progress in _load_progress(session, study)]
        reached = {each.run_id: len(each.means) for each in curves if each.is_active}
        if reached.items() <= self._judged_tenths.items():
            return
        for run_id, tenth in runs_to_prune(pruner, curves):
            with self._database.write() as session, suppress(NotFound, Conflict):
                run = find_run(session, run_id, lock=True)
                runs.act(session, run, "stop")
                note(session, run, f"Pruned by its study at {10 * tenth} % of its steps ({pruner}).")
        self._judged_tenths.update(reached)

    def _read_curve(self, session: Session, progress: TrainingProgress) -> LearningCurve:
        cached = self._curves.get(progress.run_id)
        if cached is None or cached[0].version != progress.version:
            self._curves[progress.run_id] = cached = (progress, read_learning_curve(session, progress))
        return cached[1]


def _load_progress(session: Session, study: Study) -> list[TrainingProgress]:
    """Return the progress of each run that has started training, in order of creation."""
    columns = (Run.id, Run.attempt, Run.state, Run.step, Run.total_steps, Run.last_return)
    of_study = (StudyRun.study_id == study.id, Run.step > 0)
    query = select(*columns).join(StudyRun, StudyRun.run_id == Run.id).where(*of_study).order_by(Run.id)
    return [
        TrainingProgress(row.id, row.attempt, row.state, row.step, row.total_steps or 0, row.last_return)
        for row in session.execute(query)
    ]
