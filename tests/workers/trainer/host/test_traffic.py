"""Tests that disk and network rates cover the whole host without double counting."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from arcadia_workers.trainer.host import meters
from arcadia_workers.trainer.host.meters import TrafficMeter


class FakeHost:
    """A host whose counters are set by a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.disks = {"sda": (1_000, 2_000), "dm-0": (1_000, 2_000)}
        self.networks = {"eth0": (500, 100), "lo": (9_000, 9_000)}
        self.now = 100.0
        (folder / "sda" / "device").mkdir(parents=True)
        (folder / "dm-0").mkdir()
        monkeypatch.setattr(meters, "BLOCK_DEVICES", folder)
        monkeypatch.setattr(psutil, "disk_io_counters", self._disk_counters)
        monkeypatch.setattr(psutil, "net_io_counters", self._network_counters)

    def clock(self) -> float:
        return self.now

    def _disk_counters(self, *, perdisk: bool) -> dict[str, SimpleNamespace]:
        assert perdisk
        return {name: SimpleNamespace(read_bytes=r, write_bytes=w) for name, (r, w) in self.disks.items()}

    def _network_counters(self, *, pernic: bool) -> dict[str, SimpleNamespace]:
        assert pernic
        return {name: SimpleNamespace(bytes_recv=r, bytes_sent=s) for name, (r, s) in self.networks.items()}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeHost:
    return FakeHost(monkeypatch, tmp_path)


def test_rates_come_from_the_bytes_since_the_last_sample(host: FakeHost) -> None:
    meter = TrafficMeter(host.clock)
    host.now += 2
    host.disks = {"sda": (5_000, 2_600), "dm-0": (5_000, 2_600)}
    host.networks = {"eth0": (1_500, 300), "lo": (99_000, 99_000)}
    expected = {
        "system/disk_read_bytes_per_second": 2_000.0,
        "system/disk_written_bytes_per_second": 300.0,
        "system/network_received_bytes_per_second": 500.0,
        "system/network_sent_bytes_per_second": 100.0,
    }
    assert meter.sample() == expected
    host.now += 4
    assert meter.sample() == dict.fromkeys(expected, 0.0)


def test_a_disk_that_is_removed_gives_no_negative_rate(host: FakeHost) -> None:
    (meters.BLOCK_DEVICES / "sdb" / "device").mkdir(parents=True)
    host.disks["sdb"] = (10_000, 10_000)
    meter = TrafficMeter(host.clock)
    host.now += 1
    del host.disks["sdb"]
    assert meter.sample()["system/disk_read_bytes_per_second"] == 0


def test_a_host_without_disks_and_networks_reports_neither(host: FakeHost) -> None:
    host.disks, host.networks = {}, {"lo": (1, 1)}
    meter = TrafficMeter(host.clock)
    host.now += 1
    assert meter.sample() == {}


def test_the_counters_of_this_host_can_be_read() -> None:
    assert all(count >= 0 for count in meters.count_bytes().values())
