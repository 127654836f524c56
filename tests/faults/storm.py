"""`make storm`: kill random parts for minutes while runs train and users act, and then count all points.

After each gust of kills, everything must recover before the next: all parts respond, each worker reports new points.
"""

import argparse
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import httpx
import psutil

from tests.faults.crowd import EPISODES, UNDER_WAY, Crowd
from tests.faults.gusts import WORKERS, Kill, gusts
from tests.faults.seen import Phases, Seen
from tests.faults.stormed import Stormed, alive
from tests.installation import CARTPOLE, SAVING

PATIENCE_SECONDS = 180.0  # after this time, a pending event is reported as stuck
RAY_SECONDS = 900.0  # how long a run of Gorila may take to begin
ORPHAN_SECONDS = 10.0  # how long child processes may outlive their parent
TICK_SECONDS, LOOK_SECONDS = 0.1, 0.3
ENDED = ("finished", "failed", "stopped")


@dataclass
class Way:
    """State of a recovery: the time since which points are new, and the workers that have reported new points."""

    since: float
    back: set[str] = field(default_factory=set)
    healthy: bool = False
    # The number of points in the journal of each script at that time.
    logged: dict[str, int] = field(default_factory=dict)


class Storm:
    """A storm of kills in one installation."""

    def __init__(self, installation: Stormed, seed: int) -> None:
        self.seen = Seen()
        self._installation, self._seed = installation, seed
        self._crowd = Crowd(installation, seed)
        self.seen.actions = self._crowd.done
        self._log = (installation.directory / "storm.log").open("a")
        self._began, self._looked_at = time.monotonic(), 0.0
        self._killed_at, self._way = self._began, Way(time.time())

    def rage(self, seconds: float, most_gusts: int | None = None, most_kills: int | None = None) -> None:
        """Kill parts for a number of seconds, or until a number of gusts or kills."""
        self._wait(self._is_well, "everything to begin")
        until = time.monotonic() + seconds
        for gust in islice(gusts(self._seed), most_gusts):
            if time.monotonic() > until or (most_kills and self.seen.kills.total() >= most_kills):
                return
            at = [self._strike(kill) for kill in gust.kills][-1]
            last = gust.kills[-1].part
            is_well = self._wait(self._is_well, f"everything to be well after the kill of {last}")
            self.seen.ways_back.append((last, time.monotonic() - at))
            if is_well and (phases := self._phases()):
                self.seen.phases.append((last, phases))
                self.note(f"the last worker: {phases}")
            self.note(f"well again after {time.monotonic() - at:.1f} s")
            self._let_pass(gust.calm)

    def rest(self) -> None:
        """Stop all runs, check that every worker takes work, count every point, and stop everything."""
        self.note("rest")
        self._count_scripts()
        self._end_runs()
        for _ in WORKERS:
            self._installation.launch(CARTPOLE, **SAVING)
        self._way = Way(time.time())
        self._wait(self._is_well, "each worker to take work", quietly=True)
        self._end_runs()
        self._finish_evaluations()
        self._count()
        self._installation.end()
        self._must_be_gone(list(self._installation.family.values()), "the end of everything")

    def note(self, line: str) -> None:
        """Write a line with its time to the log."""
        print(f"{time.monotonic() - self._began:7.1f} {line}", file=self._log, flush=True)

    def _strike(self, kill: Kill) -> float:
        """Kill a part, wait until its child processes have ended, and return the time of the kill."""
        self._let_pass(kill.after)
        found: list[psutil.Process] = []

        def is_there() -> bool:
            if kill.part == "ray":
                self._crowd.prefer_gorila()
            process = self._installation.part(kill.part, kill.worker)
            found[:] = [process] if process else []
            return bool(process)

        # A run of Gorila may wait for a worker first, and starts slowly.
        patience = RAY_SECONDS if kill.part == "ray" else PATIENCE_SECONDS
        if self._wait(is_there, f"a {kill.part} to kill", seconds=patience):
            self._kill(kill, found[0])
        return self._killed_at

    def _kill(self, kill: Kill, victim: psutil.Process) -> None:
        family = self._installation.dying_with(victim)
        victim.kill()
        self._killed_at = time.monotonic()
        self.seen.kills[kill.part] += 1
        self.note(f"kill {kill.part} of {kill.worker}: process {victim.pid}, family of {len(family)}")
        self._must_be_gone(family, f"the kill of {kill.part}")
        self._way = Way(time.time(), logged=self._installation.scripts.logged())

    def _must_be_gone(self, family: list[psutil.Process], what: str) -> None:
        """Wait until processes have ended, and report the remaining ones as orphans."""
        until = time.monotonic() + ORPHAN_SECONDS
        while (left := alive(family)) and time.monotonic() < until:
            self._tick()
        for process in left:
            self._fault(self.seen.orphans, f"{process} outlives {what}")

    def _is_well(self) -> bool:
        """Return True if all parts respond and new points of each worker were acknowledged."""
        reported = self._installation.journals.last_reported()
        back = {worker for worker, moment in reported.items() if moment > self._way.since}
        for worker in sorted(back - self._way.back):
            self.note(f"{worker} reports new points")
        self._way.back |= back
        healthy = self._installation.is_healthy()
        if healthy and not self._way.healthy:
            self.note("all parts answer")
        self._way.healthy = healthy
        is_back = healthy and self._way.back == set(WORKERS)
        return is_back and self._installation.scripts.have_arrived(self._way.logged)

    def _end_runs(self) -> None:
        left: list[str] = []

        def ended() -> bool:
            self._crowd.end_all()
            left[:] = [f"run {run['id']} is {run['state']}" for run in self._crowd.runs() if run["state"] not in ENDED]
            return not left

        self._wait(ended, "all runs to end", left, quietly=True)

    def _phases(self) -> Phases | None:
        """Return the recovery phases of the worker that reported last, or None if no attempt has new points."""
        journals, since, now = self._installation.journals, self._way.since, time.time()
        firsts: dict[str, tuple[float, Phases]] = {}
        for attempt, worker in journals.workers.items():
            events = journals.events(*attempt)
            started = next((event["time"] for event in events if event["kind"] == "started"), None)
            point = next((event["time"] for event in events if event["kind"] == "metrics"), None)
            if started and point and point > since:
                times = (since, journals.claimed_at[attempt], journals.begun_at[attempt], started, point, now)
                began = max(since, journals.claimed_at[attempt])
                if worker not in firsts or began < firsts[worker][0]:
                    firsts[worker] = (point, Phases.between(times))
        return max(firsts.values(), key=lambda first: first[0])[1] if firsts else None

    def _finish_evaluations(self) -> None:
        """Wait for all evaluations, and check that each was completed once."""
        left: list[int] = []

        def ended() -> bool:
            left[:] = [n for n in self._crowd.evaluations() if self._crowd.evaluation(n)["state"] in UNDER_WAY]
            return not left

        self._wait(ended, "all evaluations to end", left, quietly=True)
        listed = self._crowd.evaluations()
        for number in sorted(self._crowd.requested | set(listed)):
            if listed.count(number) != 1:
                self._fault(self.seen.evaluations_wrong, f"evaluation {number} is listed {listed.count(number)} times")
                continue
            found = self._crowd.evaluation(number)
            played = [episode["number"] for episode in found["episodes"]]
            self.seen.evaluations[found["state"]] += 1
            if (found["state"], played) != ("done", [*range(EPISODES)]):
                self._fault(self.seen.evaluations_wrong, f"evaluation {number} is {found['state']}, with {played}")

    def _count_scripts(self) -> None:
        """Kill the scripts, upload the rest of their journals, and count every point."""
        scripts = self._installation.scripts
        scripts.end()
        self._fault_if_left(scripts.uploaders())
        self.seen.logged, lost, doubled = scripts.differences()
        self.seen.points.lost += lost
        self.seen.points.doubled += doubled

    def _fault_if_left(self, uploaders: list[psutil.Process]) -> None:
        for process in uploaders:
            self._fault(self.seen.orphans, f"{process} uploads a journal that is complete")

    def _count(self) -> None:
        """Count every point of every run."""
        journals = self._installation.journals
        journals.follow()
        for run in self._crowd.runs():
            number = run["id"]
            self.seen.runs[f"{run['algorithm']} {run['state']}"] += 1
            if "failure" in run:
                self._fault(self.seen.failed, f"run {number} ({run['algorithm']}): {run['failure']['message']}")
            # A worker delivers everything before it releases its run. A silent worker may not have.
            released = "fell silent" not in self._installation.log(number)
            whole = journals.attempts(number) if released else ()
            self.seen.points.add(self._installation.points(number), journals, number, whole=whole)

    def _fault(self, of_its_kind: list[str], what: str) -> None:
        self.note(f"FAULT: {what}")
        of_its_kind.append(what)

    def _wait(
        self,
        condition: Callable[[], bool],
        what: str,
        left: Sequence[object] = (),
        *,
        quietly: bool = False,
        seconds: float = PATIENCE_SECONDS,
    ) -> bool:
        """Wait for a condition while the storm continues. On timeout, note what is left, and return False."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._tick(quietly=quietly)
            try:
                if condition():
                    return True
            except httpx.TransportError:
                continue
        details = f"{list(left)} left; back are {sorted(self._way.back)}"
        self._fault(self.seen.stuck, f"waited {seconds:g} s for {what}; {details}")
        return False

    def _let_pass(self, seconds: float) -> None:
        """Let users act for some time. During a recovery they only launch work, so that they do not affect its time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._tick()
            if done := self._crowd.act():
                self.note(f"a user: {done}")

    def _tick(self, *, quietly: bool = False) -> None:
        """Follow the journals, restart parts that have ended, and launch new runs when others end."""
        time.sleep(TICK_SECONDS)
        self._installation.journals.follow()
        if started := self._installation.keep_running(scripts=not quietly):
            self.note(f"started {started}")
        if not quietly and time.monotonic() > self._looked_at + LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self.seen.loads.append(os.getloadavg()[0])
            self._crowd.launch()
            self._crowd.evaluate()


