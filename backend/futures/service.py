"""Requesting, reading and storing futures. Every function runs in the caller's transaction."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session, defer

from backend.checkpoints.choice import find_chosen
from backend.checkpoints.playing import usual_acting_of
from backend.database.engine import after_commit
from backend.database.tables import Checkpoint, File, Futures, Job, Replay, Run
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.files.service import Maker, find_reported
from backend.futures import schemas
from backend.jobs import service as jobs
from backend.jobs.queue import read_queue
from backend.jobs.results import find_with_job, row_of_job, to_stored
from backend.live.notices import publish
from backend.replays.players import action_set, check_decision, find_player, read_track
from backend.replays.service import find_replay
from backend.web.lookup import find_run, refuse_without_agent
from workers.contract import events as ev
from workers.contract.futures import FuturesOptions
from workers.contract.jobs import FuturesParameters
from workers.contract.tracks import Track

# Limit per run whose agent acts.
MAX_WAITING_JOBS = 10
# Limit per replay.
MAX_KEPT = 200
# The numbers of a result that summaries have.
NO_NUMBERS = {"value": None, "mean": None, "interval": None}


def request(session: Session, replay_id: int, wanted: schemas.SimulateFutures) -> tuple[Futures, Job]:
    """Queue the futures of a decision of a replay."""
    replay = find_replay(session, replay_id)
    acting_run_id = wanted.agent.run_id if wanted.agent else replay.run_id
    # Every transaction locks runs in the order of their ids.
    runs = {run_id: find_run(session, run_id, lock=True) for run_id in sorted({replay.run_id, acting_run_id})}
    # Read it again: it may have changed before the locks.
    replay = find_replay(session, replay_id, lock=True)
    run, acting_run = runs[replay.run_id], runs[acting_run_id]
    refuse_without_agent(acting_run, "simulate futures of")
    track = read_track(session, replay)
    _check(track, run, acting_run, wanted)
    checkpoint = (
        find_chosen(session, acting_run, wanted.agent.checkpoint, field="agent.checkpoint")
        if wanted.agent
        else find_player(session, run, track)
    )
    _check_room(session, replay, acting_run)
    options = FuturesOptions.model_validate(wanted.model_dump(exclude={"agent"}))
    parameters = FuturesParameters(
        **options.model_dump(),
        protocol=track.head.protocol,
        seed=track.head.seed,
        episode=track.head.episode,
        actions=track.columns["action"][: options.decision].tolist(),
    )
    total = options.work(len(track.head.action_names))
    job = jobs.enqueue(session, acting_run, checkpoint, "futures", parameters.model_dump(mode="json"), total)
    futures = Futures(replay_id=replay.id, job_id=job.id, options=options.model_dump(mode="json"))
    session.add(futures)
    session.flush()
    return futures, job


def find(session: Session, futures_id: int, *, lock: bool = False) -> tuple[Futures, Job]:
    """Return futures with their job. Raise NotFound if they do not exist. With `lock`, lock the job's run first."""
    found = find_with_job(session, Futures, futures_id, lock=lock)
    if found is None:
        raise NotFound(f"There are no futures {futures_id}.")
    return found


def list_futures(session: Session, replay: Replay) -> list[schemas.FuturesSummary]:
    """Return the summaries of a replay's futures, newest first."""
    query = select(Futures, Job).join(Job, Job.id == Futures.job_id).where(Futures.replay_id == replay.id)
    rows = session.execute(query.options(defer(Futures.document)).order_by(Futures.id.desc())).all()
    return _summarize(session, [(futures, job) for futures, job in rows])


def to_schema(session: Session, futures: Futures, job: Job) -> schemas.Futures:
    """Convert futures to their API schema."""
    summary = _summarize(session, [(futures, job)])[0]
    document = futures.document if job.state == "done" else None
    videos = _stored_videos(session, job, document) if document else []
    return schemas.Futures.model_validate(summary.model_dump() | {"document": document, "videos": videos})


def _stored_videos(session: Session, job: Job, document: dict[str, Any]) -> list[dict[str, Any]]:
    query = select(File.path, File.id).where(File.job_id == job.id, File.attempt == job.attempt)
    ids: dict[str, int] = dict(session.execute(query).all())
    videos = document.get("videos", [])
    return [{"shows": each["shows"], "file_id": ids[each["file"]]} for each in videos if each["file"] in ids]


