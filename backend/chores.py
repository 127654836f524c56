"""Tasks of background loops. A failing task ends neither its loop nor the other tasks."""

import logging
from collections.abc import Callable

from backend.failure_log import FailureLog

log = logging.getLogger(__name__)


class Chores:
    """The tasks of one loop, and which of them are failing."""

    def __init__(self) -> None:
        self._failures = FailureLog(log)

    def do(self, name: str, work: Callable[[], object]) -> None:
        """Do a task. Log any failure, but not again while it is repeated."""
        failure = f"{name} failed, and is tried again"
        try:
            work()
        except Exception as error:
            self._failures.failed(failure, error)
        else:
            if self._failures.recovered(failure):
                log.info("%s works again", name)
