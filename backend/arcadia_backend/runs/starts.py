"""Forecast of when waiting work starts, if nobody adds work ahead. Pure: no database and no clock.

Durations are drawn from those of earlier runs, of which some failed or were stopped early.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median

import numpy as np
from numpy.typing import NDArray

from arcadia_backend.runs.order import HALF_LIFE_HOURS, UNKNOWN_HOURS, Owner, WaitingWork, order

Floats = NDArray[np.float64]

SAMPLES = 100
# The share of cases in which work starts by the stated time.
COVERED = 0.9
# With fewer earlier runs there is no statement about nine of ten cases.
MIN_ENDED_RUNS = 5
SEED = 7


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run that has ended: the seconds that a step took, and the share of the planned steps that it did."""

    seconds_per_step: float
    share: float
    worker: str | None = None


@dataclass(frozen=True, slots=True)
class Durations:
    """Seconds that work may take, one value for each earlier run of its kind."""

    seconds: tuple[float, ...]
    # Work of a kind has the same earlier runs, so that its errors add up.
    kind: object = None
    # False if too few runs have ended to know the spread.
    has_spread: bool = True


@dataclass(frozen=True, slots=True)
class Slot:
    """A place on a worker that takes one run after another."""

    offers: frozenset[str] = frozenset()
    # When it is free: None if nobody knows.
    free_in: Durations | None = Durations((0.0,))
    # Duration of work here over its duration on a typical worker.
    slowness: float = 1.0


@dataclass(frozen=True, slots=True)
class ExpectedStart:
    """Seconds until work starts. `by` is not exceeded in 9 of 10 cases; None if the spread is unknown."""

    expected: float
    by: float | None


def measure_slowness(history: Iterable[Sequence[PastRun]]) -> dict[str | None, float]:
    """Return for each worker how long its steps took over those of the typical worker, from runs of equal kinds."""
    ratios: dict[str | None, list[float]] = {}
    for past in history:
        rates: dict[str | None, list[float]] = {}
        for run in past:
            rates.setdefault(run.worker, []).append(run.seconds_per_step)
        # Each worker counts once, however many runs it had.
        typical = median(median(each) for each in rates.values()) if rates else 0.0
        if typical > 0:
            for worker, each in rates.items():
                ratios.setdefault(worker, []).append(median(each) / typical)
    return {worker: median(each) for worker, each in ratios.items()}


def on_typical_worker(past: Iterable[PastRun], slowness: Mapping[str | None, float]) -> list[PastRun]:
    """Return past runs with the rates that they would have had on a typical worker."""
    return [replace(run, seconds_per_step=run.seconds_per_step / slowness.get(run.worker, 1.0)) for run in past]


def waiting_durations(
    past: Sequence[PastRun], steps: int, startup: float = 0.0, kind: object = None
) -> Durations | None:
    """Return how long a run of this many steps may take, or None without earlier runs."""
    seconds = tuple(startup + steps * run.seconds_per_step * run.share for run in past)
    return Durations(seconds, kind, len(past) >= MIN_ENDED_RUNS) if past else None


def remaining_durations(past: Sequence[PastRun], elapsed: float, left: float) -> Durations:
    """Return how much longer a run may take that has `left` seconds of training left if nothing ends it earlier."""
    total = elapsed + left
    seconds = tuple(total * run.share - elapsed for run in past if total * run.share > elapsed)
    return Durations(seconds or (left,), has_spread=len(past) >= MIN_ENDED_RUNS)


def forecast_starts(
    waiting: Sequence[WaitingWork],
    durations: Mapping[int, Durations | None],
    slots: Sequence[Slot],
    use: Mapping[Owner, float],
    shares: Mapping[Owner, float] | None = None,
) -> dict[int, ExpectedStart]:
    """Return when waiting work starts. Work that starts at an unknown time is left out.

    Simulate the queue with the rule of `order` in SAMPLES draws of all durations at once. Each step gives the slot that
    is free first its next work. An unknown duration occupies its slot for an unlimited time.
    """
    if not waiting or not slots:
        return {}
    draw, draws = _Draw(), np.arange(SAMPLES)
    drawn = {work.id: draw.seconds(durations.get(work.id)) for work in waiting}
    lanes = _Lanes(waiting, use, shares or {})
    free_at = np.stack([draw.seconds(slot.free_in) for slot in slots], axis=1)
    slowness = np.array([slot.slowness for slot in slots])
    fits = np.array([[needs <= slot.offers for needs in lanes.needs] for slot in slots])
    seconds = np.stack([drawn[work.id] for work in lanes.works], axis=1)
    starts = np.full((SAMPLES, len(lanes.works)), np.inf)
    while True:
        slot = free_at.argmin(axis=1)
        time = free_at[draws, slot]
        place, found = lanes.next(fits[slot])
        found &= np.isfinite(time)
        if not found.any():
            # In each draw, the first slot has nothing to do or is never free. Another slot may have.
            if np.isinf(time).all():
                break
            free_at[draws, slot] = np.inf
            continue
        took = seconds[draws, place] * slowness[slot]
        starts[draws[found], place[found]] = time[found]
        free_at[draws, slot] = np.where(found, time + took, np.inf)
        lanes.take(place, found, time, took)
    known = all(slot.free_in is None or slot.free_in.has_spread for slot in slots)
    ahead = order(waiting, use, shares)
    has_spread = accumulate((_has_spread(durations.get(work.id)) for work in ahead), initial=known, func=bool.__and__)
    return dict(_summaries(lanes.works, starts, dict(zip((work.id for work in ahead), has_spread, strict=False))))


