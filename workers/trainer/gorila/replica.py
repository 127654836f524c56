"""A copy of the Q-network that is kept in step with the parameter server (Nair et al. 2015, section 4)."""

from workers.trainer.gorila.parameter_server import Coming, ParameterServer, shares
from workers.trainer.gorila.report import Report
from workers.trainer.networks import ActionValues
from workers.trainer.optimizers import FlatParameters


class Replica:
    """Q(s, a; θ) of an actor, a learner, or both of a bundle."""

    def __init__(self, network: ActionValues, shards: int) -> None:
        self.network = network
        self.parameters = FlatParameters(network)
        self._parts = shares(len(self.parameters.values), shards)
        # After how many updates of each shard θ was θ⁺; it has not been yet.
        self.versions = [-1] * shards
        self.updates = 0
        self._coming: Coming | None = None

    def ask(self, server: ParameterServer) -> None:
        """Have θ⁺, as it is now, sent while there is other work: the next update takes that."""
        self._coming = server.ask(self.versions)

    def update(self, server: ParameterServer, report: Report) -> None:
        """Update θ from parameters θ⁺ of the parameter server."""
        coming, self._coming = self._coming or server.ask(self.versions), None
        changed = False
        for shard, part in enumerate(coming()):
            self.versions[shard] = part.updates
            if part.values is not None:
                self.parameters.values.numpy()[self._parts[shard]] = part.values
                report.bytes_pulled += part.values.nbytes
                changed = True
        if changed:
            self.parameters.changed()
        # Global updates are those that every shard has made; one that was restored takes none back.
        self.updates = max(self.updates, min(self.versions))
