"""Actions on all runs that match a filter."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import MAIN_ID
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.runs import bulk, service
from arcadia_backend.runs.bulk import BulkActionThread
from tests.factories import Api


@pytest.fixture(autouse=True)
def no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the application's own thread from applying the actions."""
    monkeypatch.setattr(BulkActionThread, "start", lambda _thread: None)
    monkeypatch.setattr(BulkActionThread, "stop", lambda _thread: None)


@pytest.fixture
def thread(database: Database) -> BulkActionThread:
    """Return a thread that is not started."""
    return BulkActionThread(database, Doorbell(""))


@pytest.fixture
def apply(thread: BulkActionThread) -> Callable[[], None]:
    """Return a function that applies all batches."""

    def apply_all() -> None:
        while thread.run_once():
            pass

    return apply_all


def start(api: Api, action: str, /, *, expect: int = 201, params: Any = (), **body: Any) -> dict[str, Any]:
    answer = api.user.post("/api/v1/bulk-actions", params=params, json={"action": action, **body})
    assert answer.status_code == expect, answer.text
    return dict(answer.json())


def read(api: Api, bulk_id: int) -> dict[str, Any]:
    return dict(api.user.get(f"/api/v1/bulk-actions/{bulk_id}").json())


def skipped(api: Api, bulk_id: int, **params: Any) -> list[dict[str, Any]]:
    return list(api.user.get(f"/api/v1/bulk-actions/{bulk_id}/skipped", params=params).json()["items"])


def listed(api: Api, **params: Any) -> list[int]:
    return sorted(run["id"] for run in api.user.get("/api/v1/runs", params=params).json()["items"])


def stopped_runs(api: Api, count: int, **more: Any) -> list[int]:
    ids = [api.launch(**more)["id"] for _ in range(count)]
    for run_id in ids:
        api.act(run_id, "stop")
    return ids


def test_only_the_matching_runs_change_and_others_are_skipped_with_the_reason(
    api: Api, apply: Callable[[], None]
) -> None:
    ended = stopped_runs(api, 2, tags=["a"])
    queued = api.launch(tags=["a"])["id"]
    other = stopped_runs(api, 1, tags=["b"])
    began = start(api, "archive", params={"tag": "a"})
    assert (began["state"], began["total"], began["done"]) == ("running", 3, 0)
    apply()
    ended_as = read(api, began["id"])
    assert (ended_as["state"], ended_as["done"], ended_as["skipped"]) == ("done", 2, 1)
    assert ended_as["finished_at"] is not None
    assert skipped(api, began["id"]) == [
        {"id": queued, "reason": f"Run {queued} is still queued. Stop or pause it first."}
    ]
    assert listed(api, archived=True) == ended
    assert listed(api) == [queued, *other]


def test_runs_that_match_later_or_are_excluded_do_not_change(api: Api, apply: Callable[[], None]) -> None:
    first, second, third = stopped_runs(api, 3)
    start(api, "archive", exclude=[second], up_to=second)
    later = stopped_runs(api, 1)
    apply()
    assert listed(api, archived=True) == [first]
    assert listed(api) == [second, third, *later]


def test_tags_projects_and_purges(api: Api, apply: Callable[[], None]) -> None:
    full = api.launch(tags=[f"t{number}" for number in range(20)])["id"]
    run_id = api.launch(tags=["old"])["id"]
    tagged = start(api, "tag", tags=["new"])
    untagged = start(api, "untag", tags=["old"])
    api.user.post("/api/v1/projects", json={"name": "Maze"})
    moved = start(api, "move", project="maze", exclude=[full])
    apply()
    assert api.run(run_id)["tags"] == ["new"]
    assert api.run(run_id)["project"] == "Maze"
    assert skipped(api, tagged["id"]) == [{"id": full, "reason": f"Run {full} would have more than 20 tags."}]
    assert read(api, untagged["id"])["done"] == 2
    assert read(api, moved["id"])["done"] == 1
    api.act(run_id, "stop")
    purged = start(api, "purge", params={"project": "Maze"})
    apply()
    assert read(api, purged["id"])["done"] == 1
    assert listed(api) == [full]


def test_a_project_that_was_deleted_meanwhile_gets_no_run(api: Api, apply: Callable[[], None]) -> None:
    run_id = api.launch()["id"]
    project = api.user.post("/api/v1/projects", json={"name": "Maze"}).json()
    moved = start(api, "move", project="Maze")
    assert api.user.delete(f"/api/v1/projects/{project['id']}").is_success
    apply()
    assert skipped(api, moved["id"]) == [{"id": run_id, "reason": "There is no project Maze."}]


