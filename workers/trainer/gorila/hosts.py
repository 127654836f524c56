"""Which hosts there are, and which of them to rely on."""

import time

from workers.trainer.gorila.ray_cluster import Host, RayCluster

# How often the hosts are looked at, and for how long one that fell silent is not relied on.
LOOK_SECONDS, SUSPICION_SECONDS = 2.0, 60.0


class Hosts:
    """The cluster's hosts as they were a moment ago."""

    def __init__(self, cluster: RayCluster) -> None:
        self._cluster = cluster
        self._suspected_until: dict[str, float] = {}
        self.look()

    def look(self) -> None:
        """See who is there now."""
        self._hosts, self._seen = self._cluster.hosts, time.monotonic()

    @property
    def due(self) -> bool:
        """Whether it is time to look."""
        return time.monotonic() - self._seen > LOOK_SECONDS

    def suspect(self, host: Host) -> None:
        """Do not rely on a host for a while; one that comes back as a new node is another."""
        self._suspected_until[host.node] = time.monotonic() + SUSPICION_SECONDS

    @property
    def reliable(self) -> list[Host]:
        """Those to rely on, or all if there are none."""
        now = time.monotonic()
        return [host for host in self._hosts if self._suspected_until.get(host.node, 0) < now] or self._hosts
