"""Simulate a month of a lab with known truth: the shares of its people, idle hosts, and forecasts of starts.

    python -m bench.lab [--quick] [--json] [--csv FILE]

20 people submit 3,000 runs to five hosts of different speeds. Runs fail or are stopped early, and hosts restart. The
order and the forecasts come from the functions of the product. Twice a day, all waiting runs are forecast, and a copy
of the lab continues without new runs to see when they start.
"""

import argparse
import heapq
import json
import sys
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arcadia_backend.runs.order import UNKNOWN_HOURS, WaitingWork, order, weight
from arcadia_backend.runs.starts import (
    Durations,
    ExpectedStart,
    PastRun,
    Slot,
    forecast_starts,
    measure_slowness,
    on_typical_worker,
    remaining_durations,
    waiting_durations,
)
from bench.raw_values import add_csv_option, write_rows

PEOPLE, RUNS, DAYS = 20, 3_000, 30
# Duration of a run on each host over that on a typical one.
HOSTS = {"A100": 0.6, "3090": 1.0, "3090-b": 1.0, "2080": 1.5, "T4": 2.2}
# People with this share get twice as much as others.
DOUBLE_SHARE = (3, 7)
SHARES: dict[int | None, float] = {person: 2.0 if person in DOUBLE_SHARE else 1.0 for person in range(PEOPLE)}
# These people submit little, so that they never use their share.
OCCASIONAL = range(14, PEOPLE)
KINDS = 8
FAILED, STOPPED = 0.08, 0.10
HOURS_BETWEEN_RESTARTS = 200.0
MAX_PAST_RUNS = 20
HOURS_BETWEEN_FORECASTS = 12.0
FULL_SEEDS, QUICK_SEEDS = (1, 2, 3, 4, 5), (1,)


@dataclass(frozen=True)
class Submitted:
    """A run, with the truth that the order and the forecasts do not know."""

    work: WaitingWork
    kind: int
    steps: int
    # Hours on a typical host if nothing ends it early, and the share of it that it trains.
    full_hours: float
    share: float
    # Error of the rate that the run reports.
    error: float


@dataclass
class Running:
    """A run on a host."""

    run: Submitted
    began: float
    ends: float
    full_hours: float


class Outcome(NamedTuple):
    """A forecast, and when the run started: hours after the forecast."""

    forecast: int
    expected: float
    by: float | None
    actual: float


@dataclass
class Lab:
    """The state of the lab: waiting and running runs, and what is known of those that ended."""

    hosts: dict[str, float]
    now: float = 0.0
    waiting: dict[int, Submitted] = field(default_factory=dict)
    running: dict[str, Running | None] = field(default_factory=dict)
    down_until: dict[str, float] = field(default_factory=dict)
    # Decayed hours of each person, and when they were that.
    used: dict[int | None, tuple[float, float]] = field(default_factory=dict)
    busy_hours: float = 0.0
    past: dict[int, list[PastRun]] = field(default_factory=dict)
    started: dict[int, float] = field(default_factory=dict)
    # Since when each person has had waiting runs, and since when none of them was started.
    backlogged_since: dict[int | None, float] = field(default_factory=dict)
    served_at: dict[int | None, float] = field(default_factory=dict)
    longest_gap: float = 0.0
    idle_hours: float = 0.0

    def copy(self) -> "Lab":
        """Return a copy that continues on its own."""
        other = copy(self)
        other.waiting, other.running, other.down_until = dict(self.waiting), dict(self.running), dict(self.down_until)
        other.used, other.started = dict(self.used), {}
        other.backlogged_since, other.served_at = dict(self.backlogged_since), dict(self.served_at)
        other.past = {kind: list(past) for kind, past in self.past.items()}
        return other

    def use(self) -> dict[int | None, float]:
        """Return the decayed hours of each person, with the expected hours of running runs."""
        use = {person: hours * weight(self.now - time) for person, (hours, time) in self.used.items()}
        for held in filter(None, self.running.values()):
            owner = held.run.work.owner
            use[owner] = use.get(owner, 0.0) + held.full_hours * held.run.error
        return use

    def start_waiting(self) -> None:
        """Give each free host the first run of the order."""
        for host, slowness in self.hosts.items():
            if self.waiting and self.running.get(host) is None and self.down_until.get(host, 0.0) <= self.now:
                first = order((run.work for run in self.waiting.values()), self.use(), SHARES)[0]
                run = self.waiting.pop(first.id)
                self.started.setdefault(first.id, self.now)
                self.served_at[first.owner] = self.now
                full = run.full_hours * slowness
                self.running[host] = Running(run, self.now, self.now + full * run.share, full)

    def follow_backlogs(self) -> None:
        """Record who has waiting runs, and how long nothing was started for them."""
        waiting = {run.work.owner for run in self.waiting.values()}
        self.backlogged_since = {owner: self.backlogged_since.get(owner, self.now) for owner in waiting}
        for owner, since in self.backlogged_since.items():
            gap = self.now - max(since, self.served_at.get(owner, 0.0))
            self.longest_gap = max(self.longest_gap, gap)

    def end(self, host: str) -> None:
        """End the run of a host."""
        held = self.running[host]
        assert held is not None
        self.running[host] = None
        self._charge(held)
        per_step = held.full_hours * 3_600 / held.run.steps
        self.past.setdefault(held.run.kind, []).append(PastRun(per_step, held.run.share, host))

    def _charge(self, held: Running) -> None:
        """Add the hours of a run that ends to the use of its person."""
        hours, time = self.used.get(held.run.work.owner, (0.0, self.now))
        took = self.now - held.began
        self.used[held.run.work.owner] = (hours * weight(self.now - time) + took, self.now)
        self.busy_hours += took

    def restart(self, host: str, hours: float) -> None:
        """Restart a host. Its run waits again and does its remaining steps later."""
        self.down_until[host] = self.now + hours
        held = self.running.get(host)
        if held is None:
            return
        self.running[host] = None
        run = held.run
        self._charge(held)
        done = (self.now - held.began) / held.full_hours
        left = 1 - done
        self.waiting[run.work.id] = replace(
            run,
            steps=max(1, round(run.steps * left)),
            full_hours=run.full_hours * left,
            share=min(1.0, max(0.0, (run.share - done) / left)),
        )

    def forecast(self) -> dict[int, ExpectedStart]:
        """Return the forecasts of the waiting runs, from what a server knows."""
        newest = {kind: past[-MAX_PAST_RUNS:] for kind, past in self.past.items()}
        slowness = measure_slowness(newest.values())
        typical = {kind: on_typical_worker(past, slowness) for kind, past in newest.items()}
        durations = {
            run.work.id: waiting_durations(typical.get(run.kind, []), run.steps, kind=run.kind)
            for run in self.waiting.values()
        }
        slots = [
            Slot(free_in=self._free_in(host, typical), slowness=slowness.get(host, 1.0))
            for host in self.hosts
            if self.down_until.get(host, 0.0) <= self.now
        ]
        return forecast_starts([run.work for run in self.waiting.values()], durations, slots, self.use(), SHARES)

    def _free_in(self, host: str, past: dict[int, list[PastRun]]) -> Durations:
        held = self.running.get(host)
        if held is None:
            return Durations((0.0,))
        elapsed = (self.now - held.began) * 3_600
        left = max(0.0, held.full_hours * 3_600 * held.run.error - elapsed)
        return remaining_durations(past.get(held.run.kind, []), elapsed, left)


