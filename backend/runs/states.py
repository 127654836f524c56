"""The life of a run: which action is allowed in which state, and what it does."""

from dataclasses import dataclass

from backend.models import Desired, State
from backend.runs.schemas import Action

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


NOTHING = Change()
_WANT_STOP = Change(desired="stop")
_WANT_PAUSE = Change(desired="pause")
_OVER: dict[State, str] = {"finished": "has finished", "failed": "has failed", "stopped": "has been stopped"}
_GO_ON = "Fork one of its checkpoints to go on from there, or clone it to begin anew."
_STILL = Refusal("Run {id} is still {state}. Stop or pause it first.")
_HIDDEN_WHILE: dict[State, Change | Refusal] = {
    "queued": _STILL,
    "starting": _STILL,
    "running": _STILL,
    "finished": NOTHING,
    "failed": NOTHING,
    "stopped": NOTHING,
    "paused": NOTHING,
}

# Every action in every state; a test walks the whole table.
ACTIONS: dict[Action, dict[State, Change | Refusal]] = {
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
    "archive": _HIDDEN_WHILE,
    "restore": dict.fromkeys(_HIDDEN_WHILE, NOTHING),
    "purge": _HIDDEN_WHILE,
}


def decide(action: Action, run_id: int, state: State, desired: Desired) -> Change | Refusal:
    """What an action would do to a run, or why it cannot be done."""
    if action in ("pause", "resume") and state in ACTIVE and desired == "stop":
        return Refusal(f"Run {run_id} is being stopped already.")
    if action == "resume" and state in ACTIVE and desired == "run":
        return Refusal(f"Run {run_id} is {state} already.")
    decision = ACTIONS[action][state]
    if isinstance(decision, Refusal):
        return Refusal(decision.sentence.format(id=run_id, state=state))
    return decision


def after_release(desired: Desired) -> State:
    """Where a run goes whose trainer has stopped before its end."""
    return {"run": "queued", "pause": "paused", "stop": "stopped"}[desired]  # type: ignore[return-value]
