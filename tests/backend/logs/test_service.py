"""The log of a run as its page reads it."""

from typing import Any

from tests.factories import Api, event


def lines(api: Api, run_id: int, **params: Any) -> list[str]:
    """Return the messages of a part of the log."""
    answer = api.user.get(f"/api/v1/runs/{run_id}/log", params=params)
    assert answer.status_code == 200, answer.text
    return [item["message"] for item in answer.json()["items"]]


def written(api: Api) -> int:
    """Return a run with the log lines 2 to 11."""
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(event(seq, "log", message=f"line {seq}", level="info") for seq in range(2, 12)))
    return run_id


def test_the_last_lines_are_returned_in_order(api: Api) -> None:
    run_id = written(api)
    assert lines(api, run_id, limit=3) == ["line 9", "line 10", "line 11"]


def test_the_tail_continues_after_the_last_line(api: Api) -> None:
    run_id = written(api)
    page = api.user.get(f"/api/v1/runs/{run_id}/log").json()
    assert lines(api, run_id, after=page["next_after"]) == []
    api.send(run_id, 1, event(12, "log", message="news", level="warning"))
    more = api.user.get(f"/api/v1/runs/{run_id}/log", params={"after": page["next_after"]}).json()
    assert [(item["message"], item["level"], item["attempt"]) for item in more["items"]] == [("news", "warning", 1)]
    assert more["next_after"] > page["next_after"]
    last = api.user.get(f"/api/v1/runs/{run_id}/log", params={"after": more["next_after"]}).json()
    assert last == {"items": [], "next_after": more["next_after"]}


def test_scrolling_back_returns_earlier_lines(api: Api) -> None:
    run_id = written(api)
    first = api.user.get(f"/api/v1/runs/{run_id}/log", params={"limit": 2}).json()["items"][0]["id"]
    assert lines(api, run_id, before=first, limit=2) == ["line 8", "line 9"]


def test_a_long_log_is_read_from_its_start_in_pages(api: Api) -> None:
    run_id = written(api)
    everything = lines(api, run_id)
    paged: list[str] = []
    after = 0
    while page := api.user.get(f"/api/v1/runs/{run_id}/log", params={"after": after, "limit": 4}).json()["items"]:
        paged += [item["message"] for item in page]
        after = page[-1]["id"]
    assert paged == everything


def test_search_is_literal_and_ignores_case(api: Api) -> None:
    run_id, attempt = api.running()
    said = ["Loss is 100% NaN", "loss fine", "LOSS_gone"]
    api.send(run_id, attempt, *(event(seq, "log", message=text) for seq, text in enumerate(said, start=2)))
    assert lines(api, run_id, search="loss") == said
    assert lines(api, run_id, search="100%") == ["Loss is 100% NaN"]
    assert lines(api, run_id, search="s_g") == ["LOSS_gone"]


def test_a_missing_run_has_no_log(api: Api) -> None:
    answer = api.user.get("/api/v1/runs/999/log")
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no run 999.")
