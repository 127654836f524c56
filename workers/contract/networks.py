"""Registry of the bodies of networks, with their inputs and their modules in the trainer."""

from dataclasses import dataclass

from workers.contract.games import ObservationKind

# (output channels, kernel, stride) of each convolution, and the width of the hidden layer after them.
Convolutions = tuple[tuple[int, int, int], ...]
ARCHITECTURES: dict[str, tuple[Convolutions, int]] = {
    "nips": (((16, 8, 4), (32, 4, 2)), 256),
    "nature": (((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512),
    # GA3C, section 5.1: more filters, a third layer, and a first stride that sets the cost.
    "large-stride-4": (((32, 8, 4), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-3": (((32, 8, 3), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-2": (((32, 8, 2), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-1": (((32, 8, 1), (32, 4, 2), (64, 4, 2)), 1024),
}

_BODIES = "workers.trainer.networks.bodies"


@dataclass(frozen=True)
class Network:
    """A body that turns observations into features, for the heads of any method."""

    name: str
    # Its layers, for the launch form.
    summary: str
    reads: ObservationKind
    # "package.module:NAME" of a function that takes the configuration, the shape of observations and the number of
    # streams. Only the trainer imports it.
    body: str


def _summarize(convolutions: Convolutions, hidden: int) -> str:
    layers = [f"{filters}×{kernel}×{kernel}/{stride}" for filters, kernel, stride in convolutions]
    return ", ".join([*layers, str(hidden)])


NETWORKS: dict[str, Network] = {
    network.name: network
    for network in (
        *(
            Network(name, _summarize(*layers), "pixels", f"{_BODIES}:build_convolutions")
            for name, layers in ARCHITECTURES.items()
        ),
        Network("mlp", "hidden layers", "vector", f"{_BODIES}:build_mlp"),
    )
}
