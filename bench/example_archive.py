"""Changes to an archive before it is shipped: no large checkpoints, and nothing that names the machine."""

import hashlib
import json
import os
import re
import socket
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend.archives.format import MANIFEST

Members = dict[str, bytes]
Row = dict[str, Any]

HOST = "example"
# Folders of users and of temporary files.
_ABSOLUTE = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|work|Users|var|opt|mnt)/[^\s\"'\\,:;)]*")
_RUN = re.compile(r"runs/\d+/")


def prepare(source: Path, target: Path, max_checkpoint_bytes: int) -> None:
    """Write an archive without what is not wanted in the examples. All hashes are computed again."""
    with zipfile.ZipFile(source) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    manifest = json.loads(members.pop(MANIFEST))
    for path in [path for path in members if path.endswith(".jsonl")]:
        members[path] = b"".join(_line(_anonymous(path, json.loads(line))) for line in members[path].splitlines())
    for path in _large_checkpoints(members, max_checkpoint_bytes):
        del members[path]
    _check(members)
    manifest["contents"] = [
        {"path": path, "sha256": _sha256(content), "bytes": len(content)} for path, content in members.items()
    ]
    for run in manifest["runs"]:
        run["content_sha256"] = _content_hash(members, f"runs/{run['number']}/")
    for kind in ("studies", "reports"):
        for item in manifest[kind]:
            folder = f"{kind}/{item['number']}/"
            item["content_sha256"] = _content_hash(members, f"{folder}rows/report." if kind == "reports" else folder)
    _write(target, {**members, MANIFEST: json.dumps(manifest, indent=1).encode()})


def describe(path: Path) -> str:
    """Return a table of the runs in an archive with the compressed bytes of their parts."""
    with zipfile.ZipFile(path) as opened:
        lines = ["run  rows  points  files (kB)"]
        runs = sorted({int(name.split("/")[1]) for name in opened.namelist() if name.startswith("runs/")})
        for run in runs:
            row = json.loads(opened.read(f"runs/{run}/rows/run.jsonl"))
            sizes = [
                sum(info.compress_size for info in opened.infolist() if info.filename.startswith(f"runs/{run}/{part}/"))
                for part in ("rows", "points", "files")
            ]
            lines.append("  ".join([*(f"{size / 1000:8.0f}" for size in sizes), row["name"], row["env"]]))
    return "\n".join(lines)


def _anonymous(path: str, row: Row) -> Row:
    """Return a row without the host, the command's folders and the environment."""
    if path.endswith("/attempts.jsonl"):
        row |= {"host": HOST, "worker": HOST, "roles": [{**role, "host": HOST} for role in row["roles"] or []] or None}
        if row["provenance"] is not None:
            row["provenance"] |= {"host": HOST, "environment": {}}
    if path.endswith("/documents.jsonl"):
        # Each is named by its hash. The check below fails if it names a folder.
        return row
    cleaned: Row = json.loads(_ABSOLUTE.sub(_name_of, json.dumps(row, ensure_ascii=False)))
    return cleaned


def _name_of(found: re.Match[str]) -> str:
    return found[0].rstrip("/").rpartition("/")[2]


def _large_checkpoints(members: Members, max_bytes: int) -> Iterator[str]:
    """Yield the members of checkpoints that are too large. An import treats them as pruned."""
    for path in list(members):
        if path.endswith("/rows/files.jsonl"):
            folder = _folder(path)
            for row in map(json.loads, members[path].splitlines()):
                member = f"{folder}files/{row['sha256']}"
                if row["kind"] == "checkpoint" and row["bytes"] > max_bytes and member in members:
                    yield member


def _check(members: Members) -> None:
    """End with an error if a text still names this machine or one of its folders."""
    secrets = {socket.gethostname(), str(Path.home()), os.getcwd()} - {"/", ""}  # noqa: PTH109 - as programs write it
    for path, content in members.items():
        if not path.endswith(".jsonl"):
            continue
        decoded = content.decode()
        found = [secret for secret in secrets if secret in decoded] + _ABSOLUTE.findall(decoded)
        if found:
            sys.exit(f"{path} still contains {found[0]!r}. Remove it in {Path(__file__).name}.")


def _content_hash(members: Members, folder: str) -> str:
    """Return the hash of an item, as docs/archives.md defines it."""
    rows = [path for path in members if path.startswith(folder) and "/files/" not in path]
    below = folder if folder.endswith("/") else folder.rpartition("rows/")[0]
    lines = sorted(f"{path.removeprefix(below)} {_sha256(members[path])}" for path in rows)
    files = [path for path in members if path.startswith(f"{folder}files/")]
    lines += sorted(_RUN.sub("runs/0/", path) for path in files)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _write(target: Path, members: Members) -> None:
    partial = target.with_name(f".{target.name}.part")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in members.items():
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED, 9)
    partial.replace(target)


def _folder(path: str) -> str:
    found = _RUN.match(path)
    assert found is not None
    return found[0]


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
