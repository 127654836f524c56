"""/executors: the schedulers that are set up, their settings, a check, and the output of a run's job."""

import secrets
import time
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from arcadia_backend.config import CurrentSettings, Settings
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.tables import ExecutorSettings, Installation, RunSubmission
from arcadia_backend.executors import EXECUTORS
from arcadia_backend.executors.executor import NO_OUTPUT, Executor, ExecutorError, JobOrder, JobSettings
from arcadia_backend.executors.ray import RaySettings
from arcadia_backend.executors.slurm import SlurmSettings
from arcadia_backend.executors.submitting import token_of_job
from arcadia_backend.live.notices import publish
from arcadia_backend.projects.service import require_set_up
from arcadia_backend.web.lookup import PathId, find_run
from arcadia_backend.worker_api.attempts import CHECKED_RUN, read_installation_id
from arcadia_workers.contract.worker_api import EXECUTOR_TITLES, WORKERS, ExecutorName

router = APIRouter(tags=["executors"])

CHECK_SECONDS = 60.0
CHECK_INTERVAL = 1.0


class ExecutorChoice(BaseModel):
    """A place where runs can train."""

    name: ExecutorName
    title: str
    is_default: bool = Field(description="Whether runs train there if neither they nor their project choose a place.")


class DefaultExecutor(BaseModel):
    """Where runs train by default."""

    model_config = ConfigDict(extra="forbid")

    executor: ExecutorName


class SlurmForm(BaseModel):
    """The settings of Slurm, and the JSON Schema of their form."""

    settings: SlurmSettings | None = Field(description="Null if Slurm is not set up.")
    form: dict[str, Any]


class RayForm(BaseModel):
    """The settings of Ray, and the JSON Schema of their form."""

    settings: RaySettings | None = Field(description="Null if Ray is not set up.")
    form: dict[str, Any]


class ExecutorCheck(BaseModel):
    """The result of a check."""

    ok: bool
    message: str = Field(description="The finding, or the setting to change.")
    output: str = Field(description="Output of the job, if one was submitted and its output can be read here.")


class JobOutput(BaseModel):
    """The end of the output of a job."""

    output: str = Field(description="Empty if the job has not started, or if this server cannot read its output.")


@router.get("/executors")
def list_executors(db: Db) -> list[ExecutorChoice]:
    """Return where runs can train: on workers, and on each scheduler that is set up."""
    with db.read() as session:
        set_up = {*session.scalars(select(ExecutorSettings.executor))}
        default = session.scalar(select(Installation.executor)) or WORKERS
    names: tuple[ExecutorName, ...] = get_args(ExecutorName)
    return [
        ExecutorChoice(name=name, title=EXECUTOR_TITLES[name], is_default=name == default)
        for name in names
        if name == WORKERS or name in set_up
    ]


@router.put("/executors/default")
def choose_default(db: Db, choice: DefaultExecutor) -> list[ExecutorChoice]:
    """Choose where runs train if neither they nor their project choose a place."""
    with db.write() as session:
        require_set_up(session, choice.executor)
        session.scalars(select(Installation)).one().executor = choice.executor
    return list_executors(db)


RunJob = Annotated[bool, Query(description="Also submit a job that connects to this server.")]


@router.get("/executors/slurm")
def read_slurm(db: Db) -> SlurmForm:
    """Return the settings of Slurm, and the schema of their form."""
    return SlurmForm.model_validate(_form(db, "slurm"))


@router.put("/executors/slurm")
def set_up_slurm(db: Db, settings: SlurmSettings) -> SlurmForm:
    """Store the settings of Slurm, so that runs can be submitted. Jobs that exist keep theirs."""
    return SlurmForm.model_validate(_set_up(db, "slurm", settings))


@router.post("/executors/slurm/check")
def check_slurm(db: Db, current: CurrentSettings, settings: SlurmSettings, run_job: RunJob = False) -> ExecutorCheck:
    """Check settings of Slurm before they are stored. With a job, this takes up to a minute."""
    return _check(db, current, "slurm", settings, run_job)


