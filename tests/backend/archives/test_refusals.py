"""Archives that must not be imported. Each is refused with a reason, and nothing is stored."""

import hashlib
import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from arcadia_backend.archives import format as archive_format
from arcadia_backend.archives import reading
from arcadia_backend.config import Settings
from arcadia_backend.files import zip_files
from tests.backend.archives.conftest import Archives
from tests.factories import Api, metrics

Members = dict[str, bytes]


@pytest.fixture
def members(api: Api, archives: Archives) -> Members:
    """Return the members of a small archive. Its run is deleted."""
    run_id, attempt = api.running(name="small", tags=["a"])
    api.send(run_id, attempt, metrics(2, 10, {"train/loss": 1.0}))
    api.save(run_id, attempt, 3, 100)
    api.release(run_id, attempt, "finished")
    archive = archives.export(run_id)
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code == 204
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(members: Members, *, listed: bool = True, **manifest: Any) -> bytes:
    """Return an archive of members. Their hashes are right unless `listed` is False."""
    document = json.loads(members["archive.json"]) | manifest
    if listed and "contents" not in manifest:
        document["contents"] = [
            {"path": path, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            for path, content in members.items()
            if path != "archive.json"
        ]
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            archive.writestr(path, json.dumps(document) if path == "archive.json" else content)
    return target.getvalue()


def with_row(members: Members, table: str, **changes: Any) -> Members:
    """Return members with changes to the first row of a table."""
    path = f"runs/1/rows/{table}.jsonl"
    first, *others = members[path].splitlines(keepends=True)
    changed = json.dumps(json.loads(first) | changes).encode() + b"\n"
    return {**members, path: changed + b"".join(others)}


@pytest.fixture(autouse=True)
def nothing_is_left(api: Api, settings: Settings) -> Any:
    """Check after each test that the refused archive left no run, row or file."""
    yield
    assert api.user.get("/api/v1/runs").json()["total"] == 0
    left = [path for path in settings.files_dir.rglob("*") if path.is_file() and not path.name.startswith(".")]
    assert left == []


def test_the_unchanged_archive_would_be_imported(archives: Archives, members: Members, api: Api) -> None:
    (imported,) = archives.load(packed(members))["runs"]
    assert api.run(imported)["name"] == "small"
    assert api.user.delete(f"/api/v1/runs/{imported}").status_code == 204


def test_a_file_that_is_not_a_zip_is_refused(archives: Archives) -> None:
    for content in (b"", b"no zip at all", b"PK\3\4 cut off"):
        assert "not an Arcadia archive" in archives.refusal(content)


def test_a_truncated_archive_is_refused(archives: Archives, members: Members) -> None:
    assert "its end is missing" in archives.refusal(packed(members)[:-100])


def test_another_zip_is_refused(archives: Archives) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w"):
        pass
    assert archives.refusal(target.getvalue()) == "The file is not an Arcadia archive: archive.json is missing."


def test_a_member_outside_the_layout_is_refused(archives: Archives, members: Members) -> None:
    outside = ["/etc/passwd", "../x", "runs/1/files/../../x", "runs\\1\\x", "C:/x", "runs/1/rows/"]
    for name in (*outside, "other.txt", "runs/1/rows/A.jsonl"):
        refusal = archives.refusal(packed({**members, name: b"x"}))
        assert "is not a name that a member of an archive can have" in refusal, name


def test_a_symbolic_link_is_refused(archives: Archives, members: Members) -> None:
    target = io.BytesIO(packed(members))
    with zipfile.ZipFile(target, "a") as archive:
        link = zipfile.ZipInfo(f"runs/1/files/{'0' * 64}")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert "is a symbolic link" in archives.refusal(target.getvalue())


def test_a_duplicate_member_is_refused(archives: Archives, members: Members) -> None:
    target = io.BytesIO(packed(members))
    with zipfile.ZipFile(target, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("runs/1/rows/tags.jsonl", "{}")
    assert archives.refusal(target.getvalue()) == "The archive contains runs/1/rows/tags.jsonl twice."


def test_an_encrypted_member_is_refused(archives: Archives, members: Members) -> None:
    content = bytearray(packed(members))
    at = content.rindex(b"PK\1\2")
    content[at + 8] |= 1
    assert "is encrypted" in archives.refusal(bytes(content))


def test_another_compression_is_refused(archives: Archives, members: Members) -> None:
    target = io.BytesIO(packed(members))
    with zipfile.ZipFile(target, "a", zipfile.ZIP_LZMA) as archive:
        archive.writestr(f"runs/1/files/{'0' * 64}", "x")
    assert "other than deflate" in archives.refusal(target.getvalue())


def test_an_unlisted_member_is_refused(archives: Archives, members: Members) -> None:
    more = {**members, f"runs/1/files/{'0' * 64}": b"x"}
    assert "which archive.json does not list" in archives.refusal(packed(more, listed=False))


def test_a_missing_member_is_refused(archives: Archives, members: Members) -> None:
    fewer = {path: content for path, content in members.items() if "/files/" not in path}
    assert "is incomplete" in archives.refusal(packed(fewer, listed=False))


def test_a_changed_member_is_refused(archives: Archives, members: Members) -> None:
    path = "runs/1/rows/tags.jsonl"
    changed = {**members, path: members[path].replace(b'"a"', b'"b"')}
    assert "was changed or damaged" in archives.refusal(packed(changed, listed=False))
    assert "bytes, but archive.json says" in archives.refusal(packed({**members, path: b""}, listed=False))


def test_too_many_members_are_refused_before_they_are_read(
    archives: Archives, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_files, "MAX_MEMBERS", 5)
    assert "more than the 5 members" in archives.refusal(packed(members))
    huge = bytearray(packed(members))
    monkeypatch.setattr(zip_files, "MAX_MEMBERS", 100_000)
    struct.pack_into("<L", huge, huge.rindex(b"PK\5\6") + 12, 40_000_000)
    assert "more than the 100,000 members" in archives.refusal(bytes(huge))


def test_a_zip_bomb_is_refused(archives: Archives, members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_files, "FREE_BYTES", 1_000_000)
    zeros = bytes(10_000_000)
    bomb = {**members, f"runs/1/files/{hashlib.sha256(zeros).hexdigest()}": zeros}
    assert "Such files are made to fill disks" in archives.refusal(packed(bomb))


def test_a_member_larger_than_it_declares_is_refused(archives: Archives, members: Members) -> None:
    path = next(path for path in members if "/files/" in path)
    content = bytearray(packed(members))
    at = content.rindex(path.encode()) - 46
    assert content[at : at + 4] == b"PK\1\2"
    struct.pack_into("<L", content, at + 24, 3)
    contents = json.loads(members["archive.json"])["contents"]
    assert "bytes, but archive.json says" in archives.refusal(bytes(content)), contents


def test_a_large_file_is_refused(archives: Archives, members: Members, client: TestClient, settings: Settings) -> None:
    limited = settings.model_copy(update={"max_file_bytes": 3})
    client.app.state.settings = limited  # type: ignore[attr-defined]
    assert "ARCADIA_MAX_FILE_BYTES" in archives.refusal(packed(members))


def test_a_large_archive_is_refused(api: Api, members: Members, client: TestClient, settings: Settings) -> None:
    client.app.state.settings = settings.model_copy(update={"max_archive_bytes": 1_000})  # type: ignore[attr-defined]
    response = api.user.post("/api/v1/archives", content=packed(members))
    assert (response.status_code, "1,000 bytes" in response.json()["detail"]) == (413, True)


def test_a_newer_format_requests_an_update(archives: Archives, members: Members) -> None:
    refusal = archives.refusal(packed(members, version=3, arcadia_version="9.9.9", kind="galaxy"))
    assert refusal.startswith("The archive was made by a newer Arcadia (9.9.9, format 3).")
    assert refusal.endswith("Update Arcadia, then import it again.")


def test_a_manifest_with_unknown_values_is_refused(archives: Archives, members: Members) -> None:
    wrong: list[dict[str, Any]] = [{"format": "other"}, {"kind": "galaxy"}, {"version": "one"}, {"files": "?"}]
    runs = json.loads(members["archive.json"])["runs"]
    for changed in (*wrong, {"runs": [{"number": 0}]}, {"runs": []}, {"runs": 2 * runs}):
        assert archives.refusal(packed(members, **changed)).startswith("archive.json is not valid: ")


def test_json_that_cannot_be_read_is_refused(archives: Archives, members: Members) -> None:
    for content in (b"[" * 100_000, b'{"a": NaN}', b"\xff", b"{}{}"):
        changed = {**members, "runs/1/rows/run.jsonl": content}
        assert "is not JSON that can be read" in archives.refusal(packed(changed))


def test_a_long_line_is_refused(archives: Archives, members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_format, "MAX_LINE_BYTES", 100)
    assert "is longer than 100 bytes" in archives.refusal(packed(members))


WRONG_ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("run", {"state": "flying"}, "Line 1 of runs/1/rows/run.jsonl is not valid: state"),
    ("run", {"name": "x" * 201}, "name: String should have at most 200 characters"),
    ("run", {"step": 2**63}, "step: Input should be less than or equal to"),
    ("run", {"created_at": "2026-01-01T00:00:00"}, "created_at: Input should have timezone info"),
    ("run", {"algorithm": "telepathy"}, "which this Arcadia does not have"),
    ("attempts", {"roles": [{"kind": 1}]}, "is not consistent"),
    ("checkpoints", {"file_id": "x"}, "file_id"),
    ("files", {"path": "../../x"}, "The path of file"),
    ("files", {"kind": "media"}, "so it cannot be media"),
    ("files", {"bytes": 1}, "but its row says 1"),
    ("files", {"job_id": 7}, "refers to row 7 of jobs"),
]


def test_a_row_with_a_wrong_value_is_refused(archives: Archives, members: Members) -> None:
    for table, changes, reason in WRONG_ROWS:
        assert reason in archives.refusal(packed(with_row(members, table, **changes)))


def test_a_damaged_provenance_is_refused(archives: Archives, members: Members) -> None:
    row = json.dumps({"sha256": "0" * 64, "content": "other"}).encode() + b"\n"
    changed = {**members, "runs/1/rows/documents.jsonl": row}
    assert "does not have its hash" in archives.refusal(packed(changed))


def test_points_that_are_pickled_objects_are_refused(archives: Archives, members: Members) -> None:
    target = io.BytesIO()
    np.save(target, np.array([{"a": 1}], object), allow_pickle=True)
    changed = {**members, "runs/1/points/1.npy": target.getvalue()}
    assert "does not describe an array of numbers" in archives.refusal(packed(changed))


def test_points_without_a_header_are_refused(archives: Archives, members: Members) -> None:
    for content in (b"", b"\x93NUMPY\x01\x00\x10\x00__import__('os')\n", b"\x93NUMPY\x09\x00"):
        assert "runs/1/points/1.npy" in archives.refusal(packed({**members, "runs/1/points/1.npy": content}))


@pytest.mark.parametrize("header", [b"(" * 9_000, b"(" * 4_000, b"-" * 4_000 + b"1", b"{" * 200, b"'" * 3])
def test_points_with_a_hostile_header_are_refused(archives: Archives, members: Members, header: bytes) -> None:
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    assert "its header" in archives.refusal(packed({**members, "runs/1/points/1.npy": content}))


@pytest.mark.parametrize("column", ["packages_sha256", "diff_sha256"])
def test_an_unknown_provenance_document_is_refused(archives: Archives, members: Members, column: str) -> None:
    changed = with_row(members, "attempts", **{column: "0" * 64})
    assert f"{'0' * 64} ({column}), which is missing" in archives.refusal(packed(changed))


def test_documents_that_nest_deeply_are_refused(archives: Archives, members: Members) -> None:
    content = "[" * 100_000
    digest = hashlib.sha256(content.encode()).hexdigest()
    document = json.dumps({"sha256": digest, "content": content}).encode() + b"\n"
    changed = with_row({**members, "runs/1/rows/documents.jsonl": document}, "attempts", packages_sha256=digest)
    assert "is not consistent" in archives.refusal(packed(changed))


@pytest.mark.parametrize("table", ["attempts", "checkpoints", "files", "tags", "log_lines", "clocks"])
def test_rows_that_contradict_each_other_are_refused(archives: Archives, members: Members, table: str) -> None:
    path = f"runs/1/rows/{table}.jsonl"
    first = members[path].splitlines(keepends=True)[0]
    again = json.dumps(json.loads(first) | {"archive_number": 1_000}).encode() + b"\n"
    response = archives.user.post("/api/v1/archives", content=packed({**members, path: first + again}))
    if response.status_code == 201:
        # Rows of this table may be equal.
        assert table in ("files", "log_lines")
        archives.user.delete(f"/api/v1/runs/{response.json()['runs'][0]}")
    else:
        assert response.status_code == 422, response.text
        assert "contradict each other" in response.json()["detail"]


def test_fewer_points_than_announced_are_refused(archives: Archives, members: Members) -> None:
    changed = with_row(members, "series", segments=[[1, 2]])
    assert "must contain 2 points" in archives.refusal(packed(changed))


def test_an_interrupted_import_leaves_nothing(
    api: Api, members: Members, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_arguments: object) -> None:
        raise RuntimeError("interrupted")

    monkeypatch.setattr(reading, "link_or_copy", interrupt)
    with pytest.raises(RuntimeError, match="interrupted"):
        client.post("/api/v1/archives", content=packed(members))
    assert api.user.get("/api/v1/runs").json()["total"] == 0
