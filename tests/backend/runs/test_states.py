"""The table of states: each action in each state."""

from typing import Any, get_args

import pytest

from arcadia_backend.runs.schemas import Action, RunActions
from arcadia_backend.runs.states import ACTIONS
from arcadia_workers.contract.worker_api import State
from tests.factories import Api, Response, started

STATES: tuple[State, ...] = get_args(State)

# The run's state and desired state after the action, or None if the action is not allowed.
EXPECTED: dict[str, dict[str, tuple[str, str] | None]] = {
    "stop": {
        "queued": ("stopped", "stop"),
        "starting": ("starting", "stop"),
        "running": ("running", "stop"),
        "paused": ("stopped", "stop"),
        "finished": None,
        "failed": None,
        "stopped": None,
    },
    "pause": {
        "queued": ("paused", "pause"),
        "starting": ("starting", "pause"),
        "running": ("running", "pause"),
        "paused": None,
        "finished": None,
        "failed": None,
        "stopped": None,
    },
    "resume": {
        "queued": None,
        "starting": None,
        "running": None,
        "paused": ("queued", "run"),
        "finished": None,
        "failed": None,
        "stopped": None,
    },
    "archive": {
        "queued": None,
        "starting": None,
        "running": None,
        "paused": ("paused", "pause"),
        "finished": ("finished", "run"),
        "failed": ("failed", "run"),
        "stopped": ("stopped", "stop"),
    },
    "restore": {
        "queued": ("queued", "run"),
        "starting": ("starting", "run"),
        "running": ("running", "run"),
        "paused": ("paused", "pause"),
        "finished": ("finished", "run"),
        "failed": ("failed", "run"),
        "stopped": ("stopped", "stop"),
    },
}


def in_state(api: Api, state: str) -> int:
    """Bring a run to a state and return its id."""
    run_id: int = api.launch()["id"]
    if state in ("paused", "stopped"):
        api.act(run_id, "pause" if state == "paused" else "stop")
    elif state != "queued":
        api.claim()
        if state != "starting":
            api.send(run_id, 1, started())
        if state in ("finished", "failed"):
            api.release(run_id, 1, state, message="it broke" if state == "failed" else None)
    assert api.run(run_id)["state"] == state
    return run_id


def run_after(api: Api, state: str, wish: str | None) -> tuple[int, dict[str, Any]]:
    """Bring a run to a state, request an action, and return its id and its schema."""
    run_id = in_state(api, state)
    return run_id, api.act(run_id, wish) if wish else api.run(run_id)


def test_table_has_every_action_and_state() -> None:
    assert set(ACTIONS) == set(get_args(Action))
    assert set(RunActions.model_fields) == {*get_args(Action), "play", "download", "change", "edit"}
    assert all(set(row) == set(STATES) for row in ACTIONS.values())


@pytest.mark.parametrize("state", STATES)
def test_actions_have_the_expected_effect(api: Api, state: str) -> None:
    run_id = in_state(api, state)
    for action, row in EXPECTED.items():
        response = api.user.post(f"/api/v1/runs/{run_id}/{action}")
        expected = row[state]
        after = api.run(run_id)
        if expected is None:
            assert response.status_code == 409, (action, state)
            assert response.json()["detail"].endswith("."), "a plain sentence"
            assert str(run_id) in response.json()["detail"]
            assert after["state"] == state
            assert after["archived_at"] is None
        else:
            assert response.status_code == 200, (action, state, response.text)
            assert (after["state"], after["desired"]) == expected, (action, state)
            assert (after["archived_at"] is not None) == (action == "archive")
            _stop(api, run_id)
            run_id = in_state(api, state)


@pytest.mark.parametrize("state", STATES)
def test_only_inactive_runs_can_be_purged(api: Api, state: str) -> None:
    run_id = in_state(api, state)
    response = api.user.delete(f"/api/v1/runs/{run_id}")
    over = state in ("finished", "failed", "stopped", "paused")
    assert response.status_code == (204 if over else 409)
    assert api.user.get(f"/api/v1/runs/{run_id}").status_code == (404 if over else 200)


