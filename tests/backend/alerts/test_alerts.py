"""Alerts: the changes that raise them, and how users read them."""

from collections.abc import Callable

import pytest

from arcadia_backend.alerts.service import KEPT, MAX_SCRIPT_ALERTS, delete_old_alerts
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Measurement, Run
from arcadia_backend.reported.service import fail_silent
from arcadia_workers.contract.events import DIVERGED
from tests.backend.alerts.conftest import Alerts
from tests.backend.reported.conftest import Script
from tests.factories import Api, event, metrics


def end(api: Api, outcome: str, message: str | None = None) -> int:
    """Train a run to its end."""
    run_id, attempt = api.running(name="Cart")
    reported = {"message": message, "traceback": ""} if outcome == "failed" else {}
    assert api.send(run_id, attempt, metrics(2, 100, returns=[21]), event(3, outcome, 100, **reported)).is_success
    assert api.release(run_id, attempt, outcome).is_success
    return run_id


def test_a_finished_run_raises_an_alert(api: Api, alerts: Alerts) -> None:
    run_id = end(api, "finished")
    (alert,) = alerts.listed()
    assert (alert["kind"], alert["level"], alert["run_id"]) == ("run_finished", "info", run_id)
    assert (alert["title"], alert["text"]) == ("Cart finished", f"Run {run_id} finished. Its mean return is 21.")


def test_a_failed_run_raises_an_alert_with_its_message(api: Api, alerts: Alerts) -> None:
    end(api, "failed", "The ROM is missing.")
    (alert,) = alerts.listed()
    assert (alert["kind"], alert["level"]) == ("run_failed", "error")
    assert (alert["title"], alert["text"]) == ("Cart failed", "The ROM is missing.")


def test_a_diverged_run_raises_one_alert_of_a_separate_kind(api: Api, alerts: Alerts) -> None:
    end(api, "failed", f"{DIVERGED}: at step 100 some weights are NaN.")
    assert [(alert["kind"], alert["title"]) for alert in alerts.listed()] == [("run_diverged", "Cart diverged")]


@pytest.mark.parametrize("outcome", ["stopped", "drained"])
def test_a_run_that_is_stopped_or_queued_again_raises_no_alert(api: Api, alerts: Alerts, outcome: str) -> None:
    run_id, attempt = api.running()
    if outcome == "stopped":
        api.act(run_id, "stop")
    api.release(run_id, attempt, outcome)
    assert alerts.listed() == []


def test_a_measurement_raises_no_alert(api: Api, alerts: Alerts, database: Database) -> None:
    run_id, attempt = api.running()
    with database.write() as session:
        session.add(Measurement(run_id=run_id))
    api.release(run_id, attempt, "failed")
    assert alerts.listed() == []


def test_a_repeated_release_raises_no_second_alert(api: Api, alerts: Alerts) -> None:
    run_id = end(api, "finished")
    api.release(run_id, 1, "finished")
    assert len(alerts.listed()) == 1


def test_reported_runs_raise_alerts_too(alerts: Alerts, script: Script, database: Database, settings: Settings) -> None:
    script.begin(name="mine")
    with database.write() as session:
        fail_silent(session, settings, session.get_one(Run, script.run_id))
    script.log("end", outcome="failed", message="No GPU.")
    failed, silent = alerts.listed()
    assert (failed["title"], failed["text"], failed["run_id"]) == ("mine failed", "No GPU.", script.run_id)
    assert silent["text"] == "Nothing was heard from its script for 5 minutes."


def test_imported_logs_raise_no_alert(alerts: Alerts, script: Script, check: Callable[..., None]) -> None:
    script.begin(name="old", origin="imported")
    alerts.post("/score-rules", score=1)
    script.log("metrics", step=1, values={"episode/return": 5})
    script.log("alert", title="Old news")
    script.log("end", outcome="finished")
    check()
    assert alerts.listed() == []


def test_a_script_raises_alerts_that_are_also_in_its_log(alerts: Alerts, script: Script, api: Api) -> None:
    script.begin(name="mine")
    script.log("alert", title="Reward collapsed", text="Below 3 for an hour.", level="error")
    (alert,) = alerts.listed()
    assert (alert["kind"], alert["level"], alert["run_id"]) == ("script", "error", script.run_id)
    assert (alert["title"], alert["text"]) == ("Reward collapsed", "Below 3 for an hour.")
    log = api.user.get(f"/api/v1/runs/{script.run_id}/log").json()["items"]
    assert log[-1]["message"] == "Reward collapsed: Below 3 for an hour."


