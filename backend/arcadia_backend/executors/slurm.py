"""Slurm, by its commands sbatch, squeue, scancel and sinfo."""

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

from pydantic import Field, StringConstraints

from arcadia_backend.executors.executor import (
    ExecutorError,
    JobOrder,
    JobOutcome,
    JobPhase,
    JobSettings,
    SchedulerJob,
    worker_script,
)
from arcadia_backend.startup.parts import die_with_parent
from arcadia_workers.contract.values import NO_BOOLEAN, STORABLE

# A command waits for a controller that does not answer.
COMMAND_SECONDS = 60.0
# The tokens of the tasks of an array are one variable, which Linux limits to 128 KiB.
MAX_TASKS = 1_000
TAIL_BYTES = 8_000
# Slurm keeps the other states of a job only while it is in the queue.
_WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
_OUTCOMES: Mapping[str, JobOutcome] = {"COMPLETED": "completed", "CANCELLED": "cancelled"}
_RUNNING = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"}
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
    array_limit: Annotated[int, NO_BOOLEAN] = Field(
        default=0,
        ge=0,
        le=100_000,
        title="Simultaneous jobs of an array",
        description="Runs that are launched together, such as those of a study, are an array. 0 is no limit.",
    )


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
            "--gres": f"gpu:{given.gpus}" if first.needs_gpu and given.gpus else "",
            # The token is neither in the script nor in the arguments, which other people can read.
            "--export": "ARCADIA_WORKER_TOKEN",
        }
        command = ["sbatch", "--parsable", "--nodes=1", "--ntasks=1", "--open-mode=append"]
        command.append("--requeue" if first.minutes is None else "--no-requeue")
        command += [f"{name}={value}" for name, value in options.items() if value]
        tokens = " ".join(order.token for order in orders)
        answer = _command(command, self._script(orders), {"ARCADIA_WORKER_TOKEN": tokens})
        handle = answer.stdout.strip().partition(";")[0]
        if not handle.isdecimal():
            raise ExecutorError(f"sbatch did not return the number of a job: {handle[:200]}")
        return [f"{handle}_{task}" for task in range(len(orders))] if is_array else [handle]

    def _script(self, orders: Sequence[JobOrder]) -> str:
        first, shell = orders[0], "#!/bin/bash -l"
        if len(orders) == 1:
            return worker_script(self._settings, first, "slurm", shell)
        # Each task has the arguments and the token at its number. It does not get the tokens of the others.
        choice = [
            shell,
            f"tasks=({' '.join(shlex.quote(shlex.join(order.worker)) for order in orders)})",
            "tokens=($ARCADIA_WORKER_TOKEN)",
            'export ARCADIA_WORKER_TOKEN="${tokens[SLURM_ARRAY_TASK_ID]}"',
            "unset tokens",
        ]
        arguments, name = "${tasks[SLURM_ARRAY_TASK_ID]}", f"{first.mark}-$SLURM_ARRAY_TASK_ID"
        return worker_script(self._settings, first, "slurm", "\n".join(choice), arguments, name)

    def poll(self, handles: Collection[str]) -> dict[str, SchedulerJob]:
        """Return the listed jobs of these."""
        listing = self._list()
        listed = {job.handle: job for job in listing.jobs if job.handle in handles}
        for handle in handles:
            array, _, task = handle.partition("_")
            if task and handle not in listed and array in listing.arrays:
                # Slurm forgets a task that is cancelled while it waits, but it lists the others of the array.
                listed[handle] = SchedulerJob(handle, "", "ended", "CANCELLED", int(task), "cancelled")
        return listed

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

    def _list(self) -> "Listing":
        """Return all jobs of the cluster. A recent listing is used again, so that squeue is called rarely."""
        if time.monotonic() - self._listed_at >= self._listing_seconds:
            answer = _command(["squeue", "--json"])
            self._listing, self._listed_at = read_jobs(answer.stdout), time.monotonic()
        return self._listing


def _command(
    command: Sequence[str], script: str | None = None, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command of Slurm. Raise ExecutorError if it fails, and kill it if this process dies."""
    # Arcadia's own settings are not for jobs, and those of sbatch would change them.
    given = {name: value for name, value in os.environ.items() if not name.startswith(("ARCADIA_", "SBATCH_"))}
    # Otherwise squeue shortens the numbers of waiting tasks.
    given["SLURM_BITSTR_LEN"] = "0"
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
        said = " ".join(answer.stderr.split())[-500:] or f"it exited with status {answer.returncode}"
        raise ExecutorError(said)
    return answer


@dataclass(frozen=True)
class Listing:
    """The jobs that squeue lists, and the numbers of their arrays."""

    jobs: Sequence[SchedulerJob]
    arrays: frozenset[str]


def read_jobs(document: str) -> Listing:
    """Read the output of `squeue --json` of Slurm 22.05 or later."""
    try:
        listed = json.loads(document)
        errors, jobs = listed.get("errors") or [], listed["jobs"]
        # Without a controller, squeue 22.05 exits with status 0 and lists no jobs.
        if errors:
            said = "; ".join(str(each.get("error") or each.get("description") or each) for each in errors)
            raise ExecutorError(f"squeue: {said[:500]}")
        places = _places(jobs)
        arrays = frozenset(str(array) for job in jobs if (array := _number(job.get("array_job_id"))))
        return Listing([each for job in jobs for each in _read_record(job, places)], arrays)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ExecutorError(f"squeue answered something else than a list of jobs: {error!r}") from None


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
    phase: JobPhase = "waiting" if state in _WAITING else "running" if state in _RUNNING else "ended"
    details = [job.get("state_reason") or "", job.get("state_description") or ""]
    reason = ": ".join(each for each in details if each and each != "None")
    gpus = re.search(r"gres/gpu=(\d+)", job.get("tres_alloc_str") or "")
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
        gpus=int(gpus[1]) if gpus else 0,
        started_at=_time(job.get("start_time")) if phase != "waiting" else None,
        ended_at=_time(job.get("end_time")) if phase == "ended" else None,
        exit_code=_exit_code(job.get("exit_code")),
    )


def _places(jobs: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return the place of each pending job among those of its partition. Slurm may start a later one that fits."""
    waiting: dict[str, list[tuple[int, int]]] = {}
    for job in jobs:
        if _state(job) == "PENDING":
            waiting.setdefault(job.get("partition") or "", []).append((-(_number(job["priority"]) or 0), job["job_id"]))
    return {job_id: place for ids in waiting.values() for place, (_, job_id) in enumerate(sorted(ids), 1)}


def _state(job: Mapping[str, Any]) -> str:
    """Return the state. Later versions list it with flags."""
    state = job["job_state"]
    return re.sub(r"\W.*", "", str(state[0] if isinstance(state, list) else state)).upper()


def _number(value: Any) -> int | None:
    """Return a number. Later versions write an object, which says whether it is set."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    return value if isinstance(value, int) else None


def _exit_code(value: Any) -> int | None:
    if isinstance(value, dict) and "return_code" in value:
        return _number(value["return_code"])
    status = _number(value)
    # Slurm 22.05 has the status of waitpid.
    return status >> 8 if status is not None and status > 255 else status


def _time(value: Any) -> datetime | None:
    seconds = _number(value)
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