def test_resume_cancels_a_pause_that_the_trainer_has_not_handled(api: Api) -> None:
    run_id, attempt = api.running()
    assert api.act(run_id, "pause")["desired"] == "pause"
    assert api.act(run_id, "resume")["desired"] == "run"
    # The trainer has stopped anyway, so the run goes back to the queue.
    assert api.release(run_id, attempt, "stopped").json() == {"state": "queued"}


@pytest.mark.required_cases(4)
@pytest.mark.parametrize(
    ("state", "wish"),
    [
        *((state, None) for state in STATES),
        *((state, wish) for state in ("starting", "running") for wish in ("stop", "pause")),
        *((state, "archive") for state in ("paused", "finished", "failed", "stopped")),
    ],
)
def test_run_lists_which_actions_are_allowed(api: Api, state: str, wish: str | None) -> None:
    run_id, before = run_after(api, state, wish)
    for action in get_args(Action):
        reason = before["actions"][action]
        response = _ask(api, run_id, action)
        if reason is None:
            assert response.is_success, (action, response.text)
            assert action == "purge" or _changeable_fields(api.run(run_id)) != _changeable_fields(before), action
            _stop(api, run_id)
            run_id, before = run_after(api, state, wish)
        else:
            assert reason.startswith("This run ")
            assert api.run(run_id) == before, action
            if has_no_effect(action, before):
                assert response.status_code == 200, action
            else:
                assert response.status_code == 409, action
                assert response.json()["detail"] == reason.replace("This run", f"Run {run_id}", 1)


def test_action_response_has_the_new_reasons(api: Api) -> None:
    run_id = in_state(api, "stopped")
    assert api.run(run_id)["actions"] == {
        "stop": "This run has already stopped.",
        "pause": "This run has already stopped.",
        "resume": "This run has already stopped and cannot be resumed. "
        "Fork one of its checkpoints to continue from there, or clone it to start over.",
        "archive": None,
        "restore": "This run is not archived.",
        "purge": None,
        "play": "This run ended before it saved a checkpoint, so it has no agent.",
        "download": "This run ended before it saved a checkpoint, so it has no agent.",
        "change": None,
        "edit": None,
    }
    hidden = api.act(run_id, "archive")["actions"]
    assert (hidden["archive"], hidden["restore"]) == ("This run is already archived.", None)


def test_stopping_run_can_be_neither_paused_nor_resumed(api: Api) -> None:
    run_id, _ = api.running()
    actions = api.act(run_id, "stop")["actions"]
    assert {actions["stop"], actions["pause"], actions["resume"]} == {"This run is already stopping."}


def test_archiving_twice_keeps_the_first_archive_time(api: Api) -> None:
    run_id = in_state(api, "stopped")
    first = api.act(run_id, "archive")["archived_at"]
    assert api.act(run_id, "archive")["archived_at"] == first


def has_no_effect(action: str, run: dict[str, Any]) -> bool:
    """Return True if an action is accepted but has no effect."""
    if action in ("stop", "pause"):
        return run["state"] in ("starting", "running") and run["desired"] == action
    hidden = run["archived_at"] is not None
    over = run["state"] not in ("queued", "starting", "running")
    return (action == "archive" and hidden and over) or (action == "restore" and not hidden)


def _ask(api: Api, run_id: int, action: str) -> Response:
    address = f"/api/v1/runs/{run_id}"
    return api.user.delete(address) if action == "purge" else api.user.post(f"{address}/{action}")


def _changeable_fields(run: dict[str, Any]) -> tuple[str, str, bool]:
    return run["state"], run["desired"], run["archived_at"] is not None


def _stop(api: Api, run_id: int) -> None:
    """Stop the run so that it cannot be claimed."""
    api.user.post(f"/api/v1/runs/{run_id}/stop")
