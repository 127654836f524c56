"""Replays, images and evaluations that a report shows. An archive describes them, because their ids change."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives.block_ids import BlockIds, NewIds
from backend.archives.format import rows_of
from backend.archives.opening import Archive
from backend.archives.row_reading import read_lines
from backend.database.tables import Evaluation, File, Replay
from workers.contract.events import Sha256
from workers.contract.values import Id, Seed


class ShownReplay(BaseModel):
    """A replay of a run. `id` and `run` are ids of the exporting installation."""

    id: Id
    run: Id
    attempt: int
    file: str


class ShownFile(BaseModel):
    """An image of a run."""

    id: Id
    run: Id
    sha256: Sha256


class ShownEvaluation(BaseModel):
    """An evaluation of a run's checkpoint."""

    id: Id
    run: Id
    sha256: Sha256
    protocol: str
    acting: dict[str, Any]
    seed: Seed


class Shown(NamedTuple):
    """What reports show of runs."""

    replays: Sequence[ShownReplay]
    files: Sequence[ShownFile]
    evaluations: Sequence[ShownEvaluation]

    @property
    def runs(self) -> list[int]:
        """Return the runs that they belong to."""
        return [each.run for items in self for each in items]


def describe(session: Session, ids: BlockIds) -> Shown:
    """Return the description of what blocks show, as far as it exists."""
    replays = session.scalars(select(Replay).where(Replay.id.in_(ids.replays)).order_by(Replay.id))
    in_runs = File.run_id.is_not(None)
    files = session.scalars(select(File).where(File.id.in_(ids.files), in_runs).order_by(File.id))
    evaluations = session.scalars(select(Evaluation).where(Evaluation.id.in_(ids.evaluations)).order_by(Evaluation.id))
    return Shown(
        [ShownReplay(id=each.id, run=each.run_id, attempt=each.attempt, file=each.file) for each in replays],
        [ShownFile(id=each.id, run=each.run_id, sha256=each.sha256) for each in files if each.run_id is not None],
        [
            ShownEvaluation(
                id=each.id,
                run=each.run_id,
                sha256=each.sha256,
                protocol=each.protocol,
                acting=each.acting,
                seed=each.seed,
            )
            for each in evaluations
        ],
    )


def find_shown(
    session: Session, archive: Archive, number: int, runs: Mapping[int, int], studies: Mapping[int, int]
) -> NewIds:
    """Return the ids here of all that a report of the archive shows."""
    replays = read_lines(archive, ShownReplay, rows_of("reports", number, "replays"))
    files = read_lines(archive, ShownFile, rows_of("reports", number, "files"))
    evaluations = read_lines(archive, ShownEvaluation, rows_of("reports", number, "evaluations"))
    found = (
        {each.id: _find_replay(session, runs.get(each.run), each) for each in replays},
        {each.id: _find_file(session, runs.get(each.run), each) for each in files},
        {each.id: _find_evaluation(session, runs.get(each.run), each) for each in evaluations},
    )
    return NewIds(runs, studies, *({old: new for old, new in each.items() if new is not None} for each in found))


def _find_replay(session: Session, run_id: int | None, shown: ShownReplay) -> int | None:
    is_shown = (Replay.run_id == run_id, Replay.attempt == shown.attempt, Replay.file == shown.file)
    return session.scalar(select(Replay.id).where(*is_shown))


def _find_file(session: Session, run_id: int | None, shown: ShownFile) -> int | None:
    is_shown = (File.run_id == run_id, File.sha256 == shown.sha256)
    return session.scalar(select(File.id).where(*is_shown).order_by(File.id).limit(1)) if run_id else None


def _find_evaluation(session: Session, run_id: int | None, shown: ShownEvaluation) -> int | None:
    is_shown = (Evaluation.run_id == run_id, Evaluation.sha256 == shown.sha256, Evaluation.seed == shown.seed)
    query = select(Evaluation.id, Evaluation.protocol, Evaluation.acting).where(*is_shown).order_by(Evaluation.id)
    wanted = (shown.protocol, shown.acting)
    return next((row.id for row in session.execute(query) if (row.protocol, row.acting) == wanted), None)
