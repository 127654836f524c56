"""Start steps of an attempt. The backend adds those of the queue, the trainer those up to the first update."""

from datetime import datetime

from backend.database.tables import Attempt, Run
from backend.runs.schemas import RunStartStep
from workers.contract.worker_api import ACTIVE

WAITING = "Waiting for a worker"
MAX_STEPS = 30


def record_claim(run: Run, attempt: Attempt, time: datetime) -> None:
    """Record the wait in the queue and the claim. Show the claim as the state reason."""
    if run.queued_at is not None:
        begin_step(run, attempt, WAITING, run.queued_at)
    begin_step(run, attempt, _claim_step(attempt), time)


def begin_step(run: Run, attempt: Attempt, name: str, time: datetime) -> None:
    """End the current step and begin the next one. Host clocks differ, so never end a step before it began."""
    steps = _steps(attempt)
    if len(steps) >= MAX_STEPS:
        return
    _store(attempt, [*_ended(steps, time), RunStartStep(name=name, began_at=_after(steps, time), ended_at=None)])
    run.state_reason = name


def end_step(run: Run, attempt: Attempt, time: datetime) -> None:
    """End the last step."""
    steps = _steps(attempt)
    if steps and run.state_reason == steps[-1].name:
        run.state_reason = None
    _store(attempt, _ended(steps, time))


def has_trainer_steps(attempt: Attempt) -> bool:
    """Return True if the trainer reports its steps. Earlier versions do not."""
    steps = _steps(attempt)
    return bool(steps) and steps[-1].name not in (WAITING, _claim_step(attempt))


def current_steps(run: Run, attempt: Attempt | None) -> list[RunStartStep]:
    """Return the steps of the current attempt, or the wait in the queue."""
    if run.state == "queued":
        return [RunStartStep(name=WAITING, began_at=run.queued_at, ended_at=None)] if run.queued_at else []
    if attempt is None or run.state not in ACTIVE:
        return []
    return _steps(attempt)


def _claim_step(attempt: Attempt) -> str:
    return f"Worker {attempt.worker} took the run"


def _after(steps: list[RunStartStep], time: datetime) -> datetime:
    return max(time, steps[-1].began_at) if steps else time


def _ended(steps: list[RunStartStep], time: datetime) -> list[RunStartStep]:
    if not steps or steps[-1].ended_at is not None:
        return steps
    return [*steps[:-1], steps[-1].model_copy(update={"ended_at": _after(steps, time)})]


def _steps(attempt: Attempt) -> list[RunStartStep]:
    return [RunStartStep.model_validate(step) for step in attempt.start_steps or []]


def _store(attempt: Attempt, steps: list[RunStartStep]) -> None:
    attempt.start_steps = [step.model_dump(mode="json") for step in steps]