def test_resumed_runs_ring_the_doorbell(api: Api, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = api.launch()["id"]
    api.act(run_id, "pause")
    rung: list[int] = []
    bell = Doorbell("")
    monkeypatch.setattr(bell, "ring_after_commit", lambda _session, run: rung.append(run.id))
    start(api, "resume")
    BulkActionThread(database, bell).run_once()
    assert (api.run(run_id)["state"], rung) == ("queued", [run_id])


def test_an_action_continues_after_a_crash_and_counts_each_run_once(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = stopped_runs(api, 5)
    began = start(api, "archive")
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    BulkActionThread(database, Doorbell("")).run_once()
    assert (read(api, began["id"])["done"], listed(api, archived=True)) == (2, ids[:2])

    class Killed(BaseException):
        pass

    def kill(*_arguments: object) -> None:
        raise Killed

    # The process ends after the runs of a batch have changed, and before its commit.
    with monkeypatch.context() as patched:
        patched.setattr(bulk, "_store", kill)
        with pytest.raises(Killed):
            BulkActionThread(database, Doorbell("")).run_once()
    assert (read(api, began["id"])["done"], listed(api, archived=True)) == (2, ids[:2])
    restarted = BulkActionThread(database, Doorbell(""))
    while restarted.run_once():
        pass
    ended = read(api, began["id"])
    assert (ended["state"], ended["done"], ended["skipped"]) == ("done", 5, 0)
    assert listed(api, archived=True) == ids


def test_a_cancelled_action_keeps_what_it_has_changed(
    api: Api, thread: BulkActionThread, apply: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = stopped_runs(api, 3)
    monkeypatch.setattr(bulk, "BATCH_SIZE", 1)
    began = start(api, "archive")
    thread.run_once()
    path = f"/api/v1/bulk-actions/{began['id']}"
    assert api.user.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert api.user.post(f"{path}/cancel").status_code == 200
    apply()
    assert listed(api, archived=True) == ids[:1]
    assert (read(api, began["id"])["done"], read(api, began["id"])["total"]) == (1, 3)
    done = start(api, "archive")
    apply()
    refused = api.user.post(f"/api/v1/bulk-actions/{done['id']}/cancel")
    assert (refused.status_code, "has already ended" in refused.text) == (409, True)


def test_an_archived_selection_is_restored_by_undo(api: Api, apply: Callable[[], None]) -> None:
    ids = stopped_runs(api, 2)
    earlier = stopped_runs(api, 1, tags=["earlier"])
    start(api, "archive", params={"tag": "earlier"})
    apply()
    began = start(api, "archive")
    path = f"/api/v1/bulk-actions/{began['id']}/undo"
    assert api.user.post(path).status_code == 409
    apply()
    assert api.user.post(path).json()["action"] == "restore"
    apply()
    assert (listed(api), listed(api, archived=True)) == (ids, earlier)
    purged = start(api, "purge", params={"archived": True})
    apply()
    refused = api.user.post(f"/api/v1/bulk-actions/{purged['id']}/undo")
    assert (refused.status_code, "cannot be undone" in refused.text) == (409, True)


def test_a_run_that_fails_in_an_unexpected_way_does_not_stop_the_others(
    api: Api, apply: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, broken, last = stopped_runs(api, 3)
    act = service.act

    def act_or_fail(session: Any, run: Any, action: Any) -> None:
        if run.id == broken:
            raise RuntimeError("broken")
        act(session, run, action)

    monkeypatch.setattr(service, "act", act_or_fail)
    began = start(api, "archive")
    apply()
    ended = read(api, began["id"])
    assert (ended["state"], ended["done"], ended["skipped"]) == ("done", 2, 1)
    assert listed(api, archived=True) == [first, last]
    assert skipped(api, began["id"])[0]["id"] == broken


def test_a_repeated_request_starts_one_action(api: Api) -> None:
    api.launch()
    headers = {"Idempotency-Key": "once"}
    first, second = (
        api.user.post("/api/v1/bulk-actions", json={"action": "stop"}, headers=headers).json() for _ in range(2)
    )
    assert first == second
    assert [each["id"] for each in api.user.get("/api/v1/bulk-actions").json()] == [first["id"]]


def test_a_filter_without_matches_ends_at_once(api: Api) -> None:
    assert start(api, "stop", params={"tag": "nothing"})["state"] == "done"


def test_wrong_requests_are_refused(api: Api) -> None:
    for body in ({"action": "tag"}, {"action": "stop", "tags": ["a"]}, {"action": "move"}):
        assert api.user.post("/api/v1/bulk-actions", json=body).status_code == 422
    assert "no such parameter" in api.user.post("/api/v1/bulk-actions?tags=a", json={"action": "stop"}).text
    assert "retrn" in api.user.post("/api/v1/bulk-actions?filter=retrn>1", json={"action": "stop"}).text
    refused = api.user.post("/api/v1/bulk-actions", json={"action": "move", "project": "nowhere"})
    assert (refused.status_code, "there is no project 'nowhere'" in refused.text) == (422, True)
    assert api.user.get("/api/v1/bulk-actions/9").status_code == 404


def test_the_number_of_unfinished_actions_is_limited(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.launch()
    monkeypatch.setattr(bulk, "MAX_UNFINISHED", 1)
    start(api, "stop")
    assert "in progress" in start(api, "stop", expect=409)["detail"]


def test_old_actions_are_deleted(api: Api, database: Database, apply: Callable[[], None]) -> None:
    api.launch()
    old = start(api, "stop")
    apply()
    with database.write() as session:
        session.execute(text("UPDATE bulk_actions SET finished_at = '2020-01-01 00:00:00'"))
    start(api, "stop")
    assert api.user.get(f"/api/v1/bulk-actions/{old['id']}").status_code == 404


def test_runs_are_chosen_by_their_ids(api: Api, apply: Callable[[], None]) -> None:
    queued, stopped, other = api.launch()["id"], *stopped_runs(api, 2)
    api.act(stopped, "archive")
    began = start(api, "stop", ids=[99, queued, stopped, queued])
    assert (began["state"], began["total"]) == ("running", 3)
    apply()
    ended = read(api, began["id"])
    assert (ended["state"], ended["done"], ended["skipped"]) == ("done", 1, 2)
    assert skipped(api, began["id"]) == [
        {"id": stopped, "reason": f"Run {stopped} has already stopped."},
        {"id": 99, "reason": "There is no run 99."},
    ]
    purged = start(api, "purge", ids=[stopped, queued])
    apply()
    assert read(api, purged["id"])["done"] == 2
    assert listed(api) == [other]


def test_ids_and_filters_exclude_each_other(api: Api) -> None:
    run_id = api.launch()["id"]
    refused = start(api, "stop", expect=422, params={"state": "queued"}, ids=[run_id])
    assert "send either ids or filters" in refused["errors"][0]["message"]
    for more in ({"exclude": [run_id]}, {"up_to": run_id}):
        assert "leave runs out of ids instead" in str(start(api, "stop", expect=422, ids=[run_id], **more))
    assert start(api, "stop", expect=422, ids=[])["status"] == 422


def test_the_runs_that_allow_each_action_are_counted(api: Api) -> None:
    ended, queued = stopped_runs(api, 2), api.launch()["id"]
    counts = api.user.get("/api/v1/run-actions").json()
    assert (counts["runs"], counts["newest"]) == (3, queued)
    assert counts["actions"]["stop"] == {
        "allowed": 1,
        "refused": [{"reason": "This run has already stopped.", "runs": 2}],
    }
    assert counts["actions"]["purge"]["allowed"] == 2
    assert counts["actions"]["restore"]["refused"] == [{"reason": "This run is not archived.", "runs": 3}]
    for run_id in (*ended, queued):
        page = api.user.get("/api/v1/runs", params={"id": run_id}).json()
        allowed = page["actions"][page["items"][0]["actions"]]
        matched = api.user.get("/api/v1/run-actions", params={"id": run_id}).json()["actions"]
        assert {action: not count["refused"] for action, count in matched.items()} == {
            action: allowed[action] is None for action in matched
        }


def test_pages_get_one_notice_about_all_runs(
    api: Api, thread: BulkActionThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_runs(api, 3)
    notices: list[tuple[str, dict[str, Any]]] = []
    for module in ("runs.bulk", "runs.states"):
        monkeypatch.setattr(f"arcadia_backend.{module}.publish", lambda *notice: notices.append(notice))
    began = start(api, "archive")
    while thread.run_once():
        pass
    assert [notice for notice in notices if notice[0] != "bulk.changed"] == [
        (name, {"project_id": MAIN_ID}) for name in ("run.changed", "run.log")
    ]
    assert ("bulk.changed", {"id": began["id"]}) in notices
