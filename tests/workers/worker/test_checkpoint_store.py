"""Tests for the checkpoint cache, which is keyed by hash and limited in size."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from arcadia_workers.contract.worker_api import OfferedCheckpoint
from arcadia_workers.worker.assignment import Assignment
from arcadia_workers.worker.attempt_directory import CheckpointStore
from arcadia_workers.worker.backend_client import BackendClient
from tests.workers.worker_api import WorkerApi

RUN = Assignment("runs", 1, 1)


def offered(api: WorkerApi, number: int) -> OfferedCheckpoint:
    """Offer a checkpoint of 1,000 bytes."""
    content = bytes([number]) * 1000
    api.downloads[number] = content
    digest = hashlib.sha256(content).hexdigest()
    return OfferedCheckpoint(id=number, file="checkpoints/a", sha256=digest, bytes=1000, step=1, frames=1)


def never() -> bool:
    return False


def test_the_least_recently_used_is_evicted_first(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    store, folder = CheckpointStore(client, tmp_path / "store", max_bytes=2500), tmp_path / "store"
    first, second, third = (offered(api, number) for number in (1, 2, 3))
    for age, each in ((30, first), (20, second)):
        assert store.fetch(RUN, each, tmp_path / "a", never)
        used = (folder / each.sha256).stat().st_mtime - age
        os.utime(folder / each.sha256, (used, used))
    assert store.fetch(RUN, first, tmp_path / "a", never)
    assert api.downloaded == 2, "it was cached"
    assert store.fetch(RUN, third, tmp_path / "a", never)
    assert {path.name for path in folder.iterdir()} == {first.sha256, third.sha256}
    assert (tmp_path / "a").read_bytes() == bytes([3]) * 1000


def test_a_checkpoint_larger_than_the_cache_can_still_be_used(
    api: WorkerApi, client: BackendClient, tmp_path: Path
) -> None:
    store = CheckpointStore(client, tmp_path / "store", max_bytes=10)
    assert store.fetch(RUN, offered(api, 1), tmp_path / "a", never)
    assert (tmp_path / "a").read_bytes() == bytes([1]) * 1000


def test_concurrent_fetches_do_not_evict_each_others_files(
    api: WorkerApi, client: BackendClient, tmp_path: Path
) -> None:
    store = CheckpointStore(client, tmp_path / "store", max_bytes=1_500)

    def fetch_often(number: int) -> list[bytes]:
        each, target, fetched = offered(api, number), tmp_path / str(number), []
        for _ in range(30):
            assert store.fetch(RUN, each, target, never)
            fetched.append(target.read_bytes())
        return fetched

    with ThreadPoolExecutor(3) as threads:
        for number, fetched in enumerate(threads.map(fetch_often, range(1, 4)), start=1):
            assert fetched == 30 * [bytes([number]) * 1000]


def test_a_damaged_cached_checkpoint_is_fetched_again(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    store, each = CheckpointStore(client, tmp_path / "store"), offered(api, 1)
    assert store.fetch(RUN, each, tmp_path / "a", never)
    (tmp_path / "store" / each.sha256).write_bytes(b"something else")
    assert store.fetch(RUN, each, tmp_path / "b", never)
    assert (tmp_path / "b").read_bytes() == bytes([1]) * 1000


def test_partial_downloads_of_a_killed_worker_are_deleted(client: BackendClient, tmp_path: Path) -> None:
    (tmp_path / "abc.12.part").touch()
    CheckpointStore(client, tmp_path)
    assert list(tmp_path.iterdir()) == []
