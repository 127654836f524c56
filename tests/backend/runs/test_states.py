"""Every action in every state is either done or refused with a sentence."""

from typing import get_args

import pytest

from backend.models import State
from backend.runs.schemas import Action
from backend.runs.states import ACTIONS, Refusal, decide
from tests.factories import Api, started

STATES: tuple[State, ...] = get_args(State)

# What the run is afterwards: (state, desired); None where the action is refused.
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
    """A run brought to a state by what users and workers do."""
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


def test_the_table_names_every_action_and_state() -> None:
    assert set(ACTIONS) == set(get_args(Action))
    assert all(set(row) == set(STATES) for row in ACTIONS.values())


@pytest.mark.parametrize("state", STATES)
def test_each_action_does_what_the_state_allows(api: Api, state: str) -> None:
    for action, row in EXPECTED.items():
        run_id = in_state(api, state)
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
        _put_away(api, run_id)


@pytest.mark.parametrize("state", STATES)
def test_only_a_run_that_is_over_is_purged(api: Api, state: str) -> None:
    run_id = in_state(api, state)
    response = api.user.delete(f"/api/v1/runs/{run_id}")
    over = state in ("finished", "failed", "stopped", "paused")
    assert response.status_code == (204 if over else 409)
    assert api.user.get(f"/api/v1/runs/{run_id}").status_code == (404 if over else 200)


def test_resume_takes_back_a_pause_that_the_trainer_has_not_answered(api: Api) -> None:
    run_id, attempt = api.running()
    assert api.act(run_id, "pause")["desired"] == "pause"
    assert api.act(run_id, "resume")["desired"] == "run"
    # The trainer had stopped all the same: the run goes back to the queue.
    assert api.release(run_id, attempt, "stopped").json() == {"state": "queued"}


def test_a_run_being_stopped_can_be_neither_paused_nor_resumed() -> None:
    for action in ("pause", "resume"):
        assert decide(action, 3, "running", "stop") == Refusal("Run 3 is being stopped already.")


def _put_away(api: Api, run_id: int) -> None:
    """Leave nothing in the queue for the next claim."""
    api.user.post(f"/api/v1/runs/{run_id}/stop")
