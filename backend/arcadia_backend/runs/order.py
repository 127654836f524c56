"""Order of waiting work: priority, then the recent use of its owner, then age. Pure: no database and no clock.

The unit of use is an hour of one worker. An owner is a person or a project.
"""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# Use counts half as much after a week.
HALF_LIFE_HOURS = 7 * 24.0
# Earlier use counts less than 1 / 32 and is left out.
REMEMBERED_HOURS = 5 * HALF_LIFE_HOURS
# Charge for work whose duration is unknown.
UNKNOWN_HOURS = 1.0

Owner = int | None


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """Work that waits for a worker."""

    id: int
    created: float
    priority: int = 0
    owner: Owner = None
    # Expected hours on a worker.
    hours: float = UNKNOWN_HOURS
    # Labels that a worker must offer.
    needs: frozenset[str] = frozenset()


def weight(hours_ago: float) -> float:
    """Return how much an hour of use counts after this time."""
    return float(2.0 ** (-hours_ago / HALF_LIFE_HOURS))


def order(
    waiting: Iterable[WaitingWork], use: Mapping[Owner, float], shares: Mapping[Owner, float] | None = None
) -> list[WaitingWork]:
    """Return waiting work in the order in which it starts.

    `use` has the decayed hours of each owner, with the expected hours of what is running. `shares` has the weights of
    owners, 1 by default. Work that is placed is charged to its owner, so that owners take turns.
    """
    shares = shares or {}
    lanes: dict[int, dict[Owner, list[WaitingWork]]] = {}
    # Newest first, so that the oldest is taken from the end of its list.
    for work in sorted(waiting, key=lambda work: (work.created, work.id), reverse=True):
        lanes.setdefault(work.priority, {}).setdefault(work.owner, []).append(work)
    charged: dict[Owner, float] = {}
    placed: list[WaitingWork] = []
    for priority in sorted(lanes, reverse=True):
        heap = [
            (charged.get(owner, use.get(owner, 0.0) / shares.get(owner, 1.0)), lane[-1].created, lane[-1].id, lane)
            for owner, lane in lanes[priority].items()
        ]
        heapq.heapify(heap)
        while heap:
            used, _created, _id, lane = heap[0]
            work = lane.pop()
            placed.append(work)
            charged[work.owner] = used = used + work.hours / shares.get(work.owner, 1.0)
            if lane:
                heapq.heapreplace(heap, (used, lane[-1].created, lane[-1].id, lane))
            else:
                heapq.heappop(heap)
    return placed
