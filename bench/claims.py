"""Measure a claim and the sentence of a waiting run with 2,000 waiting runs of 20 people and 3,000 earlier ones.

    python -m bench.claims [--runs 2000] [--claims 40] [--csv FILE]

Claims without shares are measured in turn, as the queue was ordered by priority and age alone. SQLite.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from statistics import median

from sqlalchemy import insert, update
from sqlalchemy.orm import Session

from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, open_database
from arcadia_backend.database.migrations import migrate
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Attempt, Run, Worker
from arcadia_backend.runs.order import WaitingWork, order
from arcadia_backend.runs.waiting import read_waiting
from arcadia_backend.worker_api.runs import claim
from bench.raw_values import add_csv_option, write_rows

PEOPLE, HOSTS, EARLIER = 20, 20, 3_000
# Hosts with several slots.
SHARED = 5


def fill(database: Database, waiting: int) -> None:
    """Store waiting and earlier runs of several people, and the workers."""
    now = utc_now()
    same = {"algorithm": "paac", "env": "CartPole-v1", "queue": "cpu", "config": {}, "total_steps": 1_000_000}
    runs, attempts = [], []
    for number in range(1, EARLIER + waiting + 1):
        ended = now - timedelta(minutes=14 * (EARLIER - number))
        is_waiting = number > EARLIER
        runs.append(
            same
            | {
                "id": number,
                "name": f"run {number}",
                "person_id": 1 + number % PEOPLE,
                "state": "queued" if is_waiting else "finished",
                "attempt": 0 if is_waiting else 1,
                "created_at": now - timedelta(seconds=waiting + EARLIER - number),
                "step": 0 if is_waiting else 1_000_000,
            }
        )
        if not is_waiting:
            span = {"claimed_at": ended - timedelta(hours=1), "ended_at": ended}
            attempts.append({"run_id": number, "attempt": 1, "worker": f"w{number % HOSTS}", **span})
    with database.write() as session:
        session.execute(insert(Run), runs)
        session.execute(insert(Attempt), attempts)
        for number in range(2 * HOSTS):
            # The second half are slots of a few hosts.
            name = f"h{number}" if number < HOSTS else f"shared{number % SHARED}"
            host = {"host": name, "queue": "cpu", "device": "cpu", "cores": 16, "memory_bytes": 64 * 10**9, "pid": 1}
            session.add(Worker(name=f"w{number}", version="1", plugins=[], last_seen_at=now, **host))


def milliseconds(times: int, call: Callable[[], object]) -> float:
    """Return the median time of a call."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        took.append((time.perf_counter() - began) * 1e3)
    return median(took)


def main() -> None:
    """Fill a database, and print the medians."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.claims", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2_000, help="waiting runs (default: %(default)s)")
    parser.add_argument("--claims", type=int, default=40, help="claims of each kind (default: %(default)s)")
    add_csv_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = {each: Settings(data_dir=Path(folder), fair_share=each) for each in ("people", "off")}
        migrate(settings["people"])
        databases = {each: open_database(settings[each]) for each in settings}
        fill(databases["people"], options.runs)
        rows = [{"what": what, "milliseconds": f"{took:.2f}"} for what, took in measure(databases, settings, options)]
        for database in databases.values():
            database.close()
    print(*(f"{row['milliseconds']:>8} ms  {row['what']}" for row in rows), sep="\n")
    write_rows(options.csv, rows)


def measure(
    databases: dict[str, Database], settings: dict[str, Settings], options: argparse.Namespace
) -> list[tuple[str, float]]:
    """Return what was measured, with its median."""
    claims: dict[tuple[str, bool], list[float]] = {("people", False): [], ("off", False): [], ("people", True): []}
    for number in range(options.claims):
        for (kind, is_shared), took in claims.items():
            # The first ten slots of shared hosts stay used.
            stays = is_shared and number < HOSTS // 2
            slot = number % HOSTS if not is_shared or stays else HOSTS // 2 + number % (HOSTS // 2)
            worker = f"w{slot + is_shared * HOSTS}"

            def claim_one(kind: str = kind, worker: str = worker) -> None:
                with databases[kind].write() as session:
                    assert claim(session, settings[kind], worker, "cpu") is not None

            took.append(milliseconds(1, claim_one))
            if not stays:
                with databases[kind].write() as session:
                    session.execute(update(Run).where(Run.worker == worker).values(state="finished", worker=None))
    waiting = [WaitingWork(number, number, owner=number % PEOPLE) for number in range(options.runs)]
    use: dict[int | None, float] = {person: float(person) for person in range(PEOPLE)}

    def describe(session: Session) -> None:
        workers = session.query(Worker).all()
        read_waiting(session, "cpu", workers)

    with databases["people"].read() as session:
        described = milliseconds(5, lambda: describe(session))
    return [
        ("a claim, shared between people", median(claims["people", False])),
        ("a claim, by priority and age", median(claims["off", False])),
        ("a claim of a host with 4 slots", median(claims["people", True])),
        (f"the order of {options.runs:,} runs", milliseconds(20, lambda: order(waiting, use))),
        ("the sentences of all waiting runs", described),
    ]


if __name__ == "__main__":
    with acting_as(BACKEND):
        main()
