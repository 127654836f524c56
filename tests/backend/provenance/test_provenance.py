"""Provenance of the attempts of a run. Equal parts are stored once, and purged with their last run."""

from typing import Any

from sqlalchemy import func, select

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import ProvenanceDocument
from tests.factories import Api, event, started
from tests.provenance import COMMIT, DIFF, PROVENANCE


def provenance(seq: int = 2, **changes: Any) -> dict[str, Any]:
    """Return the event of a provenance."""
    return event(seq, "provenance", provenance=PROVENANCE.model_copy(update=changes).model_dump(mode="json"))


def reported(api: Api, **changes: Any) -> tuple[int, int]:
    """Start a run that reports its provenance. Return its id and attempt."""
    run_id, attempt = api.running()
    assert api.send(run_id, attempt, provenance(**changes)).is_success
    return run_id, attempt


def resumed(api: Api, run_id: int, attempt: int, *events: dict[str, Any]) -> int:
    """Start the next attempt of a run, which reports these events. Return its number."""
    assert api.release(run_id, attempt, "drained").is_success
    claimed = api.claim()
    assert claimed["run_id"] == run_id
    assert api.send(run_id, claimed["attempt"], started(), *events).is_success
    return int(claimed["attempt"])


def read(api: Api, run_id: int, **query: Any) -> dict[str, Any]:
    """Read a run's provenance."""
    response = api.user.get(f"/api/v1/runs/{run_id}/provenance", params=query)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def documents(database: Database) -> int:
    """Count the stored documents."""
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(ProvenanceDocument)) or 0


def test_a_provenance_is_read_as_it_was_reported(api: Api) -> None:
    run_id, attempt = reported(api)
    answer = read(api, run_id)
    assert answer["attempt"] == attempt
    assert answer["provenance"] == PROVENANCE.model_dump(mode="json")
    assert answer["provenance"]["diff"] == DIFF
    assert [(each["recorded"], each["changes"]) for each in answer["attempts"]] == [(True, [])]


def test_a_run_without_a_reported_provenance_has_none(api: Api) -> None:
    waiting = api.launch()["id"]
    assert read(api, waiting) == {"attempt": None, "provenance": None, "attempts": []}
    assert api.act(waiting, "stop")["state"] == "stopped"
    run_id, attempt = api.running()
    answer = read(api, run_id, attempt=attempt)
    assert (answer["attempt"], answer["provenance"]) == (attempt, None)
    assert [each["recorded"] for each in answer["attempts"]] == [False]


def test_attempts_list_differences_from_the_previous_attempt(api: Api) -> None:
    run_id, first = reported(api)
    packages = {"numpy": "2.3.1", "torch": "2.14.0", "einops": "0.8"}
    changed: dict[str, Any] = {"host": "moon", "packages": packages, "diff": ""}
    second = resumed(api, run_id, first, provenance(**changed))
    unrecorded = resumed(api, run_id, second)
    third = resumed(api, run_id, unrecorded, provenance(**changed))
    answer = read(api, run_id)
    assert answer["attempt"] == third
    assert [each["changes"] for each in answer["attempts"]] == [
        [],
        ["Uncommitted changes", "Host", "torch", "einops"],
        [],
        [],
    ]
    assert read(api, run_id, attempt=first)["provenance"]["host"] == "sun"
    assert read(api, run_id, attempt=second)["provenance"]["host"] == "moon"
    missing = api.user.get(f"/api/v1/runs/{run_id}/provenance", params={"attempt": 99})
    assert (missing.status_code, missing.json()["detail"]) == (404, f"Run {run_id} has no attempt 99.")


def test_equal_parts_are_stored_once_and_purged_with_their_last_run(api: Api, database: Database) -> None:
    one, attempt_one = reported(api)
    two, attempt_two = reported(api)
    assert documents(database) == 2
    assert api.release(one, attempt_one, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{one}").status_code == 204
    assert documents(database) == 2
    assert read(api, two)["provenance"]["diff"] == DIFF
    assert api.release(two, attempt_two, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{two}").status_code == 204
    assert documents(database) == 0


def test_a_purge_keeps_the_parts_that_another_run_shares(api: Api, database: Database) -> None:
    shared, _ = reported(api)
    alone, attempt = reported(api, diff="another diff")
    assert documents(database) == 3
    assert api.release(alone, attempt, "finished").is_success
    assert api.user.delete(f"/api/v1/runs/{alone}").status_code == 204
    assert documents(database) == 2
    assert read(api, shared)["provenance"]["packages"] == PROVENANCE.packages


def test_an_installation_without_a_checkout_has_no_diff(api: Api) -> None:
    run_id, _ = reported(api, checkout=None, diff="")
    answer = read(api, run_id)["provenance"]
    assert (answer["checkout"], answer["diff"], answer["build"]) == (None, "", PROVENANCE.build)


def test_a_comparison_lists_differences(api: Api) -> None:
    one, _ = reported(api, packages={"attrs": "25.4", "torch": "2.13.0"})
    changed = {"attrs": "26.1", "einops": "0.8", "numpy": "2.3.1", "torch": "2.14.0"}
    two, _ = reported(api, host="moon", packages=changed, environment={})
    unrecorded, _ = api.running()
    answer = api.user.get("/api/v1/compare", params={"runs": f"{one},{two},{unrecorded}"}).json()
    assert {row["title"]: row["values"] for row in answer["provenance"]} == {
        "Host": {str(one): "sun", str(two): "moon"},
        "OMP_NUM_THREADS": {str(one): "2", str(two): "not set"},
        "numpy": {str(one): "not installed", str(two): "2.3.1"},
        "torch": {str(one): "2.13.0", str(two): "2.14.0"},
        "attrs": {str(one): "25.4", str(two): "26.1"},
        "einops": {str(one): "not installed", str(two): "0.8"},
    }
    titles = [row["title"] for row in answer["provenance"]]
    assert titles == ["Host", "torch", "numpy", "OMP_NUM_THREADS", "attrs", "einops"]
    assert all(row["marked"] == [two] for row in answer["provenance"])


def test_a_comparison_of_different_commits_names_them(api: Api) -> None:
    assert PROVENANCE.checkout is not None
    other = PROVENANCE.checkout.model_copy(update={"commit": "f" * 40, "untracked": []})
    one, _ = reported(api)
    two, _ = reported(api, checkout=other, diff="", build="0.1.0+ffffffffffff")
    rows = {
        row["field"]: row["values"]
        for row in api.user.get("/api/v1/compare", params={"runs": f"{one},{two}"}).json()["provenance"]
    }
    assert rows.keys() == {"commit", "changes"}
    assert rows["commit"] == {str(one): COMMIT[:12], str(two): "f" * 12}
    assert rows["changes"][str(two)] == "none"
    assert rows["changes"][str(one)].endswith(", 1 untracked file")
