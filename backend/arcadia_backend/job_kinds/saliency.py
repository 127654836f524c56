"""Saliency of replays: computed by a job on request, stored and deleted with the replay."""

import base64
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import File, Job, Replay
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import NotFound
from arcadia_backend.files.service import Maker, find_reported
from arcadia_backend.files.storage import stored_path
from arcadia_backend.job_kinds.result_routes import wait_for
from arcadia_backend.jobs import JobFields, JobType, job_fields, read_queue
from arcadia_backend.replays.players import episode_of, find_player, read_track, refuse, why_no_saliency
from arcadia_backend.replays.service import find_replay, prune_replays
from arcadia_backend.web.formats import JsonNumber
from arcadia_backend.web.lookup import PathId, find_run, job_in_progress, refuse_without_agent
from arcadia_workers.contract import events as ev
from arcadia_workers.contract import tracks
from arcadia_workers.contract.archives import Column
from arcadia_workers.contract.jobs import SaliencyParameters
from arcadia_workers.contract.tracks import SaliencyError, SaliencyHead

Maps = Annotated[str, Field(description="Base64 of one byte per cell: the rows of the grid, decision after decision.")]


class ReplaySaliency(JobFields):
    """The state of a replay's saliency."""

    replay_id: int
    run_id: int
    file_id: int | None = Field(description="The result, an .npz file. Null until it is done.")


class SaliencyMaps(BaseModel):
    """Saliency maps of the network's input, decision by decision."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    head: SaliencyHead
    rows: int = Field(description="The number of rows of the grid, equal to its number of columns.")
    policy: Maps
    value: Maps
    policy_peak: list[JsonNumber] = Field(description="The value that 255 stands for, per decision.")
    value_peak: list[JsonNumber]


def read(file: File, root: Path) -> SaliencyMaps:
    """Read the saliency maps of a replay from its file."""
    try:
        maps = tracks.read_saliency(stored_path(root, file.stored_path))
    except SaliencyError as error:
        raise NotFound(f"The saliency file of this replay cannot be read: {error}") from error
    columns = maps.columns
    return SaliencyMaps(
        head=maps.head,
        rows=columns["policy"].shape[1],
        policy=_base64(columns["policy"]),
        value=_base64(columns["value"]),
        policy_peak=columns["policy_peak"].tolist(),
        value_peak=columns["value_peak"].tolist(),
    )


def _base64(maps: Column) -> str:
    """Encode maps as standard base64, which browsers decode."""
    return base64.b64encode(maps.tobytes()).decode()


def request(session: Session, replay_id: int) -> tuple[Replay, Job]:
    """Queue the saliency of a replay, unless it exists or is in progress."""
    replay = find_replay(session, replay_id, lock=True)
    run, before = find_run(session, replay.run_id), _job_of(session, replay)
    if before is not None and before.state in (*jobs.UNFINISHED, "done"):
        return replay, before
    refuse_without_agent(run, "compute the saliency of a replay of")
    refuse(why_no_saliency(run.env))
    track = read_track(session, replay)
    checkpoint = find_player(session, run, track)
    jobs.check_room(session, run, "saliency")
    if before is not None:
        jobs.remove(session, before)
    parameters = SaliencyParameters(
        **episode_of(track),
        score=track.head.score,
    )
    job = jobs.enqueue(session, run, checkpoint, "saliency", parameters, total=len(track))
    replay.saliency_job_id = job.id
    session.flush()
    return replay, job


def find(session: Session, replay_id: int, *, lock: bool = False) -> tuple[Replay, Job]:
    """Return a replay with its saliency job. Raise NotFound if none was requested."""
    replay = find_replay(session, replay_id, lock=lock)
    job = _job_of(session, replay)
    if job is None:
        raise NotFound(f"Replay {replay_id} has no saliency. Request it first.")
    return replay, job


def to_schema(session: Session, replay: Replay, job: Job) -> ReplaySaliency:
    """Convert the state of a replay's saliency to its API schema."""
    queue = read_queue(session, [job])
    file = _file(session, job) if job.state == "done" else None
    fields = {"replay_id": replay.id, "run_id": replay.run_id, "file_id": file.id if file else None}
    return ReplaySaliency.model_validate(fields | job_fields(job, queue))


def find_file(session: Session, replay_id: int) -> File:
    """Return the saliency file of a replay. Raise NotFound if it is not ready."""
    _, job = find(session, replay_id)
    file = _file(session, job)
    if file is None or job.state != "done":
        raise NotFound(f"The saliency of replay {replay_id} is not ready. Its state is {job.state}.")
    return file


def keep(session: Session, job: Job, event: ev.SaliencyEvent) -> None:
    """Check that the result file has arrived. It is found by its job."""
    find_reported(session, Maker(job.require_run_id(), job.attempt, job.id), event.file)
    replay = session.scalars(select(Replay).where(Replay.saliency_job_id == job.id)).one()
    prune_replays(session, find_run(session, job.require_run_id()), replay)


def has_arrived(session: Session, job: Job) -> bool:
    """Return True if the job has produced a result."""
    return _file(session, job) is not None


def _job_of(session: Session, replay: Replay) -> Job | None:
    return session.get(Job, replay.saliency_job_id) if replay.saliency_job_id else None


def _file(session: Session, job: Job) -> File | None:
    query = select(File).where(File.job_id == job.id, File.kind == "saliency", File.attempt == job.attempt)
    return session.scalar(query)


router = APIRouter(tags=["files"])
# An earlier attempt has left only its file, which the claim deletes.
JOB = JobType("saliency", router, {ev.SaliencyEvent: keep}, has_arrived)
WAIT = wait_for("replay_id", lambda session, number: job_in_progress(find(session, number)[1]))


@router.post("/replays/{replay_id}/saliency")
def request_saliency(db: Db, bell: Bell, replay_id: PathId) -> ReplaySaliency:
    """Queue the computation of a replay's saliency. Does nothing if it exists or is in progress."""
    with db.write() as session:
        replay, job = request(session, replay_id)
        if job.state == "queued":
            bell.ring_after_commit(session, job)
        return to_schema(session, replay, job)


@router.get("/replays/{replay_id}/saliency", dependencies=[WAIT])
def read_saliency(db: Db, replay_id: PathId) -> ReplaySaliency:
    """Return the state of a replay's saliency, immediately or once its computation has ended."""
    with db.read() as session:
        return to_schema(session, *find(session, replay_id))


@router.get("/replays/{replay_id}/saliency/maps")
def read_saliency_maps(db: Db, settings: CurrentSettings, replay_id: PathId) -> SaliencyMaps:
    """Return the saliency maps of a replay, decision by decision."""
    with db.read() as session:
        file = find_file(session, replay_id)
    return read(file, settings.files_dir)


@router.delete("/replays/{replay_id}/saliency", status_code=204)
def delete_saliency(db: Db, replay_id: PathId) -> Response:
    """Delete the saliency of a replay, and cancel its computation if it is in progress."""
    with db.write() as session:
        jobs.remove(session, find(session, replay_id, lock=True)[1])
    return Response(status_code=204)
