"""Preparation of an archive for shipping: remove large parts and everything that names the machine.

Of each run's checkpoints, only the weights of the best one remain. Their hash is another one, which replaces the former
in all rows and tracks.
"""

import hashlib
import io
import json
import re
import socket
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from arcadia_backend.archives.format import MANIFEST
from arcadia_backend.archives.writing import content_hash
from arcadia_workers.contract import tracks
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.layout import METADATA, WEIGHTS_ONLY, CheckpointMetadata

Members = dict[str, bytes]

HOST = "example"
# Folders of users and of temporary files.
_ABSOLUTE = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|work|Users|var|opt|mnt)/[^\s\"'\\,:;)]*")
_RUN = re.compile(r"runs/\d+/")
_HASH = re.compile(rb"[0-9a-f]{64}")


@dataclass(frozen=True)
class Limits:
    """Limits of a run: number and compressed bytes of replays, and points of a metric."""

    replays: int = 4
    replay_bytes: int = 2_000_000
    points: int = 2_500


def prepare(source: Path, target: Path, limits: Limits) -> None:
    """Write a copy of an archive without the parts that the examples do not need. Compute all hashes again."""
    with zipfile.ZipFile(source) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    manifest = json.loads(members.pop(MANIFEST))
    hosts = _hosts(members)
    for path in [path for path in members if path.endswith(".jsonl") and not path.endswith("/documents.jsonl")]:
        # Provenance documents are named by their hashes. The check below fails if one of them names a folder.
        members[path] = b"".join(_anonymous(path, line, hosts) for line in members[path].splitlines())
    numbers = {run["id"]: run["number"] for run in manifest["runs"]}
    for path in [*_spare_replays(members, numbers, limits), *_spare_checkpoints(members)]:
        members.pop(path, None)
    _strip_checkpoints(members)
    _thin_points(members, limits.points)
    _check(members, hosts)
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


def _hosts(members: Members) -> re.Pattern[str]:
    """Return a pattern for the names of all hosts."""
    found = {socket.gethostname()}
    for path, content in members.items():
        if path.endswith("/attempts.jsonl"):
            for row in map(json.loads, content.splitlines()):
                # The host of a role is followed by its address.
                provenance = row["provenance"] or {"host": None}
                named = [
                    row["host"],
                    provenance["host"],
                    *(role["host"].partition(" ")[0] for role in row["roles"] or []),
                ]
                found.update(name for name in named if name)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(found)))})(?![\w.-])")


