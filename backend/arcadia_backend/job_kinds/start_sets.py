"""Start sets: stored start points of Atari games for the protocols human-starts and agent-starts.

A set is a row, because files are deleted with their run. It has exactly the text of the imported file, so its hash is
the one in evaluation documents. A claim has only the hash, since a lost claim cannot be repeated and a download can.
"""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, undefer

from arcadia_backend import jobs
from arcadia_backend.config import CurrentSettings, Settings
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Evaluation, Job, Replay
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.job_kinds.result_routes import wait_for
from arcadia_backend.jobs import UNFINISHED, JobFields, JobType, job_fields, read_queue
from arcadia_backend.live.notices import Topic
from arcadia_backend.projects.schemas import MayEdit, ProjectName, Projects
from arcadia_backend.projects.service import in_projects, resolve
from arcadia_backend.replays.players import (
    action_set,
    check_decision,
    episode_of,
    read_track,
    refuse,
    why_no_start_points,
)
from arcadia_backend.replays.service import find_replay
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, find_run, job_in_progress, refuse_without_agent
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.events import MOST_SCREENS
from arcadia_workers.contract.games import ENVIRONMENTS, EnvironmentId
from arcadia_workers.contract.jobs import StartPointsParameters
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.protocol import StartPlayer
from arcadia_workers.contract.protocols.starts import StartSetFile, starts_at
from arcadia_workers.contract.tracks import Track
from arcadia_workers.contract.values import STORABLE, Count, Ordinal

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]


class StartSet(BaseModel):
    """A start set without its points."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    project: str
    env: str
    name: str
    player: StartPlayer = Field(description="Who played the games from which the points were taken.")
    protocol: str = Field(description="Protocol that uses it.")
    source: str = Field(description="Who played, and when or with which command.")
    emulator: str = Field(description="Emulator that made the screens.")
    points: int
    sha256: str = Field(description="Hash of the points. Evaluation results contain it.")
    bytes: int = Field(description="Size of the exported file.")
    created_at: datetime
    may_edit: MayEdit


class SaveStartPoints(BaseModel):
    """Request to save start points from a replay: one of its decisions, or many."""

    model_config = ConfigDict(extra="forbid")

    name: Name = Field(description="Name of the start set, unique for the game in the project of the run.")
    decision: Count = Field(description="The decision, from 0. The point is the screen before it.")
    every: Ordinal | None = Field(
        default=None,
        description="Save this decision and every k-th one before and after it, for example every 100th. "
        f"At most {MOST_SCREENS} points. Null saves only the decision.",
    )


class SavedStartPoints(JobFields):
    """The state of saving start points from a replay."""

    id: int
    replay_id: int
    name: str
    start_set_id: int | None = Field(description="The start set. Null until it is stored, and if it was deleted.")


# Limit start sets per game and project, since each takes up to some megabytes of the database.
MAX_SETS = 100

PROTOCOL_OF: dict[StartPlayer, str] = {
    protocol.starts_from: protocol.name for protocol in PROTOCOLS.values() if protocol.starts_from
}


def build_start_set(name: str, points: StartSetFile, project_id: int | None = None) -> tables.StartSet:
    """Build the row of a start set. Call this before the transaction, since the set may be large."""
    content = points.content
    return tables.StartSet(
        project_id=project_id,
        env=points.env,
        name=name,
        player=points.player,
        source=points.source,
        emulator=points.emulator,
        points=len(points.starts),
        sha256=points.sha256,
        bytes=len(content),
        content=content.decode(),
    )


def store(session: Session, stored: tables.StartSet) -> tables.StartSet:
    """Store a start set. Raise Conflict if its project already has its name or its points."""
    same = (tables.StartSet.sha256 == stored.sha256, tables.StartSet.project_id == stored.project_id)
    if (duplicate := session.scalar(select(tables.StartSet.name).where(*same))) is not None:
        raise Conflict(f"These points are already stored as {duplicate!r}.")
    check_room(session, stored.project_id, stored.env, stored.name)
    session.add(stored)
    try:
        session.flush()
    except IntegrityError as error:
        raise Conflict(f"Another start set named {stored.name!r} was stored just now.") from error
    return stored


def check_room(session: Session, project_id: int, env: str, name: str) -> None:
    """Raise Conflict if a project already has a start set of this name for the game, or too many."""
    title = ENVIRONMENTS[env].title
    of_game = (tables.StartSet.env == env, tables.StartSet.project_id == project_id)
    names = session.scalars(select(tables.StartSet.name).where(*of_game)).all()
    if name in names:
        raise Conflict(f"The project already has a start set named {name!r} for {title}. Choose another name.")
    if len(names) >= MAX_SETS:
        raise Conflict(
            f"The project already has {MAX_SETS} start sets for {title}, which is the limit. Delete one first."
        )


def find_start_set(
    session: Session, start_set_id: int, *, lock: bool = False, content: bool = False
) -> tables.StartSet:
    """Return a start set. Raise NotFound if it does not exist. With `content`, load its points too."""
    query = select(tables.StartSet).where(tables.StartSet.id == start_set_id)
    query = query.with_for_update() if lock else query
    start_set = session.scalar(query.options(undefer(tables.StartSet.content)) if content else query)
    if start_set is None:
        raise NotFound(f"There is no start set {start_set_id}.")
    return start_set


def load_start_sets(
    session: Session, env: str | None, player: StartPlayer | None = None, projects: Collection[str] = ()
) -> Sequence[tables.StartSet]:
    """Return the start sets, newest first. Filter by game, by player and by projects if these are given."""
    of_projects = in_projects(tables.StartSet.project_id, projects)
    query = select(tables.StartSet).where(*of_projects).order_by(tables.StartSet.id.desc())
    query = query.where(tables.StartSet.env == env) if env is not None else query
    return session.scalars(query.where(tables.StartSet.player == player) if player is not None else query).all()


def remove(session: Session, stored: tables.StartSet) -> None:
    """Delete a start set. Raise Conflict if an unfinished evaluation uses it."""
    query = select(func.count()).select_from(Evaluation).join(Job, Job.id == Evaluation.job_id)
    unfinished = session.scalar(query.where(Evaluation.start_set_id == stored.id, Job.state.in_(UNFINISHED))) or 0
    if unfinished:
        users = "An unfinished evaluation uses" if unfinished == 1 else f"{unfinished} unfinished evaluations use"
        raise Conflict(f"{users} {stored.name!r}. Cancel first, or wait until it is done.")
    session.delete(stored)
    session.flush()


def to_schema(stored: tables.StartSet) -> StartSet:
    """Return a start set as a schema of the API."""
    same = (name for name in StartSet.model_fields if name != "protocol")
    return StartSet.model_validate(
        {name: getattr(stored, name) for name in same} | {"protocol": PROTOCOL_OF[stored.player]}
    )


def to_reference(stored: tables.StartSet) -> dict[str, Any]:
    """Return the part of a start set that an evaluation stores, since the set may be deleted later."""
    return {name: getattr(stored, name) for name in ("name", "player", "source", "points", "sha256")}


def file_name(stored: tables.StartSet) -> str:
    """Return the name of a set's file, for example pong-human-starts-first-games.json."""
    words = (ENVIRONMENTS[stored.env].title, PROTOCOL_OF[stored.player], stored.name)
    parts = (re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words)
    return "-".join(part for part in parts if part) + ".json"


