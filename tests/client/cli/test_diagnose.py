"""`arcadia diagnose` against a backend."""

import json

import pytest

from tests.client.cli.conftest import Arcadia
from tests.factories import CARTPOLE, Api, metrics


@pytest.fixture
def stalled(api: Api) -> int:
    """Return a run whose return does not improve, because of its learning rate."""
    run_id, attempt = api.running(config={**CARTPOLE, "learning_rate": 5.0}, name="stalled")
    sent = [metrics(seq, 20 * (seq - 2), returns=[9.0 + seq % 2]) for seq in range(2, 52)]
    api.send(run_id, attempt, *sent).raise_for_status()
    return run_id


def test_findings_are_shown_and_a_fix_is_tested(arcadia: Arcadia, stalled: int) -> None:
    shown = arcadia("diagnose", stalled).out
    assert "Return stalled (return_stalled)" in shown
    assert "episode/return, steps 0 to 980." in shown
    assert "learning_rate: 5.0 → 0.003" in shown
    (finding,) = json.loads(arcadia("diagnose", stalled, "--json").out)
    assert finding["test"]["total_steps"] == 1_000

    refused = arcadia("diagnose", stalled, "--test", "layer_dead")
    assert (refused.status, "It has tests for return_stalled." in refused.err) == (1, True)
    started = arcadia("diagnose", stalled, "--test", "return_stalled", "--confirm-steps", "6000", "--json")
    assert "2 points, 6 runs, 6,000 steps" in started.err
    study = json.loads(started.out)
    assert study["specification"]["diagnosis"] == {"run_id": stalled, "rule": "return_stalled"}
    assert f"Study {study['id']}" in arcadia("diagnose", stalled).out


def test_missing_findings_are_reported(arcadia: Arcadia, api: Api) -> None:
    assert arcadia("diagnose", api.launch()["id"]).out == "No rule found a fault.\n"
