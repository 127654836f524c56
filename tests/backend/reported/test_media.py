"""Media of reported runs: uploads, limits and pages."""

from collections.abc import Callable
from typing import Any

import pytest

from arcadia_backend.reported import contents
from tests.backend.reported.conftest import PNG, Script
from tests.factories import Api, sha256

Warnings = Callable[[int], list[str]]
MP4 = b"\0\0\0\x18ftypmp42 video"
FILES = {
    PNG: "image/png",
    b"\xff\xd8\xff picture": "image/jpeg",
    b"GIF89a picture": "image/gif",
    b"RIFF\0\0\0\0WEBPVP8 ": "image/webp",
    MP4: "video/mp4",
    b"\x1a\x45\xdf\xa3 webm": "video/webm",
}


def listed(api: Api, script: Script, **query: Any) -> list[dict[str, Any]]:
    """Return the media of a run."""
    items: list[dict[str, Any]] = api.user.get(f"/api/v1/runs/{script.run_id}/media", params=query).json()["items"]
    return items


@pytest.mark.parametrize("content", FILES, ids=FILES.values())
def test_the_type_of_a_file_is_that_of_its_content(api: Api, reported: Script, content: bytes) -> None:
    uploads = [reported.upload(content) for _ in range(2)]
    assert [upload.status_code for upload in uploads] == [200, 200]
    assert uploads[0].json() == uploads[1].json()
    kind = FILES[content].partition("/")[0]
    reported.log("media", step=3, name="screen", media=kind, sha256=sha256(content), caption="first")
    (item,) = listed(api, reported)
    assert (item["name"], item["kind"], item["step"], item["caption"]) == ("screen", kind, 3, "first")
    assert (item["media_type"], item["file_id"]) == (FILES[content], uploads[0].json()["file_id"])
    served = api.user.get(f"/api/v1/files/{item['file_id']}")
    assert (served.content, served.headers["content-type"]) == (content, FILES[content])
    assert served.headers["content-disposition"].startswith("inline")


def test_an_animation_may_be_a_video(api: Api, reported: Script, warnings: Warnings) -> None:
    for content in (b"GIF89a picture", PNG):
        reported.upload(content)
        reported.log("media", step=1, name="episode", media="video", sha256=sha256(content))
    assert [(item["kind"], item["media_type"]) for item in listed(api, reported)] == [("video", "image/gif")]
    assert "its file is of the type image/png" in warnings(reported.run_id)[0]


def test_files_of_other_types_are_refused(reported: Script) -> None:
    response = reported.upload(b"<svg onload='x'>")
    assert (response.status_code, response.json()["errors"][0]["message"][:14]) == (422, "send a PNG, JP")
    assert reported.upload(PNG, sha256=sha256(b"other")).status_code == 422


def test_histograms_and_tables_keep_their_data(api: Api, reported: Script) -> None:
    histogram = {"edges": [0, 0.5, 1], "counts": [3, 4]}
    rows = [["a", 1, None], [True, 2.5, {"x": 1}], ["x" * 2_000, 2**60, "NaN"]]
    reported.log("media", step=1, name="weights", media="histogram", data=histogram)
    reported.log("media", step=2, name="rows", media="table", data={"columns": ["n", "v", "o"], "rows": rows})
    first, second = listed(api, reported)
    assert first["data"] == histogram
    assert second["data"]["rows"][:2] == [["a", 1, None], [True, 2.5, "{'x': 1}"]]
    assert second["data"]["rows"][2] == ["x" * 1_000, str(2**60), "NaN"]


@pytest.mark.parametrize(
    ("kind", "content", "reason"),
    [
        ("image", {}, "was not uploaded"),
        ("image", {"sha256": sha256(MP4)}, "of the type video/mp4"),
        ("histogram", {"data": {"edges": [0, 1], "counts": []}}, "counts of 1 to 512 bins"),
        ("histogram", {"data": {"edges": [0], "counts": [1]}}, "one more edge"),
        ("histogram", {"data": {"edges": [0, "NaN"], "counts": [1]}}, "finite numbers"),
        ("histogram", {"data": {"edges": [1, 0], "counts": [1]}}, "edges must rise"),
        ("table", {"data": {"columns": ["a"], "rows": [[1, 2]]}}, "one cell for each column"),
        ("table", {"data": {"columns": ["a"], "rows": [[1]] * 10_001}}, "10,000 cells"),
        ("table", {}, "send rows"),
    ],
)
def test_media_that_do_not_fit_are_left_out_with_a_warning(
    api: Api, reported: Script, warnings: Warnings, kind: str, content: dict[str, Any], reason: str
) -> None:
    reported.upload(MP4)
    for step in (1, 2):
        assert reported.log("media", step=step, name="x", media=kind, **content)["acknowledged"] == step
    assert listed(api, reported) == []
    assert [reason in warning for warning in warnings(reported.run_id)] == [True]


def test_a_run_has_a_limited_number_of_media(
    api: Api, reported: Script, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MAX_NAMES", 2)
    table = {"columns": ["a"], "rows": [[1]]}
    for name in ("a", "b", "c", "a"):
        reported.log("media", step=1, name=name, media="table", data=table)
    assert [item["name"] for item in listed(api, reported)] == ["a", "b", "a"]
    assert "2 names of media" in warnings(reported.run_id)[0]


def test_pages_filter_by_name_and_kind_in_order_of_steps(api: Api, reported: Script) -> None:
    table = {"columns": ["a"], "rows": [[1]]}
    for step in (5, 3, 3, 1):
        reported.log("media", step=step, name="a", media="table", data=table)
    reported.log("media", step=2, name="b", media="histogram", data={"edges": [0, 1], "counts": [1]})
    path = f"/api/v1/runs/{reported.run_id}/media"
    first = api.user.get(path, params={"name": "a", "limit": 3}).json()
    second = api.user.get(path, params={"name": "a", "limit": 3, "cursor": first["next_cursor"]}).json()
    assert [item["step"] for page in (first, second) for item in page["items"]] == [1, 3, 3, 5]
    assert second["next_cursor"] is None
    assert [item["name"] for item in listed(api, reported, kind="histogram")] == ["b"]
    assert api.user.get(f"{path}/names").json() == [
        {"name": "a", "kind": "table", "count": 4, "first_step": 1, "last_step": 5},
        {"name": "b", "kind": "histogram", "count": 1, "first_step": 2, "last_step": 2},
    ]
    assert api.user.get(path, params={"cursor": "x"}).status_code == 422