def _has_spread(durations: Durations | None) -> bool:
    return durations is None or durations.has_spread


class _Draw:
    """Draws of durations.

    A few earlier runs do not say exactly what is typical of their kind. Each draw therefore has its own sample of them
    (a bootstrap), from which all work of the kind takes its durations.
    """

    def __init__(self) -> None:
        self._random = np.random.default_rng(SEED)
        self._samples: dict[tuple[object, int], NDArray[np.intp]] = {}

    def seconds(self, durations: Durations | None) -> Floats:
        """Return the duration in each draw, infinity if it is unknown."""
        if durations is None:
            return np.full(SAMPLES, np.inf)
        seconds, kind, count = np.array(durations.seconds), durations.kind, len(durations.seconds)
        if kind is None:
            return self._random.choice(seconds, SAMPLES)
        if (kind, count) not in self._samples:
            self._samples[kind, count] = self._random.integers(count, size=(SAMPLES, count))
        chosen = self._samples[kind, count][np.arange(SAMPLES), self._random.integers(count, size=SAMPLES)]
        return seconds[chosen]


def _summaries(
    works: Sequence[WaitingWork], starts: Floats, has_spread: Mapping[int, bool]
) -> Iterable[tuple[int, ExpectedStart]]:
    middle, late = np.quantile(starts, [0.5, COVERED], axis=0, method="higher")
    for place, work in enumerate(works):
        if np.isfinite(middle[place]):
            by = float(late[place]) if has_spread[work.id] and np.isfinite(late[place]) else None
            yield work.id, ExpectedStart(float(middle[place]), by)


class _Lanes:
    """Waiting work in lanes of equal priority, owner and needs. Each draw has its own place in each lane."""

    def __init__(
        self, waiting: Sequence[WaitingWork], use: Mapping[Owner, float], shares: Mapping[Owner, float]
    ) -> None:
        lanes: dict[tuple[int, Owner, frozenset[str]], list[WaitingWork]] = {}
        for work in sorted(waiting, key=lambda work: (work.created, work.id)):
            lanes.setdefault((work.priority, work.owner, work.needs), []).append(work)
        owners = list(dict.fromkeys(owner for _priority, owner, _needs in lanes))
        self.works = [work for lane in lanes.values() for work in lane]
        self.needs = [needs for _priority, _owner, needs in lanes]
        self._owner = np.array([owners.index(owner) for _priority, owner, _needs in lanes])
        self._priority = np.array([-priority for priority, _owner, _needs in lanes])
        self._lane = np.repeat(np.arange(len(lanes)), [len(lane) for lane in lanes.values()])
        self._share = np.array([shares.get(owner, 1.0) for owner in owners])
        self._used = np.tile([use.get(owner, 0.0) for owner in owners] / self._share, (SAMPLES, 1))
        ends = np.cumsum([len(lane) for lane in lanes.values()])
        self._head = np.tile(ends - [len(lane) for lane in lanes.values()], (SAMPLES, 1))
        self._end = ends
        # Ages break ties of equal use. Their ranks are far smaller than any difference of use.
        ranks = np.argsort(np.argsort([work.created for work in self.works], kind="stable"), kind="stable")
        self._rank = np.append(ranks * 1e-12, 0.0)

    def next(self, fits: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the place of the next work in each draw, and whether there is any that fits."""
        is_open = fits & (self._head < self._end)
        first = np.where(is_open, self._priority, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
        is_open &= self._priority == first
        key = np.where(is_open, self._used[:, self._owner] + self._rank[self._head], np.inf)
        lane = key.argmin(axis=1)
        found = np.logical_or.reduce(is_open, axis=1)
        place = self._head[np.arange(SAMPLES), lane]
        return np.minimum(place, len(self.works) - 1), found

    def take(self, place: NDArray[np.intp], found: NDArray[np.bool_], time: Floats, took: Floats) -> None:
        """Remove work from its lanes where it was found, and charge its duration to its owner."""
        draws = np.flatnonzero(found)
        lane = self._lane[place[draws]]
        self._head[draws, lane] += 1
        owner = self._owner[lane]
        hours = np.where(np.isfinite(took[draws]), took[draws] / 3_600, UNKNOWN_HOURS)
        # Later use has decayed less when the owners are compared again.
        later = np.exp2(time[draws] / 3_600 / HALF_LIFE_HOURS)
        self._used[draws, owner] += later * hours / self._share[owner]