def request(session: Session, settings: Settings, replay_id: int, wanted: SaveStartPoints) -> Job:
    """Queue the repetition of a replay that saves start points, and delete finished ones of its run."""
    replay = find_replay(session, replay_id, lock=True)
    run = find_run(session, replay.run_id)
    refuse_without_agent(run, "save start points from a replay of")
    track = read_track(session, replay)
    refuse(why_no_start_points(track.head))
    decisions = _decisions(track, wanted)
    check_room(session, run.project_id, run.env, wanted.name)
    jobs.check_room(session, run, "start_points")
    # Their sets stay.
    jobs.remove_ended(session, run, "start_points")
    last = decisions[-1]
    parameters = StartPointsParameters(
        replay_id=replay.id,
        name=wanted.name,
        source=_source(replay, track, wanted),
        env=run.env,
        action_set=action_set(run),
        frames_per_action=track.head.frames_per_action,
        **episode_of(track, last),
        decisions=decisions,
        score=float(track.columns["score"][last]),
        max_bytes=settings.max_body_bytes,
    )
    return jobs.enqueue(session, run, None, "start_points", parameters, len(decisions))


def find(session: Session, replay_id: int, number: int) -> Job:
    """Return the job that saves start points of a replay, or raise NotFound."""
    job = jobs.find_of_kind(session, number, "start_points")
    if StartPointsParameters.model_validate(job.parameters).replay_id != replay_id:
        raise NotFound(f"Start points {number} are not of replay {replay_id}.")
    return job


def in_progress(session: Session, number: int) -> Topic | None:
    """Return the topic of a job that saves start points, or None if it has ended."""
    return job_in_progress(jobs.find_of_kind(session, number, "start_points"))


def saved_to_schema(session: Session, job: Job) -> SavedStartPoints:
    """Return the state of saving as the API shows it."""
    queue = read_queue(session, [job])
    stored, parameters = _stored(session, job), StartPointsParameters.model_validate(job.parameters)
    fields = {"id": job.id, "replay_id": parameters.replay_id, "name": parameters.name}
    fields["start_set_id"] = stored and stored.id
    return SavedStartPoints.model_validate(fields | job_fields(job, queue))


def keep(session: Session, job: Job, event: ev.StartPointsEvent) -> None:
    """Store the start set. If that is impossible, set a message, and the job fails with it.

    The worker has refused a large set, whose points would take seconds here.
    """
    if _stored(session, job) is not None:
        return
    which = StartPointsParameters.model_validate(job.parameters)
    starts = starts_at(event.seed, event.actions, event.screens)
    points = StartSetFile(env=which.env, player="agent", source=which.source, emulator=event.emulator, starts=starts)
    try:
        with session.begin_nested():
            store(session, build_start_set(which.name, points, _project_of(session, job)))
    except Conflict as error:
        job.message = error.detail


