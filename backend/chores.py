"""What background loops do again and again: a chore that fails is told once, and ends neither its loop nor others."""

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


class Chores:
    """The chores of one loop, and which of them fail at present."""

    def __init__(self) -> None:
        self._failing: set[str] = set()

    def do(self, name: str, work: Callable[[], object]) -> None:
        """Do a chore; log its failure, whatever it is, unless it failed the last time too."""
        try:
            work()
        except Exception:
            if name not in self._failing:
                log.exception("%s failed, and is tried again", name)
            self._failing.add(name)
        else:
            if name in self._failing:
                log.info("%s works again", name)
            self._failing.discard(name)
