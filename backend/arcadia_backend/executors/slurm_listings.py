"""Jobs as Slurm lists them: the JSON of squeue and scontrol, and the table of sacct."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from arcadia_backend.executors.executor import ExecutorError, JobOutcome, JobPhase, SchedulerJob

# Slurm keeps the other states of a job only while it is in the queue.
_WAITING = {
    "PENDING",
    "CONFIGURING",
    "REQUEUED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "RESV_DEL_HOLD",
    "SPECIAL_EXIT",
    "EXPEDITING",
}
_OUTCOMES: Mapping[str, JobOutcome] = {"COMPLETED": "completed", "CANCELLED": "cancelled"}
_RUNNING = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"}
# Slurm 23.11 and later list a state and its flags, of which the first of these is the state that Slurm itself shows.
_FLAGS = (
    "COMPLETING",
    "STAGE_OUT",
    "CONFIGURING",
    "EXPEDITING",
    "RESIZING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "STOPPED",
    "REVOKED",
    "RESV_DEL_HOLD",
    "SIGNALING",
)
# The columns of sacct. Times are seconds since 1970.
SACCT_COLUMNS = "JobID,JobName,State,ExitCode,NodeList,AllocCPUS,AllocTRES,Start,End"


@dataclass(frozen=True)
class Listing:
    """The jobs that Slurm lists, and the numbers of their arrays."""

    jobs: Sequence[SchedulerJob]
    arrays: frozenset[str]


def read_jobs(document: str) -> Listing:
    """Read the output of `squeue --json` or `scontrol --json` of Slurm 22.05 or later."""
    try:
        listed = json.loads(document)
        errors, jobs = listed.get("errors") or [], listed["jobs"]
        # Without a controller, squeue 22.05 exits with status 0 and lists no jobs.
        if errors:
            message = "; ".join(str(each.get("error") or each.get("description") or each) for each in errors)
            raise ExecutorError(f"Slurm's controller gives no list of jobs. Its message: {message[:500]}")
        places = _places(jobs)
        arrays = frozenset(str(array) for job in jobs if (array := _number(job.get("array_job_id"))))
        return Listing([each for job in jobs for each in _read_record(job, places)], arrays)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ExecutorError(f"Slurm did not return a list of jobs: {error!r}") from None


def read_accounting(table: str) -> list[SchedulerJob]:
    """Read the jobs that have ended from the output of sacct, which may be late for others."""
    return [job for line in table.splitlines() for job in _read_row(line) if job.phase == "ended"]


def _read_row(line: str) -> list[SchedulerJob]:
    """Return the jobs of a row. Tasks of an array that were cancelled while they waited are one row."""
    number, name, words, status, nodes, cores, resources, start, end = line.split("|")
    state = words.split()[0]  # of a text such as CANCELLED by 1000
    array, _, listed = number.partition("_")
    tasks: Sequence[int | None] = _read_tasks(listed.strip("[]")) if listed else [None]
    code, signal = (int(each) for each in status.split(":"))
    return [
        SchedulerJob(
            handle=array if task is None else f"{array}_{task}",
            mark=name,
            phase=_phase(state),
            scheduler_state=state,
            task=task,
            outcome=_OUTCOMES.get(state, "failed"),
            host=nodes if nodes != "None assigned" else None,
            cores=int(cores or 0) or None,
            gpus=_gpus(resources),
            started_at=_time(int(start)) if start.isdecimal() else None,
            ended_at=_time(int(end)) if end.isdecimal() else None,
            exit_code=code,
            signal=signal or None,
        )
        for task in tasks
    ]


def _read_record(job: Mapping[str, Any], places: Mapping[int, int]) -> list[SchedulerJob]:
    """Return the jobs of a record. The waiting tasks of an array are one record."""
    array, task = _number(job.get("array_job_id")), _number(job.get("array_task_id"))
    if not array:
        return [_read_job(job, places, str(job["job_id"]), None)]
    tasks = [task] if task is not None else _read_tasks(job.get("array_task_string") or "")
    return [_read_job(job, places, f"{array}_{each}", each) for each in tasks]


def _read_tasks(text: str) -> list[int]:
    """Read numbers of tasks such as `1,4-6,10-20:2%3`."""
    tasks: list[int] = []
    for part in filter(None, text.partition("%")[0].split(",")):
        bounds, _, step = part.partition(":")
        low, _, high = bounds.partition("-")
        tasks += range(int(low), int(high or low) + 1, int(step or 1))
    return tasks


def _read_job(job: Mapping[str, Any], places: Mapping[int, int], handle: str, task: int | None) -> SchedulerJob:
    state = _state(job)
    phase = _phase(state)
    details = [job.get("state_reason") or "", job.get("state_description") or ""]
    reason = ": ".join(each for each in details if each and each != "None")
    code, signal = _exit_status(job.get("exit_code"))
    return SchedulerJob(
        handle=handle,
        mark=job.get("comment") or job.get("name") or "",
        phase=phase,
        scheduler_state=state,
        task=task,
        outcome=_OUTCOMES.get(state, "failed") if phase == "ended" else None,
        reason=reason if phase == "waiting" and reason else None,
        host=job.get("nodes") or None,
        place=places.get(job["job_id"]) if phase == "waiting" else None,
        cores=_number(job.get("cpus")),
        gpus=_gpus(job.get("tres_alloc_str") or ""),
        started_at=_time(_number(job.get("start_time"))) if phase != "waiting" else None,
        ended_at=_time(_number(job.get("end_time"))) if phase == "ended" else None,
        exit_code=code,
        signal=signal,
    )


def _places(jobs: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return the place of each pending job among those of its partition. Slurm may start a smaller job first."""
    waiting: dict[str, list[tuple[int, int]]] = {}
    for job in jobs:
        if _state(job) == "PENDING":
            waiting.setdefault(job.get("partition") or "", []).append((-(_number(job["priority"]) or 0), job["job_id"]))
    return {job_id: place for ids in waiting.values() for place, (_, job_id) in enumerate(sorted(ids), 1)}


def _state(job: Mapping[str, Any]) -> str:
    """Return the state as Slurm itself shows it."""
    state = job["job_state"]
    listed = [re.sub(r"\W.*", "", str(each)).upper() for each in (state if isinstance(state, list) else [state])]
    return next((flag for flag in _FLAGS if flag in listed), listed[0])


def _phase(state: str) -> JobPhase:
    return "waiting" if state in _WAITING else "running" if state in _RUNNING else "ended"


def _number(value: Any) -> int | None:
    """Return a number. Later versions write an object, which says whether it is set."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    return value if isinstance(value, int) else None


def _exit_status(value: Any) -> tuple[int | None, int | None]:
    """Return the exit code and the signal that ended a job."""
    if isinstance(value, dict) and "return_code" in value:
        signal = value.get("signal") or {}
        # Slurm 23.02 has `signal_id`.
        return _number(value["return_code"]), _number(signal.get("id", signal.get("signal_id"))) or None
    status = _number(value)
    # Slurm 22.05 has the status of waitpid.
    return (None, None) if status is None else (status >> 8, status & 0x7F or None)


def _gpus(resources: str) -> int:
    found = re.search(r"gres/gpu=(\d+)", resources)
    return int(found[1]) if found else 0


def _time(seconds: int | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