def submissions(seed: int) -> list[Submitted]:
    """Return the runs of the month in the order of their submission."""
    random = np.random.default_rng(seed)
    hours = DAYS * 24.0
    typical_hours = np.linspace(0.4, 2.2, KINDS)
    # A person submits bursts, such as a study of one kind with several seeds.
    found: list[Submitted] = []
    while len(found) < RUNS:
        is_occasional = random.random() < 0.06
        person = int(random.choice(OCCASIONAL)) if is_occasional else int(random.integers(OCCASIONAL.start))
        kind, when = int(random.integers(KINDS)), random.uniform(0, hours)
        length = random.choice([0.5, 1.0, 2.0])
        for _ in range(int(random.integers(1, 13))):
            steps = int(1_000_000 * length)
            full = typical_hours[kind] * length * random.lognormal(0, 0.12)
            ends = random.choice(3, p=[1 - FAILED - STOPPED, FAILED, STOPPED])
            share = (1.0, random.beta(0.4, 1.5), random.uniform(0.1, 0.9))[ends]
            work = WaitingWork(len(found), when, owner=person, hours=UNKNOWN_HOURS)
            found.append(Submitted(work, kind, steps, full, float(share), float(random.lognormal(0, 0.03))))
    return sorted(found[:RUNS], key=lambda run: run.work.created)


def restarts(seed: int) -> list[tuple[float, str, float]]:
    """Return the time of each restart, its host and how long it takes, also after the month."""
    random = np.random.default_rng(seed + 1_000)
    found = []
    for host in HOSTS:
        time = random.exponential(HOURS_BETWEEN_RESTARTS)
        while time < 3 * DAYS * 24:
            found.append((time, host, random.uniform(0.05, 1.0)))
            time += random.exponential(HOURS_BETWEEN_RESTARTS)
    return sorted(found)


def advance(lab: Lab, until: float, arrivals: Sequence[Submitted], outages: Sequence[tuple[float, str, float]]) -> None:
    """Continue the lab to a time, or until no run waits if there are no arrivals and no limit."""
    new = iter(arrivals)
    queue: list[tuple[float, int, str, object]] = [(time, 1, host, took) for time, host, took in outages]
    queue += [(run.work.created, 0, str(run.work.id), next(new)) for run in arrivals]
    queue += [(time, 2, host, None) for host, time in lab.down_until.items() if time > lab.now]
    queue += [(held.ends, 3, host, held) for host, held in lab.running.items() if held]
    heapq.heapify(queue)
    while queue and queue[0][0] <= until and (lab.waiting or arrivals):
        time, kind, host, detail = heapq.heappop(queue)
        busy = sum(each is not None for each in lab.running.values())
        up = sum(lab.down_until.get(each, 0.0) <= lab.now for each in lab.hosts)
        lab.idle_hours += (time - lab.now) * (up - busy) if lab.waiting else 0.0
        lab.now = time
        if isinstance(detail, Submitted):
            lab.waiting[detail.work.id] = detail
        elif isinstance(detail, float):
            lab.restart(host, detail)
            heapq.heappush(queue, (lab.down_until[host], 2, host, None))
        elif kind == 3 and lab.running.get(host) is detail:
            lab.end(host)
        before = dict(lab.running)
        lab.follow_backlogs()
        lab.start_waiting()
        for each, held in lab.running.items():
            if held is not None and held is not before.get(each):
                heapq.heappush(queue, (held.ends, 3, each, held))
    lab.now = max(lab.now, until) if np.isfinite(until) else lab.now


