"""Checkpoints: store, pin, choose the best, prune, find for the next attempt, and copy for a fork."""

import math
from collections.abc import Container, Sequence
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from arcadia_backend.aliases import names_of_checkpoints
from arcadia_backend.database.tables import Attempt, Checkpoint, Evaluation, File, Job, Run
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.files.service import Maker, announce_files, copy_file, delete_files, find_reported
from arcadia_backend.logs import note
from arcadia_backend.replays.service import delete_replays_of_checkpoints
from arcadia_backend.web.lookup import last_started_attempt
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.config.emulator import protocol_of
from arcadia_workers.contract.layout import DEFAULT_KEPT, prunable
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, SAMPLED, Acting


def usual_protocol_of(run: Run) -> str:
    """Return the protocol of a run's evaluations and recordings."""
    return protocol_of({"env": run.env, **run.config})


def usual_acting_of(run: Run) -> Acting:
    """Return how the agent of a run chooses actions, as in the paper of its method."""
    configuration = CONFIGURATIONS.get(run.algorithm)
    if configuration is not None:
        return configuration.usual_acting
    return EPSILON_GREEDY if run.config.get("learns") == "values" else SAMPLED


def is_superseded() -> ColumnElement[bool]:
    """Return the SQL condition that a later attempt resumed before the checkpoint of a query."""
    later = (Attempt.run_id == Checkpoint.run_id, Attempt.attempt > Checkpoint.attempt)
    return select(Attempt.attempt).where(*later, Attempt.resumed_step < Checkpoint.step).correlate(Checkpoint).exists()


def superseded_ids(session: Session, run_id: int) -> set[int]:
    """Return the ids of the superseded checkpoints of a run."""
    return set(session.scalars(select(Checkpoint.id).where(Checkpoint.run_id == run_id, is_superseded())))


BestBy = Literal["evaluation", "training"]


def find_best(session: Session, run: Run, rows: Sequence[Checkpoint]) -> Checkpoint | None:
    """Return the best of the checkpoints, or None if none has a score."""
    scores = evaluation_scores(session, run)
    if evaluated := [row for row in rows if row.id in scores]:
        return max(evaluated, key=lambda row: (scores[row.id], row.step))
    return max((row for row in rows if row.return_mean is not None), key=training_score, default=None)


def evaluation_scores(session: Session, run: Run) -> dict[int, float]:
    """Return the newest comparable score of each evaluated checkpoint."""
    return {number: evaluation.score for number, evaluation in comparable_evaluations(session, run).items()}


class EvaluationScore(NamedTuple):
    """Score of an evaluation, with the step of its checkpoint."""

    score: float
    step: int
    evaluation_id: int


def comparable_evaluations(session: Session, run: Run) -> dict[int, EvaluationScore]:
    """Return the newest finished evaluation of each checkpoint, if it was made as the run's schedule does it.

    Only such evaluations are comparable: the run's protocol, the usual way to act, and all episodes.
    """
    return comparable_evaluations_of(session, [run])[run.id]


def comparable_evaluations_of(session: Session, runs: Sequence[Run]) -> dict[int, dict[int, EvaluationScore]]:
    """Return the comparable evaluations of each run, by checkpoint."""
    with_agent = {run.id: run for run in runs if run.has_agent}
    columns = (Evaluation.run_id, Evaluation.id, Evaluation.checkpoint_id, Evaluation.step, Evaluation.mean)
    query = select(*columns, Evaluation.protocol, Evaluation.acting, Job.total)
    query = query.join(Job).join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id)
    # The result of an unfinished job may still be discarded.
    finished = (~is_superseded(), Evaluation.mean.is_not(None), Job.state == "done")
    query = query.where(Evaluation.run_id.in_(with_agent), *finished)
    newest: dict[int, dict[int, EvaluationScore]] = {run.id: {} for run in runs}
    for row in session.execute(query.order_by(Evaluation.id)):
        if _is_comparable(with_agent[row.run_id], row):
            newest[row.run_id][row.checkpoint_id] = EvaluationScore(row.mean, row.step, row.id)
    return {
        run_id: {number: evaluation for number, evaluation in each.items() if not math.isnan(evaluation.score)}
        for run_id, each in newest.items()
    }


