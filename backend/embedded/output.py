"""Lines to standard output, from a thread: no full disk and no reader who has stalled may hold up what prints them."""

import contextlib
import os
import queue
import threading

STANDARD_OUTPUT = 1
MOST_WAITING = 10_000
LAST_WORDS_SECONDS = 2.0


class Output:
    """Writes lines in their order for as long as they can be written; others are dropped."""

    def __init__(self, descriptor: int = STANDARD_OUTPUT) -> None:
        self._descriptor = descriptor
        self._waiting: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._writer = threading.Thread(target=self._write_all, name="output", daemon=True)
        self._writer.start()

    def say(self, part: str, line: str) -> None:
        """Print one line under the name of a part, soon."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(f"{part:<8} | {line}\n")

    def close(self) -> None:
        """Write what waits, unless nobody reads it."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
            self._writer.join(LAST_WORDS_SECONDS)

    def _write_all(self) -> None:
        while (line := self._waiting.get()) is not None:
            # A disk may have room again for the next line.
            with contextlib.suppress(OSError):
                self._write(line.encode())

    def _write(self, rest: bytes) -> None:
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
