"""Helper that waits for a condition in tests."""

import time
from collections.abc import Callable

# With a load of 15 on two cores, a process takes half a minute to load torch. A test may wait for several processes.
PATIENCE_SECONDS = 480.0


def wait_until(condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for a condition. Fail on a timeout."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.05)
