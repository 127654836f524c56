"""Ray, by the REST API of Ray Jobs on the head of a cluster."""

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

import httpx
from pydantic import ConfigDict, Field, SecretStr, StringConstraints

from arcadia_backend.executors.executor import (
    ExecutorError,
    JobOrder,
    JobOutcome,
    JobPhase,
    JobSettings,
    SchedulerJob,
    worker_script,
)
from arcadia_workers.contract.values import STORABLE

ANSWER_SECONDS = 30.0
TAIL_CHARACTERS = 8_000
# Ray kills a job that has not ended this long after TERM. By default it waits only 3 s.
STOP_SECONDS = 300
UNITS = {"": 2**20, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# Where a job has its script. Ray writes the command of a job, but not its variables, into its output.
SCRIPT = "JOB_SCRIPT"
SHELL = f'bash -l -c "${SCRIPT}"'
PRELUDE = "\n".join(
    [
        # The second one has the worker's token, and is read by all programs that join the cluster.
        f"unset {SCRIPT} RAY_JOB_CONFIG_JSON_ENV_VAR",
        # Gorila joins the cluster that its job runs in.
        'export ARCADIA_RAY_ADDRESS="$RAY_ADDRESS"',
    ]
)

_PHASES: Mapping[str, JobPhase] = {"PENDING": "waiting", "RUNNING": "running"}
_OUTCOMES: Mapping[str, JobOutcome] = {"SUCCEEDED": "completed", "STOPPED": "cancelled"}
# Ray gives up on a job that waits for RAY_JOB_START_TIMEOUT_SECONDS of its head, 15 minutes by default.
_NOT_STARTED = "JOB_SUPERVISOR_ACTOR_START_TIMEOUT"
_LABELS = r"^([A-Za-z0-9_./-]+=[^\s,=]+(,[A-Za-z0-9_./-]+=[^\s,=]+)*)?$"


def _cluster_first(schema: dict[str, Any]) -> None:
    """Begin the form with the address of the cluster, which says what the other fields are about."""
    fields = schema["properties"]
    schema["properties"] = {"address": fields["address"], **fields}


class RaySettings(JobSettings):
    """How jobs are submitted. Empty fields leave the choice to Ray."""

    model_config = ConfigDict(json_schema_extra=_cluster_first)

    address: Annotated[str, StringConstraints(max_length=1_000, pattern=r"^https?://[^\s/]+(/[^\s]*)?$"), STORABLE] = (
        Field(
            title="Address of the cluster",
            description="The dashboard of the head as this server reaches it, such as http://head.example.org:8265.",
        )
    )
    labels: Annotated[str, StringConstraints(max_length=1_000, pattern=_LABELS), STORABLE] = Field(
        default="", title="Labels of nodes", description="Such as ray.io/accelerator-type=A100,region=us-west."
    )


class Ray:
    """The Ray cluster with this head."""

    def __init__(self, settings: RaySettings, token: SecretStr, listing_seconds: float = 0.0) -> None:
        self._settings, self._listing_seconds = settings, listing_seconds
        self._listed_at = float("-inf")
        self._listing: list[SchedulerJob] = []
        given = token.get_secret_value()
        self._http = httpx.Client(
            base_url=f"{settings.address.rstrip('/')}/api/",
            headers={"Authorization": f"Bearer {given}"} if given else {},
            timeout=ANSWER_SECONDS,
        )

    def check(self) -> str:
        """Return the version of the cluster. Raise ExecutorError if jobs cannot be submitted."""
        version = self._read("version").get("ray_version")
        # The version needs a token too, but older clusters answer it without one.
        self._list()
        return f"Ray {version} answers at {self._settings.address}."

    max_orders = 1

    def submit(self, orders: Sequence[JobOrder], limit: int | None = None) -> list[str]:  # noqa: ARG002 - Ray has no arrays
        """Submit a job, and return its submission id, which is its mark. A second call finds the first job."""
        (order,), given = orders, self._settings
        variables = {
            "ARCADIA_WORKER_TOKEN": order.token,
            "RAY_JOB_STOP_WAIT_TIME_S": str(STOP_SECONDS),
            SCRIPT: worker_script(given, order, "ray", PRELUDE),
        }
        timeout = "" if order.minutes is None else f"timeout {order.minutes}m "
        body = {
            "entrypoint": f"exec {timeout}{SHELL}",
            "submission_id": order.mark,
            "metadata": {"arcadia": order.mark},
            "runtime_env": {"env_vars": variables},
            "entrypoint_num_cpus": given.cores,
            "entrypoint_num_gpus": given.gpus if order.needs_gpu else 0,
            "entrypoint_memory": _bytes(given.memory),
            "entrypoint_label_selector": dict(pair.split("=", 1) for pair in given.labels.split(",") if pair) or None,
        }
        try:
            self._read("jobs/", body)
        except ExecutorError:
            if not self._exists(order.mark):
                raise
        return [order.mark]

    def poll(self, handles: Collection[str]) -> dict[str, SchedulerJob]:
        """Return the listed jobs of these."""
        return {job.handle: job for job in self._list() if job.handle in handles}

    def cancel(self, handles: Sequence[str]) -> None:
        """Stop jobs. Ray sends TERM, and KILL after STOP_SECONDS. It stops a waiting job when that starts."""
        for handle in handles:
            self._read(f"jobs/{handle}/stop", {})

    def find(self, prefix: str) -> list[SchedulerJob]:
        """Return every listed job with this mark."""
        return [job for job in self._list() if job.mark.startswith(prefix)]

    def tail(self, handle: str) -> str:
        """Return the end of a job's output."""
        try:
            output = str(self._read(f"jobs/{handle}/logs").get("logs") or "")
        except ExecutorError:
            return ""
        lines = (line for line in output.splitlines(keepends=True) if SHELL not in line)
        return "".join(lines)[-TAIL_CHARACTERS:]

    def _exists(self, handle: str) -> bool:
        try:
            return self._read(f"jobs/{handle}").get("submission_id") == handle
        except ExecutorError:
            return False

    def _list(self) -> list[SchedulerJob]:
        """Return all submitted jobs of the cluster. A recent listing is used again."""
        if time.monotonic() - self._listed_at >= self._listing_seconds:
            self._listing, self._listed_at = read_jobs(self._call("jobs/", None)), time.monotonic()
        return self._listing

    def _read(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        answer = self._call(path, body)
        if not isinstance(answer, dict):
            raise ExecutorError(f"The server at {self._settings.address} does not answer as Ray does.")
        return answer

    def _call(self, path: str, body: Mapping[str, Any] | None) -> Any:
        """Return the answer to a GET, or to a POST of a body. Raise ExecutorError if Ray refuses or is away."""
        address = self._settings.address
        try:
            reply = self._http.get(path) if body is None else self._http.post(path, json=body)
        except httpx.HTTPError as error:
            raise ExecutorError(f"Ray at {address} is not reachable: {error or type(error).__name__}") from error
        if reply.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            message = " ".join(reply.text.split())[:200]
            raise ExecutorError(
                f"Ray refuses the token ({message}). Set ARCADIA_RAY_TOKEN to the token of the cluster."
            )
        if not reply.is_success:
            # The last line of a traceback says what is wrong.
            lines = [line for line in reply.text.splitlines() if line.strip(" .")] or [f"status {reply.status_code}"]
            raise ExecutorError(f"Ray answered: {lines[-1].strip()[:500]}")
        try:
            return reply.json()
        except ValueError:
            raise ExecutorError(f"The server at {address} does not answer as Ray does.") from None


def read_jobs(listed: Any) -> list[SchedulerJob]:
    """Read the answer of `GET /api/jobs/`. Programs that joined the cluster without a submission are left out."""
    try:
        return [_read_job(job) for job in listed if job["type"] == "SUBMISSION"]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ExecutorError(f"Ray did not return a list of jobs: {error!r}") from None


def _read_job(job: Mapping[str, Any]) -> SchedulerJob:
    state = str(job["status"])
    phase = _PHASES.get(state, "ended")
    outcome: JobOutcome | None = None
    if phase == "ended":
        outcome = "not started" if job.get("error_type") == _NOT_STARTED else _OUTCOMES.get(state, "failed")
    address = urlsplit(job.get("driver_agent_http_address") or "")
    ended = job.get("end_time")
    return SchedulerJob(
        handle=str(job["submission_id"]),
        mark=str((job.get("metadata") or {}).get("arcadia", "")),
        phase=phase,
        scheduler_state=state,
        outcome=outcome,
        reason=job.get("message") if phase == "waiting" else None,
        host=address.hostname,
        # Ray says when a job was submitted, and not when it started.
        ended_at=datetime.fromtimestamp(ended / 1000, UTC) if phase == "ended" and ended else None,
        exit_code=job.get("driver_exit_code"),
    )


def _bytes(memory: str) -> int | None:
    """Return an amount of memory in bytes. As in Slurm's settings, a number alone is in MiB."""
    if not memory:
        return None
    unit = memory[-1] if memory[-1] in UNITS else ""
    return int(memory.removesuffix(unit)) * UNITS[unit]
