"""Slurm, by its commands sbatch, squeue, scancel and sinfo."""

import contextlib
import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from arcadia_backend.executors.executor import (
    ExecutorError,
    JobOrder,
    JobOutcome,
    JobPhase,
    JobSettings,
    SchedulerJob,
    TooManyJobsError,
    worker_script,
)
from arcadia_backend.runs.job_options import check_options, read_options
from arcadia_backend.startup.parts import die_with_parent
from arcadia_workers.contract.values import NO_BOOLEAN, STORABLE

# A command waits for a controller that does not answer.
COMMAND_SECONDS = 60.0
# The tokens of the tasks of an array are one variable, which Linux limits to 128 KiB.
MAX_TASKS = 1_000
TAIL_BYTES = 8_000
# Limit of the jobs and arrays that are looked up by their numbers in one listing.
MAX_LOOKUPS = 20
# Arcadia's own settings are not for jobs. The others would change what commands do.
OTHER_VARIABLES = ("ARCADIA_", "SBATCH_", "SQUEUE_", "SINFO_", "SCANCEL_", "SCONTROL_", "SACCT_")
# Message of sbatch if an array has more tasks than the site accepts.
_TOO_MANY = re.compile(r"MaxSubmit|MaxJobCount|submit limit|Invalid job array specification", re.IGNORECASE)
_HANDLE = re.compile(r"\d+(_\d+)?")

Word = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=200, pattern=r"^[A-Za-z0-9_.,:@+/=-]*$"), STORABLE
]


class SlurmSettings(JobSettings):
    """How jobs are submitted. Empty fields leave the choice to Slurm."""

    directory: Annotated[str, StringConstraints(max_length=1_000, pattern=r"^/[^\r\n]*$"), STORABLE] = Field(
        title="Folder for output",
        description="Jobs write their output here. Pages show it if the nodes and this server share the folder.",
    )
    partition: Word = Field(default="", title="Partition")
    account: Word = Field(default="", title="Account")
    time_limit: Annotated[str, StringConstraints(pattern=r"^(([0-9]+-)?[0-9]+(:[0-9]{2}){0,2})?$", max_length=20)] = (
        Field(
            default="", title="Time limit", description="Such as 1-12:00:00. A run continues in another job afterwards."
        )
    )
    gpu_type: Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9_.-]*$"), STORABLE] = Field(
        default="", title="Kind of GPU", description="Such as a100, as the site names it."
    )
    options: Annotated[str, Field(max_length=20_000), STORABLE, AfterValidator(check_options)] = Field(
        default="",
        title="Other options of sbatch",
        description="One on each line, such as --qos=long, --constraint=avx512 or --reservation=course.",
    )
    array_limit: Annotated[int, NO_BOOLEAN] = Field(
        default=0,
        ge=0,
        le=100_000,
        title="Simultaneous jobs of an array",
        description="Runs that are launched together, such as those of a study, are an array. 0 is no limit.",
    )


@dataclass(frozen=True)
class Listing:
    """The jobs that Slurm lists, and the numbers of their arrays."""

    jobs: Sequence[SchedulerJob]
    arrays: frozenset[str]


