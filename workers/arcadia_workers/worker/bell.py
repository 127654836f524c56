"""The doorbell of a worker without a broker: it waits at the backend for runs and jobs, over HTTPS alone."""

import logging
import threading
from functools import partial

from arcadia_workers.contract.worker_api import Noun
from arcadia_workers.worker.answers import BackendError, Backoff, WrongTokenError
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.supervisor import Supervisor

FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 10.0

log = logging.getLogger(__name__)


class BellThread(threading.Thread):
    """Thread that waits for the doorbell. Each ring makes the supervisors look for work, in separate threads."""

    def __init__(self, client: BackendClient, supervisors: dict[Noun, Supervisor], *, takes_jobs: bool) -> None:
        super().__init__(name="bell", daemon=True)
        self._client, self._supervisors, self._takes_jobs = client, supervisors, takes_jobs
        self._stopped = threading.Event()
        # False after a wait has failed. Otherwise the backend knows that this worker is there.
        self.is_waiting = False
        self._problem = ""
        for noun, supervisor in supervisors.items():
            # A worker has several slots for jobs, and a claim may leave others in the queue.
            supervisor.on_claim = partial(self.look, noun)

    def run(self) -> None:
        """Wait for rings until the worker stops."""
        pause = Backoff(FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
        while not self._stopped.is_set() and self._client.wrong_token is None:
            try:
                self.is_waiting = True
                rung = self._client.wait_for_bell(takes_jobs=self._takes_jobs)
            except WrongTokenError:
                return
            except BackendError as error:
                self.is_waiting = False
                self._report(str(error))
                self._stopped.wait(pause.delay())
            else:
                self._problem = ""
                pause.reset()
                for noun in self._supervisors.keys() & rung.look:
                    self.look(noun)

    def look(self, noun: Noun) -> None:
        """Look for work in a separate thread. It ends at once if all slots are used."""
        if not self._stopped.is_set():
            look = self._supervisors[noun].work_until_idle
            threading.Thread(target=look, name=f"look-for-{noun}", daemon=True).start()

    def stop(self) -> None:
        """Look for no more work."""
        self._stopped.set()

    def _report(self, problem: str) -> None:
        """Log a problem once, until another one follows."""
        if problem != self._problem:
            log.warning("Cannot wait for work: %s", problem)
        self._problem = problem
