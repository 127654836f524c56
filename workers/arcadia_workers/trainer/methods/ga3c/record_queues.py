"""Queues of small records between processes, over pipes.

The system writes and reads such records atomically, so processes and threads can share a queue without a lock. A
killed process blocks no other, and a reader gets all waiting records in a single call.
"""

import fcntl
import os
import select
import struct
import termios
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from arcadia_workers.trainer.errors import TrainerError

Pipe = connection.Connection
Record = tuple[Any, ...]

# The maximum number of records per call.
MOST = 1024


class QueueClosed(TrainerError):  # noqa: N818, the name says what happened
    """All writers have closed their end."""


@dataclass(frozen=True)
class Writer:
    """Writing end. It can be passed to a process at its start."""

    layout: str
    pipe: Pipe

    def put(self, *fields: float) -> None:
        """Append a record."""
        os.write(self.pipe.fileno(), struct.pack(self.layout, *fields))


@dataclass(frozen=True)
class Reader:
    """Reading end."""

    layout: str
    pipe: Pipe

    def take(self) -> Record:
        """Wait for a record and return it."""
        return struct.unpack(self.layout, self._read(1))

    def take_all(self) -> list[Record]:
        """Wait for a record, and return all waiting records."""
        return list(struct.iter_unpack(self.layout, self._read(MOST)))

    def wait_until_settled(self) -> None:
        """Wait for a record, then as long as other runnable threads and processes keep adding more."""
        poll = select.poll()
        poll.register(self.pipe.fileno(), select.POLLIN)
        settled = 0
        while (waiting := self.waiting()) == 0 or waiting > settled:
            if waiting == 0:
                poll.poll()
            settled = waiting
            os.sched_yield()

    def waiting(self) -> int:
        """Return the number of waiting records."""
        unread = fcntl.ioctl(self.pipe.fileno(), termios.FIONREAD, bytes(4))
        return int(struct.unpack("i", unread)[0]) // struct.calcsize(self.layout)

    def _read(self, records: int) -> bytes:
        content = os.read(self.pipe.fileno(), records * struct.calcsize(self.layout))
        if not content:
            raise QueueClosed
        return content


def open_queue(layout: str) -> tuple[Reader, Writer]:
    """Create a queue of records in this `struct` layout."""
    reader, writer = connection.Pipe(duplex=False)
    return Reader(layout, reader), Writer(layout, writer)