class Slurm:
    """The Slurm cluster that the commands on this host belong to."""

    def __init__(self, settings: SlurmSettings, listing_seconds: float = 0.0) -> None:
        self._settings, self._listing_seconds = settings, listing_seconds
        self._listed_at = float("-inf")
        self._listing = Listing([], frozenset())
        self._max_array: int | None = None

    def check(self) -> str:
        """Return which partition jobs go to. Raise ExecutorError if jobs cannot be submitted."""
        wanted = self._settings.partition
        options = ["--partition", wanted] if wanted else []
        output = _command(["sinfo", "--noheader", "--format", "%P %a %D", *options]).stdout
        found = [line.split() for line in output.splitlines() if line.strip()]
        if not found:
            raise ExecutorError(f"Slurm has no partition {wanted}." if wanted else "Slurm has no partition.")
        if not any(state == "up" for _, state, _ in found):
            raise ExecutorError(f"The partition {found[0][0]} is {found[0][1]}.")
        version = _command(["sinfo", "--version"]).stdout.strip()
        return f"{version} has {', '.join(f'{name} with {count} nodes' for name, _, count in found)}."

    @property
    def max_orders(self) -> int:
        """Return the size of the largest array that the site allows."""
        if self._max_array is None:
            found = re.search(r"MaxArraySize\s*=\s*(\d+)", _command(["scontrol", "show", "config"]).stdout)
            self._max_array = max(1, min(MAX_TASKS, int(found[1]))) if found else 1
        return self._max_array

    def submit(self, orders: Sequence[JobOrder], limit: int | None = None) -> list[str]:
        """Submit a job or an array of jobs, and return their numbers."""
        given, first, is_array = self._settings, orders[0], len(orders) > 1
        limits = [each for each in (limit, given.array_limit) if each]
        kind = f"{given.gpu_type}:" if given.gpu_type else ""
        options = {
            "--job-name": first.mark,
            "--comment": first.mark,
            "--array": f"0-{len(orders) - 1}" + (f"%{min(limits)}" if limits else "") if is_array else "",
            "--output": str(Path(given.directory) / ("arcadia-%A_%a.out" if is_array else "arcadia-%j.out")),
            "--chdir": given.directory,
            "--cpus-per-task": str(given.cores),
            "--partition": given.partition,
            "--account": given.account,
            "--time": given.time_limit if first.minutes is None else str(first.minutes),
            "--mem": given.memory,
            "--gres": f"gpu:{kind}{given.gpus}" if first.needs_gpu and given.gpus else "",
            # The token is neither in the script nor in the arguments, which other people can read.
            "--export": "ARCADIA_WORKER_TOKEN",
        }
        command = ["sbatch", "--parsable", "--nodes=1", "--ntasks=1", "--open-mode=append"]
        command.append("--requeue" if first.minutes is None else "--no-requeue")
        command += [f"{name}={value}" for name, value in options.items() if value]
        # Options of the run come last, so that they replace those of the site.
        command += [*read_options(given.options), *first.options]
        tokens = " ".join(order.token for order in orders)
        try:
            answer = _command(command, self._script(orders), {"ARCADIA_WORKER_TOKEN": tokens})
        except ExecutorError as error:
            if _TOO_MANY.search(str(error)):
                raise TooManyJobsError(str(error)) from error
            raise
        handle = answer.stdout.strip().partition(";")[0]
        if not handle.isdecimal():
            raise ExecutorError(f"sbatch did not return the number of a job: {handle[:200]}")
        return [f"{handle}_{task}" for task in range(len(orders))] if is_array else [handle]

    def _script(self, orders: Sequence[JobOrder]) -> str:
        first = orders[0]
        # sbatch reads these lines only above the first command.
        lines = [line for line in self._settings.prepare.splitlines() if line.startswith("#SBATCH")]
        head = ["#!/bin/bash -l", *lines]
        if len(orders) == 1:
            return worker_script(self._settings, first, "slurm", "\n".join(head))
        # Each task has the arguments and the token at its number. It does not get the tokens of the others.
        choice = [
            *head,
            f"tasks=({' '.join(shlex.quote(shlex.join(order.worker)) for order in orders)})",
            "tokens=($ARCADIA_WORKER_TOKEN)",
            'export ARCADIA_WORKER_TOKEN="${tokens[SLURM_ARRAY_TASK_ID]}"',
            "unset tokens",
        ]
        arguments, name = "${tasks[SLURM_ARRAY_TASK_ID]}", f"{first.mark}-$SLURM_ARRAY_TASK_ID"
        return worker_script(self._settings, first, "slurm", "\n".join(choice), arguments, name)

    def poll(self, handles: Collection[str]) -> dict[str, SchedulerJob]:
        """Return the listed jobs of these. Ask for the others by their numbers."""
        listing = self._list()
        found = {job.handle: job for job in listing.jobs if job.handle in handles}
        if missing := sorted({*handles} - {*found}):
            found |= {job.handle: job for job in _look_up(missing) if job.handle in missing}
        for handle in missing:
            array, _, task = handle.partition("_")
            if task and handle not in found and array in listing.arrays:
                # Slurm forgets a task that is cancelled while it waits, but it lists the others of the array.
                found[handle] = SchedulerJob(handle, "", "ended", "CANCELLED", int(task), "cancelled")
        return found

    def cancel(self, handles: Sequence[str]) -> None:
        """Cancel jobs. Slurm sends CONT and TERM, and after its KillWait KILL."""
        _command(["scancel", "--", *handles])

    def find(self, prefix: str) -> list[SchedulerJob]:
        """Return every listed job with this mark."""
        return [job for job in self._list().jobs if job.mark.startswith(prefix)]

    def tail(self, handle: str) -> str:
        """Return the end of a job's output, if this host can read it."""
        if not _HANDLE.fullmatch(handle):
            return ""
        try:
            with (Path(self._settings.directory) / f"arcadia-{handle}.out").open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - TAIL_BYTES))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def _list(self) -> Listing:
        """Return all jobs of the cluster. A recent listing is used again, so that squeue is called rarely."""
        if time.monotonic() - self._listed_at >= self._listing_seconds:
            # Slurm 24.05.1 and later list only unfinished jobs by default.
            answer = _command(["squeue", "--json", "--all", "--states=all"])
            self._listing, self._listed_at = read_jobs(answer.stdout), time.monotonic()
        return self._listing


def _look_up(handles: Sequence[str]) -> list[SchedulerJob]:
    """Return the jobs of these that the controller or the accounting know, although squeue does not list them."""
    jobs: list[SchedulerJob] = []
    for number in sorted({handle.partition("_")[0] for handle in handles})[:MAX_LOOKUPS]:
        with contextlib.suppress(ExecutorError):  # the controller has forgotten it
            jobs += read_jobs(_command(["scontrol", "--json", "show", "job", number]).stdout).jobs
    if unknown := {*handles} - {job.handle for job in jobs}:
        columns, chosen = f"--format={SACCT_COLUMNS}", f"--jobs={','.join(sorted(unknown))}"
        with contextlib.suppress(ExecutorError):  # the site has no accounting
            jobs += read_accounting(
                _command(["sacct", "--noheader", "--parsable2", "--allocations", columns, chosen]).stdout
            )
    return jobs


def _command(
    command: Sequence[str], script: str | None = None, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command of Slurm. Raise ExecutorError if it fails, and kill it if this process dies."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(OTHER_VARIABLES)}
    # Otherwise squeue shortens the numbers of waiting tasks.
    given |= {"SLURM_BITSTR_LEN": "0", "SLURM_TIME_FORMAT": "%s"}
    try:
        answer = subprocess.run(
            command,
            input=script,
            env={**given, **(environment or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMMAND_SECONDS,
            preexec_fn=die_with_parent,
            check=False,
        )
    except FileNotFoundError:
        raise ExecutorError(f"The command {command[0]} is not installed on this host.") from None
    except subprocess.TimeoutExpired:
        raise ExecutorError(f"{command[0]} did not answer within {COMMAND_SECONDS:g} s.") from None
    if answer.returncode != 0:
        message = " ".join(answer.stderr.split())[-500:] or f"it exited with status {answer.returncode}"
        raise ExecutorError(message)
    return answer


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