@contextmanager
def crowded(programs: int) -> Iterator[None]:
    """Run busy loops in a separate session, like programs of another terminal."""
    script = 'while [ "$1" -gt 0 ]; do (while :; do :; done) & set -- $(($1 - 1)); done; wait'
    loops = subprocess.Popen(["/bin/sh", "-c", script, "loops", str(programs)], start_new_session=True)
    try:
        yield
    finally:
        os.killpg(loops.pid, signal.SIGKILL)
        loops.wait()


def storm(
    directory: Path, seed: int, seconds: float, most_gusts: int | None = None, most_kills: int | None = None
) -> Seen:
    """Run a storm in a new installation, and stop all of its processes. Its files remain in the folder."""
    installation = Stormed(directory)
    try:
        installation.start()
        storm = Storm(installation, seed)
        storm.rage(seconds, most_gusts, most_kills)
        storm.rest()
        return storm.seen
    finally:
        installation.close()


def main() -> int:
    """Run a storm and print its results. Keep the folder if there are faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.storm", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kills", type=int, metavar="N", help="end after N kills, if the minutes are not over before")
    parser.add_argument("--seed", type=int, help="of the kills; drawn and printed if left out")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="endless loops beside it (default: 0)")
    parser.add_argument("--keep", action="store_true", help="keep the folder in any case")
    options = parser.parse_args()
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    directory = Path(tempfile.mkdtemp(prefix="arcadia-storm-"))
    print(f"seed {seed}, {options.minutes:g} minutes, {options.busy} busy loops, in {directory}", flush=True)
    with crowded(options.busy):
        seen = storm(directory, seed, 60 * options.minutes, most_kills=options.kills)
    print(seen.report())
    faults = seen.faults()
    if not faults and not options.keep:
        shutil.rmtree(directory)
        return 0
    received = "\n".join(faults)
    (directory / "faults.txt").write_text(f"seed {seed}\n{seen.report()}\n{received}\n")
    print(f"{received}\nLogs and data are kept in {directory}; storm.log there tells what was killed when.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
