"""Steps of the start of a run, from its wait in the queue to the first update."""

from datetime import datetime

from arcadia_backend.database.tables import Attempt, Run
from arcadia_backend.runs.schemas import RunStartStep
from arcadia_workers.contract.worker_api import ACTIVE, EXECUTOR_TITLES, WORKERS

MAX_STEPS = 30
_WAITING = "Waiting for "


def record_claim(run: Run, attempt: Attempt, time: datetime) -> None:
    """Record the wait in the queue and the claim. Show the claim as the state reason."""
    if run.queued_at is not None:
        begin_step(run, attempt, _wait_step(run), run.queued_at)
    begin_step(run, attempt, f"Worker {attempt.worker} took the run", time)


def queued_at(attempt: Attempt) -> datetime | None:
    """Return when the run of an attempt entered the queue, or None if it never waited."""
    steps = _read(attempt)
    return steps[0].began_at if steps and steps[0].name.startswith(_WAITING) else None


def begin_step(run: Run, attempt: Attempt, name: str, time: datetime) -> None:
    """End the current step and begin the next one."""
    steps = _read_and_end(attempt, time)
    if len(steps) < MAX_STEPS:
        began_at = max(time, steps[-1].began_at) if steps else time
        _store(attempt, [*steps, RunStartStep(name=name, began_at=began_at, ended_at=None)])
        run.state_reason = name


def end_step(run: Run, attempt: Attempt, time: datetime) -> None:
    """End the last step."""
    steps = _read_and_end(attempt, time)
    if steps and run.state_reason == steps[-1].name:
        run.state_reason = None
    _store(attempt, steps)


def current_steps(run: Run, attempt: Attempt | None) -> list[RunStartStep]:
    """Return the steps of the current attempt, or the wait in the queue."""
    if run.state == "queued" and run.queued_at is not None:
        return [RunStartStep(name=_wait_step(run), began_at=run.queued_at, ended_at=None)]
    return _read(attempt) if attempt is not None and run.state in ACTIVE else []


def _wait_step(run: Run) -> str:
    return f"{_WAITING}{'a worker' if run.executor == WORKERS else EXECUTOR_TITLES[run.executor]}"


def _read(attempt: Attempt) -> list[RunStartStep]:
    return [RunStartStep.model_validate(step) for step in attempt.start_steps or []]


def _read_and_end(attempt: Attempt, time: datetime) -> list[RunStartStep]:
    """Return the steps, of which the last has ended. Clocks of hosts differ, so no step ends before it began."""
    steps = _read(attempt)
    if steps and steps[-1].ended_at is None:
        steps[-1].ended_at = max(time, steps[-1].began_at)
    return steps


def _store(attempt: Attempt, steps: list[RunStartStep]) -> None:
    attempt.start_steps = [step.model_dump(mode="json") for step in steps]