def test_a_script_in_a_loop_raises_a_limited_number_of_alerts(
    alerts: Alerts, script: Script, warnings: Callable[[int], list[str]]
) -> None:
    script.begin(name="mine")
    events = [script.event("alert", title=f"Step {n}", level="info") for n in range(MAX_SCRIPT_ALERTS + 5)]
    assert script.post(*events).is_success
    assert script.post(*events).is_success, "a repeated request raises nothing"
    assert len(alerts.listed(limit=200)) == MAX_SCRIPT_ALERTS
    (warning,) = warnings(script.run_id)
    assert warning.startswith(f"Raised no alerts beyond {MAX_SCRIPT_ALERTS} of this run.")


def test_a_disabled_rule_raises_no_alert(api: Api, alerts: Alerts) -> None:
    assert alerts.patch("/alert-rules/run_finished", enabled=False)["enabled"] is False
    end(api, "finished")
    assert alerts.listed() == []
    alerts.patch("/alert-rules/run_finished", enabled=True)
    end(api, "finished")
    assert alerts.kinds() == ["run_finished"]


def test_finished_runs_ring_the_bell_only_if_their_rule_says_so(api: Api, alerts: Alerts) -> None:
    for _ in range(3):
        end(api, "finished")
    assert (alerts.get("/alerts")["unread"], len(alerts.listed())) == (0, 3)
    end(api, "failed", "No.")
    assert alerts.get("/alerts")["unread"] == 1
    assert alerts.patch("/alert-rules/run_finished", rings=True)["rings"] is True
    end(api, "finished")
    assert alerts.get("/alerts")["unread"] == 2
    assert alerts.patch("/alert-rules/run_failed", rings=False) == {**alerts.get("/alert-rules")[1], "rings": False}
    end(api, "failed", "No.")
    assert alerts.get("/alerts")["unread"] == 2


def test_rules_have_defaults_and_thresholds(api: Api, alerts: Alerts) -> None:
    rules = {rule["kind"]: rule for rule in alerts.get("/alert-rules")}
    assert all(rule["enabled"] for rule in rules.values())
    assert (rules["run_stalled"]["threshold"], rules["run_failed"]["threshold"]) == (10, None)
    assert alerts.patch("/alert-rules/run_stalled", threshold=3)["threshold"] == 3
    assert alerts.patch("/alert-rules/run_stalled", enabled=False)["threshold"] == 3, "the threshold is kept"
    refused = api.user.patch("/api/v1/alert-rules/run_failed", json={"threshold": 3})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "threshold")


def test_alerts_are_marked_as_read_individually_or_up_to_the_last_one_seen(api: Api, alerts: Alerts) -> None:
    runs = [end(api, "failed", "No.") for _ in range(4)]
    page = alerts.get("/alerts", limit=3)
    assert [alert["run_id"] for alert in page["items"]] == runs[:0:-1]
    assert page["unread"] == 4
    (first,) = alerts.listed(before=page["next_cursor"])
    assert first["run_id"] == runs[0]
    assert alerts.post("/alerts/read", ids=[first["id"]]) == {"unread": 3}
    assert alerts.post("/alerts/read", up_to=page["items"][1]["id"]) == {"unread": 1}
    assert [alert["run_id"] for alert in alerts.listed(unread=True)] == runs[-1:]


def test_alerts_are_filtered_by_kind_and_run(api: Api, alerts: Alerts) -> None:
    finished, failed = end(api, "finished"), end(api, "failed", "No.")
    assert [alert["run_id"] for alert in alerts.listed(kind="run_failed")] == [failed]
    assert [alert["run_id"] for alert in alerts.listed(run=finished)] == [finished]
    assert len(alerts.listed(kind=["run_failed", "run_finished"])) == 2


def test_an_alert_outlives_its_run(api: Api, alerts: Alerts) -> None:
    run_id = end(api, "finished")
    api.user.delete(f"/api/v1/runs/{run_id}")
    (alert,) = alerts.listed()
    assert (alert["title"], alert["run_id"]) == ("Cart finished", None)


def test_alerts_are_deleted_after_90_days(api: Api, alerts: Alerts, database: Database) -> None:
    end(api, "finished")
    delete_old_alerts(database, utc_now() + 0.9 * KEPT)
    assert len(alerts.listed()) == 1
    delete_old_alerts(database, utc_now() + 1.1 * KEPT)
    assert alerts.listed() == []