def has_result(session: Session, job: Job) -> bool:
    """Return True if the start set is stored."""
    return _stored(session, job) is not None


def _stored(session: Session, job: Job) -> tables.StartSet | None:
    # Equal sources have equal points, and the name is unique.
    which = StartPointsParameters.model_validate(job.parameters)
    same = (
        tables.StartSet.project_id == _project_of(session, job),
        tables.StartSet.env == which.env,
        tables.StartSet.name == which.name,
        tables.StartSet.source == which.source,
    )
    return session.scalar(select(tables.StartSet).where(*same))


def _project_of(session: Session, job: Job) -> int:
    return find_run(session, job.require_run_id()).project_id


def _decisions(track: Track, wanted: SaveStartPoints) -> list[int]:
    """Return the decisions to save, in ascending order. Raise Invalid if there are too many."""
    check_decision(track, wanted.decision)
    if wanted.every is None:
        return [wanted.decision]
    decisions = [*range(wanted.decision % wanted.every, len(track), wanted.every)]
    if len(decisions) > ev.MOST_SCREENS:
        smallest, limit = -(-len(track) // ev.MOST_SCREENS), ev.MOST_SCREENS
        message = f"this gives {len(decisions)} start points, and at most {limit} can be saved: use {smallest} or more"
        raise Invalid(FieldError(field="every", message=message))
    return decisions


def _source(replay: Replay, track: Track, wanted: SaveStartPoints) -> str:
    """Return who played which decisions. They are counted from 1, as on the page."""
    head, number = track.head, wanted.decision + 1
    which = f"decision {number}" if wanted.every is None else f"decision {number} and every {wanted.every} from it"
    return (
        f"{head.algorithm} of run {replay.run_id} at step {head.checkpoint_step:,}, {which} of replay {replay.id} "
        f"by {head.protocol} with seed {head.seed}, episode {head.episode}"
    )


router = APIRouter(tags=["evaluations"])
# An evaluation may already use the set of an earlier attempt, which has the same points, so it is not discarded.
JOB = JobType("start_points", router, {ev.StartPointsEvent: keep}, has_result)
WAIT = wait_for("saving_id", in_progress)


@router.post("/start-sets", status_code=201)
def import_start_set(
    db: Db,
    once: Idempotent,
    points: StartSetFile,
    name: Annotated[Name, Query(description="Name, unique for the game in the project.")],
    project: Annotated[ProjectName | None, Query(description="Its project. Default: Main.")] = None,
) -> StartSet:
    """Import a start set. The body is a file as `arcadia evaluate` writes it."""
    stored = build_start_set(name, points)
    with once.write(db) as session:
        stored.project_id = resolve(session, project)
        return once.store(session, to_schema(store(session, stored)))


@router.get("/start-sets")
def list_start_sets(
    db: Db,
    env: Annotated[EnvironmentId | None, Query(description="Only of this game, for example ALE/Pong-v5.")] = None,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
) -> list[StartSet]:
    """List the start sets, newest first."""
    with db.read() as session:
        return [to_schema(stored) for stored in load_start_sets(session, env, projects=project)]


@router.get("/start-sets/{start_set_id}")
def read_start_set(db: Db, start_set_id: PathId) -> StartSet:
    """Return a start set without its points."""
    with db.read() as session:
        return to_schema(find_start_set(session, start_set_id))


@router.get("/export/start-sets/{start_set_id}.json", response_model=StartSetFile)
def export_start_set(db: Db, start_set_id: PathId) -> Response:
    """Export a start set as a file for `arcadia evaluate --starts`."""
    with db.read() as session:
        stored = find_start_set(session, start_set_id, content=True)
    headers = {"Content-Disposition": f'attachment; filename="{file_name(stored)}"'}
    return Response(stored.content, headers=headers, media_type="application/json")


@router.delete("/start-sets/{start_set_id}", status_code=204)
def delete_start_set(db: Db, start_set_id: PathId) -> Response:
    """Permanently delete a start set. Finished evaluations keep their scores."""
    with db.write() as session:
        remove(session, find_start_set(session, start_set_id, lock=True))
    return Response(status_code=204)


@router.post("/replays/{replay_id}/start-points", status_code=201)
def save_start_points(
    db: Db, bell: Bell, settings: CurrentSettings, once: Idempotent, replay_id: PathId, wanted: SaveStartPoints
) -> SavedStartPoints:
    """Save decisions of a replay as a start set for agent-starts.

    A worker repeats the episode, since a start point contains the hash of its screen.
    """
    with once.write(db) as session:
        job = request(session, settings, replay_id, wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, saved_to_schema(session, job))


@router.get("/replays/{replay_id}/start-points/{saving_id}", dependencies=[WAIT])
def read_saved_start_points(db: Db, replay_id: PathId, saving_id: PathId) -> SavedStartPoints:
    """Return whether the start points of a request are saved, immediately or once saving has ended."""
    with db.read() as session:
        return saved_to_schema(session, find(session, replay_id, saving_id))
