"""The shape of an agent's network, as agent.json describes it and play.py builds it."""

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from workers.contract.agents.weights import Weights
from workers.contract.config import Activation, TrainingConfig
from workers.contract.networks import ARCHITECTURES
from workers.contract.values import Count

# Every environment with pixels shows squares of this side.
SIDE = 84
# As in ReadingsFilter (workers/trainer/networks/bodies.py).
FILTER_LIMIT, FILTER_EPSILON = 5.0, 1e-8


class NetworkShape(BaseModel):
    """A network of Arcadia: trunks of layers, an optional LSTM after each, and heads."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["policy", "values"]
    # The names of the trunks. With two, the first serves the policy and the second the value.
    trunks: list[str]
    # The stride of each convolution. Empty if the trunks read vectors.
    strides: list[Count]
    # The number of hidden layers that read vectors.
    layers: Count
    activation: Activation
    lstm_units: Count
    dueling: bool
    observation_shape: list[Count]
    # Rows of the head: the actions, or the means of a continuous action and the variance.
    outputs: Count
    # Whether each continuous action has a standard deviation that does not depend on the state.
    deviations: bool
    # Whether readings are normalized by their mean and variance, and cut at FILTER_LIMIT deviations.
    filtered: bool

    def weight_names(self) -> Iterator[str]:
        """Yield the names of all weights."""
        of_trunk = [f"convolutions.{i}" for i, _ in enumerate(self.strides)] + ["hidden"]
        if not self.strides:
            of_trunk = [f"layers.{2 * i}" for i in range(self.layers)]
        layers = [f"{trunk}.{layer}" for trunk in self.trunks for layer in of_trunk]
        if self.filtered:
            yield from (f"{trunk}.filter.{part}" for trunk in self.trunks for part in ("mean", "variance", "count"))
        if self.deviations:
            yield "policy.log_deviation"
        heads = ["policy", "value"] if self.kind == "policy" else ["values"]
        heads += ["advantages"] if self.dueling else []
        yield from (f"{layer}.{part}" for layer in [*layers, *heads] for part in ("weight", "bias"))
        if self.lstm_units:
            parts = ("weight_ih", "weight_hh", "bias")
            yield from (f"lstms.{i}.{part}" for i, _ in enumerate(self.trunks) for part in parts)


def shape_of(config: TrainingConfig, network: Mapping[str, Weights]) -> NetworkShape | None:
    """Return the shape of a network with these weights, or None if it is not one of Arcadia's, but a plug-in's."""
    head = next((name for name in ("policy", "values") if f"{name}.weight" in network), None)
    trunks = sorted({".".join(name.split(".")[:2]) for name in network if name.startswith("bodies.")}) or ["body"]
    convolutions, _hidden = ARCHITECTURES.get(config.resolved_network, ((), 0))
    first = network.get(f"{trunks[0]}.convolutions.0.weight" if convolutions else f"{trunks[0]}.layers.0.weight")
    if head is None or first is None or len(first.shape) not in (2, 4):
        return None
    recurrent = network.get("lstms.0.weight_hh")
    outputs = network.get("advantages.weight", network[f"{head}.weight"])
    shape = NetworkShape(
        kind="policy" if head == "policy" else "values",
        trunks=trunks,
        strides=[stride for _, _, stride in convolutions],
        layers=0 if convolutions else _count_layers(network, trunks[0]),
        activation="relu" if convolutions else config.activation,
        lstm_units=recurrent.shape[-1] if recurrent else 0,
        dueling="advantages.weight" in network,
        observation_shape=[first.shape[1], SIDE, SIDE] if convolutions else [first.shape[1]],
        outputs=outputs.shape[0],
        deviations="policy.log_deviation" in network,
        filtered=f"{trunks[0]}.filter.mean" in network,
    )
    return shape if set(shape.weight_names()) == network.keys() else None


def _count_layers(network: Mapping[str, Weights], trunk: str) -> int:
    return sum(name.startswith(f"{trunk}.layers.") and name.endswith(".weight") for name in network)
