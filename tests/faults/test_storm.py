"""A short storm: each part is killed once while runs train and users act, and nothing is lost."""

from pathlib import Path

import pytest

from tests.faults.gusts import PARTS
from tests.faults.storm import storm

pytestmark = pytest.mark.nightly

# Three gusts that kill each part once: a process of Ray and a script, then a worker, a trainer and a leash, then Redis,
# `arcadia up` and the backend.
SEED, GUSTS = 134, 3


def test_nothing_is_lost_when_each_part_is_killed_once(tmp_path: Path) -> None:
    seen = storm(tmp_path, SEED, seconds=1200, most_gusts=GUSTS)
    assert dict(seen.kills) == dict.fromkeys(PARTS, 1)
    # Ignore late recoveries, because here the recovery time depends mostly on the machine's load.
    assert [fault for fault in seen.faults() if not fault.startswith("late")] == []
    assert min(seen.points.written, seen.logged) > 100
