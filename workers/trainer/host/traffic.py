"""Rates at which the host reads and writes its disks, and receives and sends over its networks."""

import time
from collections.abc import Callable
from pathlib import Path

import psutil

BLOCK_DEVICES = Path("/sys/block")
LOOPBACKS = ("lo", "lo0")

Counters = dict[str, int]


class TrafficMeter:
    """Bytes per second of the whole host between two samples."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._time, self._counters = clock(), count_bytes()

    def sample(self) -> dict[str, float]:
        """Return the mean rates since the last sample."""
        now, counters = self._clock(), count_bytes()
        before, seconds = self._counters, now - self._time
        if seconds <= 0:
            return {}
        self._time, self._counters = now, counters
        # A counter falls when its disk or network is removed.
        return {name: max(0, count - before[name]) / seconds for name, count in counters.items() if name in before}


def count_bytes() -> Counters:
    """Return the bytes moved since the host started, by metric. A host without disks reports none for them."""
    counters: Counters = {}
    if disks := _physical_disks():
        counters["system/disk_read_bytes_per_second"] = sum(read for read, _written in disks)
        counters["system/disk_written_bytes_per_second"] = sum(written for _read, written in disks)
    networks = [counts for name, counts in psutil.net_io_counters(pernic=True).items() if name not in LOOPBACKS]
    if networks:
        counters["system/network_received_bytes_per_second"] = sum(network.bytes_recv for network in networks)
        counters["system/network_sent_bytes_per_second"] = sum(network.bytes_sent for network in networks)
    return counters


def _physical_disks() -> list[tuple[int, int]]:
    """Return the bytes read and written by disks. RAID and LVM volumes would count the same bytes again."""
    try:
        disks = psutil.disk_io_counters(perdisk=True)
    except NotImplementedError:  # a sandbox that hides the disks
        return []
    names = [name for name in disks if not BLOCK_DEVICES.exists() or (BLOCK_DEVICES / name / "device").exists()]
    return [(disks[name].read_bytes, disks[name].write_bytes) for name in names]