class Month(NamedTuple):
    """The results of one simulated month."""

    seed: int
    share_error: float
    utilization: float
    covered: float
    forecasts: int
    unknown: int
    longest_wait_hours: float
    # The longest time in which a person with waiting runs got no host.
    longest_gap_hours: float


def play(seed: int, hours_between: float = HOURS_BETWEEN_FORECASTS, days: int = DAYS) -> tuple[Lab, list[Outcome], int]:
    """Simulate a month, or its first days. Return the lab, the forecasts, and how many more were unknown."""
    runs, outages = submissions(seed), restarts(seed)
    lab, unknown = Lab(dict(HOSTS)), 0
    outcomes: list[Outcome] = []
    end, time = days * 24.0, 0.0
    while time < end:
        later = min(end, time + hours_between)
        advance(
            lab,
            later,
            [run for run in runs if time < run.work.created <= later],
            [each for each in outages if time < each[0] <= later],
        )
        time = later
        starts = lab.forecast()
        unknown += sum(starts.get(number, ExpectedStart(0, None)).by is None for number in lab.waiting)
        outcomes += _check(lab, starts, [each for each in outages if each[0] > time])
    return lab, outcomes, unknown


def simulate(seed: int, hours_between: float = HOURS_BETWEEN_FORECASTS, days: int = DAYS) -> Month:
    """Simulate a month, or its first days, and return the results."""
    lab, outcomes, unknown = play(seed, hours_between, days)
    end = days * 24.0
    with_limit = [each for each in outcomes if each.by is not None]
    submitted = {run.work.id: run.work.created for run in submissions(seed)}
    waits = [started - submitted[number] for number, started in lab.started.items()]
    waits += [end - submitted[number] for number in lab.waiting if number not in lab.started]
    return Month(
        seed=seed,
        share_error=share_error(lab),
        utilization=lab.busy_hours / (lab.busy_hours + lab.idle_hours),
        covered=float(np.mean([each.actual <= each.by for each in with_limit if each.by is not None])),
        forecasts=len(with_limit),
        unknown=unknown,
        longest_wait_hours=max(waits),
        longest_gap_hours=lab.longest_gap,
    )


def _check(lab: Lab, starts: dict[int, ExpectedStart], outages: Sequence[tuple[float, str, float]]) -> list[Outcome]:
    """Continue a copy of the lab without new runs, and return when the runs with a forecast start."""
    if not starts:
        return []
    truth = lab.copy()
    truth.start_waiting()
    advance(truth, float("inf"), [], outages)
    return [
        Outcome(number, start.expected / 3_600, start.by and start.by / 3_600, truth.started[number] - lab.now)
        for number, start in starts.items()
    ]


def share_error(lab: Lab) -> float:
    """Return the largest relative error of the decayed use of people, compared with their shares.

    Count people whose runs have waited for a week. Others did not want their share.
    """
    use = lab.use()
    backlogged = [owner for owner, since in lab.backlogged_since.items() if since <= lab.now - 7 * 24]
    per_share = np.array([use.get(owner, 0.0) / SHARES[owner] for owner in backlogged])
    return float(np.max(np.abs(per_share / per_share.mean() - 1)))


def main() -> None:
    """Simulate months and print the means over them, and the worst share error and wait."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one month instead of five")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    add_csv_option(parser)
    options = parser.parse_args()
    months = [simulate(seed) for seed in (QUICK_SEEDS if options.quick else FULL_SEEDS)]
    path: Path | None = options.csv
    write_rows(path, [month._asdict() for month in months])
    result = {
        "share_error": max(month.share_error for month in months),
        "utilization": min(month.utilization for month in months),
        "covered": float(np.average([m.covered for m in months], weights=[m.forecasts for m in months])),
        "longest_wait_hours": max(month.longest_wait_hours for month in months),
        "longest_gap_hours": max(month.longest_gap_hours for month in months),
        "forecasts": sum(month.forecasts for month in months),
        "unknown": sum(month.unknown for month in months),
        "months": len(months),
    }
    rounded = {name: round(value, 4) for name, value in result.items()}
    if options.json:
        json.dump(rounded, sys.stdout)
        print()
    else:
        print(*(f"{name:<20}{value}" for name, value in rounded.items()), sep="\n")


if __name__ == "__main__":
    main()
