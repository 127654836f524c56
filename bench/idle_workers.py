"""Measure what workers that only wait cost the server: `python -m bench.idle_workers --workers 200 --json`."""

import argparse
import asyncio
import contextlib
import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

from arcadia_workers.contract.worker_api import MAX_BELL_SECONDS
from arcadia_workers.worker.heartbeat import BELL_SECONDS
from bench.raw_values import add_csv_option, write_rows
from tests.installation import TOKEN, Installation

FACTS = {"queue": "cpu", "version": "0.1.0", "device": "cpu", "cores": 8, "memory_bytes": 16_000_000_000}
# All workers have sent their first heartbeat, and wait.
SETTLE_SECONDS = 10.0


@dataclass(frozen=True)
class Cost:
    """The processor time of the server, in percent of one core, and the latest ring."""

    workers: int
    seconds: float
    percent: float
    ring_milliseconds: float


class Waiter:
    """A worker that sends the requests of an idle one."""

    def __init__(self, client: httpx.AsyncClient, number: int, phase: float) -> None:
        self._client, self._name, self._phase = client, f"worker-{number}", phase
        self.rung: list[float] = []

    async def run(self) -> None:
        """Wait for the doorbell, and send heartbeats, as a worker does."""
        await self._beat()
        beat_at = time.monotonic() + self._phase * BELL_SECONDS
        # The waits of real workers are spread over time too.
        seconds = self._phase * MAX_BELL_SECONDS
        while True:
            query: dict[str, str | float] = {"name": self._name, "queue": "cpu", "jobs": True, "seconds": seconds}
            # The server may close an unused connection at the same moment. A worker repeats the request too.
            with contextlib.suppress(httpx.TransportError):
                answer = await self._client.get("worker/bell", params=query)
                if answer.raise_for_status().json()["look"]:
                    self.rung.append(time.monotonic())
            seconds = MAX_BELL_SECONDS
            if time.monotonic() > beat_at:
                await self._beat()
                beat_at = time.monotonic() + BELL_SECONDS

    async def _beat(self) -> None:
        facts = {**FACTS, "name": self._name, "host": self._name, "pid": 1, "job_slots": 1}
        (await self._client.post("worker/heartbeat", json=facts)).raise_for_status()


async def measure(installation: Installation, count: int, seconds: float) -> Cost:
    """Let workers wait, and return what that costs the server."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{installation.port}/api/v1/",
        headers={"Authorization": f"Bearer {TOKEN}"},
        limits=limits,
        timeout=MAX_BELL_SECONDS + 30,
        trust_env=False,
    ) as client:
        waiters = [Waiter(client, number, (number + 1) / count) for number in range(count)]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(waiter.run()) for waiter in waiters]
            await asyncio.sleep(SETTLE_SECONDS)
            backend = installation.backend.process
            before, began = sum(backend.cpu_times()[:2]), time.monotonic()
            await asyncio.sleep(seconds)
            percent = 100 * (sum(backend.cpu_times()[:2]) - before) / (time.monotonic() - began)
            for waiter in waiters:
                waiter.rung.clear()
            rung_at = time.monotonic()
            await asyncio.to_thread(installation.launch)
            while not any(waiter.rung for waiter in waiters):
                await asyncio.sleep(0.005)
            first = min(moment for waiter in waiters for moment in waiter.rung)
            for task in tasks:
                task.cancel()
    return Cost(count, seconds, percent, 1_000 * (first - rung_at))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.idle_workers", description=__doc__)
    parser.add_argument("--workers", type=int, default=200, help="workers that wait (default: 200)")
    parser.add_argument("--seconds", type=float, default=120.0, help="length of the measurement (default: 120)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    add_csv_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Installation(Path(folder), sweep_seconds=2.0) as installation:
        cost = asyncio.run(measure(installation, options.workers, options.seconds))
    write_rows(options.csv, [asdict(cost)])
    if options.json:
        print(json.dumps(asdict(cost)))
    else:
        print(f"{cost.workers} workers: {cost.percent:.2f} % of a core, ring after {cost.ring_milliseconds:.0f} ms")


if __name__ == "__main__":
    main()