def _summarize(session: Session, found: Sequence[tuple[Futures, Job]]) -> list[schemas.FuturesSummary]:
    queue = read_queue(session) if any(job.state == "queued" for _, job in found) else None
    at = Checkpoint.id.in_([job.checkpoint_id for _, job in found])
    steps: dict[int | None, int] = dict(session.execute(select(Checkpoint.id, Checkpoint.step).where(at)).all())
    of = Replay.id.in_([futures.replay_id for futures, _ in found])
    runs: dict[int, int] = dict(session.execute(select(Replay.id, Replay.run_id).where(of)).all())
    results = _read_numbers(session, [futures.id for futures, job in found if job.state == "done"])
    same = ("state", "traceback", "done", "total", "created_at", "finished_at")
    return [
        schemas.FuturesSummary.model_validate(
            futures.options
            | {name: getattr(job, name) for name in same}
            | {
                "id": futures.id,
                "replay_id": futures.replay_id,
                "run_id": runs[futures.replay_id],
                "agent_run_id": job.run_id,
                "agent_step": steps[job.checkpoint_id],
                "reason": jobs.state_reason(job, queue),
            }
            | results.get(futures.id, NO_NUMBERS)
        )
        for futures, job in found
    ]


def _read_numbers(session: Session, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the main numbers of results, without loading the results."""
    query = select(Futures.id, *(Futures.document[name] for name in NO_NUMBERS)).where(Futures.id.in_(ids))
    return {futures_id: dict(zip(NO_NUMBERS, numbers, strict=True)) for futures_id, *numbers in session.execute(query)}


def delete(session: Session, job: Job) -> None:
    """Delete futures, and cancel their job if it is in progress."""
    _announce(session, job)
    jobs.remove(session, job)


def store(session: Session, job: Job, event: ev.FuturesEvent) -> None:
    """Store the result of a job. Check that its videos have arrived, which are found by their job."""
    for video in event.document.videos:
        find_reported(session, Maker(job.require_run_id(), job.attempt, job.id), video.file)
    row_of_job(session, Futures, job).document = to_stored(event.document)
    _announce(session, job)


def discard(session: Session, job: Job) -> None:
    """Delete the result of an earlier attempt."""
    row_of_job(session, Futures, job).document = None


def has_result(session: Session, job: Job) -> bool:
    """Return True if the job has a result."""
    return row_of_job(session, Futures, job).document is not None


def _check(track: Track, run: Run, acting_run: Run, wanted: schemas.SimulateFutures) -> None:
    names = track.head.action_names
    check_decision(track, wanted.decision)
    if acting_run.env != run.env:
        message = f"run {acting_run.id} plays {acting_run.env}, not {run.env}: name a run of the same environment"
        raise Invalid(FieldError(field="agent.run_id", message=message))
    if action_set(acting_run) != action_set(run):
        message = f"run {acting_run.id} has another action set than run {run.id}: name a run with the same actions"
        raise Invalid(FieldError(field="agent.run_id", message=message))
    if wanted.temperature != 1 and usual_acting_of(acting_run).name != "sampled":
        message = f"the agent of run {acting_run.id} acts by action values, not by a policy: leave the temperature at 1"
        raise Invalid(FieldError(field="temperature", message=message))
    if track.head.numbers_kind == "gaussian" and (wanted.first or wanted.each_action):
        message = "only discrete actions can be forced, and those of this replay are numbers"
        raise Invalid(FieldError(field="first", message=message))
    for name in wanted.first:
        if name not in names:
            message = f"there is no action {name!r}: choose from {', '.join(names)}"
            raise Invalid(FieldError(field="first", message=message))


def _check_room(session: Session, replay: Replay, run: Run) -> None:
    jobs.check_room(session, run, "futures", MAX_WAITING_JOBS, "simulations")
    kept = session.scalar(select(func.count(Futures.id)).where(Futures.replay_id == replay.id)) or 0
    if kept >= MAX_KEPT:
        raise Conflict(f"Replay {replay.id} has {MAX_KEPT} futures, which is the limit. Delete some first.")


def _announce(session: Session, job: Job) -> None:
    """Notify pages of the replay's run, which may be another one than that of the job."""
    notice = {"run_id": session.get_one(Replay, row_of_job(session, Futures, job).replay_id).run_id}
    after_commit(session, lambda: publish("run.files", notice))
