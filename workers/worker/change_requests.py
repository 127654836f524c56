"""Delivery of requested configuration changes to a run's trainer."""

import logging
from collections.abc import Sequence
from pathlib import Path

from workers.contract.changes import RequestedChange
from workers.worker.attempt_directory import write_changes

log = logging.getLogger(__name__)


class ChangeRequests:
    """The changes delivered to the trainer of an attempt."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._given: Sequence[RequestedChange] = ()
        self._is_failing = False

    def hand_over(self, changes: Sequence[RequestedChange]) -> None:
        """Write the changes to the attempt's directory if they are new. Repeat it if the disk is full."""
        if not changes or changes == self._given:
            return
        try:
            write_changes(self._directory, changes)
        except OSError as error:
            if not self._is_failing:
                log.warning("Cannot hand changes over to the trainer, retrying: %s", error)
            self._is_failing = True
        else:
            self._given, self._is_failing = changes, False
