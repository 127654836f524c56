"""Bulk actions of the application's own thread, for callers that wait for the end."""

from tests.factories import Api


def test_a_caller_waits_for_the_end(api: Api) -> None:
    queued, stopped = api.launch()["id"], api.launch()["id"]
    api.act(stopped, "stop")
    ended = api.bulk("stop", [queued, stopped, 999, queued])
    assert (ended["state"], ended["done"], ended["skipped"]) == ("done", 1, 2)
    assert ended["items"] == [
        {"id": stopped, "reason": f"Run {stopped} has already stopped."},
        {"id": 999, "reason": "There is no run 999."},
    ]
    assert api.run(queued)["state"] == "stopped"


def test_tags_are_added_to_and_removed_from_many_runs(api: Api) -> None:
    ids = [api.launch(tags=tags)["id"] for tags in (["a"], [], [f"t{number}" for number in range(19)])]
    tagged = api.bulk("tag", [*ids, 99], tags=["b", "a"])
    assert tagged["items"] == [
        {"id": ids[2], "reason": f"Run {ids[2]} would have more than 20 tags."},
        {"id": 99, "reason": "There is no run 99."},
    ]
    assert [api.run(run_id)["tags"] for run_id in ids[:2]] == [["a", "b"], ["a", "b"]]
    assert api.bulk("untag", ids[:2], tags=["a", "c"])["done"] == 2
    assert [api.run(run_id)["tags"] for run_id in ids[:2]] == [["b"], ["b"]]
