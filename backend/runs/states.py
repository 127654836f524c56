"""The life of a run: which action is allowed in which state, and what it does."""

from dataclasses import dataclass, replace

from backend.database.tables import Run
from backend.runs.schemas import Action, RunActions
from workers.contract.worker_api import Desired, State

ACTIVE: tuple[State, ...] = ("starting", "running")
ENDED: tuple[State, ...] = ("finished", "failed", "stopped")


@dataclass(frozen=True)
class Change:
    """What an allowed action changes at once; None leaves the column as it is."""

    state: State | None = None
    desired: Desired | None = None


@dataclass(frozen=True)
class Refusal:
    """Why an action is not possible."""

    sentence: str


@dataclass(frozen=True)
class Already:
    """Why an action would change nothing: the server accepts it, and pages do not offer it."""

    sentence: str


Decision = Change | Refusal | Already

NOTHING = Change()
_WANT_STOP = Change(desired="stop")
_WANT_PAUSE = Change(desired="pause")
_OVER: dict[State, str] = {"finished": "has finished", "failed": "has failed", "stopped": "has been stopped"}
_GO_ON = "Fork one of its checkpoints to go on from there, or clone it to begin anew."
_STILL = Refusal("Run {id} is still {state}. Stop or pause it first.")
_ONCE_OVER: dict[State, Decision] = {
    "queued": _STILL,
    "starting": _STILL,
    "running": _STILL,
    "finished": NOTHING,
    "failed": NOTHING,
    "stopped": NOTHING,
    "paused": NOTHING,
}

# Every action in every state; a test walks the whole table.
ACTIONS: dict[Action, dict[State, Decision]] = {
    "stop": {
        "queued": Change(state="stopped", desired="stop"),
        "starting": _WANT_STOP,
        "running": _WANT_STOP,
        "paused": Change(state="stopped", desired="stop"),
        **{state: Refusal(f"Run {{id}} {word} already, so there is nothing to stop.") for state, word in _OVER.items()},
    },
    "pause": {
        "queued": Change(state="paused", desired="pause"),
        "starting": _WANT_PAUSE,
        "running": _WANT_PAUSE,
        "paused": Refusal("Run {id} is paused already."),
        **{
            state: Refusal(f"Run {{id}} {word} already, so there is nothing to pause.") for state, word in _OVER.items()
        },
    },
    "resume": {
        "queued": Refusal("Run {id} is waiting in the queue already."),
        # Takes back a pause that the trainer has not answered yet.
        "starting": Change(desired="run"),
        "running": Change(desired="run"),
        "paused": Change(state="queued", desired="run"),
        **{state: Refusal(f"Run {{id}} {word} and cannot be resumed. {_GO_ON}") for state, word in _OVER.items()},
    },
    "archive": _ONCE_OVER,
    "restore": dict.fromkeys(_ONCE_OVER, NOTHING),
    "purge": _ONCE_OVER,
}


def decide(action: Action, run: Run) -> Decision:
    """What an action would do to a run, or why it cannot be done."""
    decision = ACTIONS[action][run.state]
    if run.state in ACTIVE:
        decision = _of_active(action, run.desired) or decision
    if isinstance(decision, Change):
        decision = _of_hidden(action, hidden=run.archived_at is not None) or decision
    if isinstance(decision, Change):
        return decision
    return replace(decision, sentence=decision.sentence.format(id=run.id, state=run.state))


def refusals(run: Run) -> RunActions:
    """For each action, why it is not possible for this run now, or None if it is."""
    decisions = {action: decide(action, run) for action in ACTIONS}
    return RunActions.model_validate(
        {action: None if isinstance(found, Change) else found.sentence for action, found in decisions.items()}
    )


def _of_active(action: Action, desired: Desired) -> Refusal | Already | None:
    """Why an action clashes with the user's last wish, which the trainer has not answered yet."""
    if desired == "stop" and action == "stop":
        return Already("Run {id} is being stopped already.")
    if desired == "stop" and action in ("pause", "resume"):
        return Refusal("Run {id} is being stopped already.")
    if desired == "pause" and action == "pause":
        return Already("Run {id} is being paused already.")
    if desired == "run" and action == "resume":
        return Refusal("Run {id} is {state} already.")
    return None


def _of_hidden(action: Action, *, hidden: bool) -> Already | None:
    if action == "archive" and hidden:
        return Already("Run {id} is archived already.")
    if action == "restore" and not hidden:
        return Already("Run {id} is not archived.")
    return None


def after_release(desired: Desired) -> State:
    """The next state of a run whose trainer has stopped before its end."""
    return {"run": "queued", "pause": "paused", "stop": "stopped"}[desired]  # type: ignore[return-value]