@router.get("/executors/ray")
def read_ray(db: Db) -> RayForm:
    """Return the settings of Ray, and the schema of their form."""
    return RayForm.model_validate(_form(db, "ray"))


@router.put("/executors/ray")
def set_up_ray(db: Db, settings: RaySettings) -> RayForm:
    """Store the settings of Ray, so that runs can be submitted. Jobs that exist keep theirs."""
    return RayForm.model_validate(_set_up(db, "ray", settings))


@router.post("/executors/ray/check")
def check_ray(db: Db, current: CurrentSettings, settings: RaySettings, run_job: RunJob = False) -> ExecutorCheck:
    """Check settings of Ray before they are stored. With a job, this takes up to a minute."""
    return _check(db, current, "ray", settings, run_job)


def _form(db: Database, name: ExecutorName) -> dict[str, Any]:
    with db.read() as session:
        stored = session.get(ExecutorSettings, name)
    settings = stored.settings if stored is not None else None
    return {"settings": settings, "form": EXECUTORS[name].settings.model_json_schema()}


def _set_up(db: Database, name: ExecutorName, settings: JobSettings) -> dict[str, Any]:
    with db.write() as session:
        session.merge(ExecutorSettings(executor=name, settings=settings.model_dump(mode="json")))
    # Wake the thread that submits.
    publish("worker.changed", {"name": name})
    return _form(db, name)


def _check(db: Database, current: Settings, name: ExecutorName, settings: JobSettings, run_job: bool) -> ExecutorCheck:
    executor = EXECUTORS[name].open(settings, current, 0.0)
    try:
        message = executor.check()
        if not run_job:
            return ExecutorCheck(ok=True, message=message, output="")
        with db.read() as session:
            mark = f"arcadia-{read_installation_id(session)}-check-{secrets.token_hex(4)}"
        # There is no run 0, so this token is accepted only for signing off.
        token = token_of_job(current, CHECKED_RUN, 0)
        (handle,) = executor.submit([JobOrder(mark, ("--check",), token, minutes=1)])
        return _watch_check(executor, handle)
    except ExecutorError as error:
        return ExecutorCheck(ok=False, message=str(error), output="")


def _watch_check(executor: Executor, handle: str) -> ExecutorCheck:
    """Wait until the job of a check has ended. Cancel it if that takes too long."""
    deadline = time.monotonic() + CHECK_SECONDS
    while (job := executor.poll([handle]).get(handle)) is None or job.phase != "ended":
        if time.monotonic() > deadline:
            executor.cancel([handle])
            state = "is not listed" if job is None else f"is {job.scheduler_state}: {job.reason or 'no reason given'}"
            message = f"Job {handle} has not ended within {CHECK_SECONDS:g} s and was cancelled. It {state}."
            return ExecutorCheck(ok=False, message=message, output=executor.tail(handle))
        time.sleep(CHECK_INTERVAL)
    where, output = f"Job {handle} on {job.host or 'no node'}", executor.tail(handle)
    if job.outcome != "completed":
        how = f" and {job.status}" if job.status else ""
        hint = "Read its output." if output else NO_OUTPUT
        return ExecutorCheck(ok=False, message=f"{where} ended as {job.scheduler_state}{how}. {hint}", output=output)
    if not output:
        message = f"{where} connected to this server. Its output cannot be read here, so pages will not show output."
        return ExecutorCheck(ok=True, message=message, output="")
    return ExecutorCheck(ok=True, message=f"{where} connected to this server.", output=output)


@router.get("/runs/{run_id}/job-output")
def read_job_output(db: Db, current: CurrentSettings, run_id: PathId) -> JobOutput:
    """Return the end of the output of the latest job of a run."""
    with db.read() as session:
        find_run(session, run_id)
        latest = select(RunSubmission).where(RunSubmission.run_id == run_id).order_by(RunSubmission.id.desc()).limit(1)
        row = session.scalar(latest)
        stored = session.get(ExecutorSettings, row.executor) if row is not None else None
    if row is None or row.handle is None or stored is None:
        return JobOutput(output="")
    kind = EXECUTORS[row.executor]
    return JobOutput(output=kind.open(kind.settings.model_validate(stored.settings), current, 0.0).tail(row.handle))
