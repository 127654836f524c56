"""A short storm: each part is killed once while runs train and users act, and nothing is lost."""

from pathlib import Path

import pytest

from tests.faults.gusts import PARTS
from tests.faults.storm import storm

pytestmark = pytest.mark.nightly

# Two gusts that kill each part once: Redis, a trainer and the backend, then `arcadia up`, a leash and a worker.
SEED, GUSTS = 48, 2


def test_nothing_is_lost_when_each_part_is_killed_once(tmp_path: Path) -> None:
    seen = storm(tmp_path, SEED, seconds=600, most_gusts=GUSTS)
    assert dict(seen.kills) == dict.fromkeys(PARTS, 1)
    # Ignore late recoveries, because here the recovery time depends mostly on the machine's load.
    assert [fault for fault in seen.faults() if not fault.startswith("late")] == []
    assert seen.points.written > 100