def _is_comparable(run: Run, row: Any) -> bool:
    """Return True if a row of an evaluation has the run's protocol, the usual way to act, and all episodes."""
    if row.protocol != usual_protocol_of(run) or row.acting != usual_acting_of(run).model_dump(mode="json"):
        return False
    protocol = PROTOCOLS.get(row.protocol)
    # A protocol of a missing plug-in has an unknown number of episodes.
    return protocol is None or row.total >= protocol.episodes


def training_score(row: Checkpoint) -> tuple[float, int]:
    """Return the mean return in training and the step, to sort by."""
    score = -math.inf if row.return_mean is None or math.isnan(row.return_mean) else row.return_mean
    return score, row.step


KeptAs = Literal["alias", "pinned", "best", "first", "last", "spread"]


def prune_checkpoints(session: Session, run: Run) -> None:
    """Delete the files and replays of checkpoints that the rule does not keep, and of superseded ones."""
    rows = _by_step(session, run)
    current = _current(session, run, rows)
    best, trained = _mark_best(session, run, rows, current), max(current, key=training_score, default=None)
    # These do not count toward the number of kept checkpoints.
    named = names_of_checkpoints(session, [run.id]).keys()
    of_jobs = select(Job.checkpoint_id).where(Job.run_id == run.id, Job.state.in_(("queued", "running")))
    extra = {row.id for row in current if row.pinned or row.id in named} | {*session.scalars(of_jobs)}
    protected = [place for place, row in enumerate(current) if row.id in extra or row in (best, trained)]
    max_kept = run.config.get("checkpoints_kept", DEFAULT_KEPT) + sum(row.id in extra for row in current)
    pruned = {current[place].id for place in prunable([row.step for row in current], max_kept, protected)}
    superseded = {row.id for row in available(rows) if row not in current and row.id not in extra}
    deleted = [row for row in rows if row.id in (pruned | superseded) - named and not row.pinned]
    file_ids = [row.file_id for row in deleted if row.file_id is not None]
    for row in deleted:
        row.file_id = None
    session.flush()
    if file_ids:
        delete_files(session, file_ids)
        delete_replays_of_checkpoints(session, run, [row.file for row in deleted])
        announce_files(session, run.id)


def prune_after_job(session: Session, run: Run) -> None:
    """Prune again after a job, unless the start step of the current attempt is still unknown."""
    if last_started_attempt(session, run) is not None:
        prune_checkpoints(session, run)


def update_best(session: Session, run: Run) -> None:
    """Choose the best checkpoint again, without pruning."""
    if last_started_attempt(session, run) is not None:
        rows = _by_step(session, run)
        _mark_best(session, run, rows, _current(session, run, rows))


def _by_step(session: Session, run: Run) -> Sequence[Checkpoint]:
    query = select(Checkpoint).where(Checkpoint.run_id == run.id)
    return session.scalars(query.order_by(Checkpoint.step, Checkpoint.id)).all()


