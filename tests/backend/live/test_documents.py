"""Versions of documents, the cache of recent ones, and the difference between two."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcadia_backend.live.documents import RecentDocuments, change_as_json, diff
from tests.backend.live.simulation import apply
from tests.factories import Api, metrics

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    # Not -0.0, which equals 0.0.
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
    | st.sampled_from(["", "NaN", "Infinity", "\ud800", "é", "__proto__"])
)
rows = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 6)}, optional={"steps": scalars, "values": st.lists(scalars)}),
    unique_by=lambda row: str(row["id"]),
)
values = st.recursive(
    scalars | rows | st.lists(scalars),
    lambda parts: st.lists(parts) | st.dictionaries(st.sampled_from(["id", "uid", "a", "b", ""]), parts),
    max_leaves=20,
)


def written(value: Any) -> str:
    """Return JSON, in which 1, 1.0 and true differ. The order of fields does not matter."""
    return json.dumps(value, sort_keys=True)


def size(value: Any) -> int:
    """Return the length as JSON."""
    return len(json.dumps(value, separators=(",", ":")))


@given(st.tuples(values, values) | st.tuples(rows, rows) | st.tuples(st.lists(scalars), st.lists(scalars)))
def test_a_difference_turns_one_value_into_the_other(pair: tuple[Any, Any]) -> None:
    old, new = pair
    before = written(old), written(new)
    assert written(apply(old, diff(old, new))) == before[1]
    assert (written(old), written(new)) == before


@given(values)
def test_equal_values_have_no_difference(value: Any) -> None:
    assert diff(value, copy.deepcopy(value)) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 2}, [["set", ["a"], 2]]),
        ({"a": 1}, {"a": True}, [["set", ["a"], True]]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}, [["delete", ["a", "b"]]]),
        ([1, 2], {"a": 1}, [["set", [], {"a": 1}]]),
        ([1, 2, 3], [1, 2, 3, 4], [["splice", [], 3, 0, [4]]]),
        ([1, 2, 3, 4], [1, 9, 4], [["splice", [], 1, 2, [9]]]),
        ([1, 2], [0, 1, 2], [["splice", [], 0, 0, [0]]]),
        ([[1, 2], [3]], [[1, 2], [3, 4]], [["splice", [1], 1, 0, [4]]]),
        ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}], [["set", [1, "a"], 3]]),
        # A new run comes first, and the last one leaves the page.
        (
            [{"id": 3, "n": 0}, {"id": 2, "n": 0}, {"id": 1, "n": 0}],
            [{"id": 4, "n": 0}, {"id": 3, "n": 5}, {"id": 2, "n": 0}],
            [["splice", [], 2, 1, []], ["splice", [], 0, 0, [{"id": 4, "n": 0}]], ["set", [1, "n"], 5]],
        ),
        # Traces of a figure are identified by their `uid`.
        (
            {"data": [{"uid": "a", "x": [1]}, {"uid": "b", "x": [1]}]},
            {"data": [{"uid": "b", "x": [1, 2]}]},
            [["splice", ["data"], 0, 1, []], ["splice", ["data", 0, "x"], 1, 0, [2]]],
        ),
    ],
)
def test_differences_are_small(old: Any, new: Any, expected: Any) -> None:
    assert diff(old, new) == expected
    assert apply(old, expected) == new


def test_a_list_of_runs_with_some_in_progress_has_a_small_difference() -> None:
    run = {"name": "PAAC on Pong", "env": "ALE/Pong-v5", "tags": ["a", "b"], "config": {"num_envs": 32, "seed": 1}}
    old = {"runs": [{"id": n, **run, "step": 0, "seconds": 0.5, "values": {"score": -21.0}} for n in range(100)]}
    new = copy.deepcopy(old)
    for row in new["runs"][::5]:
        row |= {"step": 1_234_567, "seconds": 17.25, "values": {"score": -20.5}}
    patch = diff(old, new)
    assert apply(old, patch) == new
    assert len(patch) == 60
    assert size(patch) < 0.2 * size(new)


def test_a_figure_with_new_points_has_a_small_difference() -> None:
    def figure(points: int) -> dict[str, Any]:
        x = [10 * n for n in range(points)]
        traces = [{"uid": f"{run}", "x": x, "y": [n / 7 + run for n in x], "line": {"width": 2}} for run in range(20)]
        return {"data": traces, "layout": {"xaxis": {"title": "steps"}}, "cursor": f"1-{points}"}

    old, new = figure(1_000), figure(1_002)
    patch = diff(old, new)
    assert apply(old, patch) == new
    assert len(patch) == 41
    assert size(patch) < 0.02 * size(new)


def change(old: Any, new: Any) -> dict[str, Any]:
    """Return the data of an event about a change from one document to another."""
    bodies = json.dumps(old).encode(), json.dumps(new).encode()
    data: dict[str, Any] = json.loads(change_as_json("/api/v1/runs", ("a" * 16, "b" * 16), bodies, "c-3"))
    return data


def test_an_event_has_a_patch_only_if_it_is_shorter_than_the_document() -> None:
    named = {"path": "/api/v1/runs", "etag": "b" * 16, "notice": "c-3"}
    assert change([0] * 30, [*[0] * 30, 1]) == {**named, "from": "a" * 16, "patch": [["splice", [], 30, 0, [1]]]}
    assert change([1, 2], [3]) == {**named, "document": [3]}
    assert json.loads(change_as_json("/api/v1/runs", (None, "b" * 16), (None, b'{"a": 1}'), "c-3")) == {
        **named,
        "document": {"a": 1},
    }


def test_a_document_that_is_nested_too_deeply_to_compare_is_sent_whole() -> None:
    deep = "[" * 500 + "%d" + "]" * 500
    data = json.loads(
        change_as_json("/api/v1/runs", (None, "b" * 16), ((deep % 1).encode(), (deep % 2).encode()), "c-3")
    )
    assert data["document"] == json.loads(deep % 2)


def test_recent_documents_take_limited_memory() -> None:
    recent = RecentDocuments(max_bytes=30)
    etags = [recent.add(b"%010d" % n) for n in range(3)]
    assert recent.get(etags[0]) == b"0000000000"
    recent.add(b"%010d" % 3)
    assert [recent.get(etag) is not None for etag in etags] == [True, False, True]
    recent.expire(etags[2])
    recent.add(b"%010d" % 4)
    assert [recent.get(etag) is not None for etag in etags] == [True, False, False]
    assert recent.get(recent.add(b"0" * 31)) is None
    assert recent.get(None) is None


def test_the_version_of_a_response_is_that_of_its_content(api: Api) -> None:
    run_id, attempt = api.running()
    path = f"/api/v1/runs/{run_id}"
    first, second = api.user.get(path), api.user.get(path)
    assert first.headers["etag"] == second.headers["etag"]
    api.user.patch(path, json={"notes": "changed"})
    third = api.user.get(path)
    assert third.headers["etag"] != first.headers["etag"]
    api.send(run_id, attempt, *(metrics(seq, seq * 10, {"a": seq / 7}) for seq in range(2, 402)))
    figure = f"/api/v1/figures/curves?runs={run_id}&metric=a"
    etags = {
        api.user.get(figure, headers={"Accept-Encoding": coding}).headers["etag"] for coding in ("gzip", "identity")
    }
    assert len(etags) == 1


def test_only_documents_have_a_version(api: Api) -> None:
    run_id, _attempt = api.running()
    assert "arcadia-notice" in api.user.get("/api/v1/runs").headers
    for path in ("/api/v1/runs/999", f"/api/v1/export/runs/{run_id}.csv", f"/api/v1/export/runs/{run_id}.jsonl"):
        response = api.user.get(path)
        assert not {"etag", "arcadia-notice"} & response.headers.keys(), path
    # The page is a file with its own etag.
    assert "arcadia-notice" not in api.user.get("/").headers
    changed = api.user.patch(f"/api/v1/runs/{run_id}", json={"notes": "x"})
    assert "etag" not in changed.headers
