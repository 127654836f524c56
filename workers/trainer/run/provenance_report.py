"""Report of an attempt's provenance, as an event and as a file of the run directory."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path

from workers.contract import events, layout
from workers.contract.provenance import Provenance
from workers.trainer.errors import reason
from workers.trainer.provenance.collecting import collect_provenance
from workers.trainer.run import durable_files
from workers.trainer.run.journal import Journal

# A run that ends at once waits this long, because its provenance may explain why.
LAST_SECONDS = 10.0


class ProvenanceReport:
    """Collection of the provenance in a thread, so that training does not wait for it."""

    def __init__(
        self, directory: Path, journal: Journal, collect: Callable[[], Provenance] = collect_provenance
    ) -> None:
        self._file, self._journal, self._collect = directory / layout.PROVENANCE, journal, collect
        self._result: Future[Provenance] = Future()
        self._is_reported = False
        threading.Thread(target=self._work, name="provenance", daemon=True).start()

    def report(self, step: int, frames: int, wait_seconds: float = 0.0) -> None:
        """Write the event if the provenance is collected and not reported yet, or a warning if that failed."""
        if self._is_reported:
            return
        wait([self._result], wait_seconds)
        if not self._result.done():
            return
        self._is_reported = True
        if error := self._result.exception():
            message = f"The provenance of this attempt could not be collected: {reason(error)}"
            self._journal.emit(events.Log, step=step, frames=frames, level="warning", message=message)
            return
        self._journal.emit(events.ProvenanceEvent, step=step, frames=frames, provenance=self._result.result())

    def _work(self) -> None:
        try:
            provenance = self._collect()
            durable_files.write(self._file, provenance.model_dump_json(indent=1).encode())
        except Exception as error:  # `report` logs it
            self._result.set_exception(error)
        else:
            self._result.set_result(provenance)
