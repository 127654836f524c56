"""A virtual cable between this host and a network namespace that acts as another host."""

import secrets
import shutil
import subprocess

import pytest


class Cable:
    """A pair of virtual network devices. `here` and `there` are the addresses of its ends."""

    def __init__(self) -> None:
        self._namespace = f"arcadia-{secrets.token_hex(4)}"
        self._device = f"arc{secrets.token_hex(4)}"
        # 198.18.0.0/15 is reserved for network tests.
        network = f"198.18.{secrets.randbelow(256)}.{4 * secrets.randbelow(64)}"
        prefix, _, last = network.rpartition(".")
        self.here, self.there = (f"{prefix}.{int(last) + end}" for end in (1, 2))

    def plug(self) -> None:
        """Create the other host, or skip the test if this machine cannot."""
        if shutil.which("ip") is None:
            pytest.skip("needs `ip` to make a network namespace (Debian: iproute2)")
        made = subprocess.run(["ip", "netns", "add", self._namespace], capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"needs the right to make a network namespace: {made.stderr.strip()}")
        within = ("-n", self._namespace)
        _ip("link", "add", self._device, "type", "veth", "peer", "name", "cable", "netns", self._namespace)
        _ip("address", "add", f"{self.here}/30", "dev", self._device)
        _ip(*within, "address", "add", f"{self.there}/30", "dev", "cable")
        _ip(*within, "link", "set", "lo", "up")
        _ip(*within, "link", "set", "cable", "up")
        self.mend()

    def cut(self) -> None:
        """Drop all packets. Connections stay open, but receive nothing."""
        _ip("link", "set", self._device, "down")

    def mend(self) -> None:
        """Let all packets through."""
        _ip("link", "set", self._device, "up")

    def remove(self) -> None:
        """Remove the other host and the cable."""
        _ip("netns", "delete", self._namespace)

    @property
    def prefix(self) -> tuple[str, ...]:
        """Return the command prefix that runs a command on the other host."""
        return ("ip", "netns", "exec", self._namespace)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
