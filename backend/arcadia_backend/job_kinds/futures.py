"""Futures of replays: simulated continuations of an episode, computed by a job on request."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session, defer

from arcadia_backend import jobs
from arcadia_backend.checkpoints.availability import CheckpointChoice, find_chosen
from arcadia_backend.checkpoints.service import usual_acting_of
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Checkpoint, File, Job, Replay, Run
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.files.service import Maker, find_reported
from arcadia_backend.job_kinds.result_routes import add_job_routes
from arcadia_backend.jobs import JobFields, document_job, job_fields, read_queue, row_of_job, to_stored
from arcadia_backend.projects.service import require_editor
from arcadia_backend.replays.players import action_set, check_decision, episode_of, find_player, read_track
from arcadia_backend.replays.service import find_replay
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, find_run, refuse_without_agent
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.futures import FuturesDocument, FuturesOptions, Interval, Shown
from arcadia_workers.contract.jobs import FuturesParameters
from arcadia_workers.contract.tracks import Track
from arcadia_workers.contract.values import Id


class ActingAgent(BaseModel):
    """The agent of another checkpoint."""

    model_config = ConfigDict(extra="forbid")

    run_id: Id
    checkpoint: CheckpointChoice = "best"


class SimulateFutures(FuturesOptions):
    """A request to simulate the futures of a decision."""

    agent: ActingAgent | None = Field(
        default=None,
        description="The agent that acts in the futures. Default: the agent of the replay. It needs the same "
        "environment and actions.",
    )


class FuturesSummary(JobFields, FuturesOptions):
    """Futures of a decision of a replay, and the main numbers of their result."""

    # NaN and infinity are values. JSON has them as the strings "NaN", "Infinity" and "-Infinity".
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")

    id: int
    replay_id: int
    run_id: int = Field(description="The run of the replay.")
    agent_run_id: int = Field(description="The run whose agent acts in the futures.")
    agent_step: int = Field(description="The step of the checkpoint that acts in them.")
    value: float | None = Field(description="V(s), or the highest Q(s, a), at the decision. Null until they are done.")
    mean: float | None = Field(description="Mean discounted return. Null until they are done.")
    interval: Interval | None = Field(description="The 95 % t-interval of the mean.")


class StoredVideo(BaseModel):
    """Video that begins with the picture of the decision. GET /files/{file_id} downloads it."""

    shows: Shown
    future: int | None = Field(description="Its index in the futures of the result. Null for all futures blended.")
    file_id: int


class Futures(FuturesSummary):
    """Futures of a decision of a replay, and their result when they are done."""

    videos: list[StoredVideo] = Field(
        description="Videos of the best, median and worst future, and of all blended. Or of the first futures."
    )
    document: FuturesDocument | None = Field(description="The result. Null until they are done.")


# Limit futures per replay.
MAX_KEPT = 200
# The numbers of a result that summaries have.
NO_NUMBERS = {"value": None, "mean": None, "interval": None}


def request(session: Session, replay_id: int, wanted: SimulateFutures) -> tuple[tables.Futures, Job]:
    """Queue the futures of a decision of a replay."""
    replay = find_replay(session, replay_id)
    acting_run_id = wanted.agent.run_id if wanted.agent else replay.run_id
    # Every transaction locks runs in the order of their ids.
    runs = {run_id: find_run(session, run_id, lock=True) for run_id in sorted({replay.run_id, acting_run_id})}
    require_editor(session, "runs", acting_run_id)
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
        **episode_of(track, options.decision),
    )
    total = options.work(len(track.head.action_names))
    job = jobs.enqueue(session, acting_run, checkpoint, "futures", parameters, total)
    futures = tables.Futures(replay_id=replay.id, job_id=job.id, options=options.model_dump(mode="json"))
    session.add(futures)
    session.flush()
    return futures, job


def load_futures(session: Session, replay: Replay) -> list[FuturesSummary]:
    """Return the summaries of a replay's futures, newest first."""
    query = (
        select(tables.Futures, Job)
        .join(Job, Job.id == tables.Futures.job_id)
        .where(tables.Futures.replay_id == replay.id)
    )
    rows = session.execute(query.options(defer(tables.Futures.document)).order_by(tables.Futures.id.desc())).all()
    return _summarize(session, [(futures, job) for futures, job in rows])


