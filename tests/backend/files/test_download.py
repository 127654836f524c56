"""Downloads of files by browsers."""

import pytest

from tests.factories import Api, sha256

CONTENT = bytes(range(200))


@pytest.fixture
def video(api: Api) -> str:
    """Return the address of an uploaded replay."""
    run_id, attempt = api.running()
    return f"/api/v1/files/{api.upload(run_id, attempt, 'replays/1.mp4', CONTENT, 'video')}"


def test_a_file_has_the_media_type_of_its_kind(api: Api, video: str) -> None:
    answer = api.user.get(video)
    assert answer.content == CONTENT
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == 'inline; filename="run-1-1.mp4"'
    assert answer.headers["accept-ranges"] == "bytes"
    poster = api.upload(1, 1, "replays/1.html", b"<script>", "poster")
    assert api.user.get(f"/api/v1/files/{poster}").headers["content-type"] == "image/png"
    weights = api.upload(1, 1, "checkpoints/1.safetensors", b"w")
    answer = api.user.get(f"/api/v1/files/{weights}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("wanted", "start", "end"),
    [("bytes=0-9", 0, 10), ("bytes=190-", 190, 200), ("bytes=-5", 195, 200), ("bytes=10-999999", 10, 200)],
)
def test_a_browser_can_seek_in_a_video(api: Api, video: str, wanted: str, start: int, end: int) -> None:
    answer = api.user.get(video, headers={"Range": wanted})
    assert answer.status_code == 206
    assert answer.content == CONTENT[start:end]
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/200"


def test_a_range_beyond_the_end_is_refused(api: Api, video: str) -> None:
    answer = api.user.get(video, headers={"Range": "bytes=200-"})
    assert (answer.status_code, answer.headers["content-range"]) == (416, "bytes */200")
    assert answer.json()["detail"] == "The file has only 200 bytes."


@pytest.mark.parametrize(
    "wanted", ["bytes=0-1,2-3", "bytes=" + ",".join(["0-"] * 5_000), "bytes=a-b", "lines=1-2", "bytes=-", "bytes=9-1"]
)
def test_an_unsupported_range_returns_the_whole_file(api: Api, video: str, wanted: str) -> None:
    answer = api.user.get(video, headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (200, CONTENT)


def test_a_cached_file_is_not_sent_again(api: Api, video: str) -> None:
    tag = api.user.get(video).headers["etag"]
    assert tag == f'"{sha256(CONTENT)}"'
    again = api.user.get(video, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert "immutable" in again.headers["cache-control"]


def test_head_returns_the_size_of_a_file(api: Api, video: str) -> None:
    answer = api.user.head(video)
    assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, "200", b"")


def test_a_missing_file_is_reported_as_a_problem(api: Api) -> None:
    answer = api.user.get("/api/v1/files/999")
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no file 999.")