def _anonymous(path: str, line: bytes, hosts: re.Pattern[str]) -> bytes:
    """Return a row without the names of hosts, folders and workers."""
    text = hosts.sub(HOST, _ABSOLUTE.sub(_name_of, line.decode()))
    if not path.endswith("/attempts.jsonl"):
        return f"{text}\n".encode()
    row = json.loads(text)
    if row["provenance"] is not None:
        row["provenance"]["environment"] = {}
    return json.dumps({**row, "worker": HOST}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _name_of(found: re.Match[str]) -> str:
    return found[0].rstrip("/").rpartition("/")[2]


def _rows(members: Members, folder: str, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table of a run."""
    return [*map(json.loads, members.get(f"{folder}rows/{table}.jsonl", b"").splitlines())]


def _run_folders(members: Members) -> list[str]:
    return sorted({found[0] for path in members if (found := _RUN.match(path))})


def _files(members: Members, folder: str) -> dict[int, str]:
    """Return the members of a run's files that are in the archive, by their numbers."""
    every = {row["archive_number"]: f"{folder}files/{row['sha256']}" for row in _rows(members, folder, "files")}
    return {number: path for number, path in every.items() if path in members}


def _kept_checkpoints(members: Members, folder: str) -> list[dict[str, Any]]:
    """Return the rows of the checkpoints to keep: the best one, or else the newest, and those of studied replays."""
    files = _files(members, folder)
    found = [row for row in _rows(members, folder, "checkpoints") if row["file_id"] in files]
    best = max(found, key=lambda row: (row["best"], row["step"]), default=None)
    replays = _rows(members, folder, "replays")
    studied = {replays[at - 1]["checkpoint"] for at in _studied_replays(members, folder)}
    return [row for row in found if row is best or row["file"] in studied]


def _studied_replays(members: Members, folder: str) -> set[int]:
    """Return the numbers of the replays with futures or a review. Others have nothing that needs their checkpoint."""
    return {row["replay_id"] for table in ("futures", "reviews") for row in _rows(members, folder, table)}


def _spare_checkpoints(members: Members) -> Iterator[str]:
    """Yield the members of the other checkpoints. An import treats them as pruned."""
    for folder in _run_folders(members):
        kept, files = {row["sha256"] for row in _kept_checkpoints(members, folder)}, _files(members, folder)
        for row in _rows(members, folder, "checkpoints"):
            if row["sha256"] not in kept and row["file_id"] in files:
                yield files[row["file_id"]]


def _strip_checkpoints(members: Members) -> None:
    """Reduce every checkpoint to its weights, and replace its hash wherever it is named."""
    renamed: dict[str, str] = {}
    for folder in _run_folders(members):
        for kept in _kept_checkpoints(members, folder):
            stripped = strip(members.pop(f"{folder}files/{kept['sha256']}"))
            renamed[kept["sha256"]] = _sha256(stripped)
            members[f"{folder}files/{renamed[kept['sha256']]}"] = stripped
            _resize(members, folder, {kept["sha256"]: len(stripped)})
    for folder in _run_folders(members):
        renamed |= _rename_in_tracks(members, folder, renamed)
    for path in [path for path in members if path.endswith(".jsonl")]:
        members[path] = _HASH.sub(
            lambda found: renamed.get(found[0].decode(), found[0].decode()).encode(), members[path]
        )


def strip(checkpoint: bytes) -> bytes:
    """Return a checkpoint with only the weights of its network. Its facts say so."""
    metadata = CheckpointMetadata.model_validate_json(weights.read_metadata(checkpoint)[METADATA])
    metadata.facts[WEIGHTS_ONLY] = True
    network = weights.network_of(weights.read(checkpoint).items())
    return weights.pack(weights.to_component(network), {METADATA: json.dumps(metadata.model_dump())})


def _rename_in_tracks(members: Members, folder: str, renamed: Mapping[str, str]) -> dict[str, str]:
    """Replace the hashes of checkpoints in the tracks and the saliency of a run. Return the new hashes of the files."""
    again: dict[str, str] = {}
    for row in _rows(members, folder, "files"):
        path = f"{folder}files/{row['sha256']}"
        if row["kind"] not in ("track", "saliency") or path not in members:
            continue
        file = io.BytesIO(members[path])
        read = tracks.read(file) if row["kind"] == "track" else tracks.read_saliency(file)
        if read.head.checkpoint_sha256 in renamed:
            head: Any = read.head.model_copy(update={"checkpoint_sha256": renamed[read.head.checkpoint_sha256]})
            renewed: Any = replace(read, head=head)
            content = (tracks.packed if row["kind"] == "track" else tracks.packed_saliency)(renewed)
            del members[path]
            again[row["sha256"]] = _sha256(content)
            members[f"{folder}files/{again[row['sha256']]}"] = content
            _resize(members, folder, {row["sha256"]: len(content)})
    return again


def _resize(members: Members, folder: str, sizes: Mapping[str, int]) -> None:
    """Change the sizes of files in the rows of a run. They are found by their former hashes."""
    for table in ("files", "checkpoints"):
        rows = _rows(members, folder, table)
        for row in rows:
            row["bytes"] = sizes.get(row["sha256"], row["bytes"])
        members[f"{folder}rows/{table}.jsonl"] = _to_lines(rows)


def _spare_replays(members: Members, numbers: Mapping[int, int], limits: Limits) -> Iterator[str]:
    """Yield the files of replays beyond the limits.

    Keep the replays in reports, those with futures or a review, and one of the best checkpoint. Before it, keep the
    first replay and evenly spaced ones that fit. Later replays have no checkpoint.
    """
    # Reports name runs by their ids in the exporting installation.
    shown = {
        f"runs/{numbers[row['run']]}/{row['file']}"
        for path in members
        if path.startswith("reports/") and path.endswith("/rows/replays.jsonl")
        for row in map(json.loads, members[path].splitlines())
    }
    for folder in _run_folders(members):
        files, studied = _files(members, folder), _studied_replays(members, folder)
        replays = sorted(_rows(members, folder, "replays"), key=lambda row: (row["step"], row["archive_number"]))
        of_each = [set(_files_of(replay, files)) for replay in replays]
        always = {
            at
            for at, row in enumerate(replays)
            if row["archive_number"] in studied or f"{folder}{row['file']}" in shown
        }
        course = _course(replays, files, _best_checkpoint(members, folder))
        for number in range(limits.replays, -1, -1):
            chosen = {course[place] for place in _spread(number, len(course))} | set(course[-1:])
            size = sum(len(zlib.compress(members[file])) for at in chosen - always for file in of_each[at])
            if len(chosen) <= limits.replays and size <= limits.replay_bytes:
                break
        yield from set().union(*of_each) - set().union(*(of_each[at] for at in always | chosen))


def _best_checkpoint(members: Members, folder: str) -> dict[str, Any] | None:
    return max(_kept_checkpoints(members, folder), key=lambda row: (row["best"], row["step"]), default=None)


def _course(
    replays: Sequence[Mapping[str, Any]], files: Mapping[int, str], best: Mapping[str, Any] | None
) -> list[int]:
    """Return the places of the first replay of each checkpoint until the best one, in order."""
    first: dict[int, int] = {}
    for at, replay in enumerate(replays):
        if replay["file_id"] in files:
            first.setdefault(replay["step"], at)
    last = max((step for step in first if best is None or step <= best["step"]), default=None)
    return [at for step, at in first.items() if last is not None and step <= last]


def _spread(number: int, of: int) -> set[int]:
    """Return the indices of the first, the last and evenly spaced items between them."""
    return {round(place * (of - 1) / max(1, number - 1)) for place in range(number)} & set(range(of))


def _files_of(replay: Mapping[str, Any], files: Mapping[int, str]) -> list[str]:
    # Posters are small, and one of them is the thumbnail of the run.
    numbers = [replay[kind] for kind in ("file_id", "seen_file_id", "track_file_id")]
    return [files[number] for number in numbers if number in files]


def _thin_points(members: Members, most: int) -> None:
    """Keep every n-th point of metrics with too many points."""
    for path in [path for path in members if path.endswith("/rows/series.jsonl")]:
        rows = [json.loads(line) for line in members[path].splitlines()]
        for row in rows:
            member = f"{_folder(path)}points/{row['archive_number']}.npy"
            points = np.load(io.BytesIO(members[member]), allow_pickle=False)
            every = -(-len(points) // most)
            if every > 1:
                kept = _every(every, [count for _, count in row["segments"]])
                row["segments"] = [
                    [attempt, len(of_attempt)] for (attempt, _), of_attempt in zip(row["segments"], kept, strict=True)
                ]
                content = io.BytesIO()
                np.save(content, points[np.concatenate(kept)], allow_pickle=False)
                members[member] = content.getvalue()
        members[path] = _to_lines(rows)


def _to_lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _every(number: int, counts: Sequence[int]) -> list[np.ndarray]:
    """Return the indices of every n-th point of each segment, including the first."""
    begins = np.cumsum([0, *counts])
    return [np.arange(begin, end, number) for begin, end in pairwise(begins)]


def _check(members: Members, hosts: re.Pattern[str]) -> None:
    """End with an error if a text still names a host or a folder."""
    for path, content in members.items():
        if path.endswith(".jsonl"):
            text = content.decode()
            found = [each for each in (*hosts.findall(text), *_ABSOLUTE.findall(text)) if each != HOST]
            if found:
                sys.exit(f"{path} still contains {found[0]!r}. Remove it in {Path(__file__).name}.")


def _content_hash(members: Members, folder: str) -> str:
    """Return the hash of an item, as docs/archives.md defines it."""
    rows = [path for path in members if path.startswith(folder) and "/files/" not in path]
    below = folder if folder.endswith("/") else folder.rpartition("rows/")[0]
    lines = sorted(f"{path.removeprefix(below)} {_sha256(members[path])}" for path in rows)
    files = [path for path in members if path.startswith(f"{folder}files/")]
    lines += sorted(_RUN.sub("runs/0/", path) for path in files)
    return content_hash(lines)


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


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