def to_schema(session: Session, futures: tables.Futures, job: Job) -> Futures:
    """Convert futures to their API schema."""
    summary = _summarize(session, [(futures, job)])[0]
    document = futures.document if job.state == "done" else None
    videos = _stored_videos(session, job, document) if document else []
    return Futures.model_validate(summary.model_dump() | {"document": document, "videos": videos})


def _stored_videos(session: Session, job: Job, document: dict[str, Any]) -> list[dict[str, Any]]:
    query = select(File.path, File.id).where(File.job_id == job.id, File.attempt == job.attempt)
    ids: dict[str, int] = dict(session.execute(query).all())
    videos = document.get("videos", [])
    return [
        {"shows": each["shows"], "future": each["future"], "file_id": ids[each["file"]]}
        for each in videos
        if each["file"] in ids
    ]


def _summarize(session: Session, rows: Sequence[tuple[tables.Futures, Job]]) -> list[FuturesSummary]:
    queue = read_queue(session, (job for _, job in rows))
    at = Checkpoint.id.in_([job.checkpoint_id for _, job in rows])
    steps: dict[int | None, int] = dict(session.execute(select(Checkpoint.id, Checkpoint.step).where(at)).all())
    of = Replay.id.in_([futures.replay_id for futures, _ in rows])
    runs: dict[int, int] = dict(session.execute(select(Replay.id, Replay.run_id).where(of)).all())
    results = _read_numbers(session, [futures.id for futures, job in rows if job.state == "done"])
    return [
        FuturesSummary.model_validate(
            futures.options
            | job_fields(job, queue)
            | {
                "id": futures.id,
                "replay_id": futures.replay_id,
                "run_id": runs[futures.replay_id],
                "agent_run_id": job.run_id,
                "agent_step": steps[job.checkpoint_id],
            }
            | results.get(futures.id, NO_NUMBERS)
        )
        for futures, job in rows
    ]


def _read_numbers(session: Session, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the main numbers of results, without loading the results."""
    query = select(tables.Futures.id, *(tables.Futures.document[name] for name in NO_NUMBERS)).where(
        tables.Futures.id.in_(ids)
    )
    return {futures_id: dict(zip(NO_NUMBERS, numbers, strict=True)) for futures_id, *numbers in session.execute(query)}


def store(session: Session, job: Job, event: ev.FuturesEvent) -> None:
    """Store the result of a job. Check that its videos have arrived, which are found by their job."""
    for video in event.document.videos:
        find_reported(session, Maker(job.require_run_id(), job.attempt, job.id), video.file)
    row_of_job(session, tables.Futures, job).document = to_stored(event.document)


def _check(track: Track, run: Run, acting_run: Run, wanted: SimulateFutures) -> None:
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
    jobs.check_room(session, run, "futures")
    kept = session.scalar(select(func.count(tables.Futures.id)).where(tables.Futures.replay_id == replay.id)) or 0
    if kept >= MAX_KEPT:
        raise Conflict(f"Replay {replay.id} has {MAX_KEPT} futures, which is the limit. Delete some first.")


router = APIRouter(tags=["files"])
JOB = document_job("futures", tables.Futures, router, store=store)
add_job_routes(
    JOB,
    Futures,
    to_schema,
    cancel=None,
    delete_text="Delete futures. A simulation in progress is canceled.",
)


@router.post("/replays/{replay_id}/futures", status_code=201)
def request_futures(db: Db, bell: Bell, once: Idempotent, replay_id: PathId, wanted: SimulateFutures) -> Futures:
    """Queue the simulation of how a replay could continue from one of its decisions."""
    with once.write(db) as session:
        futures, job = request(session, replay_id, wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, to_schema(session, futures, job))


@router.get("/replays/{replay_id}/futures")
def list_futures(db: Db, replay_id: PathId) -> list[FuturesSummary]:
    """List the futures of a replay without their results, newest first."""
    with db.read() as session:
        return load_futures(session, find_replay(session, replay_id))