def _current(session: Session, run: Run, rows: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Return the checkpoints that have a file and are not superseded."""
    superseded = superseded_ids(session, run.id)
    return [row for row in available(rows) if row.id not in superseded]


def _mark_best(
    session: Session, run: Run, rows: Sequence[Checkpoint], current: Sequence[Checkpoint]
) -> Checkpoint | None:
    best = find_best(session, run, current)
    for row in rows:
        row.best = row is best
    return best


def available(rows: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Return the checkpoints that have a file."""
    return [row for row in rows if row.file_id is not None]


def reasons_kept(rows: Sequence[Checkpoint], named: Container[int]) -> dict[int, KeptAs]:
    """Return why each checkpoint is kept.

    The rows are all checkpoints of a run in order of their steps, and `named` has the ids of those with an alias.
    """
    kept = available(rows)
    reasons: dict[int, KeptAs] = {row.id: "spread" for row in kept}
    if kept:
        reasons |= {kept[-1].id: "last", kept[0].id: "first"}
    reasons |= {row.id: "best" for row in kept if row.best}
    reasons |= {row.id: "pinned" for row in kept if row.pinned}
    return reasons | {row.id: "alias" for row in kept if row.id in named}


MAX_RESUMABLE = 10


def store_checkpoint(session: Session, run: Run, attempt: Attempt, event: ev.CheckpointEvent) -> bool:
    """Store a reported checkpoint and prune the others of the run. Return False if the uploaded file is damaged."""
    reported = event.checkpoint
    file = find_reported(session, Maker(run.id, attempt.attempt), reported.file)
    if file.sha256 != reported.sha256:
        # Otherwise the damage would show only when the checkpoint is needed.
        note(
            session,
            run,
            f"{reported.file} was discarded: the uploaded file differs from what the trainer wrote.",
            "warning",
        )
        delete_files(session, [file.id])
        return False
    row = session.scalar(
        select(Checkpoint).where(
            Checkpoint.run_id == run.id, Checkpoint.attempt == attempt.attempt, Checkpoint.file == reported.file
        )
    )
    if row is None:
        row = Checkpoint(run_id=run.id, attempt=attempt.attempt, file=reported.file)
        session.add(row)
    row.step, row.frames, row.sha256, row.bytes = reported.step, reported.frames, reported.sha256, reported.bytes
    row.file_id, row.return_mean = file.id, event.return_mean
    session.flush()
    prune_checkpoints(session, run)
    return True


def set_pinned(session: Session, run: Run, checkpoint_id: int, pinned: bool) -> None:
    """Pin or unpin a checkpoint. An unpinned one may be deleted when the run saves its next checkpoint."""
    checkpoint = session.get(Checkpoint, checkpoint_id)
    if checkpoint is None or checkpoint.run_id != run.id:
        raise NotFound(f"Run {run.id} has no checkpoint {checkpoint_id}.")
    if pinned and checkpoint.file_id is None:
        raise Conflict(f"The checkpoint at step {checkpoint.step} was deleted, so it cannot be pinned.")
    checkpoint.pinned = pinned
    session.flush()
    announce_files(session, run.id)


def list_resumable(session: Session, run: Run) -> Sequence[Checkpoint]:
    """Return the checkpoints to resume from, the best candidate first.

    Those of the latest attempt come first, because they supersede later ones of earlier attempts.
    """
    query = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    return session.scalars(query.order_by(Checkpoint.attempt.desc(), Checkpoint.step.desc()).limit(MAX_RESUMABLE)).all()


def frames_at_step(session: Session, run: Run, step: int) -> int:
    """Return the emulator frames at the checkpoint of a step, or 0 without one."""
    if step == 0:
        return 0
    query = select(Checkpoint.frames).where(Checkpoint.run_id == run.id, Checkpoint.step == step)
    return session.scalar(query.limit(1)) or 0


def find_kept(session: Session, run: Run, checkpoint_id: int, *, field: str, action: str) -> Checkpoint:
    """Return the checkpoint that a request names in a field.

    Raise Invalid if the run has no such checkpoint, and Conflict if its file was deleted.
    """
    checkpoint = session.get(Checkpoint, checkpoint_id)
    if checkpoint is None or checkpoint.run_id != run.id:
        raise Invalid(FieldError(field=field, message=f"run {run.id} has no such checkpoint"))
    if checkpoint.file_id is None:
        raise Conflict(f"The checkpoint at step {checkpoint.step} was deleted. Select one with a file to {action}.")
    return checkpoint


def copy_checkpoint(session: Session, checkpoint: Checkpoint, run: Run) -> None:
    """Copy a checkpoint with its file to another run that starts from it."""
    copy = copy_file(session, session.get_one(File, checkpoint.file_id), run.id)
    session.flush()
    session.add(
        Checkpoint(
            run_id=run.id,
            attempt=0,
            step=checkpoint.step,
            frames=checkpoint.frames,
            file=checkpoint.file,
            sha256=checkpoint.sha256,
            bytes=checkpoint.bytes,
            file_id=copy.id,
            return_mean=checkpoint.return_mean,
        )
    )
