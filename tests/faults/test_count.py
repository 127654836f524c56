"""Counts of a storm: missing points are lost, duplicate points are doubled, and each fault is reported."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Attempt
from arcadia_backend.metrics.points import POINT, MetricChunk
from tests import factories
from tests.factories import Api
from tests.faults.gusts import PARTS, gusts
from tests.faults.seen import Seen
from tests.journals import Count, Journals

STEPS = (10, 20, 30)


@pytest.fixture
def journals(tmp_path: Path) -> Journals:
    """Return the journals of a folder for workers."""
    return Journals(tmp_path / "workers")


def train(api: Api, tmp_path: Path, journals: Journals, *, delivered: int) -> int:
    """Write events as a trainer does. Only the first `delivered` events reach the backend and are acknowledged."""
    run, attempt = api.running()
    events = [factories.started()]
    events += [
        factories.metrics(seq, step, {"train/entropy": step / 10}, [1.0]) for seq, step in enumerate(STEPS, start=2)
    ]
    folder = tmp_path / "workers" / "one" / "runs" / str(run) / f"attempt-{attempt}"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    (folder / "acknowledged.json").write_text(json.dumps({"seq": delivered}))
    assert api.send(run, attempt, *events[1:delivered]).is_success
    journals.follow()
    return run


def counted(api: Api, journals: Journals, run: int, *, whole: bool = False) -> Count:
    """Compare a run's export with its journals."""
    lines = api.user.get(f"/api/v1/export/runs/{run}.jsonl").iter_lines()
    count = Count()
    count.add([json.loads(line) for line in lines], journals, run, whole=journals.attempts(run) if whole else ())
    return count


def test_complete_points_have_no_fault(api: Api, tmp_path: Path, journals: Journals) -> None:
    run = train(api, tmp_path, journals, delivered=4)
    count = counted(api, journals, run, whole=True)
    assert count == Count(written=9)


def test_a_point_deleted_from_the_database_is_lost(
    api: Api, database: Database, tmp_path: Path, journals: Journals
) -> None:
    run = train(api, tmp_path, journals, delivered=4)
    with database.write() as session:
        chunk = session.scalars(select(MetricChunk)).first()
        assert chunk is not None
        chunk.data = chunk.data[: -POINT.itemsize]
    count = counted(api, journals, run)
    assert len(count.lost) == 1
    assert count.lost[0].endswith("at step 30")
    assert count.doubled == []


def test_points_stored_twice_are_doubled(api: Api, database: Database, tmp_path: Path, journals: Journals) -> None:
    run = train(api, tmp_path, journals, delivered=4)
    with database.write() as session:
        # A backend that forgets the last sequence number accepts an event again.
        session.get_one(Attempt, (run, 1)).last_seq = 3
    assert api.send(run, 1, journals.events(run, 1)[3]).is_success
    count = counted(api, journals, run)
    assert {reported.rpartition(": ")[2] for reported in count.doubled} == {
        "train/entropy = 3.0 at step 30",
        "episode/return = 1.0 at step 30",
        "episode/length = 10.0 at step 30",
    }
    assert len(count.doubled) == 3
    assert count.lost == []


def test_unacknowledged_points_are_lost_only_if_the_worker_delivered_everything(
    api: Api, tmp_path: Path, journals: Journals
) -> None:
    run = train(api, tmp_path, journals, delivered=3)
    assert counted(api, journals, run).lost == []
    assert len(counted(api, journals, run, whole=True).lost) == 3


def test_points_without_a_journal_are_reported(api: Api, tmp_path: Path, journals: Journals) -> None:
    run = train(api, tmp_path, journals, delivered=4)
    assert counted(api, Journals(tmp_path / "elsewhere"), run).unseen == [f"run {run}, attempt 1"]


@pytest.mark.parametrize(
    ("seen", "fault"),
    [
        (Seen(points=Count(lost=["a point"])), "lost: a point"),
        (Seen(points=Count(doubled=["a point"])), "doubled: a point"),
        (Seen(points=Count(unseen=["an attempt"])), "journal never seen: an attempt"),
        (Seen(failed=["run 3"]), "failed: run 3"),
        (Seen(stuck=["run 3"]), "stuck: run 3"),
        (Seen(orphans=["process 7"]), "orphan: process 7"),
        (Seen(ways_back=[("worker", 12.0), ("backend", 31.0)]), "late: 31.0 s after the kill of backend"),
    ],
)
def test_each_fault_is_reported(seen: Seen, fault: str) -> None:
    assert seen.faults() == [fault]


def test_a_storm_without_faults_reports_none() -> None:
    seen = Seen(ways_back=[("worker", 12.0), ("worker", 30.0)])
    assert seen.faults() == []
    assert "worker   |     0 |         2 | 21.0 s |  30.0 s" in seen.report()


def test_a_seed_repeats_its_kills_and_every_part_is_killed_in_turn() -> None:
    first, again, other = (gusts(seed) for seed in (5, 5, 6))
    drawn = [next(first) for _ in range(20)]
    assert drawn == [next(again) for _ in range(20)]
    assert drawn != [next(other) for _ in range(20)]
    parts = [kill.part for gust in drawn for kill in gust.kills]
    count = len(PARTS)
    assert sorted(parts[:count]) == sorted(parts[count : 2 * count]) == sorted(PARTS)
