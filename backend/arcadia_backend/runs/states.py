"""State table of runs: the actions allowed in each state, and their effects."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from sqlalchemy.orm import Session

from arcadia_backend.checkpoints.availability import CheckpointCount, why_not_changeable, why_not_playable
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import after_commit
from arcadia_backend.database.tables import Run, RunOrigin
from arcadia_backend.live.notices import publish
from arcadia_backend.projects.service import why_not_editable
from arcadia_backend.runs.schemas import Action, RunActions
from arcadia_workers.contract.worker_api import ACTIVE, Desired, State


@dataclass(frozen=True)
class Change:
    """Columns that an allowed action changes immediately. None means unchanged."""

    state: State | None = None
    desired: Desired | None = None


@dataclass(frozen=True)
class Refusal:
    """The reason why an action is not allowed, without its subject."""

    reason: str


@dataclass(frozen=True)
class Already:
    """The reason why an action has no effect. The server accepts it, but pages do not offer it."""

    reason: str


Decision = Change | Refusal | Already

# The process that can continue a run. A script continues a reported run by its key, which archives lack.
ContinuedBy = Literal["worker", "script", "nothing"]

NO_CHANGE = Change()
_REQUEST_STOP = Change(desired="stop")
_REQUEST_PAUSE = Change(desired="pause")
_ENDED_HOW: dict[State, str] = {
    "finished": "has already finished",
    "failed": "has already failed",
    "stopped": "has already stopped",
}
_CONTINUE_HINT = "Fork one of its checkpoints to continue from there, or clone it to start over."
_RUN_SCRIPT_AGAIN = Refusal(
    'is logged by a script, which Arcadia cannot start. Run it again with arcadia.init(id="{key}").'
)
_IMPORTED = Refusal("was imported without its script, which still reports to the other installation. Resume it there.")
_STILL_ACTIVE = Refusal("is still {state}. Stop or pause it first.")
_ONLY_IF_INACTIVE: dict[State, Decision] = {
    "queued": _STILL_ACTIVE,
    "starting": _STILL_ACTIVE,
    "running": _STILL_ACTIVE,
    "finished": NO_CHANGE,
    "failed": NO_CHANGE,
    "stopped": NO_CHANGE,
    "paused": NO_CHANGE,
}

# Effect of every action in every state.
ACTIONS: dict[Action, dict[State, Decision]] = {
    "stop": {
        "queued": Change(state="stopped", desired="stop"),
        "starting": _REQUEST_STOP,
        "running": _REQUEST_STOP,
        "paused": Change(state="stopped", desired="stop"),
        **{state: Refusal(f"{word}.") for state, word in _ENDED_HOW.items()},
    },
    "pause": {
        "queued": Change(state="paused", desired="pause"),
        "starting": _REQUEST_PAUSE,
        "running": _REQUEST_PAUSE,
        "paused": Refusal("is already paused."),
        **{state: Refusal(f"{word}.") for state, word in _ENDED_HOW.items()},
    },
    "resume": {
        "queued": Refusal("is already queued."),
        # Cancel a pause that the trainer has not handled yet.
        "starting": Change(desired="run"),
        "running": Change(desired="run"),
        "paused": Change(state="queued", desired="run"),
        **{state: Refusal(f"{word} and cannot be resumed. {_CONTINUE_HINT}") for state, word in _ENDED_HOW.items()},
    },
    "archive": _ONLY_IF_INACTIVE,
    "restore": dict.fromkeys(_ONLY_IF_INACTIVE, NO_CHANGE),
    "purge": _ONLY_IF_INACTIVE,
}


def decide(action: Action, run: Run) -> Decision:
    """Return what an action would change, or why it is not allowed."""
    continued_by = _continued_by(run.origin, has_key=run.reported_key is not None)
    decision = _decide(action, run.state, run.desired, continued_by, archived=run.archived_at is not None)
    if isinstance(decision, Change):
        return decision
    return replace(decision, reason=decision.reason.format(state=run.state, key=run.reported_key))


def to_actions(run: Run, checkpoints: CheckpointCount) -> RunActions:
    """Return for each action why it is not allowed now, or None if it is allowed."""
    return _to_actions(
        run.state,
        run.desired,
        _continued_by(run.origin, has_key=run.reported_key is not None),
        archived=run.archived_at is not None,
        play=(playable := why_not_playable(run, checkpoints)),
        download=playable,
        change=why_not_changeable(run, checkpoints),
        edit=why_not_editable(run.project_id),
    )


def refusals(
    state: State, desired: Desired, origin: RunOrigin, project_id: int, *, has_key: bool, archived: bool
) -> RunActions:
    """Return for each action why runs like this do not allow it, or None. Whether they can be played is left out."""
    continued_by = _continued_by(origin, has_key=has_key)
    others = {"play": None, "download": None, "change": None, "edit": why_not_editable(project_id)}
    return _to_actions(state, desired, continued_by, archived=archived, **others)


def _continued_by(origin: RunOrigin, *, has_key: bool) -> ContinuedBy:
    if origin == "trained":
        return "worker"
    return "script" if has_key else "nothing"


@cache
def _to_actions(
    state: State, desired: Desired, continued_by: ContinuedBy, *, archived: bool, edit: str | None, **others: str | None
) -> RunActions:
    if edit is not None:
        return RunActions(**{**dict.fromkeys(RunActions.model_fields, edit), "download": others["download"]})
    decisions = {action: _decide(action, state, desired, continued_by, archived=archived) for action in ACTIONS}
    return RunActions.model_validate(
        {
            # Without the key of a reported run, because its page shows it, and a list has each set of actions once.
            action: None if isinstance(decision, Change) else f"This run {decision.reason.format(state=state, key='…')}"
            for action, decision in decisions.items()
        }
        | others
        | {"edit": None}
    )


def _decide(action: Action, state: State, desired: Desired, continued_by: ContinuedBy, *, archived: bool) -> Decision:
    decision = ACTIONS[action][state]
    if continued_by != "worker" and action == "resume" and state not in ACTIVE:
        decision = _RUN_SCRIPT_AGAIN if continued_by == "script" else _IMPORTED
    if state in ACTIVE:
        decision = _decide_by_desired(action, desired) or decision
    if isinstance(decision, Change):
        decision = _decide_by_archived(action, archived=archived) or decision
    return decision


def _decide_by_desired(action: Action, desired: Desired) -> Refusal | Already | None:
    """Return why an action conflicts with a requested stop or pause that the trainer has not handled yet."""
    if desired == "stop" and action == "stop":
        return Already("is already stopping.")
    if desired == "stop" and action in ("pause", "resume"):
        return Refusal("is already stopping.")
    if desired == "pause" and action == "pause":
        return Already("is already pausing.")
    if desired == "run" and action == "resume":
        return Refusal("is already {state}.")
    return None


def _decide_by_archived(action: Action, *, archived: bool) -> Already | None:
    if action == "archive" and archived:
        return Already("is already archived.")
    if action == "restore" and not archived:
        return Already("is not archived.")
    return None


def state_after_release(desired: Desired) -> State:
    """Return the next state of a run whose trainer stopped before the last step."""
    return {"run": "queued", "pause": "paused", "stop": "stopped"}[desired]  # type: ignore[return-value]


def queue_again(run: Run, reason: str | None = None) -> None:
    """Put a run back into the queue. The reason explains its state."""
    run.state, run.state_reason, run.queued_at = "queued", reason, utc_now()


def queue_on_request(run: Run) -> None:
    """Queue a run that its user wants to continue. Forget its lost workers, and restore it from the archive."""
    queue_again(run)
    run.requeues, run.archived_at = 0, None


_MANY_RUNS = "many_runs"


def announce_run(session: Session, run_id: int, *names: str, project_id: int | None = None) -> None:
    """Publish notices about a run after the commit, for example run.changed. A removed run needs its project."""
    if _MANY_RUNS in session.info:
        session.info[_MANY_RUNS].update(names)
        return
    notice = {"run_id": run_id} if project_id is None else {"run_id": run_id, "project_id": project_id}
    for name in names:
        after_commit(session, lambda name=name: publish(name, notice))  # type: ignore[misc]


@contextmanager
def announcing_together(session: Session) -> Iterator[set[str]]:
    """Collect the names of the notices about runs inside the block, instead of publishing each."""
    session.info[_MANY_RUNS] = names = set[str]()
    try:
        yield names
    finally:
        del session.info[_MANY_RUNS]
