"""Time shares of the training thread, as in figure 2 of Clemente et al. 2017."""

import time
from collections.abc import Callable
from typing import Literal

Activity = Literal["environment", "selection", "learning"]


class TimeShares:
    """Meter of the training thread's three activities, one of which is always active.

    With two halves of environments, the first half's thread represents both. `environment` is the time for waiting for
    its emulators, copying their observations, and waiting for the other half at the end.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seconds: dict[Activity, float] = {"environment": 0.0, "selection": 0.0, "learning": 0.0}
        self._activity: Activity = "environment"
        self._since = clock()

    def turn_to(self, activity: Activity) -> None:
        """Switch to another activity."""
        now = self._clock()
        self._seconds[self._activity] += now - self._since
        self._activity, self._since = activity, now

    def report(self) -> dict[str, float]:
        """Return each activity's share of the wall time since the last report, as metrics."""
        self.turn_to(self._activity)
        total = sum(self._seconds.values())
        shares = {f"time/{activity}": seconds / total for activity, seconds in self._seconds.items()}
        self._seconds = dict.fromkeys(self._seconds, 0.0)
        return shares
